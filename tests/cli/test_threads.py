"""Threads of a CPU: any number of them gives the same bits of particles and fields. Sums of the history run over what
each thread has, and may differ in their last digits."""

import shutil
import unittest

from program import MPI_ENVIRONMENT, PROGRAM, ProgramTest, contents, sets

# So many nodes that threads share the transforms, and particles that go some rows further in a step. A row of the grid
# has a vector of particles and more.
CONFIG = """\
title: Shared
grid: {cells: [192, 96], length: [19.2, 48]}
time: {step: 0.1, steps: 4}
species:
  - {name: electrons, charge: -1, mass: 1, density: 1, particles: 20000, velocities: {kind: maxwellian}}
device: cpu
output: {history: {every: 4}, snapshots: {every: 4, fields: [E, rho]}}
"""
ELECTROMAGNETIC = sets(
    "fields={solver: electromagnetic, speed_of_light: 5}",
    "species.electrons.velocities={kind: maxwellian, dimensions: 3, thermal: [0.5, 0.5, 0.5]}",
    "time.step=0.0195",
)


class Threads(ProgramTest):
    def results(self, threads, ranks, *settings):
        """Fields and particles of a run's end."""
        command = ("mpirun", "-n", str(ranks), PROGRAM) if ranks > 1 else (PROGRAM,)
        environment = {**MPI_ENVIRONMENT, "POCL_MAX_PTHREAD_COUNT": str(threads)}
        words = ["run", "shared.yaml", "--quiet", "--force", *settings]
        self.assert_well(self.run_program(*words, command=command, environment=environment))
        return contents(self.folder / "output" / "shared" / "snapshots" / "data_4.h5")

    def assert_same(self, ranks, *settings):
        (self.folder / "shared.yaml").write_text(CONFIG)
        expected = self.results(1, ranks, *settings)
        for threads in (2, 7):
            found = self.results(threads, ranks, *settings)
            differing = sorted(name for name in expected if found.get(name) != expected[name])
            self.assertEqual(differing, [], f"{threads} threads")

    def test_electrostatic(self):
        for method in ("fused", "radix"):
            with self.subTest(method=method):
                self.assert_same(1, *sets(f"step.method={method}"))

    def test_electromagnetic(self):
        self.assert_same(1, *ELECTROMAGNETIC, *sets("step.method=fused"))

    @unittest.skipUnless(shutil.which("mpirun"), "no mpirun")
    def test_two_ranks(self):
        for settings in ([], ELECTROMAGNETIC):
            for decomposition in ("replicated", "slabs"):
                with self.subTest(settings=settings, decomposition=decomposition):
                    way = sets("step.method=fused", f"fields.decomposition={decomposition}")
                    self.assert_same(2, *settings, *way)


if __name__ == "__main__":
    unittest.main()
