"""The look of bench pictures: words and numbers, ticks of logarithmic axes, titles, legends of their own place."""

import math
import textwrap

from radixpic.look import CYCLE
from radixpic.script import Problem

from bench_plots.reading import count

COLORS = [*CYCLE, "#000000", "#999999"]
DASHES = ["-", (0, (5, 2)), (0, (1, 1.2)), (0, (7, 2, 1.5, 2))]
MARKERS = "os^DvPX*p"  # as many as have no divisor in common with the dashes, so that pairs repeat late
GREY = "#777777"
REFUTED = {"linestyle": "", "marker": "x", "color": "black", "markersize": 11, "markeredgewidth": 2}
HATCHED = {"hatch": "xxx", "edgecolor": "black", "linewidth": 0}  # a bar that was refuted
REFUTED_LABEL = "NOT VERIFIED"


def wrap(words, characters=42):
    """Words in lines of so many characters; none is left out."""
    return textwrap.fill(words, characters, break_on_hyphens=False)


def join(words):
    return ", ".join(word for word in words if word)


def three_digits(number):
    """A measured number with three digits that count, never as a power of ten: 0.0123, 5.7, 238, 90,000."""
    if number == 0:
        return "0"
    digits = max(0, 2 - math.floor(math.log10(abs(number))))
    rounded = float(f"{number:.3g}")
    return f"{rounded:,.{digits}f}"


def style_of(primary, rest, rests):
    """The style of a line: the colour by its first setting, dash and marker by the others, all by their numbers."""
    turn, color = divmod(primary, len(COLORS))
    sign = rest + rests * turn
    if sign >= len(DASHES) * len(MARKERS):
        raise Problem("more lines than a picture can tell apart: draw fewer files at once")
    marker = MARKERS[(primary if rests == 1 else sign) % len(MARKERS)]
    return {"color": COLORS[color], "linestyle": DASHES[sign % len(DASHES)], "marker": marker}


# ---- axes ----


def ticks_at_values(axis, values, least):
    """Ticks of a logarithmic axis where something was measured, as plain numbers, so far apart as labels need: `least`
    is a share of the axis."""
    values = sorted({value for value in values if value > 0})
    apart = least * math.log(values[-1] / values[0])
    chosen = values[:1]
    for value in values[1:]:
        if math.log(value / chosen[-1]) >= apart - 1e-9:
            chosen.append(value)
    set_ticks(axis, chosen, [count(value) for value in chosen])


def set_ticks(axis, values, labels):
    axis.set_ticks(values, labels=labels)
    axis.set_ticks([], minor=True)


def plain_log_ticks(axis):
    """Ticks of a logarithmic axis as plain numbers: decades; 1, 2, 5; or, within a decade, equal steps."""
    from matplotlib.ticker import AutoLocator, LogLocator

    low, high = axis.get_view_interval()
    steps = (1, 2, 5) if high / low < 4000 else (1,)
    locator = AutoLocator() if high / low < 10 else LogLocator(subs=steps, numticks=12)
    ticks = [tick for tick in locator.tick_values(low, high) if low * (1 - 1e-9) <= tick <= high * (1 + 1e-9)]
    set_ticks(axis, ticks, [f"{tick:.6g}" if 1e-4 <= tick < 1e6 else f"{tick:.3g}" for tick in ticks])


# ---- figures, titles and legends ----


def make_figure(plt, parts, title, words):
    """A figure of parts side by side, (function that draws into a subfigure, width, height) in inches; above them the
    title and what was measured."""
    widths = [width for _, width, _ in parts]
    figure = plt.figure(figsize=(sum(widths), max(height for _, _, height in parts) + 0.7))
    characters = int(12 * sum(widths))
    lines = [wrap(title, characters), wrap("; ".join(words), characters)]
    figure.suptitle("\n".join(line for line in lines if line), fontsize=11)
    subfigures = figure.subfigures(1, len(parts), width_ratios=widths, squeeze=False)[0]
    for (draw, *_), subfigure in zip(parts, subfigures):
        draw(subfigure)
    return figure


def title_of(kind, rows):
    """The experiment and its devices, as far as a title holds them; a legend names many."""
    devices = list(dict.fromkeys(row["machine"] for row in rows))
    return f"radixpic bench {kind}: " + (devices[0] if len(devices) == 1 else f"{len(devices)} devices")


class Legend:
    """A legend beside the panels, from {heading: [(handle, label)]}; headings without entries are left out."""

    def __init__(self, sections):
        self.entries = []  # (handle or None for a heading, label)
        for heading, entries in sections.items():
            if entries:
                self.entries += [(None, " ")] * bool(self.entries) + [(None, heading)]
                self.entries += [(handle, wrap(label)) for handle, label in entries]
        lines = [line for _, label in self.entries for line in label.split("\n")]
        self.height, self.width = 0.19 * len(lines), 0.75 + 0.07 * max(map(len, lines), default=0)

    def draw(self, figure):
        """Puts the legend at the upper left corner of a part of a figure that holds nothing else."""
        from matplotlib.lines import Line2D

        axes = figure.subplots()
        axes.axis("off")
        handles = [handle or Line2D([], [], linestyle="") for handle, _ in self.entries]
        options = {"loc": "upper left", "bbox_to_anchor": (0, 1), "borderaxespad": 0, "handlelength": 4}
        drawn = axes.legend(handles, [label for _, label in self.entries], **options)
        for (handle, _), text in zip(self.entries, drawn.get_texts()):
            if handle is None:
                text.set_fontweight("bold")
