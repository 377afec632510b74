"""Reads the CSV files of radixpic bench, and says what tells their rows apart."""

import csv
import math
from pathlib import Path

from common import Problem, read_text

# What a file is by the columns that it must have.
KINDS = {
    "step": "device method cells_x cells_y particles stage ns_per_particle_step min_ns max_ns".split(),
    "pic-sort": "device method particles key_bits passes phase median_ms".split(),
    "random-lists": "device method keys key_bits phase median_ms".split(),
    "permutation": "device dimensions elements block kernel median_ms min_ms max_ms".split(),
    "local-memory": "device part version size scope addresses median_ms min_ms max_ms rate unit".split(),
    "deposit": "device shape precision particles per_cell method median_ms min_ms max_ms".split(),
    "layout": "device operation input type arrays length layout median_ms min_ms max_ms".split(),
}
NUMBERS = ("ns_per_particle_step", "min_ns", "max_ns", "cells_x", "cells_y", "particles", "median_ms", "keys")
NUMBERS += ("min_ms", "max_ms", "arrays", "elements", "rate", "per_cell")
HOST = "host"


def value_of(name, word):
    """A finite number, or ValueError, in a column of numbers; in others words that are not read as mathematics."""
    if name not in NUMBERS:
        return word.replace("$", r"\$")
    number = float(word)
    if not math.isfinite(number):
        raise ValueError
    return number


def read_bench(path):
    """The kind of a CSV file and its rows, numbers as such; a last line that was not finished is dropped.

    Each row also has "path"; "file", the file's name without its ending; and "machine": its device, or, where it is of
    the host, the devices beside which the file has it.
    """
    text = read_text(path)
    lines = text.splitlines()
    if lines and not text.endswith("\n"):
        lines.pop()
    header, *rows = list(csv.reader(lines)) or [[]]
    kind = next((kind for kind, columns in KINDS.items() if set(columns) <= set(header)), None)
    if not kind:
        raise Problem(f"{path} does not start with the header of a radixpic bench that is drawn here (see --help)")
    read = []
    for number, row in enumerate(rows, start=2):
        try:
            if len(row) != len(header):
                raise ValueError
            named = dict(zip(header, row))
            read.append({name: value_of(name, word) for name, word in named.items()})
        except ValueError:
            raise Problem(f"{path}:{number}: expected {len(header)} fields, times and sizes as numbers") from None
    if not read:
        raise Problem(f"{path} has no rows")
    devices = " and ".join(dict.fromkeys(row["device"] for row in read if row["device"] != HOST)) or HOST
    for row in read:
        row["path"], row["file"] = str(path), Path(path).stem.replace("$", r"\$")
        row["machine"] = devices if row["device"] == HOST else row["device"]
    return kind, read


def read_files(paths):
    """The kind that all files are of, and their rows; files of one name in two folders are called by their paths."""
    paths = list(dict.fromkeys(map(Path, paths)))
    read = [read_bench(path) for path in paths]
    kinds = {kind for kind, _ in read}
    if len(kinds) > 1:
        raise Problem(f"the files are of several experiments ({', '.join(sorted(kinds))}): draw them one by one")
    rows = [row for _, file_rows in read for row in file_rows]
    if len({path.stem for path in paths}) < len(paths):
        for row in rows:
            row["file"] = row["path"].replace("$", r"\$")
    return kinds.pop(), rows


def is_refuted(row):
    """Whether the bench found the row's result wrong; one that it did not compare is not."""
    return row.get("verified") == "no"


class Settings:
    """What was measured, in words: what all rows share, for the title, and what tells them apart, for the legend.

    readers: {what: function of a row that returns its words, "" where a row has none}; key: function of a row that
    returns what tells rows apart besides. The device is a setting too, and so is the file, where nothing else tells
    the rows of two files apart.
    """

    def __init__(self, rows, readers, key):
        readers = {**readers, "device": lambda row: row["machine"]}
        values = {what: {read(row) for row in rows} - {""} for what, read in readers.items()}
        self.shared = [min(words) for what, words in values.items() if len(words) == 1 and what != "device"]
        self.readers = {what: read for what, read in readers.items() if len(values[what]) > 1}
        files = {}
        for row in rows:
            files.setdefault((key(row), self.words(row)), set()).add(row["file"])
        if any(len(names) > 1 for names in files.values()):
            self.readers["file"] = lambda row: f"file {row['file']}"

    @property
    def varying(self):
        """What tells rows apart: the names of the settings."""
        return list(self.readers)

    def words(self, row):
        """The settings of a row, of those that tell rows apart, in the order of varying; "" for what it has not."""
        return tuple(read(row) for read in self.readers.values())
