#!/usr/bin/env python3
"""Shows that the long run gives every test to one area, goes on where it was left, and counts honestly."""
import contextlib
import dataclasses
import io
import json
import pathlib
import re
import sys
import tempfile
import unittest
import unittest.mock

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "tools"))
import long_run  # noqa: E402


def test(number, name, *labels):
    return long_run.Test(number, name, list(labels))


class Fake:
    """A builder whose tests pass but for those named `bad` or `skip`; it is interrupted after `batches` of them."""
    jobs = 2

    def __init__(self, tests, batches=1000, builds=True):
        self.tests, self.batches, self.builds, self.ran = tests, batches, builds, []

    def build(self, area):
        return self.builds

    def list(self, preset):
        return self.tests

    def run(self, preset, tests):
        if self.batches == 0:
            raise KeyboardInterrupt
        self.batches -= 1
        self.ran += [t.name for t in tests]
        kinds = ["failed" if "bad" in t.name else "skipped" if "skip" in t.name else "passed" for t in tests]
        return [(kind, t.name, 0.5, f"{t.name} said\n") for kind, t in zip(kinds, tests)]


class Areas(unittest.TestCase):
    def test_every_long_test_has_one_area(self):
        folders = re.search(r"set\(PLAIT_TEST_FOLDERS\n(.*?)\)", (ROOT / "tests/sources.cmake").read_text(), re.S)
        tests = [test(i, f"{folder}/Suite.LongRun", "long") for i, folder in enumerate(folders.group(1).split())]
        taken = {t.name: [] for t in tests}
        for name, area in long_run.AREAS.items():
            if area.preset == "ci":
                for t in long_run.tests_of(name, tests):
                    taken[t.name].append(name)
        self.assertEqual({name: len(areas) for name, areas in taken.items()}, {name: 1 for name in taken})
        self.assertEqual(taken["fuzz/Suite.LongRun"], ["fuzz"])

    def test_checks_run_once(self):
        tests = [test(1, "check/layers", "check"), test(2, "unit/program/A.B"), test(3, "unit/sym/A.B")]
        names = {name: [t.name for t in long_run.tests_of(name, tests)] for name in ("tests", "sanitize", "tsan", "rest")}
        self.assertEqual(names, {"tests": ["check/layers", "unit/program/A.B", "unit/sym/A.B"],
                                 "sanitize": ["unit/program/A.B", "unit/sym/A.B"], "tsan": ["unit/program/A.B"], "rest": []})

    def test_presets_are_there(self):
        presets = json.loads((ROOT / "CMakePresets.json").read_text())
        for area in long_run.AREAS.values():
            for kind in ("configurePresets", "buildPresets") + (() if area.target else ("testPresets",)):
                self.assertIn(area.preset, [preset["name"] for preset in presets[kind]])

    def test_folders_that_are_built_are_in_the_build(self):
        """Builds with sanitizers leave folders out where the preset does not ask for all."""
        left_out = re.search(r"set\(PLAIT_UNSANITIZED ([^)]*)\)", (ROOT / "tests/CMakeLists.txt").read_text()).group(1).split()
        presets = {p["name"]: p for p in json.loads((ROOT / "CMakePresets.json").read_text())["configurePresets"]}
        for name, area in long_run.AREAS.items():
            options = presets[area.preset].get("cacheVariables", {})
            if "PLAIT_SANITIZE" in options and options.get("PLAIT_SANITIZE_ALL") != "ON":
                self.assertEqual([f for f in left_out if area.folders and re.fullmatch(area.folders, f)], [], name)

    def test_targets(self):
        self.assertIn("plait_test_unit_program", long_run.targets(long_run.THREADED))
        self.assertNotIn("plait_test_unit_sym", long_run.targets(long_run.THREADED))


class Runs(unittest.TestCase):
    TESTS = [test(i, f"fuzz/A.{'bad' if i == 3 else 'skip' if i == 4 else 'good'}{i}", "long") for i in range(1, 8)]

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.file = pathlib.Path(scratch.name) / "long/fuzz.json"

    def state(self, tree="t"):
        return long_run.State(self.file, tree)

    def last_line(self, state):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            status = long_run.report({"fuzz": state})
        return printed.getvalue().splitlines()[-1], status

    def test_goes_on(self):
        first = Fake(self.TESTS, batches=2)
        with self.assertRaises(KeyboardInterrupt):
            long_run.run_area("fuzz", self.state(), first)
        self.assertEqual(len(first.ran), 4)
        second, state = Fake(self.TESTS), self.state()
        long_run.run_area("fuzz", state, second)
        self.assertEqual(sorted(first.ran + second.ran), sorted(t.name for t in self.TESTS))
        self.assertEqual(self.last_line(state), ("5 passed, 1 failed, 1 skipped", 1))
        self.assertEqual(self.last_line(self.state()), ("5 passed, 1 failed, 1 skipped", 1))

    def test_what_did_not_end_runs_again(self):
        state = self.state()
        state.cases = {"fuzz/A.good1": ["failed", 0.0, long_run.NO_RESULTS], "fuzz/A.bad3": ["failed", 1.0, "wrong"]}
        state.save()
        again = Fake(self.TESTS)
        long_run.run_area("fuzz", self.state(), again)
        self.assertIn("fuzz/A.good1", again.ran)
        self.assertNotIn("fuzz/A.bad3", again.ran)

    def test_an_area_without_its_program_is_skipped_by_name(self):
        area = dataclasses.replace(long_run.AREAS["libfuzzer"], needs="no_such_program")
        state, builder = self.state(), Fake(self.TESTS)
        with unittest.mock.patch.dict(long_run.AREAS, {"libfuzzer": area}):
            long_run.run_area("libfuzzer", state, builder)
        self.assertEqual(builder.ran, [])
        self.assertEqual(state.cases, {"libfuzzer": ["skipped", 0.0, "no_such_program is not here"]})

    def test_another_tree_begins_anew(self):
        long_run.run_area("fuzz", self.state(), Fake(self.TESTS))
        again = Fake(self.TESTS)
        long_run.run_area("fuzz", self.state("another"), again)
        self.assertEqual(len(again.ran), len(self.TESTS))

    def test_what_is_left_is_a_failure(self):
        state = self.state()
        long_run.run_area("fuzz", state, Fake(self.TESTS[:2] + self.TESTS[4:]), limit=-1)
        self.assertEqual(state.left, 5)
        self.assertEqual(self.last_line(state), ("0 passed, 1 failed, 0 skipped", 1))
        long_run.run_area("fuzz", state, Fake(self.TESTS[:2] + self.TESTS[4:]))
        self.assertEqual(self.last_line(state), ("5 passed, 0 failed, 0 skipped", 0))

    def test_a_build_that_fails(self):
        state = self.state()
        long_run.run_area("fuzz", state, Fake(self.TESTS, builds=False))
        self.assertEqual(self.last_line(state), ("0 passed, 1 failed, 0 skipped", 1))
        long_run.run_area("fuzz", state, Fake(self.TESTS[:1]))
        self.assertEqual(self.last_line(state), ("1 passed, 0 failed, 0 skipped", 0))

    def test_a_state_that_was_cut_off(self):
        self.file.parent.mkdir()
        self.file.write_text('{"tree": "t", "cas')
        self.assertEqual(self.state().cases, {})


if __name__ == "__main__":
    unittest.main()
