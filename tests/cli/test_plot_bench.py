#!/usr/bin/python3
"""scripts/plot_bench.py: pictures of every kind of bench file, what they show and say, errors in a sentence."""

import os
import re
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
from bench_plots import kinds, local_memory, look, reading, sorts  # noqa: E402

COPY = 'local-memory,"GPU","of=copy bytes=67108864",copy_GB/s,{0},{0},{0},3,'
HEADER = "bench,device,case,quantity,median,min,max,repeats,verified"
LONG_NAME = "pthread-skylake-avx512-Some(R) Very Long(R) Processor"


def make_row(bench, case, quantity, median, device="GPU", verified="yes"):
    """From half to twice the median."""
    low, high = (f"{factor * median:.9g}" if isinstance(median, (int, float)) else median for factor in (0.5, 2))
    return f'{bench},"{device}","{case}",{quantity},{median},{low},{high},3,{verified}'


def step_row(cells, particles, nanoseconds, quantity="wall_clock_ns", shape="cic", **options):
    case = f"method=radix sort=default precision=single shape={shape} hot=no cells={cells}x{cells} N={particles} steps=10"
    return make_row("step", case, quantity, nanoseconds, **{"device": "Some, device", **options})


def sort_row(bits, phase, milliseconds, method="paper", table="columns", **options):
    case = f"method={method} N=1000000 b={bits} p={bits // 5} r=5 I=1 G=2 s=1 transpose=off table={table}"
    return make_row("pic-sort", case if bits else f"method={method} N=1000000", f"{phase}_ms", milliseconds, **options)


def list_row(method, phase, milliseconds, keys=1000):
    return make_row("random-lists", f"method={method} N={keys} b=30", f"{phase}_ms", milliseconds)


def volume_row(device, table, elements, side, kernel, milliseconds):
    case = f"table={table} volume=8x8x8 axes=2,1,0 elements={elements} side={side} block={side**3} kernel={kernel}"
    if kernel == "numpy":
        case = re.sub(" side=.* kernel", " kernel", case)
    return make_row("permutation", case, "wall_ms", milliseconds, device=device)


def deposit_row(shape, per_cell, method, nanoseconds, precision="single", additions=64):
    case = f"shape={shape} precision={precision} atomics={additions} N=1000 cells=2x2 per_cell={per_cell} method={method}"
    return make_row("deposit", case, "particle_ns", nanoseconds)


def layout_row(arrays, layout, milliseconds, device="GPU", length=64, kind="int", verified="yes"):
    case = f"operation=bitonic-sort input=random type={kind} L={arrays} N={length} layout={layout}"
    return make_row("layout", case, "time_ms", milliseconds, device, verified)


def atomic_row(function, scope, words, rate, size=65536, **options):
    case = f"part=atomics version={function} size={size} scope={scope} words={words}"
    return make_row("local-memory", case, "rate_Gop/s", rate, **options)


def rate_row(part, version, rate, unit="GB/s", **options):
    return make_row("local-memory", f"part={part} version={version} size=300x300", f"rate_{unit}", rate, **options)


def spoken_of(axes):
    """{label: [x], [y]} of the lines that were drawn with bars."""
    return {bars.get_label(): [list(values) for values in bars[0].get_data()] for bars in axes.containers}


def title_of(figure):
    return figure._suptitle.get_text()  # Figure.get_suptitle() is of matplotlib 3.8


class PlotTest(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = Path(holder.name)
        self.plt = common.import_pyplot(False)
        self.addCleanup(self.plt.close, "all")

    def write(self, name, *rows, end="\n"):
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("\n".join(rows) + end)
        return path

    def read(self, *files):
        """Rows of files a, b, ..., each a list of rows below the header."""
        paths = [self.write(f"{name}.csv", HEADER, *rows) for name, rows in zip("abcdef", files)]
        return reading.read_files(paths)[1]

    def run_script(self, *arguments):
        environment = dict(os.environ, PYTHONDONTWRITEBYTECODE="1")
        command = [sys.executable, SCRIPTS / "plot_bench.py", *map(str, arguments)]
        options = {"capture_output": True, "text": True, "cwd": self.folder, "timeout": 120}
        return subprocess.run(command, env=environment, **options)

    def assert_picture(self, name):
        self.assertEqual((self.folder / name).read_bytes()[:8], b"\x89PNG\r\n\x1a\n")

    def assert_problem(self, result, *words):
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertEqual(len(result.stderr.strip().splitlines()), 1, result.stderr)
        for word in words:
            self.assertIn(word, result.stderr)

    def assert_told_apart(self, panels):
        """Labels and styles of a panel's lines are not used twice, and the legend names all of their parts."""
        legend = " ".join(self.legend_of(panels))
        for title, its_lines in panels.panels.items():
            labels = [line.label for line in its_lines]
            styles = [str(panels.style(line)) for line in its_lines]
            self.assertEqual(len(set(labels)), len(labels), (title, labels))
            self.assertEqual(len(set(styles)), len(styles), (title, styles))
            for words in (word for line in its_lines for word in line.rest if word):
                self.assertIn(words, legend)

    def legend_of(self, panels):
        return [label.replace("\n", " ") for _, label in panels.legend("first", {}).entries]

    def assert_text_inside(self, figure):
        """No text is cut: tight bounds take in what stands beside the axes, and no legend lies on any axes' lines."""
        figure.canvas.draw()
        legends = [axes.get_legend() for axes in figure.axes if axes.get_legend()]
        self.assertEqual(len(legends), 1)
        box = legends[0].get_window_extent()
        for axes in (axes for axes in figure.axes if axes.axison):
            self.assertFalse(box.overlaps(axes.get_tightbbox()), axes.get_title(loc="left"))


class Files(PlotTest):
    def test_every_kind_is_drawn(self):
        rows = {
            "step": step_row(32, 32768, 30),
            "pic-sort": sort_row(10, "total", 3),
            "random-lists": list_row("paper", "total", 3),
            "permutation": volume_row("GPU", 1, 512, 2, "CB", 1),
            "local-memory": COPY.format(50),
            "deposit": deposit_row("cic", 8, "sorted", 3),
            "layout": layout_row(64, "row-wise", 1),
        }
        self.assertEqual(set(rows), set(plot_bench.DRAW))
        for bench, row in rows.items():
            read_bench, read = reading.read_files([self.write("one.csv", HEADER, row)])
            self.assertEqual(read_bench, bench)
            figure = plot_bench.DRAW[bench](self.plt, bench, read, look.title_of(bench, read))
            self.assertIn(f"radixpic bench {bench}", title_of(figure))
        result = self.run_script(self.write("step.csv", HEADER, rows["step"]), "-o", "step.png")
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "step.png\n", ""))
        self.assert_picture("step.png")
        for bench in plot_bench.DRAW:
            example = rf"radixpic bench {bench} .*--csv (\S+\.csv).*\n +scripts/plot_bench.py \1 "
            self.assertRegex(self.run_script("--help").stdout, example)

    def test_refuted_rows(self):
        rows = [layout_row(64, "row-wise", 1, verified="no"), layout_row(64, "column-wise", 2)]
        path = self.write("bad.csv", HEADER, *rows)
        result = self.run_script(path, "-o", "bad.png")
        self.assertEqual(result.stdout, "bad.png\n")
        self.assert_problem(result, "1 of 2 rows", "not verified", "bad.csv")
        self.assert_picture("bad.png")

    def test_an_unfinished_last_line_is_dropped(self):
        path = self.write("step.csv", HEADER, step_row(32, 32768, 30), step_row(32, 65536, 30)[:40], end="")
        self.assertEqual(len(reading.read_bench(path)[1]), 1)

    def test_files_are_told_apart(self):
        """By their settings; by their names where these are the same; by their paths where the names are too."""
        same = [step_row(32, 32768, 30)]
        panels = kinds.group("step", self.read(same, [step_row(32, 32768, 30, shape="tsc")]))
        self.assertEqual([line.label for line in panels.lines], ["32x32, shape cic", "32x32, shape tsc"])
        panels = kinds.group("step", self.read(same, same))
        self.assertEqual([line.label for line in panels.lines], ["32x32, file a", "32x32, file b"])
        self.assert_told_apart(panels)
        paths = [self.write(f"{folder}/step.csv", HEADER, *same) for folder in "xy"]
        panels = kinds.group("step", reading.read_files(paths)[1])
        self.assertEqual(len({line.label for line in panels.lines}), 2)
        self.assertTrue(all("/step.csv" in line.label for line in panels.lines))
        self.assertEqual(len(kinds.group("step", reading.read_files([paths[0], paths[0]])[1]).lines[0].points), 1)

    def test_problems(self):
        good = step_row(32, 32768, 30)
        step = self.write("step.csv", HEADER, good)
        lists = self.write("lists.csv", HEADER, list_row("paper", "total", 3))
        self.assert_problem(self.run_script("none.csv"), "none.csv", "No such file")
        self.assert_problem(self.run_script(step, "-o", "no/folder.png"), "no/folder.png")
        for name, words, rows in (
            ("other.csv", ["other.csv", "header"], ["a,b", "1,2"]),
            ("empty.csv", ["empty.csv", "no rows"], [HEADER]),
            ("bad.csv", ["bad.csv:2", "9 fields"], [HEADER, "1,2"]),
            ("word.csv", ["word.csv:2", "numbers"], [HEADER, step_row(32, 32768, "many")]),
            ("nan.csv", ["nan.csv:3", "numbers"], [HEADER, good, step_row(32, 32768, "nan")]),
        ):
            with self.subTest(name=name), self.assertRaises(common.Problem) as raised:
                reading.read_files([self.write(name, *rows)])
            for word in words:
                self.assertIn(word, str(raised.exception))
        with self.assertRaisesRegex(common.Problem, "N of step is no number: many"):
            kinds.group("step", self.read([step_row(32, "many", 30)]))
        with self.assertRaisesRegex(common.Problem, "several experiments"):
            reading.read_files([step, lists])
        with self.assertRaisesRegex(common.Problem, "wall_clock"):
            kinds.group("step", self.read([step_row(32, 32768, 30, "push_ns")]))
        with self.assertRaisesRegex(common.Problem, "not between"):
            kinds.group("layout", self.read([layout_row(64, "row-wise", 1).replace("0.5,2", "1.5,2")]))
        with self.assertRaisesRegex(common.Problem, "words of local-memory"):
            local_memory.Ladder(self.read([atomic_row("add", "device", "few", 1)]))


class Look(PlotTest):
    def ticks(self, low, high):
        axes = self.plt.figure().add_subplot(yscale="log", ylim=(low, high))
        look.plain_log_ticks(axes.yaxis)
        return [text.get_text() for text in axes.get_yticklabels()]

    def test_ticks_of_logarithms(self):
        self.assertEqual(self.ticks(0.009, 110), ["0.01", "0.1", "1", "10", "100"])
        self.assertEqual(self.ticks(0.9, 11), ["1", "2", "5", "10"])
        for low, high in ((2.5, 3.1), (2.70, 2.76), (4, 9.9), (95, 102), (1e-3, 1.1e-3)):
            ticks = self.ticks(low, high)
            self.assertGreaterEqual(len(ticks), 3, (low, high, ticks))
            for tick in ticks:
                self.assertRegex(tick, r"^[0-9.]+$")
                self.assertTrue(low <= float(tick) <= high, tick)

    def test_numbers(self):
        words = [look.three_digits(value) for value in (0, 0.01234, 5.7, 22.04, 237.6, 89999.0)]
        self.assertEqual(words, ["0", "0.0123", "5.70", "22.0", "238", "90,000"])
        words = [look.count(value) for value in (64, 1024.0, 65536, 1e6, 2.5)]
        self.assertEqual(words, ["64", "1,024", "$2^{16}$", "1,000,000", "2.5"])
        row = step_row(32, 32768, 30, device="A$x^2$B")
        self.assertEqual(self.read([row])[0]["machine"], r"A\$x^2\$B")

    def test_styles_differ(self):
        styles = {str(look.style_of(primary, rest, 3)) for primary in range(12) for rest in range(3)}
        self.assertEqual(len(styles), 36)
        with self.assertRaisesRegex(common.Problem, "tell apart"):
            look.style_of(0, 1000, 1001)


class Lines(PlotTest):
    def test_a_sweep(self):
        rows = [step_row(64, 65536, 40), step_row(32, 65536, 25), step_row(32, 32768, 30)]
        rows.append(step_row(32, 32768, 9, "push_ns"))  # the stage push is no line
        figure = kinds.draw(self.plt, "step", self.read(rows), "title")
        by_size, by_cell, _ = figure.axes
        expected = {"32x32": [[32768, 65536], [30, 25]], "64x64": [[65536], [40]]}
        self.assertEqual(spoken_of(by_size), expected)
        self.assertEqual([points[0] for points in spoken_of(by_cell).values()], [[32, 64], [16]])
        for words in ("radix", "shape cic", "precision single"):
            self.assertIn(words, title_of(figure))

    def test_layouts(self):
        """Names as on the screen; int and float, two lengths and two devices in one picture."""
        columns = ("row-wise", "column-wise", "transpose", "transposed")
        rows = [layout_row(arrays, layout, 1, LONG_NAME) for layout in columns for arrays in (128, 64)]
        rows += [layout_row(64, layout, 1, "host") for layout in ("row-wise", "quicksort")]
        both = [(length, kind) for length in (64, 128) for kind in ("int", "float")]
        more = [layout_row(64, "row-wise", 3, length=length, kind=kind) for length, kind in both]
        panels = kinds.group("layout", self.read(rows))
        labels = [line.label for line in panels.lines]
        self.assertEqual(labels, ["row-wise", "column-wise", "transpose", "(B)", "host", "host, quicksort"])
        self.assertEqual([point[:2] for point in panels.lines[0].points], [(64, 1), (128, 1)])
        read = self.read(rows, more)
        panels = kinds.group("layout", read)
        self.assertEqual(panels.settings.varying, ["type", "N", "device"])
        self.assert_told_apart(panels)
        self.assertIn(f"type int, N = 64, {LONG_NAME}", self.legend_of(panels))  # none is shortened
        figure = kinds.draw(self.plt, "layout", read, "title")
        drawn = [str(bars[0].get_color()) + str(bars[0].get_linestyle()) + bars[0].get_marker() for bars in figure.axes[0].containers]
        self.assertEqual(len(set(drawn)), len(drawn))
        self.assertEqual(figure.axes[0].get_title(loc="left"), "bitonic sort of random numbers")
        legend = [text.get_text().replace("\n", " ") for text in figure.axes[-1].get_legend().get_texts()]
        self.assertIn("(B): transpose, column-wise, transpose back", legend)
        self.assert_text_inside(figure)

    def test_what_was_measured_is_in_the_title(self):
        figure = kinds.draw(self.plt, "layout", self.read([layout_row(64, "row-wise", 1)]), "title")
        self.assertIn("type int; N = 64", title_of(figure))
        figure = kinds.draw(self.plt, "deposit", self.read([deposit_row("cic", 8, "sorted", 3)]), "title")
        self.assertIn("precision single; atomics 64; N = 1,000", title_of(figure))

    def test_a_refuted_point_is_crossed_out(self):
        rows = [layout_row(arrays, "row-wise", 3, verified=verified) for arrays, verified in ((64, "yes"), (128, "no"))]
        read = self.read(rows)
        axes = kinds.draw(self.plt, "layout", read, "title").axes[0]
        crosses = [list(map(list, line.get_data())) for line in axes.lines if line.get_label() == "_refuted"]
        self.assertEqual(crosses, [[[128], [3]]])
        self.assertIn("NOT VERIFIED", self.legend_of(kinds.group("layout", read)))
        self.assertNotIn("NOT VERIFIED", self.legend_of(kinds.group("layout", self.read(rows[:1]))))

    def test_deposits(self):
        """A panel a shape; a line a method in ns a particle, in the order of the particles per cell."""
        rows = [deposit_row("cic", 64, "sorted", 1), deposit_row("cic", 8, "sorted", 3)]
        rows += [deposit_row("cic", 8, method, 5) for method in ("sort+sorted", "atomic-ordered", "atomic-shuffled")]
        panels = kinds.group("deposit", self.read([*rows, deposit_row("tsc", 8, "sorted", 7)]))
        self.assertEqual(list(panels.panels), ["cic", "tsc"])
        self.assertEqual([line.label for line in panels.panels["cic"]], ["sorted", "sort+", "atomic", "shuffled"])
        points = [tuple(round(value, 9) for value in point) for point in panels.lines[0].points]
        self.assertEqual(points, [(8, 3, 1.5, 6, 0), (64, 1, 0.5, 2, 0)])
        panels = kinds.group("deposit", self.read(rows[:2], [deposit_row("cic", 8, "sorted", 3, "double", 32)]))
        rests = [", ".join(line.rest) for line in panels.lines]
        self.assertEqual(rests, ["precision single, atomics 64", "precision double, atomics 32"])
        self.assert_told_apart(panels)

    def test_permutations(self):
        """A panel for each table, a line for each kernel and side of cells; numpy's line, of no cells, once."""
        rows = [
            volume_row(device, table, elements, side, kernel, milliseconds)
            for table in (1, 2)
            for elements in (4096, 512)
            for side in (2, 4)
            for device, kernel, milliseconds in (("host", "numpy", 7), ("GPU", "RLBB", elements / side))
            if kernel != "numpy" or side == 2
        ]
        read = self.read(rows, [row.replace("GPU", LONG_NAME) for row in rows])
        panels = kinds.group("permutation", read[: len(rows)])
        self.assertEqual(list(panels.panels), ["Table 1: 3D, axes 2,1,0", "Table 2: 3D, axes 2,1,0"])
        first = {line.label: [point[:2] for point in line.points] for line in panels.panels["Table 1: 3D, axes 2,1,0"]}
        expected = {"numpy": [(512, 7), (4096, 7)], "RLBB, side 2": [(512, 256), (4096, 2048)]}
        self.assertEqual(first, {**expected, "RLBB, side 4": [(512, 128), (4096, 1024)]})
        panels = kinds.group("permutation", read)
        self.assertEqual(len(panels.panels["Table 1: 3D, axes 2,1,0"]), 6)
        self.assert_told_apart(panels)
        self.assertEqual(len(panels.rests), 4)  # numpy looks like the first cells of its machine
        self.assert_text_inside(kinds.draw(self.plt, "permutation", read, "title"))

    def test_points_of_one_volume_stand_side_by_side(self):
        rows = [volume_row("GPU", 0, 512, 2, kernel, 3) for kernel in ("CB", "BB", "RLBB")]
        axes = kinds.draw(self.plt, "permutation", self.read(rows), "title").axes[0]
        self.assertEqual(spoken_of(axes), {"CB": [[0], [3]], "BB": [[1], [3]], "RLBB": [[2], [3]]})
        self.assertEqual([text.get_text() for text in axes.get_xticklabels()], ["512"])
        self.assertEqual(axes.get_title(loc="left"), "3D 8x8x8, axes 2,1,0")


class Bars(PlotTest):
    def draw(self, *files):
        rows = self.read(*files)
        bars, _ = sorts.group(rows)
        return bars, sorts.draw(self.plt, "pic-sort", rows, "title").axes[0]

    def test_numbers_are_the_lengths_of_their_bars(self):
        """A bar is of the phases of single sorts, and its number too; the total is a mark of its own."""
        short = [sort_row(10, "histogram", 2), sort_row(10, "reorder", 4), sort_row(10, "total", 5)]
        long = [sort_row(30, "histogram", 6), sort_row(30, "reorder", 9), sort_row(30, "total", 18)]
        host = [sort_row(0, "total", 20, "qsort", device="host"), COPY.format(99)]
        bars, axes = self.draw(short + long + host)
        self.assertEqual([bar.length for bar in bars.values()], [6, 15, 20])
        ends = {}
        for bar in axes.patches:
            place = round(bar.get_y() + 0.5 * bar.get_height())
            ends[place] = max(ends.get(place, 0), bar.get_x() + bar.get_width())
        self.assertEqual(ends, {0: 6, 1: 15, 2: 20})
        texts = [text.get_text() for text in axes.texts]
        self.assertEqual([float(re.match(r"[\d.]+", text)[0]) for text in texts], [6, 15, 20])
        self.assertEqual(texts, ["6.00  (total 5.00)", "15.0  (total 18.0)", "20.0"])
        marks = [tuple(line.get_xydata()[0]) for line in axes.lines if line.get_marker() == "D"]
        self.assertEqual(marks, [(5, 0), (18, 1)])
        self.assertFalse([line for line in axes.lines if line.get_label() == "_break"])
        labels = [text.get_text() for text in axes.get_yticklabels()]
        self.assertEqual(labels, ["paper, b = 10, p = 2", "paper, b = 30, p = 6", "qsort on the host"])

    def test_a_long_bar_of_the_host_is_broken(self):
        device = [sort_row(10, "reorder", 4), sort_row(10, "total", 5)]
        _, axes = self.draw([*device, sort_row(0, "total", 400, "qsort", device="host")])
        strokes = [line.get_ydata().mean() for line in axes.lines if line.get_label() == "_break"]
        self.assertEqual(strokes, [1, 1])
        self.assertEqual(axes.texts[1].get_text(), "400  (bar cut)")
        cut = [bar.get_x() + bar.get_width() for bar in axes.patches][-1]
        self.assertTrue(5 < cut < axes.get_xlim()[1])

    def test_settings_and_refuted_sorts(self):
        rows = [sort_row(10, phase, 3, table=table) for table in ("columns", "rows") for phase in ("reorder", "total")]
        refuted = [row[: -len("yes")] + "no" for row in rows[2:]]
        bars, axes = self.draw(rows[:2] + refuted)
        self.assertEqual(list(bars), ["paper, table columns", "paper, table rows"])
        self.assertEqual([bar.refuted for bar in bars.values()], [False, True])
        self.assertEqual([bool(bar.get_hatch()) for bar in axes.patches], [False, True])
        self.assertEqual([text.get_text().endswith("NOT VERIFIED") for text in axes.texts], [False, True])
        bars, _ = self.draw(rows[:2], [row.replace("GPU", LONG_NAME) for row in rows[:2]])
        self.assertEqual(list(bars), ["paper, GPU", f"paper, {LONG_NAME}"])
        bars, _ = self.draw(rows[:2], rows[:2])
        self.assertEqual(list(bars), ["paper, file a", "paper, file b"])

    def test_random_lists(self):
        rows = [list_row("paper", "scan", 1), list_row("paper", "total", 6), list_row("paper", "total", 6, keys=2000)]
        bars, settings = sorts.group(self.read(rows))
        lengths = {label: (round(bar.length), round(bar.total)) for label, bar in bars.items()}
        self.assertEqual(lengths, {"paper, N = 1,000": (1000, 6000), "paper, N = 2,000": (3000, 3000)})
        self.assertEqual(settings.shared, ["b = 30"])


class LocalMemory(PlotTest):
    def test_every_row_is_drawn(self):
        rows = [COPY.format(50), rate_row("filter", "v1,_juxtaposed", 40, verified="no")]
        rows += [rate_row("stencil", "product", 7, "Gflop/s"), rate_row("refine", "children", 0.5, "Gcells/s")]
        rows += [atomic_row("add", "device", 1, 0.5), atomic_row("add", "device", 32, 2, size=1024)]
        rows += [atomic_row("sub", "device", 1, 4, verified="no"), atomic_row("add", "group", 8, 4)]
        read = self.read(rows)
        ladder = local_memory.Ladder(read)
        self.assertEqual(sum(len(versions) for versions in ladder.bars.values()), 4)
        self.assertEqual(sum(len(drawn.cells) for drawn in ladder.maps), 4)
        rates, product, refine, device, group = local_memory.draw(self.plt, "local-memory", read, "title").axes
        self.assertEqual([bar.get_width() for bar in rates.patches], [50, 40])
        self.assertEqual([bool(bar.get_hatch()) for bar in rates.patches], [False, True])
        self.assertEqual([bar.get_width() for bar in (*product.patches, *refine.patches)], [7, 0.5])
        self.assertEqual([text.get_text() for text in rates.texts], ["50.0", "40.0  NOT VERIFIED"])
        labels = [text.get_text() for text in rates.get_yticklabels()]
        self.assertEqual(labels, ["copy on the device", "filter: v1, juxtaposed, 300x300"])
        cells = {tuple(map(int, text.get_position())): text.get_text() for text in device.texts}
        self.assertEqual(cells, {(0, 0): "2.00", (1, 0): "0.500\n(1,024)", (0, 1): "0.250"})  # (words, function)
        self.assertEqual([text.get_text() for text in device.get_yticklabels()], ["add", "sub"])
        self.assertEqual([text.get_text() for text in device.get_xticklabels()], ["1", "32"])
        crossed = [line.get_xydata().mean(axis=0).tolist() for line in device.lines]
        self.assertEqual(crossed, [[0, 1], [0, 1]])
        self.assertEqual([text.get_text() for text in group.texts], ["0.250"])

    def test_a_lone_copy_is_in_the_title(self):
        read = self.read([COPY.format(50), atomic_row("add", "device", 1, 0.5)])
        figure = local_memory.draw(self.plt, "local-memory", read, "title")
        self.assertEqual(len(figure.axes), 1)
        self.assertIn("copy on the device 50.0 GB/s", title_of(figure))

    def test_two_devices(self):
        rows = [COPY.format(50), rate_row("filter", "v1", 40), atomic_row("add", "group", 1, 0.5)]
        read = self.read(rows, [row.replace("GPU", LONG_NAME) for row in rows])
        ladder = local_memory.Ladder(read)
        self.assertEqual(ladder.series, ["GPU", LONG_NAME])
        titles = [drawn.title for drawn in ladder.maps]
        self.assertEqual(len(set(titles)), 2)
        figure = local_memory.draw(self.plt, "local-memory", read, "title")
        rates = figure.axes[1]
        self.assertEqual(len({(bar.get_y(), bar.get_facecolor()) for bar in rates.patches}), 4)
        self.assertEqual(len({bar.get_facecolor() for bar in rates.patches}), 2)
        ladder = local_memory.Ladder(self.read(rows, [rows[2].replace("65536", "1024")]))
        self.assertEqual([drawn.series for drawn in ladder.maps], ["file a", "file b"])  # no cell lies over another


if __name__ == "__main__":
    unittest.main()
