"""Malformed input: every key of the schema with values that are wrong for it, and command lines and files that are
wrong as a whole. Each is refused with exit code 2 and a line that names the culprit; nothing crashes, hangs or is
created."""

import os
import re
import signal
import subprocess
import tempfile
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from program import PROGRAM, ROOT, TIMEOUT

LONG = 5000  # characters: more than any text may have

# Its echo has every key once; two species, because some keys exclude one another.
ALL = """\
grid: {cells: [16, 8], length: [6, 4]}
time: {step: 0.1, steps: 5}
species:
  - {name: quiet, charge: -1, mass: 1, density: 1, particles: 64, velocities: {kind: maxwellian, dimensions: 3},
     perturb: {density: [{axis: x, mode: 1, amplitude: 0.1}], displacement: [{axis: y, mode: 1, amplitude: 0.1}]}}
  - {name: even, charge: 1, mass: 1836, density: 1, particles: 12, positions: {kind: lattice, counts: [4, 3]},
     velocities: {kind: uniform, range: [[0, 1], [0, 1]]}}
fields: {drive: [{axis: x, mode: 1, amplitude: 0.1, frequency: 1}]}
collisions: [{species: [quiet, quiet]}]
output:
  history: {modes: [[1, 0]]}
  snapshots: {particles: {every_nth: 2}}
  phase_space: [{species: quiet, axes: [{axis: x, bins: 8, range: [0, 6]}], order: [x]}]
  probes: [{name: centre, at: [3, 2], fields: [E]}]
  lines: [{name: across, from: [0, 1], to: [6, 2], points: 9, fields: [E]}]
  tracks: {species: quiet, ids: [1]}
"""


def read_echo():
    """ALL as the program prints it, without its comments."""
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        file.write(ALL)
        file.flush()
        text = subprocess.run([PROGRAM, "check", "--full", file.name], capture_output=True, text=True, check=True)
    return re.sub(r"(?m)^#.*\n| +#.*$", "", text.stdout.split("\n\n")[1])


KEYS = read_echo()

NOT_A_SCALAR = ["[1]", "{a: 1}", "[]", "{}", "[[1, 2], [3, 4]]", ""]
NOT_A_NUMBER = [
    *["ten", "true", "nan", ".nan", "inf", "-.inf", "1,5", "0x10", "1e999", "1e-999", '"3"', "'3'", "3 4", "3x", "--3"],
    *["~", "null", "''", "%n%n%s", "$(id)", "٣", '"\\x00"', "1e", ".", "+", "-", "!!int 3", "*a", "2026-11-21"],
]
NOT_A_FORMULA = ["ten", "nan", "1e999", "3 4", "3x", "z", "x = 1", "sin(", "1/0*", "x^", "'x, y'", "0x10", "1;2", "٣"]
NOT_A_FORMULA.append("x+" * LONG)
NOT_WHOLE = ["1.5", "1e-2", "-0", "1_000", "0o17", "18446744073709551616", "9" * LONG]


def read_table():
    """The good config of malformed_configs.txt, and its cases (where, text, how the message begins), as bytes."""
    schema = read_schema()

    def plain(text):
        codes = {b"n": b"\n", b"t": b"\t", b"\\": b"\\"}
        return re.sub(rb"\\(x..|.)", lambda found: codes.get(found[1]) or bytes.fromhex(found[1][1:].decode()), text)

    lines = (ROOT / "tests" / "cli" / "malformed_configs.txt").read_bytes().split(b"\n")[:-1]
    lines = [line for line in lines if not line.startswith(b"#")]
    end = lines.index(b"---")
    cases = (line.split(b" | ") for line in lines[end + 1 :])
    def filled(message):
        return re.sub(r"<(\w+\.\w+)>", lambda found: schema[found[1]][2], message.decode())

    return lines[:end], [(where, plain(text), filled(message)) for where, text, message in cases]


def place_of(where, text, message):
    """LINE:COLUMN of the mark in the text or before the message, and the message without it."""
    if found := re.match(r"(\d+:\d+) ", message):
        return found[1], message[found.end() :]
    before, mark, _ = text.partition(b"@")
    assert mark or where == b"set", text
    line = (int(where) or 1 if where != b"set" else 1) + before.count(b"\n")
    column = sum(byte & 0xC0 != 0x80 for byte in before.rpartition(b"\n")[2]) + 1  # in characters
    return f"{line}:{column}", message


class Line:
    """One key of KEYS: its line, its dotted path in messages, and its row of `radixpic check --keys`."""

    def __init__(self, number, indent, key, path, row, value):
        self.number, self.indent, self.key, self.path, self.row, self.value = number, indent, key, path, row, value
        self.pattern = rf"\b{re.escape(path)}\b"
        if row.endswith("[].name"):  # while that is wrong, the item has its number for a name, or the wrong one
            self.pattern = rf"\b{re.escape(row[:-7])}\..*\.name\b"


def read_keys():
    """The lines of KEYS."""
    lines, above = [], []  # above: (indent, segment of the path, segment of the row) of the groups and items
    for number, text in enumerate(KEYS.splitlines(), 1):
        dash = re.match(r" *- ", text)
        indent = len(dash[0]) if dash else len(text) - len(text.lstrip())
        while above and above[-1][0] >= (len(dash[0]) - 2 if dash else indent):
            above.pop()
        key, _, value = text[indent:].partition(":")
        if dash:
            name = value.strip() if key == "name" else str(sum(line.row == f"{above[-1][2]}[]" for line in lines))
            above.append((indent - 2, f"{above[-1][1]}.{name}", f"{above[-1][2]}[]"))
        path, row = (f"{above[-1][n]}.{key}" if above else key for n in (1, 2))
        lines.append(Line(number, indent, key, path, row, value.strip() or None))
        if not value.strip():
            above.append((indent, path, row))
    return lines


def read_schema():
    """{row: (type, default, allowed)} of the program's own list of keys."""
    text = subprocess.run([PROGRAM, "check", "--keys"], capture_output=True, text=True, check=True).stdout
    header, *lines = text.splitlines()
    at = [header.index(word) for word in ("key", "type", "default", "allowed", "unit")]
    return {line[: at[1]].strip(): tuple(line[a:b].strip() for a, b in zip(at[1:], at[2:])) for line in lines}


def outside(allowed):
    """Numbers just outside of what the schema allows."""
    if found := re.search(r"from (-?\d+) to (-?\d+)", allowed):
        return [str(int(found[1]) - 1), str(int(found[2]) + 1), "-99999999999"]
    if "above 0" in allowed:
        return ["0", "-0.1", "-0", "-1e300"]
    if found := re.search(r"at least (\d+)", allowed):
        return [str(int(found[1]) - 0.25), "-1e300"]
    return []


def wrong_values(kind, allowed):
    """Values that a key of this type must refuse."""
    numbers = NOT_A_NUMBER + outside(allowed) + (NOT_WHOLE if re.search("count|integer", kind) else [])
    if "formula" in kind:
        numbers = NOT_A_FORMULA
    if kind == "1 or 3 numbers":
        return [word for word in numbers + NOT_A_SCALAR if word] + ["[1, 2]", "[1, 2, x]", "[1, 2, [3]]"]
    if shape := re.match(r"(?:\d or )?(?:(\d) x )?(\d) (counts|numbers|integers|formulas)", kind):
        one = numbers + [word for word in NOT_A_SCALAR if word != "[1]"]
        two_or_three = " or 3 " in kind  # of which [1, 1,5] is one
        lists = [f"[1, {word}]" for word in one if word and not (two_or_three and word == "1,5")]
        lists += ["1", "[1]", "[1, 1, 1, 1]" if two_or_three else "[1, 1, 1]", "{a: 1}", "[]", "", "text"]
        return lists if not shape[1] else [*lists, "[[0, 1]]", "[[0, 1], [0, 1], [0, 1]]", "[[0, 1], [1, 0]]", "[0, 1]"]
    if kind in ("count", "number", "formula"):
        return numbers + NOT_A_SCALAR
    if kind == "bool":
        return [*NOT_A_SCALAR, "yes", "on", "True", "1", "0", "nan", '"tru"', "truefalse"]
    if kind == "choice":
        first = re.split(r"[, ]", allowed)[0]
        near = ["nonsense", first.upper(), first + "x", first[:-1] or "?", f'" {first}"', "-1", "*", "9" * LONG]
        return [*NOT_A_SCALAR, *near]
    if kind == "list":
        return ["1", "text", "{a: 1}", "[1.5]", "[text]", "[[]]", "[~]", "[" + "{}, " * 40 + "{}]"]
    empty = ["''", '""'] if "text of 1" in allowed or kind == "name" else []
    names = ["1x", "a b", "a.b", "é", "a-b", "x" * 64] if kind == "name" else []
    breaks = [] if "on one line" not in allowed and kind != "name" else ['"a\\nb"', '"\\e[31m"', '"\\u2028"']
    return [*NOT_A_SCALAR, *empty, *names, *breaks, '"\\0"', "x" * LONG]


class Refused(unittest.TestCase):
    """Cases run some at a time, each with a config of its own in one folder and an empty folder to run in. Where there
    are many, the program takes every `step`th: all of them are the library's in tests/library/test_refusals.py."""

    step = 10

    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.configs, self.here = Path(holder.name) / "configs", Path(holder.name) / "here"
        self.configs.mkdir()
        self.here.mkdir()
        self.count = 0

    def config(self, text):
        self.count += 1
        path = self.configs / f"{self.count}.yaml"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    def run_one(self, arguments):
        try:
            return subprocess.run([PROGRAM, *map(str, arguments)], cwd=self.here, capture_output=True, timeout=TIMEOUT)
        except subprocess.TimeoutExpired:
            return None

    def assert_all_refused(self, cases, at_least):
        """Cases of (what, arguments, pattern that a line of the message matches)."""
        self.assertGreaterEqual(len(cases), at_least)
        cases = cases[:: self.step] if at_least >= 80 else cases
        with ThreadPoolExecutor(4) as pool:
            results = list(pool.map(lambda case: self.run_one(case[1]), cases))
        for (what, arguments, pattern), result in zip(cases, results):
            with self.subTest(what=what[:200]):
                self.assertIsNotNone(result, "hangs")
                said = result.stderr.decode(errors="replace")
                if result.returncode < 0:
                    self.fail(f"{signal.Signals(-result.returncode).name}: {said}")
                self.assertEqual((result.returncode, result.stdout), (2, b""), said)
                self.assertRegex(said, re.compile(pattern, re.MULTILINE))
                self.assertLessEqual(max(map(len, said.splitlines())), 1000)
                self.assertNotRegex(said, r"\x1b|\x00")  # nothing that upsets a terminal
        self.assertEqual(os.listdir(self.here), [])


class Keys(Refused):
    lines = read_keys()

    def setUp(self):
        super().setUp()
        self.schema = read_schema()

    def changed(self, line, *replacement):
        """KEYS with the line, and what lies below it, replaced."""
        texts = KEYS.splitlines()
        end = line.number
        while end < len(texts) and len(texts[end]) - len(texts[end].lstrip(" -")) > line.indent:
            end += 1
        return "\n".join([*texts[: line.number - 1], *replacement, *texts[end:], ""])

    def with_value(self, line, value):
        dash = KEYS.splitlines()[line.number - 1][: line.indent]
        return self.changed(line, f"{dash}{line.key}: {value}")

    def test_the_keys_are_those_of_the_program(self):
        """So a new key is tested or missed here."""
        items = {row for row in self.schema if row.endswith("[]")} | {"output.snapshots.particles.fraction"}
        items |= {"constants"}  # malformed_configs.txt
        items |= {"fields.speed_of_light", "fields.mean"}  # test_electromagnetic.py
        items |= {"fields.initial.E", "fields.initial.B"}  # test_electromagnetic.py
        items |= {"fields.initial.file", "fields.initial.place"}  # test_field_files.py
        items |= {"species[].positions.file", "species[].positions.place"}  # test_species_files.py
        rows = {line.row for line in self.lines if self.is_value(line)} | items
        self.assertEqual(rows, set(self.schema))
        self.assertEqual(self.run_one(["check", self.config(KEYS)]).returncode, 0)

    def is_value(self, line):
        return line.value is not None or line.row in self.schema

    def wrong(self, line):
        kind, _, allowed = self.schema[line.row]
        return wrong_values(kind, allowed)

    def values(self):
        return filter(self.is_value, self.lines)

    def test_wrong_values(self):
        """Of the values of a type each key meets every third one, the next keys the others; and its own bounds."""
        cases = []
        for line in self.values():
            for value in [*self.wrong(line)[line.number % 3 :: 3], *outside(self.schema[line.row][2])]:
                path = self.config(self.with_value(line, value))
                # a YAML error has a place and no key; all else names both
                place = rf"^{re.escape(str(path))}:\d+:\d+: (.*{line.pattern}|YAML syntax: .*|.*(alias|tag|character))"
                cases.append((f"{line.path}: {value}", ["check", path], place))
        self.assert_all_refused(cases, 800)

    def test_the_same_by_set(self):
        """The values are read by the same function: a few of each key."""
        path = self.config(KEYS)
        words = [
            (line.path, f"{line.path}={value}")
            for line in self.lines
            if line.value is not None and line.row != "species[].name"
            for value in self.wrong(line)[line.number % 4 : 12 : 4]
        ]
        cases = [(word, ["check", path, "--set", word], rf"--set {re.escape(key)}\b") for key, word in words]
        self.assert_all_refused(cases, 300)

    def test_groups_that_are_none(self):
        cases = []
        for line in self.lines:
            for value in () if self.is_value(line) else ("1", "text", "[1]", "true"):
                path = self.config(self.with_value(line, value))
                cases.append((f"{line.path}: {value}", ["check", path], rf":\d+:\d+: {re.escape(line.path)}\b"))
        self.assert_all_refused(cases, 80)

    def test_unknown_neighbours_and_twins(self):
        cases, whole_path, whole = [], self.config(KEYS), KEYS.splitlines()

        def put(line, *texts):
            return self.config("\n".join([*whole[: line.number - 1], *texts, *whole[line.number :], ""]))

        for line in self.lines:
            text, spaces = whole[line.number - 1], " " * line.indent
            # before the key, or behind the dash that it stands behind
            dash = text[: line.indent] if "-" in text[: line.indent] else spaces
            path = put(line, f"{dash}{line.key}q: 1", spaces + text[line.indent :])
            unknown = rf"^{re.escape(str(path))}:\d+:\d+: .*{line.key}q: unknown key"
            cases.append((f"{line.path}q", ["check", path], unknown))
            if line.value is not None:
                path = put(line, text, f"{spaces}{line.key}: {line.value}")
                cases.append((f"{line.path} twice", ["check", path], rf":\d+:\d+: .*\b{line.key}\b.*twice"))
            cases.append((f"--set {line.path}q", ["check", whole_path, "--set", f"{line.path}q=1"], r"--set"))
        self.assert_all_refused(cases, 150)

    def test_required_keys_that_are_missing(self):
        cases = []
        for line in self.values():
            is_first = "-" in KEYS.splitlines()[line.number - 1][: line.indent]
            if self.schema[line.row][1] == "required" and not is_first:
                path = self.config(self.changed(line))
                cases.append((f"no {line.path}", ["check", path], rf"{re.escape(line.path)}.*(missing|give)"))
        self.assert_all_refused(cases, 12)

    def test_run_refuses_what_check_does(self):
        cases = []
        for line in filter(self.is_value, self.lines[::6]):
            path = self.config(self.with_value(line, self.wrong(line)[0]))
            for options in ([], ["--force", "--quiet"]):
                cases.append((f"run {line.path}", ["run", path, *options], line.pattern))
        self.assert_all_refused(cases, 20)


class Files(Refused):
    def test_the_table_of_malformed_configs(self):
        """Each has one error, at the place of its row."""
        good, rows = read_table()
        self.assertEqual(self.run_one(["check", self.config(b"\n".join(good) + b"\n")]).returncode, 0)
        cases = []
        for where, text, message in rows:
            place, message = place_of(where, text, message)
            text = text.replace(b"@", b"", 1) if where != b"set" else text
            replaced = [*good] if where == b"set" else [*good[: int(where) - 1], text, *good[int(where) :]]
            path = self.config(text if where == b"0" else b"\n".join(replaced) + b"\n")
            options = ["--set", os.fsdecode(text)] if where == b"set" else []
            if options:
                shown = text.decode(errors="backslashreplace").replace("\n", r"\x0A")
                pattern = rf"(?i)\Aradixpic: --set {re.escape(shown)}: {re.escape(message)}"
            else:
                pattern = rf"\A{re.escape(str(path))}:{place}: {re.escape(message)}.*\n\Z"
            cases.append((str(text), ["check", path, *options], pattern))
        self.assert_all_refused(cases, 150)

    def test_texts_that_are_no_config(self):
        least = b"grid: {cells: [8, 8], length: [1, 1]}\ntime: {step: 0.1, steps: 1}\n"
        species = b"{name: %s, charge: -1, mass: 1, density: 1, particles: 8}"
        unknown = b"".join(b"key%d: 1\n" % n for n in range(20000))
        doubled = b"".join(b"%c: &%c [*%c, *%c]\n" % (c, c, c - 1, c - 1) for c in range(98, 122))
        texts = {
            "two documents": least + b"species: [" + species % b"e" + b"]\n---\n" + least,
            "bytes": bytes(range(256)),
            "NULs": bytes(4096),
            "half of UTF-16": "title: a\n".encode("utf-16")[:-1],
            "an ELF file": b"\x7fELF\x02\x01\x01" + bytes(64),
            "deep lists": b"title: " + b"[" * 20000,
            "deep closed lists": b"title: " + b"[" * 5000 + b"]" * 5000,
            "deep mappings": b"{a: " * 20000,
            "deep dashes": b"- " * 20000,
            "a growing alias": b"a: &a [x, x]\n" + doubled,
            "a key of a terminal": least + b'"\\e[31mred": 3\n',
            "a key of formats": least + b"'%n%s%1000000d': 3\n",
            "a long key": least + b"k" * 100000 + b": 3\n",
            "many unknown keys": least + unknown,
            "and a lattice without counts before them": least
            + (b"species: [" + species.replace(b"{", b"{positions: {kind: lattice}, ") % b"e" + b"]\n" + unknown),
            "many species": least + b"species: [" + b", ".join(species % b"e%d" % n for n in range(17)) + b"]\n",
            "more than a MiB": b"#" + b"x" * (1 << 20) + b"\n",
            "shell": b"$(touch here)\n`touch here`\n",
        }
        given = [(what, self.config(text)) for what, text in texts.items()]
        cases = [(what, [command, path], r"^.*\d\.yaml:.") for what, path in given for command in ("check", "run")]
        self.assert_all_refused(cases, 36)

    def test_files_that_are_no_text(self):
        (self.configs / "folder.yaml").mkdir()
        (self.configs / "loop").symlink_to("loop")
        (self.configs / "dangling").symlink_to("nowhere")
        names = ["folder.yaml", "loop", "dangling", "missing.yaml", "x" * 300, "a/b", "", "new\nline", "$(id)", "%s%n"]
        paths = [self.configs / name for name in [*names, "é"]] + ["/dev/null", "/dev/zero", "", " ", "x" * 5000]
        cases = [(str(path), [command, path], ".") for path in paths for command in ("check", "run")]
        self.assert_all_refused(cases, 30)

    def test_every_cut_of_a_config(self):
        """Half a file is no config, whatever is missing: the last group that the least one needs is the species."""
        text = KEYS[: KEYS.index("    positions:")]
        end = text.index("    particles: 64") + len("    particles: 6")
        cases = [(text[:size][-40:], ["check", self.config(text[:size])], r"\.yaml:") for size in range(0, end - 1, 2)]
        self.assert_all_refused(cases, 100)


class CommandLines(Refused):
    step = 1  # which the library has not

    def test_words(self):
        path = self.config(KEYS)
        good = ["run", path]
        values = ["", "-1", "1.5", "1e-3", "0x10", "ten", "99999999999999999999", " 3", "3 ", "+3", "--", "٣", "3\n"]
        options = ["--stepz", "-Z", "---", "--set-", "--unknown", "extra.yaml", "$(id)", ";", "x" * LONG]
        words = ["rum", "", " run", "RUN", "-h1", "--", "-", "run;id", "$(id)", "run\n", "é", "--helpp", "%n%s"]
        settings = [
            *["", "=", ".steps=3", "time.=3", "time.steps.more=3", "grid.cells.0.0=3", "species=1", "species.quiet=1"],
            *["output.history.modes.9=[1, 0]", "time.steps=[", "x" * LONG + "=1", "time.steps=" + "9" * LONG],
            *["%n=1", "title=\udcff", "a.b.c.d.e.f=1"],
        ]
        texts = [["--output", text] for text in ("", "x" * 1024, "\udcff")]
        texts += [["--device", text] for text in ("", "x" * 1024, "a\nb", "\udcff")]
        others = [["devices", "more"], ["bench"], ["bench", "nothing"], ["bench", "pic-sort", "x"], ["tune", "x"]]
        others += [["tune", "--seconds=-1"], *(["bench", "pic-sort", f"--particles={value}"] for value in values)]
        steps = "^radixpic: --steps: expected a whole number"
        cases = [
            *([[*good, f"--steps={value}"], steps] for value in values),
            *([[command, path, word], re.escape(word[:20])] for command in ("run", "check") for word in options),
            *([[word], "radixpic"] for word in [*words, "x" * LONG]),
            *([[*good, word], word] for word in ("--set", "--steps", "--output", "--device", "-s", "-n", "-o", "-d")),
            *([[*good, "--set", word], "--set"] for word in settings),
            [[*good, *["--set", "time.steps=3"] * 257], "--set"],
            *([[*good, *text], text[0]] for text in texts),
            *([text, "radixpic"] for text in others),
        ]
        self.assert_all_refused([(str(case[0]), *case) for case in cases], 90)


class Sources(unittest.TestCase):
    def files(self, folder, *endings):
        files = [path for ending in endings for path in (ROOT / folder).rglob(f"*.{ending}")]
        self.assertGreater(len(files), 30)
        return [(path, path.read_text()) for path in files]

    def test_the_sources_hand_no_name_to_a_shell(self):
        """Names reach the system as they are. The one program that is started, python3 for a column of a bench,
        has its names from the environment; a shell reads numbers alone."""
        numpy = r'"exec \\"\$RADIXPIC_PYTHON\\" -c \\"\$RADIXPIC_SCRIPT\\" %s %s %u 2>/dev/null", sides, axes, repeats'
        for path, text in self.files("src", "c", "h"):
            if path.name == "permutation.c":
                self.assertRegex(text, numpy)
                text = re.sub(r"\bpopen\(command, \"r\"\)", "", text)
            if path.name == "builders.c":  # which starts this program itself
                text = text.replace('posix_spawn(&process, "/proc/self/exe", &files', "", 1)
            found = re.search(r"\b(system|popen|exec[lv]p?e?|posix_spawnp?|wordexp|dlopen)\s*\(", text)
            self.assertIsNone(found, f"{path}: {found and found[0]}")

    def test_kernels_define_no_variadic_macros(self):
        """OpenCL C has none: PoCL takes them all the same, NVIDIA's compiler does not."""
        for path, text in self.files("kernels", "cl", "h"):
            self.assertNotRegex(text, r"#define \w+\([^)]*\.\.\.\)", str(path))
