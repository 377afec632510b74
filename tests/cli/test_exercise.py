"""scripts/exercise.py: of each exercise the solution that is folded passes, an empty body and a wrong one fail."""

import contextlib
import io
import re
import runpy

from program import DEVICE, ROOT, ProgramTest

SCRIPT = ROOT / "scripts" / "exercise.py"
TASK = re.compile(r"## (\w+)\(\) of ([^,\n]+).*?```c\n(.*?)```", re.S)
# What is replaced in the solutions, one of a device each, and what is then said first.
WRONG = {
    "histogram": ([(">> shift", "")], "the histogram of pass 2 at c = "),
    "scan": ([("part[right] += left_sum", "part[right] = left_sum")],
        "the scanned histogram of pass 1 at c = "),
    "reorder": ([("new_keys[target] = key;", "new_keys[target] = key ^ 1;")],
        "the list of keys after pass 1 at place = 0 is "),  # and in another order: see below
    "deposit": ([("[n / SHAPE_NODES] * along_y[n %", "[n % SHAPE_NODES] * along_y[n /"),
        ("last_cells[run - distance] == cell", "true")], "the charge density at i = 0, j = 0 is "),
    "push": ([("push_find_cells", "pushed_cell")], "after step 2 at particle = "),
}


class Exercise(ProgramTest):
    def run_exercise(self, *arguments):
        return self.run_program(*arguments, command=["/usr/bin/python3", "-B", SCRIPT])

    def check(self, name, *options):
        return self.run_exercise("check", name, "--device", DEVICE, "--particles", 20000, "--rounds", 1, *options)

    def assert_says(self, result, words):
        self.assertEqual(result.returncode, 1, result.stdout)
        self.assertIn(words, result.stderr)
        self.assertNotIn("Traceback", result.stderr)

    def write(self, folder, edits):
        """The solutions below the folds of EXERCISE.md, as edited, in place of the missing bodies."""
        tasks = TASK.findall((folder / "EXERCISE.md").read_text())
        for function, file, body in tasks:
            for old, new in edits:
                body = body.replace(old, new)
            path = folder / file
            text = path.read_text()
            self.assertIn(f"{function}(", text)
            self.assertEqual(text.count("    /* Your body. */\n"), 1)
            path.write_text(text.replace("    /* Your body. */\n", body))
        return tasks

    def try_exercise(self, name):
        folder = self.folder / "output" / "exercise" / name
        edits, words = WRONG[name]
        self.assert_says(self.check(name), f"{folder.relative_to(self.folder)} is not there: begin by `start {name}`")
        said = self.run_exercise("start", name)
        self.assertEqual((said.returncode, said.stderr), (0, ""))
        self.assert_says(self.check(name), "nothing is written in the body of ")
        tasks = self.write(folder, edits)
        self.assertTrue(all(any(old in body for old, _ in edits) for _, _, body in tasks))
        self.assert_says(self.check(name), words)
        self.assert_says(self.run_exercise("start", name), "is there already; --force writes it anew")
        self.run_exercise("start", name, "--force")
        self.write(folder, [])
        for _, file, _ in tasks:
            self.assertEqual((folder / file).read_text(), (ROOT / "kernels" / file).read_text())
        done = self.check(name)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        exactly = "up to round-off" if name in ("deposit", "push") else "bit for bit"
        self.assertIn(f"{name}: the same as the original {exactly}, in all ", done.stdout)
        table = r"share of a copy\noriginal +\S+ +\S+ +\S+ +\S+%\nyours [^\n]*\nIt takes [^\n]*\n"
        self.assertRegex(done.stdout, f"{table}(The solution in [^\n]*\n)?Next: ")

    def test_times(self):
        """Of two rounds: shares are of the best copy, and the solution is named where no round is as fast."""
        report = runpy.run_path(str(SCRIPT))["report_times"]
        for slower, told in ((1.05, ""), (1.2, "The solution in PAGE shows what that does otherwise.\n")):
            rounds = [[(1, 8, 10), (2, 8, 20)], [(3, 8, 40), (3 * slower, 8, 5)]]
            with contextlib.redirect_stdout(io.StringIO()) as printed:
                report(rounds, "PAGE")
            times = f"original {2:21} {8:11} {4:8} {10:15.1f}%"
            self.assertEqual(printed.getvalue().splitlines()[1].split(), times.split())
            said = f"It takes {1 + slower / 2:.2f} times as long as the original, {slower:.2f} to 2.00 by the round.\n"
            self.assertTrue(printed.getvalue().endswith(said + told), printed.getvalue())
        none = self.check("push", "--rounds", 0)
        self.assertEqual((none.returncode, none.stderr.splitlines()[-1]),
            (2, "exercise.py: error: --rounds must be at least 1"))

    def test_a_body_that_does_not_build_or_leaves_its_arrays_or_does_not_end(self):
        self.run_exercise("start", "reorder")
        path = self.folder / "output/exercise/reorder/radix_sort.cl"
        text = path.read_text()
        path.write_text(text.replace("/* Your body. */", "nothing;"))
        self.assert_says(self.check("reorder"), "radix_sort.cl does not build")
        path.write_text(text.replace("/* Your body. */", "new_keys[(size_t)1 << 40] = 0;"))
        self.assert_says(self.check("reorder"), "look for an index that leaves its array")
        path.write_text(text.replace("/* Your body. */", "while (first_pass < 2) new_keys[0] += 1;"))
        late = "output/exercise/reorder did not end within 10 s: look for a loop"
        self.assert_says(self.check("reorder", "--time-limit", "10"), late)
        path.write_text(text.replace("uint first_pass)\n{", "uint first_pass) {"))
        self.assert_says(self.check("reorder"), "there is no definition of radix_reorder()")


    def test_reorder_from_the_end_of_a_chunk(self):
        """Of a CPU: on GPUs chunks of so few particles have one entry, and no other order."""
        self.run_exercise("start", "reorder")
        edits = [("place_of_own(own, n, ", "place_of_own(own, own.length - 1 - n, ")]
        tasks = self.write(self.folder / "output/exercise/reorder", edits)
        self.assertTrue(any(edits[0][0] in body for _, _, body in tasks))
        result = self.check("reorder", "--device", "cpu")
        self.assert_says(result, "the list of keys after pass 1 at place = 0 is ")


for exercise in WRONG:
    setattr(Exercise, f"test_{exercise}", lambda self, name=exercise: self.try_exercise(name))


del exercise
