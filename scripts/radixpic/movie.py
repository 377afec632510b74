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


def density_frames(run, names, si):
    """The same of the sum of meshes of phase_space/, in the files that have them all."""
    frames, labels = [], None
    for path in fields.find_snapshots(run.folder, "all", phase_space.FOLDER):
        snapshot = fields.Snapshot(path)
        with closing(snapshot.file):
            there = phase_space.phase_spaces(snapshot)
            if not set(names) <= set(there):
                continue
            meshes = list(phase_space.choose_named([snapshot], names, there).values())
            axes = phase_space.preferred_axes(meshes[0])
            values, ranges = phase_space.together(meshes, axes, si)
            frames.append((snapshot.time_label(si), values, ranges))
            label = fields.density_label(axes, *meshes[0].powers(axes), si)
            labels = fields.axis_labels(si, axes), f"{label} of {' + '.join(mesh.species for mesh in meshes)}"
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


def make(plt, run, names, output, si, rate, size, dpi):
    """Writes the movie of one mesh, or of the sum of several of phase_space/, and returns its path."""
    path = Path(output)
    writer = writer_for(path, rate)
    density = len(names) > 1 or is_density(run, names[0])
    frames, (x_label, y_label), value_label = density_frames(run, names, si) if density else field_frames(run, names[0], si)
    colours = {"cmap": "magma", "vmin": 0, "vmax": max(np.max(values) for _, values, _ in frames)}
    if not density:
        colours = fields.colours([values for _, values, _ in frames])
    time, values, (horizontal, vertical) = frames[0]
    figure, axes = plt.subplots(figsize=size, dpi=dpi)
    extent = (*horizontal, *vertical)
    image = axes.imshow(values.T, origin="lower", extent=extent, aspect="auto", interpolation="nearest", **colours)
    axes.set(xlabel=x_label, ylabel=y_label)
    axes.grid(False)
    figure.suptitle(read_title(run.folder))
    figure.colorbar(image).set_label(value_label)
    axes.set_title(time)
    figure.draw_without_rendering()
    figure.set_layout_engine("none")  # the layout of the first frame is that of all: to find it takes longer than to draw one
    try:
        with writer.saving(figure, path, dpi=dpi):
            for time, values, _ in frames:
                image.set_data(values.T)
                axes.set_title(time)
                writer.grab_frame()
    except (OSError, ValueError) as error:
        raise Problem(f"cannot write {path}: {error}") from None
    plt.close(figure)
    return path
