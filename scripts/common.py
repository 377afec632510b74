"""What the plotting and fitting scripts share: errors in one sentence, reading a run's files, the look of the plots."""

import argparse
import csv
import json
import re
import sys
from pathlib import Path

try:
    import numpy as np
except ImportError:
    sys.exit("numpy is missing for this python: install python3-numpy and run the script with /usr/bin/python3")

# Okabe and Ito's colours, told apart by colour-blind readers too.
BLUE, ORANGE, GREEN, PURPLE, SKY, RED = "#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00"
CYCLE = [BLUE, RED, GREEN, ORANGE, PURPLE, SKY]


class Problem(Exception):
    """Something the user can mend; the message is one sentence."""


def run_script(main):
    """Runs main(), turning a Problem into its sentence and exit code 1."""
    try:
        main()
    except Problem as problem:
        sys.exit(f"{Path(sys.argv[0]).name}: {problem}")


def make_parser(description, examples):
    """A parser that prints the description and the examples in --help as they are written."""
    form = argparse.RawDescriptionHelpFormatter
    return argparse.ArgumentParser(description=description, epilog=examples, formatter_class=form)


def read_text(path):
    """The text of a file."""
    try:
        return Path(path).read_text()
    except OSError as error:
        raise Problem(f"cannot read {path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise Problem(f"{path} is not a text file") from None


def read_rows(path):
    """The rows of a CSV file, without a last one that was not finished."""
    text = read_text(path)
    lines = text.splitlines()
    if lines and not text.endswith("\n"):
        lines.pop()
    return list(csv.reader(lines))


class History:
    """The columns of a history.csv by name, and its density modes as complex series."""

    def __init__(self, path, columns):
        self.path = path
        self.columns = columns
        self.modes = {}
        for name in columns:
            match = re.fullmatch(r"density_(-?\d+)_(-?\d+)_re", name)
            if match and name[:-2] + "im" in columns:
                self.modes[int(match[1]), int(match[2])] = columns[name] + 1j * columns[name[:-2] + "im"]

    def __getitem__(self, name):
        if name not in self.columns:
            raise Problem(f"{self.path} has no column {name}")
        return self.columns[name]

    def mode(self, mode):
        if mode not in self.modes:
            there = ", ".join(f"{x} {y}" for x, y in self.modes) or "none"
            raise Problem(f"{self.path} has no density mode {mode[0]} {mode[1]} (it has: {there})")
        return self.modes[mode]


def read_history(path):
    """Reads RUN_FOLDER/history.csv or the file itself; a last line that a killed run left unfinished is dropped."""
    path = Path(path)
    if path.is_dir():
        path = path / "history.csv"
    rows = read_rows(path)
    if not rows or "time" not in rows[0]:
        raise Problem(f"{path} does not start with the header of a history (step,time,field_energy,...)")
    header, rows = rows[0], rows[1:]
    values = []
    for number, row in enumerate(rows, start=2):
        try:
            if len(row) != len(header):
                raise ValueError
            values.append([float(cell) for cell in row])
        except ValueError:
            raise Problem(f"{path}:{number}: expected {len(header)} numbers separated by commas") from None
    if not values:
        raise Problem(f"{path} has no rows")
    return History(path, dict(zip(header, np.array(values).T)))


def read_title(folder):
    """The title in RUN_FOLDER/config.yaml, or the folder's name where there is none; safe as matplotlib text."""
    title = ""
    try:
        line = re.search(r"^title:[ \t]*(.*?)[ \t]*$", (folder / "config.yaml").read_text(), re.MULTILINE)
    except (OSError, UnicodeDecodeError):
        line = None
    if line and (quoted := re.match(r'"(?:[^"\\]|\\.)*"', line[1])):
        try:
            title = json.loads(quoted[0])  # escapes of JSON are escapes of YAML too
        except ValueError:
            title = quoted[0][1:-1]
    elif line and (quoted := re.match(r"'((?:[^']|'')*)'", line[1])):
        title = quoted[1].replace("''", "'")
    elif line:
        title = re.sub(r"(^|\s+)#.*", "", line[1])
    if title.strip() in ("", "untitled"):  # the latter is what a run without a title writes
        title = folder.resolve().name.replace("_", " ")
    return title.replace("$", r"\$")


def import_pyplot(show):
    """matplotlib.pyplot in the project's look; without a display unless the plot is to be shown."""
    try:
        import matplotlib

        if not show:
            matplotlib.use("Agg")
        import matplotlib.pyplot as plt
    except ImportError:
        raise Problem("matplotlib is missing: install python3-matplotlib and run with /usr/bin/python3") from None
    plt.rcParams.update(
        {
            "figure.dpi": 110,
            "savefig.dpi": 160,
            "font.size": 10,
            "axes.titlesize": 10.5,
            "axes.titlelocation": "left",
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.prop_cycle": plt.cycler(color=CYCLE),
            "axes.grid": True,
            "grid.color": "#dddddd",
            "grid.linewidth": 0.6,
            "lines.linewidth": 1.6,
            "legend.frameon": False,
            "legend.fontsize": 9,
            "figure.constrained_layout.use": True,
        }
    )
    return plt


def picture_path(arguments, name):
    """--output, or this name in the run's folder, or beside the file that was named."""
    place = Path(arguments.place)
    return Path(arguments.output) if arguments.output else (place if place.is_dir() else place.parent) / name


def save(figure, path, show=False):
    """Writes a picture, says where, and with `show` opens its window."""
    try:
        figure.savefig(path, bbox_inches="tight")
    except (OSError, ValueError) as error:
        raise Problem(f"cannot write {path}: {error}") from None
    print(path)
    if show:
        import matplotlib.pyplot as plt

        plt.show()
