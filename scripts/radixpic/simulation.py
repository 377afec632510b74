"""A simulation in this process, by libradixpic.so."""

import ctypes
import functools
import operator
import os
import threading
from typing import NamedTuple

from radixpic.fit import Fits
from radixpic.history import History, parse_config
from radixpic.library import DOUBLES, HANDLE, WORDS, SortShape, Species, load
from radixpic.program import settings_of
from radixpic.script import Problem, numpy as np

ALIASES = {"rho": "chargeDensity"}  # the word of the config and the name in files


def pointer(array, kind=DOUBLES):
    return array.ctypes.data_as(kind)


def alone(method):
    """A method of Simulation or Particles that no other thread enters at the same time: it is of several calls of the
    library."""

    @functools.wraps(method)
    def call(self, *arguments, **options):
        with self._alone():
            return method(self, *arguments, **options)

    return call


class Particles:
    """The particles of a species as arrays x, y, u, v: [count], normalised, the same particle at the same place in
    each.

    An array is read when it is first asked for, and what is changed in it is written back before the simulation goes
    on. With that step it ends: it stays as it is and can no longer be changed; ask the simulation for the particles
    again. charge, mass, density, weight (real particles that each stands for) are numbers; ids is an array where there
    are some.
    """

    def __init__(self, simulation, number):
        info = Species()
        load().species_at(simulation._handle, number, info)
        self.__dict__.update(
            {"name": info.name.decode(), "charge": info.charge, "mass": info.mass, "density": info.density},
            weight=info.weight, count=info.particles, _simulation=simulation, _arrays={},
        )

    def __len__(self):
        return self.count

    def __getattr__(self, name):
        if name not in ("x", "y", "u", "v", "w"):
            raise AttributeError(f"particles have no {name}, but x, y, u, v, w and ids")
        return self._read(name)

    def _alone(self):
        return self._simulation._alone()

    @alone
    def _read(self, name):
        if name not in self._arrays:
            values = np.empty(self._open().count)
            load().read_particles(self._simulation._handle, self.name.encode(), name.encode(), pointer(values))
            self._arrays[name] = values, values.copy()
        return self._arrays[name][0]

    def __setattr__(self, name, values):
        array = getattr(self, name)
        if array is not values:
            array[:] = values

    def _open(self):
        if self not in self._simulation._lent:
            raise Problem("these particles are of an earlier time; ask the simulation for them again")
        return self

    @property
    @alone
    def ids(self):
        values = np.empty(self._open().count, np.uint64)
        load().read_ids(self._simulation._handle, self.name.encode(), pointer(values, ctypes.POINTER(ctypes.c_uint64)))
        return values

    def _write(self):
        """Writes what was changed; returns whether particles have moved."""
        moved = False
        for name, (values, before) in self._arrays.items():
            if not np.array_equal(values, before):
                load().write_particles(self._simulation._handle, self.name.encode(), name.encode(), pointer(values))
                before[:] = values
                moved |= name in ("x", "y")
        return moved

    def _end(self):
        for values, _ in self._arrays.values():
            values.flags.writeable = False


class Sort(NamedTuple):
    """A list after some passes of the radix sort: keys, and permutation, so that keys = given[permutation]; of the last
    of these passes the histogram table and its scan, [digit c, group g, item i]."""

    keys: object
    permutation: object
    table: object
    scan: object


class Simulation(Fits):
    """A simulation of a config, a path or a text of several lines, with `set` as the program's --set.

    Between calls positions and fields are those of `time`, velocities those of half a step before, at time 0 before the
    first step. No file is written but after write_into(). It can be closed by close() or by `with`. Threads may share
    it: calls wait for one another. In a process that was forked later each is a Problem.
    """

    def __init__(self, config, set=None):
        self._handle, self._lent, self._locks = HANDLE(), [], {}
        library, settings = load(), [text.encode() for text in settings_of(set)]
        create = library.create_from_text if "\n" in str(config) else library.create
        words = (ctypes.c_char_p * len(settings))(*settings)
        create(os.fsencode(config), words, len(settings), self._handle)
        cells, length = (ctypes.c_uint32 * 2)(), (ctypes.c_double * 2)()
        library.grid(self._handle, cells, length)
        self.cells, self.length = tuple(cells), tuple(length)
        self.config = parse_config(library.config(self._handle).decode())
        self.species = [item["name"] for item in self.config["species"]]

    def _alone(self):
        """The lock of this process: that of one from which it was forked may be held for ever."""
        return self._locks.setdefault(os.getpid(), threading.RLock())

    def _open(self):
        if not self._handle:
            raise Problem("the simulation is closed")
        return self._handle

    @alone
    def close(self):
        """Frees what it holds, also on the device."""
        self._end_lent()
        if self._handle:
            load().destroy(self._handle)
            self._handle = HANDLE()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __del__(self):
        if getattr(self, "_handle", None):
            self.close()

    # ---- steps ----

    @property
    @alone
    def steps(self):
        """Steps taken."""
        return load().steps(self._open())

    @property
    @alone
    def time(self):
        return load().time(self._open())

    def step(self, steps=1):
        """Takes steps; Ctrl-C stops between two, and other threads have their turn there."""
        try:
            count = operator.index(steps)
        except TypeError:
            count = -1
        if count < 0:
            raise Problem(f"steps: expected a whole number of at least 0, found {steps}")
        for _ in range(count):
            self._step()

    @alone
    def _step(self):
        self._write_lent()
        self._end_lent()
        load().step(self._open(), 1)

    @alone
    def write_into(self, folder, force=False):
        """Before the first step: all files that the config asks for go into a run folder, until step time.steps."""
        load().write_into(self._open(), os.fsencode(folder), force)

    @property
    @alone
    def history(self):
        """A row for every step that was taken and is one of every output.history.every: see radixpic.Run.history."""
        library, handle = load(), self._open()
        names = library.history_names(handle).decode().split(",")
        rows = np.empty((library.history_rows(handle), len(names)))
        library.read_history(handle, pointer(rows))
        return History("the simulation", dict(zip(names, rows.T)))

    # ---- fields ----

    @alone
    def unit(self, quantity):
        """One normalised unit of "time", "x", "u" or a field in SI units, by `units` of the config."""
        value = ctypes.c_double()
        load().unit(self._open(), ALIASES.get(quantity, quantity).encode(), value)
        return value.value

    @alone
    def field(self, name, si=False):
        """"E/x", "E/y", "phi", "rho"; of an electromagnetic run also "B/z", "J/x", ...: [along x, along y]."""
        self._write_lent()
        values = np.empty(self.cells)
        load().read_field(self._open(), ALIASES.get(name, name).encode(), pointer(values))
        return values * self.unit(name) if si else values

    @alone
    def set_field(self, name, values):
        """A component of E, or of B, for the next step; the step after that has the solver's field again."""
        self._write_lent()
        values = np.ascontiguousarray(np.broadcast_to(values, self.cells), float)
        load().write_field(self._open(), name.encode(), pointer(values))

    # ---- the sort ----

    @property
    @alone
    def sort_shape(self):
        """key_bits (b), radix_bits (r), passes (p), items_per_group (I) and groups (G) of the radix sort by `sort` of
        the config."""
        shape = SortShape()
        load().sort_shape(self._open(), shape)
        return shape

    @alone
    def sort(self, keys, passes=None):
        """Keys, whole numbers below 2^b, by the kernels of the radix sort: the Sort after so many passes, by default
        all."""
        shape, keys = self.sort_shape, np.asarray(keys)
        are_whole = keys.ndim == 1 and keys.dtype.kind in "iu"
        if not are_whole or keys.size and not 0 <= keys.min() <= keys.max() < 1 << shape.key_bits:
            raise Problem(f"keys: expected a list of whole numbers below {1 << shape.key_bits}")
        given = np.ascontiguousarray(keys, np.uint32)
        table = (1 << shape.radix_bits, shape.groups, shape.items_per_group)
        result = Sort(*(np.empty(size, np.uint32) for size in (len(given), len(given), table, table)))
        arrays = [pointer(array, WORDS) for array in result]
        load().sort(self._open(), len(given), pointer(given, WORDS), shape.passes if passes is None else passes,
            *arrays)
        return result

    # ---- particles ----

    @alone
    def particles(self, species):
        """The Particles of a species as they are now."""
        if species not in self.species:
            raise Problem(f"there is no species {species} (there are: {', '.join(self.species)})")
        self._open()
        lent = {particles.name: particles for particles in self._lent}
        if species not in lent:
            self._lent.append(Particles(self, self.species.index(species)))
            return self._lent[-1]
        return lent[species]

    def _write_lent(self):
        """Where particles have moved the next look at the fields sorts them, and their arrays end."""
        if any([particles._write() for particles in self._lent]):
            self._end_lent()

    def _end_lent(self):
        for particles in self._lent:
            particles._end()
        self._lent = []
