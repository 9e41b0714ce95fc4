#!/usr/bin/env python3
"""Shows that the drivers of benchmarks/ compare, skip and fail as they say, with sides that only pretend."""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "benchmarks"))
import machine  # noqa: E402
import turns  # noqa: E402
from tp_mlp import check  # noqa: E402
from tp_mlp.job import Job  # noqa: E402

SIDE = """
import sys
sys.path.insert(0, sys.argv[1])
import turns
kind, folder = sys.argv[2], sys.argv[3]
rank = int(sys.argv[4]) if len(sys.argv) > 4 else 0
if kind == "missing":
    print("error: no such part"); sys.exit(3)
if kind == "broken":
    print("Traceback\\nValueError: no"); sys.exit(1)
def turn(row, count):
    if row == "die": sys.exit(9)
    if row in ("skipped", "failed"): return {row: "as asked"}
    return count * (1 + rank)
turns.serve(folder, kind, rank, {"version": "1"}, turn)
"""


class Turns(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = scratch.name
        pathlib.Path(self.folder, "side.py").write_text(SIDE)

    def side(self, at, kind, ranks=1):
        commands = [[sys.executable, f"{self.folder}/side.py", str(ROOT / "benchmarks"), kind, self.folder, str(rank)]
                    for rank in range(ranks)]
        return turns.Side(kind, commands, at, ranks, limit=30)

    def test_slowest_rank_counts(self):
        with turns.listener(self.folder) as at:
            side = self.side(at, "plait", ranks=2)
            self.assertEqual((side.turn("a", 3), side.about), (6, {"version": "1"}))
            side.close()
            self.assertEqual([process.returncode for process in side.processes], [0, 0])

    def test_reasons(self):
        with turns.listener(self.folder) as at:
            side = self.side(at, "plait")
            self.addCleanup(side.close)
            with self.assertRaisesRegex(turns.Missing, "plait: as asked"):
                side.turn("skipped", 1)
            with self.assertRaisesRegex(RuntimeError, "plait: as asked"):
                side.turn("failed", 1)
            self.assertEqual(side.turn("a", 1), 1)
            with self.assertRaisesRegex(RuntimeError, "rank 0 ended"):
                side.turn("die", 1)

    def test_a_side_that_does_not_start(self):
        with turns.listener(self.folder) as at:
            with self.assertRaisesRegex(turns.Missing, "missing: error: no such part"):
                self.side(at, "missing")
            with self.assertRaisesRegex(RuntimeError, "broken: ValueError: no"):
                self.side(at, "broken")


class Numbers(unittest.TestCase):
    def test_bf16(self):
        for value, bits in ((1.0, 0x3F80), (1.00390625, 0x3F80), (1.01171875, 0x3F82), (-2.0, 0xC000)):  # ties to even
            self.assertEqual(check.to_bits([value], "bf16")[0], bits)
        self.assertEqual(check.from_bits(numpy.array([0x3F82], "<u2"), "bf16")[0], 1.015625)

    def test_spread(self):
        self.assertEqual(machine.spread([3.0, 1.0, 2.00004]), {"median": 2.0, "min": 1.0, "max": 3.0})

    def test_exit_status(self):
        rows = {"ok": {}, "no peer": {"skipped": ["torch: none"]}, "no part": {"skipped": ["plait: none"]},
                "wrong": {"failed": ["torch: wrong"]}}
        for names, status in ((["ok"], 0), (["ok", "no peer"], 0), (["ok", "no part"], 3), (["no part", "wrong"], 1)):
            self.assertEqual(machine.exit_status([rows[name] for name in names]), status, names)

    def outputs(self, dtype, ranks, spoil=None):
        """Errors over bounds of outputs computed in float64 and rounded as the dtype is."""
        with tempfile.TemporaryDirectory() as folder:
            job = Job(folder, dtype, ranks, 0, 16, 32, 64)
            t = check.write_inputs(job)
            linear1 = t["x"] @ t["w0"].T + t["b0"]
            gelu = check.gelu(linear1)
            linear2 = gelu @ t["w1"].T + t["b1"]
            linear2 = check.from_bits(check.to_bits(linear2, dtype), dtype)
            keep = numpy.random.default_rng(3).random(linear2.shape) >= 0.1
            out = {"linear1": linear1, "gelu": gelu, "linear2": linear2, "dropout": numpy.where(keep, linear2 / 0.9, 0)}
            if spoil:
                out[spoil] = out[spoil] + (0.05 if spoil != "dropout" else 1)
            for name, values in out.items():
                for rank in range(ranks):
                    cut = name in ("linear1", "gelu")
                    piece = numpy.split(values, ranks, 1)[rank] if cut else values
                    numpy.ascontiguousarray(check.to_bits(piece, dtype)).tofile(f"{folder}/plait.{name}.{rank}")
            return check.outputs(job, "plait", t)

    def test_right_outputs(self):
        for dtype in ("f32", "bf16"):
            for ranks in (1, 2):
                errors = self.outputs(dtype, ranks)
                self.assertLessEqual(max(errors.values()), 1, (dtype, ranks, errors))

    def test_wrong_outputs(self):
        for spoil in ("linear1", "gelu", "linear2", "dropout"):
            self.assertGreater(self.outputs("f32", 2, spoil)[spoil], 1, spoil)


class Drivers(unittest.TestCase):
    def test_nothing_to_measure(self):
        with tempfile.TemporaryDirectory() as folder:
            for driver, status in (("tp_mlp", 3), ("gpu", 3)):
                words = ["--binary-dir", folder, "--results", f"{folder}/{driver}.json"]
                words += ["--quick", "--processes", "1", "--dtypes", "f32", "--turns", "1"] if driver == "tp_mlp" else ["--no-torch"]
                result = subprocess.run([sys.executable, str(ROOT / f"benchmarks/{driver}/driver.py"), *words],
                                        capture_output=True, text=True)
                self.assertEqual(result.returncode, status, result.stdout + result.stderr)
                self.assertIn("skipped: plait", result.stdout)
                read = json.loads(pathlib.Path(f"{folder}/{driver}.json").read_text())
                for key in ("date", "machine", "load_average", "rows"):
                    self.assertIn(key, read)


if __name__ == "__main__":
    unittest.main()
