#!/usr/bin/python3
"""Makes the runs of docs/lab_notes.md in output/lab_notes and draws their figures into docs/figures, from the folder
of a clone.

    ./docs/lab_notes.py                  all
    ./docs/lab_notes.py driven_wave      those of one name

A run of an earlier call is replaced.
"""

import argparse
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "scripts"))

import radixpic
from radixpic import dispersion, look


def run_of(name):
    return radixpic.run(f"configs/{name}.yaml", output=f"output/lab_notes/{name}", force=True, quiet=True)


def magnetised_wave():
    history = run_of("magnetised_wave").history
    slow, fast = 0.322366, 1.236694  # both are there at first, at rest: the force is that of the plasma frequency
    part = (fast**2 - 0.9935869) / (fast**2 - slow**2)
    time, wave = history["time"], history.mode((1, 0)).imag
    expected = part * np.cos(slow * time) + (1 - part) * np.cos(fast * time)
    with look.pyplot() as plt:
        figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3))
        left.plot(time, wave / wave[0], label="run")
        left.plot(time, expected, "--", label=r"theory, $\omega$ = 0.3224 and 1.2367")
        left.set(xlabel=r"time $\omega_p t$", ylabel="density wave", title="B at 60 degrees to k", ylim=(-1.1, 1.6))
        left.legend(loc="upper right")
        right.plot(time, history["field_energy"], label="field")
        right.plot(time, history["kinetic_energy"], label="electrons")
        right.plot(time, history["total_energy"], "--", label="both")
        right.set(xlabel=r"time $\omega_p t$", title="Energy", ylim=(0, 1.5 * history["total_energy"][0]))
        right.legend(loc="upper right")
        look.write(figure, "docs/figures/magnetised_wave.png")


def magnetic_bottle():
    history = run_of("magnetic_bottle").history
    with look.pyplot() as plt:
        figure, axes = plt.subplots(figsize=(7, 3))
        for name in ("trapped", "passing"):
            axes.plot(history["time"], history[f"{name}_momentum_x"], label=name)
        axes.axvline(11.455, ls=":", color="grey", label="4 K(k)/$\\omega_0$")
        axes.set(xlabel=r"time $\omega_p t$", ylabel="$v_x$", title="Two electrons in a magnetic bottle")
        look.legend_beside(axes)
        look.write(figure, "docs/figures/magnetic_bottle.png")


def driven_wave():
    history = run_of("driven_wave").history
    k, omega, amplitude, area = 0.5, 1.2, 0.002, np.pi**2
    factor = dispersion.grid_factor([k, 0], [4 * np.pi / 32, 4 * np.pi / 32])
    answer = 1 / (1 + factor * (complex(dispersion.dielectric(omega, k, [(1, 0, 1)])) - 1))
    time, wave = history["time"], 2 * history.mode((1, 0)) / (1j * k * amplitude)
    rate = 0.5 * omega * amplitude**2 * area * -answer.imag
    slope = rate * (time - 60) + history["drive_work"][-1]
    with look.pyplot() as plt:
        figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3))
        left.plot(time, wave.real, label="electrons' field at x = 0")
        left.axhline(abs(answer - 1), ls=":", color="grey", label=r"$|1/\epsilon - 1|$")
        left.set(xlabel=r"time $\omega_p t$", ylabel="over the external field")
        left.set(title="Answer to the drive", ylim=(-2.2, 3.4))
        right.plot(time, history["drive_work"], label="work of the drive")
        right.plot(time, history["total_energy"] - history["total_energy"][0], "--", label="energy gained")
        right.plot(time, slope, ":", color="grey", label=r"slope of Im$(-1/\epsilon)$")
        right.set(xlabel=r"time $\omega_p t$", title="Work", ylim=(-1e-4, None))
        for axes in (left, right):
            axes.legend(loc="upper left")
        look.write(figure, "docs/figures/driven_wave.png")


def draw_wave(run, column, omega):
    probe = run.probe("origin")
    time, wave = probe["time"], probe[column] / probe[column][0]
    with look.pyplot() as plt:
        figure, axes = plt.subplots(figsize=(7, 3))
        axes.plot(time, wave, label="run")
        axes.plot(time, np.cos(omega * time), "--", label=rf"$\omega$ = {omega}")
        axes.plot(time, np.cos(time), ":", color="grey", label="light alone")
        axes.set(xlabel=r"time $\omega_p t$", ylabel=f"{column} at the origin", title=run.config["title"], xlim=(0, 30))
        look.legend_beside(axes)
        look.write(figure, f"docs/figures/{run.folder.name}.png")


def light_wave():
    draw_wave(run_of("light_wave"), "Ez", 1.412238)


def whistler():
    draw_wave(run_of("whistler"), "Ey", 0.243266)


def filamentation():
    run_of("filamentation").plot_energy(window=(30, 45), output="docs/figures/filamentation.png")


def weibel():
    run_of("weibel").plot_field("J/z", step=[400, 600, 800], output="docs/figures/weibel.png")


def bump_on_tail():
    print("bump_on_tail", run_of("bump_on_tail").fit(start=10, end=30))


def cyclotron_ring():
    print("cyclotron_ring", run_of("cyclotron_ring").fit(start=20, end=50))


NOTES = (
    magnetised_wave,
    magnetic_bottle,
    driven_wave,
    light_wave,
    whistler,
    filamentation,
    weibel,
    bump_on_tail,
    cyclotron_ring,
)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(note.__name__ for note in NOTES))
    names = parser.parse_args().names
    if unknown := set(names) - {note.__name__ for note in NOTES}:
        parser.error(f"no note is named {', '.join(sorted(unknown))}")
    for note in NOTES:
        if not names or note.__name__ in names:
            note()


if __name__ == "__main__":
    main()
