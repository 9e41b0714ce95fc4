"""Ctrl-C in a run that takes long."""

import signal
import threading

import numpy as np
import plait
import pytest

N, STEPS = 512, 200  # a second or more of products on one thread


def chain():
    f = plait.Fusion("f")
    x = f.input("x", [N, N], plait.f32)
    h = x
    for _ in range(STEPS):
        h = h @ x
    f.output("y", -h)
    return plait.compile(f, device="cpu", options={"contractions": "own"})


def alarm(handler):
    """After a while a signal comes, while the run goes on."""
    before = signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, 0.1)
    return before


def test_an_interrupt_ends_it_and_the_program_goes_on():
    program = chain()
    x = np.eye(N, dtype=np.float32)
    program.prepare(x)
    y = np.full((N, N), 9, np.float32)

    def interrupt(number, frame):
        raise KeyboardInterrupt("from a test")

    before = alarm(interrupt)
    try:
        with pytest.raises(KeyboardInterrupt, match="from a test"):
            program.run(x, out=y, threads=1)
    finally:
        signal.signal(signal.SIGALRM, before)
    assert (y == 9).all(), "no step of what is left ran"
    small = plait.compile(plait.parse("fusion @f (%x: f32[n]) -> (%y) { %y = neg(%x) }"), device="cpu")
    assert small.run(np.ones(2, np.float32))["y"].tolist() == [-1, -1]
    program.run(x, out=y)
    np.testing.assert_array_equal(y, -x)


def test_what_a_handler_raises_in_the_last_step_is_not_lost():
    """With a thread for each rank the main thread asks meanwhile; one step, which nothing ends."""
    f = plait.parse("mesh @m (tp = 2)\nfusion @f on @m (%x: f32[n, n] {0: tp}) -> (%y) { %y = matmul(%x, full(shape = "
                    "[n, n], value = 1, dtype = f32)) }")
    program = plait.compile(f, device="cpu", comm="local:threads", options={"contractions": "own"})
    x = np.ones((1600, 1600), np.float32)
    program.prepare(x)

    def interrupt(number, frame):
        raise KeyboardInterrupt("from a test")

    before = alarm(interrupt)
    try:
        with pytest.raises(KeyboardInterrupt, match="from a test"):
            while True:  # the signal comes in one of them
                program.run(x)
    finally:
        signal.signal(signal.SIGALRM, before)
    assert program.run(x)["y"][0, 0] == 1600


def test_a_handler_that_raises_nothing_ends_nothing():
    program, seen = chain(), []
    x = np.eye(N, dtype=np.float32)
    program.prepare(x)
    before = alarm(lambda number, frame: seen.append(threading.current_thread()))
    try:
        y = program.run(x, threads=1)["y"]
    finally:
        signal.signal(signal.SIGALRM, before)
    np.testing.assert_array_equal(y.numpy(), -x)
    assert seen == [threading.main_thread()]
