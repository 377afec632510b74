#!/usr/bin/python3
"""An installed program: by itself, wherever its prefix is moved to."""

import importlib.util
import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from program import PROGRAM, ROOT, ProgramTest

BUILD = Path(PROGRAM).parent
BARE = {"RADIXPIC_KERNELS": ""}  # none is named


class Install(ProgramTest):
    @classmethod
    def setUpClass(cls):
        """One prefix for all tests."""
        holder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(holder.cleanup)
        first = Path(holder.name) / "first place"
        subprocess.run(["cmake", "--install", BUILD, "--prefix", first], check=True, capture_output=True)
        cls.prefix = first.rename(Path(holder.name) / "moved")
        cls.program = cls.prefix / "bin" / "radixpic"
        cls.unwanted = [*cls.prefix.rglob("*egg-info*"), *cls.prefix.rglob("__pycache__")]

    def run_installed(self, *arguments, command=None):
        result = self.run_program(*arguments, command=command or (self.program,), environment=BARE)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def test_its_kernels_are_beside_it(self):
        kernels = str((self.prefix / "share" / "radixpic" / "kernels").resolve())
        line = rf"\nkernels +{re.escape(kernels)}, digest \w{{16}}\n"
        self.assertRegex(self.run_installed("run", "small.yaml", "--verbose", "--steps", "1"), line)
        link = self.folder / "link"
        link.symlink_to(self.program)
        text = self.run_installed("run", "small.yaml", "--verbose", "--steps", "1", "--force", command=(link,))
        self.assertRegex(text, line)
        push = Path(kernels, "push.cl").rename(self.folder / "push.cl")
        installed = {"command": (self.program,), "environment": BARE}
        self.refuse(1, f"{kernels}/push.cl", "run", "small.yaml", "--force", **installed)
        push.rename(Path(kernels, "push.cl"))

    def test_configs_and_scripts(self):
        examples = self.prefix / "share" / "doc" / "radixpic" / "examples"
        self.assertEqual(sorted(os.listdir(examples)), sorted(os.listdir(ROOT / "configs")))
        self.run_installed("run", examples / "landau_damping.yaml", "--steps", "1", "--output", "out")
        self.make("/usr/bin/python3", self.prefix / "share" / "radixpic" / "scripts" / "plot_history.py", "out")

    def test_the_package_for_python(self):
        """It finds the program and the library of its prefix, and that the kernels."""
        text = "import radixpic; run = radixpic.run('small.yaml', steps=2, quiet=True); "
        text += "sim = radixpic.Simulation('small.yaml'); sim.step(2)"
        text += "; from radixpic.library import find_library; print(find_library())"
        environment = {**BARE, "PYTHONPATH": str(self.prefix / "share" / "radixpic" / "scripts"), "RADIXPIC": ""}
        result = self.run_program(command=("/usr/bin/python3", "-B", "-c", text), environment=environment)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertTrue(result.stdout.startswith(str(self.prefix.resolve())), result.stdout)

    def test_the_page_of_the_manual(self):
        """Every command, option and exit code of the program has its own paragraph, and groff has nothing to warn
        of."""
        page = self.prefix / "share" / "man" / "man1" / "radixpic.1"
        parts = dict(zip(*[iter(re.split(r"(?m)^\.S[HS] (.*)\n", page.read_text())[1:])] * 2))
        sections = ["NAME", "SYNOPSIS", "DESCRIPTION", "COMMANDS", "EXIT STATUS", "SEE ALSO"]
        self.assertEqual([name for name in parts if name.isupper()], sections)
        for command in ([], ["run"], ["check"], ["bench"], ["bench", "pic-sort"], ["tune"]):
            told = self.run_installed(*command, "--help")
            part = parts[" ".join(["radixpic", *command]) if command else "COMMANDS"]
            words = re.findall(r"(?m)^ +((?:-\w, )?--[^ \n]+|[a-z][a-z-]*(?=  ))", told)
            self.assertEqual(re.findall(r"\.TP\n\.B (.*)\n", part.replace(r"\-", "-")), words)
        self.assertEqual(re.findall(r"\.B (\d)\n", parts["EXIT STATUS"]), list("01234"))
        if shutil.which("groff"):
            result = subprocess.run(["groff", "-man", "-ww", "-Tutf8", page], capture_output=True, text=True)
            self.assertEqual((result.returncode, result.stderr), (0, ""))

    def test_the_pages_are_there_and_their_links_lead_somewhere(self):
        folder = self.prefix / "share" / "doc" / "radixpic"
        notebooks = sorted((folder / "docs" / "notebooks").glob("*.ipynb"))
        ours = sorted(path.name for path in (ROOT / "docs" / "notebooks").glob("*.ipynb"))
        self.assertEqual([path.name for path in notebooks], ours)
        count = 0
        for page in [*folder.rglob("*.md"), *notebooks]:
            for link in re.findall(r"\]\((?!https?:)([^)#\s]+)[^)]*\)", page.read_text()):
                self.assertTrue((page.parent / link).exists(), f"{page.relative_to(folder)}: {link}")
                count += 1
        self.assertGreater(count, 50)
        for path in ("scripts/radixpic/__init__.py", "kernels/push.cl", "configs/two_stream.yaml"):  # of notebooks
            self.assertTrue((folder / path).is_file(), path)
        self.assertEqual(self.unwanted, [])

    def test_the_library_for_a_program_of_others(self):
        """By pkg-config, as the page has it, and by CMake, outside of the clone; it finds the library by itself."""
        c = "#include <radixpic.h>\n#include <stdio.h>\nint main(void) { return puts(radixpic_version()) < 0; }\n"
        (self.folder / "my.c").write_text(c)
        (self.folder / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.25)\nproject(my LANGUAGES C)\nfind_package(RadixPIC 1.0 REQUIRED)\n"
            "add_executable(my my.c)\ntarget_link_libraries(my PRIVATE RadixPIC::radixpic)\n"
        )
        library = next(self.prefix.glob("lib*/**/libradixpic.so")).parent
        environment = {**os.environ, "PKG_CONFIG_PATH": str(library / "pkgconfig"), "LD_LIBRARY_PATH": ""}
        command = re.search(r"`(cc my\.c \$\(pkg-config .*?)`", (ROOT / "docs" / "python.md").read_text())[1]
        said = self.make("sh", "-c", command, env=environment)
        self.make("cmake", "-S", ".", "-B", "build", "-D", f"CMAKE_PREFIX_PATH={self.prefix}")
        self.make("cmake", "--build", "build")
        version = self.make("pkg-config", "--modversion", "radixpic", env=environment)
        self.assertEqual((said, self.make("build/my", env=environment)), (version, version))

    def test_the_sort_for_a_program_of_others(self):
        """The example of its page, from the prefix alone, with every warning an error; and by CMake, as the page has
        it. What it loads is OpenCL and libc."""
        library = next(self.prefix.glob("lib*/**/libradixpic_sort.so"))
        environment = {**os.environ, "PKG_CONFIG_PATH": str(library.parent / "pkgconfig")}
        example = shutil.copy(self.prefix / "share" / "doc" / "radixpic" / "docs" / "sort_example.c", self.folder)
        page = (ROOT / "docs" / "sort.md").read_text()
        command = next(line for line in page.splitlines() if "    cc " in line)
        build = command.replace("docs/sort_example.c", str(example)).replace("./sort", "RADIXPIC_KERNELS= ./sort")
        strict = "-std=c17 -Wall -Wextra -Wconversion -Werror -D CL_TARGET_OPENCL_VERSION=120 -o sort"
        said = self.make("sh", "-c", build.replace("-o sort", strict), env=environment)
        self.assertRegex(said, r"\A1048576 keys of 10 bits are sorted; cell 7 has the values from \d+ to \d+\n\Z")
        wide = shutil.copy(self.prefix / "share" / "doc" / "radixpic" / "docs" / "sort_64.c", self.folder)
        of_64_bits = build.replace(str(example), str(wide)).replace("-o sort", strict)
        for words in ("2", "3", "12"):  # it compares the permutation with the keys; 12 are more than it takes
            many = of_64_bits.replace("./sort", f"./sort {words} 50001 1")
            self.assertRegex(self.make("sh", "-c", many, env=environment), r"\A(\d+\.\d{4} ){3}yes .*\n\Z")
        calls = re.findall(r"`((?:find_package|target_link_libraries)\([^`]*)`", page.replace("\n", " "))
        lines = ["cmake_minimum_required(VERSION 3.25)", "project(my LANGUAGES C)"]
        lines.append("add_executable(sort sort_example.c)")
        (self.folder / "CMakeLists.txt").write_text("\n".join(lines + calls))
        self.make("cmake", "-S", ".", "-B", "build", "-D", f"CMAKE_PREFIX_PATH={self.prefix}")
        self.make("cmake", "--build", "build")
        self.assertEqual(self.make("build/sort", env={**environment, **BARE}), said)
        if os.path.exists("/usr/lib/python3/dist-packages/pyopencl"):
            script = Path(example).with_name("sort_example.py")
            shutil.copy(self.prefix / "share" / "doc" / "radixpic" / "docs" / script.name, script)
            said = self.make("/usr/bin/python3", script, library, env={**environment, **BARE})
            self.assertEqual(said, "1048576 keys of 10 bits are sorted, as by numpy\n")
        needed = re.findall(r"\((NEEDED|SONAME)\).*\[(.*)\]", self.make("readelf", "-d", library))
        libc = [("NEEDED", "ld-linux-x86-64.so.2")]  # the part of it that has variables of threads
        expected = {("NEEDED", "libOpenCL.so.1"), ("NEEDED", "libc.so.6"), ("SONAME", "libradixpic_sort.so.1")}
        self.assertEqual(set(needed) - set(libc), expected)

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
        for name in ("libhdf5-", "libopenmpi", "ocl-icd-libopencl1", "libfftw3-single3", "libyaml-0-2"):
            self.assertIn(name, needs)
        self.make("dpkg-deb", "--extract", package, "root")
        installed = self.folder / "root" / "usr" / "bin" / "radixpic"
        self.run_installed("run", "small.yaml", "--steps", "1", "--quiet", command=(installed,))


class Package(ProgramTest):
    @unittest.skipUnless(
        all(map(importlib.util.find_spec, ("ensurepip", "setuptools"))), "no python3-venv or -setuptools"
    )
    def test_an_editable_one_beside_a_clone_of_its_name(self):
        """Python is started in the folder above the clone, radixpic, which would be a namespace package."""
        scripts = self.folder / "radixpic" / "scripts"
        shutil.copytree(ROOT / "scripts", scripts, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
        (self.folder / "radixpic" / "output").mkdir()
        before = sorted(scripts.rglob("*"))
        python = self.folder / "venv" / "bin" / "python"
        self.make("/usr/bin/python3", "-m", "venv", "--system-site-packages", self.folder / "venv")
        options = ["--quiet", "--no-index", "--no-build-isolation", "--editable", scripts]
        self.make(python, "-m", "pip", "install", *options)
        found = self.make(python, "-B", "-c", "import radixpic; print(radixpic.Run.__module__)")
        self.assertEqual(found, "radixpic.run_folder\n")
        self.assertEqual(sorted(scripts.rglob("*")), before)


class WithoutTests(ProgramTest):
    def test_no_cmocka_is_looked_for(self):
        self.make("cmake", "-S", ROOT, "-B", self.folder / "build", "-D", "BUILD_TESTING=OFF")
        self.assertNotIn("CMOCKA", (self.folder / "build" / "CMakeCache.txt").read_text())
        self.assertFalse((self.folder / "build" / "tests").exists())


class Commit(ProgramTest):
    """scripts/commit.cmake, which every build runs."""

    def find(self, folder="tree"):
        header = self.folder / "commit.h"
        script = ROOT / "scripts" / "commit.cmake"
        self.make("cmake", "-D", f"SOURCE={self.folder / folder}", "-D", f"FILE={header}", "-P", script)
        return re.fullmatch(r'#define RADIXPIC_COMMIT "(.*)"\n', header.read_text())[1], header.stat().st_mtime_ns

    def git(self, *words):
        names = {f"GIT_{who}_{what}": "x@y" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
        self.make("git", "-C", self.folder / "tree", *words, env={**os.environ, **names})

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
