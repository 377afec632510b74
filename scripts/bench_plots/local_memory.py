"""The picture of radixpic bench local-memory: bars of the rates, and what an atomic operation takes as a map."""

from dataclasses import dataclass, field

from bench_plots import look
from bench_plots.reading import Settings, is_refuted, number

RATES = {"GB/s": "Bandwidth", "Gflop/s": "Product of matrices", "Gcells/s": "Refinement"}
# Where the words of an atomic function are, and what the number of them counts.
SCOPES = {
    "device": ("device scope, global memory", "words in all"),
    "group": ("group scope, local memory", "words of a group"),
}
BAR_HEIGHT, LABEL_CHARACTERS = 0.3, 64


@dataclass
class Map:
    """{(function, words): (ns an operation, or None without a rate, operations, refuted?)} of a scope on a device."""

    scope: str
    series: str
    cells: dict = field(default_factory=dict)

    @property
    def functions(self):
        return list(dict.fromkeys(function for function, _ in self.cells))

    @property
    def words(self):
        return sorted({words for _, words in self.cells})

    @property
    def operations(self):
        """As many as most cells have."""
        counts = [operations for _, operations, _ in self.cells.values()]
        return max(counts, key=counts.count)

    @property
    def title(self):
        where, _ = SCOPES.get(self.scope, (self.scope, ""))
        lines = ["Atomic functions, ns an operation:", f"{where}, {self.operations:,} operations", self.series]
        return "\n".join(line for line in lines if line)


class Ladder:
    """bars: {unit: {version: {device or file: (rate, refuted?)}}}; maps: [Map]; shared: words for the title."""

    def __init__(self, rows):
        rows = [row for row in rows if row["quantity"].startswith(("rate_", "copy_"))]
        shown = ("of", "bytes", "part", "version", "size", "scope", "words")
        self.settings = Settings(rows, shown, lambda row: tuple(row.get(name) for name in shown if name != "size"), str)
        self.shared = []
        self.bars, maps = {}, {}
        for row in rows:
            series, rate = ", ".join(words for words in self.settings.words(row) if words), row["median"]
            if row.get("part") == "atomics":
                cells = maps.setdefault((row["scope"], series), Map(row["scope"], series)).cells
                nanoseconds = 1 / rate if rate > 0 else None
                words, operations = int(number(row, "words")), int(number(row, "size"))
                cells[row["version"], words] = nanoseconds, operations, is_refuted(row)
            else:
                is_copy = row.get("of") == "copy"
                version = "copy on the device" if is_copy else f"{row['part']}: {row['version']}, {row['size']}"
                unit = row["quantity"].split("_")[1]
                self.bars.setdefault(unit, {}).setdefault(version, {})[series] = (rate, is_refuted(row))
        self.maps = [maps[where] for where in sorted(maps, key=lambda where: where[0])]
        self.series = list(dict.fromkeys(name for bars in self.bars.values() for bar in bars.values() for name in bar))
        self.move_lone_copy()

    def move_lone_copy(self):
        """A copy that stands beside nothing to compare it with is words of the title rather than a bar."""
        copies = self.bars.get("GB/s", {})
        if any(not version.startswith("copy ") for version in copies) or not (self.maps or len(self.bars) > 1):
            return
        for results in self.bars.pop("GB/s", {}).values():
            for series, (rate, refuted) in results.items():
                of = f" of {series}" if series else ""
                refuted_words = f" {look.REFUTED_LABEL}" if refuted else ""
                self.shared.append(f"copy on the device{of} {look.three_digits(rate)} GB/s{refuted_words}")


def draw_bars(axes, unit, versions, series):
    """A bar for each version and each of the series, its number beside it."""
    thick = 0.8 / len(series)
    longest = max(rate for results in versions.values() for rate, _ in results.values()) or 1.0
    for place, results in enumerate(versions.values()):
        for name, (rate, refuted) in results.items():
            number = series.index(name)
            where = place - 0.4 + thick * (number + 0.5)
            (bar,) = axes.barh(where, rate, height=0.9 * thick, color=look.COLORS[number % len(look.COLORS)])
            words = look.three_digits(rate)
            if refuted:
                bar.set(hatch="xxx", edgecolor="black", linewidth=0)
                words += f"  {look.REFUTED_LABEL}"
            axes.text(rate + 0.01 * longest, where, words, va="center", fontsize=8)
    room = 1.4 if any(refuted for results in versions.values() for _, refuted in results.values()) else 1.18
    labels = [look.wrap(version, LABEL_CHARACTERS) for version in versions]
    axes.set_yticks(range(len(versions)), labels, fontsize=8)
    axes.set(title=RATES.get(unit, "Rate"), xlabel=unit, xlim=(0, room * longest), ylim=(len(versions) - 0.4, -0.6))
    axes.grid(False)


def draw_map(axes, drawn, norm):
    """Functions by words, ns an operation in every cell; what was refuted is crossed out."""
    import numpy as np

    functions, words = drawn.functions, drawn.words
    values = np.full((len(functions), len(words)), np.nan)
    for (function, word), (nanoseconds, operations, refuted) in drawn.cells.items():
        row, column = functions.index(function), words.index(word)
        values[row, column] = np.nan if nanoseconds is None else nanoseconds
        text = "no rate" if nanoseconds is None else look.three_digits(nanoseconds)
        size = 7.5
        if operations != drawn.operations:
            text, size = f"{text}\n({operations:,})", 6.5
        is_dark = nanoseconds is not None and norm(nanoseconds) > 0.55
        color = "white" if is_dark else "black"
        axes.text(column, row, text, ha="center", va="center", fontsize=size, linespacing=0.9, color=color)
        if refuted:
            ends = [column - 0.5, column + 0.5]
            for rows in ([row - 0.5, row + 0.5], [row + 0.5, row - 0.5]):
                axes.plot(ends, rows, color="black", linewidth=0.8, label="_refuted")
    axes.imshow(values, aspect="auto", norm=norm, cmap="Blues")
    axes.set_xticks(range(len(words)), [f"{word:,}" for word in words])
    axes.set_yticks(range(len(functions)), functions, fontsize=8)
    axes.set(xlim=(-0.5, len(words) - 0.5), ylim=(len(functions) - 0.5, -0.5))
    axes.set_xlabel(SCOPES.get(drawn.scope, ("", "words"))[1])
    axes.set_title(drawn.title, fontsize=9)
    axes.grid(False)


def norm_of(maps):
    """Colours for all maps alike, by the logarithm."""
    from matplotlib.colors import LogNorm

    values = [cell for drawn in maps for cell, _, _ in drawn.cells.values() if cell is not None] or [1.0]
    return LogNorm(min(values) / 1.05, max(values) * 1.05)


def rows_of(maps):
    """The maps by their scopes: those of a scope stand in a row."""
    scopes = {}
    for drawn in maps:
        scopes.setdefault(drawn.scope, []).append(drawn)
    return list(scopes.values())


def draw(plt, bench, rows, title):
    ladder = Ladder(rows)
    maps = rows_of(ladder.maps)
    across = max((len(row) for row in maps), default=0)
    counts = [len(versions) for versions in ladder.bars.values()]
    thick = BAR_HEIGHT * max(1, 0.6 * len(ladder.series))
    legend_lines = len(ladder.series) + 1.5 if len(ladder.series) > 1 and counts else 0
    high = max(sum(thick * number + 0.75 for number in counts) + 0.2 * legend_lines, 3.7 * len(maps)) + 0.6
    widths = [9.0] * bool(counts) + [max(4.4 * across, 0.0 if counts else 7.0)] * bool(maps)
    figure = plt.figure(figsize=(sum(widths), high))
    parts = list(figure.subfigures(1, len(widths), width_ratios=widths, squeeze=False)[0])
    if counts:
        draw_rates(parts[0], ladder, counts, legend_lines)
    if maps:
        all_axes = parts[-1].subplots(len(maps), across, squeeze=False)
        for row_axes, row in zip(all_axes, maps):
            for axes in row_axes[len(row) :]:
                axes.axis("off")
            for axes, drawn in zip(row_axes, row):
                draw_map(axes, drawn, norm_of(ladder.maps))
    words = [*ladder.shared, "medians"]
    if any(is_refuted(row) for row in rows):
        words.append(f"crossed out: {look.REFUTED_LABEL}")
    if any(cell[1] != drawn.operations for drawn in ladder.maps for cell in drawn.cells.values()):
        words.append("in brackets: operations, where they are not as many as above the map")
    look.set_title(figure, title, words, int(look.CHARACTERS_AN_INCH * sum(widths)))
    return figure


def draw_rates(figure, ladder, counts, legend_lines):
    """Bars of each unit below one another, the legend of the devices above them."""
    from matplotlib.patches import Patch

    heights = [number + 1.5 for number in counts]
    if legend_lines:
        heights.insert(0, 0.8 * legend_lines)
    all_axes = list(figure.subplots(len(heights), 1, height_ratios=heights, squeeze=False)[:, 0])
    if legend_lines:
        legend = look.Legend()
        legend.heading(", ".join(ladder.settings.varying))
        for number, name in enumerate(ladder.series):
            legend.entry(Patch(color=look.COLORS[number % len(look.COLORS)]), name)
        legend.draw(all_axes.pop(0))
    for axes, (unit, versions) in zip(all_axes, ladder.bars.items()):
        draw_bars(axes, unit, versions, ladder.series)
