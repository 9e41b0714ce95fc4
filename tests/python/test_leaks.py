"""Ten thousand calls through torch.compile(..., backend="plait") leak neither memory nor files."""

import pytest

torch = pytest.importorskip("torch")
import plait.torch  # noqa: E402,F401: needs torch
from process import growth  # noqa: E402
from torch import nn  # noqa: E402


@pytest.fixture
def model():
    torch._dynamo.reset()
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.LayerNorm(16), nn.Linear(16, 4))


def test_forward(model):
    f, x = torch.compile(model, backend="plait", options={"strict": True}), torch.randn(4, 8)
    with torch.no_grad():
        memory, files = growth(lambda: f(x), 10000, warm=1000)
    assert memory < 2**20 and files == 0


def test_training(model):
    f, x = torch.compile(model, backend="plait", options={"strict": True}), torch.randn(4, 8, requires_grad=True)
    optimizer = torch.optim.SGD(model.parameters(), 0.01)

    def step():
        optimizer.zero_grad()
        f(x).square().mean().backward()
        optimizer.step()

    memory, files = growth(step, 10000, warm=1000)
    assert memory < 2**20 and files == 0


def test_sizes_that_change(model):
    f = torch.compile(model, backend="plait", options={"strict": True}, dynamic=True)
    inputs = [torch.randn(2 + i % 7, 8) for i in range(7)]
    memory, files = growth(lambda: [f(x).sum().backward() for x in inputs], 10000 // len(inputs), warm=200)
    assert memory < 2**20 and files == 0
