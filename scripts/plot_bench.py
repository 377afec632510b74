#!/usr/bin/python3
"""Draws what radixpic bench wrote with --csv; scripts/bench_plots/figures.py has the table of the figures."""

from bench_plots import look, reading
from bench_plots.figures import FIGURES
from radixpic.look import import_pyplot, save
from radixpic.script import Problem, make_parser, picture_options, run_script

EXAMPLES = """examples:
  radixpic bench step --sweep --csv step.csv            cost of a step by particles, on every grid
  scripts/plot_bench.py step.csv -o step.png
  radixpic bench pic-sort --csv pic_sort.csv            bars of a sort's phases, the total a mark
  scripts/plot_bench.py pic_sort.csv -o pic_sort.png
  radixpic bench random-lists --csv lists.csv           the same of random keys
  scripts/plot_bench.py lists.csv -o lists.png
  radixpic bench permutation --csv volumes.csv          time by elements, a panel for each table
  scripts/plot_bench.py volumes.csv -o volumes.png
  radixpic bench local-memory --csv local.csv           bars of the rates, lines of the atomic functions
  scripts/plot_bench.py local.csv -o local.png
  radixpic bench deposit --csv deposit.csv              ns a particle by particles per cell, a panel for each shape
  scripts/plot_bench.py deposit.csv -o deposit.png
  radixpic bench layout --csv layout.csv                time by arrays, a panel for each operation
  scripts/plot_bench.py layout.csv -o layout.png
  scripts/plot_bench.py h200.csv cpu.csv -o steps.png   two devices, or settings, in one picture

Files of one picture are of one bench. No picture is of what radixpic bench scaling writes.
Results that the bench found wrong (verified = no) are crossed out; the picture is written, and the exit code is 1.
"""


def check_verified(rows):
    """A Problem that counts the rows that the bench found wrong, if any."""
    wrong = [row for row in rows if reading.is_refuted(row)]
    if wrong:
        files = ", ".join(dict.fromkeys(row["path"] for row in wrong))
        raise Problem(f"{len(wrong)} of {len(rows)} rows are not verified, those crossed out in the picture: {files}")


def main():
    parser = make_parser(__doc__, EXAMPLES)
    parser.add_argument("files", metavar="FILE", nargs="+", help="written by radixpic bench NAME --csv FILE")
    picture_options(parser, "bench.png")
    arguments = parser.parse_args()

    kind, rows = reading.read_files(arguments.files)
    if kind not in FIGURES:
        raise Problem(f"no picture is of radixpic bench {kind}, but of {', '.join(FIGURES)}")
    plt = import_pyplot(arguments.show)
    figure = FIGURES[kind].draw(plt, FIGURES[kind], rows, arguments.title or look.title_of(kind, rows))
    save(figure, arguments.output or "bench.png", arguments.show)
    check_verified(rows)


if __name__ == "__main__":
    run_script(main)
