"""The pictures of radixpic bench pic-sort and random-lists: a bar of the phases for each sort, its total a mark."""

import math
from dataclasses import dataclass, field

from common import CYCLE, Problem

from bench_plots import look
from bench_plots.reading import HOST, Settings, is_refuted, number

PHASES = ("transpose", "histogram", "scan", "reorder")
WHOLE = "whole sort, without phases"
LABEL_CHARACTERS = 58
CUT_BEYOND = 2  # times the longest bar of a device


@dataclass
class Bar:
    """A sort in ns per key: its phases, each the median of single sorts, and the total of sorts in a row."""

    on_host: bool
    phases: dict = field(default_factory=dict)
    total: float = None
    refuted: bool = False

    @property
    def parts(self):
        """What the bar is stacked of; a sort whose phases were not timed is in one piece."""
        return self.phases or {WHOLE: self.total or 0.0}

    @property
    def length(self):
        return sum(self.parts.values())


def group(rows):
    """({label: Bar} in the order of the rows, Settings)."""
    rows = [row for row in rows if row["quantity"].endswith("_ms")]
    if not rows:
        raise Problem("no row is of a sort")
    settings = Settings(rows, ("method",), lambda row: (row["device"], row["method"], row["quantity"]), look.count)
    bars = {}
    for row in rows:
        on_host, keys, phase = row["device"] == HOST, number(row, "N"), row["quantity"].removesuffix("_ms")
        if keys <= 0 or row["median"] < 0:
            raise Problem(f"a sort of {keys:g} keys in {row['median']:g} ms has no time for one")
        method = f"{row['method']} on the host" if on_host else row["method"]
        words = [f"beside {word}" if on_host and word == row["machine"] else word for word in settings.words(row)]
        bar = bars.setdefault(", ".join(word for word in (method, *words) if word), Bar(on_host))
        nanoseconds = 1e6 * row["median"] / keys
        bar.refuted |= is_refuted(row)
        if phase == "total":
            bar.total = nanoseconds
        else:
            bar.phases[phase] = nanoseconds
    return bars, settings


def limit_of(bars):
    """How far the axis has to reach: the host's sorts may be so slow that they would leave no room for the others."""
    reach = [max(bar.length, bar.total or 0) for bar in bars.values()]
    device = [far for far, bar in zip(reach, bars.values()) if not bar.on_host]
    longest = max(reach)
    return 1.15 * max(device) if device and longest > CUT_BEYOND * max(device) > 0 else longest or 1.0


def draw_break(axes, place, limit):
    """Two white strokes through a bar that goes on: it is longer than drawn."""
    for middle in (0.93 * limit, 0.95 * limit):
        ends = [middle - 0.008 * limit, middle + 0.008 * limit]
        axes.plot(ends, [place + 0.4, place - 0.4], color="white", linewidth=2.5, label="_break", zorder=4)


def draw_bar(axes, place, bar, limit):
    """The phases end to end, the number of their length beside them, and the total as a mark."""
    left = 0.0
    for number, (phase, nanoseconds) in enumerate(bar.parts.items()):
        color = CYCLE[PHASES.index(phase)] if phase in PHASES else "#bbbbbb"
        (drawn,) = axes.barh(place, min(nanoseconds, limit - left), left=left, color=color, height=0.6)
        drawn.set_label(f"_{phase}")
        if bar.refuted:
            drawn.set(hatch="xxx", edgecolor="black", linewidth=0)
        left = min(left + nanoseconds, limit)
    is_cut = bar.length > limit
    if is_cut:
        draw_break(axes, place, limit)
    words, end = look.three_digits(bar.length), left
    if bar.phases and bar.total is not None:
        axes.plot(bar.total, place, **TOTAL)
        words += f"  (total {look.three_digits(bar.total)})"
        end = max(left, bar.total)
    words += "  (bar cut)" if is_cut else ""
    words += f"  {look.REFUTED_LABEL}" if bar.refuted else ""
    axes.text(end + 0.02 * limit, place, words, va="center", fontsize=9)


TOTAL = {"linestyle": "", "marker": "D", "color": "black", "markersize": 6, "markeredgecolor": "white", "zorder": 5}


def legend_of(bars):
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    legend = look.Legend()
    legend.heading("bar: phases of single sorts")
    parts = [part for bar in bars.values() for part, nanoseconds in bar.parts.items() if nanoseconds > 0]
    for phase in (*PHASES, WHOLE):
        if phase in parts:
            color = CYCLE[PHASES.index(phase)] if phase in PHASES else "#bbbbbb"
            legend.entry(Patch(color=color), phase)
    if any(bar.phases and bar.total is not None for bar in bars.values()):
        legend.heading("mark")
        legend.entry(Line2D([], [], **TOTAL), "total: a sort in a row of sorts, nothing timed within")
    if any(bar.refuted for bar in bars.values()):
        legend.heading("crossed out")
        legend.entry(Patch(facecolor="white", edgecolor="black", hatch="xxx"), look.REFUTED_LABEL)
    return legend


def draw(plt, bench, rows, title):
    bars, settings = group(rows)
    legend = legend_of(bars)
    labels = [look.wrap(label, LABEL_CHARACTERS) for label in bars]
    lines = sum(0.5 + 0.15 * label.count("\n") for label in labels)
    figure = plt.figure(figsize=(12.5, max(1.7 + lines, 0.19 * legend.lines + 1)))
    axes, beside = figure.subplots(1, 2, width_ratios=[1, 0.01])
    legend.draw(beside)
    limit = limit_of(bars)
    for place, bar in enumerate(bars.values()):
        draw_bar(axes, place, bar, limit)
    axes.set(xlabel="ns per key", xlim=(0, 1.3 * limit), ylim=(len(bars) - 0.4, -0.6))
    axes.set_xticks([tick for tick in axes.get_xticks() if 0 <= tick <= limit * (1 + math.ulp(1.0))])
    axes.set_yticks(range(len(bars)), labels, fontsize=8.5)
    axes.grid(False)
    look.set_title(figure, title, [*settings.shared, "medians; number beside a bar: its length"], 140)
    return figure
