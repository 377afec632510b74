#!/usr/bin/python3
"""A run is killed at each of its file-system calls, or in the middle of what one writes, or the call fails: the folder
then holds the old run or the new one, never a third. `run --resume` shows it: in the end the folder is that of a run
without a fault.
"""

import errno
import random
import shutil
import unittest

from faults import SOAK, OnRanks
from folders import NEW, FolderTest, config_in, content, difference

EARLY = 40  # calls of a start, which half of a reduced count are of


class EveryCall(OnRanks, FolderTest):
    def chosen(self, action, count, few):
        """Of the numbers of calls all, every second one of each errno, or some early and some later."""
        if SOAK:
            return range(2 if action == errno.EIO else 1, count + 1, 2 if isinstance(action, int) else 1)
        early, rest = min(EARLY, count // 2), count - min(EARLY, count // 2)
        shares = [2 * (n + self.chance.random()) / few for n in range(few)]
        return [1 + int(share * early if share < 1 else early + (share - 1) * rest) for share in shares]

    def check_start(self, ranks, name, base, arguments, actions):
        """One kind of start with each action at each call."""
        self.chance = random.Random(f"{name} {ranks}")
        reference = self.place(f"{name}-new", base)
        new = self.run_well_in(reference, *arguments, ranks=ranks)
        calls = self.calls(reference)
        old = content(base / "out") if base else {}
        settings = NEW if arguments[-1] == NEW[-1] else []

        def check(case):
            action, call = case
            folder = self.place(f"{name}-{action}-{call}", base)
            result = self.run_in(folder, *arguments, ranks=ranks, call=call, action=action)
            wrong = self.check_end(result, folder, action, (old, new))
            wrong = wrong or self.check_resume(folder, ranks, settings, old, new)
            shutil.rmtree(folder)
            return wrong

        counts = {}
        if "half" in actions:
            writes = self.place(f"{name}-writes", base)
            self.run_in(writes, *arguments, ranks=ranks, action="half")
            counts["half"] = self.calls(writes)
        cases = [
            (action, call)
            for action, few in actions.items()
            for call in self.chosen(action, counts.get(action, calls), few)
        ]
        self.check_all(check, cases)
        print(f"{name}, {ranks} rank(s): {calls} calls, {len(cases)} faults by {', '.join(map(str, actions))}")

    def check_end(self, result, folder, action, whole):
        """How the run with the fault ended; a config.yaml is the old one or the new one at any time."""
        config = folder / "out" / "config.yaml"
        if config.exists() and config_in(config) not in [each.get("config.yaml") for each in whole]:
            return "part of config.yaml"
        if result.returncode == 0:
            return difference(content(folder / "out"), whole[1])  # no such call, or one that the run does not need
        if action in ("kill", "half"):
            return ""
        said = self.said(result.stderr)
        return "" if result.returncode == 1 and len(said) == 1 else f"exit code {result.returncode}, {said}"

    def check(self, ranks):
        for name, (base, arguments) in self.kinds(ranks).items():
            few = 2 if name == "force" else 1  # an early and a late call, or either
            actions = {"kill": 3, "half": few, errno.ENOSPC: few, errno.EIO: few} if ranks == 1 else {"kill": 1}
            with self.subTest(start=name):
                self.check_start(ranks, name, base, arguments, actions)


if __name__ == "__main__":
    unittest.main()
