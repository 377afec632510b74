"""The command line: help, version, and the messages about unknown words."""

import os
import re
import shlex
import shutil
import sys

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
                    words = [word for word in shlex.split(example) if word not in ("--force", "--quiet", "--verbose")]
                    if not words[0].startswith("output/"):  # a run folder that is not there
                        self.run_well("check", *words)

    def test_version(self):
        self.assertRegex(self.run_well("--version").stdout, r"^radixpic \d+\.\d+(\.\d+)?\n$")
        told = self.run_well("--version", "--verbose").stdout
        for name in ("radixpic", "date", "host", "command", "libraries", "device", "kernels"):
            self.assertRegex(told, rf"(?m)^{name} +\S")


class UnknownWords(ProgramTest):
    def test_nearest_known_word(self):
        for arguments, nearest in (
            ("rum", "run"),
            ("chekc small.yaml", "check"),
            ("--versoin", "--version"),
            ("run small.yaml --stepz 3", "--steps"),
            ("run small.yaml --ouput=here", "--output"),
            ("check small.yaml --sett time.steps=3", "--set"),
            ("devices --hepl", "--help"),
            ("bench picsort", "pic-sort"),
            ("bench pic-sort --particels 10", "--particles"),
            ("run small.yaml --set time.stepps=3", "steps"),
        ):
            with self.subTest(arguments=arguments):
                result = self.run_program(*arguments.split())
                self.assertEqual((result.returncode, result.stdout), (2, ""), result.stderr)
                self.assertRegex(result.stderr, rf"did you mean [\"']?{nearest}[\"']?\?")
        self.assert_nothing_created()

    def test_far_words_get_no_guess(self):
        for arguments in (["quaternion"], ["run", "small.yaml", "--zzzzzzzz"], ["bench", "zzzzzzzz"]):
            result = self.refuse(2, [arguments[-1], "known are"], *arguments)
            self.assertNotIn("did you mean", result.stderr)

    def test_words_that_are_missing_or_misplaced(self):
        for arguments, *words in (
            ("", "--help"),
            ("run", "CONFIG", "radixpic run --help"),
            ("check", "CONFIG", "radixpic check --help"),
            ("bench", "experiment", "radixpic bench --help"),
            ("run small.yaml other.yaml", "other.yaml"),
            ("run missing.yaml", "missing.yaml", "No such file"),
            ("run .", "."),
            ("devices all", '"all"'),
            ("bench pic-sort 10", "10"),
            ("run small.yaml --steps", "--steps"),
            ("run small.yaml --set", "--set"),
            ("run small.yaml --output", "--output"),
            ("run small.yaml --output=", "--output"),
            ("run small.yaml --quiet --verbose", "--verbose does not go with --quiet"),
            ("run small.yaml -n", '"-n" needs a value'),
            ("run small.yaml -Z", '"-Z" is not known'),
            ("--version run", '"run"'),
        ):
            self.refuse(2, words, *arguments.split())
        self.assert_nothing_created()


class Scripts(ProgramTest):
    def without_packages(self, script, *arguments):
        """In a Python that finds nothing but its own library."""
        return self.run_program(*arguments, command=(sys.executable, "-B", "-S", ROOT / "scripts" / script))

    def test_every_script_helps(self):
        for path in sorted((ROOT / "scripts").glob("*.py")):
            result = self.without_packages(path.name, "--help")
            self.assertEqual((result.returncode, result.stderr), (0, ""), path.name)
            self.assertIn("examples:\n", result.stdout)
            self.assertIn(f"\n  scripts/{path.name}", result.stdout)
        for script in ("setup", "build", "test", "quickstart", "format", "fuzz", "reading_path"):
            result = self.run_program("--help", command=[ROOT / "scripts" / script])
            self.assertEqual(result.returncode, 0, script)
            self.assertGreater(len(result.stdout), 40, script)

    def setup(self, missing, offered, *arguments, broken=()):
        """scripts/setup on a system that lacks some packages, whose apt offers some of them, as root; and what was
        installed."""
        folder = self.folder / "apt"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        for name, text in {
            "dpkg-query": f'case " {" ".join(missing)} " in *" $4 "*) exit 1 ;; *) printf installed ;; esac',
            "apt-cache": f'case " {" ".join(offered)} " in *" $2 "*) echo "$2 | 1.0 | here" ;; esac',
            "apt-get": f'[ "$1" = update ] || echo "$@" >>{folder}/installed',
            "id": "echo 0",
            **{tool: "exit 1" for tool in broken},
        }.items():
            (folder / name).write_text(f"#!/bin/sh\n{text}\n")
            (folder / name).chmod(0o755)
        environment = {"PATH": f"{folder}:{os.environ['PATH']}", "RADIXPIC_SKIP_SETUP": ""}
        result = self.run_program(*arguments, command=[ROOT / "scripts" / "setup"], environment=environment)
        installed = folder / "installed"
        return result, installed.read_text().split() if installed.exists() else []

    def test_setup_goes_by_what_apt_offers(self):
        result, installed = self.setup([], [])
        self.assertEqual((result.returncode, result.stdout, installed), (0, "==> setup: nothing to install\n", []))
        lacks = ["shellcheck", "pyflakes3", "libvkfft-dev"]
        result, installed = self.setup(lacks, lacks)
        self.assertEqual((result.returncode, sorted(installed[-3:])), (0, sorted(lacks)), result.stderr)
        self.assertNotIn("does not offer", result.stdout)
        result, installed = self.setup(lacks, ["shellcheck"])
        self.assertEqual((result.returncode, installed[-1]), (0, "shellcheck"), result.stderr)
        self.assertFalse({"pyflakes3", "libvkfft-dev"} & set(installed))
        words = "pyflakes3 +[|] tests of the Python files"
        self.assertRegex(result.stdout, f"(?s)does not offer:\n.*{words}.*The build is tried all the same")
        result, installed = self.setup(["libyaml-dev"], [], broken=["pkg-config"])
        self.assertEqual((result.returncode, installed), (1, []))
        self.assertRegex(result.stdout, "(?s)libyaml-dev +[|] YAML reader.*run again with RADIXPIC_SKIP_SETUP=1")
        result, installed = self.setup(["oclgrind", "gcovr"], ["gcovr"], "--developer")
        self.assertEqual((result.returncode, installed[-1]), (0, "gcovr"), result.stderr)
        self.assertIn("oclgrind  ", result.stdout)

    def test_a_package_that_is_missing(self):
        self.run_well("run", "small.yaml", "--quiet", "--steps", "1")
        for script, place, package in (
            ("fit_rate.py", "out/history.csv", "numpy"),
            ("plot_history.py", "out/history.csv", "numpy"),
            ("plot_snapshot.py", "out/snapshots/data_0.h5", "h5py"),
            ("check_openpmd.py", "out/snapshots/data_0.h5", "h5py"),
        ):
            words = f"{package} is missing for this python: install python3-{package} and run with /usr/bin/python3"
            self.assert_refused(self.without_packages(script, place), 1, words, by=f"{script}: ")
