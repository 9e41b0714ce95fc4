"""Texts of stages: those of the command, asked of a program, by compile(dumps=...) and by PLAIT_DUMP."""

import subprocess

import numpy as np
import plait
import pytest
from plait.command import _BINARY

STAGES = ["fusion", "graph", "sharded", "localized", "segments", "params", "scheduled", "kir", "cuda", "llvm", "program",
          "memory"]


@pytest.fixture(autouse=True)
def no_dumps_asked_for(monkeypatch):
    monkeypatch.delenv("PLAIT_DUMP", raising=False)


def softmax():
    f = plait.Fusion("softmax")
    f.output("y", plait.ops.softmax(f.input("x", ["n", 40], plait.f32) * 0.5, -1))
    return f


def command(folder, *words):
    """What the command prints for the same graph."""
    file = folder / "f.plait"
    file.write_text(str(softmax()))
    return subprocess.run([_BINARY, words[0], file, "--device=cpu", "--set", "n=6", *words[1:]], capture_output=True,
                          text=True, check=True).stdout


def prepared(**how):
    p = plait.compile(softmax(), **how)
    p.prepare({"x": (plait.f32, (6, 40))})
    return p


@pytest.mark.parametrize("stage", STAGES)
def test_a_programs_text_is_the_commands(stage, tmp_path):
    text = prepared().dump(stage)
    assert text and text.rstrip("\n") == command(tmp_path, "opt", f"--until={stage}").rstrip("\n")


def test_memory_is_that_of_the_last_sizes():
    p = prepared()
    text = p.dump("memory")
    assert text.startswith("rank 0: arena ")
    p.time_steps()
    assert p.dump("memory") == text


def test_stages_without_text():
    p = prepared(device="reference")
    assert "state_facts" in p.dump("timings")
    for stage, words in (("kir", "no text for this fusion on device reference"), ("kirr", "did you mean `kir`")):
        with pytest.raises(plait.UserError, match=words):
            p.dump(stage)
    with pytest.raises(plait.MissingError, match="disassembler"):
        p.dump("sass")
    with pytest.raises(plait.UserError, match="nothing is compiled yet"):
        plait.compile(softmax()).dump("graph")


@pytest.mark.parametrize("how", ["text", "list", "environment"])
def test_dumps_beside_the_work_are_the_commands(how, capfd, monkeypatch, tmp_path):
    specs = "graph,segments,kir:softmax_s1,llvm"
    if how == "environment":
        monkeypatch.setenv("PLAIT_DUMP", specs)
        prepared()
    else:
        prepared(dumps=specs if how == "text" else specs.split(","))
    assert capfd.readouterr().out == command(tmp_path, "compile", f"--dump={specs}").partition("kernel  ")[0] != ""
    prepared(dumps=[])
    assert capfd.readouterr().out == ""


def test_files_of_two_programs(tmp_path):
    for _ in range(2):
        prepared(dumps=f"graph@{tmp_path}/texts")
    files = sorted((tmp_path / "texts").iterdir())
    assert len(files) == 2 and all(file.name.endswith("_graph_softmax.txt") for file in files)
    assert {file.read_text() for file in files} == {prepared().dump("graph")}


def test_unknown_stages_are_refused(monkeypatch):
    for dumps, words in (("graph,nothing", "known: fusion, graph, "), (["kirr"], "did you mean `kir`"), (3, "neither text"),
                         ("graph@/proc/no/such", "no dump can be written to `/proc/no/such`")):
        with pytest.raises(plait.UserError, match=words):
            plait.compile(softmax(), dumps=dumps)
    monkeypatch.setenv("PLAIT_DUMP", "nothing")
    with pytest.raises(plait.UserError, match="there is no stage `nothing`"):
        plait.compile(softmax())


def test_classes_and_times_of_steps():
    p = plait.compile(softmax())
    assert p.classes == 0
    for n, classes in ((5, 1), (9, 1), (1, 1), (8, 2), (16, 2), (0, 3)):  # 40 n is a multiple of 16 or not; 0
        p.run({"x": np.ones((n, 40), np.float32)})
        assert p.classes == classes
    assert not p.report["step_ms"] and all(kernel.run_ms == 0 for kernel in p.kernels)
    p.time_steps()
    p.run({"x": np.ones((6, 40), np.float32)})
    assert p.kernels and all(kernel.run_ms > 0 for kernel in p.kernels)
    assert sum(ms for _, ms in p.report["step_ms"]) == pytest.approx(sum(kernel.run_ms for kernel in p.kernels))
