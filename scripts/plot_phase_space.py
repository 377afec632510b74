#!/usr/bin/python3
"""Draws the density in phase space of a run's phase_space/ files over two axes, or over one as a line.

What is drawn is the integral of f over the axes that are not, as the label beside the picture shows, with its unit.
Over axes that a mesh has it goes over the mesh's ranges. scripts/plot_snapshot.py --phase-space draws the same of
particles.
"""

import sys
from pathlib import Path

from radixpic import phase_space
from radixpic.history import read_title
from radixpic.pictures import deliver
from radixpic.script import make_parser, parse_picture, picture_options, run_script, steps_of

EXAMPLES = """examples:
  scripts/plot_phase_space.py output/two_stream                                  f(x, u) of all species, last step
  scripts/plot_phase_space.py output/two_stream --step all --mesh right_xu       of one, all times: right_xu.png
  scripts/plot_phase_space.py output/my --mesh electrons_uvxy --axes u v         the integral over x and y
  scripts/plot_phase_space.py output/my --axes x y --limits 0.8 1.2              n(x, y), its wave in all the colours
  scripts/plot_phase_space.py output/my --axes u --log                           f(u), a line for each species: f_u.png
  scripts/plot_phase_space.py output/my --axes f --log                           a spectrum: over the formula of an axis
  scripts/plot_phase_space.py output/two_stream --apart --movie beams.gif        a row for each, a frame for each time
"""


def parser_of():
    parser = make_parser(__doc__, EXAMPLES)
    parser.add_argument("place", metavar="RUN", help="a run's output folder, or one file of its phase_space/")
    parser.add_argument("--mesh", nargs="+", metavar="NAME",
        help="draw these together, each of another species (default: one of each species that has the axes, the one of "
        "the fewest axes, and then the one in most of the files; a species with other bins is left out)")
    parser.add_argument(
        "--axes",
        nargs="+",
        choices=[*"xyuvw", *phase_space.FORMULAS],
        help="one, or two: to the right and upwards; f, g, h are a mesh's formulas (default: of "
        + ", ".join(" ".join(axes) for axes in phase_space.PREFERRED_AXES)
        + " the first that most species have)",
    )
    picture_options(parser, "RUN/f.png, with the names of --mesh and --axes where they are given", of_files=True)
    return parser


def main():
    parser = parser_of()
    arguments = parse_picture(parser)
    axes, apart = arguments.axes, arguments.apart
    if axes and (len(axes) > 2 or len(set(axes)) != len(axes)):
        parser.error("--axes must be one, or two different ones")
    files, run_folder = phase_space.find_files(Path(arguments.place), steps_of(arguments))
    kept, axes, notes = phase_space.choose(files, arguments.mesh, "".join(axes) if axes else None, apart)
    for note in notes:
        print(f"{Path(sys.argv[0]).name}: {note}", file=sys.stderr)
    name = "_".join([*(arguments.mesh or ["f"]), *([axes] if arguments.axes else [])])
    deliver(arguments, phase_space.rows(kept, axes, arguments.si, apart), read_title(run_folder), f"{name}.png")


if __name__ == "__main__":
    run_script(main)
