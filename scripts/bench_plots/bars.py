"""Panels of bars, one below the other: a bar is in one piece or of phases end to end, whose total is then a mark."""

import math
from dataclasses import dataclass, field

from radixpic.script import Problem

from bench_plots import lines, look
from bench_plots.reading import HOST, Settings, is_refuted

WHOLE = "whole sort, without phases"  # of a sort whose phases were not timed
TOTAL = {"linestyle": "", "marker": "D", "color": "black", "markersize": 6, "markeredgecolor": "white", "zorder": 5}
TOTAL_LABEL = "total: a sort in a row of sorts, nothing timed within"
WIDTH, BAR_HEIGHT, LINE_HEIGHT, LABEL_CHARACTERS = 9.0, 0.25, 0.13, 64
CUT_BEYOND = 2  # times the longest bar of a device


@dataclass
class Bar:
    label: str
    on_host: bool
    phases: dict = field(default_factory=dict)
    total: float = None
    refuted: bool = False

    @property
    def parts(self):
        return self.phases or {WHOLE: self.total}

    @property
    def length(self):
        return sum(self.parts.values())

    @property
    def has_mark(self):
        return bool(self.phases) and self.total is not None


class Bars:
    """panels: {(title, label of x): [Bar]}, those of one label beside one another; parts: those that are to be seen."""

    def __init__(self, kind, rows):
        self.kind = kind
        rows = [row for row in rows if kind.bar(row)]
        self.settings = Settings(rows, kind.shown, lambda row: (row["device"], *kind.bar(row)[:4]))
        found = {}
        for row in rows:
            *panel, name, part, length = kind.bar(row)
            on_host, words = row["device"] == HOST, self.settings.words(row)
            said = [f"beside {word}" if on_host and word == row["machine"] else word for word in words]
            label = look.wrap(look.join([name, *said] if part else [name]), LABEL_CHARACTERS)
            bar = found.setdefault(tuple(panel), {}).setdefault((name, words), Bar(label, on_host))
            bar.refuted |= is_refuted(row)
            if part == "total":
                bar.total = length
            else:
                bar.phases[part or look.join(words)] = length
        self.panels = {panel: list(bars.values()) for panel, bars in found.items()}
        labels = [bar.label for bars in self.panels.values() for bar in bars]
        for bars in self.panels.values():
            bars.sort(key=lambda bar: labels.index(bar.label))
        self.bars = [bar for bars in self.panels.values() for bar in bars]
        self.parts = {part for bar in self.bars for part, length in bar.parts.items() if length > 0}
        names = dict.fromkeys([*kind.phases, *(part for bar in self.bars for part in bar.parts)])
        self.colors = {name: look.COLORS[number % len(look.COLORS)] for number, name in enumerate(names)}
        if WHOLE in names:
            self.colors[WHOLE] = "#bbbbbb"

    def legend(self):
        from matplotlib.lines import Line2D
        from matplotlib.patches import Patch

        parts = [(Patch(color=color), part) for part, color in self.colors.items() if part in self.parts]
        has_mark, has_refuted = (any(getattr(bar, name) for bar in self.bars) for name in ("has_mark", "refuted"))
        crossed = (Patch(facecolor="white", **{**look.HATCHED, "linewidth": 1}), look.REFUTED_LABEL)
        sections = {
            self.kind.heading or ", ".join(self.settings.varying): parts,
            "mark": [(Line2D([], [], **TOTAL), TOTAL_LABEL)] * has_mark,
            "crossed out": [crossed] * has_refuted,
        }
        return look.Legend({heading: entries for heading, entries in sections.items() if heading})

    def draw_bar(self, axes, place, bar, limit):
        """The phases end to end, the number of their length beside them, and the total as a mark; two white strokes
        through a bar that goes on: it is longer than drawn."""
        left, words = 0.0, [look.three_digits(bar.length)]
        for part, length in bar.parts.items():
            shown = min(length, limit - left)
            style = look.HATCHED if bar.refuted else {}
            axes.barh(place, shown, left=left, color=self.colors[part], height=0.6, **style)
            left += shown
        if bar.has_mark:
            axes.plot(bar.total, place, **TOTAL)
            words.append(f"(total {look.three_digits(bar.total)})")
        if bar.length > limit:
            for middle in (0.93 * limit, 0.95 * limit):
                ends = [middle - 0.008 * limit, middle + 0.008 * limit]
                axes.plot(ends, [place + 0.4, place - 0.4], color="white", linewidth=2.5, label="_break", zorder=4)
            words.append("(bar cut)")
        if bar.refuted:
            words.append(look.REFUTED_LABEL)
        end = max(left, bar.total) if bar.has_mark else left
        axes.text(end + 0.02 * limit, place, "  ".join(words), va="center", fontsize=8.5)

    def draw(self, figure):
        heights = [len(bars) + 1.5 for bars in self.panels.values()]
        all_axes = figure.subplots(len(heights), 1, height_ratios=heights, squeeze=False).flat
        for axes, ((title, label), bars) in zip(all_axes, self.panels.items()):
            limit = limit_of(bars)
            for place, bar in enumerate(bars):
                self.draw_bar(axes, place, bar, limit)
            axes.set(title=title, xlabel=label, xlim=(0, 1.4 * limit), ylim=(len(bars) - 0.4, -0.6))
            axes.set_xticks([tick for tick in axes.get_xticks() if 0 <= tick <= limit * (1 + math.ulp(1.0))])
            axes.set_yticks(range(len(bars)), [bar.label for bar in bars], fontsize=8.5)
            axes.grid(False)

    @property
    def height(self):
        return 0.75 * len(self.panels) + sum(BAR_HEIGHT + LINE_HEIGHT * bar.label.count("\n") for bar in self.bars)


def limit_of(bars):
    """How far the axis has to reach: the host's sorts may be so slow that they would leave no room for the others."""
    reach = {False: 0.0, True: 0.0}
    for bar in bars:
        reach[bar.on_host] = max(reach[bar.on_host], bar.length, bar.total or 0.0)
    device, longest = reach[False], max(reach.values())
    return 1.15 * device if longest > CUT_BEYOND * device > 0 else longest or 1.0


def draw(plt, kind, rows, title):
    """A figure of the bars, and beside them of the lines that the kind has of other rows."""
    rows, words = kind.lone(rows)
    bars = Bars(kind, rows)
    legend, words = bars.legend(), [*words, *bars.settings.shared, *kind.words]
    parts = [(bars.draw, WIDTH, bars.height)] * bool(bars.bars)
    parts += [(legend.draw, legend.width, legend.height)] * bool(legend.entries)
    if kind.lines and any(row["quantity"] == kind.lines.quantity for row in rows):
        panels = lines.Panels(kind.lines, rows)
        parts += panels.parts()
        words += [*panels.settings.shared, kind.lines.words]
    if not parts:
        raise Problem("no row is of a bar")
    return look.make_figure(plt, parts, title, dict.fromkeys(words))
