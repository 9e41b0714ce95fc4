"""benchmarks/models/run.py --check: shares of nodes, results, gradients and buffers of a small model; PLAIT_TEST_LONG=1: of
all models. What it takes for wrong."""

import json
import math
import os
import pathlib
import subprocess
import sys

import pytest

torch = pytest.importorskip("torch")
import plait.torch.compiler  # noqa: E402: needs torch
FOLDER = pathlib.Path(__file__).resolve().parents[2] / "benchmarks/models"
sys.path.insert(0, str(FOLDER))
import models  # noqa: E402: of that folder
import run  # noqa: E402: of that folder

LONG = bool(os.environ.get("PLAIT_TEST_LONG"))


def checked(folder, *words):
    done = subprocess.run([sys.executable, FOLDER / "run.py", "--check", "--out", folder / "rows.json", *words],
                          capture_output=True, text=True)
    print(done.stdout)
    assert done.returncode == 0, done.stdout + done.stderr
    rows = json.loads((folder / "rows.json").read_text())["rows"]
    for row in rows:
        assert row["share"] >= row["floor"] and all(0 <= error <= 1 for error in row["error"].values())
        assert all(1 <= arena <= 1.1 for arena in row["arena"].values()) and row["nests"] == []
    return {row["model"]: row for row in rows}


@pytest.mark.skipif(LONG, reason="all models are checked")
def test_a_small_model(tmp_path):
    row, = checked(tmp_path, "--quick", "--only", "moe").values()
    assert row["nodes"] > 20 and row["floor"] == 0.9 and row["graph_breaks"] == 0 and list(row["error"]) == ["float32"]


@pytest.mark.skipif(not LONG, reason="PLAIT_TEST_LONG is not set")
def test_all_models_long_run(tmp_path):
    rows = checked(tmp_path)
    assert list(rows) == [name for name, *_ in models.MODELS]
    assert all(len(row["error"]) == 4 and row["graph_breaks"] == 0 for row in rows.values())
    assert {name for name, row in rows.items() if row["floor"] == 0.9} >= {"gpt2", "llama", "vit", "t5", "moe"}


def test_what_is_wrong():
    eager, exact = torch.tensor([1.0, 2.0, 3.0]), torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64)

    def error(got, eager=eager, exact=exact):
        return run.over_allowed(*run.errors(got, eager, exact), got)

    eps = torch.finfo(torch.float32).eps
    assert error(eager) == 0
    assert error(torch.nextafter(eager, torch.tensor(9.0))) == pytest.approx(4 / 3)  # a unit of 3 is 4/3 of eps/2 times 3
    assert error(eager + 4 * eps, eager + 2 * eps) < 1 < error(eager + 8 * eps, eager + 2 * eps)
    for got in (torch.tensor([1.0, math.nan, 3.0]), torch.tensor([1.0, math.inf, 3.0]), eager[:2], eager.double(), None):
        assert error(got) == math.inf
    assert error(eager, None) == math.inf and error(None, None) == 0
    odd = torch.tensor([1.0, math.nan, math.inf])
    assert error(odd, odd, odd.double()) == 0
    assert error(-odd, odd, odd.double()) == math.inf
    assert error(eager, odd, odd.double()) == math.inf
    assert error(torch.tensor([1]), torch.tensor([2]), torch.tensor([2])) == math.inf


@pytest.mark.parametrize("fault, of", [("no gradient", "gradient of conv1"), ("no update", "buffer norm"), ("NaN", "")])
def test_what_is_missing(monkeypatch, fault, of):
    def compiled(model, **_):
        def faulty(x):
            if fault == "no update":
                return torch.func.functional_call(model, {k: b.clone() for k, b in model.named_buffers()}, x)
            if fault == "NaN":
                return model(x) * math.nan
            return torch.func.functional_call(model, {"conv1.weight": model.conv1.weight.detach()}, x)

        return faulty

    monkeypatch.setattr(run.torch, "compile", compiled)
    error, name, *_ = run.check(*resnet())
    assert error == math.inf and name.startswith(of)


def resnet():
    _, build, make, lengths, _ = next(row for row in models.MODELS if row[0] == "resnet_train")
    return build, make, lengths, torch.float32, False


def test_what_draws_show(monkeypatch):
    """A value that fails on the first draw by little, and on a later one by more."""
    calls, first = [], run.errors

    def errors(got, eager, exact):
        ours, eagers, largest = first(got, eager, exact)
        calls.append(0)
        return (1.5 * run.allowed(eagers, largest, torch.float32) if len(calls) == 1 else ours), eagers, largest

    monkeypatch.setattr(run, "errors", errors)
    error, _, drawn, *_ = run.check(*resnet())
    assert error <= 1 <= drawn
    sides = run.Sides(resnet()[0], torch.float32)

    def draw(seed):
        return run.inputs_of(resnet()[1], 4, resnet()[2][0], torch.float32, seed)

    def faulty(x, calls=iter(range(9))):
        return sides.model(x) * (math.nan if next(calls) == 5 else 1)

    assert sides.errors_over_draws(faulty, draw)["result 0"] == math.inf


def test_a_fusion_that_fails_is_wrong(monkeypatch):
    def fails(*args):
        raise plait.InternalError("a planted internal error", "a test")

    monkeypatch.setattr(plait.torch.compiler.Fused, "__call__", fails)
    with pytest.warns(UserWarning, match="a fusion of .* runs eagerly"):
        error, why, *_ = run.check(*resnet())
    assert error == math.inf and "planted" in why
