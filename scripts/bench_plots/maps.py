"""Maps of what an atomic operation takes: functions by words, a map for each scope and device."""

import math

from bench_plots import look
from bench_plots.reading import Settings, is_refuted, number

# Where the words of an atomic function are, and what the number of them counts.
SCOPES = {
    "device": ("device scope, global memory", "words in all"),
    "group": ("group scope, local memory", "words of a group"),
}
MAP_WIDTH, MAP_HEIGHT = 4.8, 3.7


class Maps:
    """maps: {(scope, settings): {(function, words): (ns an operation, or None without a rate, operations,
    refuted?)}}."""

    def __init__(self, rows):
        rows = [row for row in rows if row.get("part") == "atomics" and row["quantity"].startswith("rate_")]
        shown = ("part", "version", "scope", "words", "size")
        settings = Settings(rows, shown, lambda row: (row["scope"], row["version"], row["words"]))
        self.maps = {}
        for row in sorted(rows, key=lambda row: row["scope"]):
            nanoseconds = 1 / row["median"] if row["median"] > 0 else None
            cells = self.maps.setdefault((row["scope"], look.join(settings.words(row))), {})
            cell = nanoseconds, int(number(row, "size")), is_refuted(row)
            cells[row["version"], int(number(row, "words"))] = cell
        self.scopes = {}
        for scope, words in self.maps:
            self.scopes.setdefault(scope, []).append(words)
        self.width = MAP_WIDTH * max(map(len, self.scopes.values()), default=0)
        self.height = MAP_HEIGHT * len(self.scopes)
        self.words = [f"crossed out: {look.REFUTED_LABEL}"] if any(map(is_refuted, rows)) else []
        if any(len({cell[1] for cell in cells.values()}) > 1 for cells in self.maps.values()):
            self.words.append("in brackets: operations, where they are not as many as above the map")

    def draw(self, figure):
        """The maps of a scope stand in a row; colours are by the logarithm, for all maps alike."""
        from matplotlib.colors import LogNorm

        times = [cell[0] for cells in self.maps.values() for cell in cells.values() if cell[0]] or [1.0]
        norm = LogNorm(min(times) / 1.05, max(times) * 1.05)
        across = max(map(len, self.scopes.values()))
        for row_axes, (scope, series) in zip(
            figure.subplots(len(self.scopes), across, squeeze=False), self.scopes.items()
        ):
            for axes, words in zip(row_axes, series):
                draw_map(axes, scope, words, self.maps[scope, words], norm)
            for axes in row_axes[len(series) :]:
                axes.remove()


def draw_map(axes, scope, series, cells, norm):
    """ns an operation in every cell; what was refuted is crossed out."""
    functions, words = (list(dict.fromkeys(names)) for names in zip(*cells))
    words.sort()
    counts = [operations for _, operations, _ in cells.values()]
    usual = max(counts, key=counts.count)
    values = [[cells.get((function, word), (None,))[0] or math.nan for word in words] for function in functions]
    axes.imshow(values, aspect="auto", norm=norm, cmap="Blues", alpha=0.5)
    for (function, word), (nanoseconds, operations, refuted) in cells.items():
        row, column = functions.index(function), words.index(word)
        text = "no rate" if nanoseconds is None else look.three_digits(nanoseconds)
        text += f"\n({operations:,})" if operations != usual else ""
        axes.text(column, row, text, ha="center", va="center", fontsize=7, linespacing=0.9)
        if refuted:
            across, down = (column - 0.5, column + 0.5), (row - 0.5, row + 0.5)
            axes.plot(across, down, across, down[::-1], color="black", linewidth=0.8, label="_refuted")
    axes.set_xticks(range(len(words)), [f"{word:,}" for word in words])
    axes.set_yticks(range(len(functions)), functions, fontsize=8)
    where, counted = SCOPES.get(scope, (scope, "words"))
    lines = ["Atomic functions, time per operation [ns]:", f"{where}, {usual:,} operations", series]
    axes.set_title("\n".join(line for line in lines if line), fontsize=9)
    axes.set(xlabel=counted, xlim=(-0.5, len(words) - 0.5), ylim=(len(functions) - 0.5, -0.5))
    axes.grid(False)
