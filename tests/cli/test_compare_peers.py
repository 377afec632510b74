#!/usr/bin/python3
"""scripts/compare_peers.sh: its table, with stand-ins for all codes, of which some fail or do not agree."""

import os
import re
import unittest

from program import ROOT, ProgramTest

SCRIPT = (str(ROOT / "scripts" / "compare_peers.sh"),)

# The lines that the script sets in PICKSC's sources, without which this is not built or has no speed, and those that it
# reads: 50 million particle-steps a second, and the energies a particle that the stand-in of radixpic has.
PICKSC = """#include <stdio.h>
int main(void) {
   int indx =   9, indy =   9;
   int npx =  3072, npy =   3072;
   float tend = 10.0, dt = 0.3, qme = -1.0;
   float ax = .912871, ay = .912871, ci = 0.1;
   int kvec = 1;
   double n = (double)npx * npy, is_set = kvec == 2 && indx == indy && qme < 0 && ci > 0 && ax + ay == 0;
   cvmibpois23(indx,
               indy);
   printf("Final Total Field, Kinetic and Total Energies:\\n%e %e 1\\n", 1e-3 * n, 2 * n);
   ELECTROMAGNETIC
   printf("total time = %f\\n", n * (int)(tend / dt + 0.5) / (50e6 * is_set));
}
"""
MAGNETIC = """printf("Final Electrostatic, Transverse Electric and Magnetic Field Energies:\\n");
   printf("%e %e %e\\n", 7e-4 * n, 3e-4 * n, MAGNETIC * n);"""

# The same of zpic's: energies of the box, in m c^2 and cells of 0.1 c/omega_p, the kinetic one of the step before;
# a million particle-steps a second for each particle of a species in a cell.
ZPIC = """#include <cmath>
#include <cstdio>
#include <iostream>
struct uint2 { int x, y; };
static uint2 tiles, in_cell;
struct simulation {
    int step = 0;
    double get_t() { return 0.07 * step; }
    int get_iter() { return step; }
    void advance() { step++; }
    void energy_info() {
        double box = 2e-4 * 1024 * tiles.x * tiles.y;
        printf("(*info*) Energy at n = %d, t = 1\\nTotal particle energy = %g\\n", step, (step > 250 ? 2 : 3) * box);
        printf("Electric field = %g\\nMagnetic field = %g\\n", 1e-3 * box, 1e-4 * exp(GROWTH * step) * box);
    }
};
static int Thermal() { return 1; }
struct species { species(const char *, float charge, uint2) : charge(charge) {} float charge; };
int main() {
    uint2 ntiles{ 16, 16 };
    simulation sim;
    uint2 ppc{ 8, 8 };
    tiles = ntiles;
    in_cell = ppc;
    species positrons("positrons", +1.0f, ppc);
    int is_set = ThermalCorr() && positrons.charge > 0;
    while ( sim.get_t() <= 35.0 ) {
        sim.advance();
    }
    sim.energy_info();
    std::cerr << "Performance: "
              << 1e-3 * in_cell.x * in_cell.y * is_set * (sim.step == 250) << " GPart/s\\n";
}
"""

# 100 million particle-steps a second.
RADIXPIC = r"""#!/usr/bin/python3
import math, pathlib, re, sys
config = pathlib.Path(sys.argv[2]).read_text()
with open("configs", "a") as file:
    file.write(config)
cells, steps = (int(re.search(word + r"\D+(\d+)", config)[1]) for word in ("cells", "steps"))
counts = [int(count) for count in re.findall(r"particles: (\d+)", config)]
run = pathlib.Path(sys.argv[sys.argv.index("--output") + 1])
run.mkdir(exist_ok=True)
(run / "timers.csv").write_text(f"stage,seconds\nload,7\nsteps,{sum(counts) * steps / 100e6}\n")
box = len(counts) * cells**2
growth = 0.05 if len(counts) == 2 else 0
rows = [f"{n},{1e-3 * box},{2 * box},{1e-4 * math.exp(growth * n) * box}" for n in range(0, steps + 1, 50)]
(run / "history.csv").write_text("\n".join(["step,field_energy,kinetic_energy,magnetic_energy", *rows]) + "\n")
"""

# Takes g++ for the sources, which are the same, and leaves out what belongs to CUDA.
NVCC = r"""#!/bin/bash
for word; do
    case "$word" in
        -arch=native | -lcufft) ;;
        *.cu) grep -q cudaThread "$word" && exit 1; words+=(-x c++ "$word" -x none) ;;
        *) words+=("$word") ;;
    esac
done
exec g++ "${words[@]}"
"""


class ComparePeers(ProgramTest):
    def write(self, path, text):
        path = self.folder / path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)

    def compare(self, *arguments, magnetic="1e-4", growth="0.05", **environment):
        self.write("skeleton/openmp_vectorization/vmpic2/vmpic2.c", PICKSC.replace("ELECTROMAGNETIC", ""))
        electromagnetic = PICKSC.replace("ELECTROMAGNETIC", MAGNETIC).replace("MAGNETIC", magnetic)
        self.write("skeleton/openmp_vectorization/vmbpic2/vmbpic2.c", electromagnetic)
        self.write("skeleton/gpu/gpubpic2/gpubpic2.c", electromagnetic)
        self.write("skeleton/gpu/gpubpic2/gpulib2.cu", "/* cudaThreadSynchronize(); */\n")
        for part in ("openmp_vectorization/vmpic2", "openmp_vectorization/vmbpic2"):
            self.write(f"skeleton/{part}/dtimer.c", "int dtimer;\n")
            self.write(f"skeleton/{part}/push2_f.c", "for Fortran\n")
        for part in ("openmp/em2ds", "cuda/em2d"):
            self.write(f"zpic/{part}/main.cpp", ZPIC.replace("GROWTH", growth))
            self.write(f"zpic/{part}/zdf.c", "int zdf;\n")
        self.write("radixpic", RADIXPIC)
        self.write("nvcc", NVCC)
        environment = {"RADIXPIC": "./radixpic", "NVCC": str(self.folder / "nvcc"), **environment}
        return self.run_program(*arguments, command=SCRIPT, environment=environment)

    def rows(self, result):
        """(case, cells, code, speed, ratio, physics) of every line of the table."""
        spread = r" +([\d.]+) \[\4, \4\] +(?:([\d.]+) \[\5, \5\] )?"
        return re.findall(rf"(?m)^(\w+) +\d+ +(\d+)x\2 +(\w+){spread} *2\.000 +0\.001000 +(.*)$", result.stdout)

    def test_the_table_of_a_cpu(self):
        result = self.compare("skeleton", "zpic", "--rounds", "2", "--steps", "250")
        self.assertEqual(result.returncode, 0, result.stderr)
        rows = self.rows(result)
        self.assertEqual([row[:2] for row in rows[0:14:2]], [row[:2] for row in rows[1:14:2]])
        self.assertEqual({row[2:4] for row in rows[0:14:2]}, {("radixpic", "100")})
        both = [("vmpic2", "50.00", "2.00")] * 5 + [("vmbpic2", "50.00", "2.00"), ("em2ds", "32.00", "3.12")]
        self.assertEqual([row[2:5] for row in rows[1::2]], both, result.stdout)
        self.assertTrue(all(row[5].endswith("agrees") for row in rows[1::2]), result.stdout)
        growth = f"{0.05 / 0.14:.4f}"  # the energy grows by exp(0.05) a step of 0.07
        self.assertEqual([row[5].split()[-1] for row in rows if row[0] == "beams"], [growth, "agrees"])
        self.assertIn(growth, rows[-1][5])

    def test_the_table_of_a_gpu(self):
        result = self.compare("zpic", "skeleton", "--device", "gpu", "--rounds", "1", "--steps", "250")
        self.assertEqual(result.returncode, 0, result.stderr)
        rows = self.rows(result)
        codes = [("gpubpic2", "50.00")] * 2 + [("em2d", speed) for speed in ("64.00", "256", "16.00")]
        self.assertEqual([row[2:4] for row in rows[1::2]], codes, result.stdout)
        self.assertEqual([row[1] for row in rows[1::2]], ["512"] * 4 + ["1024"])

    def test_radixpic_takes_its_configs(self):
        self.compare("skeleton", "zpic", "--rounds", "1")
        configs = (self.folder / "configs").read_text().split("grid:")[1:]
        self.assertEqual(len(configs), 7)
        for config in configs[-3:]:  # one of each kind
            (self.folder / "one.yaml").write_text("grid:" + config)
            self.run_well("check", "one.yaml")
        self.assertRegex(configs[-1], r"(?s)name: s0, charge: -1,.*name: s1, charge: 1,")  # as zpic has them

    def test_codes_that_do_not_agree(self):
        result = self.compare("skeleton", "--rounds", "1", "--only", "vmbpic2", magnetic="2e-4")
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stdout, r"(?m)^thermal .* vmbpic2 .* magnetic \+100\.0 %$")
        result = self.compare("zpic", "--rounds", "1", "--steps", "250", "--only", "beams", growth="0.0625")
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stdout, r"(?m)^beams .* em2ds .*, growth \+25\.0 %$")

    def test_codes_that_fail(self):
        few = ["skeleton", "--rounds", "1", "--only"]
        result = self.compare(*few, "thermal", magnetic="n + )")
        self.assert_refused(result, 1, "vmbpic2 cannot be built: ", by="compare_peers.sh: ")
        result = self.compare(*few, "thermal", magnetic='1); puts("too few tiles"); return 1; (1')
        self.assert_refused(result, 1, "vmbpic2 failed: too few tiles", by="compare_peers.sh: ")
        self.assertNotIn("vmbpic2", result.stdout)

    def test_without_a_compiler(self):
        result = self.compare("zpic", "--device", "gpu", NVCC=os.devnull)
        by = "compare_peers.sh: "
        self.assertEqual(result.returncode, 3)
        self.assertEqual(result.stderr, f"{by}em2d is left out: nvcc is missing\n{by}no code is left to compare with\n")

    def test_wrong_arguments(self):
        by = "compare_peers.sh: "
        self.assert_refused(self.compare(), 2, "the folder of another code is missing", by=by)
        for wrong, said in (
            ([".", "zpic"], "has no code for --device cpu"),
            (["zpic", "--rounds", "0"], "not a whole number above 0"),
            (["zpic", "--steps", "199"], "at least 200"),
            (["zpic", "--device", "0:0"], "neither cpu nor gpu"),
            (["--fast"], "--rounds"),
        ):
            self.assert_refused(self.compare(*wrong), 2, said, by=by)


if __name__ == "__main__":
    unittest.main()
