"""Checkpoints and restarts: a run that is stopped or taken back, and then gone on with, leaves the bytes of one that
ran straight through; what cannot be gone on with is refused and stays as it is. tests/faults/ kills runs and damages
checkpoints.
"""

import contextlib
import os
import random
import re
import shutil
import signal
import time

import h5py

from program import APART, ENDLESS, NEEDS_APART, PROGRAM, TIMEOUT, ProgramTest, contents, sets, start

STEPS = 400
LONG = ["output.history.every=2", "output.snapshots.every=100", "species.electrons.particles=2048"]
KINDS = [(precision, method) for precision in ("single", "double") for method in ("radix", "fused")]
KINDS += [("single", "tiled")]  # fused on a CPU is chunked


class RestartTest(ProgramTest):
    def settings(self, precision="single", method="fused"):
        return ["--steps", str(STEPS), *sets(*LONG, f"precision={precision}", f"step.method={method}")]

    def run_straight(self, *options, folder="straight"):
        self.run_well("run", "small.yaml", "--quiet", "--output", folder, *options)

    def checkpoints(self, folder="out"):
        path = self.folder / folder / "checkpoints"
        return sorted((file.name for file in path.glob("*.h5")), key=lambda name: int(re.search(r"\d+", name)[0]))

    def snapshot(self, folder, step):
        return contents(self.folder / folder / "snapshots" / f"data_{step}.h5")

    def assert_same_run(self, folder="out", straight="straight", steps=STEPS):
        self.assertEqual(*(self.read(f"{each}/history.csv") for each in (folder, straight)))
        for step in {100, steps}:
            self.assertEqual(self.snapshot(folder, step), self.snapshot(straight, step))

    def stop_run(self, *options, number=signal.SIGTERM, rows=5, folder="out"):
        process = self.start_run(*options, rows=rows, folder=folder)
        process.send_signal(number)
        return self.finish(process)


class Stopped(RestartTest):
    def test_any_moment_and_kind(self):
        """Stopped at any steps: twice, and the last kind three times."""
        chance = random.Random(1)
        for precision, method in KINDS:
            with self.subTest(precision=precision, method=method):
                options = self.settings(precision, method)
                folder, straight = f"{precision}_{method}", f"straight_{precision}_{method}"
                arguments = ["run", "small.yaml", *options, "--output", folder, "--restart", "latest", "--quiet"]
                log = self.folder / folder / "log.txt"
                result = self.stop_run(*options, rows=chance.randrange(1, 50), folder=folder)
                for times in range(1, 3 if (precision, method) == KINDS[-1] else 2):
                    self.assertEqual(result.returncode, 4, result.stderr)
                    process = start(*arguments, *ENDLESS, folder=self.folder)
                    self.addCleanup(process.kill)
                    self.assertTrue(self.wait_for(lambda: log.read_text().count("goes on from step") == times, process))
                    time.sleep(chance.uniform(0, 0.1))
                    process.send_signal(signal.SIGTERM)
                    result = self.finish(process)
                self.assertEqual(result.returncode, 4, result.stderr)
                steps = 100 + int(re.search(r"at step (\d+) ", result.stderr)[1])
                self.run_well(*arguments, "--steps", steps)
                self.run_straight(*options, "--steps", steps, folder=straight)
                self.assert_same_run(folder, straight, steps)

    def test_what_is_said_and_left(self):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1, signal.SIGXCPU):
            name = number.name
            with self.subTest(name=name):
                shutil.rmtree(self.folder / "out", ignore_errors=True)
                result = self.stop_run(*self.settings(), number=number)
                said = rf"stopped by {name} at step (\d+) .*go on with: radixpic (run --restart latest --output out)"
                self.assert_refused(result, 4, "go on with: ")
                self.assertRegex(result.stderr, said)
                step, command = re.search(said, result.stderr).groups()
                self.assertEqual(self.checkpoints(), [f"checkpoint_{step}.h5"])
                self.assertEqual(self.history()[-1]["step"], str((int(step) - 1) // 2 * 2))
                self.assertRegex(result.stdout, r"(?m)^stages together ")
                self.assertRegex((self.folder / "out" / "log.txt").read_text(), said)
                self.assert_whole_rows(self.folder / "out" / "timers.csv")
                steps = str(int(step) + 100)
                result = self.run_well(*command.split(), "--steps", steps)  # as told; the checkpoint knows the settings
                begins = rf"(?m)^goes on from step {step}, from out/checkpoints/checkpoint_{step}\.h5$"
                self.assertRegex(result.stdout, begins)
                self.assertEqual(self.history()[-1]["step"], steps)
                log = (self.folder / "out" / "log.txt").read_text()
                self.assertRegex(log, rf"(?s){said}.*goes on from step.*stages together.*written to out")

    def test_only_the_signals_that_are_asked_for(self):
        asked = [*self.settings(), *sets("output.checkpoints.on_signals=[SIGUSR2]")]
        self.assert_refused(self.stop_run(*asked, number=signal.SIGUSR2), 4, "stopped by SIGUSR2 at step ")
        self.assertEqual(self.stop_run(*asked, "--force", number=signal.SIGHUP).returncode, -signal.SIGHUP)

    def test_under_nohup_a_hangup_stops_nothing(self):
        self.check_hangup()

    @NEEDS_APART
    def test_nor_where_a_library_has_set_a_handler(self):
        self.check_hangup("env", f"LD_PRELOAD={APART}")

    def check_hangup(self, *before):
        process = self.start_run(*self.settings(), rows=5, command=("nohup", *before, PROGRAM))
        process.send_signal(signal.SIGHUP)
        rows = self.rows() + 20
        self.assertTrue(self.wait_for(lambda: self.rows() >= rows, process))
        process.send_signal(signal.SIGTERM)
        self.assertIn("stopped by SIGTERM at step ", self.finish(process).stderr)

    def test_a_second_signal_ends_it_at_once(self):
        """While the first is being obeyed, which lasts: there is no room in the pipe for what is said last."""
        reader, writer = os.pipe()
        process = self.start_run(*self.settings(), rows=5, stdout=writer)
        filler = os.open(f"/proc/self/fd/{writer}", os.O_WRONLY | os.O_NONBLOCK)
        with contextlib.suppress(BlockingIOError):
            while os.write(filler, b"."):
                pass
        os.close(filler)
        process.send_signal(signal.SIGTERM)
        self.assertTrue(self.wait_for(self.checkpoints, process))
        time.sleep(0.6)  # or more: by then it is another wish
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(timeout=TIMEOUT), -signal.SIGTERM)
        process.stderr.close()
        os.close(reader)
        os.close(writer)

    def test_without_room_for_a_checkpoint(self):
        """A file stands where the folder should be: the sentence says so, and the rows stay."""
        process = self.start_run(*self.settings(), rows=5)
        process.send_signal(signal.SIGSTOP)
        (self.folder / "out" / "checkpoints").write_text("mine")
        process.send_signal(signal.SIGTERM)
        process.send_signal(signal.SIGCONT)
        self.assert_refused(self.finish(process), 1, "out/checkpoints")
        self.assertGreater(len(self.history()), 4)
        self.assertEqual((self.folder / "out" / "checkpoints").read_text(), "mine")


class Extended(RestartTest):
    """A complete run that more steps are asked of, by --restart latest --output DIR: all that was set for it still
    holds."""

    settings = sets("seed=4", "output.history.every=5", "output.checkpoints.minutes=60")

    def setUp(self):
        super().setUp()
        self.made_once("out", lambda: self.run_straight(*self.settings, folder="out"))

    def extend(self, steps, *options):
        return self.run_well("run", "--restart", "latest", "--output", "out", "--steps", steps, *options).stdout

    def test_no_step_is_made_again(self):
        """The last step, which is no multiple of any `every`, left a checkpoint."""
        self.assertEqual(self.checkpoints(), ["checkpoint_23.h5"])
        said = self.extend(40)
        self.assertIn("goes on from step 23, from out/checkpoints/checkpoint_23.h5\n", said)
        self.assertNotIn("again", said)
        self.run_straight(*self.settings, "--steps", "40")
        self.assertEqual(self.read("out/history.csv"), self.read("straight/history.csv"))
        self.assertRegex((self.folder / "out" / "config.yaml").read_text(), r"(?m)^seed: 4 ")
        self.assertRegex((self.folder / "out" / "manifest.yaml").read_text(), r"(?m)^state: complete\nstep: 40$")

    def test_a_changed_config_of_the_run_is_not_taken(self):
        config = self.folder / "out" / "config.yaml"
        config.write_text(config.read_text()[:-200])
        words = "out/config.yaml was changed or damaged after the run wrote it"
        self.refuse(2, words, "run", "--restart", "latest", "--output", "out", "--steps", "40")

    def test_steps_that_are_made_again_are_counted(self):
        self.extend(40, *sets("output.checkpoints.minutes=0"))
        history = self.read("out/history.csv")
        said = self.extend(45)
        again = "makes 17 steps again, which the complete run has"
        self.assertIn(f"goes on from step 23, from out/checkpoints/checkpoint_23.h5\n{again}", said)
        self.assertTrue(self.read("out/history.csv").startswith(history))

    def test_the_config_of_the_run_is_the_last_one(self):
        """Also where the run ended before a checkpoint knew of it."""
        log = self.folder / "out" / "log.txt"
        for times, options in enumerate((["--steps", "1000000"], []), 1):
            process = start("run", "--restart", "latest", "--output", "out", *options, folder=self.folder)
            self.addCleanup(process.kill)
            self.assertTrue(self.wait_for(lambda: log.read_text().count("1000000 steps of 0.1") == times, process))
            process.kill()
            self.finish(process)
            self.assertEqual(self.checkpoints(), ["checkpoint_23.h5"])

    def test_a_config_that_lacks_what_was_set_is_refused(self):
        result = self.run_program("run", "small.yaml", "--restart", "latest", "--steps", "40")
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertIn("seed: the checkpoint has 4, the config 1\n", result.stderr)
        self.assertIn("; --restart latest --output DIR takes the run's own config\n", result.stderr)


class TakenOn(RestartTest):
    def setUp(self):
        super().setUp()
        self.options = [*self.settings(), *sets("output.checkpoints.every=150")]
        self.made_once("out", lambda: self.run_straight(*self.options, folder="out"))
        self.assertEqual(self.checkpoints(), ["checkpoint_300.h5", "checkpoint_400.h5"])

    def test_to_more_steps(self):
        self.run_straight(*self.options, "--steps", "500")
        for folder, arguments in {
            "its config": ["small.yaml", *self.options, "--steps", "500", "--restart", "latest"],
            "no config": ["--steps", "500", "--restart", "no config/checkpoints/checkpoint_300.h5"],
            "checkpoints": [*sets("time.steps=500"), "--restart", "checkpoints/checkpoints"],
            "a run": ["--steps", "500", "--restart", "./a run/"],
        }.items():
            with self.subTest(folder=folder):
                shutil.copytree(self.folder / "out", self.folder / folder)
                self.run_well("run", *arguments, "--output", folder, "--quiet")
                self.assert_same_run(folder, steps=500)
                self.assertEqual(self.checkpoints(folder), ["checkpoint_450.h5", "checkpoint_500.h5"])
                config = (self.folder / folder / "config.yaml").read_text()
                self.assertRegex(config, r"(?m)^  steps: 500 +#")
                self.assertRegex(config, rf"(?m)^  directory: \"?{folder}\"? +#")

    def test_into_a_new_folder(self):
        before = self.everything()
        self.run_well("run", "--restart", "out/checkpoints/checkpoint_300.h5", "--output", "new", "--quiet")
        self.assertEqual(self.everything(), before)
        old, new = ((self.folder / folder / "history.csv").read_text().splitlines() for folder in ("out", "new"))
        self.assertEqual(new, [old[0], *old[1 + 150 :]])
        self.assertEqual(self.names("new/snapshots"), ["data.pmd", "data_300.h5", "data_400.h5"])
        self.assertEqual(self.snapshot("new", 400), self.snapshot("out", 400))

    def test_another_run_is_not_gone_on_with(self):
        """A folder that holds a run goes on only from checkpoints of its own."""
        shutil.copytree(self.folder / "out", self.folder / "other")
        before = self.everything("other")
        arguments = ["run", "--restart", "out/checkpoints/checkpoint_300.h5", "--output", "other"]
        self.refuse(2, ["folder other ", "--force"], *arguments)
        self.assertEqual(self.everything("other"), before)
        self.run_well(*arguments, "--force", "--quiet")
        self.assertEqual(self.history("other")[0]["step"], "300")

    def test_constants_are_their_values(self):
        """A restart takes a config with them as one without; one that nothing uses any more is refused."""
        constants = sets("constants={n: 2^7, m: 3*n}", "species.electrons.particles=16*n", "output.checkpoints.every=m")
        more = ["small.yaml", *self.options, *constants, "--output", "out", "--restart", "latest", "--quiet"]
        self.run_well("run", *more, "--steps", "401")
        echo = (self.folder / "out" / "config.yaml").read_text()
        self.assertRegex(echo, r"(?ms)^constants:[^\n]*\n  n: 128\n  m: 384\n.* particles: 2048 .* every: 384 ")
        self.run_well("run", "small.yaml", *self.options, "--steps", "402", "--restart", "latest", "--quiet")
        result = self.run_program("run", *more, *sets("constants.n=2^8"))
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertIn("species.electrons.particles: the checkpoint has 2048, the config 4096\n", result.stderr)
        self.run_well("run", *more, "--steps", "403")
        self.refuse(2, ["--set constants.n=2^8: constants.n: no number and no formula of the config uses it"],
                    "run", "--restart", "latest", "--output", "out", *sets("constants.n=2^8"))

    def test_at_its_end(self):
        """Nothing is left to do but the last step."""
        before = self.read("out/history.csv")
        self.run_well("run", "--restart", "latest", "--output", "out", "--quiet")
        self.assertEqual(self.read("out/history.csv"), before)

    def test_other_kernels(self):
        """A restart with them says so, one with the same ones elsewhere does not."""
        more = ["run", "small.yaml", *self.options, "--quiet"]
        self.assertEqual(self.run_well(*more, "--steps", "401", "--resume", environment=self.with_kernels()).stderr, "")
        with h5py.File(self.folder / "out" / "checkpoints" / "checkpoint_401.h5") as file:
            old = f"{file.attrs['kernelsDigest']:016x}"
        other = self.with_kernels(("push.cl", "#include", "//\n#include"))
        for how in (["--resume"], ["--restart", "out/checkpoints/checkpoint_401.h5"]):
            said = self.run_well(*more, "--steps", "402", *how, environment=other).stderr
            warning = r"\Awarning: the kernels in own kernels have digest \w{16}, but .* checkpoint had"
            self.assertRegex(said, rf"{warning} {old}: .*\n\Z")
        with h5py.File(self.folder / "out" / "checkpoints" / "checkpoint_402.h5") as file:
            self.assertIn(f"have digest {file.attrs['kernelsDigest']:016x}, but", said)

    def test_other_output(self):
        """What does not shape the state may change."""
        options = sets("output.history.every=5", "output.snapshots.every=0", "title=Again", "time.check_every=1")
        self.run_well("run", "--restart", "out/checkpoints/checkpoint_300.h5", *options, "--output", "new", "--quiet")
        self.assertEqual([int(row["step"]) for row in self.history("new")], list(range(300, 401, 5)))

    def test_what_is_refused(self):
        for broken in ("broken", "none"):
            (self.folder / broken / "checkpoints").mkdir(parents=True)
        (self.folder / "broken" / "checkpoints" / "checkpoint_5.h5").write_bytes(b"nothing")
        before = self.everything(".")
        here = ["--output", "out", "--restart", "latest"]
        broken = ["broken/checkpoints holds no whole", "checkpoint_5.h5"]
        modes = sets("output.history.modes=[[1, 1]]")
        for arguments, code, *words in (
            (["small.yaml", *self.settings(), *sets("grid.cells=[8, 8]"), *here], 2, "grid.cells"),
            ([*sets("time.step=0.2"), *here], 2, "time.step"),
            ([*sets("species.electrons.mass=2"), "--restart", "out/checkpoints/checkpoint_300.h5"], 2, "mass"),
            ([*sets("precision=double"), "--restart", "out"], 2, "precision"),
            ([*sets("time.step=nan"), "--restart", "out"], 2, "--set time.step=nan"),
            ([*modes, "--restart", "out"], 2, "output.history.modes", "out/history.csv"),
            (["--steps", "200", "--restart", "out"], 2, "time.steps", "200", "400"),
            (["--restart", "latest"], 2, "--restart latest", "CONFIG", "--output"),
            (["small.yaml", "--output", "away", "--restart", "latest"], 2, "--restart latest", "away/checkpoints"),
            (["--output", "none", "--restart", "latest"], 2, "--restart latest", "none/checkpoints"),
            (["--restart", "none.h5"], 2, "--restart none.h5: there is no checkpoint", "No such file"),
            (["--restart", "out/snapshots"], 2, "out/snapshots"),
            (["--restart", ""], 2, "--restart"),
            (["--restart"], 2, "--restart"),
            (["missing.yaml", "--restart", "out"], 2, "missing.yaml"),
            (["--output", "broken", "--restart", "latest"], 1, *broken),
            (["small.yaml", *self.settings(), *here, "--force"], 2, "--force", "folder out"),
            (["--restart", "small.yaml"], 2, "small.yaml"),
            (["--restart", "out/snapshots/data_100.h5"], 2, "out/snapshots/data_100.h5"),
            (["--restart", "out/history.csv"], 2, "out/history.csv"),
        ):
            with self.subTest(arguments=arguments):
                result = self.run_program("run", *arguments)
                self.assertEqual(result.returncode, code, result.stderr)
                for word in words:
                    self.assertIn(word, result.stderr)
                self.assertEqual(self.everything("."), before)
