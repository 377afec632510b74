#!/usr/bin/python3
"""Draws a run's openPMD snapshots: a mesh, or with --phase-space the velocity of species against their position.

The latter is f(x, u), the integral of f over y and v: a number density, divided neither by the box's width along y nor
by the number of particles, in the unit beside the colour bar. scripts/plot_phase_space.py draws the same.
"""

import re

from radixpic import fields, look
from radixpic.script import make_parser, picture_path, run_script, step_list, steps_of

EXAMPLES = """examples:
  scripts/plot_snapshot.py output/landau_damping                               E/x, last step: field.png there
  scripts/plot_snapshot.py output/landau_damping --step 0 50 100 --mesh phi    three times on one colour scale: phi.png
  scripts/plot_snapshot.py output/landau_damping --step all --mesh E/x E/y     all times, a row for each mesh
  scripts/plot_snapshot.py output/two_stream --phase-space right left          u against x: phase_space.png there
  scripts/plot_snapshot.py output/two_stream/snapshots/data_100.h5 --si        in SI units
"""


def picture_name(meshes):
    """field.png for E/x alone; any other choice of meshes has a picture of its own."""
    meshes = list(dict.fromkeys(meshes))
    return "field.png" if meshes == ["E/x"] else "_".join(re.sub(r"\W", "_", name) for name in meshes) + ".png"


def main():
    parser = make_parser(__doc__, EXAMPLES)
    parser.add_argument("place", metavar="RUN", help="a run's output folder, or one snapshot file")
    parser.add_argument(
        "--step", nargs="+", type=step_list, metavar="N", help="steps to draw, or all (default: the last)"
    )
    what = parser.add_mutually_exclusive_group()
    what.add_argument(
        "--mesh",
        nargs="+",
        default=["E/x"],
        metavar="NAME",
        help="E/x, E/y, phi or chargeDensity, the last of all species together (default: E/x)",
    )
    what.add_argument(
        "--phase-space", nargs="+", metavar="SPECIES", help="draw f(x, u) of these species together, or f(y, v)"
    )
    parser.add_argument("--axis", choices=["x", "y"], default="x", help="axis of --phase-space (default: x)")
    parser.add_argument("--bins", type=int, default=200, help="cells along each axis of --phase-space (default: 200)")
    parser.add_argument("--si", action="store_true", help="SI units instead of normalised ones")
    parser.add_argument(
        "--output",
        metavar="FILE",
        help="picture to write (default, in RUN: field.png for E/x, else named after its meshes, as phi.png; "
        "phase_space.png)",
    )
    parser.add_argument("--show", action="store_true", help="also open a window")
    arguments = parser.parse_args()
    if arguments.bins < 1:
        parser.error("--bins must be at least 1")
    snapshots = [fields.Snapshot(path) for path in fields.find_snapshots(arguments.place, steps_of(arguments))]
    plt = look.import_pyplot(arguments.show)
    if arguments.phase_space:
        name = "phase_space.png"
        species = list(dict.fromkeys(arguments.phase_space))  # each once, or its density would be twice what it is
        figure = fields.draw_phase_space(plt, snapshots, species, arguments.axis, arguments.bins, arguments.si)
    else:
        name = picture_name(arguments.mesh)
        figure = fields.draw_meshes(plt, snapshots, arguments.mesh, arguments.si)
    look.save(figure, picture_path(arguments, name), arguments.show)


if __name__ == "__main__":
    run_script(main)
