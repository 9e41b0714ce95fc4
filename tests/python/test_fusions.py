"""benchmarks/fusions/run.py --check: every kind at a small size. What it takes for wrong, and what it makes of times."""

import json
import math
import pathlib
import subprocess
import sys

import pytest

torch = pytest.importorskip("torch")
FOLDER = pathlib.Path(__file__).resolve().parents[2] / "benchmarks/fusions"


@pytest.fixture(scope="module")
def run():
    """The module, beside the one of benchmarks/models that has its name."""
    sys.path.insert(0, str(FOLDER))
    other = sys.modules.pop("run", None)
    import run
    sys.path.remove(str(FOLDER))
    sys.modules.pop("run")
    if other:
        sys.modules["run"] = other
    return run


def test_all_kinds(tmp_path, run):
    done = subprocess.run([sys.executable, FOLDER / "run.py", "--check", "--sizes", "1mb", "--json", tmp_path / "rows.json"],
                          capture_output=True, text=True)
    print(done.stdout)
    assert done.returncode == 0, done.stdout + done.stderr
    rows = json.loads((tmp_path / "rows.json").read_text())["rows"]
    assert [(r["kind"], r["dtype"]) for r in rows] == [(kind.name, dtype) for kind in run.KINDS for dtype in run.DTYPES]
    assert len(rows) >= 2 * 20
    for row in rows:
        assert 0 <= row["error"]["plait"] <= 1 and row["bytes"] > 2**16 and row["compile_s"]["plait"] > 0


def test_a_module_of_ones_own(tmp_path):
    (tmp_path / "own.py").write_text("""
import torch

def model():
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.GELU(), torch.nn.Linear(32, 8))

def inputs():
    return [torch.randn(4, 16)]
""")
    done = subprocess.run([sys.executable, FOLDER.parent / "own.py", tmp_path / "own.py", "--backward", "--rounds", "1",
                           "--json", tmp_path / "own.json"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "fusions of plait" in done.stdout and "1 of 1 rows right" in done.stdout
    row = json.loads((tmp_path / "own.json").read_text())["rows"][0]
    assert set(row["ms"]) == {"eager", "plait", "inductor"} and row["eager"] == 0 and row["fused"] > 3
    (tmp_path / "empty.py").write_text("x = 1")
    refused = subprocess.run([sys.executable, FOLDER.parent / "own.py", tmp_path / "empty.py"], capture_output=True, text=True)
    assert refused.returncode == 1 and "has no function model and no inputs" in refused.stderr


def test_attention(tmp_path, run):
    done = subprocess.run([sys.executable, FOLDER / "run.py", "--check", "--of", "attention", "--sizes", "1mb", "--json",
                           tmp_path / "rows.json"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    rows = json.loads((tmp_path / "rows.json").read_text())["rows"]
    assert [r["kind"] for r in rows[::2]] == [kind.name for kind in run.ATTENTION]


def test_what_is_wrong(run):
    kind, argmax = (next(k for k in run.KINDS if k.name == name) for name in ("softmax", "argmax"))
    exact = torch.linspace(1, 3, 5, dtype=torch.float64)
    eager = exact.float()

    def error(got, eager=eager, exact=exact):
        return run.error_over(kind, got, eager, exact, [])

    assert error(eager) < 1 < error(eager + 1e-4)
    assert error(eager.bfloat16(), eager.bfloat16()) < 1 < error(eager.bfloat16() + 0.5, eager.bfloat16())
    for got in (eager[:4], eager.double(), eager * math.nan, eager / 0):
        assert error(got) == math.inf
    whole = torch.arange(5000, dtype=torch.int8)
    one_off = whole.clone()
    one_off[0] += 1
    assert 0 == error(whole, whole, whole) < error(one_off, whole, whole) < 1
    assert error(whole + 1, whole, whole) > 1 and error(whole + 2, whole, whole) == math.inf
    rows = torch.tensor([[1.0, 3.0, 3.0]])
    found = [run.error_over(argmax, torch.tensor([at]), torch.tensor([1]), torch.tensor([1]), [rows]) for at in range(3)]
    assert found == [math.inf, 0, 0]


def test_means_of_times(run):
    def row(kind, size, dtype, **ms):
        return {"kind": kind, "size": size, "dtype": dtype, "ms": {side: {"median": each, "min": each, "max": 1.1 * each} for side, each in ms.items()}}

    rows = [row("a", "16mb", "f32", plait=1, inductor=2, eager=4, copy=0.5),
            row("b", "16mb", "f32", plait=2, inductor=1, eager=8, copy=1),
            row("a", "16mb", "bf16", plait=1, inductor=8, eager=4, copy=0.5)]
    f32, bf16, both = run.geometric_means(rows)
    assert f32["copy_spread"] == 0.1
    assert f32["of"] == {"inductor": 1.0, "eager": 4.0, "copy": 0.5} and f32["under_0.9_of_inductor"] == ["b f32"]
    assert bf16["rows"] == 1 and both["rows"] == 3 and both["of"]["inductor"] == 2.0


def test_times_are_taken_in_turns(run):
    calls = []
    taken = run.times({side: lambda side=side: calls.append(side) for side in "ab"}, 3)
    order = [side for side, before in zip(calls[4:], calls[3:-1]) if side != before]
    assert order == ["a", "b", "a", "b"] and set(taken) == {"a", "b"}  # turns ab, ba, ab
    assert all(each["min"] <= each["median"] <= each["max"] for each in taken.values())
