#!/usr/bin/python3
"""scripts/compare_picksc.sh: its table, with stand-ins for both programs."""

import re
import unittest

from program import ROOT, ProgramTest

SCRIPT = (str(ROOT / "scripts" / "compare_picksc.sh"),)

# What the script sets in the source of vmpic2, and the line that it reads: 8 ns a particle-step.
VMPIC2 = """#include <stdio.h>
int main(void) {
   int indx =   9, indy =   9;
   int npx =  3072, npy =   3072;
   float tend = 10.0, dt = 0.1, qme = -1.0;
   int kvec = 1;
   (void)qme;
   printf("total time = %f\\n", 8e-9 * npx * npy * (double)(int)(tend / dt + 0.5) / (kvec == 2 && indx == indy));
}
"""
RADIXPIC = """#!/bin/bash
echo "$*" >>arguments
echo "4.000 ns per particle-step (ns/p-step), 250.0 M particle-steps/s"
"""


class ComparePicksc(ProgramTest):
    def compare(self, *arguments):
        source = self.folder / "codes" / "openmp_vectorization" / "vmpic2"
        source.mkdir(parents=True)
        (source / "vmpic2.c").write_text(VMPIC2)
        for name in ("vmpush2", "omplib", "sselib2", "ssempush2", "dtimer"):
            (source / f"{name}.c").write_text(f"int {name};\n")
        radixpic = self.folder / "radixpic"
        radixpic.write_text(RADIXPIC)
        radixpic.chmod(0o755)
        return self.run_program(*arguments, command=SCRIPT, environment={"RADIXPIC": str(radixpic)})

    def test_the_table(self):
        result = self.compare("codes", "--rounds", "2", "--steps", "5")
        self.assertEqual(result.returncode, 0, result.stderr)
        rows = re.findall(
            r"(?m)^(\d+) +(\d+)x\2 +4.00 \[4.00, 4.00\] +8.00 \[8.00, 8.00\] +2.00 \[2.00, 2.00\]$", result.stdout
        )
        self.assertEqual([row[1] for row in rows], ["64", "256", "512", "1024", "512"], result.stdout)
        calls = (self.folder / "arguments").read_text().splitlines()
        self.assertEqual(len(calls), 2 * len(rows))
        self.assertIn(f"--particles {rows[3][0]} --cells 1024 --length 1024 --steps 5", calls[6])

    def test_wrong_arguments(self):
        by = "compare_picksc.sh: "
        self.assert_refused(self.compare(), 2, "the folder of the skeleton codes is missing", by=by)
        for wrong, said in (
            (["."], "no openmp_vectorization"),
            (["codes", "--rounds", "0"], "not a whole number"),
            (["--fast"], "--rounds"),
        ):
            self.assert_refused(self.run_program(*wrong, command=SCRIPT), 2, said, by=by)


if __name__ == "__main__":
    unittest.main()
