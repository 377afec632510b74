#!/usr/bin/python3
"""scripts/plot_bench.py: pictures of every kind of bench file, what they show, errors in a sentence."""

import os
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"
sys.path.insert(0, str(SCRIPTS))
sys.dont_write_bytecode = True

import common  # noqa: E402
import plot_bench  # noqa: E402

STEP_HEADER = (
    "device,method,sort,precision,shape,hot,cells_x,cells_y,particles,stage,ns_per_particle_step,min_ns,max_ns,"
    "share,gigabytes_per_second,of_copy,steps,repeats,bytes_per_particle,energy_drift,verified"
)
SORT_HEADER = (
    "device,method,particles,key_bits,radix_bits,passes,items,groups,splits,transpose,phase,"
    "median_ms,min_ms,max_ms,repeats,verified"
)
LISTS_HEADER = "device,method,keys,key_bits,phase,median_ms,min_ms,max_ms,repeats,speedup,verified"

VOLUMES_HEADER = "device,dimensions,elements,block,kernel,median_ms,min_ms,max_ms,verified"


def step_row(cells, particles, nanoseconds, stage="wall clock"):
    times = f"{nanoseconds},{0.9 * nanoseconds},{1.2 * nanoseconds}"
    where = f"{cells},{cells},{particles},{stage}"
    return f'"Some, device",plain,default,single,cic,no,{where},{times},1,1,1,10,3,48,1e-5,yes'


def sort_row(method, passes, phase, milliseconds, device="GPU"):
    times = f"{milliseconds},{milliseconds},{milliseconds}"
    return f'"{device}",{method},1048576,10,5,{passes},1,2,1,off,{phase},{times},3,yes'


def list_row(method, phase, milliseconds, device="GPU"):
    return f'"{device}",{method},1000,30,{phase},{milliseconds},{milliseconds},{milliseconds},3,,yes'


class PlotBench(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = Path(holder.name)

    def write(self, name, *lines, end="\n"):
        path = self.folder / name
        path.write_text("\n".join(lines) + end)
        return path

    def run_script(self, *arguments):
        environment = dict(os.environ, PYTHONDONTWRITEBYTECODE="1")
        return subprocess.run(
            [sys.executable, SCRIPTS / "plot_bench.py", *map(str, arguments)],
            capture_output=True,
            text=True,
            env=environment,
            cwd=self.folder,
            timeout=120,
        )

    def assert_picture(self, result, name):
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stdout.strip(), name)
        content = (self.folder / name).read_bytes()
        self.assertEqual(content[:8], b"\x89PNG\r\n\x1a\n")
        self.assertTrue(all(side > 200 for side in struct.unpack(">II", content[16:24])))

    def assert_problem(self, result, *words):
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertEqual(len(result.stderr.strip().splitlines()), 1, result.stderr)
        for word in words:
            self.assertIn(word, result.stderr)

    def figure(self, draw, *arguments):
        figure = common.import_pyplot(False).figure()
        draw(figure, *arguments)
        return figure.axes

    def test_pictures(self):
        step = self.write("step.csv", STEP_HEADER, step_row(32, 32768, 30), step_row(64, 32768, 40))
        sorts = [sort_row("paper", 2, "total", 5.5), sort_row("qsort", 0, "total", 80, "host")]
        sort = self.write("sort.csv", SORT_HEADER, *sorts)
        lists = self.write("lists.csv", LISTS_HEADER, list_row("paper", "scan", 1), list_row("paper", "total", 3))
        for path in (step, sort, lists):
            with self.subTest(path=path.name):
                self.assert_picture(self.run_script(path, "-o", f"{path.stem}.png"), f"{path.stem}.png")
        self.assert_picture(self.run_script(step, step), "bench.png")

    def test_lines_of_a_sweep(self):
        rows = [step_row(64, 65536, 40), step_row(32, 65536, 25), step_row(32, 32768, 30)]
        rows.append(step_row(32, 32768, 9, "push"))
        kind, read = plot_bench.read_bench(self.write("step.csv", STEP_HEADER, *rows))
        self.assertEqual(kind, "step")
        by_size, by_cell = self.figure(plot_bench.draw_steps, read)
        points = [[list(bars[0].get_xdata()), list(bars[0].get_ydata())] for bars in by_size.containers]
        self.assertEqual(points, [[[65536], [40]], [[32768, 65536], [30, 25]]])  # in order; the stage push is no line
        points = [list(bars[0].get_xdata()) for bars in by_cell.containers]
        self.assertEqual(points, [[16], [32, 64]])
        self.assertEqual(by_size.get_legend_handles_labels()[1], ["64 x 64 cells", "32 x 32 cells"])

    def test_two_files_are_told_apart(self):
        read = []
        for name in ("h200.csv", "cpu.csv"):
            read += plot_bench.read_bench(self.write(name, STEP_HEADER, step_row(32, 32768, 30)))[1]
        by_size, _ = self.figure(plot_bench.draw_steps, read)
        labels = by_size.get_legend_handles_labels()[1]
        self.assertEqual(labels, ["32 x 32 cells, h200", "32 x 32 cells, cpu"])

    def test_bars_of_phases(self):
        phases = [list_row("paper", "scan", 1), list_row("paper", "reorder", 4), list_row("paper", "total", 6)]
        host = list_row("qsort", "total", 90, "host")
        kind, read = plot_bench.read_bench(self.write("lists.csv", LISTS_HEADER, *phases, host))
        self.assertEqual(kind, "random-lists")
        (axes,) = self.figure(plot_bench.draw_sorts, kind, read)
        widths = {bars.get_label(): [round(bar.get_width(), 6) for bar in bars] for bars in axes.containers}
        # ns per key: 1e6 ms / 1000 keys; the rest is what the phases leave of the total
        self.assertEqual(
            widths,
            {"transpose": [0, 0], "histogram": [0, 0], "scan": [1000, 0], "reorder": [4000, 0], "rest": [1000, 90000]},
        )
        self.assertLess(axes.get_xlim()[1], 9000)  # the host's bar may leave the picture, its number does not
        self.assertEqual([text.get_text() for text in axes.texts], ["6e+03", "9e+04"])

    def test_lines_of_permutations(self):
        """A line for each kernel and block; numpy's, which stands with every block, is drawn once."""
        rows = [
            f"{device},3,{elements},{block},{kernel},{milliseconds},1,9,yes"
            for elements in (4096, 512)
            for block in (8, 64)
            for device, kernel, milliseconds in (("host", "numpy", 7), ("GPU", "RLBB", elements / block))
        ]
        path = self.write("volumes.csv", VOLUMES_HEADER, *rows)
        kind, read = plot_bench.read_bench(path)
        self.assertEqual(kind, "permutation")
        (axes,) = self.figure(plot_bench.draw_permutations, read)
        lines = [[list(line.get_xdata()), list(line.get_ydata())] for line in axes.lines if len(line.get_xdata())]
        expected = [[7, 7], [64, 512], [8, 64]]
        self.assertEqual(lines, [[[512, 4096], milliseconds] for milliseconds in expected])
        labels = axes.get_legend_handles_labels()[1]
        self.assertEqual(labels, ["numpy", "RLBB", "3D, block 8", "3D, block 64"])
        self.assert_picture(self.run_script(path, "-o", "volumes.png"), "volumes.png")

    def test_lines_of_deposits(self):
        """A picture a shape; a line a method in ns a particle, in the order of the particles per cell."""
        row = "GPU,{},single,64,1000,2,2,{},{},{},{},{},1,1,1,3,yes"
        path = self.write(
            "deposit.csv",
            "device,shape,precision,atomics,particles,cells_x,cells_y,per_cell,method,median_ms,min_ms,max_ms,"
            "ns_per_particle,gigabytes_per_second,copy_gigabytes_per_second,repeats,verified",
            row.format("cic", 64, "sorted", 0.001, 0.001, 0.002),
            row.format("cic", 8, "sorted", 0.003, 0.002, 0.004),
            row.format("cic", 8, "atomic-shuffled", 0.005, 0.004, 0.006),
            row.format("tsc", 8, "sorted", 0.007, 0.006, 0.009),
        )
        kind, read = plot_bench.read_bench(path)
        self.assertEqual(kind, "deposit")
        expected = {"cic": {"sorted": [(8, 3, 2, 4), (64, 1, 1, 2)], "atomic-shuffled": [(8, 5, 4, 6)]}}
        expected["tsc"] = {"sorted": [(8, 7, 6, 9)]}
        self.assertEqual(plot_bench.group_deposits(read), expected)
        cic, tsc = self.figure(plot_bench.draw_deposits, read)
        self.assertEqual([axes.get_title(loc="left") or axes.get_title() for axes in (cic, tsc)], ["cic", "tsc"])
        self.assertEqual(list(cic.lines[0].get_ydata()), [3, 1])
        self.assert_picture(self.run_script(path, "-o", "deposit.png"), "deposit.png")

    def test_the_ladder_of_local_memory(self):
        """Bars of what moves bytes, the copy first; a line for each atomic function and scope; products have no bar."""
        path = self.write(
            "ladder.csv",
            "device,part,version,size,scope,addresses,median_ms,min_ms,max_ms,repeats,rate,unit,verified",
            'GPU,copy,"of the device",100,,,1,1,1,3,50,GB/s,yes',
            'GPU,filter,"v1, juxtaposed",100,,,1,1,1,3,40,GB/s,yes',
            "GPU,stencil,product,100,,,1,1,1,3,7,Gflop/s,yes",
            "GPU,atomics,add,100,device,1,1,1,1,3,0.5,Gop/s,yes",
            "GPU,atomics,add,100,device,32,1,1,1,3,2,Gop/s,yes",
            "GPU,atomics,add,100,group,8,1,1,1,3,4,Gop/s,yes",
        )
        kind, read = plot_bench.read_bench(path)
        self.assertEqual(kind, "local-memory")
        by_version, by_words = self.figure(plot_bench.draw_ladder, read)
        self.assertEqual([bar.get_width() for bar in by_version.patches], [50, 40])
        labels = [text.get_text() for text in by_version.get_yticklabels()]
        self.assertEqual(labels, ["copy: of the device", "filter: v1, juxtaposed"])
        lines = [[list(line.get_xdata()), list(line.get_ydata())] for line in by_words.lines]
        self.assertEqual(lines, [[[1, 32], [2, 0.5]], [[8], [0.25]]])
        self.assert_picture(self.run_script(path, "-o", "ladder.png"), "ladder.png")

    def test_an_unfinished_last_line_is_dropped(self):
        path = self.write("step.csv", STEP_HEADER, step_row(32, 32768, 30), step_row(32, 65536, 30)[:40], end="")
        self.assertEqual(len(plot_bench.read_bench(path)[1]), 1)

    def test_problems(self):
        step = self.write("step.csv", STEP_HEADER, step_row(32, 32768, 30))
        lists = self.write("lists.csv", LISTS_HEADER, list_row("paper", "total", 3))
        self.assert_problem(self.run_script("none.csv"), "none.csv", "No such file")
        self.assert_problem(self.run_script(self.write("other.csv", "a,b", "1,2")), "other.csv", "header")
        self.assert_problem(self.run_script(self.write("empty.csv", STEP_HEADER)), "empty.csv", "no rows")
        self.assert_problem(self.run_script(self.write("bad.csv", STEP_HEADER, "1,2")), "bad.csv:2", "21 fields")
        bad = self.write("word.csv", STEP_HEADER, step_row(32, "many", 30))
        self.assert_problem(self.run_script(bad), "word.csv:2", "numbers")
        stages = self.write("stages.csv", STEP_HEADER, step_row(32, 32768, 30, "push"))
        self.assert_problem(self.run_script(stages), "wall clock")
        self.assert_problem(self.run_script(step, lists), "several experiments")
        self.assert_problem(self.run_script(step, "-o", "no/folder.png"), "no/folder.png")

    def test_help(self):
        result = self.run_script("--help")
        self.assertEqual(result.returncode, 0)
        self.assertIn("examples:", result.stdout)


if __name__ == "__main__":
    unittest.main()
