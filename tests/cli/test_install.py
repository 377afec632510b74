#!/usr/bin/python3
"""An installed program: by itself, wherever its prefix is moved to."""

import os
import re
import shutil
import subprocess
import unittest
from pathlib import Path

from program import PROGRAM, ROOT, ProgramTest

BUILD = Path(PROGRAM).parent
BARE = {"RADIXPIC_KERNELS": ""}  # none is named


class Install(ProgramTest):
    def make(self, *command, **options):
        result = subprocess.run(list(map(str, command)), cwd=self.folder, capture_output=True, text=True, **options)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        return result.stdout

    def setUp(self):
        super().setUp()
        self.make("cmake", "--install", BUILD, "--prefix", self.folder / "first place")
        self.prefix = self.folder / "moved"
        (self.folder / "first place").rename(self.prefix)
        self.program = self.prefix / "bin" / "radixpic"

    def run_installed(self, *arguments, command=None):
        result = self.run_program(*arguments, command=command or (self.program,), environment=BARE)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def test_its_kernels_are_beside_it(self):
        kernels = str((self.prefix / "share" / "radixpic" / "kernels").resolve())
        self.assertIn(f"\nkernels from {kernels}\n", self.run_installed("run", "small.yaml", "--verbose", "--steps", "1"))
        link = self.folder / "link"
        link.symlink_to(self.program)
        text = self.run_installed("run", "small.yaml", "--verbose", "--steps", "1", "--force", command=(link,))
        self.assertIn(f"\nkernels from {kernels}\n", text)
        (self.prefix / "share" / "radixpic" / "kernels" / "push.cl").unlink()
        result = self.run_program("run", "small.yaml", "--force", command=(self.program,), environment=BARE)
        self.assert_refused(result, 1, f"{kernels}/push.cl")

    def test_configs_and_scripts(self):
        examples = self.prefix / "share" / "doc" / "radixpic" / "examples"
        self.assertEqual(sorted(os.listdir(examples)), sorted(os.listdir(ROOT / "configs")))
        self.run_installed("run", examples / "landau_damping.yaml", "--steps", "1", "--output", "out")
        self.make("/usr/bin/python3", self.prefix / "share" / "radixpic" / "scripts" / "plot_history.py", "out")

    def test_the_package_for_python(self):
        """It finds the program and the library of its prefix, and that the kernels."""
        text = "import radixpic; run = radixpic.run('small.yaml', steps=2, quiet=True); sim = radixpic.Simulation('small.yaml'); sim.step(2)"
        text += "; from radixpic.library import find_library; print(find_library())"
        environment = {**BARE, "PYTHONPATH": str(self.prefix / "share" / "radixpic" / "scripts"), "RADIXPIC": ""}
        result = self.run_program(command=("/usr/bin/python3", "-B", "-c", text), environment=environment)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertTrue(result.stdout.startswith(str(self.prefix.resolve())), result.stdout)

    def test_the_page_of_the_manual(self):
        page = (self.prefix / "share" / "man" / "man1" / "radixpic.1").read_text()
        for command in ([], ["run"], ["check"], ["bench"], ["bench", "pic-sort"], ["tune"]):
            told = self.run_installed(*command, "--help").replace("\\", "\\e").replace("-", r"\-")
            self.assertIn(f".nf\n{told}.fi\n", re.sub(r"(?m)^\\&", "", page))

    def complete(self, *words):
        """What bash offers for the last of the words."""
        script = self.prefix / "share" / "bash-completion" / "completions" / "radixpic"
        ask = 'source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _radixpic; echo "${COMPREPLY[*]}"'
        return self.make("bash", "-c", ask, script, *words).split()

    def test_completion(self):
        for words, expected in (
            (["radixpic", "be"], ["bench"]),
            (["radixpic", "run", "--re"], ["--restart", "--resume"]),
            (["radixpic", "run", "my.yaml", "--st"], ["--steps"]),
            (["radixpic", "run", ""], []),  # files
            (["radixpic", "check", "--k"], ["--keys"]),
            (["radixpic", "bench", "pic"], ["pic-sort"]),
            (["radixpic", "bench", "pic-sort", "--key"], ["--key-bits"]),
        ):
            self.assertEqual(self.complete(*words), expected)

    @unittest.skipUnless(shutil.which("dpkg-shlibdeps"), "no dpkg-dev")
    def test_a_package(self):
        self.make("cpack", "-G", "DEB", "--config", BUILD / "CPackConfig.cmake", "-B", self.folder / "package")
        package = next((self.folder / "package").glob("radixpic_*.deb"))
        needs = self.make("dpkg-deb", "--field", package, "Depends")
        for name in ("libhdf5-openmpi", "libopenmpi", "ocl-icd-libopencl1", "libfftw3-mpi3", "libyaml-0-2"):
            self.assertIn(name, needs)
        self.make("dpkg-deb", "--extract", package, "root")
        installed = self.folder / "root" / "usr" / "bin" / "radixpic"
        self.run_installed("run", "small.yaml", "--steps", "1", "--quiet", command=(installed,))


class WithoutTests(ProgramTest):
    def test_no_cmocka_is_looked_for(self):
        options = ["-S", str(ROOT), "-B", str(self.folder / "build"), "-D", "BUILD_TESTING=OFF"]
        result = subprocess.run(["cmake", *options], capture_output=True, text=True)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertNotIn("CMOCKA", (self.folder / "build" / "CMakeCache.txt").read_text())
        self.assertFalse((self.folder / "build" / "tests").exists())


class Commit(ProgramTest):
    """scripts/commit.cmake, which every build runs."""

    def find(self, folder="tree"):
        header = self.folder / "commit.h"
        result = subprocess.run(
            ["cmake", "-D", f"SOURCE={self.folder / folder}", "-D", f"FILE={header}", "-P", str(ROOT / "scripts" / "commit.cmake")]
        )
        self.assertEqual(result.returncode, 0)
        return re.fullmatch(r'#define RADIXPIC_COMMIT "(.*)"\n', header.read_text())[1], header.stat().st_mtime_ns

    def git(self, *words):
        names = {f"GIT_{who}_{what}": "x@y" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
        subprocess.run(["git", "-C", self.folder / "tree", *words], check=True, capture_output=True, env={**os.environ, **names})

    def test_a_tree_and_its_commits(self):
        (self.folder / "tree" / "inner").mkdir(parents=True)
        none = "no commit known, built without git"
        self.assertEqual(self.find()[0], none)
        self.git("init")
        self.git("commit", "--allow-empty", "-m", "one")
        one, written = self.find()
        self.assertRegex(one, r"\Acommit [0-9a-f]{12}\Z")
        self.assertEqual(self.find(), (one, written))  # the header stays, so nothing is built anew
        file = self.folder / "tree" / "file"
        file.write_text("first")
        self.git("add", "file")
        self.assertEqual(self.find()[0], f"{one}, modified")
        self.git("commit", "-m", "two")
        self.assertRegex(self.find()[0], r"\Acommit [0-9a-f]{12}\Z")
        self.assertNotEqual(self.find()[0], one)
        self.assertEqual(self.find("tree/inner")[0], none)  # a tree without git that lies in another's repository


if __name__ == "__main__":
    unittest.main()
