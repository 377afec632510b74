"""Reads the CSV files of radixpic bench, which all have one form, and says what tells their rows apart."""

import math
from pathlib import Path

from radixpic.history import read_rows
from radixpic.script import Problem

HEADER = "bench,device,case,quantity,median,min,max,repeats,verified".split(",")
HOST = "host"


def plain(text):
    """Text that is not read as mathematics."""
    return text.replace("$", r"\$")


def count(number):
    """1048576 as 2^20, in mathematics; others as they are, thousands apart."""
    power = int(number).bit_length() - 1
    if number == 2**power and power >= 14:
        return rf"$2^{{{power}}}$"
    return f"{number:,.0f}" if number == int(number) else f"{number:g}"


def number(row, key):
    """A number among the words of a row's case."""
    try:
        return float(row[key])
    except (KeyError, ValueError):
        raise Problem(f"{row['file']}: {key} of {row['bench']} is no number: {row.get(key, 'missing')}") from None


def read_row(fields):
    """{column or word of the case: value}, medians and the like as numbers; or ValueError."""
    if len(fields) != len(HEADER):
        raise ValueError
    row = dict(zip(HEADER, fields))
    for name in ("median", "min", "max"):
        row[name] = float(row[name])
        if not math.isfinite(row[name]):
            raise ValueError
    words = dict(word.split("=", 1) for word in row["case"].split(" "))
    row["case"] = {key: plain(word.replace("_", " ")) for key, word in words.items()}
    return {**row["case"], **row, "device": plain(row["device"])}


def read_bench(path):
    """The bench of a CSV file and its rows; a last line that was not finished is dropped.

    Each row also has "case", its words by their keys, and each of these by its own; "path"; "file", the file's name
    without its ending; and "machine": its device, or, if that is the host, the devices beside which the file has it.
    """
    header, *rows = read_rows(path) or [[]]
    if header != HEADER:
        raise Problem(f"{path} does not start with the header of radixpic bench --csv")
    read = []
    for line, row in enumerate(rows, start=2):
        try:
            read.append(read_row(row))
        except ValueError:
            raise Problem(f"{path}:{line}: expected {len(HEADER)} fields, those measured as numbers") from None
    if not read:
        raise Problem(f"{path} has no rows")
    devices = " and ".join(dict.fromkeys(row["device"] for row in read if row["device"] != HOST)) or HOST
    for row in read:
        row["path"], row["file"] = str(path), plain(Path(path).stem)
        row["machine"] = devices if row["device"] == HOST else row["device"]
    return read[0]["bench"], read


def read_files(paths):
    """The bench that all files are of, and their rows; files of one name in two folders are called by their paths."""
    paths = list(dict.fromkeys(map(Path, paths)))
    read = [read_bench(path) for path in paths]
    benches = {bench for bench, _ in read}
    if len(benches) > 1:
        raise Problem(f"the files are of several experiments ({', '.join(sorted(benches))}): draw them one by one")
    rows = [row for _, file_rows in read for row in file_rows]
    if len({path.stem for path in paths}) < len(paths):
        for row in rows:
            row["file"] = plain(row["path"])
    return benches.pop(), rows


def is_refuted(row):
    """Whether the bench found the row's result wrong; one that it did not compare is not."""
    return row["verified"] == "no"


class Settings:
    """What was measured, in words: what all rows share, for the title, and what tells them apart, for the legend.

    Those are all words of the cases but `shown`, which the picture shows otherwise; the device; and the file, where
    nothing else tells the rows of two files apart. place: function of a row that returns where the picture has it.
    """

    def __init__(self, rows, shown, place):
        self.varying = [*dict.fromkeys(name for row in rows for name in row["case"] if name not in shown), "device"]
        values = {name: {self.word(row, name) for row in rows} - {""} for name in self.varying}
        self.shared = [min(words) for name, words in values.items() if len(words) == 1 and name != "device"]
        self.varying = [name for name in self.varying if len(values[name]) > 1]
        files = {}
        for row in rows:
            files.setdefault((place(row), self.words(row)), set()).add(row["file"])
        if any(len(names) > 1 for names in files.values()):
            self.varying.append("file")

    @staticmethod
    def word(row, name):
        if name == "device":
            return row["machine"]
        word = row["file"] if name == "file" else row["case"].get(name, "")
        return word and f"{name}{' = ' if len(name) == 1 else ' '}{count(float(word)) if name == 'N' else word}"

    def words(self, row):
        """The settings of a row, of those that tell rows apart, in the order of varying; "" for what it has not."""
        return tuple(self.word(row, name) for name in self.varying)
