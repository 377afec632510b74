"""The command line: help, version, and the messages about unknown words."""

import re

from program import ROOT, ProgramTest

OPTIONS = {
    "run": ["--set", "--output", "--device", "--steps", "--restart", "--force", "--quiet", "--verbose", "--help"],
    "check": ["--set", "--output", "--device", "--steps", "--keys", "--markdown", "--help"],
    "devices": ["--help"],
    "bench": [],
    "tune": ["--device", "--particles", "--cells", "--seconds", "--help"],
    "bench pic-sort": [
        *["--particles", "--cells", "--key-bits", "--radix-bits", "--items", "--groups", "--splits"],
        *["--transpose", "--table", "--order", "--repeat", "--device", "--csv", "--write-keys", "--help"],
    ],
    "bench random-lists": [
        *["--sizes", "--key-bits", "--method", "--radix-bits", "--items", "--groups", "--splits"],
        *["--transpose", "--table", "--repeat", "--device", "--csv", "--help"],
    ],
    "bench local-memory": [
        *["--part", "--length", "--cells", "--product", "--operations", "--coarse", "--block", "--repeat"],
        *["--device", "--csv", "--help"],
    ],
    "bench collisions": ["--cells", "--per-cell", "--precision", "--model", "--repeat", "--device", "--csv", "--help"],
    "bench step": [
        *["--particles", "--cells", "--length", "--shape", "--precision", "--method", "--sort", "--hot", "--steps"],
        *["--repeat", "--device", "--csv", "--sweep", "--min-particles", "--max-particles", "--help"],
    ],
    "bench scaling": [
        *["--weak", "--same-box", "--strong", "--particles", "--cells", "--steps", "--repeat", "--decomposition"],
        *["--precision", "--shape", "--device", "--csv", "--help"],
    ],
}


class Help(ProgramTest):
    def assert_readable(self, text):
        for line in text.splitlines():
            self.assertLessEqual(len(line), 80, line)
        self.assertIn("Usage: radixpic", text)
        self.assertRegex(text, r"(?m)^Examples:\n  radixpic ")

    def test_the_program_lists_its_commands(self):
        text = self.run_well("--help").stdout
        self.assert_readable(text)
        for command in ("run", "check", "devices", "bench", "tune", "--version"):
            self.assertRegex(text, rf"(?m)^  {command}\b")

    def test_every_command_lists_its_options(self):
        for command, options in OPTIONS.items():
            with self.subTest(command=command):
                text = self.run_well(*command.split(), "--help").stdout
                self.assert_readable(text)
                self.assertIn(f"Usage: radixpic {command}", text)
                for option in options:
                    self.assertRegex(text, rf"(?m)^ .*{option}\b")
        self.assert_nothing_created()

    def test_help_wins_over_a_missing_config(self):
        self.assertIn("Usage: radixpic run", self.run_well("run", "--steps", "7", "--help").stdout)

    def test_examples_in_the_help_are_accepted(self):
        """Each example of run and check, as far as check goes."""
        (self.folder / "configs").symlink_to(ROOT / "configs")
        for command in ("run", "check"):
            text = self.run_well(command, "--help").stdout
            for example in re.findall(rf"(?m)^  radixpic {command} (.*)$", text):
                with self.subTest(example=example):
                    example = example.replace(" --restart latest", "").replace(" --resume", "")
                    words = [word for word in example.split() if word not in ("--force", "--quiet", "--verbose")]
                    if not words[0].startswith("output/"):  # a run folder that is not there
                        self.run_well("check", *words)

    def test_version(self):
        self.assertRegex(self.run_well("--version").stdout, r"^radixpic \d+\.\d+(\.\d+)?\n$")
        told = self.run_well("--version", "--verbose").stdout
        for name in ("radixpic", "date", "host", "command", "libraries", "device", "kernels"):
            self.assertRegex(told, rf"(?m)^{name} +\S")
        self.assert_refused(self.run_program("--version", "run"), 2, '"run"')


class UnknownWords(ProgramTest):
    def test_nearest_known_word(self):
        for arguments, nearest in (
            (["rum"], "run"),
            (["chekc", "small.yaml"], "check"),
            (["--versoin"], "--version"),
            (["run", "small.yaml", "--stepz", "3"], "--steps"),
            (["run", "small.yaml", "--ouput=here"], "--output"),
            (["check", "small.yaml", "--sett", "time.steps=3"], "--set"),
            (["devices", "--hepl"], "--help"),
            (["bench", "picsort"], "pic-sort"),
            (["bench", "pic-sort", "--particels", "10"], "--particles"),
            (["run", "small.yaml", "--set", "time.stepps=3"], "steps"),
        ):
            with self.subTest(arguments=arguments):
                result = self.run_program(*arguments)
                self.assertEqual(result.returncode, 2, result.stderr)
                self.assertEqual(result.stdout, "")
                self.assertRegex(result.stderr, rf"did you mean [\"']?{nearest}[\"']?\?")
        self.assert_nothing_created()

    def test_far_words_get_no_guess(self):
        for arguments in (["quaternion"], ["run", "small.yaml", "--zzzzzzzz"], ["bench", "zzzzzzzz"]):
            result = self.run_program(*arguments)
            self.assert_refused(result, 2, arguments[-1], "known are")
            self.assertNotIn("did you mean", result.stderr)


class MissingAndMisplaced(ProgramTest):
    def test_each_is_one_sentence(self):
        for arguments, words in (
            ([], ["--help"]),
            (["run"], ["CONFIG", "radixpic run --help"]),
            (["check"], ["CONFIG", "radixpic check --help"]),
            (["bench"], ["experiment", "radixpic bench --help"]),
            (["run", "small.yaml", "other.yaml"], ["other.yaml"]),
            (["run", "missing.yaml"], ["missing.yaml", "No such file"]),
            (["run", "."], ["."]),
            (["devices", "all"], ['"all"']),
            (["bench", "pic-sort", "10"], ["10"]),
            (["run", "small.yaml", "--steps"], ["--steps"]),
            (["run", "small.yaml", "--set"], ["--set"]),
            (["run", "small.yaml", "--output"], ["--output"]),
            (["run", "small.yaml", "--output", ""], ["--output"]),
            (["run", "small.yaml", "--quiet", "--verbose"], ["--verbose does not go with --quiet"]),
            (["run", "small.yaml", "-n"], ['"-n" needs a value']),
            (["run", "small.yaml", "-Z"], ['"-Z" is not known']),
        ):
            with self.subTest(arguments=arguments):
                self.assert_refused(self.run_program(*arguments), 2, *words)
        self.assert_nothing_created()
