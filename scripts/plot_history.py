#!/usr/bin/python3
"""Draws a run's history against time: field energy, density modes, drift of the total energy, and kinetic energy, also of
each species that has columns of its own (output.history.species)."""

from radixpic import energy, look
from radixpic.history import read_history, read_title
from radixpic.script import Problem, make_parser, picture_options, run_script

EXAMPLES = """examples:
  scripts/plot_history.py output/landau_damping                        writes output/landau_damping/energy.png
  scripts/plot_history.py output/landau_damping --theory-gamma -0.15336 --fit-range 3 12
  scripts/plot_history.py output/two_stream/history.csv --mode 1 0 --mode 2 0 --output two_stream.png --show
"""


def main():
    parser = make_parser(__doc__, EXAMPLES)
    parser.add_argument("history", metavar="HISTORY", help="a run's output folder, or its history.csv")
    parser.add_argument(
        "--mode",
        nargs=2,
        type=int,
        action="append",
        metavar=("MX", "MY"),
        help="density mode to draw, may be repeated (default: the first six)",
    )
    parser.add_argument(
        "--theory-gamma",
        type=float,
        metavar="GAMMA",
        help="draw exp(GAMMA t) along the first mode, or exp(2 GAMMA t) along the field energy if there is no mode",
    )
    parser.add_argument(
        "--fit-range",
        nargs=2,
        type=float,
        metavar=("FROM", "TO"),
        default=energy.ALL_TIMES,
        help="where to fit and draw theory (default: everywhere)",
    )
    picture_options(parser, "energy.png beside the history")
    arguments = parser.parse_args()

    history = read_history(arguments.history)
    time = history["time"]
    modes = [tuple(mode) for mode in arguments.mode] if arguments.mode else list(history.modes)[:6]
    if arguments.theory_gamma is not None:
        low, high = arguments.fit_range
        if not ((time >= low) & (time <= high)).any():
            raise Problem(f"{history.path} has no row from t = {low:g} to {high:g}")
    plt = look.import_pyplot(arguments.show)
    title = arguments.title or read_title(history.path.parent)
    figure = energy.draw(plt, history, modes, arguments.theory_gamma, arguments.fit_range, title)
    look.save(figure, arguments.output or history.path.parent / "energy.png", arguments.show)


if __name__ == "__main__":
    run_script(main)
