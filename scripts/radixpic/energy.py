"""The picture of a history: energies and density modes against time."""

import itertools
import math

from radixpic.look import BLUE, GREEN, ORANGE, PURPLE, RED, SKY
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


def legend_beside(axes):
    """Outside: a wave that grows and one that decays leave different corners free."""
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), borderaxespad=0.2, handlelength=1.6)


def draw(plt, history, modes, gamma, window, title):
    """The figure; with gamma theory is drawn along the first mode, in the window."""
    figure = plt.figure(figsize=(10, 6.4))
    figure.suptitle(title, fontsize=13)
    time = history["time"]
    field, total = history["field_energy"], history["total_energy"] - history.columns.get("drive_work", 0)
    (top_left, top_right), (bottom_left, bottom_right) = figure.subplots(2, 2, sharex=True)

    draw_log(top_left, time, field, color=BLUE, label="field energy")
    if gamma is not None and not modes:  # the energy holds the noise of all modes: one mode follows theory longer
        draw_theory(top_left, time, field, 2 * gamma, window)
        top_left.legend(loc="best")
    top_left.set(title="Field energy", ylabel=r"$W_E\;[n_0 T \lambda_D^2]$")

    for mode in modes:
        draw_log(top_right, time, np.abs(history.mode(mode)), label=f"mode ({mode[0]}, {mode[1]})")
    if modes:
        if gamma is not None:
            draw_theory(top_right, time, np.abs(history.mode(modes[0])), gamma, window)
        legend_beside(top_right)
    else:
        top_right.text(0.5, 0.5, "no modes in this history", ha="center", transform=top_right.transAxes)
    top_right.set(title="Charge density modes", ylabel=r"$|\rho_k|\;[e n_0]$")

    kinetic = history["kinetic_energy"]
    bottom_left.plot(time, kinetic - kinetic[0], color=GREEN, label="all")
    of_species = [name for name in history.columns if name.endswith("_kinetic_energy")]
    for name, color in zip(of_species, itertools.cycle((BLUE, RED, ORANGE, PURPLE, SKY))):
        values, species = history[name], name.removesuffix("_kinetic_energy")
        bottom_left.plot(time, values - values[0], color=color, linewidth=1.2, label=f"of {species}")
    if of_species:
        bottom_left.legend()
    bottom_left.set(title=f"Kinetic energy, change from {kinetic[0]:.6g}", ylabel=r"$W_K - W_{K0}\;[n_0 T \lambda_D^2]$")
    scale = abs(total[0]) or 1.0
    bottom_right.plot(time, (total - total[0]) / scale, color=RED)
    less = " less the drives' work" if "drive_work" in history.columns else ""
    bottom_right.set(title=f"Total energy{less}, relative drift", ylabel=r"$W - W_0\;[W_0]$")
    for axes in (bottom_left, bottom_right):
        axes.set_xlabel(r"time $t\;[1/\omega_p]$")
        axes.ticklabel_format(axis="y", style="sci", scilimits=(-2, 3), useMathText=True)
    if len(time) > 1:
        bottom_right.set_xlim(time[0], time[-1])  # all four share it
    return figure
