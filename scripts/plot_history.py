#!/usr/bin/python3
"""Draws a run's history against time: field energy, density modes, drift of the total energy, and kinetic energy, also
of each species that has columns of its own (output.history.species). Several runs are drawn together, each in a colour.
Of electromagnetic runs the magnetic energy is drawn too, with the growth that fit_rate.py finds by the config.

Where the first mode has an exact linear solution by the config, as fit_rate.py finds it, that is dashed along the mode;
its rate and frequency are given where one root prevails. Where it has none, a sentence below says by which key.
"""

from pathlib import Path

from radixpic import energy, look
from radixpic.history import read_history, read_title
from radixpic.script import Problem, make_parser, picture_options, run_script

EXAMPLES = """examples:
  scripts/plot_history.py output/landau_damping                        writes output/landau_damping/energy.png
  scripts/plot_history.py output/coarse output/fine                    compares runs: energy.png in the current folder
  scripts/plot_history.py output/my --fit-range 3 12
  scripts/plot_history.py output/two_stream/history.csv --mode 1 0 --mode 2 0 --output two_stream.png --show
"""


def main():
    parser = make_parser(__doc__, EXAMPLES)
    parser.add_argument("histories", nargs="+", metavar="HISTORY",
        help="a run's output folder, or its history.csv; several are compared")
    parser.add_argument("--mode", nargs=2, type=int, action="append", metavar=("MX", "MY"),
        help="mode to draw, may be repeated (default: the first six, of several runs the first)")
    parser.add_argument("--modes-of", choices=["density", *(field + axis for field in "EB" for axis in "xyz")],
        default="density", help="whose modes are drawn, of those in output.history.mode_fields (default: density)")
    parser.add_argument("--fit-range", nargs=2, type=float, metavar=("FROM", "TO"), default=energy.ALL_TIMES,
        help="where to fit and draw theory (default: everywhere)")
    picture_options(parser, "energy.png beside the history, of several in the current folder")
    arguments = parser.parse_args()

    histories = [read_history(path) for path in arguments.histories]
    low, high = arguments.fit_range
    for history in histories:
        if not ((history["time"] >= low) & (history["time"] <= high)).any():
            raise Problem(f"{history.path} has no row from t = {low:g} to {high:g}")
    modes = [tuple(mode) for mode in arguments.mode] if arguments.mode else None
    plt = look.import_pyplot(arguments.show)
    titles = {read_title(history.path.parent) for history in histories}
    title = arguments.title or (titles.pop() if len(titles) == 1 else "")
    figure = energy.draw(plt, histories, modes, arguments.fit_range, title, arguments.modes_of)
    place = histories[0].path.parent if len(histories) == 1 else Path()
    look.save(figure, arguments.output or place / "energy.png", arguments.show)


if __name__ == "__main__":
    run_script(main)
