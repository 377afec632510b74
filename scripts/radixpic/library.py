"""Where the program and libradixpic.so are, and the functions of src/radixpic.h."""

import ctypes
import os
import shutil
from functools import cache
from pathlib import Path

from radixpic.script import Problem, in_python

HERE = Path(__file__).resolve().parent
TREE, PREFIX = HERE.parents[1], HERE.parents[3]  # where the package lies in the sources, or where it is installed
DOUBLES = ctypes.POINTER(ctypes.c_double)
HANDLE = ctypes.c_void_p


def find_program():
    """$RADIXPIC, else that of the tree or prefix that the package lies in, else by PATH."""
    there = [os.environ.get("RADIXPIC"), TREE / "build" / "radixpic", PREFIX / "bin" / "radixpic",
        shutil.which("radixpic")]
    for path in filter(None, there):
        if Path(path).is_file():
            return Path(path).resolve()
    raise Problem("the program is not there: build it by scripts/build, or set RADIXPIC to its path")


def find_library():
    """$RADIXPIC_LIBRARY, else that beside the program or in its prefix."""
    if chosen := os.environ.get("RADIXPIC_LIBRARY"):
        places = [chosen]
    else:
        folder = find_program().parent
        installed = [path for lib in ("lib*", "lib/*") for path in folder.parent.glob(f"{lib}/libradixpic.so*")]
        places = [folder / "libradixpic.so", *installed]
    for path in places:
        if Path(path).is_file():
            return str(path)
    raise Problem("libradixpic.so is not there: build it by scripts/build, or set RADIXPIC_LIBRARY to its path")


class Species(ctypes.Structure):
    """struct radixpic_species"""

    _fields_ = [("name", ctypes.c_char_p), ("charge", ctypes.c_double), ("mass", ctypes.c_double),
        ("density", ctypes.c_double), ("weight", ctypes.c_double), ("particles", ctypes.c_uint64)]


class SortShape(ctypes.Structure):
    """struct radixpic_sort_shape"""

    _fields_ = [(name, ctypes.c_uint32) for name in ("key_bits", "radix_bits", "passes", "items_per_group", "groups")]


class View(ctypes.Structure):
    """struct radixpic_view"""

    _fields_ = [("values", ctypes.c_void_p), ("count", ctypes.c_size_t), ("stride", ctypes.c_size_t),
        ("bytes", ctypes.c_size_t), ("memory", ctypes.c_void_p), ("buffer", ctypes.c_void_p),
        ("native", ctypes.c_void_p)]


STOPPED = 4  # RADIXPIC_STOPPED
TEXT, COUNT, STATUS = ctypes.c_char_p, ctypes.c_size_t, ctypes.c_int
TEXTS = ctypes.POINTER(TEXT)
WORDS = ctypes.POINTER(ctypes.c_uint32)
# Result and arguments.
FUNCTIONS = {
    "error": (TEXT, []),
    "create": (STATUS, [TEXT, TEXTS, COUNT, ctypes.POINTER(HANDLE)]),
    "create_from_text": (STATUS, [TEXT, TEXTS, COUNT, ctypes.POINTER(HANDLE)]),
    "create_on_ranks": (STATUS, [TEXT, TEXT, TEXTS, COUNT, ctypes.POINTER(HANDLE)]),
    "ranks": (None, [HANDLE, ctypes.POINTER(ctypes.c_int), ctypes.POINTER(ctypes.c_int)]),
    "meet": (STATUS, [HANDLE, TEXT, ctypes.POINTER(ctypes.c_int)]),
    "stop": (None, [HANDLE, ctypes.c_int]),
    "lend": (STATUS, [HANDLE, TEXT, TEXT, ctypes.POINTER(View)]),
    "take_back": (STATUS, [HANDLE, ctypes.POINTER(View)]),
    "let_go": (None, [ctypes.POINTER(View)]),
    "destroy": (None, [ctypes.POINTER(HANDLE)]),
    "write_into": (STATUS, [HANDLE, TEXT, ctypes.c_int]),
    "step": (STATUS, [HANDLE, ctypes.c_uint64]),
    "steps": (ctypes.c_uint64, [HANDLE]),
    "time": (ctypes.c_double, [HANDLE]),
    "grid": (None, [HANDLE, ctypes.POINTER(ctypes.c_uint32), DOUBLES]),
    "config": (TEXT, [HANDLE]),
    "unit": (STATUS, [HANDLE, TEXT, DOUBLES]),
    "read_field": (STATUS, [HANDLE, TEXT, DOUBLES]),
    "write_field": (STATUS, [HANDLE, TEXT, DOUBLES]),
    "species_count": (ctypes.c_uint32, [HANDLE]),
    "species_at": (STATUS, [HANDLE, ctypes.c_uint32, ctypes.POINTER(Species)]),
    "read_particles": (STATUS, [HANDLE, TEXT, TEXT, DOUBLES]),
    "write_particles": (STATUS, [HANDLE, TEXT, TEXT, DOUBLES]),
    "read_ids": (STATUS, [HANDLE, TEXT, ctypes.POINTER(ctypes.c_uint64)]),
    "sort_shape": (STATUS, [HANDLE, ctypes.POINTER(SortShape)]),
    "sort": (STATUS, [HANDLE, COUNT, WORDS, ctypes.c_uint32, WORDS, WORDS, WORDS, WORDS]),
    "history_rows": (COUNT, [HANDLE]),
    "history_names": (TEXT, [HANDLE]),
    "read_history": (None, [HANDLE, DOUBLES]),
}


@cache
def load():
    """The library, its functions by their names without radixpic_; those with a status raise a Problem."""
    path = find_library()
    try:
        loaded = ctypes.CDLL(path)
    except OSError as error:
        raise Problem(f"cannot load {path}: {error}") from None

    class Library:
        pass

    def check(status, function, arguments):
        if status:
            raise Problem(in_python(loaded.radixpic_error().decode(errors="replace")), status)

    for name, (result, arguments) in FUNCTIONS.items():
        function = getattr(loaded, "radixpic_" + name)
        function.restype, function.argtypes = result, arguments
        if result is STATUS:
            function.errcheck = check
        setattr(Library, name, staticmethod(function))
    return Library
