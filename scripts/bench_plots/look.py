"""The look of bench pictures: words and numbers, ticks of logarithmic axes, titles, legends of their own place."""

import math
import textwrap

from common import CYCLE, Problem

COLORS = [*CYCLE, "#000000", "#999999"]
DASHES = ["-", (0, (5, 2)), (0, (1, 1.2)), (0, (7, 2, 1.5, 2))]
MARKERS = "os^DvPX*p"  # as many as have no divisor in common with the dashes, so that pairs repeat late
GREY = "#777777"
REFUTED = {"linestyle": "", "marker": "x", "color": "black", "markersize": 11, "markeredgewidth": 2}
REFUTED_LABEL = "NOT VERIFIED"
LEGEND_CHARACTERS = 42
CHARACTERS_AN_INCH = 12  # of a title


def wrap(words, characters=LEGEND_CHARACTERS):
    """Words in lines of so many characters; none is left out."""
    return textwrap.fill(words, characters, break_on_hyphens=False)


def count(number):
    """1048576 as 2^20, in mathematics; others as they are, thousands apart."""
    power = int(number).bit_length() - 1
    if number == 2**power and power >= 14:
        return rf"$2^{{{power}}}$"
    return f"{number:,.0f}" if number == int(number) else f"{number:g}"


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


def spread_out(values, apart):
    """Of values, the most wanted first, those whose logarithms are at least so far apart; in order."""
    kept = []
    for value in values:
        if all(abs(math.log(value / other)) >= apart - 1e-9 for other in kept):
            kept.append(value)
    return sorted(kept)


def digits_of(tick):
    """A key by which 1 comes before 2, 2 before 5, these before other digits, and few digits before many."""
    digits = f"{tick:.6g}".split("e")[0].replace(".", "").strip("0")
    return len(digits), "125".find(digits) % 9, digits


def ticks_at_values(axis, values, least=0.11):
    """Ticks of a logarithmic axis where something was measured, as plain numbers, as many as there is room for."""
    values = sorted({value for value in values if value > 0})
    chosen = spread_out(values, least * math.log(values[-1] / values[0]))
    set_ticks(axis, chosen, [count(value) for value in chosen])


def set_ticks(axis, values, labels):
    axis.set_ticks(values, labels=labels)
    axis.set_ticks([], minor=True)


def plain_log_ticks(axis):
    """Ticks of a logarithmic axis as plain numbers, at least three: decades, or 1, 2, 5, or finer steps."""
    low, high = axis.get_view_interval()
    decades = range(math.floor(math.log10(low)) - 1, math.ceil(math.log10(high)) + 1)
    for steps in ((1,), (1, 2, 5), (1, 1.5, 2, 3, 4, 5, 6, 7, 8, 9), [1 + 0.1 * n for n in range(90)]):
        ticks = [step * 10.0**decade for decade in decades for step in steps]
        ticks = [tick for tick in ticks if low * (1 - 1e-9) <= tick <= high * (1 + 1e-9)]
        if len(ticks) >= 4:
            break
    if len(ticks) < 3:  # a range of a few percent
        step = 10.0 ** math.floor(math.log10((high - low) / 2))
        ticks = [n * step for n in range(math.ceil(low / step), math.floor(high / step) + 1)]
    ticks = spread_out(sorted(ticks, key=digits_of), 0.07 * math.log(high / low))
    set_ticks(axis, ticks, [f"{tick:.6g}" if 1e-4 <= tick < 1e6 else f"{tick:.3g}" for tick in ticks])


# ---- titles and legends ----


def set_title(figure, title, words, characters):
    """A picture's title and, below, what was measured."""
    lines = [wrap(title, characters), wrap("; ".join(words), characters)]
    figure.suptitle("\n".join(line for line in lines if line), fontsize=11)


def title_of(kind, rows):
    """The experiment and its devices, as far as a title holds them; a legend names many."""
    devices = list(dict.fromkeys(row["machine"] for row in rows))
    return f"radixpic bench {kind}: " + (devices[0] if len(devices) == 1 else f"{len(devices)} devices")


class Legend:
    """A legend in the making: headings, and under each what its entries stand for."""

    def __init__(self):
        self.entries = []  # (handle or None for a heading, label)

    def heading(self, label):
        if self.entries:
            self.entries.append((None, ""))
        self.entries.append((None, label))

    def entry(self, handle, label):
        self.entries.append((handle, wrap(label)))

    @property
    def lines(self):
        return sum(1 + label.count("\n") for _, label in self.entries)

    def draw(self, axes):
        """Puts the legend at the upper left corner of axes that hold nothing else."""
        from matplotlib.lines import Line2D

        axes.axis("off")
        handles = [handle or Line2D([], [], linestyle="") for handle, _ in self.entries]
        labels = [label or " " for _, label in self.entries]
        options = {"loc": "upper left", "bbox_to_anchor": (0, 1), "borderaxespad": 0, "handlelength": 4}
        drawn = axes.legend(handles, labels, **options)
        for (handle, _), text in zip(self.entries, drawn.get_texts()):
            if handle is None:
                text.set_fontweight("bold")
        return drawn
