#!/usr/bin/python3
"""Many steps: the program holds no more memory at the end than once it was warm, and its energies stay what they
are."""

import math
import os
import re
import signal
import time
import unittest
from pathlib import Path

from faults import RANKS, FaultTest, times
from program import ENDLESS

STEPS = times(3000, 100000)
SAMPLES = 300  # rows of the history
GROWTH = 1024  # kB
WARM_AFTER = 0.3  # of the steps: every kernel has run by then, every kind of file been written


class Soak(FaultTest):
    config = f"""\
title: Soak
grid: {{cells: [16, 16], length: [6.283185307179586, 6.283185307179586]}}
time: {{step: 0.05, steps: {STEPS}}}
species:
  - {{name: electrons, charge: -1, mass: 1, density: 1, particles: 1000, velocities: {{kind: maxwellian}}}}
output:
  directory: out
  history: {{every: {STEPS // SAMPLES}}}
  snapshots: {{every: {STEPS // 30}}}
  checkpoints: {{every: {STEPS // 30}}}
"""

    def resident(self, pid):
        """Of a process, in kB."""
        return int(re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())[1])

    def watch(self, ranks, method):
        """What each rank holds, again and again once it is warm; the last after all steps, when it is told to stop."""
        process = self.start_on(ranks, "run", "fault.yaml", "--quiet", "--set", f"step.method={method}", *ENDLESS)
        pids = self.processes(process, ranks)
        samples = {pid: [] for pid in pids}
        rows = 0
        while rows <= SAMPLES and process.poll() is None:
            rows = self.rows()
            for pid in pids if rows > WARM_AFTER * SAMPLES else []:
                samples[pid].append(self.resident(pid))
            time.sleep(0.02)
        os.kill(pids[0], signal.SIGTERM)
        self.assertEqual(process.wait(), 4, (self.folder / "stderr").read_text())
        return samples.values()

    def check(self, ranks, method):
        for samples in self.watch(ranks, method):
            growth = max(samples) - samples[0]
            print(f"{ranks} rank(s), {method}: {STEPS} steps, {samples[0]} kB when warm, at most {growth} kB more")
            self.assertLess(growth, GROWTH)
        rows = self.history()
        self.assertGreaterEqual(int(rows[-1]["step"]), STEPS)
        for row in rows:
            for name, text in row.items():
                self.assertTrue(math.isfinite(float(text)), (name, row))

    def test_fused_steps(self):
        self.check(1, "fused")

    def test_plain_steps(self):
        self.check(1, "radix")

    @unittest.skipUnless(2 in RANKS, "no mpirun")
    def test_two_ranks(self):
        self.check(2, "fused")


if __name__ == "__main__":
    unittest.main()
