"""A host process with a decimal comma, as Qt's QApplication and setlocale(LC_ALL, "") make it for many users: the
library reads and writes the same numbers, and leaves the host's locale as it was."""

import struct
import unittest
from pathlib import Path

from test_package import ROOT, PackageTest

# What glibc loads as LC_NUMERIC from LOCPATH/comma: a magic number, the places of six values, and these: decimal point,
# separator of thousands, grouping, the first two as wide characters, and the name of the character set.
PLACES = (32, 34, 36, 40, 44, 48)
NUMERIC = struct.pack("=8I4s4sII8s", 0x20031115 ^ 1, 6, *PLACES, b",\0.\0", b"\3\3", ord(","), ord("."), b"UTF-8")

WRITE = """
import ctypes, locale, sys
import radixpic
host = ctypes.CDLL(None)
host.strtod.restype = ctypes.c_double
settings = {"time.step": 0.0625, "species.electrons.profile": "{thermal: [1 + 0.25*cos(2*pi*x/lx), 0.5]}",
            "output.history.every": 1, "output.probes": "[{name: centre, at: [1.5, 2.25], every: 1}]",
            "fields.external": "{E: [0.125*sin(2*pi*y/ly), 0, 0]}", "fields.transforms": sys.argv[2], "time.steps": 4}
locale.setlocale(locale.LC_NUMERIC, "C")
before = radixpic.Simulation(sys.argv[1], set=settings)
for name in ("C", "comma"):
    locale.setlocale(locale.LC_NUMERIC, name)
    with radixpic.Simulation(sys.argv[1], set=settings) as simulation:
        simulation.write_into(name, force=True)
        simulation.step(4)
        assert simulation.config["time"]["step"] == 0.0625, simulation.config["time"]
    assert host.strtod(b"1,5", None) == (1.5 if name == "comma" else 1)
before.write_into("changed", force=True)
before.step(4)
try:
    before.step()
except radixpic.Problem:
    pass
before.close()
assert host.strtod(b"1,5", None) == 1.5
"""


class Locale(PackageTest):
    def test_a_decimal_comma(self):
        (self.folder / "locales" / "comma").mkdir(parents=True)
        (self.folder / "locales" / "comma" / "LC_NUMERIC").write_bytes(NUMERIC)
        environment = {"LOCPATH": str(self.folder / "locales"), "PYTHONPATH": str(ROOT / "scripts")}
        known = "import locale; locale.setlocale(locale.LC_NUMERIC, 'comma')"
        if self.run_program(command=("/usr/bin/python3", "-c", known), environment=environment).returncode:
            self.skipTest("this C library takes its locales in another form than glibc")
        for transforms in ("fftw", "vkfft"):  # VkFFT changes the locale while it writes kernels
            with self.subTest(transforms=transforms):
                self.check(environment, transforms)

    def check(self, environment, transforms):
        command = ("/usr/bin/python3", "-B", "-c", WRITE)
        result = self.run_program(self.config, transforms, command=command, environment=environment)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        files = ["history.csv", "probes/centre.csv", "config.yaml"]
        written = {name: [self.lines(Path(name) / file) for file in files] for name in ("C", "comma", "changed")}
        self.assertEqual(written["comma"], written["C"])
        self.assertEqual(written["changed"], written["C"])
        self.assertIn("  step: 0.0625", "\n".join(written["C"][2]))
        self.run_well("check", "comma/config.yaml")

    def lines(self, path):
        """But those that name the folder, and what made it."""
        lines = (self.folder / path).read_text().splitlines()
        return [line for line in lines if "directory:" not in line and not line.startswith("#")]


if __name__ == "__main__":
    unittest.main()
