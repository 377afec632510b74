#!/usr/bin/python3
"""A checkpoint with flipped bits, lost blocks or a lost end, from outside: by its name it is refused, `latest` says so
and takes the one before, and of two ranks none waits for the other. tests/kernel/test_checkpoint_read.c has a
thousand more of them within one process."""

import random
import shutil
import unittest

from faults import CONFIG, FaultTest, OnRanks, times

DAMAGES = times(3, 20)  # on each number of ranks
BLOCK = 512


def damage(whole, kind, chance):
    """A copy with one kind of damage at any place, never what it was."""
    content = bytearray(whole)
    while content == whole:
        at = chance.randrange(len(whole))
        if kind == 0:
            content[at] ^= 1 << chance.randrange(8)
        elif kind == 1:
            begin = at // BLOCK * BLOCK
            content[begin : begin + BLOCK] = bytes(len(content[begin : begin + BLOCK]))
        else:
            del content[at:]
    return bytes(content)


class Damaged(OnRanks, FaultTest):
    config = CONFIG.replace("steps: 120", "steps: 20").replace("every: 3,", "every: 10,")

    def refuse(self, ranks):
        """By its name."""
        result = self.run_on(ranks, "run", "--restart", "out/checkpoints/checkpoint_20.h5", "--output", "other")
        self.assert_failed(result, r"checkpoint_20\.h5")
        self.assertFalse((self.folder / "other").exists())

    def fall_back(self, ranks):
        result = self.run_well_on(ranks, "run", "fault.yaml", "--restart", "latest")
        self.assertRegex(result.stdout, r"(?m)^warning: .*checkpoint_20\.h5")
        self.assertIn("goes on from step 10, from out/checkpoints/checkpoint_10.h5", result.stdout)
        self.assertRegex((self.folder / "out" / "log.txt").read_text(), r"(?m)^warning: .*checkpoint_20\.h5")
        self.assert_same_run("out", "straight")

    def check(self, ranks):
        chance = random.Random(1)
        self.run_well_on(ranks, "run", "fault.yaml", "--quiet", "--output", "straight")
        whole = (self.folder / "straight" / "checkpoints" / "checkpoint_20.h5").read_bytes()
        for n in range(DAMAGES):
            shutil.rmtree(self.folder / "out", ignore_errors=True)
            shutil.copytree(self.folder / "straight", self.folder / "out")
            (self.folder / "out" / "checkpoints" / "checkpoint_20.h5").write_bytes(damage(whole, n % 3, chance))
            for act in (self.refuse, self.fall_back):
                with self.subTest(n=n, act=act.__name__):
                    act(ranks)
        print(f"{ranks} rank(s), damaged: {DAMAGES} checkpoints, none believed")


if __name__ == "__main__":
    unittest.main()
