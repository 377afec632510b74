#!/usr/bin/python3
"""Draws f over two axes of phase space from a run's phase_space/ files, summed over the other axes."""

import argparse
from pathlib import Path

from common import Problem, import_pyplot, run_script, save
from plot_snapshot import Snapshot, find_snapshots, panel_grid, step_list, text

import numpy as np

EXAMPLES = """examples:
  scripts/plot_phase_space.py output/two_stream                                  all species together, last step
  scripts/plot_phase_space.py output/two_stream --step all --mesh right_xu left_xu
  scripts/plot_phase_space.py output/my --mesh electrons_uvxy --axes u v         the sum over x and y
"""
UNITS = {"x": r"\lambda_D", "y": r"\lambda_D", "u": r"v_{th}", "v": r"v_{th}"}
UNITS_SI = {"x": "m", "y": "m", "u": "m/s", "v": "m/s"}


class Mesh:
    """f of one species: values[along each of axes], their ranges, and the widths of the bins."""

    def __init__(self, snapshot, name, si):
        if name not in snapshot.meshes:
            raise Problem(f"{snapshot.path} has no mesh {name} (it has: {', '.join(snapshot.meshes) or 'none'})")
        record = snapshot.meshes[name]
        try:
            unit = record.attrs["axisUnitSI"] if si else 1
            self.axes = [text(label) for label in record.attrs["axisLabels"]]
            self.values = record[...].astype(float) * (record.attrs["unitSI"] if si else 1)
            self.low, self.high = record.attrs["axisLow"] * unit, record.attrs["axisHigh"] * unit
        except KeyError:
            raise Problem(f"{name} of {snapshot.path} is not a phase space") from None
        self.width = (self.high - self.low) / self.values.shape

    def over(self, pair, name):
        """Values over a pair of axes, the first along rows, and the picture's edges."""
        for axis in pair:
            if axis not in self.axes:
                raise Problem(f"{name} is no function of {axis} (but of: {', '.join(self.axes)})")
        numbers = [self.axes.index(axis) for axis in pair]
        others = tuple(n for n in range(len(self.axes)) if n not in numbers)
        values = self.values.sum(axis=others) * np.prod(self.width[list(others)])
        values = values.T if numbers[0] > numbers[1] else values
        return values, tuple(edge for n in numbers for edge in (self.low[n], self.high[n]))


def default_axes(mesh, name):
    """The written axes, space before velocity as in a textbook's picture."""
    if len(mesh.axes) < 2:
        raise Problem(f"{name} is a function of {mesh.axes[0]} alone: nothing to draw over two axes")
    return sorted(mesh.axes, key="xyuv".index)[:2] if len(mesh.axes) == 2 else mesh.axes[:2]


def draw(plt, files, names, pair, si):
    """A panel for each time, the sum of the meshes, on one colour scale."""
    pictures = []
    for file in files:
        meshes = [Mesh(file, name, si) for name in names]
        pair = pair or default_axes(meshes[0], names[0])
        parts = [mesh.over(pair, name) for mesh, name in zip(meshes, names)]
        for name, (values, extent) in zip(names, parts):
            if values.shape != parts[0][0].shape or not np.allclose(extent, parts[0][1]):
                raise Problem(f"{name} has other bins over {pair[0]} and {pair[1]} than {names[0]}: draw it alone")
        pictures.append((sum(values for values, _ in parts), parts[0][1]))
    rows, columns = panel_grid(len(files))
    figure = plt.figure(figsize=(1.4 + 4.2 * columns, 0.5 + 3.4 * rows))
    grid = figure.subplots(rows, columns, squeeze=False, sharex=True, sharey=True)
    most = max(values.max() for values, _ in pictures)
    for panel, file, (values, extent) in zip(grid.ravel(), files, pictures):
        options = {"origin": "lower", "aspect": "auto", "cmap": "magma", "interpolation": "nearest"}
        image = panel.imshow(values.T, extent=extent, vmin=0, vmax=most, **options)
        panel.set_title(file.time_label(si))
        panel.grid(False)
    for panel in grid.ravel()[len(files) :]:
        panel.axis("off")
    species = " + ".join(dict.fromkeys(text(files[0].meshes[name].attrs["species"]) for name in names))
    figure.colorbar(image, ax=list(grid.ravel()), pad=0.015).set_label(f"$f({pair[0]}, {pair[1]})$ of {species}")
    units = UNITS_SI if si else UNITS
    labels = [f"${axis}$ [{units[axis]}]" if si else rf"${axis}\;[{units[axis]}]$" for axis in pair]
    for panel in grid[-1]:
        panel.set_xlabel(labels[0])
    for panel in grid[:, 0]:
        panel.set_ylabel(labels[1])
    return figure


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, epilog=EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("place", metavar="RUN", help="a run's output folder, or one file of its phase_space/")
    parser.add_argument(
        "--step", nargs="+", type=step_list, metavar="N", help="steps to draw, or all (default: the last)"
    )
    parser.add_argument("--mesh", nargs="+", metavar="NAME", help="draw the sum of these (default: of all there are)")
    parser.add_argument(
        "--axes", nargs=2, choices=list("xyuv"), help="to the right and upwards (default: the first two written)"
    )
    parser.add_argument("--si", action="store_true", help="SI units instead of normalised ones")
    parser.add_argument("--output", metavar="FILE", help="picture to write (default: RUN/f.png)")
    parser.add_argument("--show", action="store_true", help="also open a window")
    arguments = parser.parse_args()
    if arguments.axes and arguments.axes[0] == arguments.axes[1]:
        parser.error("--axes must be two different ones")
    place = Path(arguments.place)
    folder = place / "phase_space"
    if place.is_dir() and not folder.is_dir():
        raise Problem(f"{place} holds no phase_space/: does its config have output.phase_space?")
    steps = "all" if arguments.step and "all" in arguments.step else arguments.step
    files = [Snapshot(path) for path in find_snapshots(folder if place.is_dir() else place, steps)]
    plt = import_pyplot(arguments.show)
    figure = draw(plt, files, arguments.mesh or list(files[0].meshes), arguments.axes, arguments.si)
    save(figure, Path(arguments.output) if arguments.output else (place if place.is_dir() else place.parent) / "f.png")
    if arguments.show:
        plt.show()


if __name__ == "__main__":
    run_script(main)
