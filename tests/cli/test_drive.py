"""fields.drive: its columns of the history, restarts and ranks, and what is refused."""

import unittest

from program import ProgramTest, sets

DRIVE = (
    "fields.drive=[{axis: x, mode: 1, amplitude: 0.3, frequency: 1.2, ramp: 0.5}, "
    "{axis: y, mode: 2, amplitude: 0.1, frequency: -2}]"
)
COLUMNS = ("output.history.species=[all]", "output.history.work=true")
MORE = sets(DRIVE, "step.method=fused", "output.snapshots.every=0", *COLUMNS)


class Drive(ProgramTest):
    def run_driven(self, *options, ranks=1, output="out"):
        arguments = ["run", "small.yaml", *MORE, *options, "--quiet", "--output", output]
        self.run_well_on(ranks, *arguments) if ranks > 1 else self.run_well(*arguments)
        return self.history(output)

    def test_the_work_has_a_column(self):
        rows = self.run_driven()
        self.assertEqual(list(rows[0])[7:10], ["charge", "drive_work", "density_1_0_re"])
        self.assertEqual(float(rows[0]["drive_work"]), 0)
        gained = float(rows[-1]["total_energy"]) - float(rows[0]["total_energy"])
        work = float(rows[-1]["drive_work"])
        self.assertGreater(work, 0.05)
        self.assertAlmostEqual(gained, work, delta=0.02 * work)
        self.assertAlmostEqual(float(rows[-1]["electrons_external_work"]), work, delta=0.02 * work)
        self.run_well("run", "small.yaml", "--quiet", "--output", "free")
        self.assertNotIn("drive_work", self.history("free")[0])

    def test_a_restart_goes_on_with_the_same_bytes(self):
        """From a step that is no row of the history."""
        self.run_driven("--set", "output.checkpoints.every=8")
        self.run_well("run", "--restart", "out/checkpoints/checkpoint_16.h5", "--output", "new", "--quiet")
        self.assertEqual(self.history("out")[-2:], self.history("new")[-2:])
        result = self.run_program("run", "--restart", "out", *sets("fields.drive.0.amplitude=1"))
        self.assertEqual(result.returncode, 2)
        self.assertIn("fields.drive.0.amplitude: the checkpoint has 0.3, the config 1", result.stderr)
        more = sets("output.checkpoints.every=8", "output.history.work=false")
        for row in self.run_driven(*more, output="plain"):
            self.assertNotIn("electrons_external_work", row)
        result = self.run_program("run", "--restart", "plain", "--output", "later", *sets("output.history.work=true"))
        self.assertEqual(result.returncode, 2)
        self.assertIn("output.history.work: the checkpoint has false, the config true", result.stderr)

    def test_ranks_do_the_same_work(self):
        """Replicated, in slabs, and where rows change hands."""
        wide = sets("deposit.shape=tsc")  # which reaches rows on both sides
        columns = ("drive_work", "electrons_external_work")
        alone = self.run_driven(*wide)[-1]
        for ranks, key in (
            (2, "fields.decomposition=replicated"),
            (3, "fields.decomposition=slabs"),
            (2, "parallel.balance_every=4"),
        ):
            there = self.run_driven(*wide, *sets(key, "parallel.threshold=1"), ranks=ranks, output=f"{ranks}{key[:6]}")
            for column in columns:
                work = float(alone[column])
                self.assertAlmostEqual(float(there[-1][column]), work, delta=1e-5 * work, msg=(key, column))

    def test_limits_are_included(self):
        """What is beyond them malformed_configs.txt has."""
        drive = "fields.drive=[{{axis: y, mode: {}, amplitude: 1, frequency: 1, from: 2, ramp: 1.5, until: {}}}]"
        for mode, until, passes in ((3, 0, 0), (3, 0, 3), (1, 5, 0)):
            settings = sets(drive.format(mode, until), f"deposit.filter_passes={passes}")
            self.run_well("check", "small.yaml", *settings)


if __name__ == "__main__":
    unittest.main()
