"""What scripts and package share: errors in one sentence, command lines, and packages that are imported when first used."""

import argparse
import importlib
import sys
from pathlib import Path


class Problem(Exception):
    """Something the user can mend; the message is one sentence. `code` is the program's exit code, where it said so."""

    def __init__(self, sentence, code=1):
        super().__init__(sentence)
        self.code = code


class Later:
    """A package that is imported at its first use: --help works without it, and a run without what it does not need."""

    def __init__(self, name, package=None):
        self.__name = name
        self.__package = package or f"python3-{name}"

    def __getattr__(self, name):
        try:
            module = importlib.import_module(self.__name)
        except ImportError:
            sentence = f"{self.__name} is missing for this python: install {self.__package} and run with /usr/bin/python3"
            raise Problem(sentence) from None
        value = getattr(module, name)
        setattr(self, name, value)
        return value


numpy = Later("numpy")
h5py = Later("h5py")


def run_script(main):
    """Runs main(), turning a Problem into its sentence and exit code 1."""
    try:
        main()
    except Problem as problem:
        sys.exit(f"{Path(sys.argv[0]).name}: {problem}")


def make_parser(description, examples):
    """A parser that prints the description and the examples in --help as they are written."""
    form = argparse.RawDescriptionHelpFormatter
    return argparse.ArgumentParser(description=description, epilog=examples, formatter_class=form)


def step_list(argument):
    """A step number, or all."""
    if argument != "all" and not argument.isdigit():
        raise argparse.ArgumentTypeError(f"'{argument}' is neither a step number nor all")
    return argument if argument == "all" else int(argument)


def steps_of(arguments):
    """What --step asks for: None (the last), "all" or a list."""
    return "all" if arguments.step and "all" in arguments.step else arguments.step


def picture_path(arguments, name):
    """--output, or this name in the run's folder, or beside the file that was named."""
    place = Path(arguments.place)
    return Path(arguments.output) if arguments.output else (place if place.is_dir() else place.parent) / name
