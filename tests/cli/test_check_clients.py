#!/usr/bin/python3
"""scripts/check_clients.py by h5py alone, which is here: it sees wrong units, places and particles; and arguments of
check_clients.sh."""

import re
import sys
import unittest

import h5py
from program import ROOT, ProgramTest, sets

SHELL = (str(ROOT / "scripts" / "check_clients.sh"),)
AXES = "[{axis: x, bins: 8, range: [0, 6]}, {axis: u, bins: 9, range: [-5, 4]}]"
PHASE_SPACE = f"output.phase_space=[{{species: electrons, axes: {AXES}}}]"
WHAT = [f"{folder}: {what}" for folder in ("snapshots", "phase_space", "moments") for what in ("meshes", "axes")]
WHAT.append("snapshots: particles")


class CheckClients(ProgramTest):
    def read_by_h5py(self):
        """{what: result} of the rows of h5py."""
        result = self.run_script("check_clients.py", "out")
        self.assertEqual(result.stderr, "")
        if "is not installed" in result.stdout:
            self.assertEqual(result.returncode, 1)
        return dict(re.findall(r"(?m)^h5py +[\d.]+ +(\w+: \w+) +(.*)$", result.stdout))

    def test_what_is_seen(self):
        self.run_well("run", "small.yaml", *sets("units.density_per_m3=2e20", "output.moments.every=10", PHASE_SPACE))
        self.assertEqual(self.read_by_h5py(), dict.fromkeys(WHAT, "right"))
        wrong = (
            ("snapshots: meshes", "snapshots", "fields/E/y", "unitSI", "E/y differs by 1"),
            ("snapshots: axes", "snapshots", "fields/phi", "gridSpacing", "phi along x differs by 1"),
            ("snapshots: particles", "snapshots", "particles/electrons/position/x", "unitSI", "electrons x differs by"),
            ("snapshots: particles", "snapshots", "particles/electrons/weighting", "value", "electrons w differs by 1"),
            ("phase_space: axes", "phase_space", "fields/electrons_xu", "gridGlobalOffset", "along u differs by"),
            ("moments: meshes", "moments", "fields/electrons_temperature", "unitSI", "temperature differs by 1"),
        )
        for what, folder, name, attribute, said in wrong:
            path = self.folder / "out" / folder / ("moments_23.h5" if folder == "moments" else "data_23.h5")
            good = path.read_bytes()
            with h5py.File(path, "r+") as file:
                attributes = file["data/23"][name].attrs
                attributes[attribute] = 2 * attributes[attribute]
            rows = self.read_by_h5py()
            self.assertIn(said, rows.pop(what))
            self.assertEqual(set(rows.values()), {"right"})
            path.write_bytes(good)

    def test_the_lines_of_the_page(self):
        """Those of h5py; those of openPMD-viewer, beside them, need PyPI."""
        lines = re.findall(r"(?m)^    (import h5py|phi = .*|volts = .*)$", (ROOT / "docs" / "outputs.md").read_text())
        self.assertEqual(len(lines), 3)
        self.run_well("run", "small.yaml", "--output", "output/my", "--steps", "100", *sets("units.temperature_eV=200"))
        script = "\n".join([*lines, "print(volts.shape, round(abs(volts).max() / abs(phi[...]).max(), 2))"])
        self.assertEqual(self.run_program("-c", script, command=(sys.executable,)).stdout, "(16, 8) 200.0\n")

    def test_wrong_arguments(self):
        by = "check_clients.sh: "
        for wrong, said in (
            (["--venv"], "needs a folder"),
            (["--fast"], "known are --venv"),
            (["nowhere"], "nowhere"),
            (["a", "b"], "'b'"),
        ):
            self.assert_refused(self.run_program(*wrong, command=SHELL), 2, said, by=by)
        (self.folder / "snapshots").mkdir()
        self.assert_script_fails("check_clients.py", ".", words=["holds no files"])
        self.assert_script_fails("check_clients.py", "snapshots", words=["neither snapshots nor"])


if __name__ == "__main__":
    unittest.main()
