"""output.tracks: the paths of particles, from all files of a run, and their picture."""

from typing import NamedTuple

from radixpic import fields, look
from radixpic.script import Problem, numpy as np

FOLDER = "tracks"


class Tracks(NamedTuple):
    """Paths: [times] of the places, [ids], and [ids, times] of positions and of velocities, these half a time step
    earlier, NaN where a path has no place; w: None where the particles lack it."""

    times: object
    ids: object
    x: object
    y: object
    u: object
    v: object
    w: object


def read_file(path, columns):
    """Adds to columns, by id, the rows (time, x, y, u, v and, where they have it, w) of one file, normalised."""
    with fields.open_file(path) as file:
        (iteration,) = file["data"].values()
        (species,) = iteration["particles"].values()
        length = (
            iteration.attrs["timeUnitSI"] * species["momentum/x"].attrs["unitSI"] / species["mass"].attrs["unitSI"]
        )  # of one normalised
        rows = [fields.values_of(species["time"])]
        for axis in "xy":
            unit = species[f"position/{axis}"].attrs["unitSI"] / length
            cell, within = (fields.values_of(species[f"{record}/{axis}"]) for record in ("positionOffset", "position"))
            rows.append(unit * (cell + within))
        momenta = map(fields.values_of, species["momentum"].values())
        rows += [momentum / species["mass"].attrs["value"] for momentum in momenta]
        rows, ids = np.array(rows), fields.values_of(species["track"]).astype(int)
        patches = species["particlePatches"]
        of_patches = (fields.values_of(patches[name]).astype(int) for name in ("numParticlesOffset", "numParticles"))
        for first, count in zip(*of_patches):
            columns.setdefault(ids[first], []).append(rows[:, first : first + count])


def read_tracks(folder):
    """All of RUN_FOLDER/tracks."""
    columns = {}
    for path in fields.find_snapshots(folder, "all", FOLDER):
        read_file(path, columns)
    ids = sorted(columns)
    paths = [np.concatenate(columns[number], axis=1) for number in ids]
    times = np.unique([time for path in paths for time in path[0]])
    values = np.full((5, len(ids), len(times)), np.nan)  # x, y, u, v, w
    for number, path in enumerate(paths):
        values[: len(path) - 1, number, np.searchsorted(times, path[0])] = path[1:]
    x, y, u, v, w = values
    return Tracks(times, np.array(ids, int), x, y, u, v, w if paths and len(paths[0]) == 6 else None)


def draw(plt, tracks, axes, ids, lengths, title):
    """A figure of the paths of these ids, or of all, over two of t, x, y, u, v, w; a path ends where it leaves the box,
    whose lengths along x and y are given, and goes on at the other side. A dot is where it begins."""
    if not len(tracks.ids):
        raise Problem("there are no tracks: no particle fulfilled output.tracks.where")
    missing = sorted(set(ids or ()) - set(tracks.ids.tolist()))
    if missing:
        raise Problem(f"there is no track of particle {missing[0]} (there are: {', '.join(map(str, tracks.ids))})")
    if "w" in axes and tracks.w is None:
        raise Problem("the tracks have no w: the species has velocities in two dimensions")
    chosen = [place for place, number in enumerate(tracks.ids) if not ids or number in ids]
    figure, panel = plt.subplots(figsize=(7, 6 if set(axes) == {"x", "y"} else 4.5))
    colour_map = look.part_of(plt, "viridis", 0.95)
    for place, colour in zip(chosen, colour_map(np.linspace(0, 1, len(chosen)))):
        path = {"t": tracks.times, **{axis: getattr(tracks, axis)[place] for axis in axes if axis != "t"}}
        leaps = [abs(np.diff(path[axis])) > lengths["xy".index(axis)] / 2 for axis in axes if axis in "xy"]
        gaps = 1 + np.flatnonzero(np.any(leaps, axis=0))
        panel.plot(*(np.insert(path[axis], gaps, np.nan) for axis in axes), color=colour, linewidth=1,
            label=f"id {tracks.ids[place]}")
        start = np.argmax(np.isfinite(tracks.x[place]))
        panel.plot(*(path[axis][start] for axis in axes), ".", color=colour, markersize=5)
    for axis, way in zip(axes, "xy"):
        label = r"time $t\;[1/\omega_p]$" if axis == "t" else fields.axis_labels(False, axis)[0]
        panel.set(**{f"{way}label": label}, **({f"{way}lim": (0, lengths["xy".index(axis)])} if axis in "xy" else {}))
    panel.set(aspect="equal" if set(axes) == {"x", "y"} else "auto", title=title)
    if len(chosen) <= 12:
        look.legend_beside(panel)
    else:
        import matplotlib

        norm = matplotlib.colors.Normalize(0, len(chosen) - 1)
        key = figure.colorbar(matplotlib.cm.ScalarMappable(norm, colour_map), ax=panel, label="id, in their order")
        marks = np.linspace(0, len(chosen) - 1, 6).round().astype(int)
        key.set_ticks(marks, labels=tracks.ids[chosen][marks])
    return figure
