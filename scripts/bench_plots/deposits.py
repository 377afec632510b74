"""The pictures of radixpic bench deposit: ns a particle by the particles per cell, a panel for each shape."""

from common import Problem

from bench_plots.look import count
from bench_plots.lines import Panels, draw_panels

# The words of the tables on the screen for those of the file.
METHODS = {"sort+sorted": "sort+", "atomic-ordered": "atomic", "atomic-shuffled": "shuffled"}
EXPLAIN = {
    "sorted": "sorted: cell by cell, the list in order",
    "sort+": "sort+: sorted, with the sort of a shuffled list before",
    "atomic": "atomic: additions, the list in order",
    "shuffled": "shuffled: atomic additions, the list shuffled",
}


def point(row):
    if row["particles"] <= 0:
        raise Problem(f"a deposit of {row['particles']:g} particles has no time for one")
    times = [1e6 * row[name] / row["particles"] for name in ("median_ms", "min_ms", "max_ms")]
    return row["per_cell"], *times


def group(rows):
    """The lines of a picture: a colour for each method."""
    readers = {
        "particles": lambda row: f"N = {count(row['particles'])}",
        "precision": lambda row: f"{row['precision']} precision",
        "additions": lambda row: f"additions of {row['atomics']} bits" if row.get("atomics") else "",
    }
    return Panels(rows, lambda row: row["shape"], lambda row: METHODS.get(row["method"], row["method"]), readers, point)


def draw(plt, rows, title):
    words = ["medians, bars from minimum to maximum"]
    return draw_panels(plt, group(rows), "method", title, words, "particles per cell", "ns per particle", EXPLAIN)
