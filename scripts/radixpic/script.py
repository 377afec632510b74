"""What scripts and package share: errors in one sentence, command lines, and packages that are imported when first
used."""

import argparse
import contextlib
import importlib
import math
import os
import re
import stat
import sys
from pathlib import Path


class Problem(Exception):
    """Something the user can mend; the message is one sentence. `code` is the program's exit code, where it said so."""

    def __init__(self, sentence, code=1):
        super().__init__(sentence)
        self.code = code

    def __str__(self):  # that of a KeyError is in quotes
        return self.args[0]


def in_python(sentence):
    """Options of the program as arguments of run(), and the command that goes on with a run as the call that does."""
    sentence = re.sub(r"(; go on with: ).*", r"\1radixpic.run(..., resume=True)", sentence)
    sentence = re.sub(r"--(force|resume)\b", r"\1=True", sentence)
    return re.sub(r"--(output|device)( [A-Z]+)?\b", r"\1=...", sentence)


class Later:
    """A package that is imported at its first use: --help works without it, and a run without what it does not need."""

    def __init__(self, name, package=None):
        self.__name = name
        self.__package = package or f"python3-{name}"

    def __getattr__(self, name):
        try:
            module = importlib.import_module(self.__name)
        except ImportError:
            sentence = (
                f"{self.__name} is missing for this python: install {self.__package} and run with /usr/bin/python3"
            )
            raise Problem(sentence) from None
        value = getattr(module, name)
        setattr(self, name, value)
        return value


numpy = Later("numpy")
h5py = Later("h5py")
pandas = Later("pandas")


def regular(path, most=math.inf):
    """The path, where no file is there or one of the disk of at most so many bytes; reading another may never end."""
    try:
        found = os.stat(path)
    except OSError:
        return path  # which opening it tells better
    if not stat.S_ISREG(found.st_mode) and not stat.S_ISDIR(found.st_mode):
        raise Problem(f"cannot read {path}: it is no regular file")
    if found.st_size > most:
        raise Problem(f"cannot read {path}: it has more than {most} bytes")
    return path


class Output:
    """The standard output, where a failure is a Problem."""

    def __init__(self, stream):
        self._stream = stream

    def __getattr__(self, name):
        return getattr(self._stream, name)

    def _try(self, method, *arguments):
        try:
            return method(*arguments)
        except OSError as error:
            os.dup2(os.open(os.devnull, os.O_WRONLY), self._stream.fileno())  # for what Python flushes at its end
            raise Problem(f"cannot write to the standard output: {error.strerror}") from None

    def write(self, text):
        return self._try(self._stream.write, text)

    def flush(self):
        self._try(self._stream.flush)


def run_script(main):
    """Runs main(), turning a Problem into its sentence and exit code 1."""
    try:
        with contextlib.redirect_stdout(Output(sys.stdout)) as output:
            try:
                main()
            finally:
                output.flush()
    except Problem as problem:
        sys.exit(f"{Path(sys.argv[0]).name}: {problem}")


def make_parser(description, examples):
    """A parser that prints the description and the examples in --help as they are written."""
    form = argparse.RawDescriptionHelpFormatter
    return argparse.ArgumentParser(description=description, epilog=examples, formatter_class=form)


# ---- the options of the plot_*.py ----


def picture_options(parser, default, of_files=False):
    """Those that all have, and those of pictures `of_files`, with a panel for each; `default` is written without
    --output."""
    if of_files:
        parser.add_argument("--step", nargs="+", type=step_list, metavar="N",
            help="steps to draw, last or all (default: the last; of a movie all)")
        parser.add_argument("--si", action="store_true", help="SI units instead of normalised ones")
        parser.add_argument("--limits", nargs=2, type=float, metavar=("LOW", "HIGH"),
            help="of the colour scale, or of the lines' axis (default: what all times need together)")
        parser.add_argument("--own-ranges", action="store_true",
            help="a range for each panel, which stands above it, in place of one for all of a quantity")
        parser.add_argument("--log", action="store_true", help="a logarithmic colour scale, or lines' axis")
        parser.add_argument("--apart", action="store_true",
            help="a row for each species, on the same axes, not one for all")
        parser.add_argument("--movie", metavar="FILE",
            help="instead of a picture, with a frame for each step: .gif by Pillow, .mp4 by ffmpeg")
        parser.add_argument("--rate", type=float, metavar="N", help="frames of --movie a second (default: 10)")
    parser.add_argument("--title", help="title of the picture (default: the run's)")
    parser.add_argument("-o", "--output", metavar="FILE", help=f"picture to write (default: {default})")
    parser.add_argument("--show", action="store_true", help="also open a window")


def parse_picture(parser):
    """The arguments of a parser with the options of_files, or its usage and exit code 2."""
    arguments = parser.parse_args()
    limits = arguments.limits
    if limits and not (limits[0] < limits[1] and all(map(math.isfinite, limits))):
        parser.error("--limits must be two numbers, the smaller first")
    if limits and arguments.log and limits[0] <= 0:
        parser.error("--limits must be positive with --log")
    if arguments.own_ranges and (limits or arguments.log or arguments.movie):
        parser.error("--own-ranges goes without --limits, --log and --movie, which have one range")
    if arguments.movie and (arguments.output or arguments.show):
        parser.error("--movie is written instead of a picture: it goes without --output and --show")
    if arguments.rate is not None and not arguments.movie:
        parser.error("--rate is of a --movie")
    if arguments.rate is None:
        arguments.rate = 10
    if not (0 < arguments.rate < math.inf):
        parser.error("--rate must be positive")
    return arguments


def step_list(argument):
    """A step number, last or all."""
    if argument not in ("all", "last") and not argument.isdigit():
        raise argparse.ArgumentTypeError(f"'{argument}' is neither a step number nor last nor all")
    return int(argument) if argument.isdigit() else argument


def steps_of(arguments):
    """What --step asks for: None (the last), "all" or a list."""
    return "all" if "all" in (arguments.step or [bool(arguments.movie) and "all"]) else arguments.step


def picture_path(arguments, name):
    """--output, or this name in the run's folder, or beside the file that was named."""
    place = Path(arguments.place)
    return Path(arguments.output) if arguments.output else (place if place.is_dir() else place.parent) / name
