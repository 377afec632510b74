"""step.method: which step check and run say they take, and species that are not pushed or have no charge density in
each of them. That runs agree tests/physics/test_methods.c shows, particle by particle."""

import re

from program import ProgramTest, sets

RADIX = r"(?m)^step:? +radix: push, radix sort of the short keys, permute"
FUSED = r"(?m)^step:? +(chunked|tiled): push and sort at once"
SORT = r"(?m)^sort: radix sort of the short key by histogram, scan and reorder, b = \d+ bits, .*p = 2 passes; .*method "


class Said(ProgramTest):
    def check(self, *settings):
        return self.run_well("check", "small.yaml", *sets(*settings)).stdout

    def test_the_steppers_of_each_method(self):
        for settings, said in (
            [[], RADIX],
            [["step.method=radix", "sort.method=paper"], RADIX],
            [["step.method=auto"], FUSED],
            [["step.method=auto", "sort.passes=1"], FUSED],
            [["step.method=fused"], FUSED],
            [["step.method=tiled"], FUSED.replace("(chunked|tiled)", "tiled")],
            [["step.method=chunked"], FUSED.replace("(chunked|tiled)", "chunked")],
        ):
            with self.subTest(settings=settings):
                self.assertRegex(self.check(*settings), said)
        grid = sets("grid.cells=[512, 512]", "step.method=tiled")
        for command in ("check", "run"):
            words = ["step.method", "cannot take the tiled step on 512x512 cells", "radix fits"]
            self.refuse(2, words, command, "small.yaml", *grid)

    def test_run_says_it_too(self):
        for method, said in (("radix", RADIX), ("fused", FUSED)):
            settings = ["--set", f"step.method={method}", "--steps", "1", "--force"]
            text = self.run_well("run", "small.yaml", *settings).stdout
            self.assertRegex(text, said)
            self.assertRegex((self.folder / "out" / "log.txt").read_text(), said)
            self.assertEqual("step.method=fused would take" in text, method == "radix")

    def test_run_says_which_sort(self):
        """The published one is the paper's alone."""
        for method, said in (
            ("auto", r"(chunked|tiled) \(default\); the permutation of sort\.method=paper, bit for bit$"),
            ("paper", r"paper; the sort as P\. Helluy published it$"),
        ):
            settings = ["--set", f"sort.method={method}", "--steps", "1", "--force"]
            self.assertRegex(self.run_well("run", "small.yaml", *settings).stdout, SORT + said)

    def test_the_stages_of_a_fused_step(self):
        text = self.run_well("run", "small.yaml", "--set", "step.method=fused").stdout
        self.assertNotIn("sort: histogram", text)
        for stage in ("count", "sort: scan", "deposit", "field", "push"):
            self.assertRegex(text, rf"(?m)^{stage} ")


class SpeciesApart(ProgramTest):
    """push: false is the limit of a heavy species, charge_density: false that of a thin one."""

    IONS = (
        "\n  - {name: ions, charge: 1, mass: 1, density: 1, particles: 6000, push: false, "
        "perturb: {density: [{axis: x, mode: 1, amplitude: 0.5}]}}"
    )
    HEAVY = IONS.replace("mass: 1", "mass: 1.e30").replace("push: false, ", "")

    def history_of(self, species, method, ranks):
        """The history of the small config with more species."""
        text = (self.folder / "small.yaml").read_text()
        (self.folder / "more.yaml").write_text(text.replace("\ndevice:", f"{species}\ndevice:"))
        names = ", ".join(re.findall("name: ([a-z]+)", species))
        settings = sets(f"step.method={method}", f"output.history.species=[electrons, {names}]")
        self.run_well_on(ranks, "run", "more.yaml", "--quiet", "--force", *settings)
        return self.history()

    def test_they_are_limits_of_others(self):
        electrons = (self.folder / "small.yaml").read_text().split("species:")[1].split("\ndevice:")[0]
        tracers = electrons.replace("electrons", "tracers") + "\n    charge_density: false"
        for method, ranks in (("tiled", 1), ("chunked", 1), ("radix", 3)):
            with self.subTest(method=method, ranks=ranks):
                expected = self.history_of(self.HEAVY, method, ranks)
                for row, heavy in zip(self.history_of(self.IONS + tracers, method, ranks), expected, strict=True):
                    for column in ("field_energy", "charge", "density_1_0_re", "electrons_kinetic_energy"):
                        self.assertEqual(row[column], heavy[column], column)
                    self.assertEqual(row["tracers_kinetic_energy"], row["electrons_kinetic_energy"])
                    self.assertEqual(row["tracers_momentum_x"], row["electrons_momentum_x"])
                    self.assertEqual(float(row["ions_kinetic_energy"]), 0)

    def test_one_that_is_not_pushed_has_no_velocity(self):
        words = "stands still: expected cold velocities without drift"
        self.refuse(2, ["species.electrons.push", words], "check", "small.yaml", *sets("species.electrons.push=false"))
