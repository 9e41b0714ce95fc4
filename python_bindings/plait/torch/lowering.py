"""From a graph of ATen nodes to a fusion, and a callable that runs it on tensors of PyTorch."""

from __future__ import annotations

import collections
import math
import operator
import re
from collections.abc import Iterable
from typing import Any

import torch
from torch._C import _from_dlpack as from_dlpack
from torch._C import _to_dlpack as to_dlpack

import plait
from plait.torch.sizes import MissingSizes, Refused, Unsupported, expression, extents, facts, symbols
from plait.torch.table import DTYPES, TABLE, Context, dtype


def is_tensor(value: Any) -> bool:
    return isinstance(value, torch.Tensor)


def values_of(node: torch.fx.Node) -> list[Any]:
    value = node.meta.get("val")
    return list(value) if isinstance(value, (list, tuple)) else [value]


class Lowering:
    """Nodes one after another into a fusion."""

    def __init__(self, name: str, nodes: Iterable[torch.fx.Node]):
        self.fusion = plait.Fusion(name)
        if known := facts(nodes):
            self.fusion.given(known)
        self.made: dict[torch.fx.Node, Any] = {}
        self.needed: set[str] = set()  # sizes that texts of extents name
        self.bound: set[str] = set()  # of those, the ones that an input's dim is
        self.indices: dict[str, tuple[str, ...]] = {}  # as Context has them

    def input(self, node: torch.fx.Node, name: str) -> list[int] | None:
        """A tensor that the fusion reads. A dense one that is not row-major is read as it lies: with the dims in the order
        that is given back."""
        value = node.meta["val"]
        shape, order = extents(value.shape), memory_order(value)
        for each in value.shape:
            self.needed |= symbols(each)
        self.bound |= {each for each in shape if isinstance(each, str) and each.isidentifier()}
        made = self.fusion.input(name, [shape[d] for d in order] if order else shape, dtype(value.dtype))
        self.made[node] = plait.ops.permute(made, inverse(order)) if order else made
        return order

    def node(self, node: torch.fx.Node) -> Any:
        """What the node gives: a tensor, or several. Raises Unsupported, plait.UserError."""
        if node.target is operator.getitem:
            made = self.made[node.args[0]][node.args[1]]
        else:
            rule = TABLE.get(node.target)
            if rule is None:
                raise Unsupported("no row of the table")
            for each in node.all_input_nodes:
                self.needed |= symbols(each)
            args, words = torch.fx.map_arg((node.args, node.kwargs), lambda n: self.made.get(n, n))
            made = rule(Context(self.fusion, node, self.indices), *args, **words)
            self.check(node, made)
        self.made[node] = made
        return made

    def check(self, node: torch.fx.Node, made: Any) -> None:
        """The result must be of the type that PyTorch says."""
        for value, tensor in zip(values_of(node), made if isinstance(made, tuple) else (made,)):
            if not is_tensor(value):
                raise Unsupported("a result that is no tensor")
            for each in value.shape:
                self.needed |= symbols(each)
            if tensor.dtype != dtype(value.dtype) or tensor.rank != value.dim():
                raise Unsupported(f"plait makes {tensor.type} of it, PyTorch {value.dtype} {tuple(value.shape)}")
            for ours, theirs in zip(tensor.shape, value.shape):
                if isinstance(ours, int) and isinstance(theirs, int) and ours != theirs:
                    raise Unsupported(f"plait makes {tensor.type} of it, PyTorch {tuple(value.shape)}")

    def sizes(self) -> list[str]:
        """Sizes that no input's dim is: the callable gives each an input without elements, whose first dim it is."""
        return sorted(self.needed - self.bound)


def device_of(graph: torch.fx.Graph) -> torch.device:
    """Where the fusions of a graph are: its GPU, where it has tensors on one that plait can use, or the CPU."""
    devices = {value.device for node in graph.nodes for value in values_of(node) if is_tensor(value)}
    gpu = torch.device("cuda", 0)  # plait puts the one rank of a program there
    return gpu if gpu in devices else torch.device("cpu")


class _Symbolic(Exception):
    """A size that is a symbol, of which more is known than its name."""


def _key(value: Any) -> Any:
    """Equal for arguments, and results, of which a row of the table makes the same. Raises _Symbolic."""
    if isinstance(value, torch.fx.Node):
        return "node", _key(value.meta.get("val"))
    if isinstance(value, torch.Tensor):
        shape, strides = tuple(value.shape), value.stride()
        if not all(type(n) is int for n in (*shape, *strides)):
            raise _Symbolic
        return value.dtype, shape, strides, value.device, value.layout
    if isinstance(value, dict):
        return "dict", *((word, _key(each)) for word, each in sorted(value.items()))
    if isinstance(value, (list, tuple)):
        return "list", *map(_key, value)
    if isinstance(value, (torch.SymInt, torch.SymFloat, torch.SymBool)):
        raise _Symbolic
    return type(value), repr(value)  # 0.0 is -0.0, and nan is not nan


_MOST_KNOWN = 4096
_known: dict[Any, str | None] = {}  # answers of why_not: nodes of a model repeat


def why_not(node: torch.fx.Node, device: torch.device) -> str | None:
    """Why a node of a graph whose fusions are on the device stays eager, or None."""
    if node.op != "call_function":
        return "no function"
    if node.target is operator.getitem:
        return None
    if node.target not in TABLE:
        return "no row of the table"
    try:
        key = (node.target, device, _key(node.args), _key(node.kwargs), _key(node.meta.get("val")))
    except _Symbolic:
        return _try(node, device)
    if key not in _known:
        if len(_known) == _MOST_KNOWN:
            _known.clear()
        _known[key] = _try(node, device)
    return _known[key]


def _try(node: torch.fx.Node, device: torch.device) -> str | None:
    """The same for a node with a row, by lowering it alone."""
    for value in values_of(node) + [n.meta.get("val") for n in node.all_input_nodes]:
        for each in value if isinstance(value, (list, tuple)) else [value]:
            if is_tensor(each) and each.dtype not in DTYPES:
                return f"dtype {each.dtype}"
            if is_tensor(each) and (each.layout != torch.strided or each.is_sparse):
                return f"layout {each.layout}"
            if is_tensor(each) and each.device != device:
                return f"on {each.device}, and the fusions of this graph are on {device}"
    try:
        trial = Lowering("trial", [node, *node.all_input_nodes])
        for i, each in enumerate(node.all_input_nodes):
            if is_tensor(each.meta.get("val")):
                trial.input(each, f"x{i}")
            elif isinstance(each.meta.get("val"), (list, tuple)):
                return "operands that are lists"
        trial.node(node)
    except Unsupported as e:
        return str(e)
    except plait.UserError as e:
        return e.what
    except Exception as e:  # arguments that a row does not foresee: the node stays eager all the same
        return f"{type(e).__name__}: {e}"
    return None


# ---- Running.

def memory_order(value: torch.Tensor) -> list[int] | None:
    """Dims in memory order, outermost first, of a tensor that is not row-major, and dense for the sizes that the graph was
    made for; None for others. For other sizes it is where the dims of results lie, and inputs with gaps are copied."""
    strides, sizes = ([n.node.hint if isinstance(n, torch.SymInt) else n for n in each] for each in (value.stride(), value.shape))
    if any(n is None for n in (*strides, *sizes)):
        return None
    order = sorted(range(len(strides)), key=lambda d: (-strides[d], d))
    if order == sorted(order):
        return None
    span = 1
    for d in reversed(order):
        if strides[d] != span:
            return None
        span *= sizes[d]
    return order


def inverse(order: list[int]) -> list[int]:
    return sorted(range(len(order)), key=order.__getitem__)


def is_view(node: torch.fx.Node) -> bool:
    """Whether the node gives its first operand's memory, as one tensor."""
    return isinstance(node.target, torch._ops.OpOverload) and node.target.is_view and is_tensor(node.meta.get("val"))


def strided_in(base: torch.Tensor, view: torch.Tensor) -> tuple[Any, ...] | None:
    """Where a view lies in its base: the base's strides, sizes, strides, distance of the first elements. None where they are
    not numbers, or the view reads its memory in another way."""
    where = (*base.stride(), *view.shape, *view.stride(), view.storage_offset(), base.storage_offset())
    same = (base.dtype, base.is_neg(), base.is_conj()) == (view.dtype, view.is_neg(), view.is_conj())
    if not same or not all(type(each) is int for each in where):
        return None
    return base.stride(), tuple(view.shape), view.stride(), view.storage_offset() - base.storage_offset()


_VIEWS_BY_STRIDES = {torch.ops.aten.view.default}  # fail for some strides


class View:
    """A result that is a view: what is behind it, and the views to take, one after another."""

    def __init__(self, node: torch.fx.Node, places: dict[torch.fx.Node, int]):
        self.steps: list[tuple[Any, tuple[Any, ...], dict[str, Any], bool]] = []  # the last: whether sizes are arguments
        self.places = places  # of arguments
        result = node
        while is_view(node) and set(node.all_input_nodes[1:]) <= places.keys():
            self.steps.insert(0, (node.target, node.args[1:], node.kwargs, len(node.all_input_nodes) > 1))
            node = node.args[0]
        self.base = node
        self.strided = strided_in(node.meta["val"], result.meta["val"])

    def of(self, base: torch.Tensor, args: tuple[Any, ...]) -> torch.Tensor:
        if self.strided is not None and base.stride() == self.strided[0]:
            _, sizes, strides, distance = self.strided
            return base.as_strided(sizes, strides, base.storage_offset() + distance)
        for target, rest, words, sized in self.steps:
            if sized:
                rest, words = torch.fx.map_arg((rest, words), lambda n: args[self.places[n]])
            if target in _VIEWS_BY_STRIDES:
                base = base.reshape(*rest, *words.values())  # the same where the strides allow a view
            else:
                base = target(base, *rest, **words)
        return base

    def within(self, order: list[int] | None) -> tuple[tuple[int, ...], tuple[int, ...], int] | None:
        """Sizes, strides and offset of the view in what is made of its base, which is dense with the dims in that order;
        None where they are known only when it is there, or the view has not all of its memory."""
        if self.strided is None:
            return None
        bases, sizes, strides, distance = self.strided
        shape = self.base.meta["val"].shape
        if not all(type(n) is int for n in shape) or math.prod(shape) != math.prod(sizes) or distance:
            return None
        dense, span = [0] * len(shape), 1
        for d in reversed(order or range(len(shape))):
            dense[d], span = span, span * shape[d]
        lies = all(n == 1 or have == given for n, have, given in zip(shape, dense, bases, strict=True))
        return (sizes, strides, distance) if lies else None


_OUTSIDE = re.compile(r"index (-?\d+) at (\[.*\]) of %(\w+) lies outside of the (\d+) places(.*)")  # of plait.BoundsError


class Fused:
    """A fusion as a function of tensors. Its program compiles once per specialization. Results that are views of inputs or
    of other results are taken by PyTorch, which costs no copy."""

    def __init__(self, graph: torch.fx.Graph, name: str, options: dict[str, Any], dumps: Any = None):
        lowering = Lowering(name, graph.nodes)
        placeholders = [node for node in graph.nodes if node.op == "placeholder"]
        self.nodes = [node for node in graph.nodes if node.op == "call_function" and node.target is not operator.getitem]
        # Of tensors among the arguments, the fusion's first inputs: place, and order of the dims in memory (None: row-major).
        self.places: list[tuple[int, list[int] | None]] = []
        self.negative: list[int] = []  # of these, the ones whose memory PyTorch reads with the other sign
        for i, node in enumerate(placeholders):
            if is_tensor(node.meta["val"]):
                if node.meta["val"].is_neg():
                    self.negative.append(len(self.places))
                self.places.append((i, lowering.input(node, f"x{i}")))
        result: Any = None
        for node in graph.nodes:
            if node.op == "call_function":
                try:
                    lowering.node(node)
                except Unsupported as e:
                    raise Refused(node, str(e)) from e
                except plait.UserError as e:
                    raise Refused(node, e.what) from e
            elif node.op == "output":
                result = node.args[0]
        self.single = not isinstance(result, (list, tuple))
        arguments = {node: i for i, node in enumerate(placeholders)}
        views = [View(node, arguments) for node in ([result] if self.single else result)]
        # Of what is made: the number of its output, or (number, sizes, strides, offset).
        taken: dict[Any, int] = {}
        self.orders: list[list[int] | None] = []  # of what is made: how its dims are put back, where they are not yet
        bases = [view.base for view in views if view.base not in arguments]
        uses = collections.Counter(bases)
        numbers, orders = self._name_outputs(lowering, bases)
        # Of every result: whether it is made (else given), which of these, and the views to take of it.
        self.results: list[tuple[bool, int, View | None]] = []
        for view in views:
            if view.base in arguments:
                self.results.append((False, arguments[view.base], view if view.steps else None))
                continue
            number, order = numbers[view.base], orders[numbers[view.base]]
            # Several results of one memory are one tensor of PyTorch's and views of it, which it sees as such.
            within = view.within(order) if uses[view.base] == 1 else None
            place = taken.setdefault((number, *within) if within else number, len(taken))
            if place == len(self.orders):
                self.orders.append(inverse(order) if order and not within else None)
            self.results.append((True, place, view if view.steps and not within else None))
        self.size_places: list[int] = []  # of sizes among the arguments; the inputs behind the tensors
        by_symbol = {str(expression(n.meta["val"])): i for i, n in enumerate(placeholders)
                     if isinstance(n.meta["val"], torch.SymInt)}
        if missing := [symbol for symbol in lowering.sizes() if symbol not in by_symbol]:
            raise MissingSizes(missing)
        for symbol in lowering.sizes():
            lowering.fusion.input(f"size_{symbol}", [symbol, 0], plait.bool_)
            self.size_places.append(by_symbol[symbol])
        self.fusion = lowering.fusion
        self.indices = lowering.indices
        self.device = device_of(graph)
        how = {"on_internal_error": "nest", **options}
        self.program = plait.compile(self.fusion, device=self.device.type, options=how, dumps=dumps)
        self.program._set_results(list(taken))
        self.takes_tensors = self.program._set_tensor_type(torch.Tensor)

    def told(self, error: plait.BoundsError) -> plait.BoundsError:
        """The error of an index that may count from the end, of the tensors that the graph has."""
        found = _OUTSIDE.fullmatch(error.what)
        names = self.indices.get(found[3]) if found else None
        if not found or not names:
            return error
        if len(names) > 1:
            return plait.BoundsError(f"an index at {found[2]} of {' or '.join(f'%{each}' for each in dict.fromkeys(names))} lies outside of its extent",
                                     error.where, "give indices from minus the extent on, below the extent")
        extent = int(found[4])
        what = f"index {found[1]} at {found[2]} of %{names[0]} lies outside of the {extent} places{found[5]}"
        where = re.sub(rf"%{found[3]}\b", f"%{names[0]}", error.where)
        return plait.BoundsError(what, where, f"give indices from {-extent} to {extent - 1}" if extent else error.remedy)

    def _name_outputs(self, lowering: Lowering, nodes: list[torch.fx.Node]) -> tuple[dict[torch.fx.Node, int], list[Any]]:
        """Makes outputs of the nodes, each once. Of every node, which output it is; of outputs, the dims in memory order."""
        numbers: dict[torch.fx.Node, int] = {}
        orders: list[list[int] | None] = []
        taken: set[Any] = set()
        given = set(lowering.fusion.inputs)
        for i, node in enumerate(nodes):
            if node in numbers:
                continue
            tensor, order = lowering.made[node], memory_order(node.meta["val"])
            if order:
                tensor = plait.ops.permute(tensor, order)
            if tensor in taken or tensor in given:
                tensor = plait.ops.set(tensor)
            taken.add(tensor)
            lowering.fusion.output(f"y{i}", tensor)
            numbers[node] = len(numbers)
            orders.append(order)
        return numbers, orders

    def __call__(self, *args: Any) -> Any:
        given = [args[i].permute(order) if order else args[i] for i, order in self.places]
        if self.device.type == "cuda":  # what has gaps is copied by PyTorch there; on the CPU by plait
            given = [tensor.contiguous() for tensor in given]
        for i in self.negative:
            given[i] = given[i].resolve_neg()
        for place in self.size_places:
            given.append(torch.empty(int(args[place]), 0, dtype=torch.bool, device=self.device))
        if self.takes_tensors:
            made = self.program._run_tensors(given)
        else:
            stream = torch.cuda.current_stream(self.device).cuda_stream if self.device.type == "cuda" else None
            made = [from_dlpack(capsule) for capsule in self.program._run_capsules([to_dlpack(tensor) for tensor in given], stream)]
        for i, order in enumerate(self.orders):
            if order:
                made[i] = made[i].permute(order)
        out = [(made if is_made else args)[i] if view is None else view.of((made if is_made else args)[i], args)
               for is_made, i, view in self.results]
        return out[0] if self.single else tuple(out)
