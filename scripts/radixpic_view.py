#!/usr/bin/python3
"""Writes a page of a run for a browser: a slider of time over meshes, phase spaces and the history.

The page holds its data: it needs no server and no network, and may be mailed. PAGE.html#step=100&left=E/x&right=phi
opens it at a step, with these quantities.
"""

import argparse
from pathlib import Path

from radixpic.run_folder import Run
from radixpic.script import make_parser, run_script

EXAMPLES = """examples:
  scripts/radixpic_view.py output/two_stream                     writes output/two_stream/view.html
  scripts/radixpic_view.py output/two_stream --frames 20 --si    fewer times, in SI units
"""


def whole(argument):
    if not argument.isdigit() or int(argument) < 1:
        raise argparse.ArgumentTypeError(f"expected a whole number of at least 1, found {argument}")
    return int(argument)


def main():
    parser = make_parser(__doc__, EXAMPLES)
    parser.add_argument("place", metavar="RUN", help="a run's output folder")
    parser.add_argument("--frames", type=whole, default=100, metavar="N",
        help="at most so many times of each quantity, evenly (default: 100)")
    parser.add_argument("--si", action="store_true", help="SI units instead of normalised ones, without the history")
    parser.add_argument("-o", "--output", metavar="FILE", help="page to write (default: RUN/view.html)")
    arguments = parser.parse_args()
    output = arguments.output or Path(arguments.place) / "view.html"
    Run(arguments.place).explore(output, arguments.frames, arguments.si)
    print(output)


if __name__ == "__main__":
    run_script(main)
