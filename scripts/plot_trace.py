#!/usr/bin/python3
"""Draws what the ranks of a run did when, of tables that RADIXPIC_TRACE=NAME had them write, NAME.0.csv and so on.

The ranks are of one machine and share its clock. Every rank has three lanes: the two queues of its device, and the
host. "wait" is the host that waits for its device; its other work includes messages and waiting for other ranks.
"""

import csv

from radixpic import look
from radixpic.script import Problem, make_parser, picture_options, run_script

EXAMPLES = """examples:
  RADIXPIC_TRACE=trace mpirun -n 2 radixpic bench scaling --device gpu --particles 8388608
  scripts/plot_trace.py trace.0.csv trace.1.csv --before 5 --span 1.5 -o trace.svg
"""
LANES = ("main queue", "side queue", "host")


def read(path):
    """The rows of a table as (lane, stage, begin, end), but for the last, which a killed run may leave cut."""
    try:
        with open(path, newline="", encoding="utf-8") as file:
            header, *rows = csv.reader(file)
    except (OSError, ValueError) as error:
        raise Problem(f"{path}: cannot read a trace of a rank: {error}") from error
    if header != ["lane", "stage", "begin_s", "end_s"]:
        raise Problem(f"{path} is no trace of a rank")
    return [(lane, stage, float(begin), float(end)) for lane, stage, begin, end in rows[:-1]]


def choose(tables, before, span):
    """What lies in the span, as (rank, lane, stage, begin, end) in milliseconds from its begin."""
    ends = [end for rows in tables for lane, _, _, end in rows if lane != "host"]
    if not ends:
        raise Problem("the tables have no work of a device")
    start = max(ends) - 1e-3 * before
    return [
        (rank, lane, stage, 1e3 * (begin - start), 1e3 * (end - start))
        for rank, rows in enumerate(tables)
        for lane, stage, begin, end in rows
        if end > start and begin < start + 1e-3 * span
    ]


def draw(plt, shown, ranks, span):
    stages = sorted({stage for _, _, stage, _, _ in shown})
    colors = {stage: plt.get_cmap("tab10")(n % 10) for n, stage in enumerate(stages)} | {"wait": "lightgrey"}
    figure, axes = plt.subplots(figsize=(16, 1 + 1.2 * ranks))
    for rank, lane, stage, begin, end in shown:
        place = len(LANES) * rank + LANES.index(lane)
        axes.barh(place, end - begin, left=begin, color=colors[stage], edgecolor="black", linewidth=0.3)
    names = [f"rank {rank}, {lane}" for rank in range(ranks) for lane in LANES]
    axes.set_yticks(range(len(names)), names)
    axes.set(xlim=(0, span), xlabel="ms")
    axes.invert_yaxis()
    axes.legend([plt.Rectangle((0, 0), 1, 1, color=colors[stage]) for stage in stages], stages, ncols=10,
        loc="lower left", bbox_to_anchor=(0, 1))
    return figure


def main():
    parser = make_parser(__doc__, EXAMPLES)
    parser.add_argument("traces", nargs="+", metavar="TRACE", help="the tables, one a rank")
    parser.add_argument("--before", type=float, default=5, metavar="MS",
        help="where to begin, in milliseconds before the last work of a device (default: 5)")
    parser.add_argument("--span", type=float, default=1.5, metavar="MS", help="milliseconds to draw (default: 1.5)")
    picture_options(parser, "trace.png in the current folder")
    arguments = parser.parse_args()

    tables = [read(path) for path in arguments.traces]
    if arguments.span <= 0:
        raise Problem(f"--span: expected more than 0, found {arguments.span:g}")
    shown = choose(tables, arguments.before, arguments.span)
    plt = look.import_pyplot(arguments.show)
    look.save(draw(plt, shown, len(tables), arguments.span), arguments.output or "trace.png", arguments.show)


if __name__ == "__main__":
    run_script(main)
