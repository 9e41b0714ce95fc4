"""What plait makes of a model."""

from __future__ import annotations

import collections
import dataclasses
from typing import Any

import torch

from plait.torch import compiler as _backend


@dataclasses.dataclass
class FusionReport:
    """One fusion after a call."""

    name: str
    fused: collections.Counter[str]  # nodes by op
    failure: str  # why its nodes ran eagerly, or empty
    ran: bool
    kernels: list[tuple[str, str, float]]  # name, schedule, milliseconds
    library_calls: list[tuple[str, float]]  # text, milliseconds
    launches: int = 0  # of the kernels
    compile_ms: float = 0.0
    run_ms: float = 0.0

    @classmethod
    def of(cls, module: _backend.FusedModule) -> FusionReport:
        fused, program = module.fused, module.fused.program
        out = cls(fused.fusion.name, collections.Counter(_backend.ops_of(fused.nodes)), module.failure, False, [], [])
        if module.failure or not program.classes:
            return out
        row = program.report
        out.ran, out.compile_ms, out.run_ms = True, row["compile_ms"], row["run_ms"]
        out.launches = row["launches"]
        out.kernels = [(kernel.name, kernel.schedule, kernel.run_ms) for kernel in program.kernels]
        out.library_calls = [(text, ms) for text, ms in row["step_ms"] if text.startswith("library ")]
        return out

    def __str__(self) -> str:
        head = f"fusion {self.name}, {self.fused.total()} nodes: "
        if self.failure:
            return f"{head}failed: {' '.join(self.failure.split())}"
        if not self.ran:
            return f"{head}not run"
        lines = [f"{head}{self.launches} launches of {len(self.kernels)} kernels, {len(self.library_calls)} library calls, compiled in "
                 f"{self.compile_ms:.1f} ms, ran in {self.run_ms:.3f} ms"]
        lines += [f"  {ms:9.3f} ms  kernel {name}: {schedule}" for name, schedule, ms in self.kernels]
        lines += [f"  {ms:9.3f} ms  {text}" for text, ms in self.library_calls]
        return "\n".join(lines)


class Report:
    """Nodes that are fused, those that are not and why, and kernels with their times, of all graphs of one call."""

    def __init__(self, graphs: list[_backend.GraphReport]):
        self.graphs = graphs
        self.fusions = [[FusionReport.of(module) for module in graph.modules] for graph in graphs]  # by graph

    @property
    def fused(self) -> collections.Counter[str]:
        return collections.Counter(op for graph in self.graphs for op in graph.fused)

    @property
    def eager(self) -> collections.Counter[tuple[str, str]]:
        return collections.Counter(row for graph in self.graphs for row in graph.eager)

    @property
    def share(self) -> float:
        """Of the nodes that are work, those that plait runs."""
        fused, eager = self.fused.total(), self.eager.total()
        return fused / (fused + eager) if fused + eager else 1.0

    def __str__(self) -> str:
        lines = [f"{len(self.graphs)} graphs, {self.fused.total()} nodes fused, {self.eager.total()} eager "
                 f"({100 * self.share:.1f} %)"]
        lines += [f"  fused  {count:4} x {op}" for op, count in self.fused.most_common()]
        lines += [f"  eager  {count:4} x {op}: {' '.join(why.split())}" for (op, why), count in self.eager.most_common()]
        for number, fusions in enumerate(self.fusions):
            lines.append(f"graph {number}")
            lines += ["  " + line for fusion in fusions for line in str(fusion).splitlines()]
        return "\n".join(lines)


def report(model: Any, *args: Any, backward: bool = False, options: dict[str, Any] | None = None, **words: Any) -> Report:
    """Compiles and runs a model (or function) once, with `backward` also its gradient, and says what became of its nodes.
    Printed by print(). A fusion runs twice; times are those of the second run. Gradients (`.grad`) stay as they are. All
    that torch.compile made before in this process is forgotten, and no other thread may compile meanwhile."""
    torch._dynamo.reset()
    try:
        with _backend.listening(timing=True) as reports:
            out = torch.compile(model, backend="plait", options=options)(*args, **words)
            if backward:
                results = [each for each in torch.utils._pytree.tree_leaves(out) if torch.is_tensor(each) and each.requires_grad]
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
