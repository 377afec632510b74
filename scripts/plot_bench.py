#!/usr/bin/python3
"""Draws what radixpic bench wrote with --csv: how the cost of a step grows, or the phases of sorts."""

import argparse
import csv
from pathlib import Path

from common import CYCLE, Problem, import_pyplot, read_text, run_script, save

EXAMPLES = """examples:
  scripts/plot_bench.py step.csv -o step.png                 of radixpic bench step --sweep --csv step.csv
  scripts/plot_bench.py h200.csv cpu.csv -o steps.png        two devices in one picture
  scripts/plot_bench.py pic_sort.csv -o pic_sort.png         of radixpic bench pic-sort; bars of the phases
  scripts/plot_bench.py ladder.csv -o ladder.png             of radixpic bench local-memory; bandwidths, atomics
"""
# What a file is by the columns that it must have.
KINDS = {
    "step": "device method cells_x cells_y particles stage ns_per_particle_step min_ns max_ns".split(),
    "pic-sort": "device method particles key_bits passes phase median_ms".split(),
    "random-lists": "device method keys key_bits phase median_ms".split(),
    "permutation": "device dimensions elements block kernel median_ms min_ms max_ms".split(),
    "local-memory": "device part version size scope addresses median_ms min_ms max_ms rate unit".split(),
    "deposit": "device shape precision particles per_cell method median_ms min_ms max_ms".split(),
    "layout": "device operation input type arrays length layout median_ms min_ms max_ms".split(),
}
NUMBERS = ("ns_per_particle_step", "min_ns", "max_ns", "cells_x", "cells_y", "particles", "median_ms", "keys")
NUMBERS += ("min_ms", "max_ms", "arrays", "elements", "rate", "per_cell")
PHASES = ("transpose", "histogram", "scan", "reorder")


def read_bench(path):
    """The kind of a CSV file and its rows, numbers as such; a last line that was not finished is dropped."""
    text = read_text(path)
    lines = text.splitlines()
    if lines and not text.endswith("\n"):
        lines.pop()
    header, *rows = list(csv.reader(lines)) or [[]]
    kind = next((kind for kind, columns in KINDS.items() if set(columns) <= set(header)), None)
    if not kind:
        raise Problem(f"{path} does not start with the header of a radixpic bench")
    read = []
    for number, row in enumerate(rows, start=2):
        try:
            if len(row) != len(header):
                raise ValueError
            named = dict(zip(header, row))
            read.append({name: float(word) if name in NUMBERS else word for name, word in named.items()})
            read[-1]["file"] = Path(path).stem
        except ValueError:
            raise Problem(f"{path}:{number}: expected {len(header)} fields, times and sizes as numbers") from None
    if not read:
        raise Problem(f"{path} has no rows")
    return kind, read


def short_name(device):
    """A device's name that fits a legend."""
    return device if len(device) <= 32 else device[:30] + "..."


def count(number):
    """1048576 as 2^20, in mathematics; others as they are."""
    power = int(number).bit_length() - 1
    return rf"$2^{{{power}}}$" if number == 2**power and power >= 10 else f"{number:g}"


# ---- steps ----


def group_lines(rows):
    """The wall clock's rows by (file, device, method, cells along x and y), each in order of particles."""
    lines = {}
    for row in rows:
        if row["stage"] == "wall clock" and row["particles"] > 0:
            key = tuple(row[name] for name in ("file", "device", "method", "cells_x", "cells_y"))
            lines.setdefault(key, []).append(row)
    for line in lines.values():
        line.sort(key=lambda row: row["particles"])
    return lines


def label_of(key, lines):
    """The grid, and what else tells this line from the others."""
    varies = [len({other[n] for other in lines}) > 1 for n in range(3)]
    words = [f"{key[3]:g} x {key[4]:g} cells"] + [short_name(key[n]) for n in range(3) if varies[n]]
    return ", ".join(words)


def draw_steps(figure, rows):
    lines = group_lines(rows)
    if not lines:
        raise Problem("no row is of the wall clock of a step")
    by_size, by_cell = figure.subplots(1, 2, sharey=True)
    styles = ["-", "--", ":", "-."]
    runs = list(dict.fromkeys(key[:3] for key in lines))
    grids = sorted({key[3:] for key in lines}, key=lambda grid: grid[0] * grid[1])
    for key, line in lines.items():
        cells = key[3] * key[4]
        nanoseconds = [row["ns_per_particle_step"] for row in line]
        spread = [
            [row["ns_per_particle_step"] - row["min_ns"] for row in line],
            [row["max_ns"] - row["ns_per_particle_step"] for row in line],
        ]
        style = {
            "color": CYCLE[grids.index(key[3:]) % len(CYCLE)],
            "linestyle": styles[runs.index(key[:3]) % len(styles)],
            "marker": "o" if grids.index(key[3:]) < len(CYCLE) else "s",
            "markersize": 4,
            "label": label_of(key, lines),
        }
        by_size.errorbar([row["particles"] for row in line], nanoseconds, yerr=spread, **style)
        by_cell.errorbar([row["particles"] / cells for row in line], nanoseconds, yerr=spread, **style)
    for axes in (by_size, by_cell):
        axes.set_xscale("log", base=2)
        axes.set_ylim(bottom=0)
    by_size.set(title="Cost by number of particles", xlabel="particles", ylabel="ns per particle and step")
    by_cell.set(title="Cost by particles in a cell", xlabel="particles per cell")
    by_cell.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), borderaxespad=0.2)


# ---- sorts ----


def group_bars(kind, rows):
    """Label -> (on the host?, {phase: ns per key}): the sorts in the order of their rows; a copy is none."""
    bars = {}
    several_files = len({row["file"] for row in rows}) > 1
    for row in rows:
        if row["phase"] == "copy":
            continue
        keys = row["particles" if kind == "pic-sort" else "keys"]
        if keys <= 0:
            raise Problem(f"a sort of {keys:g} keys has no time for one")
        on_host = row["device"] == "host"
        words = [row["method"]]
        if kind == "pic-sort" and not on_host:
            words.append(f"p = {row['passes']}")
            if row.get("table") == "rows":
                words.append("table rows")
        words.append(f"{count(keys)} keys")
        words.append("host" if on_host else f"b = {row['key_bits']}\n{short_name(row['device'])}")
        if several_files:
            words.append(row["file"])
        bar = bars.setdefault(", ".join(words), (on_host, {}))
        bar[1][row["phase"]] = 1e6 * row["median_ms"] / keys
    return bars


def draw_sorts(figure, kind, rows):
    """Bars of the phases. The host's may be so long that they leave the picture; their number still says it."""
    bars = group_bars(kind, rows)
    totals = {label: bar.get("total", 0) for label, (_, bar) in bars.items()}
    device_totals = [totals[label] for label, (on_host, _) in bars.items() if not on_host]
    longest = max(device_totals or totals.values()) or 1
    axes = figure.subplots()
    left = [0.0] * len(bars)
    for phase, color in zip((*PHASES, "rest"), (*CYCLE[: len(PHASES)], "#bbbbbb")):
        widths = [
            max(0.0, total - start) if phase == "rest" else bar.get(phase, 0)
            for (_, bar), total, start in zip(bars.values(), totals.values(), left)
        ]
        axes.barh(range(len(bars)), widths, left=left, color=color, label=phase, height=0.7)
        left = [start + width for start, width in zip(left, widths)]
    for place, total in enumerate(totals.values()):
        axes.text(min(total, 1.1 * longest) + 0.02 * longest, place, f"{total:.3g}", va="center", fontsize=9)
    axes.set(title="Time of a sort by phases", xlabel="ns per key", xlim=(0, 1.25 * longest))
    axes.set_yticks(range(len(bars)), bars, fontsize=8)
    axes.invert_yaxis()
    axes.grid(False)
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), borderaxespad=0.2)


# ---- layouts ----


def group_layouts(rows):
    """Title of a picture -> {label of a line: its rows in order of arrays}."""
    pictures = {}
    varies = {name: len({row[name] for row in rows}) > 1 for name in ("type", "length", "file")}
    devices = {row["device"] for row in rows if row["device"] != "host"}
    for row in rows:
        title = row["operation"] + {"s": " of type S", "d": " of type D"}.get(row["input"], "")
        words = ["host, quicksort" if row["layout"] == "quicksort" else row["layout"]]
        if row["device"] == "host" and row["layout"] != "quicksort":
            words = ["host"]
        words += [row[name] for name in varies if varies[name]]
        if len(devices) > 1:
            words.append(short_name(row["device"]))
        pictures.setdefault(title, {}).setdefault(", ".join(words), []).append(row)
    for lines in pictures.values():
        for line in lines.values():
            line.sort(key=lambda row: row["arrays"])
    return pictures


def draw_layouts(figure, rows):
    pictures = group_layouts(rows)
    labels = list(dict.fromkeys(label for lines in pictures.values() for label in lines))
    all_axes = figure.subplots(1, len(pictures), squeeze=False)[0]
    for axes, (title, lines) in zip(all_axes, pictures.items()):
        for label, line in lines.items():
            number = labels.index(label)
            times = [row["median_ms"] for row in line]
            spread = [
                [row["median_ms"] - row["min_ms"] for row in line],
                [row["max_ms"] - row["median_ms"] for row in line],
            ]
            color, dash = CYCLE[number % len(CYCLE)], ["-", "--", ":", "-."][number // len(CYCLE) % 4]
            arrays = [row["arrays"] for row in line]
            axes.errorbar(arrays, times, yerr=spread, color=color, linestyle=dash, marker="o", markersize=4, label=label)
        axes.set(title=title, xlabel="arrays", ylabel="ms", yscale="log")
        axes.set_xscale("log", base=2)
        axes.legend(fontsize=8)


# ---- deposits ----


def group_deposits(rows):
    """Shape -> {label of a line: [(particles per cell, median, min, max)], these in ns a particle}."""
    pictures = {}
    varies = [name for name in ("precision", "device", "file") if len({row[name] for row in rows}) > 1]
    for row in rows:
        if row["particles"] <= 0:
            raise Problem(f"a deposit of {row['particles']:g} particles has no time for one")
        label = ", ".join([row["method"], *(short_name(row[name]) for name in varies)])
        times = [1e6 * row[name] / row["particles"] for name in ("median_ms", "min_ms", "max_ms")]
        pictures.setdefault(row["shape"], {}).setdefault(label, []).append((row["per_cell"], *times))
    return {shape: {label: sorted(line) for label, line in lines.items()} for shape, lines in pictures.items()}


def draw_deposits(figure, rows):
    pictures = group_deposits(rows)
    labels = list(dict.fromkeys(label for lines in pictures.values() for label in lines))
    for axes, (shape, lines) in zip(figure.subplots(1, len(pictures), squeeze=False)[0], pictures.items()):
        for label, line in lines.items():
            turn, color = divmod(labels.index(label), len(CYCLE))
            per_cell, median, least, most = zip(*line)
            spread = [[b - a for a, b in zip(least, median)], [b - a for a, b in zip(median, most)]]
            style = {"color": CYCLE[color], "linestyle": ("-", "--", ":", "-.")[turn % 4], "label": label}
            axes.errorbar(per_cell, median, yerr=spread, marker="o", markersize=4, **style)
        axes.set(title=shape, xlabel="particles per cell", ylabel="ns per particle", yscale="log")
        axes.set_xscale("log", base=2)
        axes.legend(fontsize=8)


# ---- permutations ----

MARKERS = "os^DvpX*"


def group_volumes(rows):
    """(file, kernel, dimensions, block) -> rows in the order of their elements; numpy knows no blocks."""
    lines = {}
    for row in rows:
        block = "" if row["kernel"] == "numpy" else row["block"]
        lines.setdefault((row["file"], row["kernel"], row["dimensions"], block), {})[row["elements"]] = row
    return {key: [line[elements] for elements in sorted(line)] for key, line in lines.items()}


def draw_permutations(figure, rows):
    """Kernels by colour, dimensions by marker, the first block of them filled, files by the style of the line."""
    lines = group_volumes(rows)
    files, kernels, dimensions = (list(dict.fromkeys(key[part] for key in lines)) for part in range(3))
    blocks = {name: list(dict.fromkeys(key[3] for key in lines if key[2] == name and key[3])) for name in dimensions}

    def marker(name, block):
        is_first = block in ("", *blocks[name][:1])
        sign = MARKERS[dimensions.index(name) % len(MARKERS)]
        return {"marker": sign, "markersize": 5, **({} if is_first else {"markerfacecolor": "white"})}

    axes = figure.subplots()
    for (file, kernel, name, block), line in lines.items():
        style = {"color": CYCLE[kernels.index(kernel) % len(CYCLE)], **marker(name, block)}
        style["linestyle"] = ("-", "--", ":", "-.")[files.index(file) % 4]
        axes.plot([row["elements"] for row in line], [row["median_ms"] for row in line], **style)
    for number, kernel in enumerate(kernels):
        axes.plot([], [], color=CYCLE[number % len(CYCLE)], label=kernel)
    for name, its_blocks in blocks.items():
        for block in its_blocks:
            label = f"{name}D, block {block}"
            axes.plot([], [], color="#888888", linestyle="", label=label, **marker(name, block))
    axes.set(title="Time of a permutation", xlabel="elements", ylabel="ms", xscale="log", yscale="log")
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), borderaxespad=0.2, fontsize=8)


# ---- local memory ----


def group_ladder(rows):
    """The bars, label -> GB/s, of what moves bytes; and the lines, (scope, function) -> [(words, ns an operation)]."""
    bars, lines = {}, {}
    several = {name: len({row[name] for row in rows}) > 1 for name in ("device", "file")}
    for row in rows:
        where = [short_name(row[name]) for name in ("device", "file") if several[name]]
        if row["unit"] == "GB/s":
            bars[", ".join([f"{row['part']}: {row['version']}", *where])] = row["rate"]
        elif row["part"] == "atomics" and row["rate"] > 0:
            line = lines.setdefault((row["scope"], ", ".join([row["version"], *where])), [])
            line.append((int(row["addresses"]), 1 / row["rate"]))
    return bars, lines


def draw_ladder(figure, rows):
    """Left the bandwidths; right what an atomic operation takes, by the words that share all operations."""
    bars, lines = group_ladder(rows)
    by_version, by_words = figure.subplots(1, 2, width_ratios=(3, 2))
    by_version.barh(range(len(bars)), bars.values(), height=0.7)
    by_version.set_yticks(range(len(bars)), bars, fontsize=8)
    by_version.invert_yaxis()
    by_version.grid(False)
    by_version.set(title="Bandwidth", xlabel="GB/s")
    functions = list(dict.fromkeys(function for _, function in lines))
    for (scope, function), line in lines.items():
        turn, color = divmod(functions.index(function), len(CYCLE))
        style = {"color": CYCLE[color], "marker": MARKERS[turn % len(MARKERS)], "markersize": 4}
        style["linestyle"] = "-" if scope == "device" else "--"
        by_words.plot(*zip(*line), label=function if scope == "device" else None, **style)
    by_words.set(title="Atomic functions (dashed: of a group)", xlabel="words", ylabel="ns an operation")
    if lines:
        by_words.set(xscale="log", yscale="log")
        by_words.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), borderaxespad=0.2, fontsize=8)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, epilog=EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", metavar="FILE", nargs="+", help="written by radixpic bench NAME --csv FILE")
    parser.add_argument("-o", "--output", metavar="PICTURE", default="bench.png", help="to write (default: bench.png)")
    parser.add_argument("--title", help="title of the picture (default: the experiment and the device)")
    parser.add_argument("--show", action="store_true", help="also open a window")
    arguments = parser.parse_args()

    read = [read_bench(path) for path in arguments.files]
    kinds = {kind for kind, _ in read}
    if len(kinds) > 1:
        raise Problem(f"the files are of several experiments ({', '.join(sorted(kinds))}): draw them one by one")
    kind = kinds.pop()
    rows = [row for _, file_rows in read for row in file_rows]
    devices = list(dict.fromkeys(row["device"] for row in rows if row["device"] != "host"))
    plt = import_pyplot(arguments.show)
    if kind == "step":
        figure = plt.figure(figsize=(11, 4.6))
        draw_steps(figure, rows)
    elif kind == "permutation":
        figure = plt.figure(figsize=(8, 5))
        draw_permutations(figure, rows)
    elif kind == "local-memory":
        figure = plt.figure(figsize=(12, 5))
        draw_ladder(figure, rows)
    elif kind == "deposit":
        figure = plt.figure(figsize=(2 + 4.5 * len(group_deposits(rows)), 4.6))
        draw_deposits(figure, rows)
    elif kind == "layout":
        figure = plt.figure(figsize=(1.5 + 4 * len(group_layouts(rows)), 4.6))
        draw_layouts(figure, rows)
    else:
        figure = plt.figure(figsize=(9.5, 1.6 + 0.5 * len(group_bars(kind, rows))))
        draw_sorts(figure, kind, rows)
    figure.suptitle(arguments.title or f"radixpic bench {kind}: {', '.join(devices)}", fontsize=12)
    save(figure, Path(arguments.output))
    if arguments.show:
        plt.show()


if __name__ == "__main__":
    run_script(main)
