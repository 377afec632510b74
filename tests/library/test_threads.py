"""Simulations that threads share, and processes that are forked: a sentence where something cannot be, and no crash."""

import threading
import unittest

from test_package import EVERY_STEP, PackageTest, np

import radixpic

BEGIN = """
import os, radixpic, sys, tempfile, threading

def at_once(count, work):
    problems = []
    def call(number):
        try:
            work(number)
        except radixpic.Problem as problem:
            problems.append(str(problem))
    threads = [threading.Thread(target=call, args=(number,)) for number in range(count)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    return problems
"""


class Threads(PackageTest):
    def test_one_simulation_of_four(self):
        """Each step is taken by one of them, and what they read is of the time between two."""
        alone, shared, found = self.simulation(EVERY_STEP), self.simulation(EVERY_STEP), []
        text = BEGIN + """
simulation = radixpic.Simulation(sys.argv[1], set={"output.history.every": 1})
def work(number):
    for _ in range(100):
        simulation.step()
        simulation.field("phi"), simulation.particles("electrons"), simulation.history
        assert simulation.time >= 0.1
assert at_once(4, work) == [] and simulation.steps == 400
"""
        self.python(text, self.config)
        threads = [
            threading.Thread(target=lambda: [shared.step() or found.append(shared.steps) for _ in range(10)])
            for _ in range(4)
        ]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
        alone.step(40)
        self.assertEqual((len(found), shared.steps), (40, 40))
        np.testing.assert_array_equal(alone.history["field_energy"], shared.history["field_energy"])

    def test_close_while_another_steps(self):
        text = BEGIN + """
for _ in range(5):
    simulation = radixpic.Simulation(sys.argv[1])
    def work(number):
        if number == 0:
            simulation.step(10**9)
        while simulation.steps < 3:
            pass
        simulation.close()
    problems = at_once(2, work)
    assert problems == ["the simulation is closed"], problems
"""
        self.python(text, self.config)

    def test_simulations_at_once(self):
        """What libraries below have once for a process, plans of FFTW and files of HDF5, is taken in turn."""
        text = BEGIN + """
def work(number):
    for again in range(4):
        settings = {"grid.cells": [16 + 2 * number, 8 + 2 * again], "fields.transforms": "fftw"}
        settings |= {"output.snapshots.every": 1, "time.steps": 6}
        with radixpic.Simulation(sys.argv[1], set=settings) as simulation:
            simulation.write_into(f"{folder}/{number}_{again}")
            simulation.step(6)
with tempfile.TemporaryDirectory() as folder:
    problems = at_once(4, work)
    assert problems == [] and len(os.listdir(folder)) == 16, problems
"""
        self.python(text, self.config)


class Forks(PackageTest):
    def test_a_forked_process(self):
        """It has no simulation, neither while a thread of its parent holds one; the parent's goes on."""
        text = BEGIN + """
simulation = radixpic.Simulation(sys.argv[1])
threading.Thread(target=lambda: simulation.step(10**9), daemon=True).start()
while simulation.steps < 2:
    pass
child = os.fork()
if child == 0:
    for call in (simulation.step, lambda: simulation.field("phi"), lambda: radixpic.Simulation(sys.argv[1])):
        try:
            call()
            os._exit(1)
        except radixpic.Problem as problem:
            if "forked from process" not in str(problem) or problem.code != 2:
                os._exit(2)
    simulation.close()
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
steps = simulation.steps
while simulation.steps < steps + 2:
    pass
simulation.close()
"""
        warns = "ignore:This process:DeprecationWarning"  # Python 3.12 and later: of any fork beside threads
        self.python(text, self.config, options=("-W", warns))


class Words(PackageTest):
    def test_steps_that_are_none(self):
        simulation = self.simulation()
        for wrong in (-1, 1.5, "2", None):
            self.assert_problem(
                lambda: simulation.step(wrong), f"steps: expected a whole number of at least 0, found {wrong}"
            )
        simulation.step(np.int64(2))
        self.assertEqual(simulation.steps, 2)

    def test_warnings_of_a_quiet_run(self):
        text = "import radixpic, sys; "
        text += "radixpic.run(sys.argv[1], set={'species.electrons.particles': 64}, steps=0, quiet=True)"
        command = ("/usr/bin/env", f"PYTHONPATH={radixpic.library.HERE.parent}", "python3", "-B", "-c", text)
        result = self.run_program(self.config, command=command)
        self.assertEqual((result.returncode, result.stdout), (0, ""), result.stderr)
        self.assertRegex(result.stderr, r"\Awarning: 0.5 particles per cell of electrons")


if __name__ == "__main__":
    unittest.main()
