"""What a run of the program left in its folder."""

from contextlib import closing
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from radixpic import energy, fields, look, page, phase_space, pictures, tracks
from radixpic.fit import Fits
from radixpic.history import read_config, read_history, read_title
from radixpic.script import Problem, numpy as np

ALIASES = {"rho": "chargeDensity"}  # the word of the config and the name in files


class Density(NamedTuple):
    """f over some of x, y, u and v: [bins along each of axes], the edges of the bins along each, and the time."""

    values: object
    axes: str
    edges: list
    time: float


class Cloud(NamedTuple):
    """Particles of a snapshot: arrays of positions, velocities and the real particles that each stands for."""

    x: object
    y: object
    u: object
    v: object
    weight: object
    time: float
    w: object = None  # where the species has it


class Run(Fits):
    """A run's folder. Steps are numbers, "last" (None is the same), or "all" where a picture is drawn.

    Values are normalised, times in 1/omega_p; with si=True in SI units, by the files' unitSI.
    """

    def __init__(self, folder):
        self.folder = Path(folder)
        if not self.folder.is_dir():
            raise Problem(f"{folder} is no folder of a run")

    def __repr__(self):
        return f"radixpic.Run({str(self.folder)!r})"

    @cached_property
    def config(self):
        """Every key, resolved, as mappings, lists and values."""
        return read_config(self.folder)

    @property
    def history(self):
        """The columns of history.csv by name, as arrays: history["field_energy"], history["time"]; history.mode((1, 0))
        is complex."""
        return read_history(self.folder)

    def probe(self, name):
        """The columns of probes/NAME.csv by name, as arrays: "time", and "Ex", "Ey", "phi", "rho" as it has them."""
        return read_history(self.folder / "probes" / f"{name}.csv")

    # ---- files ----

    def _open(self, step, inner="snapshots"):
        steps = step if step is None or isinstance(step, str) else np.atleast_1d(step).tolist()
        return map(fields.Snapshot, fields.find_snapshots(self.folder, steps, inner))

    def steps(self, inner="snapshots"):
        """The steps of which there are files in snapshots/, phase_space/, lines/ or moments/."""
        return [int(path.stem.rpartition("_")[2]) for path in fields.find_snapshots(self.folder, "all", inner)]

    def field(self, name, step="last", si=False, inner=None):
        """A mesh, "E/x", "E/y", "phi" or "rho" of a snapshot or one of moments/, lines/ or phase_space/: [cells along
        x, cells along y], or along the axes that the file has. inner is the folder, by default the first that has the
        mesh."""
        name = ALIASES.get(name, name)
        (snapshot,) = self._open(step, inner or fields.folder_of(self.folder, [name]))
        with closing(snapshot.file):
            return fields.read_mesh(snapshot, name, si)[0]

    def line(self, name, field, step="last", si=False):
        """A mesh of a line, "E/x", "E/y", "phi" or "rho" of `name`: the lengths from its first point, and the values
        there."""
        (snapshot,) = self._open(step, "lines")
        record, _, component = field.partition("/")
        with closing(snapshot.file):
            mesh = f"{name}_{ALIASES.get(record, record)}" + (f"/{component}" if component else "")
            values, _, spacing = fields.read_mesh(snapshot, mesh, si)
            return spacing[0] * np.arange(len(values)), values

    @property
    def tracks(self):
        """The paths in tracks/: times, ids, and x, y, u, v of each id at each time, normalised."""
        return tracks.read_tracks(self.folder)

    def plot_tracks(self, axes="xy", ids=None, output=None):
        """The paths in tracks/, of these ids or of all, over two of t, x, y, u, v and w: "xy", "xu", "tx"."""
        return self._picture(output, tracks.draw, self.tracks, axes, ids, self.config["grid"]["length"],
            read_title(self.folder))

    def particles(self, species, step="last", si=False):
        """The particles of a species in a snapshot, a Cloud."""
        (snapshot,) = self._open(step)
        with closing(snapshot.file):
            (x, u, weight), (y, v, _) = (fields.read_phase_space(snapshot, species, axis, si) for axis in "xy")
            unit, time_unit = (1, snapshot.time_unit) if si else (fields.real_particles(snapshot), 1)
            w, _ = fields.read_velocity(snapshot, species, "z", si)
            return Cloud(x, y, u, v, weight / unit, snapshot.time * time_unit, w)

    def phase_space(self, name, step="last", axes=None, si=False):
        """A mesh of phase_space/, "SPECIES_AXES", over its axes or, integrated over the others, over some of them."""
        (snapshot,) = self._open(step, phase_space.FOLDER)
        with closing(snapshot.file):
            there = phase_space.phase_spaces(snapshot)
            mesh = phase_space.choose_named([snapshot], [name], there)[name]
            axes = axes or mesh.axes
            if not mesh.has(axes):
                raise Problem(f"{name} is no function of {' and '.join(axes)}, but of {' and '.join(mesh.axes)}")
            values, ranges = mesh.over(axes, si)
            edges = [np.linspace(low, high, count + 1) for (low, high), count in zip(ranges, values.shape)]
            return Density(values, axes, edges, snapshot.time * (snapshot.time_unit if si else 1))

    # ---- pictures: each returns its Figure, which a notebook shows, and with `output` writes it ----

    def _rows(self, names, step, si, inner):
        """A row for each mesh of the files in inner/; or of phase spaces, which SPECIES_AXES are, one of their sum."""
        names = [ALIASES.get(name, name) for name in names]
        if fields.PHASE_SPACE.search(names[0]):
            kept, axes, _ = phase_space.choose(self._open(step, phase_space.FOLDER), names)
            return phase_space.rows(kept, axes, si)
        return fields.mesh_rows(self._open(step, inner or fields.folder_of(self.folder, names)), names, si)

    def _picture(self, output, draw, *arguments):
        with look.pyplot() as plt:
            figure = draw(plt, *arguments)
            if output:
                look.write(figure, output)
            plt.close(figure)
        return figure

    def plot_energy(self, modes=None, window=energy.ALL_TIMES, title=None, output=None):
        """Energies and modes, such as [(1, 0)], against time, in the window with the linear theory of the config, where
        there is one, along the first mode."""
        if isinstance(modes, (str, Path)):
            raise Problem(f'modes: expected a list such as [(1, 0)], found "{modes}"; a file is output="{modes}"')
        return self._picture(output, energy.draw, [self.history], modes, window, title or read_title(self.folder))

    def plot_field(self, *names, step="last", si=False, limits=None, log=False, output=None, inner=None,
            own_ranges=False):
        """Meshes, by default "E/x", of the folder that has them: a row of panels for each, a panel for each time."""
        rows = self._rows(names or ("E/x",), step, si, inner)
        return self._picture(output, pictures.draw, rows, read_title(self.folder), limits, log, own_ranges)

    def plot_phase_space(self, *names, step="last", axes=None, si=False, limits=None, log=False, apart=False,
            output=None, own_ranges=False):
        """Meshes of phase_space/ over one or two axes, by default what suits: the sum of species, or each `apart`."""
        kept, axes, _ = phase_space.choose(self._open(step, phase_space.FOLDER), names, axes, apart)
        rows = phase_space.rows(kept, axes, si, apart)
        return self._picture(output, pictures.draw, rows, read_title(self.folder), limits, log, own_ranges)

    def explore(self, output=None, frames=100, si=False):
        """All meshes, phase spaces and the history under a slider of time, at most `frames` times of each: a page for
        Jupyter, which with `output` is written as .html, for a browser."""
        made = page.make(self.folder, frames, si)
        if output:
            made.write(output)
        return made

    def movie(self, name, output, si=False, rate=10, size=None, dpi=110, limits=None, log=False, inner=None):
        """A mesh of the folder that has it, or a list: each has a row, but phase spaces, of different species, are seen
        as their sum.

        A frame for each file, `rate` a second, of size (in inches) times dpi pixels: .gif, or by ffmpeg .mp4.
        """
        names, path = [name] if isinstance(name, str) else list(name), Path(output)
        with look.pyplot() as plt:
            writer = pictures.writer_for(path, rate)
            rows = self._rows(names, "all", si, inner)
            pictures.write_movie(plt, rows, writer, path, read_title(self.folder), limits, log, size, dpi)
        return path
