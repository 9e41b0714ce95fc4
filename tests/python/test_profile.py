"""Traces, pages and profiles of programs."""

import json

import numpy as np
import plait
import pytest


def program(ranks=None, comm="local"):
    f = plait.Fusion("mlp", mesh=plait.Mesh(tp="t")) if ranks else plait.Fusion("mlp")
    x = f.input("x", ["b", 4], plait.f32)
    w = f.input("w", [8, 4], plait.f32)
    if ranks:
        w.shard(0, "tp")
    h = plait.ops.gelu(plait.ops.linear(x, w))
    f.output("y", plait.ops.softmax(h, dim=-1))
    return plait.compile(f, device="cpu", ranks=ranks, comm=comm, options={"disk_cache": False})  # spans of passes: compiled anew


INPUTS = {"x": np.arange(12, dtype=np.float32).reshape(3, 4) / 7, "w": np.ones((8, 4), np.float32)}


def test_steps_are_in_order():
    p = program()
    with pytest.raises(plait.UserError, match="nothing is compiled"):
        p.steps
    p.run(INPUTS)
    steps = [step for step in p.steps if step.kind not in ("alloc", "record", "wait")]
    assert [step.kind for step in steps] == ["library", "launch"]
    assert steps[0].name.startswith("linear %") and steps[0].ops == ["linear"] and not steps[0].schedule
    assert steps[1].name.startswith("mlp_s") and {"gelu", "sum"} <= set(steps[1].ops) and "norm(" in steps[1].schedule
    assert sum(step.bytes for step in p.steps) == p.report["bytes_moved"]
    assert all(step.run_ms == 0 for step in steps)
    p.time_steps()
    p.run(INPUTS)
    assert all(step.run_ms > 0 for step in p.steps if step.kind in ("library", "launch"))
    assert "launch @mlp_s" in repr(steps[1])


@pytest.mark.parametrize("comm", ["local", "local:threads"])
def test_traces_and_pages(tmp_path, comm):
    p = program(ranks=2, comm=comm)
    p.run(INPUTS)
    with pytest.raises(plait.UserError, match="no run was timed"):
        p.trace(tmp_path / "t.json")
    assert not list(tmp_path.iterdir())
    p.view(tmp_path / "before.html")
    p.time_steps()
    p.run(INPUTS)
    p.trace(tmp_path / "t.json")
    events = json.loads((tmp_path / "t.json").read_text())["traceEvents"]
    assert {event["pid"] for event in events if event["ph"] == "X"} == {0, 1, 2}  # ranks, passes
    p.view(str(tmp_path / "after.html"))
    assert '"timeline":null' in (tmp_path / "before.html").read_text()
    assert '"timeline":{' in (tmp_path / "after.html").read_text()
    with pytest.raises(plait.UserError, match="cannot write"):
        p.view(tmp_path / "none" / "x.html")


def test_cycles_of_a_profile(tmp_path):
    p = program()
    with plait.profile(p, wait=1, warmup=1, active=3, repeat=2, trace=tmp_path / "log" / "{cycle}_{rank}.json") as profile:
        for _ in range(12):
            p.run(INPUTS)
            profile.step()
    assert profile.cycles == 2 and profile.runs == 6
    assert [path.name for path in profile.traces] == ["1_0.json", "2_0.json"]
    for path in profile.traces:
        spans = [event for event in json.loads(path.read_text())["traceEvents"] if event["ph"] == "X" and event["pid"] == 0]
        assert len(spans) == 3 * 2
        assert all(a["ts"] <= b["ts"] for a, b in zip(spans, spans[1:]))
    steps = profile.steps()
    assert [step.calls for step in steps] == [6, 6] and abs(sum(step.share for step in steps) - 1) < 1e-9
    assert steps[0].total_ms >= steps[1].total_ms > 0
    lines = profile.table(1).splitlines()
    assert len(lines) == 2 and lines[0].split() == ["step", "calls", "total", "ms", "share", "mean", "us", "GB/s"]
    before = p.report["step_ms"]
    p.run(INPUTS)  # is not timed
    assert p.report["step_ms"] == before


def spans_of(path):
    return [event for event in json.loads(path.read_text())["traceEvents"] if event["ph"] == "X"]


@pytest.mark.parametrize("comm", ["local", "local:threads"])
def test_each_rank_of_a_process_has_a_trace_of_its_own(tmp_path, comm):
    p = program(ranks=2, comm=comm)
    with plait.profile(p, wait=1, warmup=1, active=3, repeat=2, trace=tmp_path / "{cycle}_{rank}.json") as profile:
        for _ in range(12):
            p.run(INPUTS)
            profile.step()
    assert sorted(path.name for path in profile.traces) == ["1_0.json", "1_1.json", "2_0.json", "2_1.json"]
    for path in profile.traces:
        rank = int(path.stem[-1])
        assert {event["pid"] for event in spans_of(path)} - {2} == {rank}, "the passes of the compiler are 2"
    own = [sum(event["pid"] == rank for event in spans_of(tmp_path / f"1_{rank}.json")) for rank in (0, 1)]
    assert min(own) >= 3 * 2 and own[0] == own[1]
    with plait.profile(p, warmup=0, trace=tmp_path / "all.json") as profile:
        p.run(INPUTS)
        profile.step()
    assert profile.traces == [tmp_path / "all.json"]
    assert {event["pid"] for event in spans_of(tmp_path / "all.json")} - {2} == {0, 1}


def test_a_profile_without_end_or_without_runs():
    p = program()
    with plait.profile(p, warmup=0, repeat=0) as profile:
        for _ in range(3):
            p.run(INPUTS)
            profile.step()
    assert profile.cycles == 3 and profile.runs == 3 and not profile.traces
    with plait.profile(p, active=5) as profile:  # ends early
        p.run(INPUTS)
        profile.step()
        p.run(INPUTS)
        profile.step()
    assert profile.cycles == 0 and profile.runs == 1 and not p.times_steps
    fresh = program()
    with pytest.raises(plait.UserError, match="call step"):
        with plait.profile(fresh, warmup=0) as profile:
            profile.step()
    for wrong in ({"wait": -1}, {"active": 0}, {"repeat": -2}, {"active": 1.5}):
        with pytest.raises(plait.UserError, match="whole numbers"):
            plait.profile(p, **wrong)
    with pytest.raises(plait.UserError, match="names more than"):
        plait.profile(p, trace="{foo}.json")
    with plait.profile(p, warmup=0, active=2) as profile:
        p.run(INPUTS)
        profile.step()
        with pytest.raises(plait.UserError, match="nothing ran since"):
            profile.step()


def test_profiles_leave_timing_as_it_was():
    p = program()
    p.time_steps()
    with plait.profile(p, wait=1, warmup=0, active=1) as profile:
        p.run(INPUTS)
        profile.step()
        p.run(INPUTS)
        profile.step()
    assert profile.runs == 1 and p.times_steps


def test_a_profile_of_two_specializations(tmp_path):
    f = plait.Fusion("f")
    x = f.input("x", ["n", 8], plait.f32)
    f.output("y", plait.ops.sum(-x, dims=[0]))
    p = plait.compile(f, device="cpu")
    small, large = (np.ones((n, 8), np.float32) for n in (4, 4001))
    for first, second in ((small, large), (large, small)):
        with plait.profile(p, warmup=0, active=2) as profile:
            for a in (first, second):
                p.run(x=a)
                profile.step()
        assert profile.runs == 2 and all(step.name not in ("alloc", "record", "wait") for step in profile.steps())
        assert sum(step.calls for step in profile.steps()) == 2
    if p.classes > 1:
        with pytest.raises(plait.UserError, match="two specializations"):
            with plait.profile(p, warmup=0, active=2, trace=tmp_path / "{cycle}.json") as profile:
                for a in (small, large):
                    p.run(x=a)
                    profile.step()


def test_explain_says_what_the_command_says():
    p = program(ranks=2)
    p.run(INPUTS)
    assert p.explain("overview").startswith("@mlp") and "2 ranks (tp = 2) on cpu" in p.explain("overview")
    assert "refuses" in p.explain("segments") and "sizes:" in p.explain("cache") and "kernel" in p.explain("schedule")
    with pytest.raises(plait.UserError, match="nothing explains `segmets`"):
        p.explain("segmets")


def test_what_is_no_program_is_not_profiled():
    with pytest.raises(plait.UserError, match="3 is no program\\n.*profile\\n.*plait.compile"):
        plait.profile(3)
