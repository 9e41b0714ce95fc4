"""PyTorch's own samples (OpInfo) of every op that the table of plait.torch covers, results and gradients against eager.

Two of five samples (one of ten in the long part) go through torch.compile(..., backend="plait"), the others through
AOTAutograd with the backend's compiler (`functorch.compile.aot_function`: the same graphs, functionalised and
decomposed, without dynamo, which costs most of the time). Results and gradients err against f64 by at most twice what
eager errs, and one rounding relative to the largest element. On the few elements of a sample eager may be exact by
luck: a sample that fails so is judged by the largest error that eager makes of it and of eight like it, of f64, whose
reference has errors of the same size, of 49 (of integers there are none: one rounding for each node of its graph); the
summary says how many were. A sample counts where plait ran a node of it. An op that only moves elements is no work by itself,
so its results are doubled (bool: negated), and it counts where the move is in the fusion too.
PLAIT_TEST_LONG=1: 4,000 samples instead of 80; it prints the rows of the table that no sample reached, and PLAIT_TEST_JSON
names a file for its figures."""

import collections
import dataclasses
import itertools
import json
import os
import pathlib
import platform
import time
import warnings
import zlib

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("expecttest")
import plait.torch  # noqa: E402: needs torch
from functorch.compile import aot_function, make_boxed_func  # noqa: E402
from judging import wrong  # noqa: E402
from plait.torch import compiler  # noqa: E402
from plait.torch.table import TABLE, VIEWS  # noqa: E402
from torch._subclasses.fake_tensor import DataDependentOutputException, DynamicOutputShapeException  # noqa: E402
from torch.testing._internal.common_methods_invocations import op_db  # noqa: E402
from torch.utils import _pytree as pytree  # noqa: E402

DTYPES = [torch.float32, torch.float64, torch.bfloat16, torch.float16, torch.int64, torch.bool]

# Ops that the table covers, directly or by decomposition, by OpInfo's names.
COVERED = set("""
    H T __getitem__ __radd__ __rand__ __rdiv__ __rmatmul__ __rmod__ __rmul__ __ror__ __rpow__ __rsub__ __rxor__
    _chunk_cat _native_batch_norm_legit _softmax_backward_data _unsafe_masked_index
    _unsafe_masked_index_put_accumulate abs acos acosh add addbmm addcdiv addcmul addmm addmm.decomposed addmv addr
    alias_copy all amax amin aminmax angle any arange argmax argmin asin asinh atan atan2 atanh atleast_1d
    atleast_2d atleast_3d baddbmm bfloat16 bitwise_and bitwise_left_shift bitwise_not bitwise_or bitwise_right_shift
    bitwise_xor block_diag bmm bool broadcast_tensors broadcast_to byte cartesian_prod cat ceil char chunk clamp
    clamp_max clamp_min clone column_stack constant_pad_nd copysign cos cosh count_nonzero cross cummax cummin cumsum
    cumulative_trapezoid deg2rad diag diag_embed diagflat diagonal diagonal_copy diagonal_scatter diff dist
    div.floor_rounding div.no_rounding_mode div.trunc_rounding dot double dsplit dstack einsum eq erf erfc erfinv
    exp exp2 expand expand_as expand_copy expm1 eye fill flatten flip fliplr flipud float float_power floor
    floor_divide fmax fmin fmod frac full full_like gather ge gradient gt half heaviside hsplit hstack hypot
    index_add index_copy index_put index_reduce.amax index_reduce.amin index_reduce.prod index_select inner int isclose isfinite isin isinf isnan isneginf isposinf isreal
    kron ldexp le lerp lgamma linspace linspace.tensor_overload log log10 log1p log2 log_softmax
    log_softmax.with_dtype logaddexp logaddexp2 logcumsumexp logical_and logical_not logical_or logical_xor logit logspace
    logspace.tensor_overload logsumexp long lt mH mT masked.amax masked.amin masked.argmax masked.argmin
    masked.cumsum masked.log_softmax masked.logaddexp masked.logsumexp masked.mean masked.norm masked.normalize
    masked.softmax masked.softmin masked.std masked.sum masked.var masked_fill matmul max.binary
    max.reduction_no_dim max.reduction_with_dim maximum mean meshgrid.list_of_tensors meshgrid.variadic_tensors
    min.binary min.reduction_no_dim min.reduction_with_dim minimum mm movedim mul mv mvlgamma.mvlgamma_p_1
    mvlgamma.mvlgamma_p_3 mvlgamma.mvlgamma_p_5 nan_to_num nanmean nansum narrow_copy native_batch_norm
    native_group_norm native_layer_norm ne neg new_full new_ones new_zeros nn.functional.batch_norm
    nn.functional.binary_cross_entropy nn.functional.binary_cross_entropy_with_logits nn.functional.celu
    nn.functional.channel_shuffle nn.functional.cosine_embedding_loss nn.functional.cosine_similarity
    nn.functional.cross_entropy nn.functional.elu nn.functional.embedding nn.functional.gelu nn.functional.glu
    nn.functional.group_norm nn.functional.hardshrink nn.functional.hardsigmoid nn.functional.hardswish
    nn.functional.hardtanh nn.functional.hinge_embedding_loss nn.functional.huber_loss nn.functional.instance_norm
    nn.functional.interpolate.bicubic nn.functional.interpolate.bilinear nn.functional.interpolate.linear
    nn.functional.interpolate.nearest nn.functional.interpolate.nearest-exact nn.functional.interpolate.trilinear
    nn.functional.kl_div nn.functional.l1_loss nn.functional.layer_norm nn.functional.leaky_relu
    nn.functional.linear nn.functional.linear_cross_entropy nn.functional.local_response_norm
    nn.functional.logsigmoid nn.functional.margin_ranking_loss nn.functional.max_unpool1d
    nn.functional.max_unpool1d.grad nn.functional.max_unpool2d nn.functional.max_unpool2d.grad
    nn.functional.max_unpool3d nn.functional.max_unpool3d.grad nn.functional.mish nn.functional.mse_loss
    nn.functional.multi_margin_loss nn.functional.multilabel_margin_loss nn.functional.multilabel_soft_margin_loss
    nn.functional.nll_loss nn.functional.normalize nn.functional.pad.circular nn.functional.pad.constant
    nn.functional.pad.reflect nn.functional.pad.replicate nn.functional.pad.replicate_negative
    nn.functional.pairwise_distance nn.functional.pixel_shuffle nn.functional.pixel_unshuffle
    nn.functional.poisson_nll_loss nn.functional.prelu nn.functional.relu nn.functional.relu6 nn.functional.rms_norm
    nn.functional.scaled_dot_product_attention nn.functional.selu nn.functional.silu nn.functional.smooth_l1_loss
    nn.functional.soft_margin_loss nn.functional.softmin nn.functional.softmin.with_dtype nn.functional.softplus
    nn.functional.softshrink nn.functional.softsign nn.functional.tanhshrink nn.functional.threshold
    nn.functional.triplet_margin_loss nn.functional.triplet_margin_with_distance_loss nn.functional.unfold
    nn.functional.upsample_bilinear nn.functional.upsample_nearest norm norm.fro norm.inf ones ones_like outer
    permute permute_copy pow rad2deg ravel reciprocal remainder renorm repeat repeat_interleave reshape reshape_as
    roll rot90 round round.decimals_0 round.decimals_3 round.decimals_neg_3 rsqrt rsub scalar_tensor scatter
    scatter_add scatter_reduce.amax scatter_reduce.amin scatter_reduce.prod scatter_reduce.sum select select_scatter sgn short sigmoid sign signal.windows.bartlett
    signal.windows.blackman signal.windows.cosine signal.windows.exponential signal.windows.gaussian
    signal.windows.general_cosine signal.windows.general_hamming signal.windows.hamming signal.windows.hann
    signal.windows.nuttall signbit sin sinc sinh slice slice_scatter softmax softmax.with_dtype special.entr
    special.ndtr special.xlog1py split split.list_args split_with_sizes split_with_sizes_copy sqrt square squeeze
    squeeze.multiple squeeze_copy stack std std.unbiased std_mean std_mean.unbiased sub sum sum_to_size t t_copy
    take_along_dim tan tanh tensordot tile to trace transpose transpose_copy trapezoid trapz tril triu true_divide
    trunc unbind unbind_copy unflatten unfold unfold_copy unravel_index unsafe_chunk unsafe_split unsqueeze
    unsqueeze_copy var var.unbiased var_mean var_mean.unbiased vdot view view_as view_copy vsplit vstack where xlogy
    zero_ zeros zeros_like
""".split())

# Covered ops that move elements.
MOVES = set("""
    H T _chunk_cat alias_copy arange atleast_1d atleast_2d atleast_3d block_diag broadcast_tensors broadcast_to cat
    chunk clone column_stack constant_pad_nd diag_embed diagonal diagonal_copy dsplit dstack expand expand_as
    expand_copy fill flatten flip fliplr flipud full full_like hsplit hstack isreal linspace
    linspace.tensor_overload mH mT meshgrid.list_of_tensors meshgrid.variadic_tensors movedim narrow_copy new_full
    new_ones new_zeros nn.functional.channel_shuffle nn.functional.pad.constant nn.functional.pixel_shuffle
    nn.functional.pixel_unshuffle ones ones_like permute permute_copy ravel repeat reshape reshape_as roll rot90
    scalar_tensor select slice split split.list_args split_with_sizes split_with_sizes_copy squeeze squeeze.multiple
    squeeze_copy stack t t_copy tile transpose transpose_copy tril triu unbind unbind_copy unflatten unfold
    unfold_copy unsafe_chunk unsafe_split unsqueeze unsqueeze_copy view view_as view_copy vsplit vstack zero_ zeros
    zeros_like
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
    wanted = Case(op, dtype, 0, None).gradient
    made = list(itertools.islice(op.sample_inputs("cpu", dtype, requires_grad=wanted), limit))
    made = [each for each in made if not each.kwargs.get("dropout_p")]  # random
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

    def shows_errors(self, dtype):
        """Whether draws show eager's error in results of the dtype. Without floats they are all alike, and a result in f64 of
        narrower inputs is the same computation on both sides: there each node may round."""
        wide = dtype == torch.float64 != self.case.dtype
        return not wide and any(self.leaves[place].is_floating_point() for place in self.places)

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

    def run(self, through, floats=None, draw=0, given=None):
        """Results, then gradients of the tensors that take one; floats in the dtype `floats` where one is given, from
        those of the dtype `given`. Draws but 0 have each float moved by up to a sixteenth."""
        torch.manual_seed(draw)

        def wide(x):
            if not x.is_floating_point():
                return x
            if draw:
                x = (x.double() * (1 - torch.rand(x.shape, dtype=torch.float64) / 16)).to(x.dtype)
            return x.to(given or x.dtype).to(floats or x.dtype)

        leaves = [floats if floats is not None and isinstance(leaf, torch.dtype) and leaf.is_floating_point else leaf
                  for leaf in self.leaves]
        tensors = []
        for place in self.places:
            x = wide(self.leaves[place].detach().clone())
            tensors.append(x.requires_grad_(self.leaves[place].requires_grad))
        outs = through(self.function(leaves))(*tensors)
        ways = [out for out in outs if out.requires_grad]
        if ways:
            torch.manual_seed(7 + draw)
            grads = [torch.randn(out.shape, dtype=torch.float64).to(given or self.case.dtype) for out in ways]
            torch.autograd.backward(ways, [grad.to(out.dtype) for grad, out in zip(grads, ways)])
        return [out.detach() for out in outs] + [x.grad for x in tensors if x.grad is not None]

    def exactly(self, draw=0, given=None):
        """In f64; integers become it too where PyTorch makes floats of them."""
        torch.set_default_dtype(torch.float64)
        try:
            return self.run(lambda f: f, torch.float64, draw, given)
        finally:
            torch.set_default_dtype(torch.float32)

    def errors(self, draws):
        """Eager's error per result, the largest of some draws. Nothing is wider than f64, so f64's errors are those that
        eager has in f32, smaller by the ratio of the units, and half more, since the reference has them too."""
        double = self.case.dtype == torch.float64
        scale = 1.5 * torch.finfo(torch.float64).eps / torch.finfo(torch.float32).eps if double else 1.0
        narrow = torch.float32 if double else None
        most = collections.Counter()
        for draw in draws:
            for i, (ours, right) in enumerate(zip(self.run(lambda f: f, narrow, draw, narrow), self.exactly(draw, narrow))):
                good = ours.isfinite() & right.isfinite()
                error = (ours.double() - right.double())[good].abs().max().item() if good.any() else 0.0
                most[i] = max(most[i], scale * error)
        return most


def by_dynamo(f):
    torch._dynamo.reset()
    return torch.compile(f, backend="plait", dynamic=False)


def by_aot(f):
    def compile_one(graph, inputs):
        return make_boxed_func(compiler.compile_graph(graph, inputs, compiler.Options()))

    return aot_function(f, fw_compiler=compile_one, bw_compiler=compile_one, decompositions=compiler.decompositions())


# Ops and dtypes where eager itself errs by more than its dtype says, and by how much, relative to the largest element.
EAGER_ERRS = {("nn.functional.hardsigmoid", torch.float64): 3e-8}  # ATen's gradient multiplies by 1 / 6 in f32


class Tally:
    def __init__(self):
        self.ran, self.counted = collections.Counter(), collections.Counter()
        self.wrong, self.dynamo, self.draws = [], 0, 0
        self.reached = set()  # rows of the table that a fusion had a node of

    def add(self, case, dynamo):
        run, name = Run(case), name_of(case.op)
        eager = run.run(lambda f: f)
        exact = run.exactly()
        self.ran[name] += 1
        self.dynamo += dynamo
        try:
            with compiler.listening() as reports:
                try:
                    got = run.run(by_dynamo if dynamo else by_aot)
                except (DataDependentOutputException, DynamicOutputShapeException):  # AOTAutograd alone has no graph breaks
                    got = run.run(by_dynamo)
        except Exception as e:  # noqa: BLE001: whatever it is, the sample failed
            self.wrong.append(f"{case}: {type(e).__name__}: {e}")
            return
        if failures := [failure for report in reports for failure in report.failures]:
            self.wrong.append(f"{case}: a fusion runs eagerly: {failures[0]}")
            return
        targets = {node.target for report in reports for fused in report.fusions for node in fused.nodes}
        self.reached |= targets
        if name in MOVES:
            counts = bool(targets & VIEWS)
        else:
            counts = any(report.fused for report in reports)
        self.counted[name] += counts
        if len(got) != len(eager):
            self.wrong.append(f"{case}: {len(got)} results in place of {len(eager)}")
            return
        rows = list(zip(got, eager, exact))
        found = [(i, wrong(*row)) for i, row in enumerate(rows)]
        if any(what for _, what in found):
            known = EAGER_ERRS.get((name, case.dtype), 0.0)
            least = run.errors(range(50 if case.dtype == torch.float64 else 9))
            most = [max(least[i], known * exact[i].abs().max().item()) if known else least[i] for i in range(len(rows))]
            nodes = sum(len(report.fused) for report in reports)
            found = [(i, wrong(*row, most[i], 1 if run.shows_errors(row[0].dtype) else nodes)) for i, row in enumerate(rows)]
            self.draws += 1
        self.wrong += [f"{case}: result {i}: {what}" for i, what in found if what][:1]

    @property
    def below(self):
        """Ops less than 90 % of whose samples count: {name: (counted, samples)}."""
        return {name: (self.counted[name], ran) for name, ran in sorted(self.ran.items()) if self.counted[name] < 0.9 * ran}

    @property
    def unreached(self):
        return sorted(str(row) for row in TABLE.keys() - self.reached)

    def __str__(self):
        low = [f"{name} {counted} of {ran}" for name, (counted, ran) in self.below.items()]
        return (f"{self.ran.total()} samples of {len(self.ran)} ops, {self.dynamo} through torch.compile, "
                f"{self.counted.total()} counted, {len(self.wrong)} wrong; judged by draws: {self.draws}\n"
                f"below 90 %: {', '.join(low) or 'none'}\n"
                + "\n".join(self.wrong[:40]))

    def write(self, file):
        figures = {"kind": "opinfo", "date": time.strftime("%Y-%m-%d"), "cpu": platform.processor() or platform.machine(),
                   "torch": torch.__version__, "plait": plait.__version__, "samples": self.ran.total(), "ops": len(self.ran),
                   "through_torch_compile": self.dynamo, "counted": self.counted.total(), "judged_by_draws": self.draws,
                   "wrong": self.wrong, "below_90_percent": self.below, "rows": len(TABLE), "rows_not_reached": self.unreached}
        pathlib.Path(file).write_text(json.dumps(figures, indent=1) + "\n")


def dynamo_can(op):
    """Dynamo does not look into PyTorch's test code."""
    return not (getattr(op.op, "__module__", None) or "").startswith("torch.testing")


def check(cases, every, dynamo, file=None):
    """Of every `every` samples `dynamo` go through torch.compile; figures go to the file."""
    tally = Tally()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for i, case in enumerate(cases):
            tally.add(case, dynamo=i % every < dynamo and dynamo_can(case.op))
    print(tally)
    if file:
        tally.write(file)
    assert not tally.wrong, str(tally)
    assert tally.ran.total() == len(cases) and tally.counted.total() >= 0.9 * len(cases), str(tally)
    return tally


def test_covered_ops_are_pytorchs():
    assert not COVERED - {name_of(op) for op in op_db} and not MOVES - COVERED


def test_samples():
    tally = check(chosen(80), 5, 2)
    assert tally.dynamo >= 25, str(tally)


@pytest.mark.skipif(not os.environ.get("PLAIT_TEST_LONG"), reason="PLAIT_TEST_LONG is not set")
def test_samples_long_run():
    tally = check(chosen(4000), 10, 1, os.environ.get("PLAIT_TEST_JSON"))
    print(f"{len(tally.unreached)} of {len(TABLE)} rows of the table that no sample reached: {', '.join(tally.unreached)}")
    assert len(tally.reached & TABLE.keys()) > len(TABLE) / 2
