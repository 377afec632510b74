#!/usr/bin/python3
"""radixpic bench step: one point, a sweep, their CSV files, and what is refused."""

import os
import re
import shutil
import unittest

from program import DEVICE, ROOT, ProgramTest

COLUMNS = (
    "device,method,sort,precision,shape,hot,cells_x,cells_y,particles,stage,ns_per_particle_step,min_ns,max_ns,"
    "share,gigabytes_per_second,of_copy,steps,repeats,bytes_per_particle,energy_drift,verified"
).split(",")


class StepTest(ProgramTest):
    def bench(self, *arguments, **options):
        """Standard output, and the rows of the CSV file."""
        result = self.run_well("bench", "step", "--device", DEVICE, "--csv", "step.csv", *arguments, **options)
        rows = self.assert_whole_rows(self.folder / "step.csv")
        for row in rows:
            self.assertEqual(row["verified"], "yes", row)
            low, median, high = (float(row[name]) for name in ("min_ns", "ns_per_particle_step", "max_ns"))
            self.assertTrue(0 <= low <= median <= high, row)
            self.assertGreater(high, 0, row)
        return result.stdout, rows


class Single(StepTest):
    few = ("--particles", "4096", "--cells", "16", "--steps", "5", "--repeat", "2")

    def test_a_point(self):
        text, rows = self.bench(*self.few)
        self.assertEqual(list(rows[0]), COLUMNS)
        self.assertEqual(sorted(os.listdir(self.folder)), ["small.yaml", "step.csv"])  # nothing else on the disk
        self.assertEqual([row["stage"] for row in rows].count("wall clock"), 1)
        for stage in ("deposit", "field", "push"):
            self.assertIn(stage, "".join(row["stage"] for row in rows))
        wall = rows[-1]
        used = [wall[name] for name in ("cells_x", "cells_y", "particles", "steps", "repeats", "hot", "share")]
        self.assertEqual(used, ["16", "16", "4096", "5", "2", "no", "1.0000"])
        self.assertLess(abs(float(wall["energy_drift"])), 5e-3)
        self.assertGreater(float(wall["bytes_per_particle"]), 16)  # a position and a velocity, single
        for words in ("16 a cell", "GB/s", "of a copy", "bytes a particle", "takes time itself", "M particle-steps"):
            self.assertIn(words, text)
        self.assertRegex(text, r"(?m)^verified: all 4096 particles are in the cells, .* in 26 steps$")

    def test_the_stages_fill_the_wall_clock(self):
        text, rows = self.bench(*self.few, "--repeat", "9")  # medians that one disturbed block does not move
        sums = sum(float(row["share"]) for row in rows[:-1])
        self.assertTrue(0 < sums < 1.5, rows)  # of other blocks than the wall clock; yet nothing counts twice
        nanoseconds = float(rows[-1]["ns_per_particle_step"])
        said = re.search(r"([\d.]+) ns per particle-step.*, ([\d.]+) M particle-steps/s", text)
        self.assertAlmostEqual(float(said[1]), nanoseconds, delta=2e-3 * nanoseconds)
        self.assertAlmostEqual(float(said[2]), 1e3 / nanoseconds, delta=0.06 + 2e-3 * 1e3 / nanoseconds)

    def test_choices_are_used(self):
        chosen = ["--shape", "tsc", "--method", "plain", "--sort", "paper", "--hot"]
        text, rows = self.bench("--particles", "5003", "--cells", "12x8", "--steps", "2", "--repeat", "1", *chosen)
        names = ("cells_x", "cells_y", "shape", "method", "sort", "hot", "repeats")
        self.assertEqual([rows[-1][name] for name in names], ["12", "8", "tsc", "plain", "paper", "yes", "1"])
        self.assertIn("half of them in one", text)
        self.assertRegex(text, r"(?m)^method: plain; sort: .* method paper$")

    def test_either_kind_of_fused_step(self):
        for kind in ("tiled", "chunked"):
            rows = self.bench(*self.few, "--method", kind)[1]
            self.assertEqual(rows[-1]["method"], f"fused {kind}")

    def test_double_precision_takes_twice_the_memory(self):
        held = {}
        for precision in ("single", "double"):
            result = self.run_program("bench", "step", "--device", DEVICE, *self.few, "--precision", precision)
            if precision == "double" and result.returncode == 1 and "double" in result.stderr:
                self.skipTest("the device has no double precision")
            self.assertEqual(result.returncode, 0, result.stderr)
            held[precision] = float(re.search(r"held on the device: ([\d.]+) bytes", result.stdout)[1])
        self.assertGreater(held["double"], 1.4 * held["single"])

    def test_longer_boxes(self):
        text, rows = self.bench(*self.few, "--length", "6.2832")
        self.assertIn("verified", text)


class WrongSteps(StepTest):
    def broken(self, file, pattern, replacement, *arguments):
        """What a run says with kernels of which one is broken; it must fail."""
        kernels = self.folder / "kernels"
        shutil.copytree(ROOT / "kernels", kernels, dirs_exist_ok=True)
        text, count = re.subn(pattern, replacement, (kernels / file).read_text())
        self.assertGreater(count, 0)
        (kernels / file).write_text(text)
        few = ["--particles", "4096", "--cells", "16", "--steps", "20", "--repeat", "1", "--method", "plain"]
        result = self.run_program(
            "bench", "step", "--device", DEVICE, *few, *arguments, environment={"RADIXPIC_KERNELS": str(kernels)}
        )
        self.assert_refused(result, 1, "a step left a wrong result")
        return result.stdout

    def test_a_force_of_the_wrong_sign(self):
        text = self.broken("shared/motion.h", r"PRODUCT_SUM\(half_kick", "PRODUCT_SUM(-half_kick")
        self.assertIn("NOT VERIFIED: the energy drifted", text)

    def test_charge_that_is_lost(self):
        text = self.broken("deposit.cl", r"factor \* sum", "(real)0.9 * factor * sum")
        self.assertIn("NOT VERIFIED: the charge on the grid differs", text)

    def test_a_field_that_is_too_strong(self):
        text = self.broken("poisson.cl", r"k \* phi\.", "3 * k * phi.")
        self.assertIn("NOT VERIFIED: the field of the wave", text)


class FewParticles(StepTest):
    def test_noise_is_not_called_wrong(self):
        for few in (["--particles", "1"], ["--particles", "100"]):
            once = ["--cells", "8", *few, "--steps", "1", "--repeat", "1"]
            text = self.run_well("bench", "step", "--device", DEVICE, *once).stdout
            self.assertRegex(text, r"(?m)^verified: .* in \d+ steps; too few a cell to judge the field of the wave$")


class Sweep(StepTest):
    def test_a_small_sweep(self):
        sizes = ["--min-particles", "16384", "--max-particles", "40000", "--steps", "2", "--repeat", "1"]
        text, rows = self.bench("--sweep", *sizes)
        walls = [row for row in rows if row["stage"] == "wall clock"]
        points = [(int(row["cells_x"]), int(row["particles"])) for row in walls]
        self.assertEqual(points, [(32, 16384), (32, 32768), (64, 32768)])  # at least 8 a cell
        costs = [float(row["ns_per_particle_step"]) for row in walls]
        table = r"how the cost grows.*, ([\d.]+)\n.*16384 +32768\n +32\^2 +(\S+) +(\S+)\n +64\^2 +(\S+) +(\S+)\n"
        found = re.search(table, text)
        self.assertAlmostEqual(float(found[1]), costs[1], delta=1e-3 * costs[1])  # the only one with 32 a cell
        ratios = [float(found[2]), float(found[3]), float(found[5])]
        for ratio, cost in zip(ratios, costs):
            self.assertAlmostEqual(ratio, cost / costs[1], delta=0.006)
        self.assertEqual(found[4], "-")
        self.assertEqual(len(re.findall(r"(?:%, at \d+ % of a copy|stages \d+ %|field \d+ %)$", text, re.M)), 3)

    def test_what_does_not_fit_is_skipped_with_its_reason(self):
        sizes = ["--min-particles", str(1 << 31), "--max-particles", str(1 << 31), "--steps", "1", "--repeat", "1"]
        result = self.run_program("bench", "step", "--sweep", "--device", DEVICE, *sizes)
        self.assertEqual(result.returncode, 0, result.stderr)
        lines = [line for line in result.stdout.splitlines() if str(1 << 31) in line and "^2" in line]
        self.assertEqual(len(lines), 7)
        for line in lines:
            self.assertRegex(line, r"skipped: (it needs [\d.]+ GB, more than half|an array of .* larger than|sort: )")


class Refused(ProgramTest):
    def test_values(self):
        for option, text in (
            *[("--particles", "0"), ("--cells", "1"), ("--cells", "8x"), ("--cells", "axb"), ("--length", "0")],
            *[("--length", "1e300"), ("--length", "1e-300")],
            *[("--length", "nan"), ("--shape", "square"), ("--precision", "half"), ("--method", "slow")],
            *[("--sort", "quick"), ("--steps", "0"), ("--repeat", "x"), ("--max-particles", "-1")],
        ):
            with self.subTest(option=option, text=text):
                self.assert_refused(self.run_program("bench", "step", f"{option}={text}"), 2, option)
        self.assert_nothing_created()

    def test_options_that_exclude_one_another(self):
        for arguments, word in (
            (["--sweep", "--cells", "32"], "--cells"),
            (["--sweep", "--particles", "4096"], "--particles"),
            (["--max-particles", "4096"], "--sweep"),
            (["--sweep", "--max-particles", "4096"], "--min-particles"),
            (["--sweep", "--min-particles", "5", "--max-particles", "7"], "power of two"),
            (["--cells", "16384"], "--cells: 16384x16384 are 268435456 cells, more than 67108864"),
        ):
            with self.subTest(arguments=arguments):
                self.assert_refused(self.run_program("bench", "step", "--device", DEVICE, *arguments), 2, word)
        self.assert_nothing_created()

    def test_a_file_that_cannot_be_written(self):
        few = ["--particles", "4096", "--cells", "16", "--steps", "1", "--repeat", "1", "--device", DEVICE]
        for path, word in (("no/such/folder.csv", "No such file"), ("/dev/full", "No space left")):
            with self.subTest(path=path):
                self.assert_refused(self.run_program("bench", "step", *few, "--csv", path), 1, "--csv", path, word)


if __name__ == "__main__":
    unittest.main()
