"""Reads output.tracks: the paths of particles, from all files of a run."""

from typing import NamedTuple

from radixpic import fields
from radixpic.script import Problem, h5py, numpy as np

FOLDER = "tracks"


class Tracks(NamedTuple):
    """Paths: [times] of the places, [ids], and [ids, times] of positions and of velocities, these half a time step earlier; w: None where the particles lack it."""

    times: object
    ids: object
    x: object
    y: object
    u: object
    v: object
    w: object


def read_file(path, columns):
    """Adds to columns, by id, the rows (time, x, y, u, v and, where they have it, w) of one file, normalised."""
    with h5py.File(path) as file:
        (iteration,) = file["data"].values()
        (species,) = iteration["particles"].values()
        length = iteration.attrs["timeUnitSI"] * species["momentum/x"].attrs["unitSI"] / species["mass"].attrs["unitSI"]  # of one normalised
        rows = [species["time"][...]]
        for axis in "xy":
            unit = species[f"position/{axis}"].attrs["unitSI"] / length
            rows.append(unit * (species[f"positionOffset/{axis}"][...] + species[f"position/{axis}"][...]))
        rows += [species[f"momentum/{axis}"][...] / species["mass"].attrs["value"] for axis in species["momentum"]]
        rows, ids, patches = np.array(rows), species["track"][...].astype(int), species["particlePatches"]
        for first, count in zip(patches["numParticlesOffset"][...].astype(int), patches["numParticles"][...].astype(int)):
            columns.setdefault(ids[first], []).append(rows[:, first : first + count])


def read_tracks(folder):
    """All of RUN_FOLDER/tracks."""
    columns = {}
    for path in fields.find_snapshots(folder, "all", FOLDER):
        read_file(path, columns)
    ids = sorted(columns)
    paths = [np.concatenate(columns[number], axis=1) for number in ids]
    if len({path.shape for path in paths}) != 1:
        raise Problem(f"the files of {folder}/{FOLDER} are of other particles at other times")
    _, x, y, u, v, *w = np.array(paths).swapaxes(0, 1)
    return Tracks(paths[0][0], np.array(ids), x, y, u, v, w[0] if w else None)
