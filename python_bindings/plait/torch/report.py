"""What plait makes of a model."""

from __future__ import annotations

import collections
import dataclasses
from typing import Any

import plait
import torch

from plait.torch import compiler as _backend
from plait.torch._report_html import html_of


@dataclasses.dataclass
class FusionReport:
    """One fusion after a call."""

    name: str  # forward_0, backward_0
    fused: collections.Counter[str]  # nodes by op
    failure: str  # why its nodes ran eagerly, or empty
    ran: bool
    kernels: list[tuple[str, str, float]]  # name, schedule, milliseconds
    library_calls: list[tuple[str, float]]  # text, milliseconds
    launches: int = 0  # of the kernels
    compile_ms: float = 0.0
    run_ms: float = 0.0
    steps: list[plait.Step] = dataclasses.field(default_factory=list)  # that do work, in order
    program: plait.Program | None = None  # for explain(), dump(), view()

    @classmethod
    def of(cls, module: _backend.FusedModule) -> FusionReport:
        fused, program = module.fused, module.fused.program
        out = cls(fused.fusion.name, collections.Counter(_backend.ops_of(fused.nodes)), module.failure, False, [], [])
        if module.failure or not program.classes:
            return out
        row = program.report
        out.ran, out.compile_ms, out.run_ms, out.program = True, row["compile_ms"], row["run_ms"], program
        out.launches = row["launches"]
        out.steps = [step for step in program.steps if step.kind not in ("alloc", "record", "wait")]
        out.kernels = [(kernel.name, kernel.schedule, kernel.run_ms) for kernel in program.kernels]
        out.library_calls = [(step.text, step.run_ms) for step in out.steps if step.kind == "library"]
        return out

    def head(self) -> str:
        text = f"fusion {self.name}, {_count(self.fused.total(), 'node')}: "
        if self.failure:
            return f"{text}failed: {' '.join(self.failure.split())}"
        if not self.ran:
            return f"{text}not run"
        return (f"{text}{_count(self.launches, 'launch', 'launches')} of {_count(len(self.kernels), 'kernel')}, "
                f"{_count(len(self.library_calls), 'library call')}, compiled in {self.compile_ms:.1f} ms, ran in {self.run_ms:.3f} ms")

    def __str__(self) -> str:
        return "\n".join([self.head(), *(f"  {step.run_ms:9.3f} ms  {step.name}: {_what(step)}" for step in self.steps)])

    def to_dict(self) -> dict[str, Any]:
        """Of numbers, texts and lists alone."""
        steps = [{"name": step.name, "kind": step.kind, "schedule": step.schedule, "ops": step.ops, "bytes": step.bytes, "ms": step.run_ms}
                 for step in self.steps]
        return {"name": self.name, "fused": dict(self.fused), "failure": self.failure, "ran": self.ran, "kernels": len(self.kernels),
                "launches": self.launches, "library_calls": len(self.library_calls), "compile_ms": self.compile_ms, "run_ms": self.run_ms,
                "steps": steps}


def _count(number: int, one: str, many: str = "") -> str:
    return f"{number} {one if number == 1 else many or one + 's'}"


def _what(step: plait.Step) -> str:
    """What it computes, and by which schedule."""
    ops = [op if count == 1 else f"{count} {op}" for op, count in collections.Counter(step.ops).items()]
    listed = ", ".join(ops[:_OPS]) + (f" and {len(ops) - _OPS} more" if len(ops) > _OPS else "")
    return f"{listed}; {step.schedule}" if step.schedule else listed


_OPS = 8  # of a step, that are named


class Report:
    """Nodes that are fused, those that are not and why, and kernels with their times, of all graphs of one call."""

    def __init__(self, graphs: list[_backend.GraphReport]):
        self.graphs = graphs
        self.fusions = [[FusionReport.of(module) for module in graph.modules] for graph in graphs]  # by graph

    @property
    def fused(self) -> collections.Counter[str]:
        """How often plait runs each op of PyTorch."""
        return collections.Counter(op for graph in self.graphs for op in graph.fused)

    @property
    def eager(self) -> collections.Counter[tuple[str, str]]:
        """How often PyTorch runs each op that is work, by op and reason."""
        return collections.Counter(row for graph in self.graphs for row in graph.eager)

    @property
    def share(self) -> float:
        """Of the nodes that are work, those that plait runs."""
        fused, eager = self.fused.total(), self.eager.total()
        return fused / (fused + eager) if fused + eager else 1.0

    def _head(self) -> str:
        return f"{_count(len(self.graphs), 'graph')}, {_count(self.fused.total(), 'node')} fused, {self.eager.total()} eager ({100 * self.share:.1f} %)"

    def to_dict(self) -> dict[str, Any]:
        """Of numbers, texts and lists alone, for JSON."""
        return {"share": self.share, "fused": dict(self.fused),
                "eager": [{"op": op, "why": why, "nodes": count} for (op, why), count in self.eager.most_common()],
                "graphs": [[fusion.to_dict() for fusion in fusions] for fusions in self.fusions]}

    def to_html(self) -> str:
        """A page that needs nothing else: nodes, reasons, and a table of steps for each fusion, the times as bars."""
        return html_of(self)

    _repr_html_ = to_html

    def __repr__(self) -> str:
        return f"<plait.torch.Report: {self._head()}>"

    def __str__(self) -> str:
        lines = [self._head()]
        lines += [f"  fused  {count:4} x {op}" for op, count in self.fused.most_common()]
        lines += [f"  eager  {count:4} x {op}: {' '.join(why.split())}" for (op, why), count in self.eager.most_common()]
        for number, fusions in enumerate(self.fusions):
            lines.append(f"graph {number}")
            lines += ["  " + line for fusion in fusions for line in str(fusion).splitlines()]
        return "\n".join(lines)


def report(model: Any, *args: Any, backward: bool = False, options: dict[str, Any] | None = None, **words: Any) -> Report:
    """Compiles and runs a model (or function) once, with `backward` also its gradient, and says what became of its nodes.
    Printed by print(). A fusion runs twice; times are those of the second run. Gradients (`.grad`) stay as they are. All
    that torch.compile made before in this process is forgotten, and no other thread may compile meanwhile. Raises
    plait.UserError: no result requires a gradient."""
    if not callable(model):
        raise plait.UserError(f"{model!r} is no model", "plait.torch.report", "give a torch.nn.Module or a function, and its arguments")
    torch._dynamo.reset()
    try:
        with _backend.listening(timing=True) as reports:
            out = torch.compile(model, backend="plait", options=options)(*args, **words)
            if backward:
                results = [each for each in torch.utils._pytree.tree_leaves(out) if torch.is_tensor(each) and each.requires_grad]
                if not results:
                    raise plait.UserError("backward = True, and no result requires a gradient", "plait.torch.report",
                                          "give parameters, or inputs with requires_grad_()")
                torch.autograd.grad([each.sum() for each in results], _leaves(results), allow_unused=True)
            return Report(list(reports))
    finally:
        torch._dynamo.reset()  # what was compiled times its steps


def _leaves(results: list[torch.Tensor]) -> list[torch.Tensor]:
    """The tensors to whose gradients a backward pass of the results would add."""
    found: dict[int, torch.Tensor] = {id(each): each for each in results if each.is_leaf}
    seen: set[Any] = set()
    stack = [each.grad_fn for each in results]
    while stack:
        node = stack.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        if hasattr(node, "variable"):
            found[id(node.variable)] = node.variable
        stack += [each for each, _ in node.next_functions]
    return list(found.values())
