"""PyTorch's own samples (OpInfo) of every op that the table of plait.torch covers, results and gradients against eager.

Every third sample goes through torch.compile(..., backend="plait"), the others through AOTAutograd with the backend's
compiler (`functorch.compile.aot_function`: the same graphs, functionalised and decomposed, without dynamo, which costs
most of the time). A sample counts where plait ran a node of it. An op that only moves elements is no work by itself, so
its results are doubled (bool: negated), and it counts where the move is in the fusion too.
PLAIT_TEST_LONG=1: 4,000 samples instead of 200."""

import collections
import dataclasses
import itertools
import os
import warnings
import zlib

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("expecttest")
import plait.torch  # noqa: E402: needs torch
from functorch.compile import aot_function, make_boxed_func  # noqa: E402
from plait.torch import compiler  # noqa: E402
from plait.torch.table import VIEWS  # noqa: E402
from torch.testing._internal.common_methods_invocations import op_db  # noqa: E402
from torch.utils import _pytree as pytree  # noqa: E402

DTYPES = [torch.float32, torch.float64, torch.bfloat16, torch.float16, torch.int64, torch.bool]

# Ops that the table covers, directly or by decomposition, by OpInfo's names.
COVERED = set("""
""".split())

# Covered ops that move elements.
MOVES = set("""
""".split())


def name_of(op):
    return op.name + ("." + op.variant_test_name if op.variant_test_name else "")


def stable(*words):
    """A number that is the same in every process."""
    return zlib.crc32(" ".join(map(str, words)).encode())


@dataclasses.dataclass
class Case:
    op: object
    dtype: torch.dtype
    number: int
    sample: object

    def __str__(self):
        shapes = [f"{x.dtype}{list(x.shape)}" if torch.is_tensor(x) else repr(x)
                  for x in pytree.tree_leaves((self.sample.input, self.sample.args, self.sample.kwargs))]
        return f"{name_of(self.op)} {self.dtype} #{self.number} ({', '.join(shapes)[:200]})"

    @property
    def gradient(self):
        return (self.op.supports_autograd and self.dtype.is_floating_point
                and self.dtype in self.op.supported_backward_dtypes("cpu"))


def samples(op, dtype, limit=40):
    """Samples of an op in an order that mixes small and large ones."""
    torch.manual_seed(stable(name_of(op), dtype))
    made = list(itertools.islice(op.sample_inputs("cpu", dtype, requires_grad=False), limit))
    numbers = sorted(range(len(made)), key=lambda i: stable(name_of(op), dtype, i))
    return [Case(op, dtype, i, made[i]) for i in numbers]


def chosen(count):
    """`count` cases: each op in each dtype in turn, then again with the next sample."""
    known = [op for op in op_db if name_of(op) in COVERED]
    pairs = [(op, dtype) for op in known for dtype in DTYPES if dtype in op.dtypes]
    pairs.sort(key=lambda pair: stable(name_of(pair[0]), pair[1]))
    seen = collections.Counter()
    ranked = []
    for op, dtype in pairs:  # a second dtype of an op comes after the first dtypes of all
        ranked.append((seen[name_of(op)], op, dtype))
        seen[name_of(op)] += 1
    ranked.sort(key=lambda row: row[0])
    lists, cases = {}, []
    for turn in range(40):
        for _, op, dtype in ranked:
            key = (name_of(op), dtype)
            if key not in lists:
                lists[key] = samples(op, dtype)
            if turn < len(lists[key]):
                cases.append(lists[key][turn])
                if len(cases) == count:
                    return cases
    return cases


class Run:
    """A sample as a function of its tensors, and what it gives."""

    def __init__(self, case):
        self.case = case
        sample = case.sample
        self.leaves, self.spec = pytree.tree_flatten((sample.input, list(sample.args), dict(sample.kwargs)))
        self.places = [i for i, leaf in enumerate(self.leaves) if torch.is_tensor(leaf)]

    def function(self, leaves):
        op, places, spec, double = self.case.op.op, self.places, self.spec, name_of(self.case.op) in MOVES

        def f(*tensors):
            words = list(leaves)
            for place, tensor in zip(places, tensors):
                words[place] = tensor
            first, args, more = pytree.tree_unflatten(words, spec)
            outs = [each for each in pytree.tree_leaves(op(first, *args, **more)) if isinstance(each, torch.Tensor)]
            if double:
                outs = [torch.logical_not(each) if each.dtype == torch.bool else each * 2 for each in outs]
            return outs

        return f

    def run(self, through, exact=False):
        """Results, then gradients of the tensors that take one."""
        wide = (lambda x: x.double() if x.is_floating_point() else x) if exact else (lambda x: x)
        leaves = [torch.float64 if exact and isinstance(leaf, torch.dtype) and leaf.is_floating_point else leaf
                  for leaf in self.leaves]
        tensors = []
        for place in self.places:
            x = wide(self.leaves[place].detach().clone())
            tensors.append(x.requires_grad_(self.case.gradient and x.is_floating_point()))
        outs = through(self.function(leaves))(*tensors)
        ways = [out for out in outs if out.requires_grad]
        if ways:
            torch.manual_seed(7)
            torch.autograd.backward(ways, [wide(torch.randn(out.shape, dtype=torch.float64).to(self.case.dtype)).to(out.dtype)
                                           for out in ways])
        return [out.detach() for out in outs] + [x.grad for x in tensors if x.grad is not None]

    def exactly(self):
        """In f64; integers become it too where PyTorch makes floats of them."""
        torch.set_default_dtype(torch.float64)
        try:
            return self.run(lambda f: f, exact=True)
        finally:
            torch.set_default_dtype(torch.float32)


def by_dynamo(f):
    torch._dynamo.reset()
    return torch.compile(f, backend="plait", dynamic=False)


def by_aot(f):
    def compile_one(graph, inputs):
        return make_boxed_func(compiler.compile_graph(graph, inputs, compiler.Options()))

    return aot_function(f, fw_compiler=compile_one, bw_compiler=compile_one, decompositions=compiler.decompositions())


def wrong(got, eager, exact):
    """What differs, or None."""
    if got.dtype != eager.dtype or got.shape != eager.shape:
        return f"{got.dtype}{list(got.shape)} in place of {eager.dtype}{list(eager.shape)}"
    if not got.is_floating_point():
        return None if torch.equal(got, eager) else f"{got.flatten()[:8].tolist()} in place of {eager.flatten()[:8].tolist()}"
    if not got.numel():
        return None
    rounded = exact.to(got.dtype)  # eager may overflow on the way, plait may not
    same = [torch.isclose(got, want, rtol=0, atol=0, equal_nan=True) for want in (eager, rounded)]
    special = ~(got.isfinite() & eager.isfinite() & exact.isfinite())
    if (special & ~same[0] & ~same[1]).any():
        at = (special & ~same[0] & ~same[1]).flatten().nonzero()[0].item()
        return f"{got.flatten()[at].item()} in place of {eager.flatten()[at].item()} at {at}"
    if special.all():
        return None
    got, eager, exact = (each[~special].double() for each in (got, eager, exact))
    info = torch.finfo(rounded.dtype)
    unit = info.eps * max(exact.abs().max().item(), info.tiny)
    errors = [(each - exact).abs() for each in (got, eager)]
    if errors[0].max() <= 2 * errors[1].max() + unit:
        return None
    at = errors[0].argmax()
    return f"{got[at].item()} in place of {exact[at].item()}, eager {eager[at].item()}, its error {errors[1].max().item():.3g}"


class Tally:
    def __init__(self):
        self.ran, self.counted = collections.Counter(), collections.Counter()
        self.wrong, self.dynamo = [], 0

    def add(self, case, dynamo):
        run, name = Run(case), name_of(case.op)
        eager = run.run(lambda f: f)
        exact = run.exactly()
        compiler.REPORTS.clear()
        compiler.LISTENING = True
        self.ran[name] += 1
        self.dynamo += dynamo
        try:
            got = run.run(by_dynamo if dynamo else by_aot)
        except Exception as e:  # noqa: BLE001: whatever it is, the sample failed
            self.wrong.append(f"{case}: {type(e).__name__}: {e}")
            return
        finally:
            compiler.LISTENING = False
        if name in MOVES:
            counts = any(node.target in VIEWS for report in compiler.REPORTS for fused in report.fusions for node in fused.nodes)
        else:
            counts = any(report.fused for report in compiler.REPORTS)
        self.counted[name] += counts
        if len(got) != len(eager):
            self.wrong.append(f"{case}: {len(got)} results in place of {len(eager)}")
            return
        found = [(i, wrong(*row)) for i, row in enumerate(zip(got, eager, exact))]
        self.wrong += [f"{case}: result {i}: {what}" for i, what in found if what][:1]

    def __str__(self):
        low = [f"{name} {self.counted[name]} of {self.ran[name]}" for name in sorted(self.ran)
               if self.counted[name] < 0.9 * self.ran[name]]
        return (f"{self.ran.total()} samples of {len(self.ran)} ops, {self.dynamo} through torch.compile, "
                f"{self.counted.total()} counted, {len(self.wrong)} wrong\nbelow 90 %: {', '.join(low) or 'none'}\n"
                + "\n".join(self.wrong[:40]))


def dynamo_can(op):
    """Dynamo does not look into PyTorch's test code."""
    return not (getattr(op.op, "__module__", None) or "").startswith("torch.testing")


def check(cases):
    tally = Tally()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for i, case in enumerate(cases):
            tally.add(case, dynamo=(i % 5 < 2) and dynamo_can(case.op))
    print(tally)
    assert not tally.wrong, str(tally)
    assert tally.ran.total() == len(cases) and tally.counted.total() >= 0.9 * len(cases), str(tally)
    return tally


def test_samples():
    tally = check(chosen(200))
    assert tally.dynamo >= 67, str(tally)


@pytest.mark.skipif(not os.environ.get("PLAIT_TEST_LONG"), reason="PLAIT_TEST_LONG is not set")
def test_samples_long_run():
    check(chosen(4000))
