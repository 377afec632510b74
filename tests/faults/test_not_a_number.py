#!/usr/bin/python3
"""A run whose particles grow so fast that numbers end: it stops by the next check with species, step and cell, and the
checkpoint before is a good one, from which the same happens at the same step. tests/kernel/test_not_a_number.c plants
such numbers itself."""

import re
import unittest

from faults import CONFIG, FaultTest, OnRanks, times

CHECK_EVERY = 7
# So light that soon some go further in a step than numbers of single precision tell cells apart.
MASSES = times([5e-11], [5e-11, 7e-11, 1e-10, 1.5e-10, 2e-10, 3e-10])


class NotANumber(OnRanks, FaultTest):
    config = CONFIG.replace("{every: 1}", "{every: 1000}").replace(
        "steps: 120", f"steps: 3000, check_every: {CHECK_EVERY}"
    )

    def check_one(self, ranks, mass):
        options = ["--set", f"species.electrons.mass={mass}", "--output", f"out{mass}", "--quiet"]
        place = r"step (\d+) .* of a particle of species (?:electrons|ions) in cell \(\d+, \d+\) is non-finite"
        said = []
        for more in ([], ["--restart", "latest"]):
            result = self.run_on(ranks, "run", "fault.yaml", *options, *more)
            said.append(self.assert_failed(result, place))
        self.assertEqual(said[0], said[1])
        step = int(re.search(place, said[0])[1])
        kept = self.checkpoints(f"out{mass}")
        last = int(re.search(r"\d+", kept[-1])[0])
        # one is due every 3 steps, and the check that failed was for one, or for time.check_every
        self.assertIn(step, {last + 3, (last // CHECK_EVERY + 1) * CHECK_EVERY}, (said, kept))
        return step

    def check(self, ranks):
        steps = [self.check_one(ranks, mass) for mass in MASSES]
        print(f"{ranks} rank(s), not a number: found in steps {steps}")


if __name__ == "__main__":
    unittest.main()
