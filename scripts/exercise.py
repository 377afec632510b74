#!/usr/bin/python3
"""An exercise for a course on GPUs: the kernels of this program without the body of one function, to be written anew.

`start NAME` copies the kernels to output/exercise/NAME, without that body, and writes EXERCISE.md beside them, with the
task and the folded solution. `check NAME` runs the body that stands there beside the original. It says where the first
difference is; where there is none it times both, and prints the bytes that the stage moves, its share of a copy, and
what to try next.

Tables, keys and permutations have to agree in every bit, sums and moved particles up to round-off: 1e-5 of the largest.
"""

import csv
import multiprocessing
import os
import re
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path
from statistics import median
from typing import NamedTuple

from radixpic import Simulation
from radixpic.library import find_program
from radixpic.script import Problem, make_parser, run_script
from radixpic.script import numpy as np

EXAMPLES = """examples:
  scripts/exercise.py start histogram
  scripts/exercise.py check histogram
  scripts/exercise.py check deposit --device gpu --particles 16777216
"""
KERNELS = Path(__file__).resolve().parents[1] / "kernels"
LEFT_ITS_ARRAYS = "look for an index that leaves its array, or for a barrier that not all items of a group reach"
ROUND_OFF = 1e-5  # single precision, over the few steps and sums of a check


class Exercise(NamedTuple):
    """(file, function) of each body, the stage of `bench step` that it is timed by, and what to try next."""

    bodies: list
    stage: str
    next: str


EXERCISES = {
    "histogram": Exercise([("radix_sort.cl", "radix_histogram")], "sort:_histogram",
        "let items of a group read neighbouring keys (TRANSPOSED of kernels/README.md) and compare by"
        " `radixpic bench pic-sort --transpose on` and `off`; then let a group share one table by local atomics, and"
        " say why the sort is no longer stable"),
    "scan": Exercise([("radix_scan.cl", "radix_scan_parts")], "sort:_scan",
        "the original waits for its barriers, not for its bytes: give each item four entries, which it adds up before"
        " the sweeps; then leave out the words of local memory that share a bank (Harris, Sengupta and Owens, GPU Gems"
        " 3, chapter 39)"),
    "reorder": Exercise([("radix_sort.cl", "radix_reorder")], "sort:_reorder",
        "neighbouring items write to places far apart: sort a tile in local memory first, so that they write runs of"
        " equal digits, as kernels/tiled_sort.cl does; `radixpic bench pic-sort --method tiled` has its time on a GPU"),
    "deposit": Exercise(
        [("shared/deposit_vectors.h", "add_charge"), ("shared/deposit_groups.h", "sum_along_runs")], "deposit",
        "compare with atomic additions by `radixpic bench deposit`; then take --particles with 4 and with 4000 a cell,"
        " and say what each waits for"),
    "push": Exercise([("push.cl", "push_chunk")], "push",
        "let an item of a GPU load two particles before it pushes the first of them; then leave out the keys and count"
        " in place of them, as kernels/tiled_step.cl does"),
}
PASSES, KEYS = 2, 5001
# With G or I of the paper the load would sort by the body, too, and might move particles out of their list.
CONFIG = f"""\
title: Exercise
grid: {{cells: [16, 8], length: [16, 8]}}
time: {{step: 0.1, steps: 5}}
step: {{method: radix}}
sort: {{passes: {PASSES}}}
species:
  - {{name: electrons, charge: -1, mass: 1, density: 1, particles: {KEYS}, ids: true,
     positions: random, velocities: {{kind: maxwellian, generator: random}}}}
fields: {{magnetic: 0.5}}
output: {{history: {{every: 1, modes: []}}}}
"""

# ---- the text of a kernel ----


def find_head(text, function):
    return re.search(r"[\s*]" + function + r"\([^;{]*\)\n\{\n", text)


def body_of(text, function):
    """Where the body of a function begins and ends, as clang-format lays it out."""
    head = find_head(text, function)
    end = text.find("\n}\n", head.end() - 1) + 1 if head else 0
    if not end:
        raise Problem(f"there is no definition of {function}() with its braces in column 1: put its lines back")
    return head.end(), end


def comment_of(text, function):
    """The comment above a function, without its marks."""
    before = text[: find_head(text, function).start()]
    comment = before[before.rindex("/*") + 2 : before.rindex("*/")]
    return " ".join(line.lstrip(" *") for line in comment.splitlines()).strip()


def is_empty(folder, exercise):
    """Whether no body has more than comments."""
    for file, function in exercise.bodies:
        text = (folder / file).read_text()
        begin, end = body_of(text, function)
        if re.sub(r"(?s)/\*.*?\*/|//[^\n]*", "", text[begin:end]).strip():
            return False
    return True


# ---- start ----

PAGE = """\
# {name}

Write the body of {functions}, where the file says so. Comments of the file say what its neighbours do, and
[README.md](README.md) what the names in capitals are. Then

    {check}

runs it beside the original: first whether both give the same, then how long each takes. To run a simulation with it:

    RADIXPIC_KERNELS={folder} radixpic run configs/two_stream.yaml --set step.method=radix --set sort.method=paper
"""
TASK = """
## {function}() of {file}{devices}

{comment}

<details>
<summary>Solution</summary>

```c
{body}```

</details>
"""


def start(arguments, exercise, folder):
    if folder.exists() and not arguments.force:
        raise Problem(f"{folder} is there already; --force writes it anew")
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(KERNELS, folder)
    functions = " or ".join(f"`{function}()` in {file}" for file, function in exercise.bodies)
    check = f"{Path(__file__).parent.name}/{Path(__file__).name} check {arguments.name}"
    check += f" --folder {arguments.folder}" if arguments.folder else ""
    page = PAGE.format(name=arguments.name.capitalize(), functions=functions, folder=folder, check=check)
    for file, function in exercise.bodies:
        path = folder / file
        text = path.read_text()
        begin, end = body_of(text, function)
        devices = {"vectors": ", for CPUs", "groups": ", for GPUs"}.get(path.stem.partition("_")[2], "")
        page += TASK.format(function=function, file=file, devices=devices, comment=comment_of(text, function),
            body=text[begin:end])
        path.write_text(text[:begin] + "    /* Your body. */\n" + text[end:])
    (folder / "EXERCISE.md").write_text(page)
    print(f"write the body of {functions} in {folder}; {folder}/EXERCISE.md has the task, then\n  {check}")


# ---- what a body computes ----


def results(name, device):
    """(what it is, names of its indices, array) of all that the body of an exercise gives, the first of it first."""
    with Simulation(CONFIG, set={"device": device}) as simulation:
        if name in ("deposit", "push"):
            yield from results_of_steps(simulation, name)
            return
        keys = np.random.default_rng(1).integers(0, 1 << simulation.sort_shape.key_bits, KEYS)
        for number in range(1, PASSES + 1):
            found = simulation.sort(keys, number, reorders=name == "reorder")
            if name == "histogram":
                yield f"the histogram of pass {number}", ("c", "g", "i"), found.table
            elif name == "scan":
                yield f"the scanned histogram of pass {number}", ("c", "g", "i"), found.scan
            else:
                yield f"the list of keys after pass {number}", ("place",), found.keys
                yield f"the permutation after pass {number}", ("j",), found.permutation


def results_of_steps(simulation, name):
    if name == "deposit":
        yield "the charge density", ("i", "j"), simulation.field("rho")
        return
    for number in range(1, 6):
        simulation.step()
        electrons = simulation.particles("electrons")
        order = np.argsort(electrons.ids)
        for attribute in "xyuv":
            yield f"{attribute} after step {number}", ("particle",), getattr(electrons, attribute)[order]
        for column in ("kinetic_energy", "momentum_x", "momentum_y"):
            yield f"{column} of the history", ("row",), simulation.history[column][:number]


def send_results(pipe, name, device, kernels):
    """In a process of its own: a body that writes where it must not ends that one alone."""
    os.environ["RADIXPIC_KERNELS"] = str(kernels)
    try:
        for result in results(name, device):
            pipe.send(result)
    except Problem as problem:  # OUT_OF_RESOURCES is what NVIDIA's driver says after such an index
        pipe.send(f"{problem}: {LEFT_ITS_ARRAYS}" if "CL_OUT_OF_RESOURCES" in str(problem) else str(problem))


def received_results(name, device, kernels, time_limit):
    context = multiprocessing.get_context("spawn")  # a process that was forked could not use OpenCL
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=send_results, args=(sender, name, device, kernels))
    process.start()
    sender.close()
    try:
        while True:
            if not receiver.poll(time_limit):
                look = "look for a loop that never ends, or for a barrier that not all items of a group reach"
                raise Problem(f"the kernels in {kernels} did not end within {time_limit:g} s: "
                    f"{'take a longer --time-limit' if kernels == KERNELS else look}")
            result = receiver.recv()
            if isinstance(result, str):
                raise Problem(result)
            yield result
    except EOFError:
        process.join()
        if process.exitcode:
            ended = f"by {signal.Signals(-process.exitcode).name}" if process.exitcode < 0 else "with an error"
            raise Problem(f"the process that ran the body ended {ended}: {LEFT_ITS_ARRAYS}") from None
    finally:
        process.kill()
        process.join()


def first_difference(what, names, yours, expected):
    """A sentence, or None."""
    if expected.dtype.kind == "f":
        difference = np.abs(yours - expected)
        if what[0] in "xy" and " " in what[1:2]:  # the box is periodic
            difference = np.minimum(difference, np.abs(difference - (16 if what[0] == "x" else 8)))
        wrong = ~(difference <= ROUND_OFF * np.abs(expected).max())
    else:
        wrong = yours != expected
    if not wrong.any():
        return None
    place = np.unravel_index(np.argmax(wrong), wrong.shape)
    where = ", ".join(f"{name} = {index}" for name, index in zip(names, place))
    return (f"{what} at {where} is {yours[place]:.9g}, and {expected[place]:.9g} by the original; {wrong.sum()} of"
        f" {wrong.size} differ")


# ---- check ----


def compare(arguments, folder):
    """Raises a Problem at the first difference; returns in a phrase what was compared."""
    compared = 0
    both = (received_results(arguments.name, arguments.device, kernels, arguments.time_limit)
        for kernels in (KERNELS, folder))
    for (what, names, original), (_, _, yours) in zip(*both):
        if difference := first_difference(what, names, yours, original):
            raise Problem(difference)
        compared += original.size
    exactly = "up to round-off" if arguments.name in ("deposit", "push") else "bit for bit"
    return f"the same as the original {exactly}, in all {compared} numbers"


def time_stage(arguments, exercise, kernels):
    """ns and bytes of a particle in a step, and GB/s of a copy."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "step.csv"
        options = ["--method", "radix", "--sort", "paper", "--cells", "32", "--repeat", "1", "--steps", "20"]
        command = [find_program(), "bench", "step", *options, "--particles", arguments.particles, "--device",
            arguments.device, "--csv", path]
        environment = {**os.environ, "RADIXPIC_KERNELS": str(kernels)}
        done = subprocess.run(list(map(str, command)), env=environment, capture_output=True, text=True)
        if done.returncode:
            raise Problem(f"a step of {arguments.particles} particles fails: {(done.stderr or done.stdout).strip()}")
        with open(path) as file:
            measured = {row["quantity"]: float(row["median"]) for row in csv.DictReader(file)}
    time = measured[f"{exercise.stage}_ns"]
    return time, time * measured[f"{exercise.stage}_GB/s"], measured["copy_GB/s"]


def report_times(rounds, page):
    """Prints time_stage() of (original, yours) in each round. Rounds, not sides, are compared: what else a machine does
    slows down both sides of a round."""
    print(f"{'':10} {'ns/particle':>12} {'B/particle':>11} {'GB/s':>8} {'share of a copy':>16}")
    best = max(copy for both in rounds for _, _, copy in both)
    for side, timed in zip(("original", "yours"), zip(*rounds)):
        time, moved = median(time for time, _, _ in timed), timed[0][1]
        print(f"{side:10} {time:12.4g} {moved:11.4g} {moved / time:8.4g} {moved / time / best:16.1%}")
    ratios = [yours[0] / original[0] for original, yours in rounds]
    least, middle, most = min(ratios), median(ratios), max(ratios)
    print(f"It takes {middle:.2f} times as long as the original, {least:.2f} to {most:.2f} by the round.")
    if least > 1.1:
        print(f"The solution in {page} shows what that does otherwise.")


def check(arguments, exercise, folder):
    if not folder.is_dir():
        raise Problem(f"{folder} is not there: begin by `start {arguments.name}`")
    functions = " and ".join(f"{function}() in {folder / file}" for file, function in exercise.bodies)
    if is_empty(folder, exercise):
        raise Problem(f"nothing is written in the body of {functions}: {folder}/EXERCISE.md says what it has to do")
    print(f"{arguments.name}: {compare(arguments, folder)}")
    rounds = [[time_stage(arguments, exercise, kernels) for kernels in (KERNELS, folder)]
        for _ in range(arguments.rounds)]
    report_times(rounds, folder / "EXERCISE.md")
    print(f"Next: {exercise.next}.")


def main():
    parser = make_parser(__doc__, EXAMPLES)
    commands = parser.add_subparsers(dest="command", required=True)
    for command, call in (("start", start), ("check", check)):
        sub = commands.add_parser(command, help=f"`{command} --help` has its options")
        sub.set_defaults(call=call)
        sub.add_argument("name", choices=EXERCISES, help="the stage, of which the body of one function is taken out")
        sub.add_argument("--folder", help="of the kernels (default: output/exercise/NAME)")
    commands.choices["start"].add_argument("--force", action="store_true", help="replace a folder that is there")
    checked = commands.choices["check"]
    checked.add_argument("--device", default="auto", help="as that of the program")
    checked.add_argument("--particles", type=int, default=1 << 20, metavar="N", help="that are timed (default: 2^20)")
    checked.add_argument("--rounds", type=int, default=5, metavar="N", help="of timing both (default: 5)")
    checked.add_argument("--time-limit", type=float, default=120, metavar="S", help="for a result (default: 120 s)")
    arguments = parser.parse_args()
    if arguments.command == "check" and arguments.rounds < 1:
        parser.error("--rounds must be at least 1")
    folder = Path(arguments.folder or Path("output") / "exercise" / arguments.name)
    arguments.call(arguments, EXERCISES[arguments.name], folder)


if __name__ == "__main__":
    run_script(main)
