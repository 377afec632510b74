#!/usr/bin/python3
"""Executes notebooks and writes copies with what their cells print and show to output/notebooks, which git ignores.

    docs/notebooks/execute.py                              all of this folder
    docs/notebooks/execute.py docs/notebooks/3_two_stream.ipynb

With --write each notebook is written back in place of its copy. Nothing of this machine is in it but the times and
the device that its cells print.
The program needs python3-ipython and python3-nbformat. A cell that fails is shown with its error, and its notebook is
not written.
"""

import argparse
import contextlib
import io
import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
COPIES = HERE.parents[1] / "output" / "notebooks"


class Stream(io.TextIOBase):
    """What is printed, as outputs of a notebook."""

    def __init__(self, outputs, name):
        self.outputs, self.name = outputs, name

    def write(self, text):
        from nbformat import v4

        last = self.outputs[-1] if self.outputs else {}
        if last.get("name") == self.name:
            last.text += text
        elif text:
            self.outputs.append(v4.new_output("stream", name=self.name, text=text))
        return len(text)


def outputs_of(shell, source, number):
    """What the cell of this number prints and shows, in order, as outputs of a notebook; raises RuntimeError with a
    cell's error."""
    from nbformat import v4

    outputs = []

    def show(data, metadata=None, **unused):
        outputs.append(v4.new_output("display_data", data=data, metadata=metadata or {}))

    def show_value(value):
        if value is not None:
            data, metadata = shell.display_formatter.format(value)
            outputs.append(v4.new_output("execute_result", data=data, metadata=metadata, execution_count=number))

    shell.display_pub.publish, shell.display_trap.hook = show, show_value
    with contextlib.redirect_stdout(Stream(outputs, "stdout")), contextlib.redirect_stderr(Stream(outputs, "stderr")):
        result = shell.run_cell(source, store_history=True)  # where In has it
    if not result.success:
        raise RuntimeError("".join(output.get("text", "") for output in outputs))
    return outputs


def executed(path, folder=HERE):
    """The notebook of that file with new outputs; it runs in a folder, from which ../../scripts is the package's. All
    notebooks run in this process, which forgets the names of one before the next."""
    os.environ["MPLBACKEND"] = "module://matplotlib_inline.backend_inline"
    import nbformat
    from IPython.core.interactiveshell import InteractiveShell
    from traitlets.config import Config

    no_history = Config(HistoryManager={"enabled": False})
    shell, notebook = InteractiveShell.instance(colors="NoColor", config=no_history), nbformat.read(path, as_version=4)
    shell.reset()
    notebook.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    with contextlib.chdir(folder):
        for number, cell in enumerate((cell for cell in notebook.cells if cell.cell_type == "code"), 1):
            cell.outputs, cell.execution_count = outputs_of(shell, cell.source, number), number
    for cell in notebook.cells:
        cell.metadata = {}
    return notebook


def main(paths, write=False):
    import nbformat

    for path in paths or sorted(HERE.glob("*.ipynb")):
        try:
            notebook = executed(path)
        except RuntimeError as error:
            sys.exit(f"{path}: {error}")
        place = Path(path) if write else COPIES / Path(path).name
        place.parent.mkdir(parents=True, exist_ok=True)
        nbformat.write(notebook, place)
        print(f"{place}: {place.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.strip(), formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="write into the notebooks themselves")
    parser.add_argument("notebooks", nargs="*", type=Path, help="all of this folder without it")
    arguments = parser.parse_args()
    main(arguments.notebooks, arguments.write)
