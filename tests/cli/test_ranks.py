"""radixpic run under mpirun: one run of all ranks, one voice, and a stop that all agree on."""

import os
import re
import shlex
import shutil
import signal
import unittest
from pathlib import Path

from program import APART, MPI_ENVIRONMENT, NEEDS_APART, PROGRAM, RUN_FILES, ProgramTest, sets

@unittest.skipUnless(shutil.which("mpirun"), "no mpirun")
class RanksTest(ProgramTest):
    """Skipped without mpirun."""

    def refuse_on(self, ranks, code, words, *arguments):
        with self.subTest(arguments=arguments):
            self.assert_said(self.run_on(ranks, *arguments), code, *words)


class Runs(RanksTest):
    def test_one_rank_runs_as_without_mpirun(self):
        self.run_well("run", "small.yaml", "--quiet", "--steps", "2", environment=MPI_ENVIRONMENT)
        plain = self.history()
        self.run_well_on(1, "run", "small.yaml", "--steps", "2", "--force")
        self.assertEqual(self.history(), plain)

    def test_without_mpirun_mpi_is_not_started(self):
        broken = {"OMPI_MCA_pml": "none"}  # with which MPI_Init() fails
        self.run_well("run", "small.yaml", "--quiet", "--steps", "2", environment=broken)
        for launched in ({"PMIX_RANK": "0"}, {"SLURM_PROCID": "0"}):
            result = self.run_program("run", "small.yaml", "--force", environment={**broken, **launched})
            self.assertNotEqual(result.returncode, 0, launched)
        slabs = ["--force", "--set", "fields.decomposition=slabs"]  # of the one rank
        self.run_well("run", "small.yaml", "--quiet", *slabs, environment=broken)

    def test_several_ranks_make_one_run(self):
        columns = ["--set", "output.history.species=[all]"]
        self.run_well("run", "small.yaml", "--quiet", "--set", "precision=double", *columns)
        alone = self.history()
        result = self.run_well_on(3, "run", "small.yaml", "--set", "precision=double", "--force", *columns)
        self.assertEqual(len(re.findall(r"(?m)^Small$", result.stdout)), 1)
        self.assertEqual(len(re.findall(r"(?m)^written to out$", result.stdout)), 1)
        self.assertRegex(result.stdout, r"(?m)^3 ranks, 5 to 6 of 16 rows each$")
        even = self.run_well_on(2, "run", "small.yaml", "--steps", "1", "--output", "even").stdout
        self.assertRegex(even, r"(?m)^2 ranks, 8 of 16 rows each$")
        self.assertRegex((self.folder / "out" / "log.txt").read_text(), r"(?m)^3 ranks, 5 to 6 of 16 rows each$")
        together = self.history()
        self.assertEqual(len(together), len(alone))
        for row, expected in zip(together, alone):
            for name, text in expected.items():  # sums of 4096 particles in another order, 23 steps long
                self.assertAlmostEqual(float(row[name]), float(text), delta=1e-10, msg=name)
        self.assertEqual(self.names("out"), RUN_FILES)

    @NEEDS_APART
    def test_ranks_of_several_machines_run_as_those_of_one(self):
        apart = {**MPI_ENVIRONMENT, "LD_PRELOAD": str(APART)}
        self.run_well_on(2, "run", "small.yaml", "--steps", "2", "--force")
        together = self.history()
        for arguments in ("run small.yaml --steps 2 --force", "bench scaling -N 4096 --cells 16 --steps 1 -r 1"):
            self.run_well(*arguments.split(), command=("mpirun", "-n", "2", PROGRAM), environment=apart)
        self.assertEqual(self.history(), together)

    def test_sizes_and_ranks_choose_no_program(self):
        """Of a CPU. Other cells and particles build none; two ranks those alone by which particles and sums come to
        others: exchange, gather, merge, and of the radix step room."""
        own = {**MPI_ENVIRONMENT, "RADIXPIC_CACHE": str(self.folder / "own")}
        other = sets("grid.cells=[32, 16]", "species.electrons.particles=20000", "time.step=0.05")
        for method, more in (("fused", 3), ("radix", 4)):
            shutil.rmtree(self.folder / "own", ignore_errors=True)
            built = []
            for ranks, settings in ((1, []), (1, other), (2, other)):
                command = ("mpirun", "-n", str(ranks), PROGRAM)
                options = ["--device=cpu", "--steps=2", "--force", *sets(f"step.method={method}"), *settings]
                self.run_well("run", "small.yaml", "--quiet", *options, command=command, environment=own)
                built.append(len(list((self.folder / "own").glob("programs/*.uses"))))
            if built[0] == 0:
                self.skipTest("the driver of this device keeps programs itself")
            self.assertEqual([count - built[0] for count in built], [0, 0, more], method)


class Alike(RanksTest):
    """What every rank would print is printed by one."""

    def test_once_for_all_ranks(self):
        for arguments, line in (
            ("--help", r"Usage: radixpic COMMAND.*"),
            ("--version", r"radixpic \d.*"),
            ("run --help", r"Usage: radixpic run .*"),
            ("check --help", r"Usage: radixpic check .*"),
            ("tune --help", r"Usage: radixpic tune .*"),
            ("bench --help", r"Usage: radixpic bench NAME.*"),
            ("bench pic-sort --help", r"Usage: radixpic bench pic-sort .*"),
            ("bench scaling --help", r"Usage: radixpic bench scaling .*"),
            ("check small.yaml", r"# what follows from it"),
            ("check --keys", r"title .*"),
            ("devices", r".*\(auto\).*"),
        ):
            with self.subTest(arguments=arguments):
                result = self.run_well_on(2, *arguments.split())
                self.assertEqual(len(re.findall(rf"(?m)^{line}$", result.stdout)), 1, result.stdout)


class Resolved(RanksTest):
    def decomposition(self, folder="out"):
        text = (self.folder / folder / "config.yaml").read_text()
        return re.search(r"(?m)^ *decomposition: (\w+)", text)[1]

    def test_config_names_the_decomposition_taken(self):
        self.run_well_on(2, "run", "small.yaml", "--quiet", "--steps", "2")
        self.assertEqual(self.decomposition(), "replicated")  # a small grid
        history = self.history()
        self.run_well_on(2, "run", "out/config.yaml", "--quiet", "--output", "again")
        self.assertEqual(self.history("again"), history)
        self.run_well_on(2, "run", "small.yaml", "--quiet", "--steps", "0", "--set", "grid.cells=[512, 256]", "--force")
        on_cpus = b"Portable Computing Language" in self.read("out/log.txt")
        self.assertEqual(self.decomposition(), "slabs" if on_cpus else "replicated")
        # one rank leaves it to the next run, which may be on more
        self.run_well("run", "small.yaml", "--quiet", "--steps", "0", "--force")
        self.assertEqual(self.decomposition(), "auto")


class Refused(RanksTest):
    def test_one_rank_says_it(self):
        self.run_well("run", "small.yaml", "--quiet", "--steps", "0", "--output", "held")
        before = self.everything(".")
        few = sets("grid.cells=[2,8]", "output.history.modes=[]")
        for arguments, code, word in (
            ("", 2, "--help"),
            ("rum", 2, "did you mean run"),
            ("bench picsort", 2, "pic-sort"),
            ("check missing.yaml", 2, "missing.yaml"),
            ("devices all", 2, '"all"'),
            ("run", 2, "CONFIG"),
            ("run small.yaml --stepz", 2, "--steps"),
            ("run missing.yaml", 2, "missing.yaml"),
            ("run small.yaml --set time.step=nan", 2, "time.step"),
            ("run small.yaml --output held", 2, "--force"),
            ("run small.yaml --restart latest", 2, "out/checkpoints"),
            ("run small.yaml --device abacus", 3, "abacus"),
            ("run small.yaml --output small.yaml/below", 2, "small.yaml"),
        ):
            self.refuse_on(2, code, [word], *arguments.split())
        self.refuse_on(3, 2, ["3 ranks"], "run", "small.yaml", *few)
        self.assertEqual(self.everything("."), before)


class Unlike(RanksTest):
    """Ranks that were not told the same: none waits for another for ever, and nothing is written."""

    def run_unlike(self, *more, environment=(), first=(), words=("run", "small.yaml", "--quiet")):
        """Rank 0 with `first`, rank 1 with `more`, by a shell: mpirun of Open MPI 5.0.7 dies of a colon."""
        own = ["env", *(f"{name}={value}" for name, value in dict(environment).items())]
        each = [shlex.join([PROGRAM, *words, *first]), shlex.join([*own, PROGRAM, *words, *more])]
        script = f'if [ "$OMPI_COMM_WORLD_RANK" = 0 ]; then exec {each[0]}; else exec {each[1]}; fi'
        return self.run_program(command=["mpirun", "-n", "2", "sh", "-c", script], environment=MPI_ENVIRONMENT)

    def test_what_differs_is_named(self):
        settings = ["time.step=0.2", "species.electrons.charge=-2", "output.history.modes=[]", "output.directory=other"]
        for more, words in (
            (sets("seed=9"), ["seed: rank 0 has 1, rank 1 9", "all ranks of a run need the same value of this key"]),
            (["--steps", "5"], ["time.steps: rank 0 has 23, rank 1 5"]),
            (sets(*settings), [*(f"{setting.split('=')[0]}: rank 0 has " for setting in settings), "these keys"]),
            (sets("species.electrons.velocities=cold"), ["velocities.kind: rank 0 has maxwellian, rank 1 cold"]),
            (["--resume"], ["rank 0 has none, rank 1 has --resume"]),
            (["--restart", "out"], ["rank 0 has none, rank 1 has out"]),
            (["--help"], ["rank 0 has none, rank 1 has --help"]),
            (["--set", "seed=nine"], ["--set seed=nine"]),
        ):
            self.assert_said(self.run_unlike(*more), 2, *words)
            self.assert_nothing_created()

    def test_benches(self):
        result = self.run_unlike("6", first=["5"], words=["bench", "scaling", "--steps"])
        self.assert_said(result, 2, "the command line: rank 0 has 5, rank 1 has 6; all ranks of a run need the same")

    def test_other_kernels(self):
        own = self.with_kernels(("push.cl", "#include", "//\n#include"))
        result = self.run_unlike(environment=own)
        said = self.assert_said(result, 2)
        each = r"kernels \(RADIXPIC_KERNELS\): rank 0 has digest \w{16}, rank 1 has digest \w{16};"
        self.assertRegex(said, each)
        self.assertEqual(self.run_unlike(environment=self.with_kernels()).returncode, 0)  # the same ones elsewhere

    def test_what_may_differ(self):
        """The device, and what one rank does for all."""
        self.assertEqual(self.run_unlike("--device", "0:0", first=["--force"]).returncode, 0)


class Restarted(RanksTest):
    many = ["--set", "species.electrons.particles=20000", "--set", "output.history.every=1", "--steps", "8", "--quiet"]

    def check_restart(self, ranks, *options):
        options = (*self.many, *options)
        self.run_well_on(ranks, "run", "small.yaml", *options, "--set", "output.checkpoints.every=5")
        checkpoint = "out/checkpoints/checkpoint_5.h5"
        self.run_well_on(ranks, "run", "small.yaml", *options, "--restart", checkpoint, "--output", "again")
        straight = (self.folder / "out" / "history.csv").read_text().splitlines()
        self.assertEqual((self.folder / "again" / "history.csv").read_text().splitlines()[1:], straight[6:])

    def test_the_same_bits_on_the_radix_step(self):
        """Many particles change ranks in the step of the checkpoint."""
        self.check_restart(3)

    def test_the_same_bits_where_particles_cross_within_the_step(self):
        self.check_restart(2, "--set", "step.method=tiled")


class Stopped(RanksTest):
    settings = ["--set", "output.snapshots.every=0"]

    def stop(self, ranks, number=signal.SIGTERM):
        """A run one rank of which gets a signal."""
        command = ("mpirun", "-n", str(ranks), PROGRAM)
        process = self.start_run(*self.settings, rows=5, command=command, environment=MPI_ENVIRONMENT)
        os.kill(self.children(process.pid)[-1], number)
        return self.finish(process)

    def children(self, parent):
        return [int(word) for word in Path(f"/proc/{parent}/task/{parent}/children").read_text().split()]

    def test_a_hangup_of_one(self):
        result = self.stop(2, signal.SIGHUP)
        self.assertEqual(result.returncode, 4, result.stderr)
        step = re.search(r"stopped by SIGHUP at step (\d+) ", self.said(result.stderr)[0])[1]
        self.assertEqual(os.listdir(self.folder / "out" / "checkpoints"), [f"checkpoint_{step}.h5"])

    def test_all_stop_and_go_on(self):
        result = self.stop(3)
        self.assertEqual(result.returncode, 4, result.stderr)
        self.assertEqual(len(self.said(result.stderr)), 1, result.stderr)
        step = re.search(r"stopped by SIGTERM at step (\d+) ", self.said(result.stderr)[0])[1]
        more = ["--steps", str(int(step) + 50)]
        self.run_well_on(3, "run", "small.yaml", *self.settings, *more, "--quiet", "--output", "straight")
        self.assertEqual(os.listdir(self.folder / "out" / "checkpoints"), [f"checkpoint_{step}.h5"])
        shutil.copytree(self.folder / "out", self.folder / "fewer")
        result = self.run_well_on(3, "run", "--restart", "latest", "--output", "out", *more)
        self.assertRegex(result.stdout, rf"(?m)^goes on from step {step}, ")
        self.assertEqual(self.read("straight/history.csv"), self.read("out/history.csv"))
        # on fewer ranks the sums come in another order
        self.run_well("run", "--restart", "latest", "--output", "fewer", "--quiet", *more)
        self.assertEqual([row["step"] for row in self.history("fewer")], [row["step"] for row in self.history("out")])
