#!/usr/bin/python3
"""Draws a run's openPMD snapshots: a mesh, or with --phase-space the velocity of species against their position.

The latter is f(x, u), the integral of f over y, v and, of species that have it, w: a number density, divided neither by
the box's width along y nor by the number of particles, in the unit beside the colour bar. scripts/plot_phase_space.py
draws the same.
"""

import re

from radixpic import fields
from radixpic.history import read_title
from radixpic.pictures import deliver
from radixpic.script import make_parser, parse_picture, picture_options, run_script, steps_of

EXAMPLES = """examples:
  scripts/plot_snapshot.py output/landau_damping                               E/x, last step: field.png there
  scripts/plot_snapshot.py output/landau_damping --step 0 50 100 --mesh phi    three times: phi.png
  scripts/plot_snapshot.py output/landau_damping --step all --mesh E/x E/y     all times, a row for each mesh
  scripts/plot_snapshot.py output/two_stream --phase-space right left          u against x: phase_space.png there
  scripts/plot_snapshot.py output/two_stream/snapshots/data_100.h5 --si        in SI units
  scripts/plot_snapshot.py output/my --mesh phi E/x --movie waves.gif          a frame for each time, both meshes in it
  scripts/plot_snapshot.py output/my --mesh electrons_temperature --step all   of output.moments
"""


def picture_name(meshes):
    """field.png for E/x alone; any other choice of meshes has a picture of its own."""
    meshes = list(dict.fromkeys(meshes))
    return "field.png" if meshes == ["E/x"] else "_".join(re.sub(r"\W", "_", name) for name in meshes) + ".png"


def main():
    parser = make_parser(__doc__, EXAMPLES)
    parser.add_argument("place", metavar="RUN", help="a run's output folder, or one snapshot file")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--mesh", nargs="+", default=["E/x"], metavar="NAME",
        help="E/x, E/y, phi, chargeDensity (of all species), or others of snapshots/, moments/ or lines/, as "
        "SPECIES_density or J/z (default: E/x)")
    what.add_argument("--phase-space", nargs="+", metavar="SPECIES",
        help="draw f(x, u) of these species together, or f(y, v)")
    parser.add_argument("--axis", choices=["x", "y"], default="x", help="axis of --phase-space (default: x)")
    parser.add_argument("--bins", type=int,
        help=f"cells along each axis of --phase-space (default: {fields.MOST_BINS}, or fewer, for {fields.IN_A_BIN} "
        "particles in one on average)")
    pictures = "in RUN: field.png for E/x, else named after its meshes, as phi.png; phase_space.png, phase_space_y.png"
    picture_options(parser, pictures, of_files=True)
    arguments = parse_picture(parser)
    species, si = arguments.phase_space, arguments.si
    if arguments.bins is not None and arguments.bins < 1:
        parser.error("--bins must be at least 1")
    if arguments.apart and not species:
        parser.error("--apart is for --phase-space: each mesh has a row anyway")
    inner = "snapshots" if species else fields.folder_of(arguments.place, arguments.mesh)
    paths = fields.find_snapshots(arguments.place, steps_of(arguments), inner)
    snapshots = map(fields.Snapshot, paths)
    if species:
        species = list(dict.fromkeys(species))  # each once, or its density would be twice what it is
        name = "phase_space.png" if arguments.axis == "x" else "phase_space_y.png"
        rows = fields.particle_rows(snapshots, species, arguments.axis, arguments.bins, si, arguments.apart)
    else:
        name = picture_name(arguments.mesh)
        rows = fields.mesh_rows(snapshots, arguments.mesh, si)
    deliver(arguments, rows, read_title(paths[0].resolve().parent.parent), name)


if __name__ == "__main__":
    run_script(main)
