"""What the fault tests share: a run on one rank or two that leaves checkpoints, its ranks as processes, and its last
state as bytes. RADIXPIC_SOAK=1 takes every count in full."""

import contextlib
import os
import re
import shutil
import signal
import sys
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "cli"))

from program import MPI_ENVIRONMENT, PROGRAM, TIMEOUT, ProgramTest, contents, start  # noqa: E402

SOAK = os.environ.get("RADIXPIC_SOAK", "0") not in ("", "0")
RANKS = (1, 2) if shutil.which("mpirun") else (1,)

# Two species, one with ids; a state of 200 kB, which takes several writes.
CONFIG = """\
title: Fault
grid: {cells: [16, 8], length: [6, 4]}
time: {step: 0.1, steps: 120}
species:
  - {name: electrons, charge: -1, mass: 1, density: 1, particles: 6144, ids: true, velocities: {kind: maxwellian},
     perturb: {density: [{axis: x, mode: 1, amplitude: 0.1}]}}
  - {name: ions, charge: 1, mass: 100, density: 1, particles: 2048, velocities: {kind: maxwellian}}
output:
  directory: out
  history: {every: 1}
  checkpoints: {every: 3, keep: 2}
"""


def times(reduced, full):
    return full if SOAK else reduced


def state(pid):
    """The letter of a process in /proc, such as T for one that is stopped; Z where there is none, too."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return "Z"


def is_alive(pid):
    return state(pid) != "Z"


def signal_all(pids, number):
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)


def step_of(name):
    return int(re.search(r"(\d+)\.h5$", name)[1])


class FaultTest(ProgramTest):
    """Every test has a folder with fault.yaml in it, where also the temporary files of mpirun go."""

    config = CONFIG

    def setUp(self):
        super().setUp()
        (self.folder / "fault.yaml").write_text(self.config)
        self.environment = {
            **MPI_ENVIRONMENT,
            "TMPDIR": str(self.folder),
            # what ranks share lies there, too: nobody tidies up after an mpirun that was killed
            "OMPI_MCA_btl_vader_backing_directory": str(self.folder),
        }

    def command(self, ranks, *before):
        """The program on some ranks; `before` is what each of them starts first."""
        return [*(("mpirun", "-n", str(ranks)) if ranks > 1 else ()), *map(str, before), PROGRAM]

    def run_on(self, ranks, *arguments, before=(), **options):
        return self.run_program(
            *arguments, command=self.command(ranks, *before), environment=self.environment, **options
        )

    def start_on(self, ranks, *arguments, before=()):
        """A running program with its output in files: no pipe outlives it in a rank left over."""
        with open(self.folder / "stdout", "w") as stdout, open(self.folder / "stderr", "w") as stderr:
            options = {"command": self.command(ranks, *before), "environment": self.environment}
            process = start(*arguments, folder=self.folder, **options, stdout=stdout, stderr=stderr)
        self.addCleanup(process.kill)
        return process

    def said(self, stderr=None):
        return super().said((self.folder / "stderr").read_text() if stderr is None else stderr)

    def assert_sentence(self, words, stderr=None):
        """One sentence, which matches the words; returns it."""
        said = self.said(stderr)
        self.assertEqual(len(said), 1, said)
        self.assertRegex(said[0], words)
        return said[0]

    def assert_failed(self, result, words):
        """Exit code 1 and one sentence, which matches the words; returns it."""
        self.assertEqual(result.returncode, 1, result.stderr)
        return self.assert_sentence(words, stderr=result.stderr)

    def there_now(self, process, ranks):
        """The process ids of the ranks."""
        if ranks == 1:
            return [process.pid]
        return [int(word) for word in Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()]

    def processes(self, process, ranks):
        """The process ids of all ranks, once they are there."""
        all_there = lambda: len(self.there_now(process, ranks)) == ranks
        self.assertTrue(self.wait_for(all_there, process), (self.folder / "stderr").read_text())
        return self.there_now(process, ranks)

    def wait_for_all(self, pids, process):
        """All of them end; returns the seconds they took."""
        begin = time.monotonic()
        while process.poll() is None or any(map(is_alive, pids)):
            if time.monotonic() - begin > TIMEOUT:
                left = [pid for pid in pids if is_alive(pid)]
                signal_all({process.pid, *left}, signal.SIGKILL)
                process.wait()
                self.fail(f"{len(left)} of {len(pids)} ranks run on; {(self.folder / 'stderr').read_text()}")
            time.sleep(0.002)
        return time.monotonic() - begin

    def files(self, folder="out"):
        """Of all files among the checkpoints, unfinished ones too."""
        path = self.folder / folder / "checkpoints"
        return os.listdir(path) if path.is_dir() else []

    def checkpoints(self, folder="out"):
        """The files of whole checkpoints, oldest first."""
        return sorted((name for name in self.files(folder) if not name.startswith(".")), key=step_of)

    def state(self, folder, name=None):
        """All that is in a checkpoint, the newest unless told, but the config, which names the folder."""
        content = contents(self.folder / folder / "checkpoints" / (name or self.checkpoints(folder)[-1]))
        self.assertIn("particles/electrons/velocity", content)
        return {name: value for name, value in content.items() if name != "config"}

    def assert_same_run(self, folder, straight):
        """Byte for byte the history of the other run, bit for bit its last state."""
        self.assertEqual(*(self.read(f"{each}/history.csv") for each in (folder, straight)))
        self.assertEqual(self.checkpoints(folder)[-1], self.checkpoints(straight)[-1])
        self.assertEqual(self.state(folder), self.state(straight))


class OnRanks:
    """Before FaultTest: check(ranks) on one rank and on two."""

    def test_one_rank(self):
        self.check(1)

    @unittest.skipUnless(2 in RANKS, "no mpirun")
    def test_two_ranks(self):
        self.check(2)
