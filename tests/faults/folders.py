"""What the tests of whole run folders share: tiny runs with every kind of output, a fault at a chosen file-system call
(kill_at.c), and what a folder holds, without what differs from one run to the next: dates, times, run ids."""

import os
import re
import shutil
import subprocess
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from faults import TIMEOUT, FaultTest, start
from program import DEVICE, PROGRAM, ROOT, contents

KILL_AT = os.environ.get("RADIXPIC_KILL_AT", str(ROOT / "build" / "tests" / "libkill_at.so"))  # "" with sanitizers
NO_KILL_AT = "the sanitizers and the library that counts calls exclude one another"
CONFIG = f"""\
title: Folder
grid: {{cells: [16, 8], length: [6, 4]}}
time: {{step: 0.1, steps: 12}}
species:
  - {{name: electrons, charge: -1, mass: 1, density: 1, particles: 512, ids: true, velocities: {{kind: maxwellian}},
     perturb: {{density: [{{axis: x, mode: 1, amplitude: 0.1}}]}}}}
device: {DEVICE}
output:
  directory: out
  history: {{every: 1}}
  snapshots: {{every: 5, fields: [rho]}}
  phase_space:
    - {{species: electrons, every: 10,
       axes: [{{axis: x, bins: 8, range: [0, 6]}}, {{axis: u, bins: 8, range: [-4, 4]}}]}}
  moments: {{every: 10}}
  probes: [{{name: centre, at: [3, 2], every: 2}}]
  tracks: {{species: electrons, count: 3, every: 2}}
  lines: [{{name: across, from: [0, 1], to: [6, 1], points: 5, fields: [rho], every: 10}}]
  checkpoints: {{every: 3, keep: 3}}
"""
NEW = ["--set", "output.history.every=2"]  # of a run that replaces the old one: by its rows they are told apart
RESUME = ["run", "fault.yaml", "--resume"]
DIFFERENT = {"log.txt", "timers.csv", ".lock", "files.txt"}  # in every run


def config_in(path):
    """A config.yaml but for its head, which says by what command and when."""
    return re.sub(rb"(?m)^# .*\n", b"", path.read_bytes())


def content(folder):
    """By the name of each file below a run folder what it holds."""
    found = {}
    for path in folder.rglob("*"):
        if path.name in DIFFERENT or path.is_dir():
            found[str(path.relative_to(folder))] = None
        elif path.name == "manifest.yaml":  # ids and digests have 16 digits
            text = re.sub(r"(?m)^from:.*\n|, files\.txt: \[[^]]*\]", "", path.read_text())
            found[path.name] = re.sub(r"\b[0-9a-f]{16}\b", "*", text)
        elif path.name == "config.yaml":
            found[path.name] = config_in(path)
        else:
            found[str(path.relative_to(folder))] = contents(path) if path.suffix == ".h5" else path.read_bytes()
    return found


def difference(one, other):
    """Of two contents, as the names in which they differ; empty where there is none."""
    names = [name for name in sorted({*one, *other}) if one.get(name, 0) != other.get(name, 0)]
    inner = [(one.get(name), other.get(name)) for name in names]
    inner = [both for both in inner if isinstance(both[0], dict) and isinstance(both[1], dict)]
    return ", ".join(names) + "".join(f" ({difference(*both)})" for both in inner[:1])


@unittest.skipUnless(KILL_AT, NO_KILL_AT)
class FolderTest(FaultTest):
    config = CONFIG

    def setUp(self):
        super().setUp()
        self.assertTrue(Path(KILL_AT).is_file(), f"{KILL_AT} is not built")

    def place(self, name, base=None):
        """A folder of its own to run in, at first as `base` was left."""
        folder = self.folder / name
        shutil.copytree(base, folder) if base else folder.mkdir()
        (folder / "fault.yaml").write_text(self.config)
        return folder

    def start_in(self, folder, *arguments, ranks=1, call=0, action="", record=None, below="out"):
        """With a file in which to record, calls on the folder itself count too; `below` may be a single file."""
        (folder / "count").unlink(missing_ok=True)  # another process may still count in the last one
        (folder / "count").write_bytes(bytes(8))
        # Open MPI fails where an mpirun that ends removes ompi.HOST.UID while another begins: each has it in a folder
        # of its own.
        apart = {"TMPDIR": folder, "OMPI_MCA_btl_vader_backing_directory": folder}
        faults = {"FAULT_COUNTER": folder / "count", "FAULT_CALL": call, "FAULT_ACTION": action}
        faults |= {"FAULT_FOLDER": folder, "FAULT_RECORD": record} if record else {"FAULT_FOLDER": folder / below}
        faults |= {**apart, "LD_PRELOAD": KILL_AT}
        environment = {**self.environment, **{key: str(value) for key, value in faults.items()}}
        return start(*arguments, folder=folder, command=self.command(ranks), environment=environment, text=True)

    def finish_in(self, process):
        stdout, stderr = process.communicate(timeout=TIMEOUT)
        return subprocess.CompletedProcess(process.args, process.returncode, stdout, stderr)

    def run_in(self, folder, *arguments, **options):
        return self.finish_in(self.start_in(folder, *arguments, **options))

    def kinds(self, ranks):
        """By its name what a start finds in its folder, and its arguments."""
        old, part, broken = (self.place(name) for name in ("old", "part", "broken"))
        self.run_well_in(old, "run", "fault.yaml", ranks=ranks)
        half = self.calls(old) // 2
        self.run_well_in(part, "run", "fault.yaml", "--steps", "6", ranks=ranks)
        self.run_in(broken, "run", "fault.yaml", ranks=ranks, call=half, action="kill")
        return {
            "fresh": (None, ["run", "fault.yaml"]),
            "latest": (part, ["run", "fault.yaml", "--restart", "latest"]),
            "older": (old, ["run", "fault.yaml", "--restart", "out/checkpoints/checkpoint_6.h5", *NEW]),
            "force": (old, ["run", "fault.yaml", "--force", *NEW]),
            "resume": (broken, RESUME),
        }

    def run_well_in(self, folder, *arguments, **options):
        result = self.run_in(folder, *arguments, **options)
        self.assertEqual((result.returncode, self.said(result.stderr)), (0, []), result.stderr)
        return content(folder / "out")

    def damage(self, folder):
        """What `radixpic check` finds wrong in the run folder, where there is one."""
        if not (folder / "out" / "manifest.yaml").exists():
            return ""
        result = subprocess.run([PROGRAM, "check", "out"], cwd=folder, capture_output=True, text=True, timeout=TIMEOUT)
        return f"check: {result.stdout}{result.stderr}" if result.returncode else ""

    def calls(self, folder):
        """How many the last run in it made."""
        return int.from_bytes((folder / "count").read_bytes(), "little")

    def check_resume(self, folder, ranks, settings, old, new):
        """What is wrong: after --resume the folder has to be that of a run without a fault, the old one or the new."""
        if damage := self.damage(folder):
            return damage
        result = self.run_in(folder, *RESUME, *settings, ranks=ranks)
        if result.returncode:
            return f"--resume: {result.returncode}, {result.stderr}"
        if damage := self.damage(folder):
            return damage
        found = content(folder / "out")
        is_old = settings and found["history.csv"] == old["history.csv"]
        if is_old:  # a complete run, which stays as it is, and what never became its manifest too
            found.pop(".manifest.yaml.tmp", None)
        return difference(found, old if is_old else new)

    def check_all(self, check, cases):
        """check(case) returns what is wrong, or nothing; as many at once as there are processors."""
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            wrong = [f"{case}: {found}" for case, found in zip(cases, pool.map(check, cases)) if found]
        self.assertEqual(wrong, [], f"{len(wrong)} of {len(cases)}")
