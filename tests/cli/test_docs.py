"""The pages: every command and every block of Python in them runs as it stands, one after the other, in a tree like a
clone's; links lead somewhere; and the lab notes, whose runs are those of their page, give the numbers on top of their
configs."""

import ast
import contextlib
import io
import math
import os
import re
import shutil
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import numpy as np

from program import DEVICE, MPI_ENVIRONMENT, PROGRAM, ROOT, ProgramTest

import radixpic
from radixpic import Run, dispersion, fit, theory

PAGES = (
    "README.md",
    "docs/run.md",
    "docs/outputs.md",
    "docs/physics.md",
    "docs/performance.md",
    "docs/python.md",
    "docs/experiments.md",
    "docs/lab_notes.md",
)
# Small enough for a test: what the configs of pages have fewer of, and what is appended to commands that match.
FEWER = {"landau_damping": (1048576, 16384), "two_stream": (524288, 8192)}  # particles of a species
SHORTER = {
    r"run configs/weibel.yaml": "--set species.electrons.particles=16384",
    r"particles=4194304": "--set species.electrons.particles=16384",
    r"--device gpu": f"--device {DEVICE}",  # a GPU each needs two of them
    r"bench pic-sort": "--particles 4096 --repeat 1",
    r"bench random-lists": "--sizes 4096 --repeat 1",
    r"bench deposit": "--particles 65536 --repeat 1",
    r"bench step": "--particles 4096 --cells 16 --steps 5 --repeat 1",
    r"bench local-memory": "--length 5001 --product 19 --coarse 13 --repeat 1",
    r"radixpic tune": "-N 2000 --cells 8 --seconds 1",
}
SKIPPED = {
    r"scripts/quickstart|scripts/test\b": "they install packages and build; this is a test of the second",
    r"check_clients\.sh": "it takes programs from the network: the test clients.read",
    r"openpmd_viewer|OpenPMDTimeSeries": "the network has it: clients.read too",
    r"\| head": "pipes that close have their test in test_run.py",
    r"^radixpic.*\b[A-Z]{3,}\b|^radixpic (run|check|bench)$|^radixpic\.run\(config, ": (
        "no command: with words to replace, or a name"
    ),
}
COMMAND = re.compile(r"(\w+=\S+ )?(\./|cp |mpirun |scripts/|radixpic |cc )")
OTHER = re.compile(
    r"\w+:\s|my\.yaml:|src/main\.c |bench,device|(v|D|sin\^2\(A\)|<delta\^2>) = "
)  # configs, messages, lists, formulas
INLINE = re.compile(r"`(?:radixpic [^`]+|radixpic\.(?:run|scan|Run)\([^`]+|run = [^`]+)`")
BLOCK = re.compile(r"(?:^    .*\n|^\n(?=    ))+", re.M)


def python_of(text):
    """The statements of a text that is Python: neither annotations, as mappings of YAML would be, nor values alone."""
    try:
        statements = ast.parse(text).body
    except SyntaxError:
        return []
    plain = (ast.Import, ast.ImportFrom, ast.Assign, ast.AugAssign, ast.With, ast.For, ast.FunctionDef)
    called = [isinstance(getattr(one, "value", None), (ast.Call, ast.ListComp)) for one in statements]
    return statements if all(isinstance(one, plain) or call for one, call in zip(statements, called)) else []


def parts_of(page):
    """(line, kind, text) of all in a page that runs, in order: a "command", a statement of "python", a file of "c"."""
    text = re.sub(r"(?ms)^```text$.*?^```$", lambda shown: "\n" * shown[0].count("\n"), (ROOT / page).read_text())
    for match in sorted([*BLOCK.finditer(text), *INLINE.finditer(text)], key=lambda match: match.start()):
        line = text.count("\n", 0, match.start()) + (1 if match[0][0] == "`" else 2)
        block = re.sub("(?m)^    ", "", match[0]).strip("\n")
        if block[0] == "`":
            block = " ".join(block.strip("`").split())
        statements = python_of(block)
        if block.startswith("#include"):
            yield line, "c", block
        elif statements:
            yield from ((line + one.lineno - 1, "python", ast.get_source_segment(block, one)) for one in statements)
        elif COMMAND.match(block):
            for number, one in enumerate(block.splitlines()):
                yield line + number, "command", re.sub(" {2,}#.*", "", one)
        elif not OTHER.match(block):
            yield line, "unknown", block


def is_skipped(text):
    return any(re.search(pattern, text) for pattern in SKIPPED)


class Links(unittest.TestCase):
    """Of all pages: a link leads to a file, and behind # to a heading of it, as GitHub names these."""

    def headings(self, page):
        lines = [re.sub(r"\[(.*?)\]\(.*?\)", r"\1", line) for line in page.read_text().splitlines() if line[:1] == "#"]
        return {re.sub(r"[^\w\- ]", "", line.lstrip("# ").lower()).replace(" ", "-") for line in lines}

    def test_they_lead_somewhere(self):
        for page in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("kernels/*.md")]:
            for link in re.findall(r"\]\((?!http)([^)\s]+)\)", page.read_text()):
                with self.subTest(page=page.name, link=link):
                    name, _, heading = link.partition("#")
                    goal = page.parent / name if name else page
                    self.assertTrue(goal.exists())
                    self.assertTrue(not heading or heading in self.headings(goal))


class PageTest(ProgramTest):
    """Of pages, in a tree of links to this one's folders and of configs with fewer particles."""

    @classmethod
    def setUpClass(cls):
        holder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(holder.cleanup)
        cls.folder = Path(holder.name).resolve()
        for name in ("kernels", "scripts", "src"):
            (cls.folder / name).symlink_to(ROOT / name)
        (cls.folder / "build").symlink_to(Path(PROGRAM).parent)
        (cls.folder / "docs" / "figures").mkdir(parents=True)
        (cls.folder / "docs" / "lab_notes.py").symlink_to(ROOT / "docs" / "lab_notes.py")
        shutil.copytree(ROOT / "configs", cls.folder / "configs")
        for name, (many, few) in FEWER.items():
            config = cls.folder / "configs" / f"{name}.yaml"
            config.write_text(config.read_text().replace(f"particles: {many}", f"particles: {few}"))
        cls.addClassCleanup(os.chdir, os.getcwd())
        os.chdir(cls.folder)
        own = {"RADIXPIC": PROGRAM, "PYTHONDONTWRITEBYTECODE": "1"}
        own["PATH"] = f"{cls.folder}/build:{os.environ['PATH']}"
        patch = mock.patch.dict(os.environ, {**MPI_ENVIRONMENT, **own})
        patch.start()
        cls.addClassCleanup(patch.stop)
        cls.done = set()

    def setUp(self):
        pass  # no folder of its own

    def run_part(self, page, line, kind, text, names):
        if kind == "c":
            (self.folder / "my.c").write_text(text)
        elif kind == "python":
            with contextlib.redirect_stdout(io.StringIO()):
                exec(compile(text, f"{page}:{line}", "exec"), names)
        else:
            self.assertEqual(kind, "command", "neither a command nor Python, C or what OTHER lists")
            if text in self.done and text.startswith("radixpic "):  # which pages name again and again
                return
            self.done.add(text)
            options = [more for pattern, more in SHORTER.items() if re.search(pattern, text)]
            result = self.run_program(command=("bash", "-c", " ".join([text, *options])))
            self.assertEqual(result.returncode, 0, result.stdout[-2000:] + result.stderr[-2000:])

    def run_page(self, page):
        """Returns the names that the page's Python has made."""
        names = {"radixpic": radixpic}
        for line, kind, text in (part for part in parts_of(page) if not is_skipped(part[2])):
            with self.subTest(page=page, line=line, text=text):
                self.run_part(page, line, kind, text, names)
        return names


class Pages(PageTest):
    """In the order in which they are read: what one leaves is there for the next."""

    def test_pages(self):
        names = {page: self.run_page(page) for page in PAGES[:-1]}  # the last is LabNotes'
        ring = names["docs/python.md"]["sim"]
        ring.step()
        # all speeds are 3; the first half kick changes it by less than the wave's 1 %
        energy = 0.5 * 3**2 * math.prod(ring.length)
        self.assertAlmostEqual(ring.history["kinetic_energy"][0] / energy, 1, delta=0.01)

    def test_the_lines_of_the_quickstart(self):
        """README shows its measurement with 2^20 particles; the theory beside it does not depend on their number."""
        run = "./build/radixpic run configs/landau_damping.yaml --output output/quickstart --force"
        measure = "scripts/fit_rate.py output/quickstart --from 3 --to 12"
        found = self.run_program(command=("bash", "-c", f"{run} && {measure}"))
        self.assertEqual(found.returncode, 0, found.stderr)
        rows = re.compile(r"(?m)^  (theory|same with|exact)(.*?) {2,}([\d.]+)(?: +\S+ %)? +([\d.]+)")
        shown = rows.findall((ROOT / "README.md").read_text())
        self.assertEqual(len(shown), 3)
        self.assertEqual(rows.findall(found.stdout), shown)

    def test_every_exception_is_of_use(self):
        texts = [text for page in PAGES for _, _, text in parts_of(page)]
        for pattern in (*SHORTER, *SKIPPED):
            self.assertTrue(any(re.search(pattern, text) for text in texts), pattern)


class LabNotes(PageTest):
    """The page's runs are made once, whole, and each gives the numbers on top of its config; the page has its
    figures."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls().run_page(PAGES[-1])

    def result_of(self, name):
        return Run(self.folder / "output" / "lab_notes" / name)

    def test_figures(self):
        drawn = {path.name for path in (self.folder / "docs" / "figures").iterdir()}
        shown = re.findall(r"]\(figures/(\S+)\)", (ROOT / PAGES[-1]).read_text())
        self.assertEqual(drawn, set(shown))

    def test_magnetised_wave(self):
        """The numbers on top follow from the formula; the run has those of grid and time step, with velocities out of
        the plane."""
        dt, gyration, along = 0.1, 0.8, math.cos(math.pi / 3) ** 2
        turn, g = math.sin(math.atan(gyration * dt / 2)) ** 2, 0.9935869 * dt**2 / 4
        squares = np.roots([1, -(turn + g * (1 - turn) + g * along * turn), g * along * turn])
        expected = np.sort(2 / dt * np.arcsin(np.sqrt(squares)))
        np.testing.assert_allclose(expected, [0.322366, 1.236694], atol=6e-7)
        history = self.result_of("magnetised_wave").history
        # then S S x - (s1 + s2) S x + s1 s2 x = 0 with S x = (x - (x before + x after)/2)/2
        series = [history.mode((1, 0)).imag]
        for _ in range(2):
            x = series[-1]
            series.append((x[1:-1] - (x[:-2] + x[2:]) / 2) / 2)
        x, once, twice = series[0][2:-2], series[1][1:-1], series[2]
        (total, product), *_ = np.linalg.lstsq(np.array([once, -x]).T, twice, rcond=None)
        found = np.sort(2 / dt * np.arcsin(np.sqrt(np.roots([1, -total, product]))))
        np.testing.assert_allclose(found, expected, rtol=1e-6)
        self.assertLess(np.ptp(history["total_energy"]), 0.01 * history["total_energy"][0])

    def test_magnetic_bottle(self):
        """A period, K = pi/(2 agm(1, sqrt(1 - k^2))), the arithmetic-geometric mean; one electron never turns."""
        omega, a = math.sqrt(20 / (2 * 30)), 1.0
        b = math.sqrt(1 - (0.5 / (2 * omega)) ** 2)
        for _ in range(6):
            a, b = (a + b) / 2, math.sqrt(a * b)
        self.assertAlmostEqual(2 * math.pi / (a * omega), 11.455, delta=6e-4)
        history = self.result_of("magnetic_bottle").history
        time, along = history["time"], history["trapped_momentum_x"]
        turns = []  # it trembles by the gyration
        for expected in (11.455 / 4, 11.455 * 5 / 4):
            near = time[(np.abs(along) < 0.1) & (np.abs(time - expected) < 2)]
            turns.append((near.min() + near.max()) / 2)
        self.assertAlmostEqual((turns[1] - turns[0]) / 11.455, 1, delta=5e-3)
        self.assertGreater(history["passing_momentum_x"].min(), 0.5)
        self.assertLess(np.ptp(history["kinetic_energy"]), 1e-12)

    def test_driven_wave(self):
        """1/epsilon, which the grid changes by 1 %: the wave, the work, and the energy less the work."""
        k, omega, amplitude, area = 0.5, 1.2, 0.002, math.pi**2
        factor = dispersion.grid_factor([k, 0], [4 * math.pi / 32, 4 * math.pi / 32])
        plasma = complex(dispersion.dielectric(omega, k, [(1, 0, 1)])) - 1
        answers = [1 / (1 + of_grid * plasma) for of_grid in (1, factor)]
        powers = [0.5 * omega * amplitude**2 * area * -answer.imag for answer in answers]
        for found, noted in zip((*map(abs, answers), *powers), (1.473, 1.484, 3.47e-5, 3.50e-5)):
            self.assertAlmostEqual(found / noted, 1, delta=1e-3)
        history = self.result_of("driven_wave").history
        time, work = history["time"], history["drive_work"]
        late = time >= 20
        wave = 2 * np.mean((history.mode((1, 0)) * np.exp(1j * omega * time))[late])  # i k times the electrons' field
        self.assertLess(abs(1 + wave / (1j * k * amplitude) - answers[1]), 0.06 * abs(answers[1]))
        self.assertAlmostEqual(np.polyfit(time[late], work[late], 1)[0], powers[1], delta=0.06 * powers[1])
        self.assertLess(np.ptp(history["total_energy"] - work), 0.04 * work[-1])

    def assert_grows(self, name, start, end, gamma, omega):
        found = self.result_of(name).fit(start=start, end=end)
        self.assertAlmostEqual(found.gamma, gamma, delta=0.04 * gamma)
        self.assertAlmostEqual(found.omega, omega, delta=0.01 * omega)

    def test_bump_on_tail(self):
        beams = [(0.9, 0, 1), (0.1, 5, 0.5)]
        root = dispersion.roots(0.25, beams)[0]
        factor = dispersion.grid_factor([0.25, 0], [8 * math.pi / 32, math.pi / 4])
        of_grid = dispersion.discrete_root(root, 0.25, beams, 0.1, factor)
        np.testing.assert_allclose([*root, *of_grid], [0.21816, 0.93565, 0.21747, 0.93508], atol=6e-6)
        self.assert_grows("bump_on_tail", 10, 30, *of_grid)

    def test_cyclotron_ring(self):
        """The root of the reference; a Bessel function is the mean of cos(n angle - x sin(angle)) over half a turn."""
        k, gyration, speed, n = 0.3, 0.2, np.linspace(2.8, 5.2, 121), np.arange(-20, 21)
        angle = math.pi * (np.arange(100) + 0.5) / 100
        bessel = np.cos(np.multiply.outer(n, angle)[:, None] - np.multiply.outer(speed * k / gyration, np.sin(angle)))
        ring = np.exp(-(((speed - 4) / 0.2) ** 2) / 2)
        slope = -(speed - 4) / 0.2**2 * ring / np.sum(speed * ring)
        poles = n * gyration / k**2 * (bessel.mean(axis=2) ** 2 @ slope)
        root = dispersion.newton(lambda w: 1 + np.sum(poles / (w[:, None] - n * gyration), axis=1), [0.5 + 0.1j])[0]
        np.testing.assert_allclose([root.imag, root.real], [0.1031, 0.4765], atol=6e-5)
        self.assert_grows("cyclotron_ring", 20, 50, root.imag, root.real)

    def assert_light(self, name, column, window, noted, within):
        """The roots on top of a config are those of theory; and the wave of a column is within so much of the second,
        that of the run's steps and grid."""
        run = self.result_of(name)
        (waves,) = theory.waves_of(run.config, None, column)
        roots, own = waves.roots, [waves.own(root) for root in waves.roots]
        part = 0 if column.endswith("_energy") else 1
        index = min(range(len(roots)), key=lambda one: abs(roots[one][part] - noted[0]))
        for found, expected in zip((roots[index], own[index]), noted):
            self.assertAlmostEqual(found[part], expected, delta=6e-7)
        wave, _ = fit.select(run.probe("origin") if part else run.history, column, *window)
        self.assertAlmostEqual(fit.fit(wave)[part] / noted[1], 1, delta=within)

    def test_light_wave(self):
        """omega^2 = omega_p^2 + c^2 k^2; a lattice of eight in a cell has another shape by 2e-5."""
        self.assertAlmostEqual(math.acos(math.cos(0.1) - 0.005 * np.sinc(1 / 32) ** 4 * math.sin(0.1) / 0.1) / 0.1,
            1.412238, delta=6e-7)
        self.assert_light("light_wave", "Ez", (), (2**0.5, 1.412238), 3e-5)

    def test_whistler(self):
        """The root of c^2 k^2 = omega^2 - omega/(omega - Omega) below Omega; what the start holds of others is 1e-3."""
        self.assertAlmostEqual(0.242431**2 - 0.242431 / (0.242431 - 0.5), 1, delta=1e-5)
        self.assert_light("whistler", "Ey", (), (0.242431, 0.243266), 1e-4)

    def test_filamentation(self):
        """The root of the quartic equation of two cold beams; light of the start is gone by t = 30."""
        gamma = (1 - 0.3**2) ** -0.5
        root = max(np.roots([1, 0, -(4 + gamma**-3), 0, -4 * 0.3**2 / gamma]).imag)
        self.assertAlmostEqual(root, 0.263725, delta=6e-7)
        self.assert_light("filamentation", "magnetic_energy", (30, 45), (0.263725, 0.263567), 1e-4)
        history = self.result_of("filamentation").history
        most = history["magnetic_energy"].max() / history["kinetic_energy"][0]
        self.assertAlmostEqual(most, 0.133, delta=0.01)

    def test_weibel(self):
        """Weibel's formula, by Z = i sqrt(pi) w; relativistic means make it 2.6 % slower, noise a few per cent more."""
        k, z = 1.4049629 / 22, 0.066682j
        xi = z / (2**0.5 * k)
        value = z * z - 1.4049629**2 - 1 + 9 * (1 + xi * 1j * math.pi**0.5 * complex(dispersion.faddeeva(xi)))
        self.assertLess(abs(value), 1e-4)
        self.assert_light("weibel", "magnetic_energy", (10, 25), (0.064977, 0.063644), 0.06)
        files = sorted((self.folder / "output" / "lab_notes" / "weibel" / "snapshots").glob("*.h5"))
        self.assertEqual(len(files), 5)
        result = self.run_program(command=(ROOT / "scripts" / "check_openpmd.py", *files))
        self.assertEqual(result.returncode, 0, result.stdout)


if __name__ == "__main__":
    unittest.main()
