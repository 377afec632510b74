"""What the tests of the benches share: one bench in small, its output and its rows."""

import functools
import re
import subprocess

from program import DEVICE, MPI_ENVIRONMENT, PROGRAM, ProgramTest

HEADER = "bench,device,case,quantity,median,min,max,repeats,verified".split(",")

# Options that make a bench quick; what a test gives after them counts, or adds to them.
SMALL = {
    "pic-sort": ["--particles=5003", "--repeat=2"],
    "random-lists": ["--repeat=2"],
    "permutation": ["--repeat=2", "--python=none"],
    "local-memory": ["--repeat=2"],
    "step": ["--repeat=2"],
    "deposit": ["--particles=4096", "--repeat=2"],
    "scaling": ["--particles=4096", "--cells=16x8", "--steps=4", "--repeat=2"],
    "layout": ["--repeat=2", "--length=32"],
}


# What every bench times, in its file and, with minimum and maximum, on the screen.
TIMES = {
    "pic-sort": "total_ms", "random-lists": "total_ms", "permutation": "wall_ms", "local-memory": "time_ms",
        "step": "wall_clock_ns",
    "deposit": "time_ms", "scaling": "wall_clock_ms", "layout": "time_ms",
}  # fmt: skip
CELL = re.compile(r"(?<![\w.-])([\d.e+-]+) \[([\d.e+-]+), ([\d.e+-]+)\]")


@functools.cache
def quick_builds():
    """Kernels that are not optimised, where that is safe: most of a bench in small is their compilation. PoCL 6 ends by
    an assertion on some (test_optimise() in support/device_fixture.h)."""
    devices = subprocess.run([PROGRAM, "devices"], capture_output=True, text=True, check=False).stdout
    return {"POCL_EXTRA_BUILD_FLAGS": "-cl-opt-disable"} if "Portable Computing Language, driver 3." in devices else {}


class BenchTest(ProgramTest):
    def bench(self, name, *arguments, ranks=0, environment=None, command=(PROGRAM,)):
        """The result of a bench in small; on ranks of mpirun unless 0."""
        environment = {**quick_builds(), **(environment or {})}
        if ranks:
            command, environment = ("mpirun", "-n", str(ranks), *command), {**MPI_ENVIRONMENT, **environment}
        small = [*SMALL[name], f"--device={DEVICE}", "--csv=bench.csv"]
        return self.run_program("bench", name, *small, *arguments, command=command, environment=environment)

    def bench_well(self, name, *arguments, **options):
        """Standard output, and the rows of the CSV file, each with the words of its case; all of them are right."""
        result = self.bench(name, *arguments, **options)
        self.assertEqual((result.returncode, result.stderr), (0, ""), result.stdout)
        rows = self.assert_whole_rows(self.folder / "bench.csv")
        for row in rows:
            self.assertEqual((list(row), row["bench"]), (HEADER, name))
            low, median, high = (float(row[column]) for column in ("min", "median", "max"))
            self.assertTrue(low <= median <= high, row)
            self.assertTrue(low >= 0 or row["quantity"] == "energy_drift", row)
            words = dict(word.split("=", 1) for word in row["case"].split(" "))
            unjudged = words.get("of") == "copy" or words.get("kernel") == "numpy"
            self.assertEqual(row["verified"], "" if unjudged else "yes", row)
            row.update(words)
        self.assertNotIn("NOT VERIFIED", result.stdout)
        self.assert_printed(result.stdout, [row for row in rows if row["quantity"] == TIMES[name]])
        return result.stdout, rows


    def assert_printed(self, text, rows):
        """Every row is a cell of a table, each number with four digits."""
        cells = [[float(number) for number in cell] for cell in CELL.findall(text)]
        self.assertTrue(rows)
        for row in (row for row in rows if row["repeats"] != "1"):
            numbers = [float(row[column]) for column in ("median", "min", "max")]
            near = (all(abs(a - b) <= 6e-4 * b for a, b in zip(cell, numbers)) for cell in cells)
            self.assertTrue(any(near), row)


def of(rows, key, quantity=None):
    """The different words of a key, in order, of the rows of a quantity."""
    found = [row[key] for row in rows if key in row and (quantity is None or row["quantity"] == quantity)]
    return list(dict.fromkeys(found))


def medians(rows, quantity, *keys):
    """{words of the keys: median}, or without keys a list."""
    found = [row for row in rows if row["quantity"] == quantity]
    if not keys:
        return [float(row["median"]) for row in found]
    return {tuple(row[key] for key in keys) if len(keys) > 1 else row[keys[0]]: float(row["median"]) for row in found}
