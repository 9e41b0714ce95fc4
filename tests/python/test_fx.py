"""Random FX graphs through torch.compile(..., backend="plait"): results and gradients against eager, on two sets of sizes.

A graph has 6 to 24 calls, drawn from what the table covers, on tensors whose dims have named sizes; no call names a size, so
that every other graph is compiled for all sizes (`dynamic=True`). Comparisons, masks and indices are of inputs, which are
exact. A result that errs by more than twice eager's error and one rounding is judged by eager's largest error over draws
of like inputs; the summary says how many were. A graph that fails is printed with its seed: `PLAIT_TEST_SEED=N pytest test_fx.py` runs it
alone. PLAIT_TEST_LONG=1: 200 graphs instead of 9."""

import collections
import os
import random
import warnings

import pytest

torch = pytest.importorskip("torch")
import plait.torch  # noqa: E402: needs torch
from judging import wrong  # noqa: E402
from plait.torch import compiler  # noqa: E402
from torch.nn import functional as F  # noqa: E402

SIZES = ({"a": 3, "b": 4, "c": 6, "d": 8}, {"a": 5, "b": 2, "c": 7, "d": 9})
NAMES = sorted(SIZES[0])


def unary(function):
    return lambda d: d.call(function, d.float())


def along(function, **words):
    def make(d):
        x = d.float(rank=1)
        return d.call(function, x, d.dim(x), **words)
    return make


def binary(function):
    def make(d):
        x = d.float()
        return d.call(function, x, d.like(x))
    return make


def update(method):
    def make(d):
        x = d.float()
        copy = d.call(torch.clone, x)
        d.method(method, copy, d.like(x))
        return copy
    return make


def update_of_view(d):
    x = d.float(rank=1)
    copy = d.call(torch.clone, x)
    part = d.call(torch.select, copy, d.dim(x), 0)
    d.method("mul_", part, 3)
    return copy


def named(d, names):
    """An input of f32 (or the graph's type) with these sizes."""
    return d.input(lambda sizes: torch.randn([sizes[n] for n in names], dtype=torch.float64).to(d.dtype), names)


def linear(d):
    x = d.float(rank=1)
    last, out = d.names(x)[-1], d.random.choice(NAMES)
    return d.call(F.linear, x, named(d, [out, last]), *([named(d, [out])] if d.random.random() < 0.7 else []))


def matmul(d):
    x = d.float(rank=2)
    return d.call(torch.matmul, x, named(d, [d.names(x)[-1], d.random.choice(NAMES)]))


def products_of_itself(d):
    x = d.float(rank=2)
    return d.call(torch.matmul, x, d.method("transpose", x, -1, -2))


def attention(d):
    batch, length, width, other = (d.random.choice(NAMES) for _ in range(4))
    q, k, v = named(d, [batch, "b", length, width]), named(d, [batch, "b", other, width]), named(d, [batch, "b", other, width])
    return d.call(F.scaled_dot_product_attention, q, k, v, is_causal=d.random.random() < 0.5)


def layer_norm(d):
    x = d.float(rank=1)
    last = d.names(x)[-1]
    return d.call(lambda x, w, b: F.layer_norm(x, w.shape, w, b), x, named(d, [last]), named(d, [last]))


def rms_norm(d):
    x = d.float(rank=1)
    return d.call(lambda x, w: F.rms_norm(x, w.shape, w), x, named(d, [d.names(x)[-1]]))


def embedding(d):
    rows, width, length = (d.random.choice(NAMES) for _ in range(3))
    index = d.input(lambda sizes: torch.randint(0, sizes[rows], (sizes[length], 2)), None)
    return d.call(F.embedding, index, named(d, [rows, width]))


def index_select(d):
    x = d.float(rank=1)
    dim = d.dim(x)
    size = d.names(x)[dim]
    index = d.input(lambda sizes: torch.randint(0, sizes[size], (4,)), None)
    return d.call(torch.index_select, x, dim, index)


def gather(d):
    x = d.float(rank=1)
    dim, names = d.dim(x), d.names(x)
    index = d.input(lambda sizes: torch.randint(0, sizes[names[dim]], [sizes[n] for n in names]), None)
    return d.call(torch.gather, x, dim, index)


def scatter_add(d):
    x = d.float(rank=1)
    dim, names = d.dim(x), d.names(x)
    index = d.input(lambda sizes: torch.randint(0, sizes[names[dim]], [sizes[n] for n in names]), None)
    return d.call(torch.scatter_add, x, dim, index, d.like(x, same=True))


def where(d):
    x = d.float()
    names = d.names(x)
    mask = d.input(lambda sizes: torch.rand([sizes[n] for n in names]) < 0.5, None)
    return d.call(torch.where, mask, x, d.like(x))


def masked_fill(d):
    x = d.float()
    names = d.names(x)
    mask = d.input(lambda sizes: torch.rand([sizes[n] for n in names]) < 0.5, None)
    return d.call(torch.masked_fill, x, mask, 0.25)


def permute(d):
    x = d.float(rank=2)
    return d.call(torch.permute, x, d.random.sample(range(d.value(x).dim()), d.value(x).dim()))


def flatten(d):
    x = d.float(rank=2)
    return d.call(torch.flatten, x, 0, 1)


def slices(d):
    x = d.float(rank=1)
    step = d.random.choice([1, 1, 2])
    return d.call(lambda x, dim, step: x[(slice(None),) * dim + (slice(1, None, step),)], x, d.dim(x), step)


def split(d):
    x = d.float(rank=1)
    parts = d.call(torch.chunk, x, 2, d.dim(x))
    return d.call(lambda parts, i: parts[i], parts, d.random.randrange(2))


def joined(function):
    def make(d):
        x = d.float(rank=1)
        return d.call(function, [x, d.like(x, same=True), x], d.dim(x))
    return make


def pad(d):
    return d.call(F.pad, d.float(rank=1), (d.random.randrange(3), 1), value=0.5)


def narrower(d):
    """To another type of floats, worked on, and back."""
    x = d.float()
    return d.method("to", d.call(torch.mul, d.method("to", x, torch.bfloat16), 2), d.dtype)


def counted(d):
    """Integers that go on as floats."""
    x = d.call(lambda x: (x > 0.1).sum(0), d.of_inputs(rank=1))
    return d.method("to", x, d.dtype)


CALLS = {
    **{f.__name__: unary(f) for f in (torch.sin, torch.cos, torch.tanh, torch.sigmoid, torch.relu, torch.abs, torch.neg, torch.erf,
                                      torch.square, torch.atan, torch.expm1, F.gelu, F.silu, F.softplus, F.elu, F.hardtanh, F.mish,
                                      F.logsigmoid, F.leaky_relu)},
    "sqrt": unary(lambda x: torch.sqrt(x.abs() + 0.5)), "log": unary(lambda x: torch.log(x.abs() + 0.5)),
    "exp": unary(lambda x: torch.exp(x.clamp(-3, 2))), "rsqrt": unary(lambda x: torch.rsqrt(x * x + 0.25)),
    "scaled": unary(lambda x: x * 0.5 + 1), "from_two": unary(lambda x: 2 - x), "cube": unary(lambda x: x ** 3),
    **{f.__name__: binary(f) for f in (torch.add, torch.sub, torch.mul, torch.maximum, torch.minimum, torch.atan2)},
    "div": binary(lambda x, y: x / (y.abs() + 0.5)), "lerp": binary(lambda x, y: torch.lerp(x, x * 0.5, y)),
    **{f.__name__: along(f) for f in (torch.sum, torch.mean, torch.amax, torch.amin, torch.logsumexp, torch.cumsum, torch.logcumsumexp)},
    "softmax": along(torch.softmax), "log_softmax": along(F.log_softmax), "keepdim": along(torch.mean, keepdim=True),
    "norm": along(lambda x, dim: torch.linalg.vector_norm(x + 0.1, dim=dim)), "prod": along(lambda x, dim: torch.prod(x.tanh() + 1.5, dim)),
    "var": along(lambda x, dim: torch.var(x, dim, unbiased=False)), "std": along(lambda x, dim: torch.sqrt(torch.var(x, dim, unbiased=False) + 0.1)),
    "whole_sum": unary(torch.sum), "whole_mean": unary(torch.mean),
    "flip": along(lambda x, dim: torch.flip(x, [dim])), "roll": along(lambda x, dim: torch.roll(x, 2, dim)),
    "unsqueeze": along(torch.unsqueeze), "tril": lambda d: d.call(torch.tril, d.float(rank=2), d.random.randrange(-1, 2)),
    "triu": lambda d: d.call(torch.triu, d.float(rank=2)), "repeat": along(lambda x, dim: torch.cat([x, x], dim)),
    "contiguous": unary(lambda x: x.contiguous()), "add_": update("add_"), "mul_": update("mul_"), "cat": joined(torch.cat),
    "stack": joined(torch.stack),
    **{f.__name__: f for f in (update_of_view, linear, matmul, products_of_itself, attention, layer_norm, rms_norm, embedding,
                               index_select, gather, scatter_add, where, masked_fill, permute, flatten, slices, split, pad,
                               narrower, counted)},
}


class Draw:
    """A graph while it is drawn: values of both sets of sizes beside every node, names of dims where they are known."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        torch.manual_seed(seed)
        self.dtype = self.random.choice([torch.float32, torch.float32, torch.bfloat16])
        self.graph = torch.fx.Graph()
        self.values = {}  # node -> one value per set of sizes
        self.named = {}  # node -> names of its sizes
        self.inputs, self.floats, self.used = [], [], collections.Counter()
        for _ in range(self.random.randint(1, 3)):
            self.floats.append(named(self, [self.random.choice(NAMES) for _ in range(self.random.randint(1, 3))]))
        for _ in range(self.random.randint(6, 24)):
            self.one()
        outs = [n for n in self.floats if not n.users] or self.floats[-1:]
        self.graph.output(tuple(outs))
        self.module = torch.fx.GraphModule({}, self.graph)

    def one(self):
        name = self.random.choice(sorted(CALLS))
        before = list(self.graph.nodes)
        try:
            node = CALLS[name](self)
            good = all(torch.is_tensor(v) and v.is_floating_point() and 0 < v.numel() <= 4096 and v.dim() <= 4
                       and v.isfinite().all() and v.abs().max() < 100 for v in self.values[node])
        except (RuntimeError, IndexError, Unfit):
            good = False
        if good:
            self.floats.append(node)
            self.used[name] += 1
            return
        for node in reversed(list(self.graph.nodes)):  # as if it had not been drawn
            if node not in before:
                self.graph.erase_node(node)
                self.values.pop(node, None)
                self.inputs = [each for each in self.inputs if each is not node]

    def input(self, make, names):
        first = next((n for n in self.graph.nodes), None)
        with self.graph.inserting_before(first):
            node = self.graph.placeholder(f"x{len(list(self.graph.nodes))}")
        self.inputs.append(node)
        self.values[node] = [make(sizes) for sizes in SIZES]
        if names is not None:
            self.named[node] = list(names)
        return node

    def value(self, node):
        return self.values[node][0]

    def names(self, node):
        """Of a node's dims; sizes that have no name cannot be drawn again."""
        out = self.named.get(node)
        if out is not None:
            return out
        out = []
        for shape in zip(*(v.shape for v in self.values[node])):
            same = [n for n in NAMES if tuple(sizes[n] for sizes in SIZES) == shape]
            if not same:
                raise Unfit
            out.append(same[0])
        return out

    def float(self, rank=0):
        fit = [n for n in self.floats if self.value(n).dim() >= rank]
        if not fit:
            raise Unfit
        return self.random.choice(fit[-6:])

    def of_inputs(self, rank=0):
        fit = [n for n in self.inputs if self.value(n).is_floating_point() and self.value(n).dim() >= rank]
        if not fit:
            raise Unfit
        return self.random.choice(fit)

    def like(self, x, same=False):
        """Of the same shape, or one that broadcasts to it."""
        shapes = [v.shape for v in self.values[x]]
        fit = [n for n in self.floats if [v.shape for v in self.values[n]] == shapes]
        names = self.names(x)
        if fit and self.random.random() < 0.5:
            return self.random.choice(fit)
        if not same and self.random.random() < 0.3:
            names = names[1:]
        return named(self, names)

    def dim(self, x):
        return self.random.randrange(self.value(x).dim())

    def add(self, kind, target, args, words):
        node = getattr(self.graph, kind)(target, args, words)
        shown = [torch.fx.map_arg((args, words), lambda n, i=i: self.values[n][i]) for i in range(len(SIZES))]
        call = (lambda a, w: target(*a, **w)) if kind == "call_function" else (lambda a, w: getattr(a[0], target)(*a[1:], **w))
        self.values[node] = [call(*each) for each in shown]
        return node

    def call(self, function, *args, **words):
        return self.add("call_function", function, args, words)

    def method(self, name, *args):
        return self.add("call_method", name, args, {})


class Unfit(Exception):
    """What was drawn has no operand."""


def everything(function, inputs, dtype=None, seed=5):
    """Results, then gradients of the float inputs for gradients of the results that the seed draws."""
    given = []
    for x in inputs:
        x = x.detach().clone()
        if x.is_floating_point():
            x = x.to(dtype or x.dtype).requires_grad_()
        given.append(x)
    outs = function(*given)
    ways = [o for o in outs if o.requires_grad]
    torch.manual_seed(seed)
    if ways:
        grads = [torch.randn(o.shape, dtype=torch.float64) for o in ways]
        torch.autograd.backward(ways, [g.to(o.dtype) for g, o in zip(grads, ways)])
    return [o.detach() for o in outs] + [x.grad for x in given if x.grad is not None]


class Wider(torch.fx.Interpreter):
    """In f64, whatever types calls name."""

    def call_method(self, target, args, kwargs):
        return super().call_method(target, tuple(torch.float64 if a in (torch.bfloat16, torch.float32) else a for a in args), kwargs)


def eager_error(module, inputs, count=32):
    """The largest error of eager per result, over draws of like inputs and of gradients of the results. Errors that no
    rounding makes, as where a choice is flipped, count only where there are no others."""
    found = collections.defaultdict(list)
    for draw in range(count):
        torch.manual_seed(100 + draw)
        near = [(x.double() * (1 - torch.rand(x.shape, dtype=torch.float64) / 16)).to(x.dtype) if x.is_floating_point() else x
                for x in inputs]
        ours, exact = everything(module, near, seed=draw), everything(Wider(module).run, near, torch.float64, draw)
        for i, (o, e) in enumerate(zip(ours, exact)):
            error = (o.double() - e).abs()
            known = error.isfinite()
            if o.is_floating_point() and known.any():
                found[i].append((error[known].max().item(), torch.finfo(o.dtype).eps**0.5 * e[known].abs().max().item()))
    return collections.Counter({i: max([error for error, most in rows if error <= most] or [error for error, _ in rows])
                                for i, rows in found.items()})


def problem_of(seed, tally):
    """What is wrong with the graph of a seed, or None."""
    drawn = Draw(seed)
    tally.update({f"call {name}": count for name, count in drawn.used.items()})
    dynamic = seed % 2 == 1
    torch._dynamo.reset()
    function = torch.compile(drawn.module, backend="plait", dynamic=dynamic)
    order = [n for n in drawn.graph.nodes if n.op == "placeholder"]
    with compiler.listening() as reports:
        for i, sizes in enumerate(SIZES):
            inputs = [drawn.values[n][i] for n in order]
            eager, exact = everything(drawn.module, inputs), everything(Wider(drawn.module).run, inputs, torch.float64)
            got = everything(function, inputs)
            if len(got) != len(eager):
                return f"{len(got)} results in place of {len(eager)}"
            rows = list(zip(got, eager, exact))
            found = [wrong(*row) for row in rows]
            if any(found):
                least = eager_error(drawn.module, inputs)
                found = [wrong(*row, least[j]) for j, row in enumerate(rows)]
                tally["judged by draws"] += 1
            if any(found):
                j = next(j for j, what in enumerate(found) if what)
                return f"sizes {sizes}, result {j} of {len(eager)}: {found[j]}"
    if failures := [failure for report in reports for failure in report.failures]:
        return f"a fusion runs eagerly: {failures[0]}"
    for report in reports:
        tally["fused"] += len(report.fused)
        tally["eager"] += len(report.eager)
        tally.update({f"eager {op}: {why}": 1 for op, why in report.eager})
    return None


def check(seeds):
    tally, failures = collections.Counter(), []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for seed in seeds:
            try:
                problem = problem_of(seed, tally)
            except Exception as e:  # noqa: BLE001: whatever it is, the graph failed
                problem = f"{type(e).__name__}: {e}"
            if problem:
                failures.append(f"seed {seed}: {problem}\n{Draw(seed).module.code}")
    calls = {key[5:]: count for key, count in tally.items() if key.startswith("call ")}
    print(f"{len(seeds)} graphs, {sum(calls.values())} calls of {len(calls)} kinds, {tally['fused']} ATen nodes fused, "
          f"{tally['eager']} eager; judged by draws: {tally['judged by draws']}; wrong: {len(failures)}")
    print("\n".join(f"{count} {key}" for key, count in tally.items() if key.startswith("eager ")))
    assert not failures, "\n".join(failures[:5])
    return tally, calls


def test_what_is_wrong():
    for dtype, roundings in ((torch.float32, 1), (torch.bfloat16, 1), (torch.float64, 2)):
        x, eps = torch.tensor([-2.0, 1.0], dtype=dtype), torch.finfo(dtype).eps
        within = x + torch.tensor([0.0, 1.0], dtype=dtype) * eps  # eps: one rounding of the 2, half of eps each
        assert wrong(within, x, x.double()) is None
        assert wrong(x + roundings * torch.tensor([0.0, 2.0], dtype=dtype) * eps, x, x.double())
        assert wrong(within + 2 * eps * torch.tensor([0.0, 1.0], dtype=dtype), within, x.double()) is None  # twice eager's
        for odd in (torch.nan, torch.inf):
            bad = torch.tensor([-2.0, odd], dtype=dtype)
            assert wrong(bad, x, x.double()) and wrong(x, bad, bad.double()) and wrong(bad, bad, bad.double()) is None
    assert wrong(x[:1], x, x) and wrong(torch.tensor([1]), torch.tensor([2]), torch.tensor([2]))


def test_graphs():
    if os.environ.get("PLAIT_TEST_SEED"):
        check([int(os.environ["PLAIT_TEST_SEED"])])
        return
    tally, _ = check(range(9))
    assert tally["fused"] > 500 and tally["fused"] >= 0.9 * (tally["fused"] + tally["eager"])


@pytest.mark.skipif(not os.environ.get("PLAIT_TEST_LONG"), reason="PLAIT_TEST_LONG is not set")
def test_graphs_long_run():
    tally, calls = check(range(200))
    assert tally["fused"] > 10000 and tally["fused"] >= 0.9 * (tally["fused"] + tally["eager"])
    assert set(calls) == set(CALLS), sorted(set(CALLS) - set(calls))
