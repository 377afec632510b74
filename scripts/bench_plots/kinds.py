"""The pictures of lines: what the panels, lines and axes of each bench are, as data."""

from dataclasses import dataclass, field

from bench_plots import look
from bench_plots.lines import Panels, draw_panels, make_figure
from bench_plots.reading import HOST, number

OPERATIONS = {"prefix-sum": "prefix sums", "bubble-sort": "bubble sort", "bitonic-sort": "bitonic sort"}
INPUTS = {"ones": "of ones", "s": "of type S", "d": "of type D", "random": "of random numbers"}


@dataclass
class Kind:
    """panel and line: functions of a row that return the title of its panel and the first setting of its line, which
    has the colour; shown: the words of a case that they and x stand for, or that are of no account; explain: {first
    setting: more words for the legend}."""

    quantity: str
    x: str
    panel: object
    line: object
    heading: str
    shown: tuple
    labels: tuple
    explain: dict = field(default_factory=dict)
    words: str = "medians, bars from minimum to maximum"
    ticks: dict = field(default_factory=dict)


def layout_of(row):
    if row["device"] == HOST and row["layout"] != "quicksort":
        return "host"
    return {"transposed": "(B)", "quicksort": "host, quicksort"}.get(row["layout"], row["layout"])


def volume_of(row):
    """Table 1: 3D, axes 2,1,0; a volume that is of no table is called by its sides."""
    is_table = row["table"] != "0"
    dimensions = f"{row['volume'].count('x') + 1}D"
    words = f"Table {row['table']}: {dimensions}" if is_table else f"{dimensions} {row['volume']}"
    return f"{words}, axes {row['axes']}"


def method_of(row):
    words = {"sort+sorted": "sort+", "atomic-ordered": "atomic", "atomic-shuffled": "shuffled"}
    return words.get(row["method"], row["method"])


KINDS = {
    "deposit": Kind(
        *("particle_ns", "per_cell", lambda row: row["shape"], method_of, "method"),
        ("shape", "method", "per_cell", "cells"),
        ("particles per cell", "ns per particle"),
        {
            "sorted": "sorted: cell by cell, the list in order",
            "sort+": "sort+: sorted, with the sort of a shuffled list before",
            "atomic": "atomic: additions, the list in order",
            "shuffled": "shuffled: atomic additions, the list shuffled",
        },
    ),
    "layout": Kind(
        *("time_ms", "L", lambda row: f"{OPERATIONS[row['operation']]} {INPUTS[row['input']]}", layout_of, "layout"),
        ("operation", "input", "layout", "L"),
        ("arrays (L)", "ms for all arrays"),
        {
            "(B)": "(B): transpose, column-wise, transpose back",
            "transpose": "transpose alone",
            "host": "host, row-wise",
        },
    ),
    "permutation": Kind(
        *("wall_ms", "elements", volume_of, lambda row: row["kernel"], "kernel"),
        ("table", "volume", "axes", "elements", "block", "kernel"),
        ("elements", "ms"),
        {
            "serial": "serial (host, one thread)",
            "numpy": "numpy (host, into another array; no cells)",
            "threads": "threads (a cell for each item)",
            "CB": "CB (cell-based)",
            "BB": "BB (bar-based)",
            "RLBB": "RLBB (bars and look-up tables)",
        },
        "medians of the host's clock, bars from minimum to maximum; a cell has side^dimensions elements",
        {"least": 0.19},
    ),
    "step": Kind(
        *("wall_clock_ns", "N", lambda row: "Cost by number of particles", lambda row: row["cells"], "grid"),
        ("cells", "N", "steps"),
        ("particles", "ns per particle and step"),
        words="medians of the wall clock, bars from minimum to maximum",
    ),
}


def group(bench, rows):
    """The lines of a picture."""
    kind = KINDS[bench]
    rows = [row for row in rows if row["quantity"] == kind.quantity]
    if bench == "step":
        rows.sort(key=cells_of)  # in the legend

    def point(row):
        return number(row, kind.x), row["median"], row["min"], row["max"]

    return Panels(rows, kind.quantity, kind.panel, kind.line, kind.shown, point)


def draw(plt, bench, rows, title):
    kind, panels = KINDS[bench], group(bench, rows)
    if bench == "step":
        return draw_steps(plt, kind, panels, title)
    return draw_panels(plt, panels, kind.heading, title, [kind.words], *kind.labels, kind.explain, **kind.ticks)


def cells_of(row):
    along_x, along_y = row["cells"].split("x")
    return float(along_x) * float(along_y)


def draw_steps(plt, kind, panels, title):
    """How the cost of a step grows, by particles and by particles in a cell."""
    figure, (by_size, by_cell), characters = make_figure(plt, 2, panels.legend(kind.heading, {}))
    sizes = []
    for line in panels.lines:
        cells = cells_of({"cells": line.primary})
        panels.draw_line(by_size, line)
        panels.draw_line(by_cell, line, lambda particles, cells=cells: particles / cells)
        sizes += [(point[0], point[0] / cells) for point in line.points]
    for axes, values in zip((by_size, by_cell), zip(*sizes)):
        axes.set_xscale("log", base=2)
        axes.set_ylim(bottom=0)
        look.ticks_at_values(axes.xaxis, values)
    by_size.set(title="Cost by number of particles", xlabel=kind.labels[0], ylabel=kind.labels[1])
    by_cell.set(title="Cost by particles in a cell", xlabel="particles per cell", ylabel=kind.labels[1])
    look.set_title(figure, title, [*panels.settings.shared, kind.words], characters)
    return figure
