#!/usr/bin/python3
"""Draws the paths of tracked particles (output.tracks) of a run: in the box, in phase space, or against time. A dot is
where a path begins; velocities are half a time step earlier than positions."""

from pathlib import Path

from radixpic import look, tracks
from radixpic.history import read_config, read_title
from radixpic.script import make_parser, picture_options, run_script

EXAMPLES = """examples:
  scripts/plot_tracks.py output/my                        y over x: tracks.png there
  scripts/plot_tracks.py output/my --axes x u             phase space: tracks_xu.png
  scripts/plot_tracks.py output/my --axes t x --id 0 41   x over time, of two particles: tracks_tx.png
"""


def main():
    parser = make_parser(__doc__, EXAMPLES)
    parser.add_argument("place", metavar="RUN", type=Path, help="a run's output folder")
    parser.add_argument("--axes", nargs=2, choices=list("txyuvw"), default=["x", "y"],
        help="to the right and upwards; t is time (default: x y)")
    parser.add_argument("--id", nargs="+", type=int, metavar="N",
        help="particles to draw (default: all that are tracked)")
    picture_options(parser, "RUN/tracks.png, with --axes RUN/tracks_AXES.png")
    arguments = parser.parse_args()
    axes = "".join(arguments.axes)
    if axes[0] == axes[1]:
        parser.error("--axes must be two different ones")
    paths = tracks.read_tracks(arguments.place)
    lengths = read_config(arguments.place)["grid"]["length"]
    plt = look.import_pyplot(arguments.show)
    figure = tracks.draw(plt, paths, axes, arguments.id, lengths, arguments.title or read_title(arguments.place))
    name = "tracks.png" if axes == "xy" else f"tracks_{axes}.png"
    look.save(figure, arguments.output or arguments.place / name, arguments.show)


if __name__ == "__main__":
    run_script(main)
