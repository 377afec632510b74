#!/usr/bin/python3
"""Two starts in one folder: at the same moment, or the second while the first is held at some file-system call. Each
ends well or is refused, with the process id of the other, and the folder is that of one run."""

import os
import re
import shutil
import signal
import unittest

from faults import TIMEOUT, state, times
from folders import FolderTest, content, difference

PAIRS = times(3, 50)  # of each kind
RUN = ["run", "fault.yaml"]
LATEST = [*RUN, "--restart", "latest"]
RESUME = [*RUN, "--resume"]
FORCE = [*RUN, "--force"]
OLDER = [*RUN, "--restart", "out/checkpoints/checkpoint_3.h5", "--steps", "9"]


class TwoAtOnce(FolderTest):
    def refused_rightly(self, result, other, signed):
        """With one sentence, that names the other process, if that has signed the lock, or that the other has ended or
        not begun."""
        said = self.said(result.stderr)
        names = rf"\b{other.pid}\b" if signed else "is writing to folder out;"
        reasons = rf"{names}|holds a run already|there is no checkpoint"
        return result.returncode == 2 and len(said) == 1 and re.search(reasons, said[0]) is not None

    def in_turn(self, base, *starts):
        """A folder in which these were made, one after the other; each such folder is made once for all kinds."""
        words = tuple(" ".join(arguments) for arguments in starts)
        if (base, words) not in self.made:
            before = self.in_turn(base, *starts[:-1]) if starts[:-1] else base
            self.made[base, words] = folder = self.place(f"in turn {len(self.made)}", before)
            self.run_in(folder, *starts[-1])
        return self.made[base, words]

    def check_end(self, folder, processes, allowed, signed=True):
        """What is wrong with two that have been started; `allowed` by their exit codes what the folder may hold."""
        results = [self.finish_in(process) for process in processes]
        for result, other in zip(results, reversed(processes)):
            if result.returncode != 0 and not self.refused_rightly(result, other, signed):
                return f"exit code {result.returncode}: {self.said(result.stderr)}"
        found = content(folder / "out")
        shutil.rmtree(folder)
        wrong = [difference(found, each) for each in allowed.get(tuple(result.returncode for result in results), [])]
        return "" if "" in wrong else " or ".join(wrong) or "both refused"

    def check_pairs(self, kind, base, first, second):
        """The first held, from its first calls on; two starts of a kind also at the same moment."""
        calls = self.calls(self.in_turn(base, first))
        after = lambda *starts: content(self.in_turn(base, *starts) / "out")
        orders = [after(first, second), after(second, first)]
        allowed = {(0, 2): [after(first)], (2, 0): [after(second)], (0, 0): orders}

        def check_same_moment(pair):
            folder = self.place(f"{kind} {pair} free", base)
            return self.check_end(folder, [self.start_in(folder, *arguments) for arguments in (first, second)], allowed)

        def check_held(pair):
            folder = self.place(f"{kind} {pair} held", base)
            call = 1 + pair if pair < PAIRS // 2 else calls * pair // PAIRS
            held = self.start_in(folder, *first, call=call, action="stop")
            self.wait_for(lambda: state(held.pid) == "T", held)
            other = self.start_in(folder, *second)
            other.wait(TIMEOUT)
            lock = folder / "out" / ".lock"
            signed = not lock.is_file() or f"process {held.pid} " in lock.read_text()
            os.kill(held.pid, signal.SIGCONT)
            return self.check_end(folder, [held, other], allowed, signed)

        ways = [check_held, check_same_moment] if first == second else [check_held]
        for way in ways:
            self.check_all(way, range(PAIRS))
        print(f"{kind}: {PAIRS} pairs with the first held{f', {PAIRS} at the same moment' * (len(ways) - 1)}")

    def test_starts(self):
        self.made = {}  # the folders of in_turn()
        part = self.place("part")
        self.run_well_in(part, *RUN, "--steps", "6")
        for kind, base, first, second in (
            ("two fresh", None, RUN, RUN),
            ("two latest", part, LATEST, LATEST),
            ("two resume", part, RESUME, RESUME),
            ("force beside a run", None, RUN, FORCE),
            ("force beside latest", part, LATEST, FORCE),
            ("older beside a run", part, LATEST, OLDER),
        ):
            with self.subTest(kind=kind):
                self.check_pairs(kind, base, first, second)


if __name__ == "__main__":
    unittest.main()
