#!/usr/bin/python3
"""Executes notebooks and writes each back with what its cells print and show, and nothing of this machine.

    docs/notebooks/execute.py                              all of this folder
    docs/notebooks/execute.py docs/notebooks/3_two_stream.ipynb

It needs python3-nbclient and python3-ipykernel. A cell that fails is shown with its error, and its notebook is not
written.
"""

import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
SECONDS = 600  # of a cell: only what hangs takes as long
os.environ.setdefault("PYDEVD_DISABLE_FILE_VALIDATION", "1")  # else the debugger that no cell uses warns


def executed(path, folder=HERE):
    """The notebook of that file with new outputs; it runs in a folder, from which ../../scripts is the package's."""
    import nbclient
    import nbformat

    notebook = nbformat.read(path, as_version=4)
    resources = {"metadata": {"path": str(folder)}}
    nbclient.NotebookClient(
        notebook, timeout=SECONDS, kernel_name="python3", record_timing=False, resources=resources
    ).execute()
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    notebook.metadata = {"kernelspec": kernel, "language_info": {"name": "python"}}
    for cell in notebook.cells:
        cell.metadata = {}
        if cell.cell_type == "code":
            cell.outputs = joined(cell.outputs)
    return notebook


def joined(outputs):
    """Outputs in which texts that were printed one after the other are one: where they are cut is a matter of luck."""
    result = []
    for output in outputs:
        if (
            result
            and output.output_type == "stream"
            and (result[-1].output_type, result[-1].get("name")) == ("stream", output.name)
        ):
            result[-1].text += output.text
        else:
            result.append(output)
    return result


def main(paths):
    import nbclient
    import nbformat

    for path in paths or sorted(map(str, HERE.glob("*.ipynb"))):
        try:
            nbformat.write(executed(path), path)
        except nbclient.exceptions.CellExecutionError as error:
            sys.exit(f"{path}: {error}")
        print(f"{path}: {Path(path).stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    if set(sys.argv[1:]) & {"-h", "--help"}:
        print(__doc__.strip())
    else:
        main(sys.argv[1:])
