"""What plait makes of a model."""

from __future__ import annotations

import collections
from typing import Any

import torch

from plait.torch import compiler as _backend


class Report:
    """Nodes that are fused, those that are not and why, and kernels, of all graphs of one call."""

    def __init__(self, graphs: list[_backend.GraphReport]):
        self.graphs = graphs

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
        lines += [f"  eager  {count:4} x {op}: {why}" for (op, why), count in self.eager.most_common()]
        for graph in self.graphs:
            for fused in graph.fusions:
                report = fused.program.report
                lines.append(f"  fusion {len(fused.nodes):4} nodes, {report['kernels']} kernels, {report['library_calls']} "
                             f"library calls, compiled in {report['compile_ms']:.1f} ms, ran in {report['run_ms']:.3f} ms")
        return "\n".join(lines)


def report(model: Any, *args: Any, backward: bool = False, options: dict[str, Any] | None = None, **words: Any) -> Report:
    """Compiles and runs a model (or function) once, with `backward` also its gradient, and says what became of its nodes.
    Printed by print()."""
    torch._dynamo.reset()
    _backend.REPORTS.clear()
    _backend.LISTENING = True
    try:
        out = torch.compile(model, backend="plait", options=options)(*args, **words)
        if backward:
            results = [each for each in torch.utils._pytree.tree_leaves(out) if torch.is_tensor(each) and each.requires_grad]
            torch.autograd.backward([each.sum() for each in results])
    finally:
        _backend.LISTENING = False
    return Report(list(_backend.REPORTS))
