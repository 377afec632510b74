"""scripts/compare_cub.sh: without nvcc, and its table with a stand-in for what nvcc builds."""

import os
import re
from functools import cached_property
from unittest import mock

from program import DEVICE, PROGRAM, ROOT, ProgramTest

# Writes a "program" that answers as the real one does, after looking at what it was given.
NVCC = """#!/bin/bash
while (($#)); do [[ $1 == -o ]] && out=$2; shift; done
cat >"$out" <<'END'
#!/bin/bash
wc -c <"$3" >seen_bytes
echo "$1 $2" >seen_arguments
shift 2
for keys; do echo "$CUB_SAYS"; done
END
chmod +x "$out"
"""


# The same for g++, of the rows of clogs.
CXX = """#!/bin/bash
while (($#)); do [[ $1 == -o ]] && out=$2; shift; done
printf '#!/bin/bash\\nwc -c <"$4" >seen_by_clogs; echo "clogs 1.0 0.5 2.0 $CLOGS_SAYS"\\n' >"$out"
chmod +x "$out"
"""

SCRIPT = (str(ROOT / "scripts" / "compare_cub.sh"),)


class CompareCub(ProgramTest):
    def compare(self, *arguments, says="0.5 0.25 2.0 yes", name="any"):
        nvcc = self.folder / "nvcc"
        nvcc.write_text(NVCC)
        nvcc.chmod(0o755)
        environment = {"NVCC": str(nvcc), "RADIXPIC": PROGRAM, "CUB_SAYS": f"{says} {name}"}
        few = ["--particles", "4096", "--repeat", "1", "--device", DEVICE]
        return self.run_program(*few, *arguments, command=SCRIPT, environment=environment)

    @cached_property
    def device(self):
        few = ["--particles", "64", "--repeat", "1", "--key-bits", "10", "--device", DEVICE, "--csv", "device.csv"]
        self.run_well("bench", "pic-sort", *few)
        return self.assert_whole_rows(self.folder / "device.csv")[0]["device"]

    def test_without_nvcc(self):
        tools = self.folder / "tools"  # all that the script needs before it asks for nvcc
        tools.mkdir()
        for tool in ("bash", "dirname", "env"):
            (tools / tool).symlink_to(f"/usr/bin/{tool}" if os.path.exists(f"/usr/bin/{tool}") else f"/bin/{tool}")
        result = self.run_program(command=SCRIPT, environment={"PATH": str(tools), "NVCC": ""})
        self.assert_refused(result, 3, "nvcc is missing", "CUDA toolkit", "NVCC", by="compare_cub.sh: ")
        self.assertEqual(result.stdout, "")

    def test_the_table(self):
        result = self.compare(name=self.device)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual((self.folder / "seen_bytes").read_text().strip(), str(4 * 4096))
        self.assertEqual((self.folder / "seen_arguments").read_text().strip(), "10 1")  # bits, repeats
        row = r"(?m)^  (\S+, \S+) +([-\d]+) +([\d.]+)  \[ *([\d.]+), *([\d.]+)\] +[\d.]+ +([\d.]+)  yes$"
        rows = re.findall(row, result.stdout)
        self.assertIn("CUB, SortPairs", [row[0] for row in rows])
        self.assertIn(("radixpic, paper", "2"), [row[:2] for row in rows])
        for name, passes, median, low, high, ratio in rows:
            self.assertTrue(float(low) <= float(median) <= float(high))
            self.assertAlmostEqual(float(ratio), float(median) / 0.5, delta=0.006)
        self.assertIn("keys of b = 10 bits", result.stdout)

    def test_rows_of_clogs(self):
        for folder in ("src", "kernels"):
            (self.folder / "clogs" / folder).mkdir(parents=True)
        (self.folder / "clogs" / "clc2cpp.py").write_text("")
        (self.folder / "g++").write_text(CXX)
        (self.folder / "g++").chmod(0o755)
        names = {"CLOGS": "clogs", "CXX": str(self.folder / "g++"), "CLOGS_SAYS": "yes"}
        with mock.patch.dict(os.environ, names):
            result = self.compare(name=self.device)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertRegex(result.stdout, r"(?m)^  clogs +- +1\.0000  \[ *0\.5000, *2\.0000\] +\S+ +2\.00  yes$")
            self.assertEqual((self.folder / "seen_by_clogs").read_text().strip(), str(4 * 4096))
            os.environ["CLOGS_SAYS"] = "no"
            self.assertEqual(self.compare(name=self.device).returncode, 1)
            os.environ["CXX"] = "false"
            self.assertIn("clogs cannot be built", self.compare(name=self.device).stderr)

    def test_every_length_and_order(self):
        """The rows of --all, and the exit code by whether CUB is faster in one."""
        for cub, code in (("1e6", 0), ("1e-9", 1)):
            result = self.compare("--all", "--cells", "9", says=f"{cub} 0 0 yes", name=self.device)
            self.assertEqual((result.returncode, result.stderr), (code, ""))
            table, said, slower = result.stdout.partition(f"slower than CUB are {5 * code} of 5 rows\n")
            self.assertTrue(said, result.stdout)
            row = r"(?m)^ *4096 +(\d+)  (\S+) +(?:tiled|chunked|paper) +\d+ +[\d.]+ +[\d.]+ +[\d.]+$"
            orders = ["one-way", "both-ways", "random", "sorted", "reversed"]
            self.assertEqual(re.findall(row, table), [("7", order) for order in orders])
            self.assertEqual(len(re.findall(row, slower)), 5 * code)
            self.assertEqual((self.folder / "seen_bytes").read_text().strip(), str(4 * 4096))

    def test_what_fails_and_what_is_refused(self):
        for arguments, code, word, options in (
            (["--cells", "20"], 1, "wrong result", {"says": "0.5 0.25 2.0 no", "name": self.device}),
            (["--all", "--cells", "9"], 1, "wrong result", {"says": "0.5 0.25 2.0 no", "name": self.device}),
            ([], 1, "CUB on Another GPU", {"name": "Another GPU"}),
            (["--device", "no such device"], 3, "no such device", {}),
            (["--particles"], 2, "needs a value", {}),
            (["--particles", "many"], 2, "'many'", {}),
            (["--cells", "1"], 2, "--cells", {}),
            (["--grid", "5"], 2, "--grid", {}),
        ):
            with self.subTest(arguments=arguments):
                result = self.compare(*arguments, **options)
                self.assertEqual(result.returncode, code, result.stderr)
                self.assertIn(word, result.stderr)
                if "20" in arguments and word == "wrong result":
                    self.assertEqual((self.folder / "seen_arguments").read_text().strip(), "9 1")

    def test_help(self):
        result = self.compare("--help")
        self.assertEqual(result.returncode, 0)
        self.assertIn("./scripts/compare_cub.sh --particles", result.stdout)
        self.assertNotIn("set -euo", result.stdout)
