"""radixpic bench by tables: what every bench prints and writes for given options, what it refuses, what it finds
wrong. A table's measured numbers are of no account here, but for what follows from the file's."""

import os

from bench_table import SMALL, BenchTest, of
from program import DEVICE

PHASES = ["histogram_ms", "scan_ms", "reorder_ms", "total_ms", "speedup"]
HOST = ["total_ms", "speedup"]
METHODS = ["sorted", "sort+sorted", "atomic-ordered", "atomic-shuffled"]
FUNCTIONS = "add sub xchg min max inc dec cmpxchg and or xor".split()
FILTERS = [
    *("without_local_memory", "v1,_juxtaposed_blocks", "v2,_juxtaposed,_ragged", "v3,_overlapping_blocks"),
    "v4,_overlapping,_ragged",
]
STENCILS = [
    *("2D_filter_without_local_memory", "2D_filter,_a_tile,_an_item_per_node", "2D_filter,_a_tile,_4_nodes_per_item"),
    *("product_without_local_memory", "product,_loop_over_tiles"),
]
REFINED = [
    *("a_child_grid_for_every_cell", "over_the_threshold,_in_one_launch", "over_the_threshold,_a_launch_for_each"),
]
TURNS = ["without_local_memory", "through_tiles", "through_tiles_of_padded_rows"]
PAPER = {"I": ["7"], "G": ["5"], "s": ["9"], "r": ["3"], "transpose": ["on"]}
CHOSEN = ["--items=7", "--groups=5", "--splits=9", "--radix-bits=3", "--transpose=on"]
SMALL_STEP = ["--particles=4096", "--cells=16", "--steps=5"]
PARTS = ["--length=5001", "--cells=37x45", "--product=19", "--operations=5000", "--coarse=13"]

# Bench, options, {key: its words in the rows, in order}, what the output has.
RUNS = [
    ("pic-sort", ["--transpose=off"],
     {"quantity": ["copy_GB/s", *HOST, *PHASES[:3]], "b": ["10", "30"], "p": ["2", "6"], "r": ["5"], "N": ["5003"],
         "repeats": ["2"],
      "method": ["qsort", "paper"]},
     ["Table 7 of the paper", r"the paper: GTX 470 +30 +6 +68 +1\.511", "qsort on the host, one thread",
      r"(?s)(verified: sorted, stable, a permutation\n.*?){3}"]),
    ("pic-sort", ["--no-host", "--particles=100", "--repeat=1"], {"method": ["paper"], "repeats": ["1"]},
     [r"(?m)^copy of 800 B on the device: [\d.]+ GB/s, median of 1;"]),
    ("pic-sort", [*CHOSEN, "--key-bits=11", "--no-host"], {"b": ["11"], "p": ["4"], "quantity": ["copy_GB/s",
        "transpose_ms", *PHASES[:4]], **PAPER},
     [r"I = 7, G = 5, s = 9, transpose on"]),
    ("pic-sort", ["--table=columns", "--table=rows", "--items=4", "--cells=20"],
     {"table": ["columns", "rows"], "b": ["9", "30"]}, [", table rows; method paper"]),
    ("pic-sort", ["--key-bits=10", "--key-bits=13,32", "--radix-bits=8"], {"b": ["10", "13", "32"], "p": ["2", "4"]},
        []),
    ("pic-sort", ["--radix-bits=10", "--key-bits=10"], {"p": ["1"]}, []),
    ("pic-sort", ["--method=chunked"], {"method": ["qsort", "chunked"], "b": ["10"]},
        ["method chunked"]),
    ("pic-sort", ["--method=auto", "--order=random,reversed,sorted", "--order=both-ways", "--cells=8x16", "--no-host",
         "--device=cpu"],
     {"method": ["chunked"], "b": ["7"], "p": ["1"], "order": ["both-ways", "random", "sorted", "reversed"]},
         [r"(?s)(order of the keys: .*\(default\).*?){4}"]),
    ("pic-sort", ["--method=tiled"], {"method": ["qsort", "tiled"], "b": ["10"]}, ["method tiled"]),
    *[("pic-sort", [f"--particles={count}", "--repeat=1"], {"N": [str(count)]}, [f"copy of {size} on"])
      for count, size in ((1, "8 B"), (125003, "1.0 MB"))],
    ("random-lists", ["--sizes=4096,1,2,63,1000,5003", "--transpose=off"],
     {"N": ["4096", "1", "2", "63", "1000", "5003"], "method": ["paper", "chunked", "qsort"], "b": ["30"],
      "quantity": ["copy_GB/s", *PHASES]},
     [r"(?s)(\nsort: the method tiled has no sort of keys of 30 bits .*?){6}", "keys alone",
      r"(?s)(verified: .*?){18}"]),
    ("random-lists", ["--sizes=4096", "--key-bits=10", "--method=tiled"], {"method": ["tiled", "qsort"],
        "quantity": ["copy_GB/s", *PHASES]}, []),
    ("random-lists", ["--sizes=4096", "--method=paper", *CHOSEN, "--table=rows"], {"method": ["paper", "qsort"],
        "table": ["rows"], **PAPER},
     ["r = 3, p = 10 passes; I = 7, G = 5, s = 9, transpose on, table rows; method paper; keys alone"]),
    ("permutation", ["--volume=8,12,20"],  # 3 does not divide 8
     {"kernel": ["serial", "threads", "CB", "BB", "RLBB"], "side": ["2", "4"], "block": ["8", "64"],
         "volume": ["8x12x20"],
      "axes": ["2,1,0"], "elements": ["1920"], "table": ["0"],
      "quantity": ["copy_GB/s", "wall_ms", "rate_GB/s", "speedup_serial", "device_ms"]},
     [r"\n3D, axes 2,1,0\n", r"(?s)( verified\n.*?){10}"]),
    ("permutation", ["--table=4", "--block=2", "--repeat=1"], {"table": ["4"], "volume": ["10x10x10x10x10x10"]},
        ["Table 4: 6D, axes 5,4,3,2,1,0\n"]),
    ("permutation", ["--volume=6,4,2,8", "--axes=1,3,0,2", "--block=2"], {"axes": ["1,3,0,2"], "side": ["2"]},
        ["axes 1,3,0,2"]),
    ("local-memory", PARTS,
     {"part": ["filter", "transpose", "stencil", "atomics", "refine"], "scope": ["device", "group"],
      "version": [*FILTERS, *TURNS[1:], *STENCILS, *FUNCTIONS, *REFINED],
      "quantity": ["copy_GB/s", "time_ms", "rate_GB/s", "rate_Gflop/s", "rate_Gop/s", "rate_Gcells/s"]},
     ["copy of 67.1 MB on the device: ", r"(?s) 37x45 .* 19x19 .* 169 of 13x13 ", "system scope .* not in OpenCL 1.2"]),
    ("local-memory", ["--part=filter", "--length=5001", "--block=64"], {"version": FILTERS,
        "size": ["5001", "4992", "4962"]}, []),
    ("local-memory", ["--part=filter", "--length=127", "--block=64"], {"version": FILTERS,
        "size": ["127", "64", "126"]}, []),
    ("local-memory", ["--part=filter", "--length=63", "--block=64"], {"version": FILTERS[:3:2] + FILTERS[4:],
        "size": ["63"]},
     ["(?s)(not for fewer elements than a block of 64.*?){2}"]),
    ("local-memory", ["--part=atomics", "--operations=5000", "--block=64"],  # no group of 64 has 256 words
     {"version": FUNCTIONS, "words": ["1", "32", "1024", "65536", "8"], "size": ["5120", "8192"]}, []),
    ("deposit", ["--per-cell=4,64,1024"],
     {"per_cell": ["4", "64", "1024"], "cells": ["32x32", "8x8", "2x2"], "method": METHODS, "shape": ["cic"],
      "quantity": ["copy_GB/s", "time_ms", "particle_ns", "rate_GB/s", "speedup"]}, ["copy of 67.1 MB on the device",
          r"(?s)( verified\n.*?){12}"]),
    ("deposit", ["--shape=ngp,cubic", "--precision=double", "--per-cell=100"],
     {"shape": ["ngp", "cubic"], "precision": ["double"], "per_cell": ["128"]}, []),
    ("deposit", ["--particles=100", "--repeat=1"], {"cells": ["8x8", "8x4", "4x4", "4x2", "2x2"]}, []),
    ("layout", ["--arrays=64,192"],
     {"operation": ["prefix-sum", "bubble-sort", "bitonic-sort"], "input": ["ones", "s", "d", "random"],
         "type": ["int"],
      "L": ["64", "192"], "N": ["32"], "layout": ["row-wise", "column-wise"], "quantity": ["copy_GB/s", "time_ms",
          "ratio"]},
     ["of the paper's tables I II III IV\n", r"(?s)( verified(: on the host)?\n.*?){24}"]),
    ("layout", ["--table=all", "--arrays=64", "--repeat=1"],
     {"type": ["int", "float", "double"], "layout": ["transpose", "row-wise", "column-wise", "transposed",
         "quicksort"]}, []),
    *[("layout", [*options, "--arrays=64", "--repeat=1"], {}, [f"of the paper's tables {numbers}\n"]) for numbers,
        *options in (
        ("V XIII", "--table", "XIII,5"), ("II III", "--operation", "bubble-sort"), ("III", "--operation=bubble-sort",
            "--input", "d"),
        ("I II IV", "--input=s"), ("I V VI XIII", "--table=all", "--operation=prefix-sum"))],
    *[("layout", ["--table=1,2,13,15", "--operation=prefix-sum,bubble-sort", f"--length={length}", f"--type={kind}",
        "--arrays=64"],
       {"N": [str(length)], "type": [kind]}, []) for length, kind in ((1, "float"), (77, "int"))],
    ("step", SMALL_STEP, {"cells": ["16x16"], "N": ["4096"], "steps": ["5"], "hot": ["no"]},
     [r"(?m)^verified: all 4096 particles are in the cells, .* in 36 steps$", "16 a cell", "bytes a particle",
         "M particle-steps/s"]),
    ("step", ["--particles=5003", "--cells=12x8", "--steps=2", "--repeat=1", "--shape=tsc", "--method=radix",
        "--sort=paper", "--hot"],
     {"cells": ["12x8"], "shape": ["tsc"], "method": ["radix"], "sort": ["paper"], "hot": ["yes"], "N": ["5003"]},
     ["half of them in one", r"(?m)^method: radix; sort: .* method paper$"]),
    ("step", [*SMALL_STEP, "--method=tiled", "--length=6.2832"], {"method": ["tiled"]}, []),
    ("step", [*SMALL_STEP, "--method=chunked"], {"method": ["chunked"]}, []),
    *[("step", ["--cells=8", f"--particles={count}", "--steps=1", "--repeat=1"], {},
       [r"(?m)^verified: .* in \d+ steps; too few a cell to judge the field of the wave$"]) for count in (1, 100)],
    ("step", ["--sweep", "--min-particles=16384", "--max-particles=40000", "--steps=2"],
     {"cells": ["32x32", "64x64"], "N": ["16384", "32768"]}, []),  # at least 8 a cell
]  # fmt: skip


ARRAYS = "expected a whole number from 64 to 16777216, or paper, found "
# Bench, options, words of the refusal (exit code 2): an option's name stands for its value too.
REFUSED = [
    *[("pic-sort", [option], option.split("=")) for option in (
        "--particles=0 --particles=many --particles=1e-6 --cells=1 --key-bits=0 --key-bits=33 --radix-bits=0 "
        "--items=-1 --groups=0 --splits=x --repeat=0 --repeat=1.5 --transpose=maybe --method=quick "
        "--table=diagonal").split()],
    ("pic-sort", ["--key-bits=9"], ["--key-bits 9", "10 bits"]),  # 1024 cells need 10
    ("pic-sort", ["--items=4096", "--radix-bits=12"], ["items_per_group (I) = 4096"]),
    ("pic-sort", ["--table=rows", "--table=rows"], ["--table: rows is given twice"]),
    ("pic-sort", ["--method=paper", "--method=chunked"], ["--method is given twice"]),
    ("pic-sort", [f"--key-bits={bits}" for bits in range(10, 19)], ["--key-bits: expected at most 8 numbers"]),
    ("pic-sort", ["--key-bits=10,20", "--key-bits=10"], ["--key-bits: 10 is given twice"]),
    *[("pic-sort", [f"--method={method}", option], [option.split("=")[0],
        "is of --method paper alone, which is left out"])
      for method in ("tiled", "chunked")
      for option in (
        "--table=rows --table=auto --items=4 --groups=4 --splits=4 --transpose=on --transpose=off").split()],
    *[("random-lists", [option], option.split("=")) for option in (
        "--sizes=0 --sizes=10, --sizes=1e-6 --key-bits=31 --key-bits=0 --method=quick --radix-bits=17 "
        "--table=row").split()],
    ("random-lists", ["--sizes=" + ",".join(str(n) for n in range(1, 18))], ["--sizes: expected at most 16 numbers"]),
    ("random-lists", ["--sizes=5,6,5"], ["--sizes: 5 is given twice"]),
    ("random-lists", ["--table=rows", "--table=columns"], ["--table is given twice"]),
    *[("random-lists", ["--method=tiled", "--method=chunked", option], [option.split("=")[0],
        "is of --method paper alone, which is left out"])
      for option in "--table=auto --items=4 --groups=4 --splits=4 --transpose=on --radix-bits=5".split()],
    *[("permutation", ["--volume=8,12,20", option], option.split("=")[:1]) for option in (
        "--table=6 --table=1 --block=3 --block=1 --block=0 --block=four --axes=0,1 --axes=0,1,3 --axes=0,1,1 "
        "--axes=0,1,9 --axes=0 --axes=2,1,0,3").split()],
    *[("permutation", [f"--volume={sides}"], ["--volume"]) for sides in "8 8, 8,x 5,7 2,2,2,2,2,2,2,2,2".split()],
    ("permutation", ["--volume=65536,65536", "--block=4"], ["--volume"]),
    ("permutation", ["--volume=8,12,20", "--block=2,4,2"], ["--block: 2 is given twice"]),
    ("permutation", ["--volume=1024,1024", "--block=1024"], ["local memory", "smaller cell"]),
    ("permutation", ["--table=4", "--block=3"], ["--block"]),
    ("permutation", ["--table=1", "--axes=3,2,1,0"], ["--axes"]),
    ("permutation", ["--axes=0,1"], ["--axes: no table is of 2 dimensions"]),
    *[("local-memory", [option], option.split("=")) for option in (
        "--part=sort --part=product --length=2 --length=1e-6 --cells=0 --product=0 --operations=0 "
        "--coarse=2049 --block=2 --block=1025").split()],
    *[("local-memory", [f"--part={other}", option], [option.split("=")[0],
        f"is of --part {parts} alone, which is left out"])
      for option, other, parts in (
          ("--length=100", "refine", "filter"), ("--cells=100", "filter", "transpose or stencil"), ("--product=9",
              "filter", "stencil"),
          ("--operations=9", "stencil", "atomics"), ("--coarse=9", "atomics", "refine"), ("--block=9", "refine",
              "filter or atomics"))],
    *[("step", [option], option.split("=")) for option in (
        "--particles=0 --cells=1 --length=0 --length=1e300 --length=1e-300 --length=nan --shape=square "
        "--precision=half --method=slow --sort=quick --steps=0 --repeat=x --max-particles=-1").split()],
    *[(name, [f"--cells={text}"], ["--cells: expected a whole number from", f"in {text}"]) for name,
        text in (("local-memory", "4x"), ("step", "8x"), ("step", "axb"), ("step", "8x8x8"))],
    ("step", ["--sweep", "--cells=32"], ["--cells"]),
    ("step", ["--sweep", "--particles=4096"], ["--particles"]),
    ("step", ["--max-particles=4096"], ["--sweep"]),
    ("step", ["--sweep", "--max-particles=4096"], ["--min-particles"]),
    ("step", ["--sweep", "--min-particles=5", "--max-particles=7"], ["power of two"]),
    ("step", ["--cells=16384"], ["--cells: expected at most 67108864 cells, found 16384x16384 = 268435456"]),
    *[("deposit", [option], option.split("=")[:1]) for option in (
        "--particles=3", "--particles=1e-6", "--per-cell=0", "--shape=cid", "--shape=cic,", "--precision=half",
        "--per-cell=200000", "--per-cell=" + ",".join(["5"] * 33))],
    ("deposit", ["--particles=524288", "--per-cell=64,8,7"],
     ["--per-cell", "8 and 7 make the same grid of 256x256 cells, with 8 particles in each"]),
    ("deposit", ["--per-cell=8,"], ["--per-cell: expected a whole number from 1 to 536870912, found nothing in 8,"]),
    ("deposit", ["--particles=2147483648", "--per-cell=1"], ["--per-cell", "67108864 cells"]),
    *[("scaling", [option], option.split("=")) for option in (
        "--particles=0 --cells=7 --steps=0 --repeat=x --decomposition=pencils --precision=half "
        "--shape=square").split()],
    ("scaling", ["--cells=16384"], ["--cells"]),
    ("scaling", ["--strong", "--weak"], ["does not go with"]),
    ("scaling", ["--strong", "--same-box"], ["does not go with"]),
    *[("layout", [option], option.split("=")[:1]) for option in (
        "--table=XVIII", "--table=0", "--table=1,", "--operation=sort", "--input=x", "--type=long", "--arrays=0",
            "--arrays=100",
        "--length=0", "--length=1e-3", "--length=1000", "--arrays=" + ",".join(str(64 * n) for n in range(1, 18)))],
    *[("layout", [f"--arrays={text}"], [f"--arrays: {sentence}"]) for text, sentence in (
        ("64,", f"{ARRAYS}nothing in 64,"), ("64,,128", f"{ARRAYS}nothing in 64,,128"), ("64,65",
            "65 is not a multiple of 64"),
        ("63", f'{ARRAYS}"63"'), ("64,128,64", "64 is given twice"), ("0" * 80 + "64", f'{ARRAYS}"000000'))],
    ("layout", ["--length=1000", "--table=4"], ["power of two", "Table IV"]),
    ("layout", ["--table=1", "--operation=bubble-sort"], ["--table", "--operation"]),
    ("layout", ["--input=s", "--operation=prefix-sum"], ["--input is of bubble-sort alone"]),
    ("layout", ["--input=d", "--table=1,4"], ["--input is of bubble-sort alone"]),
    ("layout", ["--type=double", "--table=5,VI"], ["--type", "of all three types"]),
    ("layout", ["--arrays=65536", "--length=65536", "--table=1"], ["--arrays", "2^32"]),
    *[(name, ["more"], ['unexpected argument "more"']) for name in SMALL],
]  # fmt: skip

# Bench, options, the kernels' changes as (file, what is replaced by what, a row that is not verified), what the table
# says, the sentence (exit code 1). A change that only its own rows show is made together with others. What only CPUs
# launch is changed for a CPU.
WRONG = [
    ("random-lists", ["--sizes=4096", "--method=paper"],
     [("radix_sort.cl", "(key >> shift) &", "~(key >> shift) &", "method=paper")], "not sorted", "not sorted rightly"),
    ("pic-sort", ["--no-host"], [("radix_sort.cl", "(key >> shift) &", "~(key >> shift) &", "method=paper")],
     "not sorted, ", "a sort returned a wrong result"),
    ("permutation", ["--volume=8,12,20"], [("ndpa.cl", "place_by((map) + INSIDE, (e))", "(e)", "kernel=CB")], "",
     "not permuted rightly"),
    ("local-memory", PARTS,
     [("shared/tile.h", "tile[fast * stride + k]", "tile[k * stride + fast]", "part=transpose version=through_tiles"),
      ("local_memory.cl", "tile_a[y][k]", "tile_a[y][0]", "part=stencil version=product,_loop"),
      ("shared/local_memory.h", "atomic_sub(at", "atomic_add(at", "part=atomics version=sub"),
      ("shared/local_memory.h", "atomic_xchg(at, n + 1)", "atomic_xchg(at, n)", "part=atomics version=xchg"),
      ("local_memory.cl", "sums[item] += ", "sums[item] = ", "part=refine"),
      ("local_memory.cl", "middle * 0.5f", "middle", "part=filter")], "", "a result is not that of the host"),
    *[("deposit", ["--particles=512", "--per-cell=8", "--device=cpu"], changes, "node", "not the host's")
      for changes in (
        [("deposit.cl", "int a = (int)(n / DEPOSIT_NODES), b", "int b = (int)(n / DEPOSIT_NODES), a", "method=sorted"),
         ("deposit_atomic.cl", "along_x[a] * along_y[b]", "along_x[b] * along_y[a]", "method=atomic")],
        [("deposit_atomic.cl", "keys[p]", "keys[0]", "method=atomic")])],
    ("layout", ["--table=2,13", "--arrays=64"],
     [("shared/layout.h", "if (a > b)", "if (a < b)", "operation=bubble-sort"),
      ("shared/tile.h", "out[(size_t)column ", "out[(size_t)(columns - 1 - column) ", "layout=transpose")], "",
     "not the host's"),
    *[("step", [*SMALL_STEP, "--repeat=1", "--method=tiled", "--device=cpu"], [(*change, "method=tiled")], words,
       "a step left a wrong result") for *change, words in (
        ("shared/motion.h", "PRODUCT_SUM(kick", "PRODUCT_SUM(-kick", "the energy drifted"),
        ("deposit.cl", "set ? factor", "set ? (real)0.9 * factor", "the charge on the grid differs"),
        ("shared/modes.h", "k * phi.", "3 * k * phi.", "the field of the wave"))],
    # the energy swings, and after so many steps is near what it was at first
    *[("step", ["--particles=4096", "--cells=16", f"--steps={steps}", f"--method={method}"],
       [("shared/motion.h", "PRODUCT_SUM(kick", "PRODUCT_SUM(-kick", f"method={method}")],
       "the energy drifted", "a step left a wrong result") for steps, method in ((18, "tiled"), (20, "chunked"))],
]  # fmt: skip


class Benches(BenchTest):
    def test_runs(self):
        pictured = set()
        for name, arguments, words, patterns in RUNS:
            with self.subTest(name=name, arguments=arguments):
                text, rows = self.bench_well(name, *arguments)
                for key, expected in words.items():
                    self.assertEqual(of(rows, key), expected, key)
                for pattern in patterns:
                    self.assertRegex(text, pattern)
                self.assertEqual(sorted(os.listdir(self.folder)), ["bench.csv", "small.yaml"])
                if name not in pictured:
                    self.assert_pictured()
                    pictured.add(name)

    def assert_pictured(self):
        """The script reads what the bench has written."""
        result = self.run_script("plot_bench.py", "bench.csv", "-o", "bench.png")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assert_picture("bench.png")

    def test_refused(self):
        for name, arguments, words in REFUSED:
            with self.subTest(name=name, arguments=arguments):
                result = self.bench(name, *arguments)
                self.assert_refused(result, 2, *words)
        self.assertLessEqual(set(os.listdir(self.folder)), {"bench.csv", "small.yaml"})

    def test_wrong_results(self):
        for name, arguments, changes, said, sentence in WRONG:
            with self.subTest(name=name, changes=changes):
                result = self.bench(name, *arguments, environment=self.with_kernels(*(one[:3] for one in changes)))
                self.assert_refused(result, 1, sentence)
                self.assertRegex(result.stdout, f"NOT VERIFIED.*{said}")
                wrong = [line for line in self.read("bench.csv").decode().splitlines() if line.endswith(",no")]
                for *_, row in changes:
                    self.assertTrue(any(row in line for line in wrong), (row, wrong))

    def test_files_that_cannot_be_written(self):
        """A path that cannot be opened, in every bench before it measures; a full disk in one."""
        for name in SMALL:
            with self.subTest(name=name):
                result = self.bench(name, "--csv=no/such/folder.csv")
                self.assert_refused(result, 1, "--csv", "no/such/folder.csv", "No such file")
                self.assertEqual(result.stdout, "")
        for option in ("--csv", "--write-keys"):
            for path, word in (("no/such/folder", "No such file"), ("/dev/full", "No space left")):
                with self.subTest(option=option, path=path):
                    self.assert_refused(self.bench("pic-sort", f"{option}={path}"), 1, option, path, word)

    def test_help(self):
        """All options of many tests/cli/test_command_line.py has."""
        overview = self.run_well("bench", "--help").stdout
        for name in SMALL:
            text = " ".join(self.run_well("bench", name, "--help").stdout.split())
            self.assertRegex(overview, rf"(?m)^  {name} ")
            for word in ("Examples:", f"radixpic bench {name}", "--csv", "--device", "--repeat"):
                self.assertIn(word, text)

    def test_an_unknown_experiment(self):
        result = self.run_program("bench", "pic-sot")
        self.assert_refused(result, 2, "did you mean pic-sort?", "deposit, scaling, layout")
        self.assertNotIn("--help", result.stderr)

    def test_without_a_file(self):
        self.run_well("bench", "pic-sort", "--particles", "100", "--repeat", "1", "--device", DEVICE)
        self.assert_nothing_created()
