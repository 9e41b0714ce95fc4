"""The backend of torch.compile: graphs of AOTAutograd, forward and backward, in the largest fusions that plait takes."""

from __future__ import annotations

import collections
import dataclasses
import functools
import operator
import warnings
from typing import Any

import torch
from torch.fx.passes.infra.partitioner import CapabilityBasedPartitioner
from torch.fx.passes.operator_support import OperatorSupportBase

import plait
from plait.torch.lowering import Fused, device_of, is_tensor, is_view, why_not
from plait.torch.sizes import Unsupported
from plait.torch.table import TABLE, VIEWS


@dataclasses.dataclass
class Options:
    """`torch.compile(..., options={...})`."""

    strict: bool = False  # raise where a node would stay eager
    plait: dict[str, Any] = dataclasses.field(default_factory=dict)  # options of plait.compile

    @classmethod
    def of(cls, given: dict[str, Any] | None) -> Options:
        known = {field.name for field in dataclasses.fields(cls)}
        for name in given or {}:
            if name not in known:
                raise plait.UserError(f"there is no option `{name}`", "torch.compile", f"known: {', '.join(sorted(known))}")
        return cls(**(given or {}))


@dataclasses.dataclass
class GraphReport:
    """What became of one graph of ATen ops."""

    fusions: list[Fused] = dataclasses.field(default_factory=list)
    fused: list[str] = dataclasses.field(default_factory=list)  # ops by name, once per node
    eager: list[tuple[str, str]] = dataclasses.field(default_factory=list)  # op, why


REPORTS: list[GraphReport] = []  # of the graphs compiled while plait.torch.report listens
LISTENING = False
_warned: set[str] = set()

# Not work: views, getitem and arithmetic of sizes.
SIZES = {torch.ops.aten.sym_size.int, torch.ops.aten.sym_stride.int, torch.ops.aten.sym_numel.default, operator.getitem,
         operator.add, operator.sub, operator.mul, operator.floordiv, operator.mod, operator.truediv}


def counts_as_work(node: torch.fx.Node) -> bool:
    return isinstance(node.target, torch._ops.OpOverload) and node.target not in SIZES and node.target not in VIEWS


class _Support(OperatorSupportBase):
    def __init__(self, reasons: dict[torch.fx.Node, str], device: torch.device):
        self.reasons, self.device = reasons, device

    def is_node_supported(self, submodules: Any, node: torch.fx.Node) -> bool:
        if node.op != "call_function":
            return False
        if node.target is operator.getitem:
            return isinstance(node.args[0], torch.fx.Node) and self.is_node_supported(submodules, node.args[0])
        if node not in self.reasons:
            self.reasons[node] = why_not(node, self.device) or ""
        return not self.reasons[node]


def _warn(node: torch.fx.Node, why: str, options: Options) -> None:
    if options.strict:
        raise plait.UserError(f"{node.target} stays eager: {why}", str(node.format_node()), "leave out strict")
    if str(node.target) in _warned:
        return
    _warned.add(str(node.target))
    warnings.warn(f"plait: {node.target} runs eagerly: {why}", stacklevel=2)


def results_of_users(graph: torch.fx.Graph) -> int:
    """How many of a forward graph's results go to the user; those behind them are kept for the backward graph."""
    context = torch._guards.TracingContext.try_get()
    metadata = context.fw_metadata if context else None
    return metadata.num_forward if metadata else 0


def own_memory(graph: torch.fx.Graph, gradients: bool) -> None:
    """Results that are views become copies where their memory is changed under other eyes: gradients, which autograd adds to
    in place, and results for the user that share what is kept for the backward graph."""
    output = next(node for node in graph.nodes if node.op == "output")
    results = [node for node in output.args[0] if isinstance(node, torch.fx.Node) and is_tensor(node.meta.get("val"))]
    of_users = set(output.args[0] if gradients else output.args[0][:results_of_users(graph)])
    roots: dict[torch.fx.Node, torch.fx.Node] = {}
    for node in results:
        roots[node] = node
        while is_view(roots[node]):
            roots[node] = roots[node].args[0]
    for node, root in roots.items():
        others = [other for other in roots if roots[other] is root and other is not node]
        mixed = any((other in of_users) != (node in of_users) for other in others)
        shared = root.op == "placeholder" or others if gradients else root.op != "placeholder" and mixed
        if node is root or not shared:
            continue
        with graph.inserting_after(node):
            copy = graph.call_function(torch.ops.aten.clone.default, (node,), {"memory_format": torch.preserve_format})
        copy.meta = dict(node.meta)
        output.replace_input_with(node, copy)


def compile_graph(gm: torch.fx.GraphModule, example_inputs: list[Any], options: Options, gradients: bool = False) -> Any:
    """A callable for a graph of ATen ops: fusions, and what is between them eagerly. `gradients`: it gives gradients."""
    own_memory(gm.graph, gradients)
    reasons: dict[torch.fx.Node, str] = {}
    partitioner = CapabilityBasedPartitioner(gm, _Support(reasons, device_of(gm.graph)), allows_single_node_partition=True)
    partitions = [p for p in partitioner.propose_partitions() if any(counts_as_work(node) for node in p.nodes)]
    for node, why in reasons.items():
        if why and counts_as_work(node):
            _warn(node, why, options)
    report = GraphReport(eager=[(str(n.target), why) for n, why in reasons.items() if why and counts_as_work(n)])
    whole = partitioner.fuse_partitions(partitions, prefix="plait_")
    for name, module in list(whole.named_children()):
        if not name.startswith("plait_"):
            continue
        try:
            fused = Fused(module.graph, name, options.plait)
        except (Unsupported, plait.UserError) as e:
            first = next(node for node in module.graph.nodes if counts_as_work(node))
            _warn(first, f"its fusion is refused: {e}", options)
            report.eager += [(str(n.target), str(e)) for n in module.graph.nodes if counts_as_work(n)]
            continue
        setattr(whole, name, _Module(fused))
        report.fusions.append(fused)
        report.fused += [str(node.target) for node in fused.nodes if counts_as_work(node)]
    if LISTENING:
        REPORTS.append(report)
    whole.recompile()
    return _of_one_fusion(whole) or whole.forward


def _of_one_fusion(whole: torch.fx.GraphModule) -> Any:
    """Where a graph is one fusion whose results it returns, a function without the calls of modules around it."""
    places: dict[torch.fx.Node, tuple[bool, int]] = {}  # of a value: whether it is a result, and its number
    inputs, call, outputs = 0, None, ()
    for node in whole.graph.nodes:
        if node.op == "placeholder":
            places[node] = (False, inputs)
            inputs += 1
        elif node.op == "call_module" and call is None and isinstance(getattr(whole, node.target), _Module):
            call = node
        elif node.op == "call_function" and node.target is operator.getitem and node.args[0] is call:
            places[node] = (True, node.args[1])
        elif node.op == "output":
            outputs = node.args[0]
        else:
            return None
    if call is None or not isinstance(outputs, (list, tuple)):
        return None
    fused = getattr(whole, call.target).fused
    if fused.single:
        places[call] = (True, 0)
    if any(isinstance(each, torch.fx.Node) and each not in places for each in outputs) or call.kwargs:
        return None
    given = [places[each][1] for each in call.args]
    gives = [places[each] if isinstance(each, torch.fx.Node) else (None, each) for each in outputs]

    def run(*args: Any) -> list[Any]:
        made = fused(*[args[i] for i in given])
        if fused.single:
            made = (made,)
        return [made[which] if result else args[which] if result is False else which for result, which in gives]

    return run


class _Module(torch.nn.Module):
    def __init__(self, fused: Fused):
        super().__init__()
        self.fused = fused

    def forward(self, *args: Any) -> Any:
        return self.fused(*args)


def _soft_margin_loss_backward(grad: torch.Tensor, x: torch.Tensor, target: torch.Tensor, reduction: int) -> torch.Tensor:
    """PyTorch's own takes 1 from a sigmoid, which leaves few digits of what is small."""
    out = -target * grad * torch.sigmoid(-target * x)
    return out / x.numel() if reduction == 1 else out


@functools.cache
def decompositions() -> dict[Any, Any]:
    """PyTorch's own, but for what plait has as one op and what loses digits."""
    table = dict(torch._decomp.core_aten_decompositions())
    for op in list(table):
        if op in TABLE:
            del table[op]
    extra = [torch.ops.aten.native_group_norm.default, torch.ops.aten.addmv.default, torch.ops.aten.dist.default,
             torch.ops.aten._native_batch_norm_legit.default, torch.ops.aten.native_batch_norm.default,
             torch.ops.aten._native_batch_norm_legit_functional.default, torch.ops.aten._native_batch_norm_legit_no_training.default]
    table.update(torch._decomp.get_decompositions([op for op in extra if op not in TABLE]))
    table[torch.ops.aten.soft_margin_loss_backward.default] = _soft_margin_loss_backward
    return table


def backend(gm: torch.fx.GraphModule, example_inputs: list[Any], *, options: dict[str, Any] | None = None,
            mode: Any = None) -> Any:
    """What torch.compile calls with every graph. `options`: strict, plait."""
    from functorch.compile import make_boxed_func
    from torch._dynamo.backends.common import aot_autograd

    chosen = Options.of(options)

    def compiler(gradients: bool) -> Any:
        return lambda graph, inputs: make_boxed_func(compile_graph(graph, inputs, chosen, gradients))

    return aot_autograd(fw_compiler=compiler(False), bw_compiler=compiler(True), decompositions=decompositions())(gm, example_inputs)
