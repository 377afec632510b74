"""RadixPIC from Python: runs of the program, simulations in this process, and what they leave. See docs/python.md."""

import importlib

_PLACES = {
    "Problem": "script",
    "Run": "run_folder",
    "Simulation": "simulation",
    "Table": "program",
    "run": "program",
    "save_particles": "particles",
    "scan": "program",
}
__all__ = sorted(_PLACES)
__version__ = "1.1.0"


def __dir__():
    return [*__all__, "__version__"]


def __getattr__(name):
    """What is not asked for is not imported: a script's --help needs neither numpy nor the library."""
    if name not in _PLACES:
        raise AttributeError(f"module {__name__} has no attribute {name}")
    return getattr(importlib.import_module(f"{__name__}.{_PLACES[name]}"), name)
