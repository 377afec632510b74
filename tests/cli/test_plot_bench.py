"""scripts/plot_bench.py: pictures of every kind of bench file, what they show and say, errors in a sentence."""

import re

from program import ProgramTest
from radixpic.look import import_pyplot
from radixpic.script import Problem
from bench_plots import look, reading
from bench_plots.figures import FIGURES

HEADER = ",".join(reading.HEADER)
LONG_NAME = "pthread-skylake-avx512-Some(R) Very Long(R) Processor"

# Quantity and case of a row of each bench, and of others of their files.
ROWS = {
    "step": (
        "wall_clock_ns", "method=radix sort=default precision=single shape=cic hot=no cells=32x32 N=32768 steps=10"),
    "pic-sort": ("total_ms", "method=paper N=1000000 b=10 p=2 r=5 I=1 G=2 s=1 transpose=off table=columns"),
    "random-lists": ("total_ms", "method=paper N=1000 b=30"),
    "permutation": ("wall_ms", "table=1 volume=8x8x8 axes=2,1,0 elements=512 side=2 block=8 kernel=CB"),
    "local-memory": ("rate_GB/s", "part=filter version=v1,_juxtaposed size=300x300"),
    "deposit": ("particle_ns", "shape=cic precision=single atomics=64 N=1000 cells=2x2 per_cell=8 method=sorted"),
    "layout": ("time_ms", "operation=bitonic-sort input=random type=int L=64 N=64 layout=row-wise"),
    "scaling": ("wall_clock_s", "ranks=1"),
    "host sort": ("total_ms", "method=qsort N=1000000"),
    "copy": ("copy_GB/s", "of=copy bytes=67108864"),
    "atomics": ("rate_Gop/s", "part=atomics version=add size=65536 scope=device words=1"),
}
OF = {"host sort": "pic-sort", "copy": "local-memory", "atomics": "local-memory"}


def row(kind, median, quantity=None, device="GPU", verified="yes", **words):
    """A row from half to twice the median; the words of its case are those of ROWS but for these, None for no word."""
    usual, case = ROWS[kind]
    words = {**dict(word.split("=") for word in case.split()), **words}
    case = " ".join(f"{key}={word}" for key, word in words.items() if word is not None)
    low, high = (f"{factor * median:.9g}" if isinstance(median, (int, float)) else median for factor in (0.5, 2))
    return f'{OF.get(kind, kind)},"{device}","{case}",{quantity or usual},{median},{low},{high},3,{verified}'


def elsewhere(rows):
    return [line.replace("GPU", LONG_NAME) for line in rows]


def volumes(table):
    """Of a table, the larger volume first: numpy's times, which are of no cells, and those of cells of two sides."""
    for elements in (4096, 512):
        yield row("permutation", 7, device="host", table=table, elements=elements, kernel="numpy", side=None,
            block=None)
        for side in (2, 4):
            yield row("permutation", elements / side, table=table, elements=elements, kernel="RLBB", side=side,
                block=side**3)


STEP = [row("step", 30)]
SWEEP = [
    row("step", 40, cells="64x64", N=65536), row("step", 25, N=65536), *STEP,
    row("step", 9, "push_ns"),  # a stage is no line
]  # fmt: skip
WAYS = ("row-wise", "column-wise", "transpose", "transposed")
LAYOUTS = [row("layout", 1, layout=name, L=arrays) for name in WAYS for arrays in (128, 64)]
LAYOUTS += [row("layout", 1, device="host", layout=name) for name in ("row-wise", "quicksort")]
ALIKE = [row("layout", 3, N=length, type=kind) for length in (64, 128) for kind in ("int", "float")]
DEPOSITS = [row("deposit", 1, per_cell=64), row("deposit", 3)]
OTHERS = [row("deposit", 5, method=name) for name in ("sort+sorted", "atomic-ordered", "atomic-shuffled")]
VOLUMES = [*volumes(1), *volumes(2)]
BOTH = [[64, 128], [1, 1]]

# Panels: their titles, and the labels of x and y.
CIC, TSC = ((shape, "particles per cell", "time per particle [ns]") for shape in ("cic", "tsc"))
BITONIC = ("bitonic sort of random numbers", "arrays (L)", "time for all arrays [ms]")
TABLES = [(f"Table {number}: 3D, axes 2,1,0", "elements", "time [ms]") for number in (1, 2)]
BY_SIZE = ("Cost by number of particles", "particles", "time per particle and step [ns]")
BY_CELL = ("Cost by particles in a cell", "particles per cell", "time per particle and step [ns]")
SORTS = ("", "time per key [ns]", "")
BANDWIDTH, PRODUCT = ("Bandwidth", "rate [GB/s]", ""), ("Product of matrices", "rate [Gflop/s]", "")
ON_DEVICE, IN_GROUP = (
    (f"On words of {scope} memory)", "words", "rate [Gop/s]") for scope in ("the device (global", "a group (local"))

SORTED, RLBB = "sorted: cell by cell, the list in order", "RLBB (bars and look-up tables)"
OF_VOLUMES = {
    "numpy (host, into another array; no cells)": [[512, 4096], [7, 7]],
    **{f"{RLBB}, side {side}": [[512, 4096], [512 / side, 4096 / side]] for side in (2, 4)},
}

# Bench, rows of its files a, b, ..., {panel: {line: [x], [y]}}, words of the title.
LINES = [
    ("step", [SWEEP],
     {BY_SIZE: {"32x32": [[32768, 65536], [30, 25]], "64x64": [[65536], [40]]},
      BY_CELL: {"32x32": [[32, 64], [30, 25]], "64x64": [[16], [40]]}},
     ["method radix", "shape cic", "precision single", "medians of the wall clock"]),
    # files are told apart by their settings, or by their names where these are the same
    ("step", [SWEEP[1:3], [row("step", 30, N=65536, shape="tsc")]],
     {BY_SIZE: {"32x32, shape cic": [[32768, 65536], [30, 25]], "32x32, shape tsc": [[65536], [30]]},
      BY_CELL: {"32x32, shape cic": [[32, 64], [30, 25]], "32x32, shape tsc": [[64], [30]]}}, []),
    ("step", [STEP, STEP],
     dict.fromkeys([BY_SIZE, BY_CELL], {"32x32, file a": [[0], [30]], "32x32, file b": [[1], [30]]}), []),
    ("deposit", [[*DEPOSITS, *OTHERS, row("deposit", 7, shape="tsc")]],
     {CIC: {SORTED: [[8, 64], [3, 1]], **dict.fromkeys((
         "sort+: sorted, with the sort of a shuffled list before", "atomic: additions, the list in order",
         "shuffled: atomic additions, the list shuffled"), [[8], [5]])},
      TSC: {SORTED: [[0], [7]]}},
     ["precision single; atomics 64; N = 1,000"]),
    ("layout", [LAYOUTS],
     {BITONIC: {**dict.fromkeys(("row-wise", "column-wise", "transpose alone",
                                 "(B): transpose, column-wise, transpose back"), BOTH),
                "host, row-wise": [[64], [1]], "host, quicksort": [[64], [1]]}}, ["type int; N = 64"]),
    ("layout", [elsewhere(LAYOUTS[:2]), ALIKE],
     {BITONIC: {f"row-wise, type int, N = 64, {LONG_NAME}": BOTH, **{
         f"row-wise, type {kind}, N = {length}, GPU": [[64], [3]] for length in (64, 128) for kind in ("int", "float")
     }}},
     ["radixpic bench layout: 2 devices"]),  # none is shortened
    ("permutation", [VOLUMES], dict.fromkeys(TABLES, OF_VOLUMES), ["a cell has side^dimensions elements"]),
    ("permutation", [VOLUMES, elsewhere(VOLUMES)], dict.fromkeys(TABLES, {
        f"{words}, {device}": points for device in ("GPU", LONG_NAME) for words, points in OF_VOLUMES.items()}), []),
]  # fmt: skip


def phases(*times, **words):
    named = zip(("histogram", "reorder", "total"), times)
    return [row("pic-sort", time, f"{phase}_ms", **words) for phase, time in named]


SHORT, LONG = phases(2, 4, 5), phases(6, 9, 18, b=30, p=6)
REFUTED = [line[: -len("yes")] + "no" for line in phases(2, 4, 5, table="rows")]
LISTS = [row("random-lists", 1, "scan_ms"), row("random-lists", 6), row("random-lists", 6, N=2000)]
RATES = [
    row("copy", 50, verified=""), row("local-memory", 40, verified="no"),
    row("local-memory", 7, "rate_Gflop/s", part="stencil", version="product"),
    row("local-memory", 0.5, "rate_Gcells/s", part="refine", version="children"),
]  # fmt: skip
ATOMICS = [
    row("atomics", 0.5), row("atomics", 2, words=32, size=1024), row("atomics", 4, version="sub", verified="no"),
    row("atomics", 4, scope="group", words=8),
]  # fmt: skip
BOTH_WAYS = "6.00  (total 5.00)"

# The same of bars, {panel: [(bar, its length, its words)]}, and of lines beside them, as in LINES.
BARS = [
    ("pic-sort", [[*SHORT, *LONG, row("host sort", 20, device="host"), row("copy", 99)]],
     {SORTS: [("paper, b = 10, p = 2", 6, BOTH_WAYS), ("paper, b = 30, p = 6", 15, "15.0  (total 18.0)"),
              ("qsort on the host", 20, "20.0")]}, ["number beside a bar: its length"]),
    # a long bar of the host is cut at 1.15 times what those of the device need
    ("pic-sort", [[*SHORT, row("host sort", 400, device="host")]],
     {SORTS: [("paper", 6, BOTH_WAYS), ("qsort on the host", 6.9, "400  (bar cut)")]}, ["p = 2"]),
    ("pic-sort", [[*SHORT, *REFUTED]],
     {SORTS: [("paper, table columns", 6, BOTH_WAYS), ("paper, table rows", 6, f"{BOTH_WAYS}  NOT VERIFIED")]}, []),
    *[("pic-sort", [SHORT, other], {SORTS: [(f"paper, {first}", 6, BOTH_WAYS), (f"paper, {second}", 6, BOTH_WAYS)]}, [])
      for other, first, second in ((elsewhere(SHORT), "GPU", LONG_NAME), (SHORT, "file a", "file b"))],
    ("random-lists", [LISTS],
     {SORTS: [("paper, N = 1,000", 1000, "1,000  (total 6,000)"), ("paper, N = 2,000", 3000, "3,000")]}, ["b = 30"]),
    ("local-memory", [RATES + ATOMICS],
     {BANDWIDTH: [("copy on the device", 50, "50.0"), ("filter: v1, juxtaposed, 300x300", 40, "40.0  NOT VERIFIED")],
      PRODUCT: [("stencil: product, 300x300", 7, "7.00")],
      ("Refinement", "rate [Gcells/s]", ""): [("refine: children, 300x300", 0.5, "0.500")],
      ON_DEVICE: {"add": [[1, 32], [0.5, 2]], "sub": [[1], [4]]}, IN_GROUP: {"add": [[0], [4]]}},
     ["bars from minimum to maximum"]),
    # a copy with nothing to be compared with is in the title
    ("local-memory", [RATES[:1] + ATOMICS[3:], elsewhere(RATES[:1] + ATOMICS[3:])],
     {IN_GROUP: {f"add, {name}": [[place], [4]] for place, name in enumerate(("GPU", LONG_NAME))}},
     ["copy on GPU: 50.0 GB/s", f"copy on {LONG_NAME}: 50"]),
    # operations are no setting
    ("local-memory", [ATOMICS[:1], [row("atomics", 0.5, size=1024)]],
     {ON_DEVICE: {"add, file a": [[0], [0.5]], "add, file b": [[1], [0.5]]}}, []),
]  # fmt: skip


class PlotTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.plt = import_pyplot(False)
        self.addCleanup(self.plt.close, "all")

    def write(self, name, *rows, end="\n"):
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("\n".join(rows) + end)
        return path

    def draw(self, bench, files):
        """The figure of files a, b, ..., each a list of rows below the header."""
        paths = [self.write(f"{name}.csv", HEADER, *rows) for name, rows in zip("abcdef", files)]
        kind, rows = reading.read_files(paths)
        self.assertEqual(kind, bench)
        return FIGURES[bench].draw(self.plt, FIGURES[bench], rows, look.title_of(bench, rows))

    def assert_title(self, figure, *words):
        title = figure._suptitle.get_text().replace("\n", " ")  # Figure.get_suptitle() is of matplotlib 3.8
        for word in words:
            self.assertIn(word, title)

    def legend(self, figure):
        legends = [axes.get_legend() for axes in figure.axes if axes.get_legend()]
        return " ".join(text.get_text().replace("\n", " ") for legend in legends for text in legend.get_texts())


class Figures(PlotTest):
    def test_figures(self):
        for bench, files, panels, title in LINES + BARS:
            with self.subTest(bench=bench, panels=panels):
                figure = self.draw(bench, files)
                self.assert_title(figure, *title)
                drawn = [axes for axes in figure.axes if axes.axison]
                drawn = {(axes.get_title(loc="left"), axes.get_xlabel(), axes.get_ylabel()): axes for axes in drawn}
                self.assertEqual(set(drawn), set(panels))
                for place, axes in drawn.items():
                    if axes.patches:
                        self.assert_bars(axes, panels[place])
                    else:
                        self.assert_lines(axes, panels[place], self.legend(figure))
                self.plt.close("all")

    def assert_lines(self, axes, lines, legend):
        """Lines in this order; the legend names all parts of labels, and the bars are from half to twice the median."""
        drawn = [(bars.get_label(), [list(values) for values in bars[0].get_data()]) for bars in axes.containers]
        self.assertEqual(drawn, list(lines.items()))
        for bars in axes.containers:
            for words in bars.get_label().split(", ")[1:]:
                self.assertIn(words, legend)
            for median, ((_, low), (_, high)) in zip(bars[0].get_ydata(), bars[2][0].get_segments()):
                self.assertAlmostEqual(low / median, 0.5)
                self.assertAlmostEqual(high / median, 2)

    def assert_bars(self, axes, bars):
        """Labels, ends and words; a number is the length of its bar unless that is cut, and the total is a mark."""
        labels = [text.get_text().replace("\n", " ") for text in axes.get_yticklabels()]
        self.assertEqual(labels, [label for label, _, _ in bars])
        self.assertEqual([text.get_text() for text in axes.texts], [words for _, _, words in bars])
        marks = {round(line.get_ydata()[0]): line.get_xdata()[0] for line in axes.lines if line.get_marker() == "D"}
        strokes = [line.get_ydata().mean() for line in axes.lines if line.get_label() == "_break"]
        for place, (_, length, words) in enumerate(bars):
            own = [bar for bar in axes.patches if round(bar.get_y() + 0.5 * bar.get_height()) == place]
            self.assertAlmostEqual(max(bar.get_x() + bar.get_width() for bar in own), length)
            self.assertAlmostEqual(sum(bar.get_width() for bar in own), length)
            self.assertEqual({bool(bar.get_hatch()) for bar in own}, {"NOT VERIFIED" in words})
            self.assertEqual(strokes.count(place), 2 if "bar cut" in words else 0)
            total = re.search(r"total ([\d.,]+)", words)
            self.assertEqual(look.three_digits(marks[place]) if place in marks else None, total and total[1])
            self.assertLess(length, axes.get_xlim()[1])

    def test_a_refuted_point_is_crossed_out(self):
        rows = [row("layout", 3), row("layout", 3, L=128, verified="no")]
        figure = self.draw("layout", [rows])
        crosses = [list(map(list, line.get_data())) for line in figure.axes[0].lines if line.get_label() == "_refuted"]
        self.assertEqual(crosses, [[[128], [3]]])
        self.assertIn("NOT VERIFIED", self.legend(figure))
        self.assertNotIn("NOT VERIFIED", self.legend(self.draw("layout", [rows[:1]])))

    def test_ticks(self):
        """Plain numbers, at least three of them also within a decade."""
        for low, high, words in (
            (0.009, 110, ["0.01", "0.1", "1", "10", "100"]), (0.9, 11, ["1", "2", "5", "10"]), (2.70, 2.76, None),
            (95, 102, None), (1.1, 9.9, None), (1.1e-3, 1.2, None),
        ):  # fmt: skip
            axes = self.plt.figure().add_subplot(yscale="log", ylim=(low, high))
            look.plain_log_ticks(axes.yaxis)
            found = [text.get_text() for text in axes.get_yticklabels()]
            self.assertEqual(found, words or found)
            self.assertTrue(len(found) >= 3 and all(low <= float(tick) <= high for tick in found), (low, high, found))

    def test_numbers_and_styles(self):
        words = [look.three_digits(value) for value in (0, 0.01234, 5.7, 22.04, 237.6, 89999.0)]
        self.assertEqual(words, ["0", "0.0123", "5.70", "22.0", "238", "90,000"])
        words = [reading.count(value) for value in (64, 1024.0, 65536, 1e6, 2.5)]
        self.assertEqual(words, ["64", "1,024", "$2^{16}$", "1,000,000", "2.5"])
        self.assert_title(self.draw("step", [[row("step", 30, device="A$x^2$B")]]), r"A\$x^2\$B")
        styles = {str(look.style_of(primary, rest, 3)) for primary in range(12) for rest in range(3)}
        self.assertEqual(len(styles), 36)
        with self.assertRaisesRegex(Problem, "tell apart"):
            look.style_of(0, 1000, 1001)


class Files(PlotTest):
    def test_every_bench_is_drawn(self):
        help_text = self.run_script("plot_bench.py", "--help").stdout
        for bench in FIGURES:
            self.assert_title(self.draw(bench, [[row(bench, 3)]]), f"radixpic bench {bench}: GPU")
            example = rf"radixpic bench {bench} .*--csv (\S+\.csv).*\n +scripts/plot_bench.py \1 "
            self.assertRegex(help_text, example)
        path = self.write("step.csv", HEADER, *STEP)
        result = self.run_script("plot_bench.py", path, "-o", "step.png", "--title", "A title")
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "step.png\n", ""))
        self.assert_picture("step.png")

    def test_refuted_rows(self):
        path = self.write("bad.csv", HEADER, row("layout", 1, verified="no"), row("layout", 2, layout="column-wise"))
        result = self.run_script("plot_bench.py", path, "-o", "bad.png")
        self.assertEqual(result.stdout, "bad.png\n")
        self.assert_refused(result, 1, "1 of 2 rows", "not verified", "bad.csv", by="plot_bench.py: ")
        self.assert_picture("bad.png")

    def test_rows_that_are_left_out(self):
        """A last line that was not finished; a file that is given twice; of two of one name, the paths are said."""
        path = self.write("step.csv", HEADER, *STEP, SWEEP[1][:40], end="")
        self.assertEqual(len(reading.read_files([path])[1]), 1)
        paths = [self.write(f"{folder}/step.csv", HEADER, *STEP) for folder in "xy"]
        self.assertEqual(len(reading.read_files([paths[0], paths[0]])[1]), 1)
        self.assertEqual([found["file"] for found in reading.read_files(paths)[1]], list(map(str, paths)))

    def test_problems(self):
        step = self.write("step.csv", HEADER, *STEP)
        scaling = self.write("scaling.csv", HEADER, row("scaling", 1))
        for arguments, *words in (
            (["none.csv"], "none.csv", "No such file"),
            ([step, "-o", "no/folder.png"], "no/folder.png"),
            ([scaling], "no picture is of radixpic bench scaling"),
            ([step, scaling], "several experiments"),
        ):
            self.assert_script_fails("plot_bench.py", *arguments, words=words)
        for words, *lines in (
            ("problem.csv does not start with the header", "a,b", "1,2"),
            ("problem.csv has no rows", HEADER),
            ("problem.csv:2: .*9 fields", HEADER, "1,2"),
            ("problem.csv:2: .*numbers", HEADER, row("step", "many")),
            ("problem.csv:3: .*numbers", HEADER, *STEP, row("step", "nan")),
            ("N of step is no number: many", HEADER, row("step", 30, N="many")),
            ("no row is of wall_clock", HEADER, row("step", 30, "push_ns")),
            ("not between", HEADER, row("layout", 1).replace("0.5,2", "1.5,2")),
            ("words of local-memory", HEADER, row("atomics", 1, words="few")),
            ("has no time for one", HEADER, row("pic-sort", 1, N=0)),
            ("no row is of a bar", HEADER, row("pic-sort", 1, "speedup")),
        ):
            with self.subTest(words=words), self.assertRaisesRegex(Problem, words):
                bench, rows = reading.read_files([self.write("problem.csv", *lines)])
                FIGURES[bench].draw(self.plt, FIGURES[bench], rows, "title")
