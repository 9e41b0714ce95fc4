"""torch.compile(..., backend="plait") with symbolic sizes: which of them are the same, where results lie, gradients."""

import warnings

import pytest

torch = pytest.importorskip("torch")
import plait.torch  # noqa: E402, F401: needs torch
from judging import wrong  # noqa: E402
from plait.torch import compiler  # noqa: E402
from torch.nn import functional as F  # noqa: E402


@pytest.fixture(autouse=True)
def fresh():
    torch._dynamo.reset()
    torch.manual_seed(0)


def results_of(function, args, backward):
    args = [x.detach().clone().requires_grad_(backward and x.is_floating_point()) if torch.is_tensor(x) else x for x in args]
    out = function(*args)
    outs = list(out) if isinstance(out, (tuple, list)) else [out]
    if backward:
        torch.autograd.backward([each.square().sum() for each in outs if each.requires_grad])
        outs += [x.grad for x in args if torch.is_tensor(x)]
    return [each if each is None else each.detach() for each in outs]


def agree_for(f, made, sizes, backward=False, dynamic=None, roundings=4):
    """Results and gradients are right for each of the sizes, one after another. What stayed eager, by op and reason."""
    g = torch.compile(f, backend="plait", dynamic=dynamic)
    with warnings.catch_warnings(), compiler.listening() as reports:
        warnings.simplefilter("ignore")
        for size in sizes:
            args = made(*size)
            double = [x.double() if torch.is_tensor(x) and x.is_floating_point() else x for x in args]
            exact, eager = results_of(f, double, backward), results_of(f, args, backward)
            for got, e, x in zip(results_of(g, args, backward), eager, exact, strict=True):
                assert (got is None) == (e is None)
                assert got is None or not (why := wrong(got, e, x, roundings=roundings)), (size, why)
                assert got is None or got.stride() == e.stride() or not got.numel(), size
    return [row for report in reports for row in report.eager]


def heads(x, w, h: int = 4):
    b, t, d = x.shape
    q = x.view(b, t, h, d // h).transpose(1, 2)
    return F.scaled_dot_product_attention(q, q, q).transpose(1, 2).reshape(b, t, d) @ w


@pytest.mark.parametrize("backward", [False, True])
def test_what_lies_in_another_order_by_a_symbolic_number_of_heads(backward):
    """The stride of a position is a product that PyTorch does not write as the width."""
    sizes = [(2, 5, 4), (3, 7, 4), (2, 5, 2), (1, 9, 4), (4, 1, 8), (2, 33, 1)]
    made = lambda b, t, h: (torch.randn(b, t, 32), torch.randn(32, 32) * 0.2, h)  # noqa: E731
    agree_for(heads, made, sizes, backward, dynamic=True, roundings=8)
