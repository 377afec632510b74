"""radixpic tune: its tables, and the block that it prints for a config."""

import re

from program import DEVICE, ProgramTest

SIZE = ["--particles", "20000", "--cells", "16x8", "--device", DEVICE]  # b = 7
ROW = r"(?m)^  (tiled|chunked|paper) +7 +(\d) .* (\d+\.?\d*) +[\d.]+ *$"  # method, p, ms


class Search(ProgramTest):
    def test_a_search_and_a_run_by_its_block(self):
        text = self.run_well("tune", *SIZE, "--seconds", "15").stdout
        self.assertIn("20000 particles in 16x8 cells (keys of b = 7 bits)", text)
        grid, table = text.split("\nTable 3 of the paper, ")
        table, block = table.split("\nThe fastest, as a block of a config:\n")
        tried, kept = (re.findall(ROW, part) for part in (grid, table))
        self.assertIn(f"\n{len(tried)} sorts tried", text)
        self.assertLessEqual({"columns", "rows"}, set(re.findall(r"(?m)^  paper .* (columns|rows) ", grid)))
        # the fastest of each method and p, the fastest of all first
        best = {kind: min(float(row[2]) for row in tried if row[:2] == kind) for kind in {row[:2] for row in tried}}
        self.assertEqual({row[:2]: float(row[2]) for row in kept}, best)
        self.assertEqual([float(row[2]) for row in kept], sorted(best.values()))
        method, passes, _ = kept[0]
        self.assertTrue(block.startswith(f"sort:\n  method: {method}\n  passes: {passes}\n  key_bits: auto\n"), block)
        config = self.folder / "small.yaml"
        config.write_text(config.read_text() + block)
        said = re.search(r"(?m)^key +(.*)$", self.run_well("check", "small.yaml").stdout)[1]
        self.assertRegex(said, rf" p = {passes} passes.*; method {method}$")  # no default
        self.run_well("run", "small.yaml", "--steps", "1", "--quiet")

    def test_time_is_short(self):
        """The defaults come first, so that the block is none the slower for it."""
        text = self.run_well("tune", "--particles", "2000000", *SIZE[2:], "--seconds", "1").stdout
        self.assertIn("the time was up", text)
        self.assertRegex(text, r"\nsort:\n  method: (tiled|chunked)\n  passes: \d\n")

    def test_a_wrong_sort_ends_the_search(self):
        count = "uint count, uint cells)\n{"  # of both kernels that make cell offsets
        for fault, name, right, wrong in (
            ("downwards", "radix_sort.cl", "(key >> shift) &", "~(key >> shift) &"),
            ("no permutation", "radix_sort.cl", "new_permutation[target] = ",
                "if (count == 0) new_permutation[target] = "),
            ("no cell offsets", "sorted_order.cl", count, f"{count} if (count > 0) return;"),
        ):
            with self.subTest(fault=fault):
                result = self.run_program("tune", *SIZE, environment=self.with_kernels((name, right, wrong)))
                self.assert_refused(result, 1, "wrong result")
                self.assertNotIn("sort:", result.stdout)


class Options(ProgramTest):
    def test_bad_ones(self):
        for arguments, words in (
            (["--particles", "0"], ["--particles", "1 to 2147483648"]),
            *((["--cells", cells], ["--cells", "2 to 16384"]) for cells in ("1", "8x", "8x1", "x8", "8x8x8",
                "16384x16385")),
            (["--cells", "8192x8193"], ["--cells", "at most 67108864"]),
            (["--seconds", "0"], ["--seconds"]),
            (["all"], ['"all"']),
            (["--partikels", "5"], ["--particles"]),
        ):
            self.refuse(2, words, "tune", *arguments)
        self.refuse(3, "no such device", "tune", "--device", "no such device")
