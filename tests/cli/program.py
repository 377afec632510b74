"""What the tests of the program share: a small config, a folder of their own, and the program run in it."""

import contextlib
import csv
import io
import os
import re
import resource
import runpy
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path
from unittest import mock

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))  # the package radixpic, for tests that import it after this
sys.dont_write_bytecode = True
PROGRAM = os.environ.get("RADIXPIC_PROGRAM", str(ROOT / "build" / "radixpic"))
# The library with which each rank is alone on its machine; the sanitizers exclude what is preloaded.
APART = Path(os.environ.get("RADIXPIC_APART", Path(PROGRAM).parent / "tests" / "libapart.so"))
NEEDS_APART = unittest.skipUnless("RADIXPIC_APART" in os.environ or APART.is_file(), f"{APART} is not built")
DEVICE = os.environ.get("RADIXPIC_TEST_DEVICE") or "auto"
os.environ.setdefault("RADIXPIC_CACHE", str(Path(PROGRAM).parent / "cache"))  # not the user's folder
for number in (signal.SIGINT, signal.SIGHUP):  # a script's `&` and nohup ignore these, and so would what a test starts
    signal.signal(number, signal.SIG_DFL)
TIMEOUT = 300  # seconds: only what hangs takes as long, on a busy machine too
ENDLESS = ["--steps", "100000000"]  # a run that does not end before it is told to

MPI_ENVIRONMENT = dict(re.findall(r"(?m)^([A-Z]\w*)=(.*)$", (ROOT / "tests/support/mpi_environment.txt").read_text()))

# 23 is a multiple of neither 5 nor 10: the last step needs a row and a snapshot of its own.
CONFIG = f"""\
title: Small
grid: {{cells: [16, 8], length: [6, 4]}}
time: {{step: 0.1, steps: 23}}
species:
  - name: electrons
    charge: -1
    mass: 1
    density: 1
    particles: 4096
    ids: true
    velocities: {{kind: maxwellian}}
    perturb: {{density: [{{axis: x, mode: 1, amplitude: 0.1}}]}}
device: {DEVICE}
output:
  directory: out
  history: {{every: 5, modes: [[1, 0], [-2, 3]]}}
  snapshots: {{every: 10}}
"""


RUN_FILES = [".lock", "config.yaml", "files.txt", "history.csv", "log.txt", "manifest.yaml", "snapshots", "timers.csv"]


def contents(path):
    """All arrays and attributes of an HDF5 file by their names, without what no two runs have alike: dates, run ids,
    commands, and the group `performance`."""
    import h5py  # which not all tests need

    content = {}

    def visit(name, node):
        if name.partition("/")[0] != "performance":
            is_array = isinstance(node, h5py.Dataset)
            content[name] = (node.shape, node.dtype.str, node[()].tobytes()) if is_array else None
            for key, value in node.attrs.items():
                if key not in ("date", "run", "command"):
                    content[f"{name}@{key}"] = value.tolist() if hasattr(value, "tolist") else value

    with h5py.File(path) as file:
        visit("", file)
        file.visititems(visit)
    return content


def sets(*settings):
    """--set for each of them."""
    return [word for setting in settings for word in ("--set", setting)]


def start(*arguments, folder, command=(PROGRAM,), environment=None, **options):
    """The running program, its output in pipes unless the options say otherwise."""
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
    return subprocess.Popen(
        [*command, *map(str, arguments)], cwd=folder, env={**os.environ, **(environment or {})}, **options
    )


class ProgramTest(unittest.TestCase):
    """Every test has an empty folder, but for small.yaml, in which the program runs."""

    maxDiff = None

    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = Path(holder.name)
        (self.folder / "small.yaml").write_text(CONFIG)

    def run_program(self, *arguments, command=(PROGRAM,), environment=None, **options):
        return subprocess.run(
            [*command, *map(str, arguments)],
            cwd=self.folder,
            env={**os.environ, **(environment or {})},
            capture_output="stdout" not in options,
            text=True,
            timeout=TIMEOUT,
            **options,
        )

    def made_once(self, folder, make):
        """The folder as make() leaves it in the first test of the class; the others have copies."""
        cls = type(self)
        if "kept" not in vars(cls):
            holder = tempfile.TemporaryDirectory()
            cls.addClassCleanup(holder.cleanup)
            cls.kept = Path(holder.name)
        if (cls.kept / folder).exists():
            shutil.copytree(cls.kept / folder, self.folder / folder)
        else:
            make()
            shutil.copytree(self.folder / folder, cls.kept / folder)

    def make(self, *command, **options):
        """Any command, which succeeds; returns what it prints."""
        result = subprocess.run(list(map(str, command)), cwd=self.folder, capture_output=True, text=True, **options)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        return result.stdout

    def run_script(self, name, *arguments):
        """One of scripts/, in this process: numpy and matplotlib are imported once for all."""
        path, here, printed, code = ROOT / "scripts" / name, os.getcwd(), (io.StringIO(), io.StringIO()), 0
        words = [str(path), *map(str, arguments)]
        with contextlib.redirect_stdout(printed[0]), contextlib.redirect_stderr(printed[1]):
            os.chdir(self.folder)
            try:
                with mock.patch.object(sys, "argv", words):
                    runpy.run_path(str(path), run_name="__main__")
            except SystemExit as end:
                code = end.code or 0
                if isinstance(code, str):  # a sentence for the error output
                    print(code, file=sys.stderr)
                    code = 1
            finally:
                os.chdir(here)
        if "matplotlib.pyplot" in sys.modules:
            sys.modules["matplotlib.pyplot"].close("all")
        return subprocess.CompletedProcess(words, code, *(text.getvalue() for text in printed))

    def assert_script_fails(self, name, *arguments, words):
        """Exit code 1 and one sentence that says the words."""
        self.assert_refused(self.run_script(name, *arguments), 1, *words, by=f"{name}: ")

    def run_on(self, ranks, *arguments, **options):
        return self.run_program(
            *arguments, command=("mpirun", "-n", str(ranks), PROGRAM), environment=MPI_ENVIRONMENT, **options
        )

    def run_well_on(self, ranks, *arguments):
        return self.assert_well(self.run_on(ranks, *arguments))

    def said(self, stderr):
        """Lines of the program itself among those of mpirun, which ends some of its own with a NUL."""
        return [line for line in stderr.replace("\0", "").splitlines() if line.startswith("radixpic")]

    def assert_said(self, result, code, *words):
        """The exit code, and one sentence of all ranks with the words, which is returned."""
        self.assertEqual((result.returncode, result.stdout), (code, ""), result.stderr)
        (said,) = self.said(result.stderr)
        for word in words:
            self.assertIn(word, result.stderr)  # a list may follow in lines of its own
        return said

    def with_kernels(self, *changes):
        """The environment of a run with kernels of its own; each change is (file, old text, new text)."""
        kernels = self.folder / "own kernels"
        shutil.rmtree(kernels, ignore_errors=True)
        shutil.copytree(ROOT / "kernels", kernels)
        for file, old, new in changes:
            text = (kernels / file).read_text()
            self.assertIn(old, text)
            (kernels / file).write_text(text.replace(old, new))
        return {"RADIXPIC_KERNELS": kernels.name}

    def start_run(self, *options, rows, folder="out", **more):
        """A run without an end whose history has some rows."""
        arguments = ["run", "small.yaml", "--output", folder, *options, *ENDLESS]
        process = start(*arguments, folder=self.folder, **more)
        self.addCleanup(process.kill)
        self.assertTrue(self.wait_for(lambda: self.rows(folder) >= rows, process))
        return process

    def finish(self, process):
        stdout, stderr = process.communicate(timeout=TIMEOUT)
        return subprocess.CompletedProcess(process.args, process.returncode, stdout.decode(), stderr.decode())

    def run_until_full(self, rows, size, *settings, file="history.csv"):
        """A run that may write no byte beyond `size` in any file, from when its history has some rows and a file is
        there."""
        process = self.start_run("--quiet", *settings, rows=rows)
        self.wait_for((self.folder / "out" / file).exists, process)
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (size, size))
        return self.finish(process)

    def wait_for(self, condition, process, pause=0.002):
        """Whether it comes true while the process runs."""
        deadline = time.monotonic() + TIMEOUT
        while not condition():
            if process.poll() is not None:
                return False
            if time.monotonic() > deadline:
                process.kill()
                self.fail("nothing happens")
            time.sleep(pause)
        return True

    def run_well(self, *arguments, **options):
        return self.assert_well(self.run_program(*arguments, **options))

    def errors(self, result):
        """The error output, under --quiet without the warnings of a run."""
        return re.sub("(?m)^warning: .*\n", "", result.stderr) if "--quiet" in result.args else result.stderr

    def assert_well(self, result):
        self.assertEqual((result.returncode, self.errors(result)), (0, ""))
        return result

    def assert_refused(self, result, code, *words, by="radixpic"):
        """The exit code, and one sentence of the program on the error output that says the words."""
        said = self.errors(result)
        self.assertEqual(result.returncode, code, (result.stdout, said))
        self.assertEqual(len(said.splitlines()), 1, said)
        self.assertTrue(said.startswith(by), said)
        self.assertEqual(said.count("radixpic:"), 1 if said.startswith("radixpic:") else 0)
        for word in words:
            self.assertIn(word, said)

    def refuse(self, code, words, *arguments, **options):
        """Runs the program, which refuses with this exit code and one sentence that says the words; returns the
        result."""
        with self.subTest(arguments=arguments):
            result = self.run_program(*arguments, **options)
            self.assert_refused(result, code, *([words] if isinstance(words, str) else words))
        return result

    def assert_picture(self, name):
        """A whole PNG of a good size, which is removed."""
        content = (self.folder / name).read_bytes()
        self.assertEqual(content[:8], b"\x89PNG\r\n\x1a\n")
        width, height = struct.unpack(">II", content[16:24])
        self.assertTrue(width > 300 and height > 200, (width, height))
        (self.folder / name).unlink()

    def add_species(self, text):
        """Another species of small.yaml."""
        config = self.folder / "small.yaml"
        config.write_text(config.read_text().replace("\ndevice:", f"\n  - {text}\ndevice:", 1))

    def assert_nothing_created(self):
        self.assertEqual(sorted(os.listdir(self.folder)), ["small.yaml"])

    def assert_whole_rows(self, path):
        """Every line of a CSV file has its end and as many fields as the first; returns them as dicts."""
        text = path.read_text()
        self.assertTrue(text.endswith("\n"), text[-200:])
        header, *rows = csv.reader(text.splitlines())
        for row in rows:
            self.assertEqual(len(row), len(header), row)
        return [dict(zip(header, row)) for row in rows]

    def rows(self, folder="out"):
        """How many rows the history of a running program has so far."""
        path = self.folder / folder / "history.csv"
        return path.read_bytes().count(b"\n") - 1 if path.is_file() else 0

    def history(self, folder="out"):
        return self.assert_whole_rows(self.folder / folder / "history.csv")

    def read(self, name):
        """The bytes of a file of the folder."""
        return (self.folder / name).read_bytes()

    def names(self, folder):
        return sorted(os.listdir(self.folder / folder))

    def everything(self, folder="out"):
        """Content and time of every file but the lock, which names the last process that looked, and the time of every
        folder."""
        paths = [self.folder / folder, *(path for path in (self.folder / folder).rglob("*") if path.name != ".lock")]
        return {str(path): (path.stat().st_mtime_ns, path.is_file() and path.read_bytes()) for path in paths}


class OneRunTest(ProgramTest):
    """The tests of a class have one folder, and in it a run of small.yaml."""

    config, arguments = CONFIG, ["run", "small.yaml", "--quiet"]

    @classmethod
    def setUpClass(cls):
        holder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(holder.cleanup)
        cls.folder = Path(holder.name)
        (cls.folder / "small.yaml").write_text(cls.config)
        cls().run_well(*cls.arguments)

    def setUp(self):
        pass  # no folder of its own

    def runTest(self):
        """For setUpClass(), which runs the program before there is a test."""
