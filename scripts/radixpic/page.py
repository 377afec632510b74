"""One page of a run for a browser and for Jupyter: meshes, phase spaces and the history, with a slider of time.

The page, page.html, holds its data, and needs no server and no network.
"""

import base64
import html
import json
import os
import re
import stat
from contextlib import closing
from pathlib import Path

from radixpic import fields, phase_space
from radixpic.energy import energy_label
from radixpic.history import read_history, read_title
from radixpic.pictures import range_of
from radixpic.script import Problem, numpy as np

FINEST = 256  # cells along an axis that are shown; of more a block is its mean
MOST_BYTES = 48e6  # of values; where they would be more they are shown coarser
MOST_ROWS = 2000  # of a history
BINS, MOST_PARTICLES = 128, 2e7  # of f(x, u) of particles, in all files, where the run has no phase_space/
SYMBOLS = {r"\lambda": "λ", r"\omega": "ω", r"\phi": "φ", r"\rho": "ρ", r"\int": "∫", r"\,": " ", r"\;": " "}


class Page:
    """The text of a page; Jupyter shows it."""

    def __init__(self, text):
        self.text = text

    def _repr_html_(self):
        frame = 'style="width: 100%; height: 780px; border: 0"'
        return f'<iframe srcdoc="{html.escape(self.text)}" {frame}></iframe>'

    def write(self, path):
        """In the place of a file, which is no link, pipe or device."""
        try:
            if os.path.lexists(path) and not stat.S_ISREG(os.lstat(path).st_mode):
                raise Problem(f"cannot write {path}: another thing than a file is there")
            Path(path).write_text(self.text, encoding="utf-8")
        except OSError as error:
            raise Problem(f"cannot write {path}: {error.strerror}") from None


# ---- what page.html reads ----


def runs(label):
    """A label of matplotlib as [text, shift], where the shift is that of an index (-1) or a power (1)."""
    found = []
    for number, part in enumerate(label.split("$")):
        if number % 2 == 0:
            found.append([part, 0])
            continue
        part = re.sub(r"\\mathrm\{([^}]*)\}", r"\1", part)
        for word, symbol in SYMBOLS.items():
            part = part.replace(word, symbol)
        for mark, group, letter, text in re.findall(r"([_^])(?:\{([^}]*)\}|(.))|([^_^]+)", part):
            found.append([group or letter or text, {"_": -1, "^": 1, "": 0}[mark]])
    return [run for run in found if run[0]]


def packed(values):
    """An array as 16 bits for each value, between its least and its largest."""
    values = np.nan_to_num(np.ravel(values))
    low, high = float(values.min()), float(values.max())
    levels = np.round((values - low) / ((high - low) or 1) * 65535).astype("<u2")
    return {"low": low, "high": high, "data": base64.b64encode(levels.tobytes()).decode()}


def packed_curve(values):
    """As 32 bits for each value: a logarithmic axis shows small ones."""
    return {"data": base64.b64encode(np.asarray(values, "<f4").tobytes()).decode()}


def coarser(row, finest):
    """The row with the means of blocks, so that there are at most `finest` along each axis; what is beyond the last
    whole block goes."""
    ranges = [list(ends) for ends in row.ranges]
    frames = []
    for frame in row.frames:
        kept = []
        for number, values in enumerate(frame):
            for axis, count in enumerate(values.shape):
                size = -(-count // finest)
                whole = np.moveaxis(values, axis, -1)[..., : count // size * size]
                values = np.moveaxis(whole.reshape(*whole.shape[:-1], -1, size).mean(axis=-1), -1, axis)
                low, high = row.ranges[axis if row.is_plane else number]
                ranges[axis if row.is_plane else number][1] = low + (high - low) * (count // size * size) / count
            kept.append(values)
        frames.append(kept)
    return row._replace(frames=frames, ranges=ranges)


def quantity(name, steps, rows):
    """What is shown of a Row for each of these steps, each of one time."""
    row = rows[-1]._replace(frames=[frame for row in rows for frame in row.frames])  # an average has its states there
    return {
        "name": name,
        "label": runs(row.label),
        "labels": [runs(label) for label in row.labels],
        "axes": [runs(label)[0][0].split()[0] for label in row.labels],
        "names": row.names,
        "ranges": row.ranges,
        "range": [float(end) for end in range_of(row, None, False)],
        "signed": row.signed,
        "equal": row.equal,
        "shape": row.frames[0][0].shape if row.is_plane else [len(values) for values in row.frames[0]],
        "steps": steps,
        "frames": [packed(np.concatenate([values.ravel() for values in frame])) for frame in row.frames],
    }


# ---- what a run has ----


class Collection:
    """The quantities of a run, those of at most `frames` times of each, and the times of all steps."""

    def __init__(self, folder, frames, si):
        self.folder, self.si, self.times, self.quantities = Path(folder), si, {}, []
        self.path = self.folder  # of what is read
        self.frames, self.finest = frames, FINEST

    def paths(self, inner):
        """At most `frames` files, evenly, with the first and the last."""
        there = fields.find_snapshots(self.folder, "all", inner) if any((self.folder / inner).glob("*.h5")) else []
        return [there[n] for n in np.unique(np.linspace(0, len(there) - 1, self.frames).astype(int))] if there else []

    def open(self, path):
        self.path = path
        return fields.Snapshot(path)

    def snapshots(self, paths):
        for snapshot in map(self.open, paths):
            self.times[snapshot.step] = snapshot.time * (snapshot.time_unit if self.si else 1)
            yield snapshot

    def add(self, name, items, row_of):
        """row_of(item) is a Row of one time, for (step, path, item) of items."""
        rows = []
        for _, self.path, item in items:
            rows.append(coarser(row_of(item), self.finest))
        self.quantities.append(quantity(name, [step for step, _, _ in items], rows))

    def add_meshes(self, inner):
        held = {}
        for snapshot in self.snapshots(self.paths(inner)):
            with closing(snapshot.file):
                for name in fields.mesh_names(snapshot.meshes):
                    held.setdefault(name, []).append((snapshot.step, snapshot.path, snapshot.path))
        for name, items in held.items():
            self.add(name, items, lambda path: fields.mesh_rows([fields.Snapshot(path)], [name], self.si)[0])

    def add_phase_spaces(self):
        paths = self.paths(phase_space.FOLDER)
        names = {}
        for snapshot in self.snapshots(paths):
            with closing(snapshot.file):
                names.update(dict.fromkeys(phase_space.phase_spaces(snapshot)))
        for chosen in ([None] if len(names) > 1 else []) + [[name] for name in names]:
            kept, axes, _ = phase_space.choose(map(self.open, paths), chosen)
            items = [(snapshot.step, snapshot.path, (snapshot, meshes)) for snapshot, meshes in kept]
            name = chosen[0] if chosen else " + ".join(mesh.name for mesh in kept[0][1])
            self.add(name, items, lambda item: phase_space.rows([item], axes, self.si)[0])

    def add_particles(self):
        """f(x, u) of the particles of snapshots, of as many as are read in seconds."""
        held = {}
        for snapshot in self.snapshots(self.paths("snapshots")):
            with closing(snapshot.file):
                for name, species in snapshot.species.items():
                    held.setdefault(name, []).append((snapshot.step, snapshot.path, len(species["momentum/x"])))
        for name, files in held.items():
            most = max(int(MOST_PARTICLES // max(count for _, _, count in files)), 1)
            files = [files[n] for n in np.unique(np.linspace(len(files) - 1, 0, most).astype(int))]
            (row,) = fields.particle_rows((self.open(path) for _, path, _ in files), [name], "x", BINS, self.si)
            self.quantities.append(quantity(f"{name}_xu", [step for step, _, _ in files], [row]))

    def collect(self):
        """All of it, as coarse as it must be."""
        while True:
            self.quantities = []
            self.add_phase_spaces()
            if not self.quantities:
                self.add_particles()
            densities = len(self.quantities)
            for inner in fields.FOLDERS[:-1]:
                self.add_meshes(inner)
            bytes_of = sum(len(frame["data"]) for one in self.quantities for frame in one["frames"])
            if bytes_of <= MOST_BYTES or self.finest <= 16:
                self.quantities = self.quantities[densities:] + self.quantities[:densities]
                return len(self.quantities) - densities if densities else 1
            self.finest //= 2


def history_of(folder, si):
    """The groups of curves of a history, and the times of the steps of its rows; None where there is none."""
    if not (Path(folder) / "history.csv").exists():
        return None, {}
    history = read_history(folder)
    columns, every = history.columns, -(-len(history["time"]) // MOST_ROWS)

    def change(values, unit=1):
        return (values - values[0]) / (unit or 1)

    total = history["total_energy"] - columns.get("drive_work", 0)
    kinetic = {name.removesuffix("kinetic_energy").rstrip("_") or "all": change(values)
        for name, values in columns.items() if name.endswith("kinetic_energy")}
    energies = {name: columns[f"{column}_energy"] for name, column in (("electric", "field"), ("magnetic", "magnetic"))
        if f"{column}_energy" in columns}
    groups = [
        ("field energy", energy_label("magnetic" in energies), energies, True),
        ("charge density modes", r"$|\rho_k|\;[e n_0]$",
            {f"mode ({x}, {y})": np.abs(values) for (x, y), values in history.modes.items()}, True),
        ("kinetic energy, change", r"$W_K - W_{K0}\;[n_0 T \lambda_D^2]$", kinetic, False),
        ("total energy, relative drift", r"$(W - W_0) / W_0$", {"total": change(total, abs(total[0]))}, False),
        ("momentum", r"$P\;[n_0 m_e v_{th} \lambda_D^2]$",
            {f"along {axis}": columns[f"momentum_{axis}"] for axis in "xyz" if f"momentum_{axis}" in columns}, False),
    ]
    groups_of_curves = {
        "label": runs(r"time $t\;[1/\omega_p]$"),
        "times": packed_curve(history["time"][::every]),
        "groups": [
            {"name": name, "label": runs(label), "names": list(curves), "log": log,
                "series": [packed_curve(values[::every]) for values in curves.values()]}
            for name, label, curves, log in groups if curves
        ],
    }
    steps = history["step"][::every].astype(int).tolist()
    return groups_of_curves, dict(zip(steps, history["time"][::every].tolist()))


def make(folder, frames=100, si=False):
    """The Page of a run's folder, with at most `frames` times of each quantity."""
    collection = Collection(folder, frames, si)
    try:
        return page_of(collection, folder, si)
    except Problem:
        raise
    except Exception as error:  # whatever is missing in a file, or has another form there
        said = " ".join(str(error).split())
        raise Problem(f"cannot show {collection.path}: {type(error).__name__}: {said}") from None


def page_of(collection, folder, si):
    second = collection.collect()
    collection.path = Path(folder) / "history.csv"
    history, times_of_rows = (None, {}) if si else history_of(folder, si)
    if not collection.quantities and not history:
        rows = "" if si else "history.csv and no "
        raise Problem(f"{folder} holds nothing to show: there is no {rows}file in {', '.join(fields.FOLDERS)}")
    times = collection.times or times_of_rows
    data = {
        "title": read_title(Path(folder)).replace(r"\$", "$"),
        "steps": sorted(times),
        "times": [times[step] for step in sorted(times)],
        "time_unit": "s" if si else "/ ω<sub>p</sub>",
        "quantities": collection.quantities,
        "second": min(second, max(len(collection.quantities) - 1, 0)),
        "history": history,
    }
    text = json.dumps(data, allow_nan=False).replace("<", "\\u003c")  # so that no text ends the script
    return Page((Path(__file__).parent / "page.html").read_text(encoding="utf-8").replace("@DATA@", text))
