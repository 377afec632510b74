"""The picture of a history: energies and density modes against time."""

import itertools
import math

from radixpic.fit import own_theory
from radixpic.look import BLUE, CYCLE, GREEN, ORANGE, PURPLE, RED, SKY, legend_beside
from radixpic.script import numpy as np

ALL_TIMES = (-math.inf, math.inf)
FIRST_TOPS = 3  # an odd number: one ripple among them is outvoted


def draw_log(axes, time, values, **style):
    """A line on a logarithmic axis; exact zeros are left out."""
    axes.plot(time, np.where(values > 0, values, np.nan), **style)
    axes.set_yscale("log")


def envelope_height(time, values, rate):
    """The a with which a exp(rate t) runs along the tops of an oscillation, or through a series without one.

    The median over the tops; of a damped wave over the first ones, for later tops may stand on the noise.
    """
    level = np.log(values) - rate * time
    inner = level[1:-1]
    tops = inner[(inner >= level[:-2]) & (inner >= level[2:])]
    if rate < 0:
        tops = tops[:FIRST_TOPS]
    return np.exp(np.median(tops if len(tops) else level))


def draw_theory(axes, time, values, rate, window):
    """a exp(rate t) along the series, fitted and drawn within the window."""
    inside = (time >= window[0]) & (time <= window[1])
    seen = inside & (values > 0)
    if not np.any(seen):
        return
    scale = envelope_height(time[seen], values[seen], rate)
    limits = axes.get_ylim()
    axes.plot(
        time[inside],
        scale * np.exp(rate * time[inside]),
        "--",
        color="black",
        linewidth=1.2,
        label=rf"$\propto e^{{{rate:.4g}\,t}}$ (theory)",
    )
    axes.set_ylim(limits)


def draw_linear(axes, history, mode, window, color):
    """The exact linear solution of the run's own config, from where the mode starts."""
    found, values = own_theory(history, mode), np.abs(history.mode(mode))
    inside = (history["time"] >= window[0]) & (history["time"] <= window[1])
    if found is None or not values[0] or not inside.any():
        return
    (gamma, omega), series = found
    limits = axes.get_ylim()
    label = f"linear theory,\n$\\gamma$ = {gamma:.4g}, $\\omega$ = {round(omega, 9):.4g}"
    axes.plot(history["time"][inside], (values[0] * np.abs(series))[inside], "--", color=color, linewidth=1.2, label=label)
    axes.set_ylim(limits)


def draw(plt, histories, modes, gamma, window, title):
    """The figure: of one run, or of several, each in a colour. modes: by default the first six of one run, the first of several.

    In the window theory is drawn along the first mode: exp(gamma t), or without gamma that of the run's config, if it has one.
    """
    figure = plt.figure(figsize=(10, 6.4))
    figure.suptitle(title, fontsize=13)
    (top_left, top_right), (bottom_left, bottom_right) = figure.subplots(2, 2, sharex=True)
    several = len(histories) > 1
    for number, history in enumerate(histories):
        time, own = history["time"], CYCLE[number % len(CYCLE)]
        name = str(history.path.resolve().parent.name) if several else ""
        followed = list(history.modes)[: 1 if several else 6] if modes is None else modes
        draw_log(top_left, time, history["field_energy"], color=own, label=name or "field energy")
        for mode, style in zip(followed, itertools.cycle(("-", ":", "-.") if several else "-")):
            look = {"color": own, "linestyle": style} if several else {}
            draw_log(top_right, time, np.abs(history.mode(mode)), label=f"{name} mode ({mode[0]}, {mode[1]})".strip(), **look)
        kinetic, total = history["kinetic_energy"], history["total_energy"] - history.columns.get("drive_work", 0)
        bottom_left.plot(time, kinetic - kinetic[0], color=own if several else GREEN, label=name or "all")
        of_species = [] if several else [name for name in history.columns if name.endswith("_kinetic_energy")]
        for column, color in zip(of_species, itertools.cycle((BLUE, RED, ORANGE, PURPLE, SKY))):
            values, species = history[column], column.removesuffix("_kinetic_energy")
            bottom_left.plot(time, values - values[0], color=color, linewidth=1.2, label=f"of {species}")
        bottom_right.plot(time, (total - total[0]) / (abs(total[0]) or 1.0), color=own if several else RED)
    for number, history in enumerate(histories):  # along curves that are all there, with the axes' ends
        time, (first, *_) = history["time"], (*(history.modes if modes is None else modes), None)
        if gamma is not None and not first:  # the energy holds the noise of all modes: one mode follows theory longer
            draw_theory(top_left, time, history["field_energy"], 2 * gamma, window)
        elif gamma is not None:
            draw_theory(top_right, time, np.abs(history.mode(first)), gamma, window)
        elif first:
            draw_linear(top_right, history, first, window, CYCLE[number % len(CYCLE)] if several else "black")
    less = " less the drives' work" if any("drive_work" in history.columns for history in histories) else ""
    start = "" if several else f" from {histories[0]['kinetic_energy'][0]:.6g}"
    top_left.set(title="Field energy", ylabel=r"$W_E\;[n_0 T \lambda_D^2]$")
    top_right.set(title="Charge density modes", ylabel=r"$|\rho_k|\;[e n_0]$")
    bottom_left.set(title=f"Kinetic energy, change{start}", ylabel=r"$W_K - W_{K0}\;[n_0 T \lambda_D^2]$")
    bottom_right.set(title=f"Total energy{less}, relative drift", ylabel=r"$W - W_0\;[W_0]$")
    if not top_right.lines:
        top_right.text(0.5, 0.5, "no modes in this history", ha="center", transform=top_right.transAxes)
    for axes in (top_left, top_right, bottom_left):
        if axes is top_right and axes.lines or len(axes.lines) > 1 and not (several and top_right.lines):
            legend_beside(axes)
    for axes in (bottom_left, bottom_right):
        axes.set_xlabel(r"time $t\;[1/\omega_p]$")
        axes.ticklabel_format(axis="y", style="sci", scilimits=(-2, 3), useMathText=True)
    ends = [history["time"][[0, -1]] for history in histories]
    if np.ptp(ends):
        bottom_right.set_xlim(np.min(ends), np.max(ends))  # all four share it
    return figure
