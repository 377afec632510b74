"""The library refuses what the program does: configs and settings of test_malformed.py, in one process for each
test."""

import json
import re
import signal
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "cli"))

import test_malformed  # noqa: E402
from program import ROOT, TIMEOUT  # noqa: E402

CREATE = """
import ctypes, json, os, sys
from radixpic.library import HANDLE, load
from radixpic.script import Problem
for line in sys.stdin:
    path, settings = json.loads(line)
    words = (ctypes.c_char_p * len(settings))(*map(os.fsencode, settings))
    try:
        load().create(os.fsencode(path), words, len(words), HANDLE())
        print(json.dumps([0, ""]), flush=True)
    except Problem as problem:
        print(json.dumps([problem.code, str(problem)]), flush=True)
"""


class ByTheLibrary:
    def assert_all_refused(self, cases, at_least):
        """Those of the cases that are `check CONFIG --set WORD...`."""
        cases = [case for case in cases if case[1][0] == "check" and set(case[1][2::2]) <= {"--set"}]
        given = "".join(json.dumps([str(arguments[1]), list(arguments[3::2])]) + "\n" for _, arguments, _ in cases)
        options = {"cwd": self.here, "env": {"PYTHONPATH": str(ROOT / "scripts"), "RADIXPIC": test_malformed.PROGRAM}}
        result = subprocess.run(
            [sys.executable, "-B", "-c", CREATE],
            input=given,
            capture_output=True,
            text=True,
            timeout=TIMEOUT,
            **options,
        )
        answers = [json.loads(line) for line in result.stdout.splitlines()]
        if result.returncode < 0:
            self.fail(f"{signal.Signals(-result.returncode).name}: {cases[len(answers)]}")
        self.assertEqual((result.returncode, result.stderr, len(answers)), (0, "", len(cases)))
        for (what, _, pattern), (code, sentence) in zip(cases, answers):
            with self.subTest(what=what[:200]):
                self.assertEqual(code, 2, sentence)
                self.assertRegex(f"{sentence}\n", re.compile(pattern.replace("radixpic: ", ""), re.MULTILINE))


class Keys(ByTheLibrary, test_malformed.Keys):
    test_run_refuses_what_check_does = test_the_keys_are_those_of_the_program = None


class Files(ByTheLibrary, test_malformed.Files):
    pass
