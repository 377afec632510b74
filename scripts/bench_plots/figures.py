"""The figures of the benches as a table: what is on x, what makes a panel, a line or a bar, labels and words."""

from dataclasses import dataclass

from radixpic.script import Problem

from bench_plots import bars, lines
from bench_plots.look import three_digits
from bench_plots.reading import HOST, number


@dataclass
class LineFigure:
    """panels: function of a row that returns (title of a panel, label of x, x) for every panel that has it; line: of
    a row, the first setting of its line, which has the colour and the heading; shown: the words of a case that
    these stand for, or that are of no account; apart: of ticks along x, a share of the axis; order: a key of the rows
    in the legend."""

    quantity: str
    heading: str
    shown: tuple
    panels: object
    line: object
    ylabel: str
    words: str = "medians, bars from minimum to maximum"
    yscale: str = "log"
    apart: float = 0.11
    order: object = lambda row: 0
    draw = staticmethod(lines.draw)


@dataclass
class BarFigure:
    """bar: function of a row that returns (title of a panel, label of x, name of a bar, part of it, length of that
    part), or None for a row that is of no bar; a part "" is the whole bar, whose colour tells its settings; TOTAL is a
    mark beside the bar. shown: see LineFigure; phases: the parts in the order of their colours, `heading` theirs;
    lone: function of rows that returns what of them is drawn, and words for the title that say the others; lines: the
    LineFigure of other rows, beside the bars."""

    shown: tuple
    bar: object
    heading: str = ""
    phases: tuple = ()
    words: tuple = ("medians",)
    lone: object = lambda rows: (rows, [])
    lines: LineFigure = None
    draw = staticmethod(bars.draw)


# ---- lines ----

OPERATIONS = {"prefix-sum": "prefix sums", "bubble-sort": "bubble sort", "bitonic-sort": "bitonic sort"}
INPUTS = {"ones": "of ones", "s": "of type S", "d": "of type D", "random": "of random numbers"}
METHODS = {
    "sorted": "sorted: cell by cell, the list in order",
    "sort+sorted": "sort+: sorted, with the sort of a shuffled list before",
    "atomic-ordered": "atomic: additions, the list in order",
    "atomic-shuffled": "shuffled: atomic additions, the list shuffled",
}
LAYOUTS = {
    "transposed": "(B): transpose, column-wise, transpose back",
    "transpose": "transpose alone",
    "quicksort": "host, quicksort",
}
KERNELS = {
    "serial": "serial (host, one thread)",
    "numpy": "numpy (host, into another array; no cells)",
    "threads": "threads (a cell for each item)",
    "CB": "CB (cell-based)",
    "BB": "BB (bar-based)",
    "RLBB": "RLBB (bars and look-up tables)",
}


def volume_of(row):
    """Table 1: 3D, axes 2,1,0; a volume that is of no table is called by its sides."""
    dimensions = f"{row['volume'].count('x') + 1}D"
    is_table = row["table"] != "0"
    words = f"Table {row['table']}: {dimensions}" if is_table else f"{dimensions} {row['volume']}"
    return f"{words}, axes {row['axes']}"


def layout_of(row):
    if row["device"] == HOST and row["layout"] != "quicksort":
        return "host, row-wise"
    return LAYOUTS.get(row["layout"], row["layout"])


def cells_of(row):
    along_x, along_y = row["cells"].split("x")
    return float(along_x) * float(along_y)


def costs_of(row):
    particles = number(row, "N")
    return [("Cost by number of particles", "particles", particles),
        ("Cost by particles in a cell", "particles per cell", particles / cells_of(row))]


# ---- bars ----

SCOPES = {"device": "words of the device (global memory)", "group": "words of a group (local memory)"}
RATES = {"GB/s": "Bandwidth", "Gflop/s": "Product of matrices", "Gcells/s": "Refinement"}


def sort_bar(row):
    phase, is_time, _ = row["quantity"].partition("_ms")
    if not is_time:
        return None
    keys = number(row, "N")
    if keys <= 0 or row["median"] < 0:
        raise Problem(f"a sort of {keys:g} keys in {row['median']:g} ms has no time for one")
    method = f"{row['method']} on the host" if row["device"] == HOST else row["method"]
    return "", "time per key [ns]", method, phase, 1e6 * row["median"] / keys


def rate_bar(row):
    kind, _, unit = row["quantity"].partition("_")
    if kind not in ("rate", "copy") or row.get("part") == "atomics":
        return None
    name = "copy on the device" if kind == "copy" else f"{row['part']}: {row['version']}, {row['size']}"
    return RATES.get(unit, "Rate"), f"rate [{unit}]", name, "", row["median"]


def lone_copies(rows):
    """A copy that stands beside nothing to compare it with is words of the title rather than a bar."""
    rates = {row["quantity"] for row in rows if row["quantity"].startswith("rate_")}
    if not rates or "rate_GB/s" in rates:
        return rows, []
    copies = [row for row in rows if row["quantity"] == "copy_GB/s"]
    words = [f"copy on {row['machine']}: {three_digits(row['median'])} GB/s" for row in copies]
    return [row for row in rows if row not in copies], words


SORTS = BarFigure(
    shown=("method",),
    bar=sort_bar,
    heading="bar: phases of single sorts",
    phases=("transpose", "histogram", "scan", "reorder"),
    words=("medians", "number beside a bar: its length"),
)
ATOMICS = LineFigure(
    quantity="rate_Gop/s",
    heading="atomic function",
    shown=("part", "version", "scope", "words", "size"),
    panels=lambda row: [(f"On {SCOPES[row['scope']]}", "words", number(row, "words"))],
    line=lambda row: row["version"],
    ylabel="rate [Gop/s]",
)
FIGURES = {
    "deposit": LineFigure(quantity="particle_ns", heading="method", shown=("shape", "method", "per_cell", "cells"),
        panels=lambda row: [(row["shape"], "particles per cell", number(row, "per_cell"))],
        line=lambda row: METHODS.get(row["method"], row["method"]), ylabel="time per particle [ns]"),
    "layout": LineFigure(quantity="time_ms", heading="layout", shown=("operation", "input", "layout", "L"),
        panels=lambda row: [(f"{OPERATIONS[row['operation']]} {INPUTS[row['input']]}", "arrays (L)", number(row, "L"))],
        line=layout_of, ylabel="time for all arrays [ms]"),
    "permutation": LineFigure(quantity="wall_ms", heading="kernel",
        shown=("table", "volume", "axes", "elements", "block", "kernel"),
        panels=lambda row: [(volume_of(row), "elements", number(row, "elements"))],
        line=lambda row: KERNELS.get(row["kernel"], row["kernel"]), ylabel="time [ms]",
        words="medians of the host's clock, bars from minimum to maximum; a cell has side^dimensions elements",
        apart=0.19),
    "step": LineFigure(quantity="wall_clock_ns", heading="grid", shown=("cells", "N", "steps"), panels=costs_of,
        line=lambda row: row["cells"], ylabel="time per particle and step [ns]",
        words="medians of the wall clock, bars from minimum to maximum", yscale="linear", order=cells_of),
    "pic-sort": SORTS,
    "random-lists": SORTS,
    "local-memory": BarFigure(shown=("of", "bytes", "part", "version", "size"), bar=rate_bar, lone=lone_copies,
        lines=ATOMICS),
}
