#!/usr/bin/python3
"""output.snapshots: what is chosen is in the files and nothing else, on any number of ranks, and openPMD all the same."""

import sys
import unittest

import h5py
import numpy as np

from program import MPI_ENVIRONMENT, PROGRAM, ROOT, ProgramTest, sets

sys.path.insert(0, str(ROOT / "scripts"))
sys.dont_write_bytecode = True

import plot_snapshot  # noqa: E402

IONS = """\
  - {name: ions, charge: 1, mass: 1836, density: 1, particles: 3000, ids: true}
device:"""
FIELDS = {"E": "E", "phi": "phi", "rho": "chargeDensity"}


class Snapshots(ProgramTest):
    def setUp(self):
        super().setUp()
        config = self.folder / "small.yaml"
        config.write_text(config.read_text().replace("device:", IONS))

    def snapshot(self, *settings, step=10, folder="out", ranks=None):
        """The open file of a step of a run with these keys below output.snapshots."""
        command = ["run", "small.yaml", "--force", "--steps", step, "--output", folder]
        launcher = {"command": ("mpirun", "-n", str(ranks), PROGRAM), "environment": MPI_ENVIRONMENT} if ranks else {}
        self.run_well(*command, *sets(*(f"output.snapshots.{setting}" for setting in settings)), **launcher)
        path = self.folder / folder / "snapshots" / f"data_{step}.h5"
        checked = self.run_script("check_openpmd.py", "--quiet", path)
        self.assertEqual((checked.returncode, checked.stdout), (0, ""), checked.stderr)
        file = h5py.File(path)
        self.addCleanup(file.close)
        return file[f"data/{step}"]

    def test_fields_and_species(self):
        whole = self.snapshot(folder="whole")
        self.assertEqual(sorted(whole["fields"]), sorted(FIELDS.values()))
        self.assertEqual(sorted(whole["particles"]), ["electrons", "ions"])
        for fields, species in (
            (["rho"], ["ions"]),
            (["phi", "E"], []),
            ([], ["electrons", "ions"]),
            ([], []),
        ):
            with self.subTest(fields=fields, species=species):
                names = [f"{key}=[{', '.join(values)}]" for key, values in (("fields", fields), ("species", species))]
                data = self.snapshot(*names)
                self.assertEqual(sorted(data["fields"]), sorted(FIELDS[field] for field in fields))
                self.assertEqual(sorted(data["particles"]), species)
                for group in ("fields", "particles"):
                    for name in data[group]:
                        self.assert_same(data[group][name], whole[group][name])
        self.assertEqual(list(self.snapshot("particles=none")["particles"]), [])

    def assert_same(self, group, expected):
        """Every number of a group or array."""
        if isinstance(group, h5py.Dataset):
            np.testing.assert_array_equal(group, expected)
            return
        self.assertEqual(list(group), list(expected))
        for name in group:
            self.assert_same(group[name], expected[name])

    def test_pictures_of_what_is_not_there(self):
        self.snapshot("fields=[phi]", "species=[ions]")
        for option, name, words in (
            ("--mesh", "E/x", "no mesh E (it has: phi)"),
            ("--phase-space", "electrons", "no particles of electrons (it has: ions)"),
        ):
            result = self.run_script("plot_snapshot.py", "out", option, name)
            self.assert_refused(result, 1, words, by="plot_snapshot.py")

    def test_lengths_without_a_mesh(self):
        lengths = []
        for settings in ([], ["fields=[]"]):
            data = self.snapshot(*settings)
            lengths.append(plot_snapshot.length_unit(plot_snapshot.Snapshot(data.file.filename)))
        self.assertAlmostEqual(lengths[0] / lengths[1], 1, delta=1e-14)


if __name__ == "__main__":
    unittest.main()
