"""The pictures of radixpic bench permutation: times by the elements, a panel for each table and its axes."""

from bench_plots.lines import Panels, draw_panels

EXPLAIN = {
    "serial": "serial (host, one thread)",
    "numpy": "numpy (host, into another array; no cells)",
    "threads": "threads (a cell for each item)",
    "CB": "CB (cell-based)",
    "BB": "BB (bar-based)",
    "RLBB": "RLBB (bars and look-up tables)",
}


def panel_of(row):
    """Table 1: 3D, axes 2,1,0; a volume that is of no table is called by its sides."""
    table = row.get("table", "")
    words = f"{row['dimensions']}D" if table in ("", "0") else f"Table {table}: {row['dimensions']}D"
    words += f" {row['sides']}" if table == "0" else ""
    return words + (f", axes {row['axes'].replace(' ', ',')}" if row.get("axes") else "")


def cells_of(row):
    """A cell's side, or the elements in it where the file is silent about the side; numpy knows no cells."""
    if row["kernel"] == "numpy":
        return ""
    return f"side {row['cell_side']}" if row.get("cell_side") else f"block {row['block']}"


def group(rows):
    """The lines of a picture: a colour for each kernel. numpy's times, which stand with every block, count once."""
    once = {}
    for number, row in enumerate(rows):
        is_numpy = row["kernel"] == "numpy"
        once[(row["file"], panel_of(row), row["elements"]) if is_numpy else number] = row

    def point(row):
        return row["elements"], row["median_ms"], row["min_ms"], row["max_ms"]

    return Panels(list(once.values()), panel_of, lambda row: row["kernel"], {"cells": cells_of}, point)


def draw(plt, rows, title):
    panels = group(rows)
    panels.settings.shared = [f"cells of {words}" for words in panels.settings.shared]
    words = ["medians of the host's clock, bars from minimum to maximum; a block is a cell: side^dimensions elements"]
    return draw_panels(plt, panels, "kernel", title, words, "elements", "ms", EXPLAIN, least=0.19)
