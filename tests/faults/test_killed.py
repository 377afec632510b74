#!/usr/bin/python3
"""kill -9 at any moment: while the program starts, while it steps, while it writes a checkpoint (there it stands still,
so that the moment is not missed); one rank of two or all at once. The newest checkpoint is always one to go on from,
and the run ends with the bits of one that nobody killed.
"""

import random
import shutil
import signal
import time
import unittest

from faults import RANKS, FaultTest, OnRanks, signal_all, state, times

KILLS = times(8, 100) // len(RANKS)
KILLS_A_RUN = 4
WHILE_WRITING = 0.4  # of all kills, at least


class Killed(OnRanks, FaultTest):
    def setUp(self):
        super().setUp()
        self.chance = random.Random(1)
        self.kills = self.unfinished = 0

    def is_writing(self):
        return any(name.endswith(".tmp") for name in self.files())

    def wait_for_moment(self, process, ranks, is_restart):
        """Of starting, stepping, writing a checkpoint; the last as often as it takes to come to its share. Whether all
        ranks have started: mpirun may wait for ever for one that is gone before."""
        before = self.checkpoints()
        for name in set(self.files()) - set(before):  # what the last kill left
            (self.folder / "out" / "checkpoints" / name).unlink()
        if is_restart and self.chance.random() < 0.2:
            time.sleep(self.chance.uniform(0, 0.6))
            return False
        self.wait_for(lambda: self.checkpoints() not in ([], before), process)
        if self.unfinished > WHILE_WRITING * self.kills:
            time.sleep(self.chance.uniform(0, 0.05))
            return True
        while self.wait_for(self.is_writing, process, pause=0):
            time.sleep(self.chance.uniform(0, 0.002))
            pids = self.there_now(process, ranks)
            signal_all(pids, signal.SIGSTOP)
            self.wait_for(lambda: all(state(pid) in "TZ" for pid in pids), process, pause=0)
            if self.is_writing():
                break
            signal_all(pids, signal.SIGCONT)
        return True

    def kill(self, process, ranks, is_restart):
        """Whether the run ended by it."""
        have_started = self.wait_for_moment(process, ranks, is_restart)
        if process.poll() is not None:
            return False
        pids = victims = self.there_now(process, ranks)
        if ranks > 1:
            only_one = have_started and len(pids) == ranks and self.chance.random() < 0.5
            victims = [self.chance.choice(pids)] if only_one else [process.pid, *pids]
        signal_all(victims, signal.SIGKILL)
        signal_all(pids, signal.SIGCONT)
        self.wait_for_all(pids, process)
        if process.returncode == 0:
            return False
        self.kills += 1
        self.unfinished += self.is_writing()
        return True

    def kill_and_go_on(self, ranks):
        """A run that is killed and gone on with some times, and then to its end."""
        shutil.rmtree(self.folder / "out", ignore_errors=True)
        killed = self.kill(self.start_on(ranks, "run", "fault.yaml"), ranks, is_restart=False)
        for _ in range(KILLS_A_RUN - 1):
            if killed:
                process = self.start_on(ranks, "run", "fault.yaml", "--restart", "latest")
                killed = self.kill(process, ranks, is_restart=True)
        result = self.run_well_on(ranks, "run", "fault.yaml", "--restart", "latest")
        self.assertRegex(result.stdout, r"(?m)^goes on from step \d+, ")
        self.assertNotIn("warning", result.stdout)
        self.assert_same_run("out", "straight")

    def check(self, ranks):
        self.run_well_on(ranks, "run", "fault.yaml", "--quiet", "--output", "straight")
        while self.kills < KILLS or self.unfinished < WHILE_WRITING * self.kills:
            self.kill_and_go_on(ranks)
        print(f"{ranks} rank(s), kill -9: {self.kills} times, {self.unfinished} while a checkpoint was written")


if __name__ == "__main__":
    unittest.main()
