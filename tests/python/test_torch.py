"""torch.compile(..., backend="plait"): results, gradients, sizes, what stays eager."""

import copy
import warnings

import pytest

torch = pytest.importorskip("torch")
import plait.torch  # noqa: E402: needs torch
from judging import wrong  # noqa: E402
from plait.torch import compiler  # noqa: E402
from torch import nn  # noqa: E402
from torch.nn import functional as F  # noqa: E402


@pytest.fixture(autouse=True)
def fresh():
    torch._dynamo.reset()
    torch.manual_seed(0)


def compiled(f, **how):
    return torch.compile(f, backend="plait", **how)


def counted_graphs(f):
    """f with dynamic shapes, and the list of the graphs that the backend is given. PyTorch may begin the first anew."""
    graphs = []

    def counting(gm, inputs, **how):
        graphs.append(gm)
        return plait.torch.backend(gm, inputs, **how)

    return torch.compile(f, backend=counting, dynamic=True), graphs


def agree(f, *args, backward=False, strict=True):
    """Results and, with `backward`, gradients are right by judging.wrong; a gradient is there where eager has one."""
    def run(function, inputs):
        inputs = [x.detach().clone().requires_grad_(backward and x.is_floating_point()) if torch.is_tensor(x) else x
                  for x in inputs]
        out = function(*inputs)
        outs = list(out) if isinstance(out, (tuple, list)) else [out]
        if backward:
            torch.autograd.backward([o.sum() for o in outs if o.requires_grad])
            outs += [x.grad for x in inputs if torch.is_tensor(x)]
        return [None if o is None else o.detach() for o in outs]

    double = [x.double() if torch.is_tensor(x) and x.is_floating_point() else x for x in args]
    exact, eager = run(f, double), run(f, args)
    got = run(compiled(f, options={"strict": strict}), args)
    for g, e, x in zip(got, eager, exact, strict=True):
        assert (g is None) == (e is None)
        assert g is None or not (why := wrong(g, e, x)), why


class Block(nn.Module):
    def __init__(self, width=32, heads=4):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.heads = heads

    def forward(self, x):
        b, t, h = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(b, t, 3, self.heads, h // self.heads).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).reshape(b, t, h))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


def test_a_transformer_block_is_two_fusions():
    model, x = Block(), torch.randn(2, 6, 32, requires_grad=True)
    report = plait.torch.report(model, x, backward=True)
    assert report.share == 1 and len(report.graphs) == 2 and [len(g.fusions) for g in report.graphs] == [1, 1]
    assert "100.0 %" in str(report) and repr(report).startswith("<plait.torch.Report: 2 graphs, ") and "100.0 %" in repr(report)
    assert [[fusion.name for fusion in graph] for graph in report.fusions] == [["forward_0"], ["backward_0"]]
    with pytest.raises(plait.UserError, match="3 is no model"):
        plait.torch.report(3)


def test_functions_of_torch_say_which_op_is_meant():
    for call, words in ((lambda x: torch.exp(x), "torch.exp computes with PyTorch's tensors, .* plait.ops.exp adds it"),
                        (lambda x: torch.maximum(x, x), "plait.ops.max adds it"), (lambda x: torch.ones(3) + x, "make the array an input"),
                        (lambda x: torch.add(torch.ones(3), x), "make the array an input"), (lambda x: torch.nn.functional.relu(x), "plait.ops.relu")):
        with pytest.raises(TypeError, match=words):
            plait.jit(call)(torch.ones(3))


def test_a_report_of_gradients_needs_something_that_requires_them():
    with pytest.raises(plait.UserError, match="no result requires a gradient"):
        plait.torch.report(lambda x: x.exp(), torch.randn(3), backward=True)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_a_transformer_block_and_its_gradients(dtype):
    model = Block().to(dtype)
    x = torch.randn(2, 6, 32, dtype=dtype)
    outs = []
    for f, x_ in ((model, x), (compiled(model, options={"strict": True}), x), (copy.deepcopy(model).double(), x.double())):
        x_ = x_.clone().requires_grad_()
        y = f(x_)
        y.sum().backward()
        outs.append((y.detach(), x_.grad))
    for eager, got, exact in zip(*outs):
        assert not (why := wrong(got, eager, exact)), why


@pytest.mark.parametrize("positions", [6, 300])  # a kernel of its own for long sequences
@pytest.mark.parametrize("key_heads, causal, mask", [(4, True, None), (4, False, None), (2, True, None), (2, False, "heads"),
                                                     (1, False, "all"), (4, False, "kept")])
def test_attention_and_its_gradients(key_heads, causal, mask, positions):
    torch.manual_seed(0)
    scores = (2, 4 if mask == "heads" else 1, positions, positions)
    masks = {None: None, "heads": torch.randn(scores), "all": torch.randn(scores), "kept": torch.rand(scores) < 0.7}
    q, grad = torch.randn(2, 4, positions, 16), torch.randn(2, 4, positions, 16)
    k, v = torch.randn(2, key_heads, positions, 16), torch.randn(2, key_heads, positions, 16)

    def attention(q, k, v):
        kept = masks[mask] if mask in (None, "kept") else masks[mask].to(q.dtype)
        return F.scaled_dot_product_attention(q, k, v, attn_mask=kept, is_causal=causal, enable_gqa=key_heads < 4)

    outs = []
    for f, to in ((attention, torch.float32), (compiled(attention, options={"strict": True}), torch.float32),
                  (attention, torch.float64)):
        leaves = [t.to(to).requires_grad_() for t in (q, k, v)]
        out = f(*leaves)
        outs.append([out.detach(), *torch.autograd.grad(out, leaves, grad.to(to))])
    for eager, got, exact in zip(*outs):
        assert not (why := wrong(got, eager, exact, roundings=8)), why  # differences of sums of rows


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("f", [
    lambda x: torch.softmax(x, -1), lambda x: F.layer_norm(x, (8,)), lambda x: F.gelu(x, approximate="tanh"),
    lambda x: x.var(1, unbiased=False) + x.mean(1), lambda x: x.exp().cumsum(0), lambda x: (x * 2 + 1).sigmoid() - x.tanh(),
    lambda x: torch.cat([x, x.flip(0)], 1)[:, 3:9], lambda x: x.clamp(-0.5, 0.5).pow(3), lambda x: F.silu(x) @ x.T,
    lambda x: torch.where(x > 0, x, x.abs().sqrt()), lambda x: F.pad(x, (1, 2)).logsumexp(1), lambda x: x.amax(1) - x.amin(0, True).sum(),
    lambda x: F.softplus(x) * F.hardtanh(x) - F.elu(x) / 3, lambda x: x.view(2, 3, 8).permute(2, 0, 1).contiguous() * 2,
])
def test_functions_and_gradients(f, dtype):
    agree(f, torch.randn(6, 8, dtype=dtype), backward=True)


def test_scalars_and_promotion():
    agree(lambda x, i: (x + i, i * 2.5, i // 2, i / 3, x > i, i.float() % 3), torch.randn(5), torch.arange(5))
    agree(lambda x: x + torch.tensor(2.0, dtype=torch.float64), torch.randn(3))
    agree(lambda b: b.sum() + (~b).any(), torch.tensor([True, False, True]))
    agree(lambda x: x.sum() * 2, torch.tensor(3.5))
    agree(lambda x: x * 2 + x.sum(), torch.randn(0, 4))


def test_strides_of_results_are_those_of_eager():
    f = lambda x: ((x + 1).t(), (x * 2).permute(2, 0, 1) if x.dim() == 3 else x.t() * 2)  # noqa: E731
    for x in (torch.randn(3, 4), torch.randn(4, 3).t()):
        for got, want in zip(compiled(f)(x), f(x)):
            assert torch.equal(got, want) and got.stride() == want.stride()


def test_inputs_with_gaps_are_copied():
    f, base = (lambda x: (x * 2).sum(0) + x), torch.randn(12, 10)  # noqa: E731
    before = base.clone()
    for x in (base[::2, 1:4], base[3:5, ::3], base[:1].expand(4, 10), base.t()[2:4], base.flatten()[1:119].view(2, -1)):
        torch._dynamo.reset()
        torch.testing.assert_close(compiled(f, options={"strict": True})(x), f(x))
    assert torch.equal(base, before)


def test_views_aliases_and_updates_in_place():
    def f(x, y):
        x.add_(1)
        z = x.view(-1)
        z[1:3].mul_(2)
        y[0] = x.sum()
        return z, x[0] * y

    def arguments():
        return torch.arange(6.0).view(2, 3), torch.zeros(3)

    (a, b), (c, d) = arguments(), arguments()
    for want, got in zip(f(a, b), compiled(f)(c, d)):
        assert torch.equal(want, got)
    assert torch.equal(a, c) and torch.equal(b, d)
    x = torch.ones(4)
    y = compiled(lambda x: x.view(2, 2))(x)
    y[0, 0] = 5
    assert x[0] == 5


def test_views_of_one_result():
    """Results lie as eager's do, in one memory, also where the dims of what is made lie in another order."""
    def f(x, w):
        y = torch.relu(x @ w)
        a, b = y.view(2, 3, 2, 4)[:, :, 0], y.view(2, 3, 2, 4)[:, :, 1]
        z = (x.t() * 2).contiguous().t()
        return a.transpose(0, 1), b[1:], y[:, 2], z.unsqueeze(0), z[1:], z

    for x in (torch.randn(6, 5), torch.randn(6, 1), torch.randn(0, 5)):
        w = torch.randn(x.shape[1], 8)
        g = f if len(x) else lambda x, w: (torch.relu(x @ w)[:, 2], x * 2)
        for want, got in zip(g(x, w), compiled(g)(x, w), strict=True):
            torch.testing.assert_close(got, want)
            assert all(a == b or n == 1 for a, b, n in zip(got.stride(), want.stride(), want.shape)), (x.shape, want.shape)
    x, w = torch.randn(6, 5), torch.randn(5, 8)
    a, b, c, z, rest, last = compiled(f)(x, w)
    assert last.data_ptr() == z.data_ptr() and rest.data_ptr() - last.data_ptr() == 4 * last.stride(0)
    assert 0 < b.data_ptr() - a.data_ptr() < 4 * 48 and c.data_ptr() - a.data_ptr() == 8


def test_views_of_one_result_are_views_for_later_graphs_and_autograd():
    def changed_whole(x):
        y = torch.relu(x) * 2
        b = y[1:3]
        torch._dynamo.graph_break()
        y.add_(1)
        return b + 1, y

    def changed_part(x):
        y = torch.relu(x) * 2
        b, c = y[1:3], y[2:5]
        torch._dynamo.graph_break()
        b.add_(1)
        return (c * 2,)

    x = torch.arange(48.0).reshape(6, 8)
    for f in (changed_whole, changed_part):
        for want, got in zip(f(x.clone()), compiled(f)(x.clone()), strict=True):
            assert torch.equal(want, got)
    def both(x):
        y = torch.relu(x) * 2
        return y, y[1:3]

    y, b = compiled(both)(x)
    assert y.untyped_storage()._cdata == b.untyped_storage()._cdata
    w = torch.ones(2, 8, requires_grad=True)
    z = (w * b).sum()
    y.zero_()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.backward()
    part = compiled(lambda x: (torch.relu(x) * 2)[1:3])(x)
    assert torch.equal(torch.as_strided(part, (2, 3), (8, 1), 24), (torch.relu(x) * 2)[3:5, :3])


def test_sizes_that_no_argument_of_a_fusion_is():
    """The second fusion reads a tensor of 2*n rows and makes one of n."""
    def f(x):
        return torch.special.bessel_j0(torch.cat([x, x]) * 0.5)[::2] * 2 + 1

    g = compiled(f, dynamic=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with compiler.listening() as reports:
            for rows in (6, 8, 12):
                x = torch.rand(rows, 3)
                torch.testing.assert_close(g(x), f(x))
    assert {op for report in reports for op, why in report.eager} == {"aten.special_bessel_j0.default"}


@pytest.mark.parametrize("dynamic", [False, True])
def test_gradients_have_memory_of_their_own(dynamic):
    """Autograd adds to a gradient in place: neither another gradient nor what backward was given may change with it."""
    a, b, c = torch.randn(2, 3, requires_grad=True), torch.randn(6, requires_grad=True), torch.full((6,), 2.0)
    given = torch.arange(6.0)
    for f, expected in ((lambda: (a.view(-1) + b) * c, 6 * given), (lambda: a.view(-1) * 1 + b, 3 * given)):
        a.grad = b.grad = None
        g = compiled(f, dynamic=dynamic, options={"strict": True})
        for _ in range(3):
            g().backward(given)
        assert torch.equal(a.grad.flatten(), expected) and torch.equal(b.grad, expected)
        assert torch.equal(given, torch.arange(6.0))


def test_results_changed_in_place():
    """What is kept for the backward graph does not change with a view of it that the user has."""
    x = torch.randn(2, 3, requires_grad=True)
    y = compiled(lambda x: torch.relu(x).view(-1), options={"strict": True})(x)
    y.mul_(-1)
    y.sum().backward()
    assert torch.equal(x.grad, -(x > 0).float())
    w = torch.randn(5, 3, requires_grad=True)
    y = compiled(lambda x, w: 2 * F.linear(x, w), options={"strict": True})(x, w)
    with torch.no_grad():
        w.mul_(3)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_results_lie_as_eagers_do():
    def f(x, w):
        h = x @ w.t()
        return h.view(2, 3, 5).transpose(1, 2), h[2:], h.t() * 2, x.permute(1, 0)

    x, w = torch.randn(6, 4), torch.randn(5, 4)
    for got, eager in zip(compiled(f, options={"strict": True})(x, w), f(x, w)):
        assert got.stride() == eager.stride()
        torch.testing.assert_close(got, eager)


def test_one_graph_for_all_batches_and_lengths():
    model, first = Block(), 0
    f, counted = counted_graphs(model)
    with torch.no_grad():
        for batch, length in ((2, 5), (3, 7), (4, 12), (2, 9), (6, 3)):
            x = torch.randn(batch, length, 32)
            torch.testing.assert_close(f(x), model(x), atol=1e-5, rtol=1e-5)
            first = first or len(counted)
    assert len(counted) == first


def test_one_class_for_batches_and_lengths_of_a_kind(monkeypatch):
    """Forward and backward: neither a graph nor a class of a program is new, until a size has another divisibility."""
    monkeypatch.setattr(compiler, "LISTENING", True)
    compiler.REPORTS.clear()
    model, exact = Block(), Block().double()
    exact.load_state_dict(model.state_dict())
    f = compiled(model, dynamic=True, options={"strict": True})

    def classes_after(batch, length):
        x = torch.randn(batch, length, 32)
        results = []
        for function, given in ((f, x), (exact, x.double())):
            given = given.clone().requires_grad_()
            function(given).square().mean().backward()
            results.append(given.grad.double())
        torch.testing.assert_close(*results, atol=1e-6, rtol=1e-4)
        return [fused.program.classes for report in compiler.REPORTS for fused in report.fusions]

    first = classes_after(3, 5)
    assert len(compiler.REPORTS) >= 2 and set(first[-2:]) == {1}
    for batch, length in ((5, 7), (7, 3), (9, 13), (3, 31)):
        assert classes_after(batch, length) == first
    assert classes_after(16, 32)[-2:] == [2, 2]


def test_dynamic_shapes_do_not_compile_anew():
    f, counted = counted_graphs(lambda x: torch.softmax(x * 2, -1).sum(0))
    for shape in ((4, 8), (5, 9), (16, 31), (3, 100)):
        x = torch.randn(shape)
        torch.testing.assert_close(f(x), torch.softmax(x * 2, -1).sum(0))
    assert len(counted) == 1


def test_sizes_as_operands():
    f = lambda x: (x * x.shape[0], x.mean(), (x / x.shape[1]).exp(), x < x.shape[1], x.shape[1] - x, x.clamp(max=x.shape[0]))  # noqa: E731
    g = compiled(f, dynamic=True, options={"strict": True})
    for shape in ((4, 8), (5, 9)):
        x = torch.randn(shape) * 5
        for got, want in zip(g(x), f(x)):
            torch.testing.assert_close(got, want)


def test_integers_that_are_no_sizes():
    g = compiled(lambda x, k: x * k + 1, dynamic=True)
    x = torch.randn(4, 8)
    for k in (3, -3, 0, 5):
        torch.testing.assert_close(g(x, k), x * k + 1)


def test_what_stays_eager_is_said_once_and_raised_where_asked():
    def f(x):
        return torch.linalg.inv(x + 1) * 2

    x = torch.eye(3)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        compiler._warned.clear()
        torch.testing.assert_close(compiled(f)(x), f(x))
        torch._dynamo.reset()
        compiled(f)(x)
    said = [str(w.message) for w in caught if "plait" in str(w.message)]
    assert len(said) == 1 and "aten.linalg_inv_ex" in said[0]
    torch._dynamo.reset()
    with pytest.raises(Exception, match="linalg_inv_ex"):
        compiled(f, options={"strict": True})(x)
    with pytest.raises(Exception, match="there is no option `strct`"):
        compiled(f, options={"strct": True})(x)


def test_random_numbers_follow_the_seed():
    def f(x):
        return F.dropout(x * 2, 0.5, training=True)

    x, g = torch.ones(100), compiled(f)
    torch.manual_seed(3)
    a = g(x)
    torch.manual_seed(3)
    assert torch.equal(a, g(x)) and 20 < (a == 0).sum() < 80 and not torch.equal(a, g(x))


def test_no_grad_and_autocast():
    model, x = nn.Sequential(nn.Linear(8, 8), nn.GELU()), torch.randn(4, 8)
    f = compiled(model)
    with torch.no_grad():
        torch.testing.assert_close(f(x), model(x))
    with torch.autocast("cpu", torch.bfloat16):
        assert f(x).dtype == torch.bfloat16


@pytest.mark.parametrize("inside", [False, True])
def test_autocast_and_gradients(inside):
    def f(x, w, b, v):
        y = F.linear(F.gelu(F.linear(x, w, b)), v)
        assert y.dtype == (torch.float64 if x.dtype == torch.float64 else torch.bfloat16)
        return y, torch.softmax(y, -1)

    def casting(*args):
        with torch.autocast("cpu", torch.bfloat16):
            return f(*args)

    args = [torch.randn(4, 8), torch.randn(16, 8) / 3, torch.randn(16), torch.randn(5, 16) / 4]
    if inside:
        agree(casting, *args, backward=True)
        return
    with torch.autocast("cpu", torch.bfloat16):
        agree(f, *args, backward=True)


def test_training_steps():
    torch.manual_seed(1)
    models = [nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3)) for _ in range(2)]
    models[1].load_state_dict(models[0].state_dict())
    x, target = torch.randn(10, 8), torch.randint(0, 3, (10,))
    losses = []
    for model, step in zip(models, (models[0], compiled(models[1]))):
        optimizer = torch.optim.SGD(model.parameters(), 0.1)
        for _ in range(5):
            optimizer.zero_grad()
            loss = F.cross_entropy(step(x), target)
            loss.backward()
            optimizer.step()
        losses.append(loss.item())
    assert losses[0] == pytest.approx(losses[1], rel=1e-5)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
@pytest.mark.parametrize("make", [torch.optim.AdamW, torch.optim.Adam])
def test_a_step_of_an_optimizer_is_one_fusion(make, dtype):
    pairs = []
    for _ in range(2):
        torch.manual_seed(2)
        p = nn.Parameter(torch.randn(8, 6).to(dtype))
        pairs.append((p, make([p], lr=0.1, weight_decay=0.01)))
    (p, eager), (q, fused) = pairs
    graph = torch.compile(eager.step, backend="aot_eager")  # which counts steps in f32 as well
    step = compiled(fused.step, options={"strict": True})
    for _ in range(4):
        p.grad = torch.randn(8, 6).to(dtype)
        q.grad = p.grad.clone()
        graph()
        step()
        torch.testing.assert_close(q, p, **({"rtol": 0.02, "atol": 0.01} if dtype == torch.bfloat16 else {}))  # of steps of 0.1
    torch._dynamo.reset()
    report = plait.torch.report(fused.step)
    assert report.share == 1 and [len(each) for each in report.fusions] == [1] and not report.eager


@pytest.mark.parametrize("f", [
    lambda bias, a, b: torch.addmm(bias, a, b, beta=0), lambda bias, a, b: torch.addmm(bias, a, b, beta=0, alpha=2),
    lambda bias, a, b: torch.addmv(bias[0], a, b[:, 0], beta=0), lambda bias, a, b: torch.addbmm(bias, a[None], b[None], beta=0),
    lambda bias, a, b: torch.baddbmm(bias[None], a[None], b[None], beta=0)])
def test_what_beta_drops_may_be_nan(f):
    bias, a, b = torch.full((4, 4), torch.nan), torch.randn(4, 4), torch.randn(4, 4)
    assert not f(bias, a, b).isnan().any()
    agree(f, bias, a, b)


def test_the_negative_bit_of_inputs():
    for x in (torch.randn(3, 4, dtype=torch.complex64).conj().imag, torch.randn(3, 4)):
        got = compiled(lambda x: (x * 2 + 1, x.t(), x.clone()), options={"strict": True})(x)
        for g, e in zip(got, (x * 2 + 1, x.t(), x.clone())):
            assert torch.equal(g, e)


@pytest.mark.parametrize("f, good, bad, words", [
    (lambda x, i: F.embedding(i, x) * 2, [0, 4], [0, 5], "index 5 at [1]"),
    (lambda x, i: torch.index_select(x, 0, i) * 2, [0, 4], [-1, 0], "index -1 at [0]"),
    (lambda x, i: torch.gather(x, 0, i[:, None]) * 2, [0, 4], [4, 7], "index 7 at [1, 0]"),
    (lambda x, i: x[i] * 2, [0, -5], [0, -6], "index -6 at [1] of %x1 lies outside of the 5 places"),
    (lambda x, i: x[i, i] * 2, [0, -3], [0, 3], "an index at [1] of %x1 lies outside of its extent"),
    (lambda x, i: x[i, i + 1] * 2, [0, -3], [0, 3], " or %add lies outside of its extent"),
    (lambda x, i: torch.scatter_add(x, 0, i[:, None], x[:2]) * 2, [0, 4], [0, 9], "index 9 at [1, 0]"),
    (lambda x, i: x.index_add(0, i, x[:2]) * 2, [1, 1], [1, 5], "at [1"),
    (lambda x, i: x.index_put((i,), x[:2], accumulate=True) * 2, [1, -1], [1, 5], "index 5 at [1"),
    (lambda x, i: x.index_put((i,), x[:2]) * 2, [1, -1], [1, -6], "index -6 at [1"),
    (lambda x, i: torch.scatter(x, 0, i[:, None], x[:2]) * 2, [0, 4], [0, 9], "index 9 at [1, 0]"),
    (lambda x, i: torch.scatter_reduce(x, 0, i[:, None], x[:2], "amax") * 2, [0, 4], [-1, 9], "index -1 at [0, 0]"),
])
def test_indices_outside_raise_as_pytorch_does(f, good, bad, words):
    x, module = torch.arange(15.0).reshape(5, 3), compiled(f)
    good, bad = torch.tensor(good), torch.tensor(bad)
    torch.testing.assert_close(module(x, good), f(x, good))
    with pytest.raises((IndexError, RuntimeError)):
        f(x, bad)
    for _ in range(2):  # in plait's words: the fusion has not become eager
        with pytest.raises((IndexError, RuntimeError), match="lies outside of") as raised:
            module(x, bad)
        assert words in str(raised.value)
        torch.testing.assert_close(module(x, good), f(x, good))


def test_an_index_that_counts_from_the_end_is_told_with_its_own_range():
    with pytest.raises(plait.BoundsError) as raised:
        compiled(lambda x, i: x[i])(torch.ones(4, 6), torch.tensor([0, -5]))
    assert raised.value.remedy == "give indices from -4 to 3" and "index_select(%x0, %x1, dim = 0)" in raised.value.where


UPDATES = [
    lambda x, i, s: x.scatter(1, i, s), lambda x, i, s: x.scatter(0, i % 3, 5),
    lambda x, i, s: x.scatter(1, i, s, reduce="add"), lambda x, i, s: x.scatter(1, i, s, reduce="multiply"),
    lambda x, i, s: x.scatter(1, i, 3, reduce="multiply"),
    *(lambda x, i, s, how=how, whole=whole: x.scatter_reduce(1, i, s, how, include_self=whole)
      for how in ("sum", "prod", "amax", "amin") for whole in (True, False)),
    *(lambda x, i, s, how=how, whole=whole: x.index_reduce(1, i[0], s, how, include_self=whole)
      for how in ("prod", "amax", "amin") for whole in (True, False)),
    lambda x, i, s: x.index_copy(1, i[0], s), lambda x, i, s: x.index_put((torch.arange(3)[:, None], i), s),
    lambda x, i, s: x.index_put((i[:, :1] % 3, i), s, accumulate=True),
]


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int64, torch.int8, torch.bool])
@pytest.mark.parametrize("number", range(len(UPDATES)))
def test_scatters(number, dtype):
    f = UPDATES[number]
    x, s = (torch.randint(0, 3, shape) if dtype == torch.bool else torch.randint(-4, 4, shape)
            for shape in ((3, 7), (3, 4)))
    x, s, i = x.to(dtype), s.to(dtype), torch.tensor([[6, 0, 2, 5], [6, 1, 0, 3], [4, 3, 1, 0]])
    try:
        want = f(x, i, s)
    except RuntimeError:
        pytest.skip("PyTorch has no such scatter")
    module = compiled(lambda *words: f(*words).logical_not() if dtype == torch.bool else f(*words) + 1,
                      options={"strict": True})
    torch.testing.assert_close(module(x, i, s), want.logical_not() if dtype == torch.bool else want + 1)


def test_the_last_of_those_that_meet_stays():
    x, i, s = torch.zeros(5), torch.tensor([3, 1, 3, 3]), torch.arange(1.0, 5)
    for f in (lambda x, i, s: x.scatter(0, i, s) * 1.5, lambda x, i, s: x.index_copy(0, i, s) * 1.5,
              lambda x, i, s: x.index_put((i,), s) * 1.5):
        assert compiled(f, options={"strict": True})(x, i, s).tolist() == [0, 3, 0, 6, 0]


def test_index_put_of_many_into_many():
    x, i, s = torch.randn(6000, 3), torch.randperm(6000)[:3000], torch.randn(3000, 3)
    agree(lambda x, i, s: x.index_put((i,), s) * 2, x, i, s)


def test_the_gradient_of_an_embedding_checks_its_indices_and_is_linear():
    def f(w, i):
        return F.embedding(i, w).square().sum()

    for count in (3, 2000):
        w, i = torch.randn(50, 8, requires_grad=True), torch.randint(0, 50, (count,))
        found, = torch.autograd.grad(compiled(f)(w, i), w)
        want, = torch.autograd.grad(f(w, i), w)
        torch.testing.assert_close(found, want, rtol=1e-5, atol=1e-4)


F8 = [torch.float8_e4m3fn, torch.float8_e5m2]


def bits(x):
    return x.view(torch.uint8) if x.dtype in F8 else x


@pytest.mark.parametrize("dtype", F8)
def test_f8_is_rounded_as_eager_does(dtype):
    """All f8 numbers, the middles between neighbours, what lies beside these, and what is out of range."""
    numbers = torch.arange(256, dtype=torch.uint8).view(dtype).float()
    ordered = numbers[numbers.isfinite()].sort().values
    middles = (ordered[1:] + ordered[:-1]) / 2
    values = torch.cat([numbers, middles, middles.nextafter(torch.tensor(1e9)), middles.nextafter(torch.tensor(-1e9)),
                        torch.tensor([464.0, 465, 500, 61439, 61440, 1e9, -1e9, torch.inf, -torch.inf, torch.nan, -0.0])])

    def f(x):
        q = x.to(dtype)
        return q, q.to(torch.float32), q.to(torch.bfloat16)

    call = compiled(f, options={"strict": True})
    near = values.double().nextafter(torch.tensor(1e9, dtype=torch.float64))  # in f32 what `values` has
    integers = torch.tensor([0, 1, -1, 17, 19, 250, 448, 464, 465, 57344, 61440, 2**24 + 1, -2**31])
    for x in (values, values.double(), near, values.half(), values.bfloat16(), integers.int(), integers, integers > 0):
        for got, want in zip(call(x), f(x), strict=True):
            torch.testing.assert_close(bits(got).float(), bits(want).float(), rtol=0, atol=0, equal_nan=True, msg=str(x.dtype))


@pytest.mark.parametrize("dtype", F8)
def test_a_quantized_row_is_one_fusion(dtype):
    def f(x):
        scale = x.abs().amax(-1, keepdim=True) / torch.finfo(dtype).max
        q = (x / scale).to(dtype)
        return q.t(), scale, q[:, ::2].to(torch.float32) * scale

    x = torch.randn(24, 256)
    with compiler.listening() as reports:
        got = compiled(f, options={"strict": True})(x)
    assert [len(report.modules) for report in reports] == [1]
    for result, want in zip(got, f(x), strict=True):
        assert result.stride() == want.stride() and torch.equal(bits(result), bits(want))
