"""radixpic run: the files of a run folder, what is said on the way, and the same bits every time."""

import contextlib
import math
import os
import pty
import re
import shlex
import struct
import termios
import time
from fcntl import ioctl

import h5py
import numpy as np

from program import ROOT, RUN_FILES, TIMEOUT, OneRunTest, ProgramTest, sets, start

HEADER = [
    *["step", "time", "field_energy", "kinetic_energy", "total_energy", "momentum_x", "momentum_y", "charge"],
    *["density_1_0_re", "density_1_0_im", "density_-2_3_re", "density_-2_3_im"],
]
PROGRESS = (
    r"step (\d+)/(\d+) +(\d+) % +([\d.]+) M particles/s +elapsed \d+:\d\d +ETA \d+:\d\d"
    r"(?: +(?:energy )?drift [+-]\d\.\d+e[+-]\d+)?"  # where the step is measured
)
STAGES = [
    *["sort: histogram", "sort: scan", "sort: reorder", "permute"],  # some sorts make the cell offsets on the way
    *["deposit", "field", "push", "output"],
]


class Files(OneRunTest):
    """One run in double precision."""

    arguments = ["run", "small.yaml", *sets("precision=double")]

    def setUp(self):
        self.out = self.folder / "out"

    def test_a_run_folder(self):
        found = sorted(str(path.relative_to(self.out)) for path in self.out.rglob("*"))
        snapshots = ["snapshots/data.pmd", *(f"snapshots/data_{step}.h5" for step in (0, 10, 20, 23))]
        self.assertEqual(found, sorted([*RUN_FILES, *snapshots]))

    def test_history_rows(self):
        rows = self.history()
        self.assertEqual(list(rows[0]), HEADER)
        self.assertEqual([int(row["step"]) for row in rows], [0, 5, 10, 15, 20, 23])
        for row in rows:
            self.assertEqual(float(row["time"]), int(row["step"]) * 0.1)
            total = float(row["field_energy"]) + float(row["kinetic_energy"])
            self.assertEqual(float(row["total_energy"]), total)
            for name, text in list(row.items())[1:]:
                self.assertEqual(text, f"{float(text):.17g}", name)  # 17 digits: every double survives
                self.assertTrue(math.isfinite(float(text)), name)

    def test_history_agrees_with_the_snapshots(self):
        rows = {int(row["step"]): row for row in self.history()}
        cell_area = (6 / 16) * (4 / 8)
        for step in (0, 10, 20, 23):
            with h5py.File(self.folder / "out" / "snapshots" / f"data_{step}.h5") as file:
                data = file[f"data/{step}"]
                fields = data["fields"]
                rho = fields["chargeDensity"][()]
                square = sum(np.sum(fields[f"E/{axis}"][()] ** 2) for axis in "xy")
                self.assertAlmostEqual(data.attrs["time"], step * 0.1, delta=1e-6)  # a float
                ids = data["particles/electrons/id"][()]
            self.assertEqual(rho.shape, (16, 8))
            self.assertEqual(sorted(ids), list(range(int(ids.min()), int(ids.min()) + 4096)))
            # 128 numbers summed in any order: some 1e-15 of what is summed
            row = {name: float(text) for name, text in rows[step].items()}
            self.assertAlmostEqual(row["field_energy"], 0.5 * square * cell_area, delta=1e-12 * square)
            self.assertAlmostEqual(row["charge"], np.sum(rho) * cell_area, delta=1e-11)
            for mx, my in ((1, 0), (-2, 3)):
                turns = mx * np.arange(16)[:, None] / 16 + my * np.arange(8) / 8
                mode = np.mean(rho * np.exp(-2j * np.pi * turns))
                self.assertAlmostEqual(row[f"density_{mx}_{my}_re"], mode.real, delta=1e-13)
                self.assertAlmostEqual(row[f"density_{mx}_{my}_im"], mode.imag, delta=1e-13)
        self.assertAlmostEqual(float(rows[0]["charge"]), -24, delta=1e-11)  # density 1 on 6 x 4, charge -1

    def test_files_say_how_they_were_made(self):
        log = (self.out / "log.txt").read_text()
        for step in (0, 23):
            with h5py.File(self.out / "snapshots" / f"data_{step}.h5") as file:
                record, root = dict(file["performance"].attrs), dict(file.attrs)
            told = [root[name].decode() for name in ("softwareVersion", "machine", "command", "softwareDependencies")]
            self.assertRegex(
                told[0], r"\A\d+\.\d+\.\d+, (commit [0-9a-f]{12}(, modified)?|no commit known, built without git)\Z"
            )
            self.assertEqual(told[1], os.uname().nodename)
            self.assertEqual(shlex.split(told[2])[1:], self.arguments)
            for text in (log, (self.out / "config.yaml").read_text()):
                for name, words in zip(("radixpic", "host", "command", "libraries"), told):
                    self.assertRegex(text, rf"(?m)^(# )?{name} +{re.escape(words)}$")
                self.assertRegex(text, rf"(?m)^(# )?device     {re.escape(record['device'].decode())}, .*, driver ")
            self.assertEqual((record["stepper"], record["ranks"], record["steps"]), (b"radix", 1, step))
            self.assertIn(record["sort"].decode(), log)
            self.assertIn(record["device"].decode(), log)
            self.assertAlmostEqual(sum(record["stageShares"]), 1)
            self.assertEqual(len(record["stages"]), len(record["stageShares"]))
            self.assertEqual(record["nsPerParticleStep"] > 0, step > 0)
        files = re.findall(r"(?m)^\S*/data_(\d+)[.]h5: ([\d.]+) MB in ([\d.e-]+) s, ([\d.e-]+) GB/s$", log)
        self.assertEqual([step for step, *_ in files], ["0", "10", "20", "23"])
        for step, megabytes, seconds, rate in files:
            size = (self.out / "snapshots" / f"data_{step}.h5").stat().st_size
            self.assertAlmostEqual(float(megabytes), 1e-6 * size, delta=1e-3 * 1e-6 * size)  # 4 digits
            self.assertAlmostEqual(float(rate), 1e-9 * size / float(seconds), delta=0.02 * float(rate))  # 3 of each
        total = re.search(r"(?m)^files: 4 of ([\d.]+) MB together", log)
        size = sum(path.stat().st_size for path in (self.out / "snapshots").iterdir())
        self.assertAlmostEqual(float(total[1]), 1e-6 * size, delta=1e-3 * size)

    def test_timers(self):
        rows = self.assert_whole_rows(self.out / "timers.csv")
        header = ["stage", "seconds", "launches", "bytes", "gigabytes_per_second", "particles_per_second"]
        header += ["seconds_min", "seconds_mean", "seconds_max", "imbalance"]
        self.assertEqual(list(rows[0]), header)
        by_stage = {row["stage"]: row for row in rows}
        self.assertLessEqual({*STAGES, "sort: transpose", "steps", "wall clock"}, set(by_stage))
        for stage in STAGES:
            row = {name: float(by_stage[stage][name]) for name in header[1:]}
            self.assertEqual({row[name] for name in header if name.startswith("seconds")}, {row["seconds"]})
            self.assertEqual(row["imbalance"], 1)
            self.assertGreater(row["seconds"], 0, stage)
            self.assertGreater(row["launches"], 0, stage)
            self.assertGreater(row["bytes"], 0, stage)
            # the seconds are printed with 9 digits, both rates with 6
            rate = row["bytes"] / row["seconds"]
            self.assertAlmostEqual(row["gigabytes_per_second"], 1e-9 * rate, delta=1e-14 * rate)
            rate = 24 * 4096 / row["seconds"]  # steps 0 to 23
            self.assertAlmostEqual(row["particles_per_second"], rate, delta=1e-5 * rate)
        rate = 23 * 4096 / float(by_stage["steps"]["seconds"])  # the last step does not advance
        self.assertAlmostEqual(float(by_stage["steps"]["particles_per_second"]), rate, delta=1e-5 * rate)
        self.assertEqual(float(by_stage["wait for files"]["particles_per_second"]), 0)

    def test_the_stages_are_the_whole_wall_clock(self):
        begin = time.monotonic()
        self.run_well("run", "small.yaml", "--quiet", "--output", "timed")
        passed = time.monotonic() - begin
        rows = self.assert_whole_rows(self.folder / "timed" / "timers.csv")
        seconds = {row["stage"]: float(row["seconds"]) for row in rows}
        wall, steps = seconds.pop("wall clock"), seconds.pop("steps")
        self.assertLess(steps, wall)
        self.assertLess(wall, passed)
        self.assertAlmostEqual(sum(seconds.values()), wall, delta=1e-6 * wall)
        for stage in ("device", "kernels", "other"):
            self.assertGreater(seconds[f"start: {stage}"], 0)


class Settings(ProgramTest):
    def run_small(self, *settings, options=()):
        """The rows of a run."""
        self.run_well("run", "small.yaml", "--quiet", "--force", *options, *sets(*settings))
        return self.history()

    def test_rows_when_the_last_step_is_due_anyway(self):
        for steps, every, expected in ((10, 5, [0, 5, 10]), (3, 7, [0, 3]), (0, 5, [0])):
            with self.subTest(steps=steps, every=every):
                settings = sets(f"output.history.every={every}", f"output.snapshots.every={every}")
                said = self.run_well("run", "small.yaml", "--force", "--steps", steps, *settings).stdout
                self.assertNotRegex(said, r"\b(nan|inf)\b")
                self.assertEqual([int(row["step"]) for row in self.history()], expected)
                files = ["data.pmd", *(f"data_{step}.h5" for step in expected)]
                self.assertEqual(self.names("out/snapshots"), sorted(files))

    def test_species_may_have_columns_of_their_own(self):
        """They add up to those of all, to round-off; without the key there are none. Momentum along z has one where a
        species has w."""
        self.add_species("{name: ions, charge: 1, mass: 25, density: 1, particles: 1024, velocities: "
                         "{dimensions: 3, drift: [0.5, 0, 0.5]}}")
        columns = ["kinetic_energy", "momentum_x", "momentum_y"]
        own = [f"electrons_{column}" for column in columns] + [f"ions_{column}" for column in [*columns, "momentum_z"]]
        rows = self.run_small("output.history.species=[all]")
        for row in rows:
            self.assertEqual(list(row)[5:9], ["momentum_x", "momentum_y", "momentum_z", "charge"])
            self.assertEqual(list(row)[-7:], own)
            for column in columns:
                parts = [float(row[f"{species}_{column}"]) for species in ("electrons", "ions")]
                self.assertAlmostEqual(sum(parts), float(row[column]), delta=1e-12 * max(map(abs, parts)))
            self.assertEqual(row["momentum_z"], row["ions_momentum_z"])
            self.assertAlmostEqual(float(row["momentum_z"]), 24 * 25 * 0.5, delta=1e-9)
            self.assertGreater(float(row["ions_momentum_x"]), 5)
        self.assertEqual(list(self.run_small("output.history.species=[ions]")[0])[-4:], own[-4:])
        self.assertEqual(self.run_small(), [{name: row[name] for name in row if name not in own} for row in rows])

    def test_what_may_be_left_out(self):
        """Snapshots, and all particles but one."""
        never = "output.phase_space=[{species: electrons, axes: [{axis: x, bins: 16, range: [0, 6]}], every: 0}]"
        few = ("output.snapshots.every=0", never, "species.electrons.particles=1")
        self.assertEqual(len(self.run_small(*few, options=["--steps", "3"])), 2)
        self.assertEqual(set(RUN_FILES) - set(self.names("out")), {"snapshots"})
        self.assertFalse((self.folder / "out" / "phase_space").exists())


class SameResult(ProgramTest):
    """tests/physics/test_determinism.c has more of it."""

    def test_the_written_config_gives_the_run_again(self):
        options = sets("species.electrons.particles=3001", "deposit.shape=tsc", "fields.magnetic=0.3", "time.step=0.07")
        self.run_well("run", "small.yaml", *options, "--steps", "7")
        self.run_well("run", "out/config.yaml", "--output", "again")
        self.assertEqual(self.read("out/history.csv"), self.read("again/history.csv"))
        differs = rb"(?m)^(  directory: .*|# (date|command) .*)$"
        first, again = (re.sub(differs, b"", self.read(f"{each}/config.yaml")) for each in ("out", "again"))
        self.assertEqual(first, again)
        self.assertRegex(first, rb"(?m)^    particles: 3001 ")

    def test_options_do_what_their_keys_do(self):
        """That settings do something the tests of physics show, which name them as --set does."""
        self.run_well("run", "small.yaml", "--quiet", "--steps", "5")
        self.run_well("run", "small.yaml", "--quiet", "--set", "time.steps=5", "--set", "output.directory=there")
        self.assertEqual(self.read("there/history.csv"), self.read("out/history.csv"))


class WhatIsSaid(ProgramTest):
    def test_a_line_every_tenth(self):
        for steps in (100, 23, 7):
            with self.subTest(steps=steps):
                settings = ["--steps", steps, *sets("output.snapshots.every=0")]
                said = self.run_well("run", "small.yaml", "--force", *settings).stdout
                lines = re.findall(rf"(?m)^{PROGRESS}$", said)
                self.assertEqual(len(lines), min(steps, 10))
                for tenth, (step, of, percent, rate) in enumerate(lines, 1):
                    self.assertEqual(int(of), steps)
                    self.assertAlmostEqual(int(percent), 100 * int(step) / steps, delta=0.51)
                    if steps >= 10:
                        self.assertEqual(int(step), math.ceil(tenth * steps / 10))
                self.assertEqual(lines[-1][0], str(steps))

    def test_rates_are_of_steps_that_the_device_has_done(self):
        rare = sets("output.history.every=1000", "output.snapshots.every=1000", "species.electrons.particles=400000")
        said = self.run_well("run", "small.yaml", "--steps", "30", *rare).stdout
        rates = [float(line[3]) for line in re.findall(rf"(?m)^{PROGRESS}$", said)]
        mean = float(re.search(r"(?m)^steps .* ([\d.]+)$", said).group(1))
        self.assertEqual(len(rates), 10)
        self.assertLess(max(rates), 50 * mean)  # beside other programs too; a host that runs ahead has 1,000 and more

    def test_the_table_of_stages_and_the_log(self):
        text = self.run_well("run", "small.yaml", "--verbose").stdout
        for stage in [*STAGES, "start: device", "start: kernels", "load", "other", "stages together", "wall clock"]:
            self.assertRegex(text, rf"(?m)^{stage} +\d+\.\d+ +\d+\.\d %")
        self.assertEqual((self.folder / "out" / "log.txt").read_text(), text)

    def test_quiet_says_nothing_but_warnings_and_verbose_more(self):
        few = sets("species.electrons.particles=128")
        result = self.run_program("run", "small.yaml", "--quiet", "--steps", "1", *few)
        warning = "warning: 1 particles per cell of electrons: fewer than 8 are mostly noise\n"
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "", warning))
        self.assertIn(warning, (self.folder / "out" / "log.txt").read_text())
        self.assertEqual(self.run_well("run", "small.yaml", "--quiet", "--force").stdout, "")
        self.assertIn("wall clock", (self.folder / "out" / "log.txt").read_text())
        normal = self.run_well("run", "small.yaml", "--force").stdout
        verbose = self.run_well("run", "small.yaml", "--force", "--verbose").stdout
        self.assertNotIn("field solver", normal)
        self.assertRegex(normal, r"b = 7 bits, p = 2 passes.*; method (tiled|chunked) \(default\)")
        self.assertRegex(verbose, r"b = 7 bits, p = 2 passes.*; method (tiled|chunked) \(default\)")
        self.assertRegex(verbose, r"field solver: \w+")

    def kernels(self, text):
        """Their folder and digest, as the program tells them."""
        word, digest = re.search(r"(?m)^(?:# )?kernels +(\S.*), digest (\w{16})$", text).groups()
        return shlex.split(word)[0], digest

    def test_every_file_tells_of_the_kernels(self):
        told = self.kernels(self.run_well("--version", "--verbose").stdout)
        folder, digest = told
        self.assertTrue(os.path.samefile(folder, os.environ.get("RADIXPIC_KERNELS", ROOT / "kernels")), folder)
        self.run_well("run", "small.yaml", "--quiet", "--steps", "1", *sets("output.checkpoints.every=1"))
        for name in ("log.txt", "config.yaml"):
            self.assertEqual(self.kernels((self.folder / "out" / name).read_text()), told)
        for name in ("snapshots/data_1.h5", "checkpoints/checkpoint_1.h5"):
            with h5py.File(self.folder / "out" / name) as file:
                self.assertEqual(file.attrs["kernelsFolder"].decode(), folder)
                self.assertEqual(file.attrs["kernelsDigest"], int(digest, 16))

    def test_the_digest_of_the_kernels_is_one_of_names_and_contents(self):
        digests = set()
        for file, text, alike in (
            ("push.cl", "#include", "#include"),
            ("push.cl", "#include", "//\n#include"),
            ("shared/motion.h", "#include", "//\n#include"),
        ):
            environment = self.with_kernels((file, text, alike))
            folder, digest = self.kernels(self.run_well("--version", "--verbose", environment=environment).stdout)
            self.assertEqual(folder, "own kernels")
            digests.add(digest)
        (self.folder / folder / "push.cl").rename(self.folder / folder / "pushed.cl")
        digests.add(self.kernels(self.run_well("--version", "--verbose", environment=environment).stdout)[1])
        self.assertEqual(len(digests), 4)
        self.assertIn(self.kernels(self.run_well("--version", "--verbose").stdout)[1], digests)

    def test_one_live_line_on_a_terminal(self):
        terminal, shown = pty.openpty()
        ioctl(shown, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 100, 0, 0))
        settings = ["--steps", "2000", "--set", "output.snapshots.every=0"]
        process = start("run", "small.yaml", *settings, folder=self.folder, stdout=shown)
        os.close(shown)
        text = b""
        with contextlib.suppress(OSError):  # the other end is closed
            while True:
                text += os.read(terminal, 65536)
        os.close(terminal)
        _, errors = process.communicate(timeout=TIMEOUT)
        self.assertEqual((process.returncode, errors), (0, b""))
        before, *live = text.decode().split("\r\x1b[K")
        self.assertGreaterEqual(len(live), 1)
        last, after = live[-1].split("\r\n", 1)
        for line in [*live[:-1], last]:
            self.assertRegex(line, rf"^{PROGRESS}$")
        self.assertRegex(last, r"^step 2000/2000 +100 %")
        self.assertNotRegex(before + after, PROGRESS)
        self.assertIn("wall clock", after)
        log = (self.folder / "out" / "log.txt").read_text()
        self.assertEqual(len(re.findall(PROGRESS, log)), 10)  # a line every tenth, nothing of the live line
        self.assertNotIn("\r", log)


class SecondRun(ProgramTest):
    """Into a folder that holds a run."""

    def test_it_is_refused_and_touches_nothing(self):
        self.run_well("run", "small.yaml", "--quiet", "--steps", "1")
        before = self.everything()
        result = self.refuse(2, ["folder out ", "--force", "--output"], "run", "small.yaml", "--steps", "2")
        self.assertNotIn("--restart", result.stderr)  # there is nothing to go on with
        self.assertEqual(result.stdout, "")
        self.assertEqual(self.everything(), before)

    def test_a_run_with_checkpoints_can_be_gone_on_with(self):
        """Files that the program did not write are no checkpoints."""
        checkpoints = self.folder / "out" / "checkpoints"
        self.run_well("run", "small.yaml", "--quiet", "--steps", "2", *sets("output.checkpoints.every=0"))
        checkpoints.mkdir()
        for name in ("notes.txt", "checkpoint_x.h5", ".unfinished.tmp", "checkpoint_5.h5"):
            (checkpoints / name).touch()
            self.assertNotIn("--restart", self.run_program("run", "small.yaml").stderr)
        self.run_well("run", "small.yaml", "--quiet", "--force", "--steps", "2", *sets("output.checkpoints.every=2"))
        self.refuse(2, ["out", "--force", "--output", "--restart latest"], "run", "small.yaml")
        names = ["checkpoint_2.h5", "checkpoint_5.h5", "checkpoint_x.h5", "notes.txt"]
        self.assertEqual(self.names("out/checkpoints"), names)

    def test_where_no_run_can_be(self):
        for folder, words in (("/", "below /"), ("//.", "below /"), ("small.yaml", "a file of that name"),
                              ("small.yaml/out", "small.yaml"),
                              ("a" * 300, "too long")):  # fmt: skip
            self.refuse(2, words, "run", "small.yaml", "--output", folder)
        self.refuse(2, "below /", "check", "small.yaml", "--set", "output.directory=/")

    def test_with_force_it_replaces_the_first(self):
        force = ["run", "small.yaml", "--force", *sets("output.checkpoints.every=0")]
        snapshots, checkpoints = self.folder / "out" / "snapshots", self.folder / "out" / "checkpoints"
        self.assertNotIn("replace", self.run_well(*force).stdout)
        (snapshots / "notes.txt").write_text("mine")
        checkpoints.mkdir(exist_ok=True)
        for name in ("checkpoint_20.h5", ".unfinished.tmp"):
            (checkpoints / name).write_text("of the first")
        result = self.run_well(*force, "--steps", "4")
        self.assertRegex(result.stdout, r"(?m)^out held an earlier run, which this one replaces$")
        self.assertEqual(self.names("out/snapshots"), ["data.pmd", "data_0.h5", "data_4.h5", "notes.txt"])
        self.assertEqual(os.listdir(checkpoints), ["checkpoint_20.h5"])  # which no run has written
        self.assertEqual((snapshots / "data.pmd").read_text(), "data_%T.h5\n")
        self.assertEqual([row["step"] for row in self.history()], ["0", "4"])
        (checkpoints / "checkpoint_20.h5").unlink()
        self.run_well(*force, "--quiet", "--steps", "4")
        self.assertFalse(checkpoints.exists())
        (snapshots / "notes.txt").unlink()
        self.run_well(*force, "--quiet", *sets("output.snapshots.every=0"))
        self.assertFalse(snapshots.exists())


class ColdStart(ProgramTest):
    def test_other_processes_build_some_of_the_programs(self):
        """With empty caches. A program that a builder built was noted by it, and by the run that took it."""
        folders = {"RADIXPIC_CACHE": "own", "POCL_CACHE_DIR": "pocl", "CUDA_CACHE_PATH": "cuda"}
        cold = {name: str(self.folder / folder) for name, folder in folders.items()}
        self.run_well("run", "small.yaml", "--quiet", "--output", "cold", environment=cold)
        noted = [path.stat().st_size for path in (self.folder / "own").glob("programs/*.uses")]
        if not noted:
            self.skipTest("the driver of this device keeps programs itself")
        self.assertLessEqual(set(noted), {1, 2})
        if len(os.sched_getaffinity(0)) > 1:
            self.assertIn(2, noted)
        self.run_well("run", "small.yaml", "--quiet", environment=cold)
        self.assertEqual(self.history("cold"), self.history())

    def test_a_builder_builds_the_transforms_of_a_run(self):
        """The first builder and the run note one and the same program, by what VkFFT's kernels follow from."""
        cold = {"RADIXPIC_CACHE": str(self.folder / "own")}
        transforms = ["build-kernels", "0:0", "", "LIBRARY", "16 8 3 5 0 1 1 2"]
        for _ in range(2):
            self.run_well(*transforms, environment=cold)
        (noted,) = (self.folder / "own").glob("programs/*.uses")
        self.assertEqual(noted.stat().st_size, 1)
        self.run_well("run", "small.yaml", "--quiet", *sets("fields.transforms=vkfft", "device=0:0"), environment=cold)
        self.assertEqual(noted.stat().st_size, 2)

    def test_a_builder_without_what_it_needs(self):
        self.refuse(2, ["build-kernels: the device is missing"], "build-kernels")
        self.refuse(1, ["none.cl: No such file"], "build-kernels", "0:0", "", "none.cl", "")
        self.refuse(2, ["'8 8' are no options"], "build-kernels", "0:0", "", "LIBRARY", "8 8")


class Names(ProgramTest):
    def test_any_folder_name(self):
        odd = ["a;$(touch x)&|'\"<>*?", "`touch x`", "new\nline\ttab", "-dash", "per%sent%n", "deep/er/./and/../er"]
        for name in ("with space", "Größe µ 電子", *odd):
            with self.subTest(name=name):
                self.run_well("run", "small.yaml", "--quiet", "--steps", "1", f"--output={name}")
                self.assertEqual(len(self.history(name)), 2)
                self.assertTrue((self.folder / name / "snapshots" / "data_1.h5").is_file())
                again = self.run_program("run", f"./{name}/config.yaml", "--quiet")  # which names the folder
                self.assertEqual(again.returncode, 2)
                shown = name.replace("\n", r"\x0A").replace("\t", r"\x09")
                self.assertIn(f"folder ./{shown} holds a run already", again.stderr)
        self.assertFalse((self.folder / "x").exists())

    def test_any_config_name_and_title(self):
        name = "Größe 'µ' $HOME $(touch x);\n\"q\".yaml"
        text = (self.folder / "small.yaml").read_text().replace("title: Small", 'title: "per%sent %n, τ \\"q\\""')
        (self.folder / name).write_text(text)
        result = self.run_well("run", name, "--steps", "1")
        self.assertTrue(result.stdout.startswith('per%sent %n, τ "q"\n'), result.stdout)
        self.run_well("run", "out/config.yaml", "--output", "again", "--steps", "1")
        self.assertEqual(self.names("."), sorted([name, "again", "out", "small.yaml"]))

    def test_the_folder_is_named_after_the_config(self):
        text = (self.folder / "small.yaml").read_text().replace("  directory: out\n", "")
        for name, folder in (
            ("my case.yaml", "my case"),
            ("a\nb;.yaml", "a\nb;"),
            (b"\xff.yaml".decode(errors="surrogateescape"), "run"),
        ):
            with self.subTest(name=name):
                (self.folder / name).write_text(text)
                self.run_well("run", name, "--quiet", "--steps", "1")
                self.assertEqual(len(self.history(f"output/{folder}")), 2)
