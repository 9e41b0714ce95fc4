"""Runs for adapters of frameworks: tensors by position, by DLPack's functions for their type."""

import gc

import numpy as np
import plait
import pytest

torch = pytest.importorskip("torch")


def program(alias=False, **how):
    f = plait.Fusion("f")
    x, w = f.input("x", ["n", 4], plait.f32), f.input("w", [4], plait.f32)
    f.output("y", x * w)
    f.output("s", plait.ops.sum(x, dims=[1]))
    if alias:
        f.alias("y", "x")
    return plait.compile(f, device="cpu", **how)


def test_tensors_come_and_go():
    p = program()
    assert p._set_tensor_type(torch.Tensor)
    x, w = torch.randn(3, 4), torch.nn.Parameter(torch.randn(4))
    y, s = p._run_tensors([x, w])
    assert type(y) is torch.Tensor and not y.requires_grad
    torch.testing.assert_close(y, (x * w).detach())
    torch.testing.assert_close(s, x.sum(1))
    wide, sliced = torch.randn(4, 3).T, torch.randn(3, 9)[:, 1::2]  # columns first; with gaps
    for odd in (wide, sliced, torch.randn(0, 4), torch.randn(13)[1:].reshape(3, 4)):
        y, s = p._run_tensors([odd, w])
        torch.testing.assert_close(y, (odd * w).detach())
        torch.testing.assert_close(s, odd.sum(1))
    y, s = p._run_tensors([x, w])
    y.zero_()  # has memory of its own, which outlives the program
    del p
    gc.collect()
    torch.testing.assert_close(s, x.sum(1))


def test_what_is_no_tensor_is_refused():
    p = program()
    x, w = torch.randn(3, 4), torch.randn(4)
    with pytest.raises(plait.UserError, match="2 inputs, and the fusion has 2"):
        p._run_tensors([x, w])  # no type is set
    assert p._set_tensor_type(torch.Tensor)
    for wrong in (np.ones(4, np.float32), None, [1.0], w.__dlpack__()):
        with pytest.raises(plait.UserError, match="it is no tensor of the framework"):
            p._run_tensors([x, wrong])
    with pytest.raises(plait.UserError, match="1 inputs"):
        p._run_tensors([x])
    with pytest.raises(plait.UserError, match="input %w"):
        p._run_tensors([x, w.to(torch.complex64)])
    with pytest.raises(plait.UserError, match="%w"):
        p._run_tensors([x, torch.randn(5)])
    with pytest.raises((RuntimeError, BufferError, plait.UserError)):
        p._run_tensors([x, torch.eye(4).to_sparse()])
    torch.testing.assert_close(p._run_tensors([x, w])[0], x * w)


def test_types_without_the_functions():
    p = program()
    for other in (np.ndarray, int, torch.randn(1)):
        assert not p._set_tensor_type(other)
    assert not program(alias=True)._set_tensor_type(torch.Tensor)  # results would be of borrowed memory


def test_calls_leak_nothing():
    p = program()
    p._set_tensor_type(torch.Tensor)
    x, w = torch.randn(64, 4), torch.randn(4)
    for _ in range(50):
        p._run_tensors([x, w])
    before = p.memory["in_use_bytes"]
    for _ in range(2000):
        p._run_tensors([x, w])
    assert p.memory["in_use_bytes"] == before
