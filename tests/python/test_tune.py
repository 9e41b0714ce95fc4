"""Program.tune: measures, keeps, and the program stays right."""

import contextlib
import os
import pty
import re
import subprocess
import sys

import numpy as np
import plait
import pytest

X = np.linspace(-3, 3, 40 * 300, dtype=np.float32).reshape(40, 300)


def program():
    f = plait.Fusion("softmax")
    x = f.input("x", ["b", "n"], plait.f32)
    f.output("y", plait.ops.softmax(x, dim=-1))
    return plait.compile(f, device="cpu")


def test_the_program_has_the_fastest_schedules_and_is_right():
    p = program()
    found = p.tune(X, seconds=2, rounds=2, keep=False)
    assert [s.label for s in found] == ["softmax_s1"] and found[0].launches == 1
    assert found[0].tried >= found[0].refused and found[0].before.startswith("norm(")
    assert found[0].before_ms > 0 and found[0].after_ms > 0 and found[0].after in repr(found[0])
    (y,) = p.run(X).values()
    assert p.kernels[0].schedule == found[0].after
    e = np.exp(X - X.max(1, keepdims=True), dtype=np.float64)
    np.testing.assert_allclose(np.asarray(y), e / e.sum(1, keepdims=True), rtol=1e-6)
    p.run(x=X[:7])  # other sizes compile as ever


def test_what_does_not_fit_is_refused():
    p = program()
    with pytest.raises(plait.UserError, match="0 rounds"):
        p.tune(X, rounds=0)
    with pytest.raises(plait.UserError, match="input"):
        p.tune()
    p.run(X)


def test_a_terminal_shows_how_far_it_is():
    script = ("import numpy as np, plait\n"
              "p = plait.compile(plait.parse('fusion @f (%x: f32[64, 4096]) -> (%y) { %y = exp(%x) }'), device='cpu')\n"
              "p.tune(np.ones((64, 4096), np.float32), seconds=0.5, rounds=1, keep=False)\n")
    outer, inner = pty.openpty()
    done = subprocess.Popen([sys.executable, "-c", script], stderr=inner, env=os.environ | {"TERM": "xterm"})
    os.close(inner)
    said = b""
    with contextlib.suppress(OSError):  # what reading says when nobody holds the other end
        while piece := os.read(outer, 4096):
            said += piece
    os.close(outer)
    assert done.wait() == 0, said
    assert re.search(rb"\rgeneration 1: (compiling|measuring) \d+ of \d+, 0 of 0 s\x1b\[K", said) and said.endswith(b"\r\x1b[K"), said
