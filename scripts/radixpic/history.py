"""What a run leaves as text: its history and its config."""

import csv
import json
import re
from collections.abc import Mapping
from pathlib import Path

from radixpic.script import Problem, numpy as np, pandas, regular

MOST_BYTES, MOST_BYTES_OF_CONFIG = 1 << 30, 1 << 24  # of a text that is read


def read_text(path, most=MOST_BYTES):
    """The text of a file of at most so many bytes."""
    try:
        return Path(regular(path, most)).read_text()
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


class NoColumn(Problem, KeyError):
    """A column that is not there."""


MODE = r"(density|[EB][xyz])_(-?\d+)_(-?\d+)"  # of the name of a column, before _re and _im


class History(Mapping):
    """The columns of a history.csv by name, as of a dict, and its modes as complex series: `modes`, of the density, and
    `modes_of` with those of each component that has some.
    """

    __eq__, __hash__ = object.__eq__, object.__hash__  # that of a Mapping compares arrays

    def __init__(self, path, columns):
        self.path = path
        self.columns = columns
        self.modes = {}
        self.modes_of = {"density": self.modes}
        for name in columns:
            match = re.fullmatch(MODE + "_re", name)
            if match and name[:-2] + "im" in columns:
                modes = self.modes_of.setdefault(match[1], {})
                modes[int(match[2]), int(match[3])] = columns[name] + 1j * columns[name[:-2] + "im"]

    def __getitem__(self, name):
        if name not in self.columns:
            raise NoColumn(f"{self.path} has no column {name}; it has {', '.join(self.columns)}")
        return self.columns[name]

    def __iter__(self):
        return iter(self.columns)

    def __len__(self):
        return len(self.columns)

    def _ipython_key_completions_(self):
        return list(self.columns)

    def __repr__(self):
        rows = len(self.columns["time"])
        return f"<History of {rows} rows: {', '.join(self.columns)}>"

    def to_pandas(self):
        """A pandas.DataFrame with a row a step."""
        return pandas.DataFrame(dict(self.columns))

    def config(self):
        """That of the run whose history.csv or probes/NAME.csv this is."""
        folder = self.path.resolve().parent
        return read_config(folder.parent if folder.name == "probes" else folder)

    def mode_or_first(self, mode):
        """The mode, or where that is None the first there."""
        return tuple(mode or next(iter(self.modes), (1, 0)))

    def mode(self, mode, of="density"):
        modes = self.modes_of.get(of, {})
        if mode not in modes:
            there = ", ".join(f"{x} {y}" for x, y in modes) or "none"
            raise Problem(f"{self.path} has no {of} mode {mode[0]} {mode[1]} (it has: {there})")
        return modes[mode]


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
    try:
        title = str(read_config(folder).get("title") or "")
    except (Problem, RecursionError):  # of brackets without end
        title = ""
    if title.strip() in ("", "untitled"):  # the latter is what a run without a title writes
        title = folder.resolve().name.replace("_", " ")
    return title.replace("$", r"\$")


# ---- the config ----


def value_of(text):
    """A number, a text, or a list of those."""
    if text.startswith("'"):
        return text[1:-1].replace("''", "'")
    try:
        return json.loads(text)  # escapes of JSON are escapes of YAML too
    except ValueError:
        if not text.startswith("["):
            return text  # a word
    items, depth, item = [], 0, ""
    for letter in text[1:-1] + ",":
        depth += (letter == "[") - (letter == "]")
        if letter == "," and depth == 0:
            items += [value_of(item.strip())] if item.strip() else []
            item = ""
        else:
            item += letter
    return items


def read_config(folder):
    """RUN_FOLDER/config.yaml, which has every key of a run on a line of its own, as mappings, lists and values."""
    return parse_config(read_text(Path(folder) / "config.yaml", MOST_BYTES_OF_CONFIG))


def parse_config(text):
    """The same of a text that the program or the library wrote."""
    root = {}
    open_nodes = [(-1, root)]  # (indentation, mapping or list)
    for line in text.splitlines():
        match = re.match(r"""( *)(- )?([A-Za-z_]\w*): *("(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|.*?) *(?:#.*)?$""", line)
        if not match:
            continue
        indent, dash, key, value = len(match[1]), match[2], match[3], match[4].strip()
        while open_nodes[-1][0] >= indent:
            open_nodes.pop()
        parent = open_nodes[-1][1]
        if dash:
            item = {}
            parent.setdefault("items", []).append(item)
            open_nodes.append((indent, item))
            indent, parent = indent + 2, item
        if value:
            parent[key] = value_of(value)
        else:
            parent[key] = {}
            open_nodes.append((indent, parent[key]))
    return lists_of(root)


def lists_of(node):
    """Mappings that are lists, by now, as lists."""
    if isinstance(node, dict) and list(node) == ["items"]:
        return [lists_of(item) for item in node["items"]]
    return {key: lists_of(value) for key, value in node.items()} if isinstance(node, dict) else node
