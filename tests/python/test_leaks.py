"""Calls through torch.compile(..., backend="plait") leak neither memory nor files: 3,000, with PLAIT_TEST_LONG=1 ten thousand."""

import os

import pytest

torch = pytest.importorskip("torch")
import plait.torch  # noqa: E402,F401: needs torch
from process import growth  # noqa: E402
from torch import nn  # noqa: E402

CALLS = 10000 if os.environ.get("PLAIT_TEST_LONG") else 3000
MOST = 2**20 if CALLS == 10000 else 2**19  # bytes that may stay


@pytest.fixture
def model():
    torch._dynamo.reset()
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.LayerNorm(16), nn.Linear(16, 4))


def test_forward(model):
    f, x = torch.compile(model, backend="plait", options={"strict": True}), torch.randn(4, 8)
    with torch.no_grad():
        memory, files = growth(lambda: f(x), CALLS, warm=1000)
    assert memory < MOST and files == 0


def test_training(model):
    f, x = torch.compile(model, backend="plait", options={"strict": True}), torch.randn(4, 8, requires_grad=True)
    optimizer = torch.optim.SGD(model.parameters(), 0.01)

    def step():
        optimizer.zero_grad()
        f(x).square().mean().backward()
        optimizer.step()

    memory, files = growth(step, CALLS, warm=1000)
    assert memory < MOST and files == 0


def test_sizes_that_change(model):
    f = torch.compile(model, backend="plait", options={"strict": True}, dynamic=True)
    inputs = [torch.randn(2 + i % 7, 8) for i in range(7)]
    memory, files = growth(lambda: [f(x).sum().backward() for x in inputs], CALLS // len(inputs), warm=200)
    assert memory < MOST and files == 0
