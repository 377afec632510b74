#!/usr/bin/python3
"""A run folder holds one line of history: what was abandoned is removed and never gone on with, what is missing or
changed is refused, and `--resume` starts, goes on or is done."""

import fcntl
import os
import re
import shutil
import signal
import unittest

from program import sets, start
from test_restart import RestartTest

RUN = ["run", "small.yaml", *sets("output.history.every=1", "output.snapshots.every=20")]
RUN += sets("species.electrons.particles=2048", "output.checkpoints.every=20", "output.checkpoints.keep=5")
RUN += ["--steps", "90"]
LATEST = ["--restart", "latest"]
WAYS = {"latest": LATEST, "a file": ["--restart", "out/checkpoints/checkpoint_60.h5"], "resume": ["--resume"]}


class RunFolder(RestartTest):
    def setUp(self):
        super().setUp()
        self.made_once("out", lambda: self.run_well(*RUN))

    def assert_untouched(self, arguments, code, *words):
        """Refused, and all files as they were; the lock may be there."""
        before = self.everything()
        self.assert_refused(self.run_program(*RUN, *arguments), code, *words)
        changed = {path for path, value in self.everything().items() if before.get(path, ())[1:] != value[1:]}
        self.assertEqual(changed - {str(self.folder / "out" / ".lock")}, set())

    def test_an_abandoned_branch(self):
        """From an older checkpoint for some steps and no checkpoint: `latest` is that one, and nothing later is
        left."""
        shutil.copytree(self.folder / "out", self.folder / "straight")
        older = ["--restart", "out/checkpoints/checkpoint_20.h5", "--steps", "30"]
        self.run_well(*RUN, *older, *sets("output.checkpoints.every=0"))
        self.assertEqual([int(row["step"]) for row in self.history()], list(range(31)))
        self.assertEqual(self.names("out/checkpoints"), ["checkpoint_20.h5"])
        self.assertEqual(self.names("out/snapshots"), ["data.pmd", "data_0.h5", "data_20.h5", "data_30.h5"])
        self.run_well(*RUN, *LATEST)
        self.assertEqual(self.read("out/history.csv"), self.read("straight/history.csv"))
        for folder in ("checkpoints", "snapshots"):
            self.assertEqual(self.names(f"out/{folder}"), self.names(f"straight/{folder}"))

    def test_a_lock_without_a_name(self):
        """Until the process that has taken the lock signs it, its file names the last run, which has ended: the
        sentence names none."""
        with open(self.folder / "out" / ".lock", "r+") as lock:
            fcntl.lockf(lock, fcntl.LOCK_EX)
            self.assert_untouched(["--resume"], 2, "another run is writing to folder out; wait for its end")

    def test_a_changed_history(self):
        """Rows are missing before the checkpoint, as by `sed -i 20,40d`, or the file is; tests/unit/test_history.c has
        more."""
        path = self.folder / "out" / "history.csv"
        lines = path.read_bytes().splitlines(keepends=True)
        for changed in ([*lines[:19], *lines[40:]], []):
            path.write_bytes(b"".join(changed))
            for way, arguments in WAYS.items():
                with self.subTest(rows=len(changed), way=way):
                    if way != "resume":  # which has nothing left to do
                        self.assert_untouched(arguments, 2, "out/history.csv")
            self.assert_untouched(["--resume", "--steps", "100"], 2, "out/history.csv")

    def test_a_checkpoint_is_due_where_it_goes_on(self):
        """The one that the run goes on from is not written again, and the manifest stays whole."""
        before = (self.folder / "out" / "checkpoints" / "checkpoint_90.h5").stat().st_mtime_ns
        self.run_well(*RUN, *LATEST, *sets("output.checkpoints.minutes=1e-9"))
        self.assertEqual((self.folder / "out" / "checkpoints" / "checkpoint_90.h5").stat().st_mtime_ns, before)
        self.run_well(*RUN, "--resume", "--steps", "91")

    def test_what_cannot_be_read_is_not_passed_over(self):
        """It may be good, unlike one that is known to be damaged, and an older one in its place would remove it."""
        path = self.folder / "out" / "checkpoints" / "checkpoint_90.h5"
        path.unlink()
        path.mkdir()
        self.assert_untouched(LATEST, 1, "checkpoint_90.h5")

    def test_a_branch_without_a_checkpoint(self):
        """It does not begin anew from step 0."""
        shutil.move(self.folder / "out", self.folder / "first")
        older = ["run", "--restart", "first/checkpoints/checkpoint_20.h5", *sets("output.checkpoints.every=0")]
        self.run_well(*older, "--steps", "30", "--output", "out")
        self.assert_untouched(["--resume"], 2, "step 20", "--restart")

    def test_a_complete_run_has_all_its_files(self):
        for name in ("history.csv", "checkpoints/checkpoint_80.h5"):
            with self.subTest(name=name):
                path = self.folder / "out" / name
                content = path.read_bytes()
                path.unlink()
                self.assert_untouched(["--resume"], 2, path.name)
                self.assert_untouched(["--resume", "--steps", "100"], 2, path.name)
                path.write_bytes(content)
        self.run_well(*RUN, "--resume")

    def test_resume_to_fewer_steps(self):
        """One answer, whether the run is complete, was stopped, or has lost what it would go on from."""
        words = ["time.steps", "folder out", "90 steps", "85"]
        fewer = ["--resume", "--steps", "85"]
        self.assert_untouched(fewer, 2, *words)
        (self.folder / "out" / "checkpoints" / "checkpoint_90.h5").unlink()
        self.assert_untouched(fewer, 2, *words)
        self.assert_untouched(["--resume", "--steps", "95"], 2, "radixpic: --resume: ", "checkpoint_90.h5")
        self.assertEqual(self.stop_run(folder="other").returncode, 4)
        self.refuse(2, ["time.steps", "folder other"], "run", "small.yaml", "--output", "other", *fewer[:2], "1")

    def test_the_config_of_a_folder_means_the_folder(self):
        """Also when the folder has moved."""
        shutil.move(self.folder / "out", self.folder / "moved")
        for folder, config in ((".", "moved/config.yaml"), ("moved", "config.yaml")):
            result = self.finish(start("run", config, "--resume", folder=self.folder / folder))
            self.assertIn("nothing is left to do", result.stdout, result.stderr)
        self.assertFalse((self.folder / "out").exists())

    def test_a_history_that_is_removed_meanwhile(self):
        process = self.start_run(*sets("output.history.every=1"), rows=3, folder="other")
        (self.folder / "other" / "history.csv").unlink()
        process.send_signal(signal.SIGTERM)
        self.assert_refused(self.finish(process), 1, "other/history.csv was removed")

    def test_closed_standard_streams(self):
        for number in (0, 2):
            with self.subTest(number=number):
                result = self.run_program(*RUN, *LATEST, preexec_fn=lambda number=number: os.close(number))
                self.assertEqual(result.returncode, 0, result.stderr)

    def test_what_a_kill_leaves(self):
        """Unfinished files are removed by every start."""
        for arguments in (LATEST, ["--force"]):
            with open(self.folder / "out" / "files.txt", "ab") as files:  # as after a loss of power
                files.write(bytes(300) + b"_90.h5\n")
            for name in ("checkpoints", "snapshots"):
                (self.folder / "out" / name / ".unfinished.tmp").write_bytes(b"part")
            self.run_well(*RUN, *arguments)
            left = [path.name for path in (self.folder / "out").glob("*/.*")]
            self.assertEqual(left, [])

    def test_what_the_manifest_does_not_say(self):
        """A checkpoint that it does not name is none of the run's; one that it names has to be there; without it all is
        foreign."""
        checkpoints = self.folder / "out" / "checkpoints"
        self.run_well(*RUN, "--output", "other")
        shutil.copy(self.folder / "other" / "checkpoints" / "checkpoint_80.h5", checkpoints / "checkpoint_70.h5")
        self.assert_untouched(["--restart", "out/checkpoints/checkpoint_70.h5"], 2, "out/manifest.yaml does not name")
        (checkpoints / "checkpoint_90.h5").unlink()
        self.assert_untouched(LATEST, 2, "checkpoint_90.h5")
        manifest = self.folder / "out" / "manifest.yaml"
        text = manifest.read_text()
        manifest.write_text(text.replace("90", "80", 1))
        for arguments in (*WAYS.values(), ["--force"]):
            self.assert_untouched(arguments, 1, "out/manifest.yaml")
        manifest.unlink()
        for arguments in (*WAYS.values(), ["--force"], []):
            self.assert_untouched(arguments, 2, "manifest.yaml")

    def test_links_and_pipes(self):
        """Nothing outside the folder is written or removed, whatever in it is a link; the folder itself may be given by
        one."""
        outside = self.folder / "outside"
        outside.mkdir()
        texts = ["history.csv", "log.txt", "config.yaml", "timers.csv", "files.txt", ".lock"]
        for name in ("data_20.h5", "checkpoint_20.h5", *texts):
            (outside / name).write_text("mine")
        before = self.everything("outside")
        cases = [(name, "link") for name in ("snapshots", "checkpoints", *texts)]
        cases += [("history.csv", "pipe"), ("log.txt", "pipe")]
        for name, kind in cases:
            with self.subTest(name=name, kind=kind):
                path = self.folder / "out" / name
                path.rename(self.folder / "kept")
                if kind == "pipe":
                    os.mkfifo(path)
                else:
                    path.symlink_to(outside if (self.folder / "kept").is_dir() else outside / name)
                word = "symbolic link" if kind == "link" else "pipe"
                ways = (LATEST, ["--force"], ["--resume", "--steps", "95"])
                results = [self.run_program(*RUN, *each) for each in ways]
                path.unlink()
                (self.folder / "kept").rename(path)
                for result in results:
                    self.assert_refused(result, 2, f"out/{name}", word)
        for name in (".manifest.yaml.tmp", "snapshots/.unfinished.tmp"):
            (self.folder / "out" / name).symlink_to(outside / "data_20.h5")
        self.run_well(*RUN, *LATEST)
        (self.folder / "link").symlink_to("out")
        self.run_well(*RUN, "--output", "link", "--force")
        self.assertTrue((self.folder / "link").is_symlink())
        files = self.folder / "out" / "files.txt"
        whole = files.read_text()
        for name in (f"{outside}/data_20.h5", "../../outside/data_20.h5", f"data_20.h5/{outside}/data_20.h5"):
            files.write_text(f"{whole}{'-':18}snapshots/{name}\n")
            self.refuse(1, "out/", *RUN, "--force")
        self.assertTrue(self.everything("outside") == before)

    def test_files_of_the_user_stay(self):
        """Also where they are named as those of an output; one that the run would write is not overwritten."""
        probes = sets("output.probes=[{name: own, at: [0.1, 0.1], every: 1}]")
        names = ("snapshots/data_9999.h5", "checkpoints/checkpoint_7.h5", "probes/mine.csv")
        mine = [self.folder / "out" / name for name in names]
        self.run_well(*RUN, *probes, "--force")
        for path in mine:
            path.write_text("mine")
        for arguments in (["--restart", "out/checkpoints/checkpoint_20.h5"], LATEST, ["--force"]):
            self.run_well(*RUN, *probes, *arguments)
            self.assertEqual([path.read_text() for path in mine], ["mine"] * 3)
        self.run_well(*RUN, "--force")
        self.assertEqual(self.names("out/probes"), ["mine.csv"])
        own = sets("output.probes=[{name: mine, at: [0.1, 0.1], every: 1}]")
        self.refuse(2, ["out/probes/mine.csv", "not overwritten"], *RUN, *own, "--force")
        mine[2].unlink()
        mine[0].rename(self.folder / "out" / "snapshots" / "data_30.h5")
        often = sets("output.snapshots.every=10")
        self.refuse(1, ["out/snapshots/data_30.h5", "not overwritten"], *RUN, "--force", *often)
        self.assertEqual(self.read("out/snapshots/data_30.h5"), b"mine")

    def test_a_file_that_became_another_thing_is_refused_before_anything_is_removed(self):
        self.run_well(*RUN, *sets("output.snapshots.every=10"), "--force")
        checkpoints = self.names("out/checkpoints")
        snapshot = self.folder / "out" / "snapshots" / "data_10.h5"
        snapshot.unlink()
        for make in (snapshot.mkdir, lambda: snapshot.symlink_to("/dev/null"), lambda: os.mkfifo(snapshot)):
            make()
            self.refuse(2, "out/snapshots/data_10.h5 is no regular file", *RUN, "--force")
            self.assertEqual(self.names("out/checkpoints"), checkpoints)
            snapshot.rmdir() if snapshot.is_dir() else snapshot.unlink()

    def test_check_names_each_damaged_file(self):
        """A flipped bit, a byte more, a missing file, a link: one line each; a run that went on has digests of all
        files."""
        tracks = sets("output.tracks={species: electrons, count: 3, every: 10}", "species.electrons.ids=true")
        self.run_well(*RUN, *tracks, "--force", "--steps", "50")
        self.run_well(*RUN, *tracks, *LATEST)
        whole = self.run_well("check", "out").stdout
        self.assertRegex(whole, r"^out: \d+ files of a complete run are whole\n$")
        files = [path for path in (self.folder / "out").rglob("*") if path.is_file() and path.name != ".lock"]
        for path in sorted(files):
            text = path.read_bytes()
            name = str(path.relative_to(self.folder / "out"))
            with self.subTest(name=name):
                place = 0 if name == "files.txt" else len(text) - 2
                path.write_bytes(text[:place] + bytes([text[place] ^ 1]) + text[place + 1 :])
                result = self.run_program("check", "out")
                path.write_bytes(text)
                self.assertEqual(result.returncode, 1, result.stdout)
                self.assertRegex(result.stdout + result.stderr, rf"(?m)out/{re.escape(name)}:? (is )?damaged")
                self.assertLessEqual(len(result.stdout.splitlines()), 1)
        self.run_well("check", "out")
        (self.folder / "out" / "snapshots" / "data_20.h5").unlink()
        track = self.folder / "out" / "tracks" / "data_60.h5"
        track.rename(self.folder / "track.h5")
        track.symlink_to(self.folder / "track.h5")
        self.assert_refused(self.run_program("check", "out"), 1, "2 of ")
        lines = self.run_program("check", "out").stdout.splitlines()
        link = "out/tracks/data_60.h5: a symbolic link is not followed here"
        self.assertEqual(lines, ["out/snapshots/data_20.h5: missing", link])

    def test_check_of_what_is_no_whole_run(self):
        self.refuse(2, "out/checkpoints holds no manifest.yaml", "check", "out/checkpoints")
        self.run_well(*RUN, "--force", *sets("output.checkpoints.every=0"))
        (self.folder / "out" / "files.txt").unlink()
        self.assertEqual(self.run_program("check", "out").stdout, "out/files.txt: missing or empty\n")
        process = self.start_run(*sets("output.history.every=1"), rows=3, folder="other")
        self.refuse(2, f"another run is writing to folder other: process {process.pid}", "check", "other")
        process.kill()
        process.wait()
        self.assertRegex(self.run_well("check", "other").stdout, "files of an unfinished run are whole")

    def test_resume(self):
        """One command: complete, goes on, starts; not with another config."""
        before = self.everything()
        self.assertRegex(self.run_well(*RUN, "--resume").stdout, "complete")
        self.assertTrue(self.everything() == before)
        self.run_well(*RUN, "--resume", "--steps", "110")
        self.assertEqual([int(row["step"]) for row in self.history()], list(range(111)))
        before = self.everything("out/checkpoints")
        result = self.run_program(*RUN, "--resume", *sets("time.step=0.2"))
        self.assertEqual((result.returncode, "time.step" in result.stderr), (2, True))
        self.assertTrue(self.everything("out/checkpoints") == before)
        shutil.rmtree(self.folder / "out")
        self.run_well(*RUN, "--resume")
        self.assertEqual([int(row["step"]) for row in self.history()], list(range(91)))


if __name__ == "__main__":
    unittest.main()
