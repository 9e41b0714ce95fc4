"""From a graph of ATen nodes to a fusion, and a callable that runs it on tensors of PyTorch."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any

import torch
from torch._C import _from_dlpack as from_dlpack
from torch._C import _to_dlpack as to_dlpack

import plait
from plait.torch.sizes import Unsupported, extents, facts, symbols
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

    def input(self, node: torch.fx.Node, name: str) -> None:
        """A tensor that the fusion reads."""
        value = node.meta["val"]
        shape = extents(value.shape)
        for each in value.shape:
            self.needed |= symbols(each)
        self.bound |= {each for each in shape if isinstance(each, str) and each.isidentifier()}
        self.made[node] = self.fusion.input(name, shape, dtype(value.dtype))

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
            made = rule(Context(self.fusion, node), *args, **words)
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


def why_not(node: torch.fx.Node, device: torch.device) -> str | None:
    """Why a node of a graph whose fusions are on the device stays eager, or None."""
    if node.op != "call_function":
        return "no function"
    if node.target is operator.getitem:
        return None
    if node.target not in TABLE:
        return "no row of the table"
    for value in values_of(node) + [n.meta.get("val") for n in node.all_input_nodes]:
        for each in value if isinstance(value, (list, tuple)) else [value]:
            if is_tensor(each) and (each.dtype not in DTYPES or each.layout != torch.strided or each.is_sparse):
                return f"dtype {each.dtype}, layout {each.layout}"
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
    """Dims in memory order, outermost first, of a dense tensor that is not row-major; None for others."""
    if value.dim() < 2 or value.is_contiguous() or any(not isinstance(s, int) for s in value.stride()):
        return None
    order = sorted(range(value.dim()), key=lambda d: (-value.stride(d), d))
    span: Any = 1
    for d in reversed(order):
        if value.stride(d) != span:
            return None
        span = span * value.shape[d]
    return order


class Fused:
    """A fusion as a function of tensors. Its program compiles once per class of sizes."""

    def __init__(self, graph: torch.fx.Graph, name: str, options: dict[str, Any]):
        lowering = Lowering(name, graph.nodes)
        placeholders = [node for node in graph.nodes if node.op == "placeholder"]
        self.nodes = [node for node in graph.nodes if node.op == "call_function" and node.target is not operator.getitem]
        self.places: list[int] = []  # of tensors among the arguments; the fusion's first inputs
        for i, node in enumerate(placeholders):
            if is_tensor(node.meta["val"]):
                lowering.input(node, f"x{i}")
                self.places.append(i)
        result: Any = None
        for node in graph.nodes:
            if node.op == "call_function":
                lowering.node(node)
            elif node.op == "output":
                result = node.args[0]
        self.single = not isinstance(result, (list, tuple))
        self.order = self._name_outputs(lowering, [result] if self.single else list(result))
        self.size_places: list[int] = []  # of sizes among the arguments; the inputs behind the tensors
        by_symbol = {str(n.meta["val"].node.expr): i for i, n in enumerate(placeholders)
                     if isinstance(n.meta["val"], torch.SymInt)}
        for symbol in lowering.sizes():
            lowering.fusion.input(f"size_{symbol}", [symbol, 0], plait.bool_)
            if symbol not in by_symbol:
                raise Unsupported(f"the size {symbol}, which no argument is")
            self.size_places.append(by_symbol[symbol])
        self.fusion = lowering.fusion
        self.device = device_of(graph)
        self.program = plait.compile(self.fusion, device=self.device.type, options=options)

    def _name_outputs(self, lowering: Lowering, nodes: list[torch.fx.Node]) -> list[int]:
        """Makes outputs of the nodes, each once; of every node, which output it is."""
        numbers: dict[torch.fx.Node, int] = {}
        taken: set[Any] = set()
        for i, node in enumerate(nodes):
            if node in numbers:
                continue
            tensor = lowering.made[node]
            if tensor in taken or tensor in lowering.fusion.inputs:
                tensor = plait.ops.set(tensor)
            taken.add(tensor)
            out = lowering.fusion.output(f"y{i}", tensor)
            order = memory_order(node.meta["val"])
            if order:
                out.allocate(order)
            numbers[node] = len(numbers)
        return [numbers[node] for node in nodes]

    def __call__(self, *args: Any) -> Any:
        capsules = [to_dlpack(args[i]) for i in self.places]
        for place in self.size_places:
            capsules.append(to_dlpack(torch.empty(int(args[place]), 0, dtype=torch.bool, device=self.device)))
        stream = torch.cuda.current_stream(self.device).cuda_stream if self.device.type == "cuda" else None
        made = [from_dlpack(capsule) for capsule in self.program._run_capsules(capsules, stream)]
        return made[0] if self.single else tuple([made[i] for i in self.order])
