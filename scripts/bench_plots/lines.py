"""Panels of lines that share a legend: colour by the first setting, dash and marker by all others together."""

import math

from radixpic.script import Problem

from bench_plots import look
from bench_plots.reading import Settings, count, is_refuted

PANEL_WIDTH, PANEL_HEIGHT = 4.3, 3.5


class Panels:
    """panels: {(title, label of x): {line: [(x, median, least, most, refuted?)]}}; a line is (first setting,
    others)."""

    def __init__(self, kind, rows):
        self.kind = kind
        rows = sorted((row for row in rows if row["quantity"] == kind.quantity), key=kind.order)
        if not rows:
            raise Problem(f"no row is of {kind.quantity}")
        self.settings = Settings(rows, kind.shown, lambda row: (kind.line(row), *kind.panels(row)))
        self.panels, lines = {}, {}
        for row in rows:
            times = row["median"], row["min"], row["max"]
            if not 0 < times[1] <= times[0] <= times[2]:
                raise Problem(f"{row['file']}: a median of {times[0]:g} is not between {times[1]:g} and {times[2]:g}, "
                    "above 0")
            line = kind.line(row), self.settings.words(row)
            lines[line] = lines.get(line, False) or is_refuted(row)
            for *panel, x in kind.panels(row):
                points = self.panels.setdefault(tuple(panel), {}).setdefault(line, [])
                points.append((x, *times, is_refuted(row)))
        self.has_refuted = any(lines.values())
        self.firsts = list(dict.fromkeys(first for first, _ in lines))
        rests = list(dict.fromkeys(rest for _, rest in lines))
        # a line that has not all of the settings looks like another that agrees in those it has
        self.rests = [rest for rest in rests if not any(agree(rest, other) for other in rests if other != rest)]

    def style(self, line):
        first, rest = line
        number = next(number for number, other in enumerate(self.rests) if agree(rest, other))
        return look.style_of(self.firsts.index(first), number, len(self.rests))

    def legend(self):
        from matplotlib.lines import Line2D

        def entry(label, first, rest, **style):
            return Line2D([], [], **{**look.style_of(first, rest, len(self.rests)), "markersize": 5, **style}), label

        others = list(enumerate(self.rests)) if len(self.rests) > 1 else []
        color_alone = {"marker": "", "linestyle": "-", "linewidth": 4}
        style = color_alone if others and len(self.firsts) <= len(look.COLORS) else {}
        firsts = [entry(first, number, 0, **style) for number, first in enumerate(self.firsts)]
        rests = [entry(look.join(rest), 0, number, color=look.GREY) for number, rest in others]
        crossed = [(Line2D([], [], **look.REFUTED), look.REFUTED_LABEL)] * self.has_refuted
        return look.Legend({self.kind.heading: firsts, ", ".join(self.settings.varying): rests, "crossed out": crossed})

    def draw_line(self, axes, line, points):
        """One line with bars from the least to the most; a cross on every point that was refuted."""
        x, median, least, most, refuted = zip(*points)
        spread = [[m - a for m, a in zip(median, least)], [b - m for m, b in zip(median, most)]]
        first, rest = line
        style = {**self.style(line), "markersize": 4.5, "elinewidth": 0.9, "label": look.join([first, *rest])}
        axes.errorbar(x, median, yerr=spread, **style)
        for where in zip(x, median, refuted):
            if where[2]:
                axes.plot(*where[:2], label="_refuted", zorder=5, **look.REFUTED)

    def draw_panel(self, axes, title, xlabel, lines):
        """Points that all have the same x stand beside one another, so that none hides another."""
        axes.set(title=title, xlabel=xlabel, ylabel=self.kind.ylabel, yscale=self.kind.yscale)
        values = [point[0] for points in lines.values() for point in points]
        is_column = len(set(values)) == 1
        for place, (line, points) in enumerate(lines.items()):
            self.draw_line(axes, line, [(place, *point[1:]) for point in points] if is_column else sorted(points))
        if is_column:
            axes.set_xlim(-1, len(lines))
            look.set_ticks(axes.xaxis, [(len(lines) - 1) / 2], [count(values[0])])
            axes.grid(False, axis="x")
        else:
            axes.set_xscale("log")
            look.ticks_at_values(axes.xaxis, values, self.kind.apart)
        if self.kind.yscale == "log":
            look.plain_log_ticks(axes.yaxis)
        else:
            axes.set_ylim(bottom=0)


    def draw(self, figure):
        """All panels, in two rows where there are more than three."""
        all_axes = figure.subplots(*self.shape, squeeze=False).flatten()
        for axes, ((panel, xlabel), lines) in zip(all_axes, self.panels.items()):
            self.draw_panel(axes, panel, xlabel, lines)
        for axes in all_axes[len(self.panels) :]:
            axes.remove()

    @property
    def shape(self):
        number = len(self.panels)
        return (1, number) if number <= 3 else (2, math.ceil(number / 2))

    def parts(self):
        """Those of a figure, with the legend on the right."""
        down, across = self.shape
        legend = self.legend()
        return [(self.draw, PANEL_WIDTH * across, PANEL_HEIGHT * down), (legend.draw, legend.width, legend.height)]


def agree(rest, other):
    """Whether what a line has of its settings is what the other has."""
    return all(mine in ("", theirs) for mine, theirs in zip(rest, other))


def draw(plt, kind, rows, title):
    panels = Panels(kind, rows)
    return look.make_figure(plt, panels.parts(), title, [*panels.settings.shared, kind.words])
