"""Where the time of runs goes."""

from __future__ import annotations

import dataclasses
import os
import pathlib
import types
from typing import Any

from plait._plait import Program
from plait.errors import UserError

_Span = tuple[int, int, int, int]  # rank, step, begin and end in nanoseconds


@dataclasses.dataclass
class StepTime:
    """A step of a program over the runs that were recorded, of this process's ranks."""

    name: str
    calls: int
    total_ms: float
    share: float  # of all steps
    bytes: int  # that one call on rank 0 reads and writes

    @property
    def mean_us(self) -> float:
        return 1e3 * self.total_ms / self.calls

    @property
    def gb_per_s(self) -> float:
        return self.bytes / self.mean_us / 1e3 if self.mean_us > 0 else 0.0


class Profile:
    """What profile() returns. `cycles` counts the cycles that are over, `runs` those that were recorded, `traces` the files
    that were written."""

    def __init__(self, program: Program, wait: int, warmup: int, active: int, repeat: int, trace: str | os.PathLike[str] | None):
        numbers = (wait, warmup, active, repeat)
        if not all(isinstance(number, int) for number in numbers) or min(numbers) < 0 or active < 1:
            raise UserError("wait, warmup and repeat are whole numbers from 0, active from 1", "profile", "give other numbers")
        self._program = program
        self._wait, self._warmup, self._active, self._repeat = numbers
        self._trace = None if trace is None else os.fspath(trace)
        self._path(1, 0)
        self._at = 0  # steps in this cycle
        self._seen = 0  # timed runs before the last step()
        self._before = self._timed = program.times_steps
        self._spans: list[_Span] = []  # of this cycle, all of the same steps
        self._texts: list[str] = []
        self._totals: dict[str, list[Any]] = {}  # by a step's text: name, bytes, calls, nanoseconds
        self.cycles, self.runs = 0, 0
        self._written = 0  # cycles with a trace
        self.traces: list[pathlib.Path] = []

    def __enter__(self) -> Profile:
        self._begin()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: types.TracebackType | None) -> None:
        if self._timed != self._before:
            self._program.time_steps(self._before)
        if kind is None and self._spans:
            self._write()

    def step(self) -> None:
        """After each run."""
        if self._over():
            return
        self._at += 1
        if self._at > self._wait + self._warmup:
            self._record()
        if self._at == self._wait + self._warmup + self._active:
            self.cycles += 1
            self._write()
            self._at = 0
        self._begin()

    def _path(self, cycle: int, rank: int) -> pathlib.Path | None:
        if self._trace is None:
            return None
        try:
            return pathlib.Path(self._trace.format(cycle=cycle, rank=rank))
        except (LookupError, ValueError) as e:
            raise UserError(f"`{self._trace}` names more than {{cycle}} and {{rank}}: {e}", "profile, trace", "name these alone") from e

    def _files(self, cycle: int) -> dict[pathlib.Path, list[_Span]]:
        """What goes into which file: a rank into its own where `{rank}` names one, else all into the same."""
        out: dict[pathlib.Path, list[_Span]] = {}
        for span in self._spans:
            path = self._path(cycle, span[0])
            if path is not None:
                out.setdefault(path, []).append(span)
        return out

    def _over(self) -> bool:
        return self._repeat > 0 and self.cycles >= self._repeat

    def _begin(self) -> None:
        """Steps of the next run are timed from the warm-up on."""
        timed = not self._over() and self._at >= self._wait
        if timed != self._timed:
            self._program.time_steps(timed)
            self._timed = timed
        self._seen = self._runs()

    def _runs(self) -> int:
        return self._program.report["timed_runs"] if self._program.classes else 0

    def _record(self) -> None:
        if self._runs() == self._seen:
            raise UserError("nothing ran since the step before", "profile", "call step() once after each run of the program")
        spans, steps = self._program._spans(), self._program.steps
        texts = [step.text for step in steps]
        if self._spans and self._texts != texts:
            if self._trace is not None:
                raise UserError("runs of one cycle are of two specializations", "profile, trace",
                                "record runs of one kind in a cycle (active=1), or leave trace away")
            self._spans = []
        self._texts = texts
        self._spans += spans
        for step, begin, end in {(step, begin, end) for _, step, begin, end in spans}:  # a collective is one span of its ranks
            total = self._totals.setdefault(texts[step], [steps[step].name, steps[step].bytes, 0, 0])
            total[2] += 1
            total[3] += end - begin
        self.runs += 1

    def _write(self) -> None:
        if self._spans:
            self._written += 1
        for path, spans in self._files(self._written).items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(self._program._trace_of(spans))
            self.traces.append(path)
        self._spans = []

    def steps(self) -> list[StepTime]:
        """The dearest first."""
        every = sum(nanoseconds for *_, nanoseconds in self._totals.values()) or 1
        out = [StepTime(name, calls, 1e-6 * nanoseconds, nanoseconds / every, moved)
               for name, moved, calls, nanoseconds in self._totals.values()]
        return sorted(out, key=lambda step: -step.total_ms)

    def table(self, rows: int = 10) -> str:
        """The dearest steps as text."""
        lines = [("step", "calls", "total ms", "share", "mean us", "GB/s")]
        lines += [(s.name, str(s.calls), f"{s.total_ms:.3f}", f"{100 * s.share:.1f} %", f"{s.mean_us:.1f}", f"{s.gb_per_s:.1f}")
                  for s in self.steps()[:rows]]
        widths = [max(map(len, column)) for column in zip(*lines)]
        return "\n".join("  ".join([line[0].ljust(widths[0])] + [cell.rjust(width) for cell, width in zip(line[1:], widths[1:])])
                         for line in lines)


def profile(program: Program, *, wait: int = 0, warmup: int = 1, active: int = 1, repeat: int = 1,
            trace: str | os.PathLike[str] | None = None) -> Profile:
    """Times the steps of a program's runs, in cycles: `wait` runs are left alone, `warmup` runs are timed and forgotten,
    `active` ones are recorded, and that `repeat` times (0: to the end). Call step() after each run.

        with plait.profile(program, wait=1, warmup=1, active=3, repeat=2, trace="log/{cycle}_{rank}.json") as p:
            for batch in batches:
                program.run(x=batch)
                p.step()
        print(p.table())

    `trace`: after each cycle files with Chrome's trace events, for Perfetto and `plait view`: one for each of this
    process's ranks where the name has `{rank}`, else one of them all. `{cycle}` counts from 1. A run whose steps are timed is slower: GPUs are waited for after
    each step, and threads run it one after another. Raises UserError."""
    if not isinstance(program, Program):
        raise UserError(f"{program!r} is no program", "profile", "give what plait.compile made, or f.program(...) of a plait.jit")
    return Profile(program, wait, warmup, active, repeat, trace)


__all__ = ["Profile", "StepTime", "profile"]
