"""What can go wrong: one clear sentence, the right exit code, files whole, nothing hanging."""

import itertools
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import unittest
from pathlib import Path

import h5py

from program import PROGRAM, ROOT, TIMEOUT, ProgramTest, sets

KERNELS = ROOT / "kernels"
# An FFTW that is wrong where $WRONG_STRIDE says so.
WRONG_STRIDE = Path(os.environ.get("RADIXPIC_WRONG_STRIDE", Path(PROGRAM).parent / "tests" / "libwrong_stride.so"))


@unittest.skipUnless(
    "RADIXPIC_WRONG_STRIDE" in os.environ or WRONG_STRIDE.is_file(), "sanitizers exclude what is preloaded"
)
class Transforms(ProgramTest):
    """A library whose transforms are wrong ends a run before it replaces an earlier one."""

    def test_a_wrong_library_is_refused(self):
        for fields in ("{solver: electrostatic}", "{solver: electromagnetic, speed_of_light: 10}"):
            options = sets(f"fields={fields}", "precision=single", "time.step=0.01")
            options += sets("species.electrons.velocities.dimensions=3")
            command = ("run", "small.yaml", "--force", "--steps", "1", *options)
            wrong = {"LD_PRELOAD": str(WRONG_STRIDE)}
            self.run_well(*command, environment=wrong)
            earlier = self.history()
            result = self.run_program(*command, environment={**wrong, "WRONG_STRIDE": "1"})
            self.assert_said(result, 1, "FFTW 3.", "is wrong on this device", "fields.transforms")
            self.assertEqual(self.history(), earlier)


class Folders(ProgramTest):
    """A file where a folder should be stops everyone, root too, whom permissions do not."""

    def test_a_file_in_the_way(self):
        (self.folder / "file").write_text("mine")
        for path in ("file", "file/below", "file/a/b"):
            self.refuse(2, ["file", "cannot create"], "run", "small.yaml", "--quiet", "--output", path)
        self.assertEqual(self.read("file"), b"mine")
        self.assertEqual(self.names("."), ["file", "small.yaml"])

    def test_a_folder_that_takes_no_files(self):
        """/proc takes none, whoever asks."""
        self.refuse(1, "/proc/none", "run", "small.yaml", "--output", "/proc/none")

    @unittest.skipIf(os.geteuid() == 0, "root may write anywhere")
    def test_a_folder_without_permission(self):
        (self.folder / "closed").mkdir(mode=0o500)
        self.refuse(1, ["closed/out", "Permission denied"], "run", "small.yaml", "--output", "closed/out")

    def test_folders_where_files_should_be(self):
        for name in ("log.txt", "config.yaml", "history.csv", "timers.csv"):
            with self.subTest(name=name):
                shutil.rmtree(self.folder / "out", ignore_errors=True)
                self.run_well("run", "small.yaml", "--quiet", "--steps", "1")
                (self.folder / "out" / name).unlink()
                (self.folder / "out" / name).mkdir()
                words = f"out/{name} is no regular file"
                self.refuse(2, words, "run", "small.yaml", "--quiet", "--force", "--steps", "1")

    def test_a_folder_of_somebody_else(self):
        """Files of a run's names without a manifest are no run's, above all the config that is being run;
        tests/kernel/test_run_folder.c has more names."""
        for name, options in itertools.product(("config.yaml", "snapshots/data_7.h5"), ([], ["--force"])):
            with self.subTest(name=name, options=options):
                shutil.rmtree(self.folder / "out", ignore_errors=True)
                (self.folder / "out" / name).parent.mkdir(parents=True)
                (self.folder / "out" / name).write_text("mine")
                words = ["out", name.split("/")[0], "--output"]
                self.refuse(2, words, "run", "small.yaml", "--quiet", "--steps", "1", *options)
                self.assertEqual(self.read(f"out/{name}"), b"mine")


class FullDisk(ProgramTest):
    def test_the_history_in_mid_run(self):
        result = self.run_until_full(20, 100001, "--set", "output.history.every=1", "--set", "output.snapshots.every=0")
        self.assert_refused(result, 1, "out/history.csv", "File too large")
        rows = self.history()  # whole rows, though the last one that was begun did not fit
        self.assertGreater(len(rows), 300)
        self.assertEqual([int(row["step"]) for row in rows], list(range(len(rows))))

    def test_a_snapshot_in_mid_run(self):
        """A snapshot is larger than 100 kB here; the history, a row beside each, would take hundreds to be."""
        settings = ["output.history.every=100", "output.snapshots.every=100", "species.electrons.particles=8192"]
        result = self.run_until_full(2, 100000, *sets(*settings), file="snapshots/data_0.h5")
        self.assert_refused(result, 1, "out/snapshots/data_", "File too large")
        culprit = int(re.search(r"data_(\d+)\.h5", result.stderr)[1])
        files = sorted(os.listdir(self.folder / "out" / "snapshots"))
        self.assertEqual(files, sorted(["data.pmd", *(f"data_{step}.h5" for step in range(0, culprit, 100))]))
        self.assertIn("data_0.h5", files)
        with h5py.File(self.folder / "out" / "snapshots" / "data_0.h5") as file:
            self.assertEqual(file["data/0/particles/electrons/position/x"][()].shape, (8192,))
        self.assertIn(int(self.history()[-1]["step"]) - culprit, (-100, 0, 100))  # two files at most are in flight

    def test_what_is_printed(self):
        experiment = ["bench", "pic-sort", "--particles", "100", "--repeat", "1"]
        run = ["run", "small.yaml", "--steps", "1"]
        for arguments in (["check", "small.yaml"], ["devices"], ["--help"], ["run", "--help"], experiment, run):
            with self.subTest(arguments=arguments), open("/dev/full", "w") as full:
                result = self.run_program(*arguments, stdout=full, stderr=subprocess.PIPE)
                self.assertEqual(result.returncode, 1, result.stderr)
                self.assertRegex(result.stderr, r"\Aradixpic: cannot write .*\n\Z")

    def test_a_pipe_that_is_closed(self):
        """No signal ends the run: it goes on to its end, and its lines are in log.txt."""
        reader, writer = os.pipe()
        os.close(reader)
        result = self.run_program("run", "small.yaml", stdout=writer, stderr=subprocess.PIPE)
        os.close(writer)
        self.assert_refused(result, 1, "cannot write to the standard output; the run is complete", "out/log.txt")
        self.assertEqual(self.history()[-1]["step"], "23")
        log = (self.folder / "out" / "log.txt").read_text()
        broken = r"(?ms)^warning: the standard or error output[^\n]*: Broken pipe$.*^written to out$.*\n\Z"
        self.assertRegex(log, broken)
        self.assertEqual(log.count("warning: the standard"), 1)

    def test_a_full_error_output_under_quiet(self):
        """Where a warning goes, and then the sentence that it could not be written: the exit code alone tells."""
        with open("/dev/full", "w") as full:
            warned = ["run", "small.yaml", "--quiet", *sets("fields.magnetic=20")]
            result = self.run_program(*warned, stdout=subprocess.DEVNULL, stderr=full)
        self.assertEqual(result.returncode, 1)
        log = (self.folder / "out" / "log.txt").read_text()
        self.assertIn("warning: Omega dt", log)
        self.assertIn("stopped: cannot write to the error output; the run is complete", log)


class Escapes(ProgramTest):
    """What a terminal would obey, from wherever it comes, is printed as an escape."""

    hostile = "a\x1b[31m\u202eb\nc\a"

    def test_each_text_from_outside(self):
        kernels = {"RADIXPIC_KERNELS": self.hostile}
        (self.folder / self.hostile).write_text("?")
        cases = [
            (["run", "small.yaml", "--steps", "1", "--output", f"out{self.hostile}"], {}, 0),
            (["run", "small.yaml", "--steps", "1", "--output", f"out{self.hostile}"], {}, 2),
            (["run", "small.yaml", "--steps", "1", "--output", f"small.yaml/{self.hostile}"], {}, 2),
            (["check", "small.yaml", "--output", self.hostile, "--set", "title=\u202ea\u2066"], {}, 0),
            (["check", "small.yaml", "--set", f"{self.hostile}={self.hostile}"], {}, 2),
            (["check", "small.yaml", "--device", "\u202eb"], {}, 0),
            (["check", self.hostile], {}, 2), (["check", self.hostile + "."], {}, 2), ([self.hostile], {}, 2),
            (["run", "--restart", self.hostile], {}, 2), (["run", "--restart", self.hostile + "."], {}, 2),
            (["run", "small.yaml", "--verbose", "--output", "other"], kernels, 1), (["bench", self.hostile], {}, 2),
        ]  # fmt: skip
        for arguments, environment, code in cases:
            with self.subTest(arguments=arguments):
                result = self.run_program(*arguments, environment=environment)
                self.assertEqual(result.returncode, code, result.stderr)
                logs = [path.read_text() for path in self.folder.glob("o*/log.txt")]
                printed = "".join([result.stdout, result.stderr, *logs])
                self.assertNotRegex(printed, "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
                self.assertNotRegex(printed, r"(?m)^c\\x07")  # what comes behind the line end of a name


class Pipes(ProgramTest):
    """In the place of a file that is read: nothing waits for what never comes."""

    def test_each_file(self):
        environment = self.with_kernels()
        (self.folder / "own kernels" / "push.cl").unlink()
        for name in ("pipe", "own kernels/push.cl"):
            os.mkfifo(self.folder / name)
        for code, words, environment, *arguments in (
            (2, "pipe: cannot read the config", {}, "run", "pipe"),
            (2, "pipe is no checkpoint", {}, "run", "--restart", "pipe"),
            (1, "push.cl", environment, "run", "small.yaml"),
        ):
            self.refuse(code, [words, ": it is no regular file"], *arguments, environment=environment)


class Home(ProgramTest):
    def setUp(self):
        super().setUp()
        if "pthread" not in self.run_well("devices").stdout:
            self.skipTest("no device of PoCL")
        self.environment = {"HOME": os.devnull, "XDG_CACHE_HOME": os.devnull, "TMPDIR": str(self.folder)}
        os.environ.pop("POCL_CACHE_DIR", None)

    def test_without_a_folder_for_caches(self):
        few = ["--particles", "100", "--repeat", "1", "--key-bits", "10"]
        self.run_well("bench", "pic-sort", *few, "--device", "pthread", environment=self.environment)
        self.assertEqual((self.folder / f"radixpic-pocl-{os.geteuid()}").stat().st_mode & 0o777, 0o700)

    def test_a_variable_that_is_empty_names_no_folder(self):
        environment = {**self.environment, "HOME": str(self.folder), "XDG_CACHE_HOME": ""}
        self.run_well("devices", environment=environment)
        self.assertFalse((self.folder / f"radixpic-pocl-{os.geteuid()}").exists())

    def test_an_empty_variable_of_pocl(self):
        environment = {"HOME": str(self.folder), "XDG_CACHE_HOME": "", "POCL_CACHE_DIR": ""}
        self.run_well("devices", environment=environment)

    def test_a_folder_of_pocl_that_takes_nothing(self):
        (self.folder / "file").write_text("mine")
        words, environment = ["kernels", "in file", "POCL_CACHE_DIR"], {"POCL_CACHE_DIR": "file"}
        self.refuse(3, words, "run", "small.yaml", "--device", "pthread", environment=environment)

    def test_without_any_folder(self):
        """Which a folder that others may write to is not."""
        (self.folder / f"radixpic-pocl-{os.geteuid()}").mkdir()
        (self.folder / f"radixpic-pocl-{os.geteuid()}").chmod(0o755)
        result = self.run_program("run", "small.yaml", "--device", "pthread", environment=self.environment)
        self.assertEqual(result.returncode, 3, result.stderr)
        self.assertNotIn("install a driver", result.stderr)
        words = [f"radixpic-pocl-{os.geteuid()}: the folder cannot be", "others than this user", "POCL_CACHE_DIR"]
        self.refuse(3, words, "run", "small.yaml", "--device", "pthread", **self.homeless())

    def homeless(self):
        """PoCL alone would take /tmp/pocl, which anyone may fill."""
        command = ("env", "-u", "HOME", "-u", "XDG_CACHE_HOME", PROGRAM)
        return {"command": command, "environment": {"TMPDIR": str(self.folder)}}

    def test_without_a_home_and_with_damaged_kernels(self):
        """Files that are empty or end too early, as after a loss of power or on a full disk: PoCL ends the process."""
        run = ("run", "small.yaml", "--device", "pthread", "--steps", "1", "--force", "--quiet")
        self.run_well(*run, **self.homeless())
        kernels, whole = self.folder / f"radixpic-pocl-{os.geteuid()}", self.folder / "whole"
        self.assertEqual(kernels.stat().st_mode & 0o777, 0o700)
        shutil.copytree(kernels, whole)
        for pattern in ("program.bc", "*.so"):
            for length in (0, 3000):
                shutil.rmtree(kernels)
                shutil.copytree(whole, kernels)
                for path in kernels.glob(f"**/{pattern}"):
                    os.truncate(path, length)
                with self.subTest(files=pattern, length=length):
                    result = self.run_program(*run, **self.homeless())
                    self.assertEqual(result.returncode, 3, result.stderr)
                    *_, said = result.stderr.splitlines()  # lines of PoCL may stand before it
                    self.assertTrue(said.startswith("radixpic: "), said)
                    self.assertRegex(said, f"is damaged(:|; then) delete the folder {kernels}$")
                    result = self.simulate()
                    self.assertIn(result.returncode, (1, -signal.SIGABRT, -signal.SIGBUS), result.stderr)
                    self.assertRegex(result.stderr, f"is damaged(:|; then) delete the folder {kernels}\n")

    def simulate(self):
        """The first step of a simulation in a process of Python."""
        text = "import radixpic; radixpic.Simulation('small.yaml', set={'device': 'pthread'}).step()"
        own = {name: value for name, value in os.environ.items() if name not in ("HOME", "XDG_CACHE_HOME")}
        own |= {"TMPDIR": str(self.folder), "PYTHONPATH": str(ROOT / "scripts"), "RADIXPIC": PROGRAM}
        return subprocess.run([sys.executable, "-c", text], cwd=self.folder, env=own, capture_output=True, text=True,
            timeout=TIMEOUT)


class Limits(ProgramTest):
    """Below which libraries end the process by a signal."""

    def check_limit(self, name, limit, *words, **options):
        lower = lambda: resource.setrlimit(name, (limit, limit))
        self.assert_refused(self.run_program("run", "small.yaml", preexec_fn=lower, **options), 1, *words)
        self.assert_nothing_created()

    def test_the_stack(self):
        self.check_limit(resource.RLIMIT_STACK, 128 << 10, "ulimit -s) is 131072")

    def test_open_files(self):
        self.check_limit(resource.RLIMIT_NOFILE, 14, "ulimit -n) is 14")

    def test_threads(self):
        """Root has no limit: a number that is no user's, where that one may reach the program."""
        options = {} if os.geteuid() else {"user": 54321}
        program = Path(PROGRAM).resolve()
        if options and not all(place.stat().st_mode & 0o001 for place in (program, *program.parents)):
            self.skipTest("only root may reach the program here")
        self.check_limit(resource.RLIMIT_NPROC, 2, "threads can be started", "ulimit -u", **options)


class Kernels(ProgramTest):
    def test_a_kernel_that_does_not_build(self):
        first = "#include"
        line = (KERNELS / "push.cl").read_text().partition(first)[0].count("\n") + 1
        environment = self.with_kernels(("push.cl", first, f"nonsense_word here;\n{first}"))
        # NVIDIA's compiler counts the lines of the file and of what it includes together
        result = self.run_program("run", "small.yaml", "--device", "cpu", environment=environment)
        self.assertEqual(result.returncode, 1)
        # PoCL's compiler adds a line of its own before
        before, sentence, log = re.split(r"(?m)^(radixpic: .*)$", result.stderr, maxsplit=1)
        self.assertLessEqual(before.count("\n"), 1)
        self.assertIn("kernels/push.cl does not build", sentence)
        self.assertIn("nonsense_word", log)
        self.assertRegex(log, rf"push\.cl:{line}\b")  # the line of the file, whatever was included before it
        self.assertFalse((self.folder / "out").exists())

    def test_a_kernel_that_is_not_there(self):
        own = self.with_kernels()
        (self.folder / own["RADIXPIC_KERNELS"] / "shared" / "motion.h").unlink()
        for environment, missing in ((own, "kernels/shared/motion.h"), ({"RADIXPIC_KERNELS": "nowhere"}, "nowhere/")):
            words = [missing, "No such file", "RADIXPIC_KERNELS"]
            self.refuse(1, words, "run", "small.yaml", environment=environment)
        self.assertFalse((self.folder / "out").exists())

    def test_kernels_of_another_program(self):
        """Of a tree that was updated and not built: buffers would be taken for something else."""
        for file, old, new in (
            ("shared/loading.h", "ulong lattice[2];", "uint lattice[4];"),  # a struct
            ("permute.cl", "uint count,", "uint most,"),  # the arguments of a kernel,
            ("shared/push.h", "real2 steps", "real4 steps"),  # and of several
        ):
            own = self.with_kernels((file, old, new))
            self.refuse(1, [file, "build it again", "RADIXPIC_KERNELS"], "run", "small.yaml", environment=own)
        self.assertFalse((self.folder / "out").exists())

    def test_an_edited_kernel_is_used(self):
        """One line of add_kick() changes every way to take a step, on any device."""
        kick = "PRODUCT_SUM(kick, field[0], to.u)"
        weaker = kick.replace("(kick", "((real)0.9 * kick")
        own = self.with_kernels(("shared/motion.h", kick, weaker))
        for method in ("radix", "chunked", "tiled"):
            with self.subTest(method=method):
                few = ["run", "small.yaml", "--steps", "2", "--quiet", "--force", *sets(f"step.method={method}")]
                self.run_well(*few)
                plain = self.history()
                self.run_well(*few, environment=own)
                self.assertNotEqual(self.history(), plain)
        self.run_well(*few, environment=self.with_kernels())
        self.assertEqual(self.history(), plain)


class Devices(ProgramTest):
    def test_no_such_device(self):
        for spec in ("abacus", "99:0", "0:99", "1:", ":"):
            for command in (["run", "small.yaml"], ["bench", "pic-sort", "--particles", "10"]):
                self.refuse(3, [f"'{spec}'", "there is 0:0"], *command, "--device", spec)
        self.assert_nothing_created()

    def test_no_device_at_all(self):
        environment = {"OCL_ICD_VENDORS": str(self.folder)}
        for command in (["run", "small.yaml"], ["devices"], ["bench", "pic-sort"]):
            self.refuse(3, ["no OpenCL device", "pocl-opencl-icd"], *command, environment=environment)
        self.assert_nothing_created()


class NotFinite(ProgramTest):
    def test_the_run_stops_at_the_step(self):
        """Particles so light that some are soon a thousand million cells away, where single precision ends."""
        options = sets("species.electrons.mass=5e-11", "output.history.every=1", "output.snapshots.every=1")
        result = self.run_program("run", "small.yaml", "--quiet", "--steps", "200", *options)
        self.assert_refused(result, 1, "non-finite", "time.step")
        step = int(re.search(r"step (\d+) ", result.stderr)[1])
        self.assertTrue(2 < step < 200, step)
        rows = self.history()
        self.assertEqual([int(row["step"]) for row in rows], list(range(step)))
        for row in rows:
            for value in row.values():
                self.assertNotIn("n", value)  # neither nan nor inf
        for number in range(step):
            with h5py.File(self.folder / "out" / "snapshots" / f"data_{number}.h5") as file:
                self.assertEqual(file[f"data/{number}/fields/chargeDensity"][()].shape, (16, 8))
        self.assertTrue((self.folder / "out" / "config.yaml").read_text())

    def test_from_the_first_step(self):
        settings = sets("species.electrons.charge=-1e30")
        self.refuse(1, ["step 0 ", "non-finite"], "run", "small.yaml", "--quiet", *settings)
        self.assertEqual(self.history(), [])


class TooLarge(ProgramTest):
    def test_more_particles_than_a_device_holds(self):
        words = ["species electrons", "4294967296", "4293918720", "2 ranks or more"]
        self.refuse(2, words, "run", "small.yaml", "--set", "species.electrons.particles=4294967296")
        self.assert_nothing_created()

    def test_more_memory_than_there_is(self):
        """64 GB of particles in double precision: no device of this suite has as much in one buffer."""
        settings = sets("species.electrons.particles=4000000000", "precision=double")
        self.refuse(1, ["out of memory", "particle", "MiB"], "run", "small.yaml", *settings)
        self.assert_nothing_created()

    def test_an_experiment_too_large(self):
        result = self.run_program("bench", "pic-sort", "--particles", "2147483648", "--repeat", "1")
        if result.returncode == 0:
            self.skipTest("this device holds it")
        self.assert_refused(result, 1, "out of memory")

    def test_a_sort_that_does_not_fit(self):
        for name, *settings in (
            ("items_per_group", "sort.items_per_group=4096", "sort.passes=1"),
            ("passes", "grid.cells=[1024, 1024]", "sort.passes=1"),
            ("histogram_splits", "sort.groups=16384", "sort.items_per_group=64", "sort.histogram_splits=1"),
        ):
            for command in ("run", "check"):
                self.refuse(2, name, command, "small.yaml", *sets(*settings))
        self.assert_nothing_created()
