"""Hooks between steps: when they are called, what they may change, and how they end a run, on one rank and several."""

import importlib.util
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
import traceback
import unittest
from unittest import mock

from test_package import EVERY_STEP, PRECISIONS, PackageTest, np

import radixpic
from program import MPI_ENVIRONMENT, PROGRAM, ROOT, TIMEOUT
from radixpic.library import View, load
from radixpic.program import of_process, ranks_of

BEGIN = """
import os, signal, sys, numpy as np
import radixpic

def move(simulation):
    electrons = simulation.particles("electrons")
    electrons.x += 2.3  # by more than a rank's share of the box
    electrons.u *= 0.5

def kick(simulation):
    simulation.set_field("E/y", 1 + simulation.field("E/x"))
    simulation.view("v", "electrons")[...] += 0.01

def run(ranks):
    simulation = radixpic.Simulation(sys.argv[1], set={"precision": "double", "output.history.every": 1}, ranks=ranks)
    simulation.on_step(move, every=3)
    simulation.on_step(kick, every=2)
    return simulation
"""


class Hooks(PackageTest):
    def test_when_they_are_called(self):
        simulation, called = self.simulation(), []
        first = simulation.on_step(lambda it: called.append(("first", it.steps)), every=2)

        def second(it):
            called.append(("second", it.steps))
            if it.steps == 4:
                it.remove_hook(second)
                it.remove_hook(first)

        simulation.on_step(second)
        simulation.step(6)
        second_alone = [("second", 1), ("second", 3)]
        self.assertEqual([item for item in called if item[1] % 2], second_alone)
        self.assertEqual(called[-2:], [("first", 4), ("second", 4)])
        self.assertEqual(len(called), 6)
        self.assert_problem(lambda: simulation.remove_hook(first), "is no hook")
        for wrong in (0, -1, 1.5, True, "2"):
            self.assert_problem(lambda: simulation.on_step(second, every=wrong), f"at least 1, found {wrong}")
        self.assert_problem(lambda: simulation.on_step(None), "expected a function of the simulation, found None")
        simulation.on_step(lambda it: it.step())
        self.assert_problem(lambda: simulation.step(), "cannot take one")

    def test_what_they_change(self):
        """Is what a program changes that takes the steps itself: particles, and the field of the next push."""
        for choice in PRECISIONS:
            hooked, by_hand = (self.simulation({**EVERY_STEP, **choice}) for _ in range(2))

            def change(simulation):
                electrons = simulation.particles("electrons")
                electrons.u[:] *= 0.9
                electrons.x[::2] = 1.5
                simulation.set_field("E/x", 0.25)

            hooked.on_step(change, every=4)
            hooked.step(4)
            self.assertLess(hooked.field("rho").min(), -3)  # a half of the particles is at one x
            hooked.step(6)
            for _ in range(2):
                by_hand.step(4)
                change(by_hand)
            by_hand.step(2)
            for name, values in by_hand.history.columns.items():
                np.testing.assert_array_equal(hooked.history[name], values, name)

    def test_outputs_hold_the_changes(self):
        simulation = self.simulation({"time.steps": 10})
        simulation.write_into(self.folder / "own")
        simulation.on_step(lambda it: it.view("u", "electrons").fill(3), every=10)
        simulation.on_step(lambda it: it.view("v", "electrons").fill(2), every=5)
        simulation.step(10)
        v = radixpic.Run(self.folder / "own").particles("electrons", step=10).v
        self.assertLess(np.abs(v - 2).max(), 1)  # set at 5, and pushed since

    def test_an_exception(self):
        """It comes to the caller as it is, with its traceback; the simulation is between two steps, and goes on."""
        simulation = self.simulation()

        def bad(it):
            it.particles("electrons").u[:] = 1
            raise ZeroDivisionError("mine")

        simulation.on_step(bad, every=3)
        try:
            simulation.step(5)
        except ZeroDivisionError as error:
            last = traceback.extract_tb(error.__traceback__)[-1]
        self.assertEqual((last.name, last.line, simulation.steps), ("bad", 'raise ZeroDivisionError("mine")', 3))
        simulation.remove_hook(bad)
        simulation.step(2)
        self.assertEqual(simulation.steps, 5)
        simulation.on_step(lambda it: it.particles("electrons").y.fill(np.nan))
        words = "species electrons, y: expected finite numbers, found nan in place 0"
        self.assert_problem(simulation.step, words, code=2)


class Views(PackageTest):
    def test_they_are_the_memory(self):
        for choice in PRECISIONS:
            simulation = self.simulation(choice)
            simulation.step()
            before, field = simulation.particles("electrons").v.copy(), simulation.field("E/x")
            v, ex, rho = (simulation.view(*name) for name in (("v", "electrons"), ("E/x",), ("rho",)))
            again = simulation.view("v", "electrons")
            self.assertTrue(np.shares_memory(v, again))
            self.assertEqual(v.dtype, np.float64 if choice["precision"] == "double" else np.float32)
            np.testing.assert_array_equal(v, before)
            np.testing.assert_array_equal(ex, field)
            with self.assertRaisesRegex(ValueError, "read-only"):
                rho[:] = 0
            v[:], ex[:] = v + 1, 0
            np.testing.assert_array_equal(again, v)
            simulation.set_field("E/y", 0)
            with self.assertRaisesRegex(ValueError, "read-only"):
                v[:] = 0
            moved = np.sort(simulation.particles("electrons").v)
            np.testing.assert_array_equal(moved, np.sort((before.astype(again.dtype) + again.dtype.type(1))))
            simulation.step()
            np.testing.assert_array_equal(np.sort(simulation.particles("electrons").v), moved)  # E was 0
            self.assert_problem(lambda: simulation.view("x", "electrons"), "x follows from cell and offset", code=2)
            self.assert_problem(lambda: simulation.view("w", "electrons"), "has no w", code=2)
            self.assert_problem(lambda: simulation.view("E"), 'field "E" is not known', code=2)

    def test_they_outlive_the_simulation(self):
        """Nothing is read that was given back: the memory stays until the last array of it goes."""
        text = """
import radixpic, sys
simulation = radixpic.Simulation(sys.argv[1], set={"species.electrons.particles": 1000000})
kept = simulation.view("u", "electrons")[::2]
simulation.close()
assert abs(kept).max() < 10
"""
        self.python(text, self.config)

    def test_another_device_has_copies(self):
        changed = []
        for lends in (True, False):
            simulation = self.simulation({"precision": "double"})
            nothing = mock.patch.object(load(), "lend", lambda *arguments: 0)
            with nothing if not lends else mock.patch.object(View, "unused", 0, create=True):
                simulation.step()
                ex = simulation.view("E/x")
                self.assertIs(np.shares_memory(ex, simulation.view("E/x")), lends)
                ex += 0.5
                simulation.step()
                simulation.view("u", "electrons")[...] *= 2
                simulation.step()
                changed.append(simulation.field("phi"))
        np.testing.assert_array_equal(*changed)


class Interrupt(PackageTest):
    def setUp(self):
        super().setUp()
        self.addCleanup(signal.signal, signal.SIGINT, signal.signal(signal.SIGINT, signal.default_int_handler))

    def interrupted(self, simulation):
        """The sentence with which a signal in a hook ends the steps, after the hook."""
        done = []

        def ask(it):
            os.kill(os.getpid(), signal.SIGINT)
            for _ in range(1000):
                pass
            done.append(it.steps)

        before = signal.getsignal(signal.SIGTERM)
        simulation.on_step(ask, every=7)
        with self.assertRaises(KeyboardInterrupt) as caught:
            simulation.step(7)
        self.assertIs(signal.getsignal(signal.SIGTERM), before)
        return done, str(caught.exception)

    def test_a_run_that_writes_files_has_a_checkpoint(self):
        simulation = self.simulation()
        simulation.write_into(self.folder / "own")
        done, sentence = self.interrupted(simulation)
        self.assertEqual(done, [7])
        self.assertIn("stopped by SIGINT at step 7 (t = 0.7), with a checkpoint in", sentence)
        self.assert_problem(simulation.step, "failed in an earlier step: stopped by SIGINT", code=1)
        self.run_well("run", "small.yaml", "--resume", "--output", "own")
        whole = self.run_config()
        resumed = radixpic.Run(self.folder / "own")
        np.testing.assert_array_equal(resumed.history["field_energy"], whole.history["field_energy"])

    def interrupt_run(self, ranks):
        """What run() raises where this process alone gets a SIGINT, as from a front end or a debugger."""

        history = self.folder / "out" / "history.csv"

        def interrupt():
            while not (history.exists() and history.stat().st_size > 1000):
                time.sleep(0.01)
            os.kill(os.getpid(), signal.SIGINT)

        threading.Thread(target=interrupt, daemon=True).start()
        with mock.patch.dict(os.environ, MPI_ENVIRONMENT), self.assertRaises(KeyboardInterrupt) as caught:
            self.run_config(EVERY_STEP, steps=10**7, ranks=ranks)  # more than it takes until then
        return str(caught.exception)

    def test_a_run_of_the_program_has_a_checkpoint(self):
        """On ranks too; nothing holds the folder then."""
        for ranks in (1, 2):
            told = r"^stopped by SIGINT at step .*; go on with: radixpic\.run\(\.\.\., resume=True\)$"
            self.assertRegex(self.interrupt_run(ranks), told)
            (checkpoint,) = (self.folder / "out" / "checkpoints").glob("*.h5")
            step = int(checkpoint.stem.rpartition("_")[2])
            self.assertEqual(self.run_config(EVERY_STEP, steps=step + 2, resume=True).history["step"][-1], step + 2)
            shutil.rmtree(self.folder / "out")

    def test_ranks_alone_are_interrupted(self):
        """Not the ssh by which mpirun reaches other machines, here a cat, nor what has ended."""
        ranks = "sleep 60 & cat & trap 'kill $(jobs -p)' TERM; echo; wait"
        with subprocess.Popen(["bash", "-c", ranks], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as launcher:
            launcher.stdout.read(1)
            with mock.patch("radixpic.program.find_program", lambda: "/usr/bin/sleep"):
                deadline = time.monotonic() + TIMEOUT  # until the child is no fork of bash any more
                while not (found := ranks_of(launcher.pid)) and time.monotonic() < deadline:
                    time.sleep(0.01)
            self.assertEqual([of_process(f"/proc/{pid}/comm") for pid in found], ["sleep\n"])
            launcher.terminate()
            launcher.wait()
            self.assertEqual((ranks_of(launcher.pid), of_process(f"/proc/{launcher.pid}/comm")), ([], ""))

    def test_a_run_whose_lines_cannot_be_printed(self):
        """What print() raises comes out, and the program ends."""
        with mock.patch("builtins.print", side_effect=BrokenPipeError), self.assertRaises(BrokenPipeError):
            radixpic.run(self.config, output=self.folder / "out", steps=10**8)
        self.run_config(force=True, steps=1)  # the folder is free

    def test_one_without_files_goes_on(self):
        simulation = self.simulation()
        done, sentence = self.interrupted(simulation)
        self.assertEqual((done, sentence), ([7], "stopped by Ctrl-C after step 7; the simulation can go on"))
        simulation.step(3)
        self.assertEqual(simulation.steps, 10)


class Ranks(PackageTest):
    def ranks(self, text, *arguments, count=2):
        environment = {**MPI_ENVIRONMENT, "PYTHONPATH": str(ROOT / "scripts"), "RADIXPIC": PROGRAM}
        environment["PYTHONUNBUFFERED"] = ""  # else print() writes word by word, and words of ranks mix
        command = ("mpirun", "-n", str(count), sys.executable, "-B", "-c", BEGIN + text)
        return self.run_program(self.config, *arguments, command=command, environment=environment)

    def test_the_same_as_on_one(self):
        """Particles that are moved come to the ranks of their rows, and each rank has the whole field."""
        text = """
simulation = run(ranks=len(sys.argv) > 2)
simulation.step(10)
electrons, history = simulation.particles("electrons"), simulation.history
np.savetxt(f"rank_{simulation.rank}.txt", [electrons.x.min(), electrons.x.max(), len(electrons),
    *simulation.field("phi").ravel(), *history["total_energy"], *history["momentum_y"]])
"""
        self.python(BEGIN + text, self.config)
        one = np.loadtxt(self.folder / "rank_0.txt")
        result = self.ranks(text, "ranks", count=3)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        several = [np.loadtxt(self.folder / f"rank_{rank}.txt") for rank in range(3)]
        self.assertEqual(sum(line[2] for line in several), 4096)
        ends = [end for line in several for end in line[:2]]
        self.assertEqual(ends, sorted(ends))  # no rank's rows are another's
        for line in several:
            np.testing.assert_allclose(line[3:], one[3:], rtol=1e-9, atol=1e-9)

    def test_an_exception_of_one_rank(self):
        """The others end with it, in whichever call; also where a value that one rank wrote is refused."""
        text = """
def bad(it):
    if it.rank == 1 and "nan" not in sys.argv:
        raise ZeroDivisionError("mine")
    it.field("phi") if "field" in sys.argv else None
    if it.rank == 1:
        it.particles("electrons").y[7] = np.nan
simulation = run(ranks=True)
simulation.on_step(bad, every=4)
try:
    simulation.step(10)
except (ZeroDivisionError, radixpic.Problem) as error:
    print(simulation.rank, simulation.steps, type(error).__name__, str(error).replace("\\n", " "))
"""
        mine = "ZeroDivisionError: mine"
        nan = "Problem: species electrons, y: expected finite numbers, found nan in place 7"
        for words, sentence in (((), mine), (("field",), mine), (("nan",), nan)):
            result = self.ranks(text, *words)
            self.assertEqual((result.returncode, result.stderr), (0, ""))
            own, other = f"1 4 {sentence.replace(': ', ' ', 1)}", f"0 4 Problem rank 1: {sentence}"
            self.assertEqual(sorted(result.stdout.splitlines()), [other, own])

    def test_configs_that_differ(self):
        text = """
try:
    radixpic.Simulation(sys.argv[1], set={"time.step": 1 + float(os.environ["OMPI_COMM_WORLD_RANK"])}, ranks=True)
except radixpic.Problem as problem:
    print(problem.code, problem)
"""
        result = self.ranks(text)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual(result.stdout.count("2 time.step: rank 0 has 1, rank 1 2"), 2)

    def test_what_one_rank_alone_asks_for(self):
        """It is refused where all take part in it, and none waits."""
        text = """
from radixpic.library import View, load
from radixpic.simulation import pointer
waves = {"fields.solver": "electromagnetic", "fields.speed_of_light": 10, "time.step": 0.02,
         "species.electrons.velocities.dimensions": 3}
simulation = radixpic.Simulation(sys.argv[1], set=waves, ranks=True)
simulation.step()
handle, values, calls = simulation._open(), pointer(np.zeros(4096)), load()
for call in (lambda: calls.write_particles(handle, b"electrons", b"u", values),
             lambda: calls.lend(handle, b"electrons", b"v", View()), lambda: calls.lend(handle, None, b"E/x", View())):
    try:
        simulation.rank or call()
    except radixpic.Problem as problem:
        print(problem.code, problem)
simulation.step()
simulation.particles("electrons").u[:] = 1
simulation.step()
"""
        result = self.ranks(text)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        before = "2 before particles are written, the ranks of an electromagnetic run sum their currents: "
        before += "call radixpic_meet() first, on all of them"
        field = "2 a field of several ranks cannot be lent; read and write it"
        self.assertEqual(result.stdout.splitlines(), [before, before, field])

    def test_a_signal_to_one_rank(self):
        text = """
simulation = run(ranks=True)
simulation.write_into("own")
simulation.on_step(lambda it: it.steps == 5 and it.rank == 1 and os.kill(os.getpid(), signal.SIGTERM))
try:
    simulation.step(23)
except KeyboardInterrupt as error:
    print(error)
"""
        result = self.ranks(text)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual(result.stdout.count("stopped by SIGTERM at step 5 (t = 0.5), with a checkpoint in own"), 2)
        self.assertTrue((self.folder / "own" / "checkpoints" / "checkpoint_5.h5").exists())

    def test_an_exception_elsewhere(self):
        """It is not in a hook, and the others wait for the end of MPI."""
        result = self.ranks("simulation = run(ranks=True)\nsimulation.rank == 1 and 1 / 0")
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("ZeroDivisionError: division by zero", result.stderr)

    def test_a_rank_that_leaves(self):
        """The next call of the others fails, also where the script starts and ends MPI, however late it comes."""
        text = """
import atexit, ctypes, time
from radixpic.library import find_library
if "own" in sys.argv:
    mpi = ctypes.CDLL(find_library())
    mpi.MPI_Init_thread(None, None, 3, ctypes.byref(ctypes.c_int()))
    atexit.register(mpi.MPI_Finalize)
simulation = run(ranks=True)
simulation.step(2)
if "refused" in sys.argv:
    try:
        simulation.set_field("E/x", simulation.field("E/x") * np.nan)
    except radixpic.Problem:
        pass
if simulation.rank == 1:
    sys.exit()
time.sleep(3)
if "both" in sys.argv:
    sys.exit(print("well"))
try:
    simulation.step()
except radixpic.Problem as problem:
    print(problem)
"""
        left = "rank 1 has ended"
        for word, said in (("", left), ("own", left), ("refused", left), ("both", "well")):
            result = self.ranks(text, word)
            self.assertEqual((result.returncode, result.stdout, result.stderr), (0, f"{said}\n", ""))

    def test_a_device_that_the_config_does_not_fit(self):
        """Of one rank alone: the others wait for its particles."""
        result = self.ranks("""
if os.environ["OMPI_COMM_WORLD_RANK"] == "1":
    os.environ["POCL_MAX_WORK_GROUP_SIZE"] = "8"
radixpic.Simulation(sys.argv[1], set={"sort.method": "paper", "sort.items_per_group": 16}, ranks=True)
""")
        self.assert_said(result, 2, "radixpic: sort: items_per_group", "than the 8 that")

    @unittest.skipUnless(importlib.util.find_spec("mpi4py"), "python3-mpi4py is not installed")
    def test_beside_mpi4py(self):
        """Where the others wait in a call of their own, all end, with the traceback."""
        text = """
from mpi4py import MPI
def bad(it):
    if it.rank == 1:
        raise ZeroDivisionError("mine")
    MPI.COMM_WORLD.allreduce(1)
simulation = run(ranks=True)
simulation.step(4)
assert MPI.COMM_WORLD.allreduce(len(simulation.particles("electrons"))) == 4096
simulation.on_step(bad)
simulation.step()
"""
        result = self.ranks(text)
        self.assertNotEqual(result.returncode, 0)
        self.assertRegex(result.stderr, r"(?s)ZeroDivisionError: mine\nTraceback.* in bad\n")


if __name__ == "__main__":
    unittest.main()
