"""radixpic check and devices: what follows from a config, each warning, and that nothing is created."""

import math
import os
import re
import shutil
import signal

from program import ENDLESS, PROGRAM, ROOT, ProgramTest, sets, start

NUMBER = r"([-+.\de]+)"
WARNINGS = {
    "Debye": r"(?m)^warning: a cell of .* pi Debye lengths",
    "omega_p": r"(?m)^warning: omega_p dt = \S+ is above",
    "rotation": r"(?m)^warning: Omega dt",
    "Nyquist": r"(?m)^warning: mode 8 along x, of species electrons",
    "crossing": r"(?m)^warning: thermal particles of electrons cross",
    "light": r"(?m)^warning: particles of electrons reach (4\.24|5\.2) v_th, which is \S+ c by units\.temperature_eV=",
    "few": r"(?m)^warning: .* particles per cell of electrons",
    "idle": r"(?m)^warning: sort\.",
}


class Check(ProgramTest):
    def check(self, *settings):
        return self.run_well("check", "small.yaml", *sets(*settings)).stdout

    def number(self, text, pattern):
        found = re.search(r"(?m)^" + pattern, text)
        self.assertIsNotNone(found, f"{pattern} in {text}")
        return float(found[1])

    def test_what_follows(self):
        # 6 x 4 in 16 x 8 cells; thermal velocity 1 and omega_p 1, so the Debye length is 1
        text = self.check()
        self.assertRegex(text, r"(?m)^cell size dx, dy +0\.375, 0\.5$")
        self.assertAlmostEqual(self.number(text, rf"Debye length +1, {NUMBER} to a cell"), 2)  # of the longer side
        self.assertAlmostEqual(self.number(text, rf"omega_p dt +{NUMBER}$"), 0.1)
        self.assertNotIn("Omega dt", text)
        turned = r"(?m)^Omega dt +5, of which the push turns velocities by 2 atan\(Omega dt/2\) = 2\.38"
        self.assertRegex(self.check("fields.magnetic=50"), turned)
        across = "fields.external.B=[cos(2*pi*x/lx)*cos(2*pi*y/ly), {}*ly/lx*sin(2*pi*x/lx)*sin(2*pi*y/ly), 30*y/ly]"
        for factor, share in ((1, 0), (0.9, 0.1)):
            text = self.check(across.format(factor), "species.electrons.velocities.dimensions=3")
            most = 0.1 * math.hypot(0.5**0.5, 30 * 7 / 8)
            self.assertAlmostEqual(self.number(text, rf"Omega dt +{NUMBER}, "), most, 4)
            found = self.number(text, rf"div B, fields.external +{NUMBER} of its largest slope$")
            self.assertAlmostEqual(found, share / (2 - share), 2 if share else 6)
            self.assertEqual("warning: fields.external.B: div B is not 0: at x = 1.5, y = " in text, share > 0)
        light = "species.electrons.velocities.dimensions=3", "fields.solver=electromagnetic", "time.step=0.001"
        for fields in ("magnetic=600", "external.B=[0, 0, 600]", "initial.B=[0, 0, 600]"):
            turns = self.check(*light, f"fields.{fields}")
            self.assertAlmostEqual(self.number(turns, rf"Omega dt +{NUMBER}, "), 0.6)
            self.assertRegex(turns, WARNINGS["rotation"])
        turns = self.check(*light, "fields.magnetic=[0, 300, 0]", "fields.initial.B=[0, 0, 400*cos(2*pi*x/lx)]")
        self.assertAlmostEqual(self.number(turns, rf"Omega dt +{NUMBER}, "), 0.5)
        for field in "EB":
            late = self.check(f"fields.external.{field}=['t < 1 || x < 1 ? 1 : 1/0', 0, 0]",
                "species.electrons.velocities.dimensions=3")
            words = f"warning: fields.external.{field} is not finite at x = 1.125, y = 0, t = 1.4214: a step there"
            self.assertIn(words, late)
            self.assertNotRegex(late, "div B|Omega dt")
        for setting in ("species.electrons.charge=0", "species.electrons.velocities={kind: cold}"):
            cold = self.check(setting)
            self.assertRegex(cold, r"(?m)^Debye length +0: no charged species has a thermal velocity$")
            self.assertNotRegex(cold, WARNINGS["Debye"])
        for profile, length in (("['0.1', 0.1]", 0.1), ("['1 + 0.5*cos(2*pi*x/lx)', 1]", 1.03078)):  # 17/16 on average
            warm = self.check(f"species.electrons.profile.thermal={profile}")
            self.assertAlmostEqual(self.number(warm, rf"Debye length +{NUMBER},"), length, 5)
        self.assertAlmostEqual(self.number(text, rf"particles per cell +{NUMBER} of electrons$"), 32)
        self.assertAlmostEqual(self.number(text, rf"cells crossed in a step +{NUMBER} "), 3 * 0.1 / 0.375)
        self.assertAlmostEqual(self.number(text, rf"end of the run +t = {NUMBER}$"), 2.3)
        sort = r"(?m)^key +b = 7 bits, p = 2 passes; (method tiled|\d+ chunks; method chunked) \(default\)$"
        self.assertRegex(text, sort)
        self.assertRegex(text, r"(?m)^device +\S")
        self.assert_nothing_created()

    def test_the_checkpoint_of_a_signal(self):
        """Of 8.7 GB, behind two snapshots."""
        settings = ["species.electrons.particles=400000000", "precision=double", "output.checkpoints.on_signal_within="]
        line = rf"checkpoint of a signal +{NUMBER} MB behind at most {NUMBER} MB of files in flight: about {NUMBER} s "
        line += "at 200 MB/s, which is assumed"
        warning = "and output.checkpoints.on_signal_within leaves 50 s"
        for within, every, warned in ((50, 10, True), (500000, 10, False), (0, 10, False), (50, 0, True)):
            text = self.check(*settings[:2], f"{settings[2]}{within}", f"output.snapshots.every={every}")
            own, before, seconds = map(float, re.search(line, text).groups())
            self.assertAlmostEqual(seconds / ((own + before) / 200), 1, 2)
            self.assertGreater(1.01 * self.number(text, rf"files in flight .* about {NUMBER} MB of host"), 2 * own)
            self.assertEqual(before > 0, every != 0)
            self.assertEqual(warning in text, warned)
        text = self.run_well("check", "small.yaml", "--probe").stdout
        self.assertRegex(text, rf"checkpoint of a signal .* about {NUMBER} s at {NUMBER} MB/s, as in the probe\n")

    def test_a_probe_that_is_stopped_leaves_nothing(self):
        """Where the signal comes in time; the probe may be over."""
        process = start("check", "small.yaml", "--probe", *ENDLESS, folder=self.folder)
        self.assertTrue(self.wait_for(lambda: list(self.folder.glob("out.probe-*/history.csv")), process))
        process.send_signal(signal.SIGINT)
        result = self.finish(process)
        self.assertIn(result.returncode, (0, 4))
        self.assertEqual(result.stderr != "", result.returncode == 4)
        self.assert_nothing_created()

    def test_a_probe_that_fails_says_what_failed_first(self):
        """The folder cannot be made, and then not be removed either."""
        probe = ["check", "small.yaml", "--probe"]
        self.refuse(2, "cannot create folder small.yaml", *probe, "--output", "small.yaml/out")

    def test_a_probe_foretells_the_time_and_leaves_nothing(self):
        settings = sets("time.steps=100000", "output.snapshots.every=100", "output.checkpoints.every=1000")
        text = self.run_well("check", "small.yaml", "--probe", *settings).stdout
        step = self.number(text, rf"probe +{NUMBER} s a step; start, with the files, {NUMBER} s$")
        self.assertGreater(self.number(text, rf"probe, files +{NUMBER} MB in {NUMBER} s, beside {NUMBER} s that"), 0)
        run = re.search(rf"(?m)^the run +about {NUMBER} s, {NUMBER} % of it for output$", text)
        self.assertGreater(float(run[1]), 1e5 * step)
        self.assertTrue(0 < float(run[2]) < 100, run[0])
        text = self.run_well("check", "small.yaml", "--probe", *sets("output.snapshots.every=0", "time.steps=1")).stdout
        self.assertIn("none is due", text)
        self.assertEqual(os.listdir(self.folder), ["small.yaml"])

    def test_the_forecast_of_a_probe_adds_up(self):
        """The start has one snapshot of the run's, and a file is written beside the steps; all have three digits."""
        for steps, snapshots in ((1, 2), (1000, 11), (10**6, 10001), (10**6, 0)):
            every = steps // (snapshots - 1) if snapshots else 0
            settings = [f"time.steps={steps}", "species.electrons.particles=100000", f"output.snapshots.every={every}"]
            with self.subTest(steps=steps, snapshots=snapshots):
                text = self.run_well("check", "small.yaml", "--probe", *sets(*settings)).stdout
                step = self.number(text, rf"probe +{NUMBER} s a step")
                start = self.number(text, rf"probe .*; start, with the files, {NUMBER} s$")
                written = self.number(text, rf"probe, files .* MB in {NUMBER} s") if snapshots else 0
                copied = self.number(text, rf"probe, files .* beside {NUMBER} s that") if snapshots else 0
                begun = start - written - copied
                expected = begun + snapshots * copied + max(steps * step, snapshots * written)
                run = self.number(text, rf"the run +about {NUMBER} s")
                terms = run + start + steps * step + (snapshots + 1) * (written + copied)
                self.assertAlmostEqual(run, expected, delta=0.005 * terms)
                share = self.number(text, rf"the run .*, {NUMBER} % of it for output$")
                self.assertAlmostEqual(share, 100 * (expected - begun - steps * step) / expected, delta=2)

    def test_files_in_flight_have_the_precision_of_the_run(self):
        pattern = rf"files in flight +2 at most, about {NUMBER} MB of host memory .*, and up to {NUMBER} MB on each to "
        pattern += "pack"
        checks = (self.check("precision=double", f"output.snapshots.precision={each}") for each in ("run", "single"))
        self.assertEqual(*(self.number(text, pattern) for text in checks))

    def test_the_papers_parameters(self):
        text = self.check("sort.method=paper")
        line = r"(?m)^key +b = 7 bits, r = 4, p = 2 passes; I = \d+, G = \d+, s = \d+, "
        self.assertRegex(text, line + r"transpose \w+, table columns; method paper$")
        text = self.check("sort.items_per_group=2")  # only paper has it
        self.assertRegex(text, r"(?m)^key +b = 7 bits, r = 4, p = 2 passes; I = 2, .*; method paper \(default\)$")

    def test_species_together(self):
        """Frequencies add in squares: electrons at density 4 have omega_p = 2, ions of mass 4 add 1."""
        text = (self.folder / "small.yaml").read_text().replace("density: 1\n", "density: 4\n")
        ions = "  - {name: ions, charge: -1, mass: 4, density: 4, particles: 64}\n"
        (self.folder / "small.yaml").write_text(text.replace("device:", ions + "device:"))
        text = self.check()
        self.assertAlmostEqual(self.number(text, rf"omega_p dt +{NUMBER}$"), 0.1 * math.sqrt(5), delta=1e-6)
        self.assertAlmostEqual(self.number(text, rf"Debye length +{NUMBER},"), 0.5)  # cold ions do not shield
        few = self.number(text, rf"particles per cell +{NUMBER} of ions, from the sequences of electrons$")
        self.assertAlmostEqual(few, 0.5)
        for positions in ("{bases: [3, 2]}", "random"):
            self.assertNotIn("from the sequences", self.check(f"species.ions.positions={positions}"))

    def test_a_random_start(self):
        text = self.check("species.electrons.positions=random")
        noise = self.number(text, rf"particles per cell +32 of electrons, at random: .* {NUMBER} %$")
        self.assertAlmostEqual(noise, 18)

    def test_the_checkpoints_of_a_run(self):
        signal = "one when a signal stops the run; each has about"
        for every, minutes, counted in (
            (0, 0, ""),
            (23, 0, "1, "),
            (10, 0, "3, "),  # at 10, 20 and the last step, 23
            (0, 2.5, "one every 2.5 minutes and at the end, "),
            (24, 30, "1, one every 30 minutes and at the end, "),
        ):
            with self.subTest(every=every, minutes=minutes):
                when = [f"output.checkpoints.every={every}", f"output.checkpoints.minutes={minutes}"]
                self.assertRegex(self.check(*when), rf"(?m)^checkpoints +{counted}{signal}")
        self.assertRegex(self.check("output.checkpoints.every=5", "time.steps=0"), rf"(?m)^checkpoints +0, {signal}")

    def test_the_size_of_a_checkpoint(self):
        """Of offsets and velocities, ids, the counts of cells, and a few kB that are not of the particles."""
        kinds = ((50000, "single", "false"), (50000, "single", "true"), (500, "double", "true"))
        for particles, precision, ids in kinds:
            with self.subTest(particles=particles, precision=precision, ids=ids):
                own = [f"precision={precision}", "output.checkpoints={keep: 3, every: 23}"]
                settings = sets(*own, f"species.electrons.ids={ids}", f"species.electrons.particles={particles}")
                text = self.run_well("check", "small.yaml", *settings).stdout
                self.run_well("run", "small.yaml", "--quiet", "--force", *settings)
                size = 1e-6 * (self.folder / "out/checkpoints/checkpoint_23.h5").stat().st_size
                said = self.number(text, rf"checkpoints .*about {NUMBER} MB")
                self.assertTrue(size <= 1.01 * said <= 1.03 * (size + 0.012), (size, said))
                kept = self.number(text, rf"checkpoints .*, and the newest 3 are kept: {NUMBER} MB at most$")
                self.assertAlmostEqual(kept, 3 * said, delta=0.02 * said)

    def test_outputs_that_a_run_has_not(self):
        for every in (0, 10):
            said = self.check(f"output.moments.every={every}", f"output.snapshots.every={every}")
            self.assertEqual(re.findall(r"(?m)^(moments|snapshots) +(\d+)", said),
                [("snapshots", "4"), ("moments", "4")] if every else [])

    def test_the_most_ranks(self):
        found = re.findall(r"(?m)^MPI ranks +(.*)$", self.check())
        words = "each with a row of cells or more; on another number sums differ in their last digits"
        self.assertEqual(found, [f"16 at most, {words}"])
        self.assertIn("take another node (ngp)", self.check("deposit.shape=ngp"))

    def test_the_fewest_ranks(self):
        self.assertNotIn("at least", self.check("species.electrons.particles=4293918720"))
        for particles, ranks in ((4293918721, 2), (16 * 4293918720, 16)):
            text = self.check(f"species.electrons.particles={particles}")
            self.assertRegex(text, rf"(?m)^MPI ranks +{ranks} at least, .* and 16 at most, ")
            self.assertRegex(text, rf"(?m)^memory on the device .* on each of {ranks} ranks")
        more = sets(f"species.electrons.particles={16 * 4293918720 + 1}")
        result = self.refuse(2, ["grid.cells", "17 ranks", "16 rows"], "check", "small.yaml", *more)
        self.assertEqual(result.stdout, "")

    def test_the_config_is_echoed(self):
        options = [*sets("species.electrons.mass=2.5"), "--steps", "77", "--output", "there"]
        text = self.run_well("check", "--full", "small.yaml", *options).stdout
        follows, config = text.split("\n\n")
        self.assertEqual(self.run_well("check", "small.yaml", *options).stdout, follows + "\n")
        for line in ("  steps: 77 ", "    mass: 2.5 ", "  directory: there "):
            self.assertIn(f"\n{line}", config)
        (self.folder / "echo.yaml").write_text(config)
        self.assertEqual(self.run_well("check", "--full", "echo.yaml").stdout, text)

    def test_every_key_can_be_listed(self):
        """All keys of the echoed config, without a config to be read."""
        text = self.run_well("check", "--keys").stdout
        full = self.run_well("check", "--full", "small.yaml").stdout.split("\n\n")[1]
        keys = re.findall(r"(?m)^ *(?:- )?([a-zA-Z_0-9]+):", full)
        self.assertGreater(len(keys), 40)
        self.assertRegex(text, r"(?m)^output\.snapshots\.compression .* phase space and moments too$")
        for key in keys:
            self.assertRegex(text, rf"\b{key}\b")

    def test_keys_of_a_part(self):
        whole = self.run_well("check", "--keys").stdout.splitlines()
        for key, count in (("output.history", 2), ("grid.cells", 1), ("species[].perturb", 7)):
            part = self.run_well("check", "--keys", key).stdout.splitlines()
            self.assertEqual(part[0], whole[0])
            self.assertEqual(part[1:], [line for line in whole if re.match(re.escape(key) + r"[ .\[]", line)])
            self.assertGreaterEqual(len(part), 1 + count)
        for key in ("specie", "small.yaml"):
            self.refuse(2, [f'"{key}"', "check --keys lists all"], "check", "--keys", key)

    def test_the_page_of_keys_is_up_to_date(self):
        """Otherwise: radixpic check --keys --markdown > docs/config.md"""
        text = self.run_well("check", "--keys", "--markdown").stdout
        self.assertEqual((ROOT / "docs" / "config.md").read_text(), text)

    def test_the_kernels_of_a_default_step_have_at_most_1500_lines_on_a_cpu(self):
        result = self.run_program(command=[ROOT / "scripts" / "reading_path"])
        self.assert_well(result)
        self.assertRegex(result.stdout, r"^\d+ lines on a CPU and \d+ on a GPU, in 22 files$")
        self.assertLessEqual(int(result.stdout.split()[0]), 1500)

    def test_the_reading_path_has_the_sorts_that_runs_take(self):
        page = (ROOT / "docs" / "architecture.md").read_text()
        for device, name in (("CPU", "chunked"), ("GPU", "tiled")):
            self.assertIn(f"| sort on a {device} | `kernels/{name}_sort.cl` |", page)
        self.assertNotIn("| `kernels/radix_sort.cl` |", page)

    def test_the_numbers_of_lines_are_written_by_a_script(self):
        script, page = self.folder / "scripts" / "reading_path", self.folder / "docs" / "architecture.md"
        for folder in ("scripts", "docs"):
            (self.folder / folder).mkdir()
        shutil.copytree(ROOT / "kernels", self.folder / "kernels")
        shutil.copy(ROOT / "scripts" / "reading_path", script)
        right = (ROOT / "docs" / "architecture.md").read_text()
        row = re.search(r"`kernels/shared/motion\.h` \| \d+", right)[0]
        page.write_text(right.replace(row, row + "0"))
        wrong = self.run_program(command=[script])
        self.assertEqual(wrong.returncode, 1)
        self.assertRegex(wrong.stderr, r"architecture\.md: .*; run scripts/reading_path --fix\n$")
        self.assert_well(self.run_program("--fix", command=[script]))
        self.assertEqual(page.read_text(), right)
        cell, push = (self.folder / "kernels" / name for name in ("shared/cell.h", "push.cl"))
        unused = "/* not counted */\nstatic inline uint more(uint n)\n{\n    return n;\n}\n#if CURRENT\n\n#endif\n"
        cell.write_text(cell.read_text().replace("#endif", unused + "#endif"))
        self.assert_well(self.run_program(command=[script]))
        push.write_text(push.read_text().replace("walk_start();", "walk_start(); more(1);"))
        self.assert_well(self.run_program("--fix", command=[script]))
        self.assertNotEqual(page.read_text(), right)

    def test_a_missing_device_is_no_error(self):
        text = self.run_well("check", "small.yaml", environment={"OCL_ICD_VENDORS": str(self.folder)}).stdout
        self.assertRegex(text, r"(?m)^device +no OpenCL device")
        self.assertRegex(text, r"(?m)^key +b = 7 bits")


class Foretold(ProgramTest):
    """What check says of the files of a run, and of its memory, is what they take, or not much more. Of memory
    tests/kernel/test_simulation_plan.c has more, to the byte."""

    AXES = "{axis: x, bins: 16, range: [0, 6]}, {axis: y, bins: 8, range: [0, 4]}"
    AXES += ", {axis: u, bins: 64, range: [-3, 3]}, {axis: v, bins: 60, range: [-3, 3]}"
    OUTPUTS = [
        "output.probes=[{name: between, at: [2.9, 1.3]}, {name: corner, at: [5.9, 3.8], fields: [rho, E], every: 5}]",
        "output.lines=[{name: across, from: [0, 1], to: [6, 1], points: 17, every: 10}]",
        "output.tracks={species: electrons, count: 5, every: 2}",
        f"output.phase_space=[{{species: electrons, axes: [{AXES}], order: [u, v, x, y], every: 5}}]",
        *["output.moments.every=10", "output.snapshots.compression=0", "species.electrons.particles=50000"],
    ]
    # By the word of check its files, the number that is said, and how many times as large they may be said to be.
    FILES = {
        "history": ("history.csv", 6, 1.3),
        "probe between": ("probes/between.csv", 24, 2),
        "probe corner": ("probes/corner.csv", 6, 2),
        "tracks": ("tracks/*.h5", 13, 4),
        "snapshots": ("snapshots/*.h5", 4, 1.12),
        "phase space": ("phase_space/*.h5", 6, 1.12),
        "moments": ("moments/*.h5", 4, 4),
        "lines": ("lines/*.h5", 4, 4),
    }

    def test_files_and_memory(self):
        self.add_species("{name: ions, charge: 1, mass: 1836, density: 1, particles: 3000, ids: true}")
        for settings in (
            [],
            ["precision=double", "output.snapshots.fields=[phi]"],
            ["precision=double", "output.snapshots.precision=single"],
            ["output.snapshots.species=[ions]"],
            ["output.snapshots.particles={every_nth: 2}"],
            ["output.snapshots.particles={fraction: 0.5}"],
        ):
            with self.subTest(settings=settings):
                self.check_one(sets(*self.OUTPUTS, *settings), 1.5 if settings else 1)

    def check_one(self, options, more):
        text = self.run_well("check", "small.yaml", *options).stdout
        run = self.run_well("run", "small.yaml", "--verbose", "--force", *options).stdout
        for name, (files, number, most) in self.FILES.items():
            found = re.search(rf"(?m)^{name} +(\d+)\b.*? ([\d.]+) MB", text)
            self.assertEqual(int(found[1]), number, name)
            size = 1e-6 * max(path.stat().st_size for path in (self.folder / "out").glob(files))
            self.assertTrue(size <= 1.01 * float(found[2]) <= more * most * size + 0.06 * (more > 1), (found[0], size))
        each, all_of_them = re.search(r"(?m)^snapshots .* ([\d.]+) MB each.* ([\d.]+) MB in all", text).groups()
        self.assertAlmostEqual(float(all_of_them), 4 * float(each), delta=0.1)
        said = float(re.search(rf"(?m)^memory on the device +{NUMBER} MiB", text)[1])
        held = float(re.search(rf"device memory held: {NUMBER} MiB", run)[1])
        self.assertGreater(held, 4 * 16 * 8 * 64 * 64 / 2**20)
        self.assertAlmostEqual(said, held, delta=0.1 + 0.02 * held)


class Warnings(ProgramTest):
    def assert_warns(self, *names, settings=()):
        """These warnings and no others; a warning refuses nothing."""
        text = self.run_well("check", "small.yaml", *sets(*settings)).stdout
        for name, pattern in WARNINGS.items():
            (self.assertRegex if name in names else self.assertNotRegex)(text, pattern, settings)

    def test_none(self):
        self.assert_warns()

    def test_just_below_and_above(self):
        slow = "species.electrons.velocities.thermal=[0.01, 0.01]"  # Debye length 0.01, nothing crosses a cell
        three = "species.electrons.velocities.dimensions=3"
        for name, below, above in (
            ("Debye", ["grid.length=[6, 25.1]"], ["grid.length=[6, 25.2]"]),  # dy = 3.1375 and 3.15 around pi
            ("few", ["species.electrons.particles=1024"], ["species.electrons.particles=1023"]),  # 8 in 128 cells
            ("rotation", ["fields.magnetic=-4.9"], ["fields.magnetic=-5.1"]),
            ("Nyquist", ["species.electrons.perturb.density.0.mode=7"], ["species.electrons.perturb.density.0.mode=8"]),
            ("light", ["units.temperature_eV=28380"], ["units.temperature_eV=28400"]),  # c = 3 sqrt(2) between
            ("light", ["units.temperature_eV=18920", three], ["units.temperature_eV=18940", three]),  # 3 sqrt(3)
            ("crossing", ["time.step=0.1249"], ["time.step=0.1251"]),  # 3 * 0.125 = dx
        ):
            with self.subTest(name=name):
                self.assert_warns(settings=below)
                self.assert_warns(name, settings=above)
        self.assert_warns(settings=["species.electrons.perturb.density.0.mode=8", "fields.gradient=centred"])
        self.assert_warns("Debye", settings=["time.step=1.61", slow])
        self.assert_warns("Debye", "omega_p", settings=["time.step=1.63", slow])

    def test_numbers_of_si(self):
        electrons = "species.electrons."
        for key, below, above, words in (
            ("time.step", "1.01e-6", "0.99e-6", "omega_p dt = 9.9e-07 is below 1e-6: .* not in SI units"),
            ("grid.length", "[6, 0.101]", "[6, 0.099]", "a side of the box of 0.099 is .* not in SI units"),
            (electrons + "density", "0.99e6", "1.01e6", "a density of 1.01e.06 is .* units.density_per_m3 has"),
            (electrons + "velocities.thermal", "[1, 0.99e4]", "[1, 1.01e4]", "velocity of 10100 is .* not in m/s"),
        ):
            for value, is_warned_of in ((below, False), (above, True)):
                said = self.run_well("check", "small.yaml", *sets(f"{key}={value}")).stdout
                (self.assertRegex if is_warned_of else self.assertNotRegex)(said, f"(?m)^warning: .*{words}")
                self.assertEqual(len(re.findall(r"SI units|1/m.3|m/s", said)), is_warned_of, said)
        for of_few in ("density=1e-12", "velocities.thermal=[100, 100]"):  # a Debye length above the box
            self.assertNotIn("Debye lengths (", self.run_well("check", "small.yaml", *sets(electrons + of_few)).stdout)

    def test_all_at_once(self):
        settings = ["grid.length=[60, 60]", "time.step=3", "species.electrons.particles=100", "fields.magnetic=1"]
        settings += ["species.electrons.perturb.density.0.mode=8", "units.temperature_eV=1e5"]
        self.assert_warns(*WARNINGS, settings=[*settings, "sort.method=chunked", "sort.table=rows"])

    def test_rounding_to_nearest(self):
        """Electrons of small.yaml at 3 + 1, with dt = 0.1: a last bit is 2^-21, and 2^-24 of a cell of 0.375."""
        single = "precision=single", "species.electrons.velocities.drift=[3, 0]"
        for more, field, assumed in (
            (["species.electrons.mass=1836"], "0.01", "assumed"),
            (["fields.external.E=[1e-4*sin(2*pi*y/ly), 0, 0]"], "0.0001", "the most of fields.external"),
        ):
            for settings in ([], ["precision=double", "step.rounding=nearest"], ["step.rounding=dithered"]):
                said = self.run_well("check", "small.yaml", *sets(*single, *more, *settings)).stdout
                self.assertNotIn("warning: species electrons: with step.rounding", said)
            said = self.run_well("check", "small.yaml", *sets(*single, *more, "step.rounding=nearest")).stdout
            words = rf"along (.) at 4 \(.* up to {NUMBER} of its .* E = {field} \({assumed}\) .* up to {NUMBER};"
            found = re.findall(words, said)
            mass = 1836 if assumed == "assumed" else 1
            self.assertEqual(found, [("x", f"{0.4 / 0.375 * 2**24:.3g}", f"{float(field) * 0.1 / mass * 2**21:.3g}")])

    def test_settings_without_effect(self):
        papers = r"(?m)^warning: sort\.groups, sort\.table: without effect, only the method paper has such"
        fused = r"(?m)^warning: sort\.method, sort\.table: a fused step sorts in its own way"
        for command in ("check", ("run", "--steps=0", "--force")):
            words = [command] if isinstance(command, str) else command
            for pattern, settings in (
                (papers, ["sort.method=chunked", "sort.groups=4", "sort.table=rows"]),
                (fused, ["step.method=chunked", "sort.method=paper", "sort.table=rows"]),
            ):
                self.assertRegex(self.run_well(*words, "small.yaml", *sets(*settings)).stdout, pattern)
        for settings in (
            ["sort.table=rows"],  # asks for the method paper
            ["sort.method=paper", "sort.table=rows"],
            ["sort.method=chunked", "sort.passes=1"],
            ["step.method=chunked"],
            ["step.method=chunked", "sort.passes=2"],  # as the default says
        ):
            self.assert_warns(settings=settings)


class Devices(ProgramTest):
    def test_what_matters_is_listed(self):
        text = self.run_well("devices").stdout
        self.assertRegex(text, r"(?m)^0:0  \S")
        self.assertEqual(text.count("(auto)"), 1)
        devices = len(re.findall(r"(?m)^\d+:\d+  ", text))
        for label, value in (
            *[("platform", r"\S.*OpenCL \d"), ("type", "(cpu|gpu|accelerator)$"), ("compute units", r"\d+$")],
            *[("local memory", r"\d+ KiB"), ("group limit", r"\d+ items"), ("double", r".*(yes|no)$")],
            *[("memory", r"\d+\.\d GiB")],
        ):
            self.assertEqual(len(re.findall(rf"(?m)^ +{label}\b.*? +{value}", text)), devices, label)

    def test_a_cpu_has_a_thread_for_each_processor_of_the_process(self):
        if "Portable Computing Language" not in self.run_well("devices").stdout:
            self.skipTest("needs PoCL")
        processors = os.sched_getaffinity(0)
        for count in {1, len(processors)}:
            taskset = ("taskset", "-c", ",".join(map(str, sorted(processors)[:count])), PROGRAM)
            for named in ("", "3"):
                with self.subTest(count=count, named=named):
                    variable = "POCL_MAX_PTHREAD_COUNT"
                    given = ("env", f"{variable}={named}") if named else ("env", "-u", variable)
                    text = self.run_well("check", "small.yaml", "--device", "cpu", command=(*given, *taskset)).stdout
                    threads = re.search(r"(?m)^threads +(\d+) on (\d+) processors?; (.*)$", text)
                    self.assertEqual(threads.groups()[:2], (named or str(count), str(count)))
                    self.assertEqual("take longer" in threads[3], int(threads[1]) > count)

    def test_the_folders_of_compiled_kernels_are_named(self):
        text = self.run_well("devices", environment={"RADIXPIC_CACHE": str(self.folder)}).stdout
        self.assertIn(f"\ncache of built programs: {self.folder}/programs\n", text)
        nowhere = dict.fromkeys(("RADIXPIC_CACHE", "XDG_CACHE_HOME", "HOME"), "")
        self.assertNotIn("cache of built programs", self.run_well("devices", environment=nowhere).stdout)

    def test_every_device_can_be_chosen_by_what_is_listed(self):
        text = self.run_well("devices").stdout
        for numbers, name in re.findall(r"(?m)^(\d+:\d+)  (.*?)(?:  \(auto\))?$", text):
            for spec in (numbers, name, name.upper()):
                found = self.run_well("check", "small.yaml", "--device", spec).stdout
                self.assertIn(f"\ndevice                    {name}\n", found)
