"""A report as a page."""

from __future__ import annotations

import html
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from plait.torch.report import FusionReport, Report

_STYLE = """
:root { color-scheme: light dark; --line: #8884; --bar: #1f6feb; }
.plait { font: 14px/1.45 system-ui, sans-serif; max-width: 76rem; }
.plait table { border-collapse: collapse; margin: .5rem 0 1.5rem; }
.plait td, .plait th { padding: .2rem .7rem; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; }
.plait td.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.plait i { display: block; height: .5rem; min-width: 1px; margin-top: .45rem; border-radius: 2px; background: var(--bar); }
.plait code { font-size: 12px; }
"""


def _row(cells: Iterable[tuple[str, str]], tag: str = "td") -> str:
    """Cells with their class; text of others comes escaped."""
    return "<tr>" + "".join(f'<{tag} class="{kind}">{cell}</{tag}>' if kind else f"<{tag}>{cell}</{tag}>" for cell, kind in cells) + "</tr>"


def _table(heads: Iterable[str], rows: Iterable[str]) -> str:
    return f"<table>{_row(((head, '') for head in heads), 'th')}{''.join(rows)}</table>"


def _fusion(fusion: FusionReport) -> str:
    head = f"<h3>{html.escape(fusion.head())}</h3>"
    if not fusion.steps:
        return head
    longest = max(step.run_ms for step in fusion.steps) or 1.0
    rows = [_row([(f"{step.run_ms:.3f}", "n"), (f'<i style="width:{120 * step.run_ms / longest:.0f}px"></i>', ""), (f"{step.bytes:,}", "n"),
                  (html.escape(step.name), ""), (f"<code>{html.escape(step.schedule)}</code>", ""), (html.escape(", ".join(step.ops)), "")])
            for step in fusion.steps]
    return head + _table(("ms", "", "bytes", "step", "schedule", "ops"), rows)


def html_of(report: Report) -> str:
    rows = [_row([(str(count), "n"), (html.escape(op), ""), ("fused", "")]) for op, count in report.fused.most_common()]
    rows += [_row([(str(count), "n"), (html.escape(op), ""), ("eager: " + html.escape(why), "")])
             for (op, why), count in report.eager.most_common()]
    parts = [f'<meta charset="utf-8"><style>{_STYLE}</style><div class="plait"><h2>{html.escape(str(report).splitlines()[0])}</h2>',
             _table(("nodes", "op", "where"), rows)]
    for number, fusions in enumerate(report.fusions):
        parts.append(f"<h2>graph {number}</h2>" + "".join(map(_fusion, fusions)))
    return "".join(parts) + "</div>"
