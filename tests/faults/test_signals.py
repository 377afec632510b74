#!/usr/bin/python3
"""A signal at any moment of a start whose kernels are built, since the run has a cache folder of PoCL's of its own: it
ends the program as a signal does by default before the outputs are open, and with a checkpoint and exit code 4
afterwards. An mpirun that gets it ends with an exit code of its own, also where its ranks have written the checkpoint.
"""

import contextlib
import os
import random
import shutil
import signal
import subprocess
import time
import unittest

from faults import CONFIG, PROGRAM, RANKS, SOAK, FaultTest, OnRanks, is_alive, signal_all, times

# In the order of the moments of a reduced test: SIGUSR1, SIGXCPU and SIGQUIT come while kernels are built.
SIGNALS = [signal.SIGTERM, signal.SIGUSR1, signal.SIGXCPU, signal.SIGQUIT, signal.SIGINT]
TO_MPIRUN = (signal.SIGTERM, signal.SIGINT)  # which it answers by ending its ranks
PAUSE = 0.02  # seconds, in full
LAST = 10  # seconds, which an mpirun without ranks has to end
ENDLESS = ["run", "fault.yaml", "--steps", "100000000", "--quiet"]


class Signals(OnRanks, FaultTest):
    config = CONFIG.replace(" ids: true,", "")  # which would be one more program to build

    def start_cold(self, ranks):
        for name in ("out", "cache"):
            shutil.rmtree(self.folder / name, ignore_errors=True)
        self.environment["POCL_CACHE_DIR"] = str(self.folder / "cache")
        return self.start_on(ranks, *ENDLESS)

    def length(self, ranks):
        """Seconds from the start to the first steps."""
        begin = time.monotonic()
        process = self.start_cold(ranks)
        self.assertTrue(self.wait_for(lambda: self.rows() > 2, process))
        length = time.monotonic() - begin
        signal_all(self.processes(process, ranks), signal.SIGTERM)
        self.wait_for_all([], process)
        return length

    def moments(self, length):
        """Of each signal, into the steps; every signal at one moment where the count is reduced."""
        if SOAK:
            return {number: [n * PAUSE for n in range(1, 1 + int(1.2 * length / PAUSE))] for number in SIGNALS}
        return {number: [length * (n + self.chance.random()) / len(SIGNALS)] for n, number in enumerate(SIGNALS)}

    def check_moment(self, ranks, number, moment):
        process = self.start_cold(ranks)
        time.sleep(moment)
        if number not in TO_MPIRUN:  # which would go on, and pass it to no rank where none is there
            is_there = self.wait_for(lambda: self.started(process, ranks), process)
            self.assertTrue(is_there, (self.folder / "stderr").read_text())
        pids = self.started(process, ranks)
        victim = self.chance.choice([process.pid, *pids] if number in TO_MPIRUN else pids)
        return self.check_signal(ranks, number, process, pids, victim)

    def started(self, process, ranks):
        """The ranks that run the program, and no longer what mpirun does before."""
        pids = []
        for pid in self.there_now(process, ranks) if process.poll() is None else []:
            with contextlib.suppress(OSError):  # it has ended
                pids += [pid] * os.path.samefile(f"/proc/{pid}/exe", PROGRAM)
        return pids

    def wait_for_end(self, ranks, process, pids, victim):
        """All ranks end, and mpirun too; but where a rank ends before MPI_Init() does, Open MPI 4's may say
        "PMIX ERROR: UNREACHABLE", end all ranks and wait for ever: then it is ended here."""
        if ranks > 1 and victim != process.pid and not (self.folder / "out").exists():
            none_left = lambda: not any(map(is_alive, self.there_now(process, ranks)))
            if self.wait_for(none_left, process):
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(LAST)
                pids = {*pids, *(self.there_now(process, ranks) if process.poll() is None else ())}
                process.kill()
        self.wait_for_all(pids, process)

    def check_signal(self, ranks, number, process, pids, victim):
        """Whether it ends the program with a checkpoint."""
        signal_all([victim], number)
        self.wait_for_end(ranks, process, pids, victim)
        stderr = (self.folder / "stderr").read_text()
        has_stopped = len(self.said()) > 0
        of_mpirun = ranks > 1 and victim == process.pid
        if not of_mpirun:
            self.assertEqual(has_stopped, process.returncode == 4, stderr)
        if has_stopped:
            self.assertEqual(len(self.said()), 1, stderr)
            self.assertTrue(self.checkpoints(), stderr)
            self.assertNotEqual(number, signal.SIGQUIT)
            sent = signal.SIGTERM if of_mpirun and number in TO_MPIRUN else number
            self.assertIn(f"stopped by {sent.name}", self.said()[0])
        elif ranks == 1:
            self.assertEqual((process.returncode, stderr), (-number, ""))
        else:
            self.assertNotEqual(process.returncode, 0)
        return has_stopped

    def check(self, ranks):
        self.chance = random.Random(ranks)
        length = self.length(ranks)
        for number, moments in self.moments(length).items():
            stopped = 0
            for moment in moments:
                with self.subTest(signal=number.name, moment=moment):
                    stopped += self.check_moment(ranks, number, moment)
            print(
                f"{number.name}, {ranks} rank(s): {len(moments)} moments of {length:.1f} s, {stopped} with a checkpoint"
            )

    @unittest.skipUnless(2 in RANKS, "no mpirun")
    def test_to_mpirun_in_the_steps(self):
        """It gives its ranks two seconds, enough for a small checkpoint, and returns 1 whatever they return. That of
        Open MPI 5 gives half a second, and does not pass on what they say."""
        for number in TO_MPIRUN * times(1, 10):
            with self.subTest(signal=number.name):
                shutil.rmtree(self.folder / "out", ignore_errors=True)
                process = self.start_on(2, *ENDLESS)
                self.assertTrue(self.wait_for(lambda: self.rows() > 2, process))
                self.check_signal(2, number, process, self.processes(process, 2), process.pid)
                self.assertEqual(process.returncode, 1)


if __name__ == "__main__":
    unittest.main()
