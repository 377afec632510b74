"""Runs of the program, one or a series."""

import contextlib
import itertools
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from radixpic.library import find_program
from radixpic.run_folder import Run
from radixpic.script import Problem, in_python


def plain(value):
    """A value as YAML, its numbers of numpy as Python's: numpy 2 would write np.float64(1.0)."""
    return json.dumps(value, default=lambda of_numpy: of_numpy.tolist())


def settings_of(values):
    """KEY=VALUE of each item: text stands as it is, all else as YAML."""
    return [f"{key}={value if isinstance(value, str) else plain(value)}" for key, value in (values or {}).items()]


def failure(stderr, code):
    """The sentence of the program, without what mpirun says before and after it; or that of mpirun alone. Open MPI 5
    ends its own with a NUL."""
    lines = stderr.replace("\0", "").splitlines()
    own = [number for number, line in enumerate(lines) if line.startswith("radixpic")]
    if own:
        lines = list(itertools.takewhile(lambda line: not line.startswith("-----"), lines[own[0] :]))
    sentence = "\n".join(line for line in lines if not line.startswith("-----")).strip().removeprefix("radixpic: ")
    return Problem(in_python(sentence) or f"the program ended with code {code}", code)


def of_process(path):
    """A file below /proc, empty where its process has ended."""
    try:
        return Path(path).read_text()
    except (ProcessLookupError, FileNotFoundError):
        return ""


def ranks_of(launcher):
    """The ranks that mpirun started on this machine. Those of others hang on its ssh, which an interrupt would end."""
    name = Path(find_program()).name[:15]  # as Linux cuts it
    pids = [pid for path in Path(f"/proc/{launcher}/task").glob("*/children") for pid in of_process(path).split()]
    return [int(pid) for pid in pids if of_process(f"/proc/{pid}/comm").strip() == name]


def stop(process, is_launcher):
    """Asks the program to end with a checkpoint, and waits for its end; a KeyboardInterrupt meanwhile is handed on. The
    program takes those of half a second, as by Ctrl-C in a terminal, for one; mpirun would give its ranks a second, or
    none, so those of this machine are asked themselves."""
    while process.poll() is None:
        for pid in (is_launcher and ranks_of(process.pid)) or [process.pid]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGINT)
        with contextlib.suppress(KeyboardInterrupt):
            process.communicate()  # what it prints until then


def run(config, set=None, output=None, device=None, steps=None, force=False, resume=False, ranks=1, quiet=False):
    """Runs the program on a config, showing its lines, only warnings (on the error output) if `quiet`, and returns the
    Run.

    set: {"time.step": 0.05, "grid.cells": [64, 64]}; output: its folder instead of the config's. force replaces a run
    that is there, resume goes on with it. ranks > 1 takes mpirun. A failure is a Problem with the program's sentence
    and code. An interrupt ends the program with a checkpoint, a second one at once.
    """
    launcher = ["mpirun", "-n", str(ranks)] if ranks > 1 else []
    if launcher and not shutil.which("mpirun"):
        raise Problem("there is no mpirun, which ranks > 1 take")
    command = [*launcher, find_program(), "run", config]
    for option, value in (("--output", output), ("--device", device), ("--steps", steps)):
        command += [option, value] if value is not None else []
    command += [word for setting in settings_of(set) for word in ("--set", setting)]
    command += ["--force"] * force + ["--resume"] * resume
    folder = None
    with tempfile.TemporaryFile("w+") as errors:
        options = {"stdout": subprocess.PIPE, "stderr": errors, "text": True, "errors": "replace"}
        with subprocess.Popen(list(map(str, command)), **options) as process:
            try:
                for line in process.stdout:
                    if not quiet or line.startswith("warning: "):
                        print(line, end="", flush=True, file=sys.stderr if quiet else sys.stdout)
                    if line.startswith("written to "):
                        folder = line[len("written to ") : -1]
            except BaseException as error:  # or what printing raises
                stop(process, bool(launcher))
                if not isinstance(error, KeyboardInterrupt):
                    raise
                errors.seek(0)
                raise KeyboardInterrupt(str(failure(errors.read(), process.returncode))) from None
        errors.seek(0)
        said = errors.read()
    if process.returncode:
        raise failure(said, process.returncode)
    if said:
        print(said, end="", file=sys.stderr)
    return Run(output or folder)


def cell_of(value):
    if isinstance(value, float):
        return f"{value:.6g}"
    return plain(value) if type(value) in (list, tuple) else str(value)


class Table(list):
    """Rows of a scan: a dict each, with the settings, "value" and "run". table["value"] is a column."""

    def __getitem__(self, key):
        return [row[key] for row in self] if isinstance(key, str) else super().__getitem__(key)

    def __str__(self):
        columns = [name for name in (self[0] if self else {}) if name != "run"]
        values = [[row[name] for name in columns] for row in self]
        cells = [[cell_of(value) for value in row] for row in [columns, *values]]
        widths = [max(map(len, column)) for column in zip(*cells)]
        return "\n".join("  ".join(cell.rjust(width) for cell, width in zip(row, widths)) for row in cells)


def scan(config, values, measure=None, output=None, set=None, **options):
    """Runs a config with every combination of values, {"fields.magnetic": [0, 0.5, 1]}, and measures each run.

    The runs go into folders below output, by default output/scan_CONFIG; options are those of run(): where some of
    them are there from an earlier scan, force=True runs them again and resume=True takes them as they are, or goes on
    with those that have not ended. Returns a Table.
    """
    base = Path(output or Path("output") / f"scan_{Path(config).stem}")
    table = Table()
    for combination in itertools.product(*values.values()):
        chosen = dict(zip(values, combination))
        name = ",".join(setting.replace(os.sep, "_") for setting in settings_of(chosen))
        done = run(config, set={**(set or {}), **chosen}, output=base / name, **{"quiet": True, **options})
        table.append({**chosen, "value": measure(done) if measure else None, "run": done})
    return table
