"""Panels of lines that share a legend: colour by the first setting, dash and marker by all others together."""

import math
from dataclasses import dataclass, field

from common import Problem

from bench_plots import look
from bench_plots.reading import Settings, is_refuted

PANEL_WIDTH, PANEL_HEIGHT = 4.3, 3.5


def join(words):
    return ", ".join(word for word in words if word)


@dataclass
class Line:
    """Points (x, median, least, most, refuted?) in order of x, and what tells the line from others of its panel."""

    primary: str
    rest: tuple
    points: list = field(default_factory=list)

    @property
    def label(self):
        return join([self.primary, *self.rest])


class Panels:
    """{title of a panel: [Line]} of rows.

    panel and primary: functions of a row that return the title of its panel and its first setting; shown: see
    Settings; point: function of a row that returns x and three times, the median first.
    """

    def __init__(self, rows, quantity, panel, primary, shown, point):
        if not rows:
            raise Problem(f"no row is of {quantity}")
        self.settings = Settings(rows, shown, lambda row: (panel(row), primary(row), point(row)[0]), look.count)
        lines = {}
        for row in rows:
            primary_words, rest = primary(row), self.settings.words(row)
            x, median, least, most = point(row)
            if not 0 < least <= median <= most:
                raise Problem(f"{row['file']}: a median of {median:g} is not between {least:g} and {most:g}, above 0")
            line = lines.setdefault((panel(row), primary_words, rest), Line(primary_words, rest))
            line.points.append((x, median, least, most, is_refuted(row)))
        self.panels = {}
        for (title, _, _), line in lines.items():
            line.points.sort()
            self.panels.setdefault(title, []).append(line)
        self.primaries = list(dict.fromkeys(line.primary for line in lines.values()))
        self.rests = self.find_rests()

    @property
    def lines(self):
        return [line for lines in self.panels.values() for line in lines]

    def find_rests(self):
        """The settings besides the first, those of a line that has not all of them only where no other line agrees."""
        rests = sorted({line.rest: None for line in self.lines}, key=lambda rest: rest.count(""))
        kept = []
        for rest in rests:
            if not any(agree(rest, other) for other in kept):
                kept.append(rest)
        return kept

    def style(self, line):
        rest = next(number for number, rest in enumerate(self.rests) if agree(line.rest, rest))
        return look.style_of(self.primaries.index(line.primary), rest, len(self.rests))

    def legend(self, heading, explain):
        """heading: of the first setting; explain: {its words: more words}."""
        from matplotlib.lines import Line2D

        legend = look.Legend()
        legend.heading(heading)
        for number, words in enumerate(self.primaries):
            style = {**look.style_of(number, 0, len(self.rests)), "markersize": 5}
            if len(self.rests) > 1 and len(self.primaries) <= len(look.COLORS):
                style.update(marker="", linestyle="-", linewidth=4)  # the colour alone
            legend.entry(Line2D([], [], **style), explain.get(words, words))
        if len(self.rests) > 1:
            legend.heading(", ".join(self.settings.varying))
            for number, words in enumerate(self.rests):
                style = {**look.style_of(0, number, len(self.rests)), "color": look.GREY, "markersize": 5}
                legend.entry(Line2D([], [], **style), join(words))
        if any(point[4] for line in self.lines for point in line.points):
            legend.heading("crossed out")
            legend.entry(Line2D([], [], **look.REFUTED), look.REFUTED_LABEL)
        return legend

    def draw_line(self, axes, line, x_of=lambda x: x):
        """One line with bars from the least to the most; a cross on every point that was refuted."""
        x, median, least, most, refuted = zip(*line.points)
        x = [x_of(value) for value in x]
        spread = [[m - a for m, a in zip(median, least)], [b - m for m, b in zip(median, most)]]
        style = {**self.style(line), "markersize": 4.5, "elinewidth": 0.9, "label": line.label}
        axes.errorbar(x, median, yerr=spread, **style)
        crossed = [(x[n], median[n]) for n in range(len(x)) if refuted[n]]
        if crossed:
            axes.plot(*zip(*crossed), label="_refuted", zorder=5, **look.REFUTED)


def agree(rest, other):
    """Whether what a line has of its settings is what the other has."""
    return all(mine in ("", theirs) for mine, theirs in zip(rest, other))


def draw_column(axes, panels, lines):
    """A panel all of whose points have the same x: beside one another, so that none hides another."""
    for place, line in enumerate(lines):
        panels.draw_line(axes, line, lambda x, place=place: place)
    middle = (len(lines) - 1) / 2
    axes.set_xlim(-1, len(lines))
    look.set_ticks(axes.xaxis, [middle], [look.count(lines[0].points[0][0])])
    axes.grid(False, axis="x")


def make_figure(plt, panels, legend):
    """(figure, axes of so many panels, characters of a line of the title); the legend stands beside them."""
    columns = panels if panels <= 3 else math.ceil(panels / 2)
    rows = math.ceil(panels / columns)
    longest = max(len(part) for _, label in legend.entries for part in label.split("\n"))
    beside = 0.8 + 0.078 * longest
    height = max(PANEL_HEIGHT * rows, 0.19 * legend.lines) + 0.7
    figure = plt.figure(figsize=(PANEL_WIDTH * columns + beside, height))
    grid = figure.add_gridspec(rows, columns + 1, width_ratios=[1.0] * columns + [0.01])
    axes = [figure.add_subplot(grid[n // columns, n % columns]) for n in range(panels)]
    legend.draw(figure.add_subplot(grid[:, columns]))
    return figure, axes, int(look.CHARACTERS_AN_INCH * (PANEL_WIDTH * columns + beside))


def draw_panels(plt, panels, heading, title, words, xlabel, ylabel, explain=None, **ticks):
    """A figure of all panels on logarithmic axes, ticks along x where something was measured."""
    legend = panels.legend(heading, explain or {})
    figure, all_axes, characters = make_figure(plt, len(panels.panels), legend)
    for axes, (panel, lines) in zip(all_axes, panels.panels.items()):
        axes.set(title=panel, xlabel=xlabel, ylabel=ylabel, yscale="log")
        values = [point[0] for line in lines for point in line.points]
        if len(set(values)) == 1:
            draw_column(axes, panels, lines)
        else:
            for line in lines:
                panels.draw_line(axes, line)
            axes.set_xscale("log")
            look.ticks_at_values(axes.xaxis, values, **ticks)
        look.plain_log_ticks(axes.yaxis)
    look.set_title(figure, title, [*panels.settings.shared, *words], characters)
    return figure
