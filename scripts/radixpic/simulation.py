"""A simulation in this process, by libradixpic.so."""

import ctypes
import functools
import operator
import os
import signal
import sys
import threading
import traceback
import weakref
from contextlib import contextmanager
from typing import NamedTuple

from radixpic.fit import Fits
from radixpic.history import History, parse_config
from radixpic.library import DOUBLES, HANDLE, STOPPED, WORDS, SortShape, Species, View, load
from radixpic.program import settings_of
from radixpic.script import Problem, numpy as np


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
    again. charge, mass, density, weight (real particles of each; their mean) are numbers; ids is an array where there
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

    def __dir__(self):
        return [*super().__dir__(), "x", "y", "u", "v", "w"]

    def __getattr__(self, name):
        if name not in ("x", "y", "u", "v", "w"):
            raise AttributeError(f"particles have no {name}, but x, y, u, v, w and ids")
        return self._read(name)

    def _alone(self):
        return self._simulation._alone()

    @alone
    def _read(self, name):
        if name not in self._arrays:
            self._simulation._end_views()
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
    """A simulation of a config, a path or a text of several lines, with `set` as the program's --set; with ranks=True
    one of all ranks of MPI.COMM_WORLD, which make the same calls.

    Between calls positions and fields are those of `time`, velocities those of half a step before, at time 0 before the
    first step. No file is written but after write_into(). It can be closed by close() or by `with`. Threads may share
    it: calls wait for one another. In a process that was forked later each is a Problem.
    """

    def __init__(self, config, set=None, ranks=False):
        self._handle, self._lent, self._views, self._locks, self._hooks = HANDLE(), [], [], {}, []
        self._in_hook, self._signals = False, []  # that end the run, where it writes files
        library, settings = load(), [text.encode() for text in settings_of(set)]
        create = library.create_from_text if "\n" in str(config) else library.create
        words = (ctypes.c_char_p * len(settings))(*settings)
        if ranks:
            path_and_text = (None, config.encode()) if "\n" in str(config) else (os.fsencode(config), None)
            library.create_on_ranks(*path_and_text, words, len(settings), self._handle)
        else:
            create(os.fsencode(config), words, len(settings), self._handle)
        rank, size = ctypes.c_int(), ctypes.c_int()
        library.ranks(self._handle, rank, size)
        self.rank, self.ranks = rank.value, size.value
        if self.ranks > 1:
            self._end_all_where_one_ends()
        cells, length = (ctypes.c_uint32 * 2)(), (ctypes.c_double * 2)()
        library.grid(self._handle, cells, length)
        self.cells, self.length = tuple(cells), tuple(length)
        self.config = parse_config(library.config(self._handle).decode())
        self.species = [item["name"] for item in self.config["species"]]

    def _end_all_where_one_ends(self):
        """By an exception, in a hook or not: MPI would wait for the others."""
        own, show = weakref.ref(self), sys.excepthook

        def end(kind, error, trace):
            show(kind, error, trace)
            if own() and own()._handle:
                own()._fail_all(error)

        sys.excepthook = end

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
        self._end_views()
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
        """Takes steps, with the hooks after each; Ctrl-C stops after one by a KeyboardInterrupt, and other threads have
        their turn between two.

        Where files are written Ctrl-C, and the other signals of output.checkpoints.on_signals, write a checkpoint and
        end the run by a KeyboardInterrupt; a second one does so at once, without a checkpoint.
        """
        try:
            count = operator.index(steps)
        except TypeError:
            count = -1
        if count < 0:
            raise Problem(f"steps: expected a whole number of at least 0, found {steps}")
        with self._watch_signals() as asked:
            for _ in range(count):
                self._step()
                if asked and not self._signals:
                    break

    @alone
    def _step(self):
        if self._in_hook:
            raise Problem("a hook is called between two steps, and cannot take one")
        self._write_back()
        self._end_lent()
        try:
            load().step(self._open(), 1)
        except Problem as problem:
            if problem.code == STOPPED:
                raise KeyboardInterrupt(str(problem)) from None
            raise
        for hook, every in list(self._hooks):
            if self.steps % every == 0 and (hook, every) in self._hooks:
                self._call(hook)

    @contextmanager
    def _watch_signals(self):
        """The first of the signals asks the next step to end the run, or where no files are written stops after this
        one; Python lets only the main thread set handlers."""

        def note(number, frame):
            if asked:
                raise KeyboardInterrupt
            asked.append(number)
            if self._signals:
                load().stop(self._handle, number)

        is_main = threading.current_thread() is threading.main_thread()
        is_own = signal.getsignal(signal.SIGINT) is signal.default_int_handler
        watched = (self._signals or [signal.SIGINT] * is_own) if is_main else []
        asked, before = [], {number: signal.signal(number, note) for number in watched}
        try:
            yield asked
            if asked and not self._signals:
                raise KeyboardInterrupt(f"stopped by Ctrl-C after step {self.steps}; the simulation can go on")
            if asked and self.ranks == 1 and self.steps < self.config["time"]["steps"]:
                self._step()  # which ends the run
        except KeyboardInterrupt as error:
            self._fail_all(error)
            raise
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    @alone
    def write_into(self, folder, force=False):
        """Before the first step: all files that the config asks for go into a run folder, until step time.steps."""
        load().write_into(self._open(), os.fsencode(folder), force)
        self._signals = [getattr(signal, name) for name in self.config["output"]["checkpoints"]["on_signals"]]

    # ---- hooks ----

    def on_step(self, hook, every=1):
        """Calls hook(simulation) after each step after which `steps` is a multiple of `every`, in the order in which
        hooks were added, until remove_hook(hook). Returns the hook."""
        if not callable(hook):
            raise Problem(f"hook: expected a function of the simulation, found {hook}")
        if isinstance(every, bool) or not hasattr(every, "__index__") or operator.index(every) < 1:
            raise Problem(f"every: expected a whole number of at least 1, found {every}")
        self._hooks.append((hook, operator.index(every)))
        return hook

    def remove_hook(self, hook):
        """Calls it no more, however often it was added."""
        kept = [item for item in self._hooks if item[0] != hook]
        if len(kept) == len(self._hooks):
            raise Problem(f"{hook} is no hook of the simulation")
        self._hooks[:] = kept

    def _call(self, hook):
        self._in_hook = True
        try:
            with self._apart():
                hook(self)
        finally:
            self._in_hook = False
        self._write_back()

    @contextmanager
    def _apart(self):
        """What a rank does by itself: what it raises fails on all ranks."""
        try:
            yield
        except BaseException as error:
            self._fail_all(error)
            raise
        self._meet()

    def _meet(self):
        """On ranks: particles that were written by any of them are in order again, and their arrays end."""
        moved = ctypes.c_int()
        if self.ranks > 1:
            load().meet(self._open(), None, moved)
        if moved.value:
            self._end_lent()

    def _fail_all(self, error):
        if self.ranks == 1:
            return
        said = f"{type(error).__name__}: {error}\n" + "".join(traceback.format_exception(error))
        try:
            load().meet(self._open(), said.encode(errors="replace"), ctypes.c_int())
        except Problem:
            pass  # with which the other ranks end

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
        load().unit(self._open(), quantity.encode(), value)
        return value.value

    @alone
    def field(self, name, si=False):
        """"E/x", "E/y", "phi", "rho"; of an electromagnetic run also "B/z", "J/x", ...: [along x, along y]."""
        self._write_back()
        values = np.empty(self.cells)
        load().read_field(self._open(), name.encode(), pointer(values))
        return values * self.unit(name) if si else values

    @alone
    def set_field(self, name, values):
        """A component of E, or of B, for the next step, at every node, or one number for all; the step after that has
        the solver's field again. On ranks the same values on each."""
        if np.shape(values) not in ((), self.cells):
            raise Problem(f"values: expected one number or an array of shape {self.cells}, found {np.shape(values)}")
        self._write_back()
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
    def sort(self, keys, passes=None, reorders=True):
        """Keys, whole numbers below 2^b, by the kernels of the radix sort: the Sort after so many passes, by default
        all. With reorders=False the last pass ends with its scan, and there are no keys and no permutation."""
        shape, keys = self.sort_shape, np.asarray(keys)
        are_whole = keys.ndim == 1 and keys.dtype.kind in "iu"
        if not are_whole or keys.size and not 0 <= keys.min() <= keys.max() < 1 << shape.key_bits:
            raise Problem(f"keys: expected a list of whole numbers below {1 << shape.key_bits}")
        given = np.ascontiguousarray(keys, np.uint32)
        table = (1 << shape.radix_bits, shape.groups, shape.items_per_group)
        sizes = [len(given) if reorders else None] * 2 + [table] * 2
        result = Sort(*(None if size is None else np.empty(size, np.uint32) for size in sizes))
        arrays = [None if array is None else pointer(array, WORDS) for array in result]
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

    @alone
    def view(self, name, species=None):
        """A field, of one rank, or u, v or w of a species, as an array that is the memory of a CPU device itself, in
        the run's precision; of another device a copy in double. What is written into E, B and velocities counts.

        It holds until the next step, and until fields or arrays of particles are read or written: then it can no longer
        be written, and what it shows means nothing. Arrays of particles end with it.
        """
        if not self._views:
            self._write_back()
        lent = View()
        load().lend(self._open(), species and species.encode(), name.encode(), lent)
        if lent.values:
            array, end = self._array_of(lent, (lent.count,) if species else self.cells)
            self._end_lent()
        else:
            array, end = self._copy_of(name, species)
        array.flags.writeable = bool(species) or name[0] in "EB"
        self._views.append((array, end))
        return array

    def _array_of(self, lent, shape):
        """The memory stays as long as the array or a part of it, also when the simulation is closed."""
        memory = (ctypes.c_char * (lent.stride * (lent.count - 1) + lent.bytes)).from_address(lent.values)
        strides = (lent.stride,) if len(shape) == 1 else (lent.stride * shape[1], lent.stride)
        weakref.finalize(memory, load().let_go, lent).atexit = False
        array = np.ndarray(shape, f"f{lent.bytes}", memory, strides=strides)
        return array, lambda: load().take_back(self._open(), lent)

    def _copy_of(self, name, species):
        if species:
            return getattr(self.particles(species), name)[:], lambda: None
        array, before = np.empty((2, *self.cells))
        load().read_field(self._open(), name.encode(), pointer(array))
        before[:] = array

        def end():
            if not np.array_equal(array, before):
                load().write_field(self._open(), name.encode(), pointer(array))

        return array, end

    def _write_back(self):
        """Ends views, and writes what was changed; where particles have moved they are sorted again, and their arrays
        end."""
        self._meet()  # writing is then a matter of each rank alone
        with self._apart():
            self._end_views()
            if any([particles._write() for particles in self._lent]):
                self._end_lent()

    def _end_views(self):
        views, self._views = self._views, []
        for array, end in views:
            array.flags.writeable = False
            end()

    def _end_lent(self):
        for particles in self._lent:
            particles._end()
        self._lent = []
