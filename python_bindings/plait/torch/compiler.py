"""The backend of torch.compile: graphs of AOTAutograd, forward and backward, in the largest fusions that plait takes."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import operator
import os
import re
import warnings
from collections.abc import Iterable, Iterator
from typing import Any

import torch
from torch._dynamo.exc import ShortenTraceback

import plait
from plait.torch import dropout
from plait.torch.lowering import Fused, device_of, is_tensor, is_view, why_not
from plait.torch.partition import Call, order_of_effects, partitions, with_calls
from plait.torch.same_sizes import give_names
from plait.torch.sizes import MissingSizes, Refused, Unsupported, expression
from plait.torch.table import TABLE, VIEWS


@dataclasses.dataclass
class Options:
    """`torch.compile(..., options={...})`."""

    strict: bool = False  # raise where a node would stay eager
    dropout: str = "plait"  # whose random numbers dropout in training has; eager: PyTorch's, and the node stays eager
    dumps: str | list[str] | None = None  # of plait.compile: texts of stages; None: what PLAIT_DUMP says
    plait: dict[str, Any] = dataclasses.field(default_factory=dict)  # options of plait.compile

    @classmethod
    def of(cls, given: dict[str, Any] | None) -> Options:
        known = {field.name for field in dataclasses.fields(cls)}
        for name in given or {}:
            if name not in known:
                raise plait.UserError(f"there is no option `{name}`", "torch.compile", f"known: {', '.join(sorted(known))}")
        out = cls(**(given or {}))
        out.check()
        return out

    def check(self) -> None:
        """Compiles a fusion that nothing is wrong with: whatever plait.UserError that raises is due to the options."""
        if self.dropout not in ("plait", "eager"):
            raise plait.UserError(f"there is no dropout `{self.dropout}`", "torch.compile, dropout", "take plait or eager")
        if not isinstance(self.strict, bool):
            raise plait.UserError(f"strict is {self.strict!r}", "torch.compile, strict", "give True or False")
        if not isinstance(self.plait, dict):
            raise plait.UserError(f"{self.plait!r} are no options", "torch.compile, plait", "give a dict")
        fusion = plait.Fusion("options")
        fusion.output("y", plait.ops.neg(fusion.input("x", [1], plait.f32)))
        plait.compile(fusion, device="reference", options=self.plait, dumps=self.dumps)
        if "skip" in self.plait:  # which is read where a class is compiled
            plait.compile(fusion, device="reference", options={"skip": self.plait["skip"]}, dumps=[]).prepare({"x": (plait.f32, [1])})


class UserError(plait.UserError, ShortenTraceback):
    """What Dynamo shows as it is."""

    def __init__(self, error: plait.UserError):
        ShortenTraceback.__init__(self, first_useful_frame=None)
        plait.UserError.__init__(self, error.what, error.where, error.remedy)


@dataclasses.dataclass
class GraphReport:
    """What became of one graph of ATen ops."""

    modules: list[FusedModule] = dataclasses.field(default_factory=list)
    left: list[tuple[str, str]] = dataclasses.field(default_factory=list)  # op that is in none of them, why
    refused: list[str] = dataclasses.field(default_factory=list)  # errors of plait's in making fusions

    @property
    def fusions(self) -> list[Fused]:
        return [module.fused for module in self.modules if not module.failure]

    @property
    def failures(self) -> list[str]:
        """Errors of plait's for which fusions run eagerly."""
        return self.refused + [module.failure for module in self.modules if module.failure]

    @property
    def fused(self) -> list[str]:
        """Ops by name, once per node."""
        return [op for fused in self.fusions for op in ops_of(fused.nodes)]

    @property
    def eager(self) -> list[tuple[str, str]]:
        """Op and why, once per node."""
        return self.left + [(op, m.failure) for m in self.modules if m.failure for op in ops_of(m.fused.nodes)]


REPORTS: list[GraphReport] = []  # of the graphs compiled while somebody listens
LISTENING = False
TIMING = False  # whether fusions of these graphs run once for their times, before they run
_warned: set[str] = set()


@contextlib.contextmanager
def listening(timing: bool = False) -> Iterator[list[GraphReport]]:
    """The reports of the graphs that the process compiles meanwhile; with `timing` their fusions are timed. They stay in
    REPORTS until somebody listens again."""
    global LISTENING, TIMING
    REPORTS.clear()
    LISTENING, TIMING = True, timing
    try:
        yield REPORTS
    finally:
        LISTENING = TIMING = False

_BY_OPTION = "the option dropout is eager"
SIZES = {torch.ops.aten.sym_size.int, torch.ops.aten.sym_stride.int, torch.ops.aten.sym_numel.default, operator.getitem,
         operator.add, operator.sub, operator.mul, operator.floordiv, operator.mod, operator.truediv}


def op_of(node: torch.fx.Node) -> Any:
    """What the node calls; where it is ordered by a token, the op behind it."""
    return node.args[1] if node.target is torch.ops.higher_order.with_effects else node.target


def counts_as_work(node: torch.fx.Node) -> bool:
    """Whether the node is neither a view, nor getitem, nor arithmetic of sizes, nor a check, which gives nothing, nor a
    draw of plait's."""
    op = op_of(node)
    if dropout.is_draw(node):
        return False
    if isinstance(op, torch._ops.HigherOrderOperator):
        return True
    if not isinstance(op, torch._ops.OpOverload) or op in SIZES:
        return False
    return bool(op._schema.returns) and not op.is_view and op != torch.ops.aten._unsafe_view.default


def computes(node: torch.fx.Node) -> bool:
    """Whether the node does more than move elements, or make them from nothing: alone, PyTorch does that as fast."""
    return counts_as_work(node) and node.target not in VIEWS


def ops_of(nodes: Iterable[torch.fx.Node]) -> list[str]:
    return [str(op_of(node)) for node in nodes if counts_as_work(node)]


def _reasons(graph: torch.fx.Graph, given: dict[torch.fx.Node, str]) -> dict[torch.fx.Node, str]:
    """Of the nodes that call functions: why they stay eager, or "". `given`: what is known of some."""
    device = device_of(graph)
    out: dict[torch.fx.Node, str] = {}
    for node in graph.nodes:
        if node.op != "call_function":
            continue
        if node.target is operator.getitem:
            operand = node.args[0]
            out[node] = "" if isinstance(operand, torch.fx.Node) and out.get(operand) == "" else "its operand stays eager"
        else:
            out[node] = given.get(node) or why_not(node, device) or ""
    return out


def _warn(node: torch.fx.Node, why: str, options: Options) -> None:
    if options.strict:
        raise plait.UserError(f"{op_of(node)} stays eager: {why}", str(node.format_node()), "leave out strict")
    _warn_once(str(op_of(node)), f"{op_of(node)} runs eagerly: {why}", [node])


def _warn_of_fusion(nodes: Iterable[torch.fx.Node], why: str) -> None:
    nodes = list(nodes)
    text = f"a fusion of {', '.join(dict.fromkeys(ops_of(nodes)))} runs eagerly: {why}"
    _warn_once(text, text, nodes)


_FRAME = re.compile(r'^  File "(.+)", line (\d+), in ', re.MULTILINE)  # as PyTorch writes them, the innermost last
_PYTORCH = os.path.dirname(torch.__file__) + os.sep


def _warn_once(key: str, text: str, nodes: Iterable[torch.fx.Node]) -> None:
    """Names the user's line that the first of the nodes comes from, as far as PyTorch knows it."""
    if key in _warned:
        return
    _warned.add(key)
    frames = next((found for node in nodes if (found := _FRAME.findall(node.stack_trace or ""))), [])
    if frames:
        file, line = ([frame for frame in frames if not frame[0].startswith(_PYTORCH)] or frames)[-1]
        warnings.warn_explicit(f"plait: {text}", UserWarning, file, int(line))
    else:
        warnings.warn(f"plait: {text}", stacklevel=3)


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


def _size_before(call: torch.fx.Node, symbol: str) -> torch.fx.Node | None:
    """A node ahead of the call that gives the size: one that is there, or a dim of a tensor."""
    for node in call.graph.nodes:
        if node is call:
            return None
        value = node.meta.get("val")
        if isinstance(value, torch.SymInt) and str(expression(value)) == symbol:
            return node
        for dim, size in enumerate(value.shape if is_tensor(value) else ()):
            if isinstance(size, torch.SymInt) and str(expression(size)) == symbol:
                with call.graph.inserting_before(call):
                    made = call.graph.call_function(torch.ops.aten.sym_size.int, (node, dim))
                made.meta["val"] = size
                return made
    return None


def _give_sizes(node: torch.fx.Node, call: Call, missing: MissingSizes) -> None:
    """Makes the sizes arguments of the call. Raises `missing` where nothing ahead of it has them."""
    sizes = [_size_before(node, symbol) for symbol in missing.symbols]
    if None in sizes:
        raise missing
    nodes = list(call.graph.nodes)
    behind = nodes[max((i + 1 for i, each in enumerate(nodes) if each.op == "placeholder"), default=0)]
    for symbol, size in zip(missing.symbols, sizes):
        with call.graph.inserting_before(behind):
            call.graph.placeholder(f"size_{symbol}").meta["val"] = size.meta["val"]
    node.args = (*node.args, *sizes)


def _fuse(node: torch.fx.Node, call: Call, name: str, options: Options) -> Fused:
    try:
        return Fused(call.graph, name, options.plait, options.dumps)
    except MissingSizes as missing:
        _give_sizes(node, call, missing)
        return Fused(call.graph, name, options.plait, options.dumps)


_MOST_REFUSED = 16  # nodes that are taken out of the fusions of a graph, one after another


def compile_graph(gm: torch.fx.GraphModule, example_inputs: list[Any], options: Options, gradients: bool = False) -> Any:
    """A callable for a graph of ATen ops: fusions, and what is between them eagerly. `gradients`: it gives gradients."""
    own_memory(gm.graph, gradients)
    if options.dropout == "plait":
        dropout.open_dropouts(gm.graph)
    give_names(gm.graph)
    reasons = _reasons(gm.graph, {node: _BY_OPTION for node in gm.graph.nodes if dropout.opens(node)})
    nodes = list(gm.graph.nodes)
    before = order_of_effects(nodes)
    for node, why in reasons.items():
        if why and why != _BY_OPTION and counts_as_work(node):
            _warn(node, why, options)
    refused: set[torch.fx.Node] = set()
    while True:
        proposed = partitions(nodes, lambda node: reasons.get(node) == "", before)
        groups = [group for group in proposed if any(map(computes, group))]
        rows = [(str(op_of(n)), why) for n, why in reasons.items() if why and (counts_as_work(n) or n in refused)]
        rows += [(op, "its fusion would only move elements") for group in proposed if group not in groups for op in ops_of(group)]
        report = GraphReport(left=rows)
        graph, calls = with_calls(gm.graph, groups, before, "plait_")
        try:
            modules = _modules(calls, report, options, gradients, len(refused) < _MOST_REFUSED)
            break
        except Refused as e:
            refused.add(e.node)
            reasons[e.node] = str(e)
            reasons.update((user, "its operand stays eager") for user in e.node.users if user.target is operator.getitem)
            _warn(e.node, str(e), options)
    if LISTENING:
        REPORTS.append(report)
    return _of_one_fusion(graph, modules) or _whole(gm, graph, modules).forward


def _modules(calls: list[tuple[torch.fx.Node, Call]], report: GraphReport, options: Options, gradients: bool,
             splits: bool) -> dict[str, torch.nn.Module]:
    """By name, what is called: a fusion, or its nodes where plait refuses it. With `splits`, raises Refused where the fusion
    could be without one of the nodes."""
    modules: dict[str, torch.nn.Module] = {}
    for node, call in calls:
        name = node.target
        direction = "backward" if gradients else "forward"
        try:
            fused = FusedModule(_fuse(node, call, name.replace("plait", direction), options), call.graph, options.strict)
        except plait.OutOfMemoryError:
            raise
        except (Unsupported, plait.Error) as e:
            if isinstance(e, Refused) and splits:
                raise Refused(call.origins[e.node], str(e)) from e
            if options.strict:
                raise plait.UserError(f"a fusion of {', '.join(dict.fromkeys(ops_of(call.graph.nodes)))} is refused: {e}",
                                      "torch.compile", "leave out strict") from e
            _warn_of_fusion(call.graph.nodes, str(e))
            if isinstance(e, plait.Error):
                report.refused.append(str(e))
            report.left += [(op, str(e)) for op in ops_of(call.graph.nodes)]
            modules[name] = torch.fx.GraphModule({}, call.graph)
            continue
        modules[name] = fused
        report.modules.append(fused)
    return modules


def _whole(gm: torch.fx.GraphModule, graph: torch.fx.Graph, modules: dict[str, torch.nn.Module]) -> torch.fx.GraphModule:
    for name, module in modules.items():
        gm.add_submodule(name, module)
    return torch.fx.GraphModule(gm, graph)


def _of_one_fusion(graph: torch.fx.Graph, modules: dict[str, torch.nn.Module]) -> Any:
    """Where a graph is one fusion whose results it returns, a function without the calls of modules around it."""
    places: dict[torch.fx.Node, tuple[bool, int]] = {}  # of a value: whether it is a result, and its number
    inputs, call, outputs = 0, None, ()
    draws = [node for node in graph.nodes if dropout.is_draw(node)]  # behind the inputs
    for node in graph.nodes:
        if node.op == "placeholder":
            places[node] = (False, inputs)
            inputs += 1
        elif node in draws:
            places[node] = (False, inputs + draws.index(node))
        elif node.op == "call_module" and call is None and isinstance(modules.get(node.target), FusedModule):
            call = node
        elif node.op == "call_function" and node.target is operator.getitem and node.args[0] is call:
            places[node] = (True, node.args[1])
        elif node.op == "output":
            outputs = node.args[0]
        else:
            return None
    if call is None or not isinstance(outputs, (list, tuple)):
        return None
    module = modules[call.target]
    single = module.fused.single
    if single:
        places[call] = (True, 0)
    if any(isinstance(each, torch.fx.Node) and each not in places for each in outputs) or call.kwargs:
        return None
    given = [places[each][1] for each in call.args]
    gives = [places[each] if isinstance(each, torch.fx.Node) else (None, each) for each in outputs]

    def run(*args: Any) -> list[Any]:
        if draws:
            args = (*args, *map(dropout.draw, draws))
        made = module.run(*[args[i] for i in given])
        if single:
            made = (made,)
        return [made[which] if result else args[which] if result is False else which for result, which in gives]

    return run


class FusedModule(torch.nn.Module):
    """A fusion in a graph. After an error of plait's its nodes run eagerly; `failure` says why."""

    def __init__(self, fused: Fused, graph: torch.fx.Graph, strict: bool):
        super().__init__()
        self.fused, self.graph, self.strict = fused, graph, strict
        self.eager: torch.fx.GraphModule | None = None  # made when it is first needed
        self.failure = ""
        self.timing = TIMING

    def run(self, *args: Any) -> Any:
        if not self.failure:
            try:
                if self.timing:  # not the first run, which begins threads and libraries
                    self.timing = False
                    self.fused.program.time_steps()
                    self.fused(*args)
                return self.fused(*args)
            except plait.OutOfMemoryError:
                raise
            except plait.BoundsError as e:
                raise self.fused.told(e) from None
            except plait.Error as e:
                if self.strict:
                    raise
                self.failure = str(e)
                _warn_of_fusion(self.fused.nodes, self.failure)
        if self.eager is None:
            self.eager = torch.fx.GraphModule({}, self.graph)
        return self.eager(*args)

    forward = run


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
    """What torch.compile calls with every graph. `options`: strict, dropout, dumps, plait. Raises plait.UserError."""
    if mode not in (None, "default"):
        raise UserError(plait.UserError(f"there is no mode `{mode}`", "torch.compile", "leave it out; see options"))
    from functorch.compile import make_boxed_func, min_cut_rematerialization_partition
    from torch._dynamo.backends.common import aot_autograd

    def compiler(gradients: bool) -> Any:
        return lambda graph, inputs: make_boxed_func(compile_graph(graph, inputs, chosen, gradients))

    def partition(joint: torch.fx.GraphModule, inputs: Any, **how: Any) -> Any:
        if chosen.dropout == "plait" and dropout.is_recomputed(joint.graph):  # by what is kept: the seed
            dropout.open_dropouts(joint.graph)
        return min_cut_rematerialization_partition(joint, inputs, **how)

    try:
        chosen = Options.of(options)
        compile_both = aot_autograd(fw_compiler=compiler(False), bw_compiler=compiler(True), decompositions=decompositions(),
                                    partition_fn=partition)
        return compile_both(gm, example_inputs)
    except plait.UserError as e:
        raise UserError(e) from e
