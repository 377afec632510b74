"""radixpic tune: its tables, what it keeps, and that check and run take it."""

import os
import re

from program import DEVICE, ProgramTest, sets

SIZE = ["--particles", "20000", "--cells", "16x8", "--device", DEVICE]  # b = 7
MANY = ["--set", "species.electrons.particles=20000", "--set", "step.method=radix"]
DATE = r"\d{4}-\d\d-\d\d"
ROW = r"(?m)^  (tiled|chunked|paper) +7 +(\d) .* (\d+\.?\d*) +[\d.]+ *$"  # method, p, ms


class Tuned(ProgramTest):
    def setUp(self):
        super().setUp()
        self.cache = self.folder / "cache"
        self.environment = {"RADIXPIC_CACHE": str(self.cache)}
        self.file = self.cache / "tuning.yaml"

    def key(self, *options):
        text = self.run_well("check", "small.yaml", *options, environment=self.environment).stdout
        return re.search(r"(?m)^key +(.*)$", text)[1], re.findall(r"(?m)^warning: .*tuned.*$", text)

    def tune(self, *arguments):
        return self.run_well("tune", *arguments, environment=self.environment).stdout

    def device(self):
        """Name, driver and compute units, as a tuned sort says for which device it is."""
        text = self.run_well("check", "small.yaml").stdout
        name = re.search(r"(?m)^device +(.*)$", text)[1]
        listed = self.run_well("devices").stdout
        block = listed[listed.index(f"  {name}") :]
        driver = re.search(r"platform .*, driver (.*?), OpenCL", block)[1]
        return name, driver, int(re.search(r"compute units +(\d+)", block)[1])

    def plant(self, length=20000, **sort):
        name, driver, units = self.device()
        block = ", ".join(f"{key}: {value}" for key, value in {"key_bits": 7, **sort}.items())
        self.cache.mkdir(exist_ok=True)
        entry = f'device: "{name}", driver: "{driver}", compute_units: {units}, length: {length}, date: "2026-11-21"'
        self.file.write_text(f"format: 2\nsorts:\n  - {{{entry}, sort: {{{block}}}}}\n")

    def test_a_search_and_the_run_after_it(self):
        default, _ = self.key(*MANY)
        self.assertTrue(default.endswith("(default)"), default)
        text = self.tune(*SIZE, "--seconds", "15")
        self.assertIn("20000 particles in 16x8 cells (keys of b = 7 bits)", text)
        grid, table = text.split("\nTable 3 of the paper, ")
        tried, kept = (re.findall(ROW, part) for part in (grid, table))
        self.assertIn(f"\n{len(tried)} sorts tried", text)
        self.assertLessEqual({"columns", "rows"}, set(re.findall(r"(?m)^  paper .* (columns|rows) ", grid)))
        self.assertRegex(text, r"(?m)^stored in .*/cache/tuning\.yaml; ")
        self.assertEqual(os.listdir(self.cache), ["tuning.yaml"])
        # the fastest of each method and p, the fastest of all first
        best = {kind: min(float(row[2]) for row in tried if row[:2] == kind) for kind in {row[:2] for row in tried}}
        self.assertEqual({row[:2]: float(row[2]) for row in kept}, best)
        self.assertEqual([float(row[2]) for row in kept], sorted(best.values()))
        stored = re.findall(r"method: (\w+)\n +passes: (\d)\n +key_bits: 7\n", self.file.read_text())
        self.assertEqual(stored, [row[:2] for row in kept])
        for passes in ("2", "auto"):
            method, p = next(row for row in stored if passes in (row[1], "auto"))
            said, warnings = self.key(*MANY, "--set", f"sort.passes={passes}")
            self.assertRegex(said, rf" p = {p} passes.*; method {method} \(tuned {DATE}\)$")
            self.assertEqual(warnings, [])
            log = self.run_well("run", "small.yaml", *MANY, "--set", f"sort.passes={passes}", "--steps", "1", "-v",
                "--force", environment=self.environment).stdout
            self.assertIn(f"\nsort: {said}\n", log)

    def test_time_is_short(self):
        """The defaults come first, so that a run that takes what was found is none the slower for it."""
        text = self.tune("--particles", "2000000", *SIZE[2:], "--seconds", "1")
        self.assertIn("the time was up", text)
        tuned = ["--set", "species.electrons.particles=2000000", "--set", "sort.passes=auto"]
        self.assertRegex(self.key(*MANY, *tuned)[0], rf"\(tuned {DATE}\)$")

    def test_a_planted_sort_is_taken(self):
        planted = {"method": "paper", "passes": 2, "items_per_group": 2, "groups": 3}
        self.plant(**planted)
        said, warnings = self.key(*MANY)
        self.assertRegex(said, r"I = 2, G = 3, .*; method paper \(tuned 2026-11-21\)$")
        self.assertEqual(warnings, [])
        self.assertEqual(self.key("--set", "step.method=radix")[0],
            said)  # 4096 particles: the nearest length is the only one
        for others in (["sort.passes=3"], ["sort.method=tiled"], ["sort.groups=2"], ["grid.cells=[16, 16]"]):
            self.assertNotIn("tuned", self.key(*MANY, *sets(*others))[0], others)
        self.assertIn("I = 2, G = 3", self.key(*MANY, "--set", "sort.passes=auto")[0])
        for table, taken in (("rows", "rows"), ("columns", "columns"), ("auto", "columns")):
            self.plant(**planted, table=table)
            said, warnings = self.key(*MANY)
            self.assertRegex(said, rf", table {taken}; method paper \(tuned 2026-11-21\)$")
            self.assertEqual(warnings, [])
        # What the config asks for comes first.
        self.assertRegex(self.key(*MANY, "--set", "sort.table=rows")[0], r", table rows; method paper \(default\)$")

    def test_the_result_does_not_depend_on_it(self):
        options = [*MANY, "--steps", "5", "--quiet", "--force"]
        self.run_well("run", "small.yaml", *options, environment=self.environment)
        plain = (self.folder / "out" / "history.csv").read_bytes()
        self.plant(method="paper", passes=2, items_per_group=2, groups=3, transpose="on", table="rows")
        self.run_well("run", "small.yaml", *options, environment=self.environment)
        self.assertEqual((self.folder / "out" / "history.csv").read_bytes(), plain)

    def test_what_cannot_be_used_is_left_with_a_warning(self):
        """A sort that is none, then a broken file, which is replaced with a warning too."""
        self.plant(method="paper", passes=2, items_per_group=65536)
        for word in ("items_per_group", str(self.file)):
            said, warnings = self.key(*MANY)
            self.assertTrue(said.endswith("(default)"), said)
            self.assertEqual(len(warnings), 1, warnings)
            self.assertIn(word, warnings[0])
            self.file.write_text("format: 2\nsorts: {\n")
        log = self.run_well("run", "small.yaml", "--steps", "0", environment=self.environment).stdout
        self.assertEqual(log.count(str(self.file)), 1, log)
        text = self.tune(*SIZE, "--seconds", "1")
        self.assertIn("it will be replaced", text)
        self.assertEqual(self.key(*MANY)[1], [])

    def test_a_path_is_printed_with_escapes(self):
        cache = self.folder / "c\x1b"
        cache.mkdir()
        (cache / "tuning.yaml").write_text("?")
        text = self.run_well("tune", *SIZE, "--seconds", "1", environment={"RADIXPIC_CACHE": str(cache)}).stdout
        self.assertNotIn("\x1b", text)
        self.assertEqual(text.count(r"/c\x1B/tuning.yaml"), 2, text)

    def test_a_wrong_sort_is_not_kept(self):
        count = "uint count, uint cells)\n{"  # of both kernels that make cell offsets
        for fault, name, right, wrong in (
            ("downwards", "radix_sort.cl", "(key >> shift) &", "~(key >> shift) &"),
            ("no permutation", "radix_sort.cl", "new_permutation[target] = ",
                "if (count == 0) new_permutation[target] = "),
            ("no cell offsets", "sorted_order.cl", count, f"{count} if (count > 0) return;"),
        ):
            with self.subTest(fault=fault):
                environment = {**self.environment, **self.with_kernels((name, right, wrong))}
                result = self.run_program("tune", *SIZE, environment=environment)
                self.assert_refused(result, 1, "wrong result")
                self.assertEqual(os.listdir(self.cache), [])

    def test_a_file_that_cannot_be_written(self):
        self.file.mkdir(parents=True)
        for environment, word in (
            ({"RADIXPIC_CACHE": "/proc/none"}, "/proc/none/tuning.yaml: "),
            ({name: "" for name in ("RADIXPIC_CACHE", "XDG_CACHE_HOME", "HOME")}, "set RADIXPIC_CACHE"),
            (self.environment, f"{self.file} cannot be used: Is a directory"),
        ):
            result = self.refuse(1, word, "tune", *SIZE, environment=environment)
            self.assertEqual(result.stdout, "")  # known before the search


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
