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


def lies(x):
    """Strides that say where elements are."""
    return [stride for stride, n in zip(x.stride(), x.shape) if n > 1] if x.numel() else []


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
                assert got is None or lies(got) == lies(e), size
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
    assert not agree_for(heads, made, sizes, backward, dynamic=True, roundings=8)


def block(x, wq, wo, h: int = 4):
    b, t, d = x.shape
    q, k, v = (F.layer_norm(x, (d,)) @ wq).view(b, t, 3, h, d // h).permute(2, 0, 3, 1, 4)
    return x + F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(b, t, d) @ wo


def test_a_block_whose_weights_have_sizes_of_their_own():
    made = lambda b, t, d: (torch.randn(b, t, d), torch.randn(d, 3 * d) * 0.1, torch.randn(d, d) * 0.1)  # noqa: E731
    sizes = [(2, 5, 32), (3, 7, 32), (1, 9, 16), (4, 1, 64), (2, 33, 48)]
    assert not agree_for(block, made, sizes, backward=True, dynamic=True, roundings=32)


@pytest.mark.parametrize("dynamic", [None, True])
def test_cross_entropy_of_inputs_with_symbols_of_their_own(dynamic):
    """The products of their sizes are equal: so are batch and length, until a call says otherwise."""
    def f(x, target):
        return F.cross_entropy(x.flatten(0, -2) * 2, target.flatten(), ignore_index=0)

    def made(batch, length, *other):
        shape = other or (batch, length)
        return torch.randn(batch, length, 61), torch.randint(1, 61, shape)

    sizes = [(3, 8), (2, 11), (4, 9), (1, 33), (5, 1), (4, 257), (2, 7)]
    assert not agree_for(f, made, sizes, backward=True, dynamic=dynamic)
    agree_for(f, made, [(3, 8), (2, 12), (2, 12, 4, 6), (4, 6, 2, 12), (3, 5, 15), (7, 2)], backward=True, dynamic=dynamic)


CASES = {
    "mm": (lambda a, b: (a * 2) @ b, lambda n, m, k: (torch.randn(n, m), torch.randn(m, k)), [(3, 4, 5), (6, 2, 7), (1, 9, 3)]),
    "bmm": (lambda a, b: torch.bmm(a.exp(), b) * 2, lambda n, m, k: (torch.randn(n, m, k), torch.randn(n, k, m)),
            [(3, 4, 5), (6, 2, 7), (1, 9, 3)]),
    "gather": (lambda x, i: x.exp().gather(1, i) * 2,
               lambda n, m, k, taken: (torch.randn(n, m), torch.randint(0, m, (taken, k))), [(5, 6, 3, 5), (7, 4, 9, 7), (2, 3, 4, 2)]),
    "scatter": (lambda x, i, y: x.exp().scatter_add(1, i, y * 2),
                lambda n, m, k, taken: (torch.randn(n, m), torch.randint(0, m, (taken, k)), torch.randn(n, k)),
                [(5, 6, 3, 5), (7, 4, 9, 7), (2, 3, 4, 2)]),
    "index_put": (lambda x, i, y: torch.exp(x).index_put([i], y * 2, accumulate=True),
                  lambda n, m, k: (torch.randn(n, m), torch.randint(0, n, (k,)), torch.randn(k, m)), [(5, 6, 3), (7, 4, 9), (2, 3, 4)]),
    "cache": (lambda q, k, v, i: F.scaled_dot_product_attention(q * 2, k.index_copy(2, i, q), v),
              lambda b, n, t: (torch.randn(b, 4, n, 16), torch.randn(b, 4, t, 16), torch.randn(b, 4, t, 16), torch.randperm(t)[:n]),
              [(2, 3, 40), (3, 5, 41), (2, 1, 64), (4, 32, 33)]),
    "parts": (lambda x, w, c: [g.sigmoid() * c for g in (x @ w).chunk(4, -1)],
              lambda n, m, k: (torch.randn(n, m), torch.randn(m, 4 * k), torch.randn(n, k)), [(3, 4, 5), (6, 2, 7), (1, 9, 3)]),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("dynamic", [None, True])
def test_what_an_op_demands_to_be_equal(name, dynamic):
    f, made, sizes = CASES[name]
    backward = name != "cache"
    assert not agree_for(f, made, sizes, backward=backward, dynamic=dynamic, roundings=16)


@pytest.mark.parametrize("name", ["gather", "scatter"])
def test_what_an_op_takes_of_a_larger_one(name):
    """Equal sizes are of the call that the graph was made for; another is made anew, and may stay eager."""
    f, made, _ = CASES[name]
    agree_for(f, made, [(5, 6, 3, 5), (7, 4, 9, 7), (8, 5, 4, 6), (6, 3, 2, 6), (9, 3, 2, 4)], backward=name == "gather", dynamic=True)


def test_bounds_that_the_user_set_for_sizes_stay():
    """Dims that are marked dynamic may be equal to others, and guards of that raise no error."""
    g = torch.compile(lambda x, i: x.exp().gather(1, i) * 2, backend="plait")
    for n in (5, 7, 9):
        x, i = torch.randn(n, 4), torch.zeros(n, 3, dtype=torch.int64)
        for each in (x, i):
            torch._dynamo.mark_dynamic(each, 0, min=2, max=64)
        torch.testing.assert_close(g(x, i), x.exp().gather(1, i) * 2)


def in_blocks(x):
    n, width = x.shape
    y = F.pad(x, (0, 0, 0, -n % 8)).view(-1, 8, width).exp()
    ahead = torch.cat([torch.zeros(1, 1, width), y.sum(1, keepdim=True).cumsum(0)[:-1]])
    return (y.cumsum(1) + ahead).reshape(-1, width)[:n].log1p()


def test_sizes_whose_equality_plait_does_not_see_cost_one_node():
    sizes = [(9, 3), (8, 3), (7, 3), (33, 5), (16, 2), (257, 4)]
    eager = agree_for(in_blocks, lambda n, m: (torch.randn(n, m),), sizes, dynamic=True)
    assert {op for op, why in eager if why.startswith("extents differ")} <= {"aten.add.Tensor"}
    agree_for(in_blocks, lambda n, m: (torch.randn(n, m),), sizes, backward=True, dynamic=True, roundings=16)


@pytest.mark.parametrize("f, op, what", [(lambda x, k: x.exp().tril(k) + 1, "aten.tril.default", "diagonal"),
                                         (lambda x, k: x.exp().triu(k - 4) + 1, "aten.triu.default", "diagonal"),
                                         (lambda x, k: x.exp().roll(k, 0) + 1, "aten.roll.default", "shift")])
def test_reasons_name_what_is_symbolic(f, op, what):
    eager = agree_for(f, lambda n, k: (torch.randn(n, n), k), [(5, 2), (7, 3), (4, 6)], dynamic=True)
    (name, why), = set(eager)
    assert name == op and why.startswith(f"the {what} is ") and "differs from call to call" in why


def test_a_number_that_a_guard_fixes_is_no_symbol():
    def f(x, k: int):
        return x.exp().tril(k) + (1 if k == 2 else 2)

    assert not agree_for(f, lambda n, k: (torch.randn(n, n), k), [(5, 2), (7, 2)], dynamic=True)
