#!/usr/bin/python3
"""Fits the model of docs/scaling.md to what radixpic bench scaling wrote with --csv, and says what it predicts.

A run on one rank gives three equations: seconds of a step on the wall clock, in the stages of the particles, and in
the field. A run on more gives four: the wall clock, exchange, halo, and field, the last three of the rank that waited
least. The constants are the least squares of their relative errors, none of them negative.
"""

import math
from collections import namedtuple

from bench_plots.reading import number, read_files
from radixpic.script import Problem, make_parser, run_script, numpy as np

EXAMPLES = """examples:
  scripts/fit_scaling.py weak_1.csv weak_2.csv weak_4.csv strong_4.csv
  scripts/fit_scaling.py *.csv --ranks 8 64 512
"""
# Constant -> what its seconds are of.
CONSTANTS = {
    "particle": "a particle in all its stages on the device",
    "step": "a step's launches, however few particles there are",
    "node": "a node times log2 of all nodes, solved on a device",
    "solve": "a solve's launches on a device, however few nodes there are",
    "node_slabs": "a node times log2 of all nodes, of transforms that ranks share",
    "solve_slabs": "the launches of a solve that ranks share",
    "block": "a transfer of what another rank gets or sent, in such a solve",
    "byte": "a byte of counts or rows between device and host or in a message",
    "leaving": "a byte of leaving particles, on its way while others move",
    "transfer": "a transfer between device and host that is waited for",
    "message": "a message",
    "ranks": "a step's launches for other ranks, and what no stage shows",
}
PARTICLE_STAGES = ("count", "sort:", "permute", "deposit", "collisions", "push")
METHOD = "tiled"  # the step that the model is of
REACHED_ROWS = 3  # of nodes beside a slab
ANNOUNCEMENTS, STATES = 2, 4  # messages: counts to two neighbours; offsets and velocities to them
SOLVE_TRANSFERS = 1  # waited for, of a step and rank: the charge density
SHARED_TRANSFERS = 3  # the same of slabs: rows beside, and modes between rows and columns and back
SHARED_BLOCKS = 10  # transfers for each other rank and from it: rows beside, modes to columns, and both fields back
# Of a particle's time: what hides the particles on their way, and the counts of the rest.
MOVE_SHARE, DEPOSIT_SHARE = 0.6, 0.1
MOST_ROWS, MOST_CELLS = 16384, 1 << 26  # of a config
MOST_ROUNDS = 20  # of the fit


# What the model takes of a run, and what was measured: seconds of a step by equation.
Run = namedtuple("Run", "name scaling decomposition ranks nx ny rows ghost real particles_most leavers measured")


# ---- the model ----


def columns_of(run):
    """Fourier columns on a rank that has most: no rank can have less than one, whatever their number."""
    return math.ceil((run.ny // 2 + 1) / run.ranks)


def solved_nodes(run):
    """Nodes that a rank transforms, times log2 of all: the fullest rank, half along y and half along x."""
    nodes = run.nx * run.ny
    if run.decomposition == "slabs":
        nodes = 0.5 * (run.rows * run.ny + 2 * columns_of(run) * run.nx)
    return nodes * math.log2(run.nx * run.ny)


def announced_bytes(run):
    """The counts of cells beside the own rows: out, in messages, and in with the places of arrivals."""
    local = min(run.rows + 2 * run.ghost + 1, run.nx) if run.ghost else run.nx
    return 5 * 4 * run.ny * (local - run.rows)


def row_bytes(run):
    """The charge density, or its rows beside and modes of it and the field, between a device and its host."""
    row = run.ny * run.real
    if run.decomposition == "slabs":
        return 2 * REACHED_ROWS * row + transposed_bytes(run)
    return (run.rows + REACHED_ROWS) * row + (run.nx + REACHED_ROWS * run.ranks) * row


def transposed_bytes(run):
    """Of three transforms, each out and in between rows and columns of modes, for the fullest rank."""
    modes = max(run.rows * (run.ny // 2 + 1), run.nx * columns_of(run))
    return 3 * 2 * 2 * run.real * modes * (run.ranks - 1) / run.ranks


def of(**amounts):
    """Amounts of constants, in the order of CONSTANTS."""
    return np.array([amounts.get(name, 0.0) for name in CONSTANTS])


def cost(amounts, constants):
    """Seconds; a constant that is not known costs nothing."""
    return np.nansum(amounts * constants)


def hidden(run):
    """Work beside that of the device: amounts, and the share of the particles' time that hides it: leaving particles,
    and the reduction that tells whether any went further."""
    states = of(leaving=3 * 4 * run.real * run.leavers, message=STATES)  # out, in a message, in
    return [(states, MOVE_SHARE), (of(message=math.log2(run.ranks)), DEPOSIT_SHARE)]


def outlasting(run, constants):
    """Amounts of what takes longer than that which hides it, less the latter."""
    found = of()
    for work, share in hidden(run) if run.ranks > 1 else ():
        cover = of(particle=share * run.particles_most)
        if cost(work, constants) > cost(cover, constants):
            found += work - cover
    return found


def amounts(run, constants):
    """Equation -> how many seconds of each constant a step takes. The constants say what stays hidden."""
    slabs = run.decomposition == "slabs"
    particles = of(particle=run.particles_most, step=1.0)
    field = of(node_slabs=solved_nodes(run), solve_slabs=1.0) if slabs else of(node=solved_nodes(run), solve=1.0)
    if run.ranks == 1:
        return {"particles": particles, "field": field, "wall clock": particles + field}
    transfers = SHARED_TRANSFERS if slabs else SOLVE_TRANSFERS  # with a meeting each
    halo = of(byte=row_bytes(run), transfer=transfers, message=transfers * math.log2(run.ranks),
        block=SHARED_BLOCKS * (run.ranks - 1) if slabs else 0.0)
    announced = of(byte=announced_bytes(run), transfer=1.0, message=ANNOUNCEMENTS, ranks=1.0)
    return {
        "exchange": of(message=ANNOUNCEMENTS) + sum(work for work, _ in hidden(run)),
        "halo": halo,
        "field": field,
        "wall clock": particles + announced + halo + field + outlasting(run, constants),
    }


def seconds(run, constants):
    """Of a step on the wall clock; not a number where it takes a constant that is not known."""
    needed = amounts(run, constants)["wall clock"]
    return needed[needed != 0] @ constants[needed != 0]


# ---- the fit ----


def least_squares(matrix, right):
    """None negative: what would be is left out, the most negative first."""
    values, kept = np.zeros(matrix.shape[1]), np.arange(matrix.shape[1])
    while len(kept):
        found = np.linalg.lstsq(matrix[:, kept], right, rcond=None)[0]
        if found.min() >= 0:
            values[kept] = found
            break
        kept = np.delete(kept, np.argmin(found))
    return values


def fit_once(runs, constants):
    equations = [(amount, run.measured[part]) for run in runs for part, amount in amounts(run, constants).items()]
    matrix = np.array([amount / measured for amount, measured in equations if measured > 0])
    scale = np.linalg.norm(matrix, axis=0)
    taken = scale > 0
    matrix, scale = matrix[:, taken] / scale[taken], scale[taken]
    found = np.full(len(CONSTANTS), np.nan)
    found[taken] = least_squares(matrix, np.ones(len(matrix))) / scale
    return found, np.linalg.matrix_rank(matrix, tol=1e-6) == len(scale)


def fit(runs):
    """The constants' seconds, not a number for those that no run takes; and whether the runs tell all others apart. At
    first all is hidden that can be; then again with what these constants show to outlast it."""
    constants, told_apart = fit_once(runs, of())
    for _ in range(MOST_ROUNDS):
        before = [outlasting(run, constants) for run in runs]
        constants, told_apart = fit_once(runs, constants)
        if np.array_equal(before, [outlasting(run, constants) for run in runs]):
            break
    return constants, told_apart


# ---- files ----


def make_run(path, rows):
    """A run from its rows in a file."""
    measured = {row["quantity"]: row for row in rows}
    first = rows[0]
    nx, ny = map(int, first["cells"].split("x"))
    ranks = int(number(first, "ranks"))
    what = f"the run on {ranks} ranks"
    wall = measured.get("wall_clock_ms")
    if not wall or wall["median"] <= 0 or "leavers" not in measured:
        raise Problem(f"{path}: {what} has no wall clock")
    if ranks > 1 and first["method"] != METHOD:
        raise Problem(f"{path}: {what} took {first['method']} steps; the model is of {METHOD} ones")

    def total(stages, column):
        return 1e-3 * sum(
            row[column] for name, row in measured.items() if name.startswith(stages) and name.endswith("_ms")
        )

    parts = {"particles": (PARTICLE_STAGES, "max"), **{name: (name, "min") for name in ("exchange", "halo", "field")}}
    measured_seconds = {part: total(stages, column) for part, (stages, column) in parts.items()}
    return Run(name=first["file"], scaling=first["scaling"], decomposition=first["decomposition"], ranks=ranks, nx=nx,
        ny=ny, rows=int(number(first, "rows")), ghost=int(number(first, "ghost")),
        real=8 if first["precision"] == "double" else 4, particles_most=int(number(first, "most")),
        leavers=measured["leavers"]["median"], measured={**measured_seconds, "wall clock": 1e-3 * wall["median"]})


def read_runs(paths):
    bench, rows = read_files(paths)
    if bench != "scaling":
        raise Problem(f"the files are of radixpic bench {bench}, not of radixpic bench scaling")
    of_case = {}
    for row in rows:
        if "ranks" in row:
            of_case.setdefault((row["path"], tuple(row["case"].items())), []).append(row)
    devices = {row["device"] for row in rows}
    if len(devices) > 1:
        raise Problem(f"one model is of one kind of device; the files are of {len(devices)}: "
            f"{', '.join(sorted(devices))}")
    return [make_run(path, of_run) for (path, _), of_run in of_case.items()]


# ---- what is said ----


def print_constants(constants, told_apart):
    print(f"  {'constant':<12} {'seconds':>11}   of")
    for (name, meaning), value in zip(CONSTANTS.items(), constants):
        print(f"  {name:<12} {'no run' if math.isnan(value) else f'{value:.4g}':>11}   {meaning}")
    if not told_apart:
        print("  note: these runs do not tell all constants apart, only sums of them; add runs on other numbers of "
            "ranks, other grids and the other decomposition")


def print_errors(runs, constants):
    print(f"\n  {'run':<20} {'scaling':<9} {'field':<10} {'ranks':>5} {'ms measured':>12} {'ms of model':>12} "
        f"{'error':>9}")
    squares = []
    for run in runs:
        measured, modelled = run.measured["wall clock"], seconds(run, constants)
        error = modelled / measured - 1
        squares.append(error**2)
        print(f"  {run.name[:20]:<20} {run.scaling:<9} {run.decomposition:<10} {run.ranks:>5} {1e3 * measured:>12.4f} "
            f"{1e3 * modelled:>12.4f} {100 * error:>+7.1f} %")
    print(f"  root of the mean square of the errors: {100 * math.sqrt(sum(squares) / len(squares)):.1f} %")


def choose_base(runs):
    """The run whose rank the predictions repeat: of most ranks, then of most particles on one."""
    several = [run for run in runs if run.ranks > 1]
    if not several:
        raise Problem("a prediction needs a run on more than one rank: how many particles leave a rank is measured")
    return max(several, key=lambda run: (run.scaling == "weak", run.ranks, run.particles_most))


def notes_of(run):
    notes = []
    if run.decomposition == "slabs" and run.ranks > run.ny // 2 + 1:
        notes.append(f"only {run.ny // 2 + 1} ranks have a Fourier column")
    if run.nx > MOST_ROWS or run.nx * run.ny > MOST_CELLS:
        notes.append(f"{run.nx}x{run.ny} cells are more than a config may have")
    return notes


def print_predictions(base, ranks, constants):
    one = seconds(base._replace(decomposition="alone", ranks=1, nx=base.rows, ghost=0, leavers=0.0), constants)
    print(f"\n  weak scaling of {base.particles_most} particles in {base.rows}x{base.ny} cells a rank, "
        f"{base.leavers:.0f} of which leave in a step; from 1 rank, {1e3 * one:.4f} ms a step")
    print(f"  {'ranks':>7} {'field':<10} {'ms a step':>12} {'efficiency':>11}   most of it")
    for count in ranks:
        for decomposition in ("replicated", "slabs"):
            run = base._replace(decomposition=decomposition, ranks=count, nx=base.rows * count)  # its rank, repeated
            taken = seconds(run, constants)
            if math.isnan(taken):
                print(f"  {count:>7} {decomposition:<10} {'-':>12} {'-':>11}   no run tells what its solve costs")
                continue
            terms = np.nan_to_num(amounts(run, constants)["wall clock"] * constants)
            most = f"{list(CONSTANTS)[np.argmax(terms)]} {100 * max(terms) / sum(terms):.0f} %"
            notes = "; ".join([most, *notes_of(run)])
            print(f"  {count:>7} {decomposition:<10} {1e3 * taken:>12.4f} {one / taken:>11.4f}   {notes}")
    print(f"  a box of {base.nx} rows ends at {base.nx} ranks, one row each")


def main():
    parser = make_parser(__doc__, EXAMPLES)
    parser.add_argument("files", metavar="CSV", nargs="+",
        help="what radixpic bench scaling --csv wrote, of one device")
    parser.add_argument("--ranks", type=int, nargs="+", default=[100, 1000, 10000], metavar="P",
        help="to predict (default: 100 1000 10000)")
    arguments = parser.parse_args()
    if min(arguments.ranks) < 2:
        parser.error("--ranks must be 2 or more")
    runs = read_runs(arguments.files)
    base = choose_base(runs)
    constants, told_apart = fit(runs)
    print_constants(constants, told_apart)
    print_errors(runs, constants)
    print_predictions(base, arguments.ranks, constants)


if __name__ == "__main__":
    run_script(main)
