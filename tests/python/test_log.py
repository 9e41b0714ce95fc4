"""The log by Python's logging: levels, PLAIT_LOG, threads, the end of the process."""

import logging
import os
import subprocess
import sys
import threading

import numpy as np
import plait
import pytest

COMPONENTS = ["compile", "cache", "run", "comm", "library"]


@pytest.fixture(autouse=True)
def levels_as_they_were():
    loggers = [logging.getLogger(name) for name in ["plait", *(f"plait.{each}" for each in COMPONENTS)]]
    before = [each.level for each in loggers]
    yield
    for each, level in zip(loggers, before):
        each.setLevel(level)


class Heard(logging.Handler):
    """What the loggers let through."""

    def __init__(self):
        super().__init__()
        self.records = []

    def emit(self, record):
        self.records.append(record)

    def said(self, level, component, begin):
        return [each for each in self.records
                if each.levelno == level and each.name == f"plait.{component}" and each.getMessage().startswith(begin)]


@pytest.fixture
def heard():
    handler, root = Heard(), logging.getLogger()
    before = root.level
    root.addHandler(handler)
    yield handler
    root.removeHandler(handler)
    root.setLevel(before)


def fusion(name="f"):
    f = plait.Fusion(name)
    f.output("y", f.input("x", ["n"], plait.f32).exp())
    return f


def test_by_itself_it_is_silent(heard, capfd):
    plait.compile(fusion(), device="cpu").run(np.ones(3, np.float32))
    assert [each for each in heard.records if each.name.startswith("plait")] == [] and capfd.readouterr().err == ""
    assert set(plait._plait._log_levels().values()) == {2}, "nothing below warnings is made"


def test_levels_are_those_of_the_loggers(heard):
    logging.getLogger("plait").setLevel(logging.INFO)
    program = plait.compile(fusion(), device="cpu")
    program.run(np.ones(3, np.float32))
    assert len(heard.said(logging.INFO, "compile", "@f compiled in ")) == 1 and heard.said(logging.DEBUG, "run", "@f") == []
    logging.getLogger("plait.run").setLevel(logging.DEBUG)
    program.run(np.ones(3, np.float32))
    assert len(heard.said(logging.DEBUG, "run", "@f ran in ")) == 1
    logging.getLogger("plait.run").setLevel("ERROR")
    program.run(np.ones(3, np.float32))
    assert len(heard.said(logging.DEBUG, "run", "@f ran in ")) == 1


def test_a_level_of_the_root_is_seen_by_the_next_program(heard):
    logging.getLogger().setLevel(logging.DEBUG)
    program = plait.compile(fusion("g"), device="cpu")
    program.run(np.ones(3, np.float32))
    assert len(heard.said(logging.DEBUG, "run", "@g ran in ")) == 1
    assert all(abs(each.created - heard.records[-1].created) < 60 for each in heard.records)


def test_entries_of_many_threads_come_in_their_order(heard):
    logging.getLogger("plait").setLevel(logging.DEBUG)
    programs = [plait.compile(fusion(f"t{i}"), device="cpu") for i in range(4)]

    def work(program):
        for _ in range(25):
            program.run(np.ones(3, np.float32))

    threads = [threading.Thread(target=work, args=(each,)) for each in programs]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    plait.compile(fusion(), device="cpu").run(np.ones(3, np.float32))
    for i in range(4):
        assert len(heard.said(logging.DEBUG, "run", f"@t{i} ran in ")) == 25
        kinds = [each.getMessage().split(" in ")[0] for each in heard.records if each.getMessage().startswith(f"@t{i} ")]
        assert kinds == [f"@t{i} compiled"] + [f"@t{i} ran"] * 25


def test_a_handler_that_fails_or_runs_a_program_does_no_harm():
    class Handler(logging.Handler):
        def __init__(self):
            super().__init__()
            self.seen = 0

        def emit(self, record):
            self.seen += 1
            inner.run(np.ones(2, np.float32))
            raise ValueError("the handler's own")

    inner, program = plait.compile(fusion("inner"), device="cpu"), plait.compile(fusion(), device="cpu")
    inner.run(np.ones(2, np.float32))
    handler, logger = Handler(), logging.getLogger("plait.compile")
    logger.addHandler(handler)
    logger.setLevel("INFO")
    unraisable, sys.unraisablehook = sys.unraisablehook, lambda args: None
    try:
        assert program.run(np.zeros(3, np.float32))["y"].tolist() == [1] * 3
    finally:
        sys.unraisablehook = unraisable
        logger.removeHandler(handler)
    assert handler.seen == 1


SCRIPT = """
import sys
import numpy as np, plait
f = plait.Fusion("f")
f.output("y", f.input("x", ["n"], plait.f32).exp())
p = plait.compile(f, device="cpu")
p.run(np.ones(3, np.float32))
"""


def process(words, script=SCRIPT):
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env={**os.environ, "PLAIT_LOG": words})
    assert done.returncode == 0, done.stderr
    return done.stderr


def test_words_of_the_environment():
    err = process("info")
    assert "plait.compile INFO: @f compiled in " in err and "DEBUG" not in err
    err = process("compile=off,run=debug")
    assert "plait.run DEBUG: @f ran in " in err and "compiled" not in err
    err = process("inof")
    assert "PLAIT_LOG: the log knows no `inof`; did you mean `info`?" in err and "compiled" not in err
    assert process("") == ""
    err = process("info", "import logging; logging.basicConfig(format='mine %(message)s')" + SCRIPT)
    assert err.count("@f compiled in ") == 1 and "mine @f compiled in " in err, "a program's own handler prints alone"


def test_what_is_told_while_the_process_ends():
    late = """
class Late:
    def __init__(self, run):
        self.run = run
    def __del__(self):
        self.run(np.ones(4, np.float32))
import atexit
sys.late = Late(p.run)
atexit.register(lambda: p.run(np.ones(5, np.float32)))
"""
    assert "plait.run DEBUG: @f ran in " in process("debug", SCRIPT + late)
