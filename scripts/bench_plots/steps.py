"""The picture of radixpic bench step: how the cost of a step grows, by particles and by particles in a cell."""

from common import Problem

from bench_plots import look
from bench_plots.lines import Panels, make_figure


def group(rows):
    """The wall clock's lines: a colour for each grid."""
    rows = [row for row in rows if row["stage"] == "wall clock" and row["particles"] > 0]
    if not rows:
        raise Problem("no row is of the wall clock of a step")
    rows.sort(key=lambda row: row["cells_x"] * row["cells_y"])  # in the legend
    readers = {
        "method": lambda row: row["method"],
        "sort": lambda row: f"sort {row['sort']}" if row.get("sort", "default") != "default" else "sort by default",
        "shape": lambda row: row.get("shape", ""),
        "precision": lambda row: f"{row['precision']} precision" if row.get("precision") else "",
        "hot": lambda row: {"yes": "half in one cell", "no": "spread evenly"}.get(row.get("hot"), ""),
    }

    def grid(row):
        return f"{row['cells_x']:g} x {row['cells_y']:g} cells"

    def point(row):
        return row["particles"], row["ns_per_particle_step"], row["min_ns"], row["max_ns"]

    return Panels(rows, lambda row: "Cost by number of particles", grid, readers, point)


def cells_of(line):
    """The cells of a line by its words: 32 x 32 cells."""
    along_x, _, along_y, _ = line.primary.split()
    return float(along_x) * float(along_y)


def draw(plt, rows, title):
    panels = group(rows)
    figure, (by_size, by_cell), characters = make_figure(plt, 2, panels.legend("grid", {}))
    for line in panels.lines:
        panels.draw_line(by_size, line)
        panels.draw_line(by_cell, line, lambda particles, line=line: particles / cells_of(line))
    sizes = [(point[0], point[0] / cells_of(line)) for line in panels.lines for point in line.points]
    for axes, values in zip((by_size, by_cell), zip(*sizes)):
        axes.set_xscale("log", base=2)
        axes.set_ylim(bottom=0)
        look.ticks_at_values(axes.xaxis, values)
    by_size.set(title="Cost by number of particles", xlabel="particles", ylabel="ns per particle and step")
    by_cell.set(title="Cost by particles in a cell", xlabel="particles per cell", ylabel="ns per particle and step")
    words = [*panels.settings.shared, "medians of the wall clock, bars from minimum to maximum"]
    look.set_title(figure, title, words, characters)
    return figure
