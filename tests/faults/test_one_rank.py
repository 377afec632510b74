#!/usr/bin/python3
"""What happens to one rank ends the run on all of them, with one voice: a rank that is killed, one whose kernels do not
build, one that has no memory."""

import os
import random
import re
import resource
import shutil
import signal
import time
import unittest
from pathlib import Path

from faults import RANKS, SOAK, FaultTest, signal_all, times
from folders import KILL_AT, NO_KILL_AT

MANY = 3
KILLS = times(2, 20)
ENDLESS = ["--steps", "100000000", "--quiet", "--force"]

# Particles that take little time to load.
SOME_MORE = 100000  # kB, a quarter of what MANY_PARTICLES need on a third of the ranks
MANY_PARTICLES = """\
grid: {cells: [16, 8], length: [6, 4]}
time: {step: 0.1, steps: 1}
species: [{name: electrons, charge: -1, mass: 1, density: 1, particles: 24000000, ids: true, velocities: {kind: cold}}]
output: {directory: out}
"""

# Starts the program behind `do`, on one rank only.
ON_ONE_RANK = 'if [ "$OMPI_COMM_WORLD_RANK" = {rank} ]; then {do}; fi; exec "$@"'


def only(rank, do):
    return ["sh", "-c", ON_ONE_RANK.format(rank=rank, do=do), "sh"]


@unittest.skipUnless(2 in RANKS, "no mpirun")
class OneRank(FaultTest):
    def setUp(self):
        super().setUp()
        self.chance = random.Random(1)
        self.longest = 0.0

    def report(self, what, count):
        print(f"{what}: {count} times on 2 and {MANY} ranks, all ended within {self.longest:.1f} s")

    def start_all(self, ranks, *arguments, before=()):
        """A run that has made some steps, and its ranks."""
        shutil.rmtree(self.folder / "out", ignore_errors=True)
        process = self.start_on(ranks, "run", "fault.yaml", *ENDLESS, *arguments, before=before)
        pids = self.processes(process, ranks)
        self.assertTrue(self.wait_for(lambda: self.rows() >= 5, process))
        return process, pids

    def end(self, process, pids):
        self.longest = max(self.longest, self.wait_for_all(pids, process))
        self.assertNotEqual(process.returncode, 0)
        return (self.folder / "stderr").read_text()

    def test_killed(self):
        """Of a rank that is gone only mpirun can tell."""
        for n in range(KILLS):
            ranks = (2, MANY)[n % 2]
            process, pids = self.start_all(ranks)
            time.sleep(self.chance.uniform(0, 0.2))
            os.kill(self.chance.choice(pids), signal.SIGKILL)
            stderr = self.end(process, pids)
            self.assertRegex(stderr, r"process rank \d+ with PID \d+ on node \S+ exited on\s+signal 9")
            self.assertEqual(self.said(), [], stderr)
        self.report("killed in mid-run", KILLS)

    def check_start(self, ranks, rank, do, config, words, on_all=()):
        """All end after the first has started, and one of them says what is wrong with its one."""
        process = self.start_on(ranks, "run", config, *ENDLESS, before=[*on_all, *only(rank, do)])
        pids = self.processes(process, ranks)
        stderr = self.end(process, pids)
        self.assertEqual(process.returncode, 1, stderr)
        self.assert_sentence(words)
        self.assertFalse((self.folder / "out").exists())

    def test_no_room_for_the_history(self):
        """Which the first rank alone writes, while the others step on."""
        for n in range(KILLS):
            process, pids = self.start_all((2, MANY)[n % 2], "--set", "output.checkpoints.every=0")
            for pid in pids:
                resource.prlimit(pid, resource.RLIMIT_FSIZE, (1024, 1024))
            stderr = self.end(process, pids)
            self.assertEqual(process.returncode, 1, stderr)
            self.assert_sentence(r"out/history\.csv: File too large")
        self.report("no room for the history", KILLS)

    def each_rank(self):
        """Ranks, and the one of them to which it happens."""
        return 5 * [(ranks, rank) for ranks in (2, MANY) for rank in range(ranks)] if SOAK else [(2, 1), (MANY, 0)]

    def test_kernels_that_do_not_build(self):
        """The same kernels on all ranks, to which the compiler of one gives another word."""
        broken = "#ifdef BROKEN\nnonsense_word here;\n#endif\n#include"
        folder = self.with_kernels(("push.cl", "#include", broken))["RADIXPIC_KERNELS"]
        for ranks, rank in self.each_rank():
            with self.subTest(ranks=ranks, rank=rank):
                on_all = ["env", f"RADIXPIC_KERNELS={folder}"]
                do = "export POCL_EXTRA_BUILD_FLAGS=-DBROKEN"
                self.check_start(ranks, rank, do, "fault.yaml", "kernels/push.cl does not build", on_all)
        self.report("kernels of one rank do not build", len(self.each_rank()))

    def test_no_memory_for_the_particles(self):
        """A rank has room for a small run and some more, not for this one. The others have their memory, and wait for
        its particles."""
        (self.folder / "many.yaml").write_text(MANY_PARTICLES)
        process, pids = self.start_all(2)
        small = max(int(re.search(r"VmPeak:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())[1]) for pid in pids)
        process.kill()
        signal_all(pids, signal.SIGKILL)
        self.end(process, pids)
        shutil.rmtree(self.folder / "out")
        for ranks, rank in self.each_rank():
            with self.subTest(ranks=ranks, rank=rank):
                self.check_start(ranks, rank, f"ulimit -v {small + SOME_MORE}", "many.yaml", "out of memory.*MiB")
        self.report("no memory on one rank", len(self.each_rank()))

    @unittest.skipUnless(KILL_AT, NO_KILL_AT)
    def test_no_memory_at_any_place(self):
        """Of those where a rank asks for some once it has read the config, and of the very first, within a collective
        call. A run that can do without goes on."""
        counter = self.folder / "counter"

        def run_without(number):
            counter.write_bytes(bytes(8))
            faults = f"LD_PRELOAD={KILL_AT} FAULT_ACTION=memory FAULT_CALL={number} FAULT_COUNTER={counter}"
            arguments = ["run", "fault.yaml", "--steps", "4", "--quiet", "--force"]
            return self.run_on(2, *arguments, before=only(1, f"export {faults}"))

        self.assertEqual(run_without(0).returncode, 0)
        calls = int.from_bytes(counter.read_bytes(), "little")
        places = range(calls // 3, calls)  # reading the config takes fewer than a third
        chosen = [1, *(places if SOAK else self.chance.sample(places, KILLS))]
        for n in chosen:
            with self.subTest(number=n):
                result = run_without(n)
                if n == 1 or result.returncode != 0:
                    self.assert_failed(result, "no memory|out of memory")
        print(f"no memory for one of {calls} calls: {len(chosen)} times on 2 ranks")

    def test_no_memory_in_mid_run(self):
        """The next request for memory fails; that may be a library's, which then ends the process by itself. A run
        whose steps need no more memory goes on, and is stopped."""
        for n in range(KILLS):
            process, pids = self.start_all((2, MANY)[n % 2])
            resource.prlimit(self.chance.choice(pids), resource.RLIMIT_AS, (1 << 20, 1 << 20))
            rows = self.rows() + 20
            self.wait_for(lambda: self.rows() >= rows, process)
            signal_all(pids, signal.SIGTERM)
            stderr = self.end(process, pids)
            self.assertLessEqual(len(self.said()), 1, stderr)
        self.report("no memory in mid-run", KILLS)


if __name__ == "__main__":
    unittest.main()
