"""The picture of a history: energies and modes against time."""

import itertools
import math

from radixpic.fields import QUANTITIES
from radixpic.fit import own_growth, own_theory
from radixpic.look import BLUE, CYCLE, GREEN, ORANGE, PURPLE, RED, SKY, legend_beside
from radixpic.script import Problem, numpy as np

ALL_TIMES = (-math.inf, math.inf)
ROUND_OFF = {"single": 1e-7, "double": 1e-14}  # of the density 1: what is smaller at all times is no wave


def draw_log(axes, time, values, **style):
    """A line on a logarithmic axis; exact zeros are left out."""
    axes.plot(time, np.where(values > 0, values, np.nan), **style)
    axes.set_yscale("log")


def envelope_height(time, values, rate):
    """The a with which a exp(rate t) runs along the tops of an oscillation, by their median, or through a series
    without one."""
    level = np.log(values) - rate * time
    inner = level[1:-1]
    tops = inner[(inner >= level[:-2]) & (inner >= level[2:])]
    return np.exp(np.median(tops if len(tops) else level))


def draw_dashed(axes, time, values, window, label, color="black"):
    """Theory, in the window, which leaves the axes as they are."""
    inside, limits = (time >= window[0]) & (time <= window[1]), axes.get_ylim()
    axes.plot(time[inside], values[inside], "--", color=color, linewidth=1.2, label=label)
    axes.set_ylim(limits)


def draw_rate(axes, time, values, rate, window):
    """a exp(rate t) along the series, fitted within the window."""
    seen = (time >= window[0]) & (time <= window[1]) & (values > 0)
    if np.any(seen):
        curve = envelope_height(time[seen], values[seen], rate) * np.exp(rate * time)
        draw_dashed(axes, time, curve, window, rf"$\propto e^{{{rate:.4g}\,t}}$ (theory)")


def known(theory, *arguments):
    """What a theory of a run's own config finds, and None; or None and the sentence by which it finds nothing."""
    try:
        return theory(*arguments), None
    except KeyError:  # of a config by another version
        return None, None
    except Problem as problem:
        return None, str(problem)


def draw_linear(axes, history, mode, window, color):
    """The exact linear solution by the run's own config, from where the mode starts; returns the sentence where
    there is none."""
    found, sentence = known(own_theory, history, mode)
    start = abs(history.mode(mode)[0])
    if found and start and found[0] is not None:
        series, root = found
        numbers = f",\n$\\gamma$ = {root[0]:.4g}, $\\omega$ = {root[1]:.4g}" if root else ""
        draw_dashed(axes, history["time"], start * np.abs(series), window, f"linear theory{numbers}", color)
    return sentence


def round_off_of(history):
    """Of a density mode; of a history without its config that of double precision."""
    try:
        return ROUND_OFF[history.config()["precision"]]
    except (KeyError, Problem):
        return ROUND_OFF["double"]


def energy_of_mode(history, mode):
    """Its part of the field energy in an electrostatic run, or None: E along k is rho/k, below Nyquist's mode."""
    try:
        config = history.config()
        grid, gradient = config["grid"], config["fields"]["gradient"]
        lengths, cells = grid["length"], grid["cells"]
    except (KeyError, Problem):
        return None
    square = sum((2 * math.pi * number / length) ** 2 for number, length in zip(mode, lengths))
    has_field = square > 0 and all(2 * abs(number) < count for number, count in zip(mode, cells))
    is_known = "magnetic_energy" not in history.columns and gradient == "spectral" and has_field
    return math.prod(lengths) * np.abs(history.mode(mode)) ** 2 / square if is_known else None


def energy_label(light):
    """Of the electric field, and in an electromagnetic run of the magnetic one too."""
    return rf"$W_E{', W_B' if light else ''}\;[n_0 T \lambda_D^2]$"


def labels_of(of):
    """Title and label of the panel of modes."""
    if of == "density":
        return {"title": "Charge density modes", "ylabel": r"$|\rho_k|\;[e n_0]$"}
    symbol, unit, _ = QUANTITIES[f"{of[0]}/{of[1]}"]
    return {"title": f"Modes of {symbol}", "ylabel": f"$|{symbol[1:-1]}|$ [{unit}]"}


def draw_run(panels, history, modes, of, name, color):
    """The curves of a run in the four panels, with these modes of a component; one of several has a name and a colour,
    and one line for the kinetic energy."""
    fields, waves, kinetic, total = panels
    time, styles = history["time"], itertools.cycle(("-", ":", "-.") if name else "-")
    waves_too = "magnetic_energy" in history.columns
    label = name or ("electric" if waves_too else "of all modes")
    draw_log(fields, time, history["field_energy"], color=color or BLUE, label=label)
    if waves_too:
        draw_log(fields, time, history["magnetic_energy"], color=color or RED, linestyle=":" if name else "-",
            label=f"{name} magnetic".strip())
    for mode, style in zip(modes, styles):
        own = {"color": color, "linestyle": style} if name else {}
        label = f"{name} mode ({mode[0]}, {mode[1]})".strip()
        draw_log(waves, time, np.abs(history.mode(mode, of)), label=label, **own)
    of_species = [] if name else [column for column in history.columns if column.endswith("_kinetic_energy")]
    colors = itertools.chain([color or GREEN], itertools.cycle((BLUE, RED, ORANGE, PURPLE, SKY)))
    for column, one in zip(["kinetic_energy", *of_species], colors):
        species = column.removesuffix("kinetic_energy").rstrip("_")
        label, width = (f"of {species}", 1.2) if species else (name or "all", 1.6)
        kinetic.plot(time, history[column] - history[column][0], color=one, linewidth=width, label=label)
    energy = history["total_energy"] - history.columns.get("drive_work", 0)
    total.plot(time, (energy - energy[0]) / (abs(energy[0]) or 1.0), color=color or RED)


def draw(plt, histories, modes, window, title, of="density"):
    """The figure of one run, or of several, each in a colour; modes: by default the first six of one run, the first of
    several. In the window the theory of the run's config is drawn along the first mode of the density, if it has one.
    """
    figure = plt.figure(figsize=(10, 6.4))
    figure.suptitle(title, fontsize=13)
    panels = fields, waves, kinetic, total = figure.subplots(2, 2, sharex=True).ravel()
    several = len(histories) > 1
    runs = list(zip(histories, itertools.cycle(CYCLE if several else [None])))
    followed = [
        list(history.modes_of.get(of, ()))[: 1 if several else 6] if modes is None else modes for history in histories
    ]
    tops = [[(np.abs(history.mode(mode, of)).max(), mode) for mode in own] for history, own in zip(histories, followed)]
    followed = [[mode for top, mode in own if of != "density" or not 0 < top < round_off_of(history)]
        for history, own in zip(histories, tops)]
    for (history, color), own in zip(runs, followed):
        draw_run(panels, history, own, of, history.path.resolve().parent.name if several else "", color)
    for (history, color), own in zip(runs, followed):  # along curves that are all there, with the axes' ends
        if own and of == "density":
            sentence = draw_linear(waves, history, own[0], window, color or "black")
            if sentence and not several:
                figure.supxlabel(f"no theory along mode {own[0]}: {sentence}", x=0.01, ha="left", fontsize=7)
        part = energy_of_mode(history, own[0]) if own and of == "density" and not several else None
        if part is not None:
            draw_log(fields, history["time"], part, color=GREEN, linewidth=1, label=f"of mode {own[0]}")
        growth = known(own_growth, history)[0] if "magnetic_energy" in history.columns else None
        if growth:
            draw_rate(fields, history["time"], history["magnetic_energy"], 2 * growth, window)
    less = " less the drives' work" if any("drive_work" in history.columns for history in histories) else ""
    start = "" if several else f" from {histories[0]['kinetic_energy'][0]:.6g}"
    light = any("magnetic_energy" in history.columns for history in histories)
    fields.set(title="Energy of E and of B" if light else "Field energy", ylabel=energy_label(light))
    waves.set(**labels_of(of))
    kinetic.set(title=f"Kinetic energy, change{start}", ylabel=r"$W_K - W_{K0}\;[n_0 T \lambda_D^2]$")
    total.set(title=f"Total energy{less}, relative drift", ylabel=r"$W - W_0\;[W_0]$")
    if not waves.lines:
        top = max((top for own in tops for top, _ in own), default=None)
        said = f"no modes of {of} in this history" if top is None else f"round-off alone:\n{top:.0e} at most"
        waves.text(0.5, 0.5, said, ha="center", transform=waves.transAxes)
        waves.set_yticks([])
    for axes in (waves,) if several and all(followed) else (fields, waves, kinetic):
        if len(axes.lines) > (axes is not waves):
            legend_beside(axes)
    for axes in (kinetic, total):
        axes.set_xlabel(r"time $t\;[1/\omega_p]$")
        axes.ticklabel_format(axis="y", style="sci", scilimits=(-2, 3), useMathText=True)
    ends = [history["time"][[0, -1]] for history in histories]
    if np.ptp(ends):
        total.set_xlim(np.min(ends), np.max(ends))  # all four share it
    return figure
