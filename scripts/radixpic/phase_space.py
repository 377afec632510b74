"""f over some of x, y, u, v, w and formulas: the meshes of a run's phase_space/ files, and rows of pictures of them."""

from contextlib import closing

from radixpic.fields import Snapshot, axis_labels, density_label, find_snapshots, open_file, text, values_of
from radixpic.pictures import Row
from radixpic.script import Problem, h5py, numpy as np

FOLDER = "phase_space"
# the first of these that most species have is drawn: space against the velocity along it before anything else
PREFERRED_AXES = ("xu", "yv", "uv", "xv", "yu", "xw", "yw", "xy", "xf", "yf", "uf", "vf", "wf", "fg", "f", *"uvwxy")
FORMULAS = "fgh"  # the letters of a mesh's axes that are formulas, in their order


class Mesh:
    """f of one species, or the sum over several ones, in one file; its values are read when they are asked for."""

    def __init__(self, snapshot, name):
        self.name = name
        record = snapshot.meshes[name]
        try:
            if not isinstance(record, h5py.Dataset):
                raise KeyError
            attributes = record.attrs
            self.place = snapshot.path, record.name
            self.shape = record.shape
            self.species = text(attributes["species"])
            self.weight = text(attributes.get("weightFormula", ""))
            self.formulas = dict(zip(FORMULAS, map(text, attributes.get("axisFormulas", ()))))
            letters = {label: letter for letter, label in self.formulas.items()}
            self.axes = "".join(letters.get(label, label) for label in map(text, attributes["axisLabels"]))
            numbers = (np.array(attributes[key], float) for key in ("axisLow", "axisHigh", "axisUnitSI"))
            self.low, self.high, self.axis_unit = numbers
            self.unit = float(attributes["unitSI"])
            self.dimension = tuple(attributes["unitDimension"])
            self.has_w = attributes.get("velocityComponents", 2) == 3
            numbers = {len(array) for array in (self.axes, record.shape, self.low, self.high, self.axis_unit)}
            if len(numbers) != 1 or not set(self.axes) <= {*"xyuvw", *self.formulas}:
                raise KeyError
        except (KeyError, TypeError, ValueError):
            raise Problem(f"{name} of {snapshot.path} is not a phase space") from None

    def is_plain(self):
        """Whether it is the number density of one species, which is drawn where no mesh is named."""
        return not self.weight and " + " not in self.species

    def has(self, axes):
        return set(axes) <= set(self.axes)

    def has_bins_of(self, other, axes):
        """Whether both meshes have the same along these axes, of the same formulas."""

        def bins(mesh):
            return [(mesh.low[n], mesh.high[n], mesh.shape[n]) for n in map(mesh.axes.index, axes)]

        return self.is_over(other, axes) and np.allclose(bins(self), bins(other))

    def is_over(self, other, axes):
        """Whether these axes are the same formulas in both meshes, if any."""
        return all(self.formulas.get(axis) == other.formulas.get(axis) for axis in axes)

    def over(self, axes, si):
        """The integral of f over all axes but these, along which its values are, and [low, high] of each of these."""
        unit = self.axis_unit if si else 1
        low, high = self.low * unit, self.high * unit
        width = (high - low) / self.shape
        kept = [self.axes.index(axis) for axis in axes]
        others = tuple(n for n in range(len(self.axes)) if n not in kept)
        path, name = self.place
        with open_file(path) as file:
            values = values_of(file[name]).astype(float) * (self.unit if si else 1)
        values = values.sum(axis=others) * np.prod(width[list(others)])
        return (values.T if kept != sorted(kept) else values), [(low[n], high[n]) for n in kept]

    def powers(self, axes):
        """Those of length and time in the unit of what over() returns."""
        others = [axis for axis in self.axes if axis not in axes and axis not in FORMULAS]
        return self.dimension[0] + len(others), self.dimension[2] - sum(axis in "uvw" for axis in others)


def phase_spaces(snapshot):
    """The meshes of a file that are phase spaces, by name."""
    found = {}
    for name in snapshot.meshes:
        try:
            found[name] = Mesh(snapshot, name)
        except Problem:
            continue  # a mesh of fields: the file is a snapshot
    if not found:
        there = ", ".join(snapshot.meshes) or "none"
        raise Problem(f"{snapshot.path} holds no phase space (its meshes: {there}): those are in RUN/{FOLDER}/")
    return found


def choices(meshes):
    return ", ".join(f"{mesh.name} over {' '.join(mesh.axes)}" for mesh in meshes.values())


def choose_named(files, names, there):
    """The meshes of these names, of different species, by name; every one is in some file."""
    for name in names:
        if name not in there:
            where = f"{files[0].path} has no" if len(files) == 1 else f"none of the {len(files)} files has a"
            raise Problem(f"{where} mesh {name} (there are: {choices(there)})")
    chosen = {}
    for name in dict.fromkeys(names):
        for other in chosen.values():
            twice = set(other.species.split(" + ")) & set(there[name].species.split(" + "))
            if twice:
                both = f"{other.name} and {name} are both of {min(twice)}"
                raise Problem(f"{both}, which their sum would count twice: name one of them with --mesh")
            if other.weight != there[name].weight:
                raise Problem(f"{other.name} and {name} have other weights: name one of them with --mesh")
        chosen[name] = there[name]
    return chosen


def choose(snapshots, names=None, axes=None, apart=False):
    """Which meshes of which files are drawn, over which axes; `apart` they need not have the same bins.

    snapshots are closed; names and axes are what the user asked for, None for what suits. Returns the snapshots that
    have all the meshes, as (snapshot, [Mesh of each species]), the axes, and sentences on what is left out.
    """
    files, held = [], []
    for snapshot in snapshots:
        with closing(snapshot.file):
            for name in names or ():
                if name in snapshot.meshes:
                    Mesh(snapshot, name)  # which refuses what is no phase space
            files.append(snapshot)
            held.append(phase_spaces(snapshot))
    there = {name: mesh for meshes in reversed(held) for name, mesh in meshes.items()}
    plain = {name: mesh for name, mesh in there.items() if mesh.is_plain()}
    candidates = plain if plain and not names else choose_named(files, names or there, there)

    def species_with(axes):
        return list(dict.fromkeys(mesh.species for mesh in candidates.values() if mesh.has(axes)))

    if axes is None:
        axes = max(PREFERRED_AXES, key=lambda axes: len(species_with(axes)))
    listed = " and ".join(axes)
    for mesh in candidates.values():
        if names and not mesh.has(axes):
            but = f"but of {' '.join(mesh.axes)}; choose with --axes or --mesh from: {choices(there)}"
            raise Problem(f"{mesh.name} is no function of {listed} ({but})")
    if not species_with(axes):
        raise Problem(f"no mesh is a function of {listed} (choose with --axes or --mesh from: {choices(there)})")

    def rank(mesh):  # the least integrated over, since its ranges may leave particles out; then the one in most files
        return len(mesh.axes), -sum(mesh.name in meshes for meshes in held)

    best = [
        min((mesh for mesh in candidates.values() if mesh.species == species and mesh.has(axes)), key=rank)
        for species in species_with(axes)
    ]
    is_alike = Mesh.is_over if names or apart or len(axes) == 1 else Mesh.has_bins_of
    others = [mesh for mesh in best if not is_alike(mesh, best[0], axes)]
    notes = [f"{mesh.name} has other bins than {best[0].name}: --mesh {mesh.name} draws it alone" for mesh in others]
    chosen = [mesh.name for mesh in best if mesh not in others]
    kept = [
        (snapshot, [meshes[name] for name in chosen])
        for snapshot, meshes in zip(files, held)
        if all(name in meshes for name in chosen)
    ]
    if not kept:
        raise Problem(f"no file has all of {', '.join(chosen)}: draw one at a time, with --mesh {chosen[0]}")
    if len(kept) < len(files):
        notes.append(f"{len(files) - len(kept)} of {len(files)} files have no {' and '.join(chosen)} and are skipped")
    return kept, axes, notes


def together(meshes, axes, si):
    """The sum of the meshes over two axes, and its [low, high] along each."""
    for mesh in meshes:
        if not mesh.has_bins_of(meshes[0], axes):
            other = f"{mesh.name} has other bins over {axes[0]} and {axes[1]} than {meshes[0].name}"
            raise Problem(f"{other}: draw it alone, with --mesh {mesh.name}")
    parts = [mesh.over(axes, si) for mesh in meshes]
    return sum(values for values, _ in parts), parts[0][1]


def rows(kept, axes, si=False, apart=False):
    """What choose() chose: over two axes a row of the species' sum, over one a line for each; or a row for each
    apart."""
    times = [snapshot.time_label(si) for snapshot, _ in kept]
    meshes = kept[0][1]
    formulas = {axis: label for axis, label in meshes[0].formulas.items() if axis in axes}
    labels = [formulas.get(axis, label) for axis, label in zip(axes, axis_labels(si, axes))]

    def label(group):
        powers, weight = meshes[0].powers(axes), meshes[0].weight
        density = density_label(axes, *powers, si, any(mesh.has_w for mesh in meshes[group]), bool(formulas))
        return f"{density} weighted by {weight}" if weight else density

    names = [mesh.species for mesh in meshes]
    groups = [slice(n, n + 1) for n in range(len(names))] if apart else [slice(None)]
    if len(axes) == 1:
        lines = [[mesh.over(axes, si) for mesh in meshes] for _, meshes in kept]
        frames = [[values for values, _ in at_a_time] for at_a_time in lines]
        ends = [ranges[0] for _, ranges in lines[0]]
        return [
            Row(times, [frame[group] for frame in frames], ends[group], labels, label(group), names[group])
            for group in groups
        ]
    is_square = (axes[0] in "xy") == (axes[1] in "xy") and not formulas
    found = []
    for group in groups:
        planes = [together(meshes[group], axes, si) for _, meshes in kept]
        frames = [[values] for values, _ in planes]
        of = f"{label(group)} of {' + '.join(names[group])}"
        found.append(Row(times, frames, planes[0][1], labels, of, equal=is_square))
    return found


def find_files(place, steps):
    """The snapshots that --step names, and the folder of the run that they are of."""
    if place.is_dir() and (place / "config.yaml").exists() and not (place / FOLDER).is_dir():
        raise Problem(f"{place} holds no {FOLDER}/: does its config have output.phase_space?")
    paths = find_snapshots(place, steps, FOLDER)
    folder = paths[0].resolve().parent
    return map(Snapshot, paths), folder.parent if folder.name == FOLDER else folder
