#!/usr/bin/python3
"""radixpic bench local-memory: every part in small, the CSV file against the tables, and what is refused."""

import os
import re
import shutil
import unittest

from program import DEVICE, ROOT, ProgramTest

COLUMNS = "device,part,version,size,scope,addresses,median_ms,min_ms,max_ms,repeats,rate,unit,verified".split(",")
FUNCTIONS = "add sub xchg min max inc dec cmpxchg and or xor".split()
VERSIONS = {
    "filter": [
        *["without local memory", "v1, juxtaposed blocks", "v2, juxtaposed, ragged", "v3, overlapping blocks"],
        "v4, overlapping, ragged",
    ],
    "transpose": ["without local memory", "through tiles", "through tiles of padded rows"],
    "stencil": [
        *["2D filter without local memory", "2D filter, a tile, an item per node"],
        *["2D filter, a tile, 4 nodes per item", "product without local memory", "product, loop over tiles"],
    ],
    "refine": [
        *["a child grid for every cell", "over the threshold, in one launch"],
        "over the threshold, a launch for each",
    ],
}
BY_PARENT = "over the threshold, launched by parents"
OWNERS = {
    **{"--length": ["filter"], "--cells": ["transpose", "stencil"], "--product": ["stencil"]},
    **{"--operations": ["atomics"], "--coarse": ["refine"], "--block": ["filter", "atomics"]},
}
SMALL = {"--length": "5001", "--cells": "37x45", "--product": "19", "--operations": "5000", "--coarse": "13"}
HOST_ALONE = "  host-enqueued: this device has no device-side enqueue\n"
BY_DEVICE = "  launched by parents: device-enqueued; the other ways: host-enqueued\n"


def small(*arguments):
    """The arguments after sizes of the parts that they ask for."""
    parts = [part for option, part in zip(arguments, arguments[1:]) if option == "--part"] or [*VERSIONS, "atomics"]
    sizes = [(option, size) for option, size in SMALL.items() if set(OWNERS[option]) & set(parts)]
    return [*(word for size in sizes for word in size), "--repeat", "2", "--device", DEVICE, *arguments]


class LocalMemory(ProgramTest):
    def bench(self, *arguments):
        """Standard output, and the rows of the CSV file without that of the copy."""
        result = self.run_well("bench", "local-memory", *small("--csv", "ladder.csv", *arguments))
        copy, *rows = self.assert_whole_rows(self.folder / "ladder.csv")
        self.assertEqual(list(copy), COLUMNS)
        self.assertEqual(copy["part"], "copy")
        for row in (copy, *rows):
            self.assertEqual((row["verified"], row["repeats"]), ("yes", "2"), row)
            low, median, high = (float(row[name]) for name in ("min_ms", "median_ms", "max_ms"))
            self.assertTrue(0 <= low <= median <= high, row)
        self.assertNotIn("WRONG", result.stdout)
        copied = f"copy of 67.1 MB on the device: {float(copy['rate']):.2f} GB/s; shorter lists stay in caches"
        self.assertIn(copied, result.stdout)
        return result.stdout, rows

    def test_every_part(self):
        text, rows = self.bench()
        self.assertEqual(sorted(os.listdir(self.folder)), ["ladder.csv", "small.yaml"])
        for part, versions in VERSIONS.items():
            if part == "refine" and BY_DEVICE in text:
                versions = [*versions, BY_PARENT]
            self.assertEqual([row["version"] for row in rows if row["part"] == part], versions)
        for row in rows:
            if row["part"] != "atomics":  # its line of the table, with the size, the time and the rate
                named = [line for line in text.splitlines() if f"  {row['version']}  " in line]
                line = next(line for line in named if row["size"] in line)
                median, rate, unit = re.search(r"([\d.]+)  \[.*\] +([\d.]+) (\S+) .*  verified$", line).groups()
                self.assertEqual(unit, row["unit"])
                median, rate = float(median), float(rate)
                self.assertAlmostEqual(median, float(row["median_ms"]), delta=1e-4)
                self.assertAlmostEqual(rate, float(row["rate"]), delta=0.01)

    def test_atomics(self):
        text, rows = self.bench("--part", "atomics", "--block", "64")
        launches = [("device", n) for n in ("1", "32", "1024", "65536")] + [("group", n) for n in ("1", "8", "32")]
        self.assertEqual([row["version"] for row in rows[:: len(launches)]], FUNCTIONS)
        for function in FUNCTIONS:
            own = [row for row in rows if row["version"] == function]
            self.assertEqual([(row["scope"], row["addresses"]) for row in own], launches)
            *printed, spread = re.search(rf"(?m)^  {function} +(.*) %  verified$", text)[1].split()
            self.assertEqual(printed[-1], "-")  # no group of 64 has 256 words
            for row, cost in zip(own, printed):
                self.assertAlmostEqual(float(row["median_ms"]) * 1e6 / int(row["size"]), float(cost), delta=0.01)
            low, median, high = (
                [float(row[name]) for row in own] for name in ("min_ms", "median_ms", "max_ms")
            )
            widest = max(100 * (most - least) / middle for least, middle, most in zip(low, median, high))
            self.assertAlmostEqual(float(spread), widest, delta=0.6 + 1e-3 * widest)
        (at_device,) = {row["size"] for row in rows if row["scope"] == "device" and row["version"] == "add"}
        (at_group,) = {row["size"] for row in rows if row["scope"] == "group"}
        self.assertRegex(text, rf"operations of a launch: {at_device} at device scope .* {at_group} at group scope")
        self.assertIn("system scope (host and device): not in OpenCL 1.2", text)

    def test_refinement_says_who_launched(self):
        text, rows = self.bench("--part", "refine")
        self.assertEqual(text.endswith(HOST_ALONE) + text.endswith(BY_DEVICE), 1, text)
        self.assertEqual([row["version"] for row in rows[3:]], [BY_PARENT] if BY_DEVICE in text else [])
        self.assertEqual([row["size"] for row in rows][0], "169 of 13x13")
        self.assertEqual(len({row["size"] for row in rows[1:]}), 1, rows)

    def run_with(self, file, old, new, *arguments):
        """The bench with an edited file of the kernels."""
        kernels = self.folder / "kernels"
        shutil.copytree(ROOT / "kernels", kernels)
        source = (kernels / file).read_text()
        self.assertIn(old, source)
        (kernels / file).write_text(source.replace(old, new))
        environment = {"RADIXPIC_KERNELS": str(kernels)}
        result = self.run_program("bench", "local-memory", *small(*arguments), environment=environment)
        shutil.rmtree(kernels)
        return result

    def test_a_parent_that_does_not_build(self):
        result = self.run_with("local_memory_enqueue.cl", "enqueue_kernel(", "enqueue_kernl(", "--part", "refine")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        if HOST_ALONE not in result.stdout:
            self.assertRegex(
                result.stdout, r"(?m)^  host-enqueued: this .* fails: .*local_memory_enqueue.cl does not build"
            )
        self.assertEqual(len(re.findall(r" Gcells/s .*  verified\n", result.stdout)), 3)
        self.assertNotIn(BY_PARENT, result.stdout)

    def test_children_that_are_not_launched(self):
        for old, new, words in (
            ("(), CLK_ENQUEUE_FLAGS_NO_WAIT", "(), cell % 2 ? (kernel_enqueue_flags_t)77 : CLK_ENQUEUE_FLAGS_NO_WAIT",
             "its kernels could not launch"),
            ("refine_cell(values, cell", "refine_cell(values, 0", "a result is not that of the host"),
        ):  # fmt: skip
            result = self.run_with("local_memory_enqueue.cl", old, new, "--part", "refine")
            if HOST_ALONE in result.stdout:
                self.skipTest("this device has no device-side enqueue")
            self.assert_refused(result, 1, words)

    def test_lengths_that_a_version_takes(self):
        text, rows = self.bench("--part", "filter", "--block", "100")
        sizes = [int(row["size"]) for row in rows]
        self.assertEqual(sizes, [5001, 5000, 5001, 2 + 51 * 98, 5001])
        text, rows = self.bench("--part", "filter", "--block", "64", "--length", "63")
        self.assertEqual([row["size"] for row in rows], ["63"] * 3)
        self.assertEqual(text.count("not for fewer elements than a block of 64"), 2)

    def test_a_kernel_that_is_wrong(self):
        for old, new, part, *file in (
            ("tile[fast * stride + k]", "tile[k * stride + fast]", "transpose"),
            ("tile_a[y][k]", "tile_a[y][0]", "stencil"),
            ("atomic_sub(word", "atomic_add(word", "atomics"),
            ("returned[n] = atomic_xchg(word, n + 1)", "returned[n] = atomic_xchg(word, n)", "atomics"),
            ("sums[item] += ", "sums[item] = ", "refine", "shared/refine.h"),
            ("middle * 0.5f", "middle", "filter"),
        ):
            with self.subTest(old=old):
                result = self.run_with(*(file or ["local_memory.cl"]), old, new, "--part", part)
                self.assert_refused(result, 1, "a result is not that of the host")
                self.assertIn("WRONG", result.stdout)


class Refused(ProgramTest):
    def test_values(self):
        for option, text in (
            *[("--part", "sort"), ("--length", "2"), ("--length", "1e6"), ("--cells", "0"), ("--cells", "4x")],
            *[("--product", "0"), ("--operations", "0"), ("--coarse", "2049"), ("--block", "2"), ("--block", "1025")],
            ("--repeat", "0"),
        ):
            with self.subTest(option=option, text=text):
                self.assert_refused(self.run_program("bench", "local-memory", f"{option}={text}"), 2, option)
        self.assert_refused(self.run_program("bench", "local-memory", "more"), 2, "more")
        self.assert_nothing_created()

    def test_what_would_have_no_effect(self):
        for option, parts in OWNERS.items():
            others = [f"--part={part}" for part in (*VERSIONS, "atomics") if part not in parts]
            with self.subTest(option=option):
                words = [f"{option} is of the part", " and ".join(parts), "which --part leaves out"]
                self.assert_refused(self.run_program("bench", "local-memory", *others, option, "100"), 2, *words)

    def test_the_product_is_no_part(self):
        result = self.run_program("bench", "local-memory", "--part", "product")
        self.assert_refused(result, 2, "'product' is in the part stencil")

    def test_help(self):
        text = self.run_well("bench", "local-memory", "--help").stdout
        for word in ("--part", "--length", "--cells", "--product", "--operations", "--coarse", "--block", "268435455"):
            self.assertIn(word, text)
        self.assertIn("about 20 s on two CPU cores", " ".join(text.split()))

    def test_a_file_that_cannot_be_written(self):
        few = small("--part", "transpose")
        for path, word in (("no/such/folder.csv", "No such file"), ("/dev/full", "No space left")):
            with self.subTest(path=path):
                result = self.run_program("bench", "local-memory", *few, "--csv", path)
                self.assert_refused(result, 1, "--csv", path, word)


if __name__ == "__main__":
    unittest.main()
