#!/usr/bin/python3
"""A disk that fills while a checkpoint is being written, at any byte of it: the sentence names the file and the
system's reason, the exit code is 1, and the checkpoint before it is one to go on from.

A real full disk is a small tmpfs in a mount namespace of the program's own, which takes root; a limit of the file's
size, which anyone can set, stands for it elsewhere."""

import errno
import random
import resource
import shutil
import subprocess
import unittest

from faults import CONFIG, TIMEOUT, FaultTest, OnRanks, start, step_of, times
from folders import RESUME, FolderTest, difference

OFFSETS = times(2, 10)  # of each kind of disk
PAGE = 4096  # in which tmpfs counts

# Fills a disk of SIZE bytes with the run in `base`, runs COMMAND on it, and brings what it left into `left`.
ON_SMALL_DISK = """
size=$1; shift
mount -t tmpfs -o size="$size" none disk && cp -a base/. disk || exit 99
"$@"
code=$?
cp -a disk left
exit $code
"""
UNSHARE = ["unshare", "--mount"]


def can_mount(folder):
    if not shutil.which("unshare"):
        return False
    command = [*UNSHARE, "mount", "-t", "tmpfs", "-o", "size=64k", "none", str(folder)]
    return subprocess.run(command, capture_output=True).returncode == 0


class DiskFull(FaultTest):
    """A run of 40 steps is gone on with to 60; its next checkpoint, of step 50, is the one that does not fit. The
    history has no row between."""

    config = CONFIG.replace("history: {every: 1}", "history: {every: 1000000}").replace("every: 3,", "every: 10,")

    def setUp(self):
        super().setUp()
        self.chance = random.Random(1)
        self.met = 0

    def check_failed(self, result, folder, reason):
        """One sentence with the reason, and nothing but the two checkpoints before."""
        said = self.assert_failed(result, rf"^radixpic: .*disk/.*{reason}")
        self.assertNotIn("signal", result.stderr)
        self.assertIn(said.partition(": ")[2], (self.folder / folder / "log.txt").read_text())
        self.assertEqual(len(self.files(folder)), 2, self.files(folder))
        self.met += "checkpoints/checkpoint_" in said


class SmallDisk(OnRanks, DiskFull):
    def prepare(self, ranks):
        for folder, steps in (("base", "40"), ("straight", "60")):
            self.run_well_on(ranks, "run", "fault.yaml", "--quiet", "--steps", steps, "--output", folder)
        return (self.folder / "base" / "checkpoints" / "checkpoint_40.h5").stat().st_size

    def run_on_disk(self, ranks, room):
        """With room for this part of the next checkpoint and the little that a start writes."""
        for folder in ("disk", "left"):
            shutil.rmtree(self.folder / folder, ignore_errors=True)
        (self.folder / "disk").mkdir()
        files = [path for path in (self.folder / "base").rglob("*") if path.is_file()]
        held = sum(-(-path.stat().st_size // PAGE) * PAGE for path in files)
        words = [*UNSHARE, "sh", "-c", ON_SMALL_DISK, "sh", str(held + room + PAGE), *self.command(ranks)]
        arguments = ["run", "--restart", "latest", "--steps", "60", "--output", "disk"]
        return self.run_program(*arguments, command=words, environment=self.environment)

    def check(self, ranks):
        if not can_mount(self.folder):
            self.skipTest("no small disk can be mounted here")
        size = self.prepare(ranks)
        offsets = [0, size - 4 * PAGE, *(self.chance.randrange(size - 4 * PAGE) for _ in range(OFFSETS - 2))]
        for offset in offsets:
            with self.subTest(offset=offset):
                self.check_failed(self.run_on_disk(ranks, offset), "left", "No space left on device")
                for name in self.files("left"):
                    before, after = (self.folder / each / "checkpoints" / name for each in ("base", "left"))
                    self.assertEqual(before.read_bytes(), after.read_bytes())
                result = self.run_well_on(ranks, "run", "--restart", "latest", "--steps", "60", "--output", "left")
                self.assertIn("goes on from step 40, ", result.stdout)
                self.assert_same_run("left", "straight")
        print(f"{ranks} rank(s), disk full: {len(offsets)} times, {self.met} in the checkpoint of {size} bytes")
        self.assertGreaterEqual(self.met, len(offsets) // 2)


class LimitOfSize(DiskFull):
    """The limit comes once MPI has started, which needs larger files: after the second checkpoint of a long run."""

    def run_until_full(self, size):
        shutil.rmtree(self.folder / "disk", ignore_errors=True)
        arguments = ["run", "fault.yaml", "--steps", "1000000", "--set", "output.checkpoints.every=100"]
        process = start(*arguments, "--output", "disk", folder=self.folder, environment=self.environment, text=True)
        self.assertTrue(self.wait_for(lambda: len(self.checkpoints("disk")) == 2, process))
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (size, size))
        stdout, stderr = process.communicate(timeout=TIMEOUT)
        return subprocess.CompletedProcess(arguments, process.returncode, stdout, stderr)

    def test_one_rank(self):
        self.run_well_on(1, "run", "fault.yaml", "--quiet", "--steps", "20", "--output", "straight")
        size = (self.folder / "straight" / "checkpoints" / "checkpoint_20.h5").stat().st_size
        for offset in (PAGE, size - 1, *(self.chance.randrange(PAGE, size) for _ in range(OFFSETS - 2))):
            with self.subTest(offset=offset):
                self.check_failed(self.run_until_full(offset), "disk", "File too large")
                step = step_of(self.checkpoints("disk")[-1])
                end = ["--steps", str(step + 100), "--set", "output.checkpoints.every=100"]
                result = self.run_well_on(1, "run", "--restart", "latest", *end, "--output", "disk")
                self.assertIn(f"goes on from step {step}, ", result.stdout)
                self.run_well_on(1, "run", "fault.yaml", "--quiet", "--force", *end, "--output", "straight")
                self.assert_same_run("disk", "straight")
        print(f"1 rank(s), file too large: {OFFSETS} times, {self.met} in a checkpoint of {size} bytes")
        self.assertEqual(self.met, OFFSETS)


class TextFiles(FolderTest):
    """No room for what is written first, after an older content was removed and the file opened."""

    def test_each(self):
        whole = self.run_well_in(self.place("whole"), "run", "fault.yaml")
        for name, written, call in (
            ("config.yaml", ".config.yaml.tmp", 3),
            ("manifest.yaml", ".manifest.yaml.tmp", 3),
            ("history.csv", "history.csv", 2),
        ):
            with self.subTest(name=name):
                folder = self.place(name)
                below = f"out/{written}"
                result = self.run_in(folder, "run", "fault.yaml", call=call, action=errno.ENOSPC, below=below)
                self.assert_failed(result, f"cannot write out/{name}: No space left")
                self.assertEqual(difference(self.run_well_in(folder, *RESUME), whole), "")


if __name__ == "__main__":
    unittest.main()
