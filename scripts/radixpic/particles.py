"""Particles from arrays: a file that a run loads a species from."""

import os

from radixpic.script import Problem, numpy as np

COLUMNS = ("x", "y", "u", "v", "w", "weight")


def save_particles(path, species, **columns):
    """Writes arrays x, y and, with velocities, u, v and w, perhaps weight too, into a .npy file, normalised.

    Returns the settings with which run(), scan() and Simulation() load the species from it. Ranks may all write the
    same arrays to the same path.
    """
    wrong = [name for name in columns if name not in COLUMNS] + [name for name in "xy" if name not in columns]
    if wrong or not str(path).endswith(".npy"):
        raise Problem(f"expected a path to .npy, and of {', '.join(COLUMNS)} at least x and y; found {path}, {wrong}")
    try:
        arrays = np.broadcast_arrays(*(np.ravel(values).astype(float) for values in columns.values()))
    except ValueError as error:
        raise Problem(f"particles of {species}: {error}") from None
    table = np.empty(len(arrays[0]), [(name, float) for name in columns])
    for name, values in zip(columns, arrays):
        table[name] = values
    own = f"{path}.{os.uname().nodename}.{os.getpid()}"
    with open(own, "wb") as file:
        np.save(file, table)
    os.replace(own, path)
    settings = {"positions": {"file": os.fspath(path)}, "particles": len(table), "perturb": {}}
    if "u" in columns:
        settings["velocities"] = {"kind": "file", "dimensions": 2 + ("w" in columns)}
    return {f"species.{species}.{key}": value for key, value in settings.items()}
