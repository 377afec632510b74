"""The pictures of radixpic bench layout: times by the number of arrays, a panel for each operation and input."""

from bench_plots.lines import Panels, draw_panels

OPERATIONS = {"prefix-sum": "prefix sums", "bubble-sort": "bubble sort", "bitonic-sort": "bitonic sort"}
INPUTS = {"ones": "of ones", "s": "of type S", "d": "of type D", "random": "of random numbers"}
# The words of the tables on the screen for what the file calls otherwise.
LAYOUTS = {"transposed": "(B)", "quicksort": "host, quicksort"}
EXPLAIN = {
    "(B)": "(B): transpose, column-wise, transpose back",
    "transpose": "transpose alone",
    "host": "host, row-wise",
}


def panel_of(row):
    return f"{OPERATIONS.get(row['operation'], row['operation'])} {INPUTS.get(row['input'], row['input'])}"


def layout_of(row):
    if row["device"] == "host" and row["layout"] != "quicksort":
        return "host"
    return LAYOUTS.get(row["layout"], row["layout"])


def group(rows):
    """The lines of a picture: a colour for each layout."""
    readers = {"length": lambda row: f"N = {row['length']} elements", "type": lambda row: row["type"]}

    def point(row):
        return row["arrays"], row["median_ms"], row["min_ms"], row["max_ms"]

    return Panels(rows, panel_of, layout_of, readers, point)


def draw(plt, rows, title):
    words = ["medians, bars from minimum to maximum"]
    return draw_panels(plt, group(rows), "layout", title, words, "arrays (L)", "ms for all arrays", EXPLAIN)
