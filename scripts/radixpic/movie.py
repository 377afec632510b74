"""Movies of meshes: a frame for each file, all on one colour scale."""

from contextlib import closing
from pathlib import Path

from radixpic import fields, phase_space
from radixpic.history import read_title
from radixpic.script import Problem, numpy as np


def field_frames(run, name, si):
    """(time, values, [low, high] of both axes) of every snapshot; labels of both axes and of the values."""
    frames = []
    for path in fields.find_snapshots(run.folder, "all"):
        snapshot = fields.Snapshot(path)
        with closing(snapshot.file):
            values, origin, spacing = fields.read_mesh(snapshot, name, si)
            low = origin - spacing / 2  # a node's value fills the cell around it
            frames.append((snapshot.time_label(si), values, list(zip(low, low + spacing * values.shape))))
    return frames, fields.axis_labels(si, "xy"), fields.mesh_label(name, si)


def density_frames(run, name, si):
    """The same of a mesh of phase_space/, in the files that have it."""
    frames, labels = [], None
    for path in fields.find_snapshots(run.folder, "all", phase_space.FOLDER):
        snapshot = fields.Snapshot(path)
        with closing(snapshot.file):
            mesh = phase_space.phase_spaces(snapshot).get(name)
            if mesh is None:
                continue
            axes = phase_space.preferred_axes(mesh)
            values, ranges = mesh.over(axes, si)
            frames.append((snapshot.time_label(si), values, ranges))
            labels = fields.axis_labels(si, axes), f"{fields.density_label(axes, *mesh.powers(axes), si)} of {mesh.species}"
    return frames, *labels


def is_density(run, name):
    """Whether a file of phase_space/ has a mesh of that name."""
    if not (run.folder / phase_space.FOLDER).is_dir():
        return False
    for path in fields.find_snapshots(run.folder, "all", phase_space.FOLDER):
        snapshot = fields.Snapshot(path)
        with closing(snapshot.file):
            if name in snapshot.meshes:
                return True
    return False


def writer_for(path, rate):
    from matplotlib import animation

    name = "pillow" if path.suffix == ".gif" else "ffmpeg"
    if not animation.writers.is_available(name):
        needed = {"pillow": "python3-pil", "ffmpeg": "ffmpeg, or write a .gif"}[name]
        raise Problem(f"cannot write {path}: {name} is missing: install {needed}")
    return animation.writers[name](fps=rate)


def make(plt, run, name, output, si, rate):
    """Writes the movie and returns its path."""
    path = Path(output)
    writer = writer_for(path, rate)
    density = is_density(run, name)
    frames, (x_label, y_label), value_label = (density_frames if density else field_frames)(run, name, si)
    colours = {"cmap": "magma", "vmin": 0, "vmax": max(np.max(values) for _, values, _ in frames)}
    if not density:
        colours = fields.colours([values for _, values, _ in frames])
    time, values, (horizontal, vertical) = frames[0]
    figure, axes = plt.subplots(figsize=(6.4, 4.8))
    extent = (*horizontal, *vertical)
    image = axes.imshow(values.T, origin="lower", extent=extent, aspect="auto", interpolation="nearest", **colours)
    axes.set(xlabel=x_label, ylabel=y_label)
    axes.grid(False)
    figure.suptitle(read_title(run.folder))
    figure.colorbar(image).set_label(value_label)
    try:
        with writer.saving(figure, path, dpi=110):
            for time, values, _ in frames:
                image.set_data(values.T)
                axes.set_title(time)
                writer.grab_frame()
    except (OSError, ValueError) as error:
        raise Problem(f"cannot write {path}: {error}") from None
    plt.close(figure)
    return path
