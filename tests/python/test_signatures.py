"""What inspect says of everything public, stubs without NumPy, and sentences for wrong keywords."""

import inspect
import pathlib
import subprocess
import sys

import numpy as np
import plait
import pytest

FOLDER = pathlib.Path(plait._plait.__file__).parent


def public():
    """Every callable that users see, with its path: functions, classes, and methods of classes."""
    for name in plait.__all__:
        each = getattr(plait, name)
        if name == "ops":
            yield from ((f"ops.{word}", getattr(plait.ops, word)) for word in plait.ops.__all__)
        elif inspect.isclass(each):
            yield name, each
            for word, value in vars(each).items():
                if not word.startswith("_") and callable(value):
                    yield f"{name}.{word}", value
        elif callable(each):
            yield name, each


CALLABLES = dict(public())


def test_there_are_many():
    assert len(CALLABLES) > 250 and {"compile", "Program.run", "Tensor.sum", "ops.softmax", "Array.numpy", "jit", "DType"} <= set(CALLABLES)


@pytest.mark.parametrize("path", CALLABLES)
def test_signature(path):
    signature = inspect.signature(CALLABLES[path])
    if "." in path and not path.startswith("ops."):
        assert next(iter(signature.parameters), None) in ("self", "x", "text", "a", "tensor", None), signature
    if not inspect.isclass(CALLABLES[path]):
        assert all(each.name == "self" or each.annotation is not inspect.Parameter.empty for each in signature.parameters.values()), signature


def test_signatures_say_what_the_functions_take():
    parameters = inspect.signature(plait.compile).parameters
    assert list(parameters) == ["fusion", "device", "comm", "ranks", "sizes", "options", "dumps"]
    assert parameters["comm"].default == "local" and parameters["device"].kind is inspect.Parameter.KEYWORD_ONLY
    f = plait.Fusion("f")
    x = f.input("x", ["n"], plait.f32)
    f.output("y", -x)
    p = plait.compile(f, device="reference")
    bound, free = inspect.signature(p.run), inspect.signature(plait.Program.run)
    assert list(free.parameters) == ["self", "inputs", "stream", "threads", "out", "donate", "named"]
    assert list(bound.parameters) == list(free.parameters)[1:] and bound.return_annotation == "dict[str, Array]"
    assert inspect.signature(f.input).parameters["name"].annotation == "str"
    assert inspect.signature(p.run).bind(1, 2, out=3, other=4).arguments["named"] == {"other": 4}
    assert list(inspect.signature(plait.Fusion).parameters)[:1] == ["name"]
    assert inspect.signature(x.sum).parameters["dims"].default is None
    assert "compile(" in plait._plait.__dict__["compile"].__doc__ or plait.compile.__doc__


def test_stubs_need_no_numpy():
    for file in FOLDER.glob("*.py*"):
        if file.suffix in (".py", ".pyi"):
            assert "numpy" not in [line.split()[1].split(".")[0] for line in file.read_text().splitlines()
                                   if line.startswith(("import ", "from "))], file
    script = "import sys; sys.modules['numpy'] = None; import plait; f = plait.parse('fusion @f (%x: f32[n]) -> (%y) { %y = neg(%x) }');"
    script += "import array; print(plait.compile(f, device='reference').run(array.array('f', [1, 2]))['y'].tolist())"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout == "[-1.0, -2.0]\n", done.stderr


def test_wrong_keywords_get_a_sentence():
    f = plait.Fusion("f")
    x = f.input("x", ["n"], plait.f32)
    f.output("y", x + 1)
    for call, words in [
            (lambda: plait.compile(f, devcie="cpu"), "compile() has no parameter `devcie`; did you mean `device`?"),
            (lambda: plait.jit(lambda x: x, devices="cpu"), "jit() has no parameter `devices`; did you mean `device`?"),
            (lambda: plait.jit(statics="x"), "jit() has no parameter `statics`; did you mean `static`?"),
            (lambda: plait.ops.softmax(x, dmi=0), "softmax() has no parameter `dmi`; did you mean `dim`?"),
            (lambda: x.sum(keepdims=True), "sum() has no parameter `keepdims`; did you mean `keepdim`?"),
            (lambda: plait.ops.where(x, b=x, qqq=x), "where() has no parameter `qqq`; there are condition, a, b")]:
        with pytest.raises(TypeError) as caught:
            call()
        assert str(caught.value) == words
    p = plait.compile(f, device="reference")
    with pytest.raises(plait.UserError, match="input `xx`|xx"):
        p.run(xx=np.ones(2, np.float32))
    assert p.run(np.ones(2, np.float32))["y"].tolist() == [2, 2]


def test_wrong_arguments_of_a_traced_function_get_a_sentence():
    def attend(q, key, scale=1.0):
        return q @ key * scale

    g, x = plait.jit(attend, device="reference"), np.ones((2, 2), np.float32)
    for call, words in [
            (lambda: g(x, x, scael=2.0), "attend() has no parameter `scael`; did you mean `scale`?"),
            (lambda: g(x, x, other=2.0), "attend() has no parameter `other`; there are q, key, scale"),
            (lambda: g(x, keys=x), "attend() has no parameter `keys`; did you mean `key`?"),
            (lambda: g(x, x, donate="q"), "attend() has no parameter `donate`: plait.jit(f, donate=[...]) names the "
             "parameters whose arrays every call gives up"),
            (lambda: g.fusion(x, x, out=x), "attend() has no parameter `out` here: what results are written into is given "
             "where it is called, attend(..., out=y)"),
            (lambda: g(x, x, threads=2), "attend() has no parameter `threads`: attend.program(...).run(..., threads=...) "
             "takes it"),
            (lambda: g(x, x, device="cpu"), "attend() has no parameter `device`: give it where the function is made, "
             "plait.jit(f, device=...)"),
            (lambda: g(x), "attend(q, key, scale=1.0): missing a required argument: 'key'"),
            (lambda: g(x, x, 1.0, x), "attend(q, key, scale=1.0): too many positional arguments"),
            (lambda: g(x, x, q=x), "attend(q, key, scale=1.0): multiple values for argument 'q'"),
            (lambda: plait.jit(lambda: plait.ops.iota([2], 0))(x=1), "<lambda>() has no parameter `x`; there are none")]:
        with pytest.raises(TypeError) as caught:
            call()
        assert str(caught.value) == words
    assert g.programs() == []
    out = np.zeros((2, 2), np.float32)
    assert g(x, key=x, scale=2.0, out=out).tolist() == out.tolist() == [[4, 4], [4, 4]]
    assert plait.jit(lambda **named: named["donate"] + 1, device="reference")(donate=x).tolist() == [[2, 2], [2, 2]]
    assert plait.jit(lambda x, /, **named: named["y"] + x, device="reference")(x, y=x).tolist() == [[2, 2], [2, 2]]


def test_too_many_arguments_of_an_op_get_a_sentence():
    x = plait.Fusion("f").input("x", [2, 3], plait.f32)
    for call, words in [
            (lambda: x.reshape(3, 2), "reshape() takes x, shape, and 3 were given: several numbers are one list, shape=[3, 2]"),
            (lambda: plait.ops.permute(x, 1, 0), "permute() takes x, dims, and 3 were given: several numbers are one list, dims=[1, 0]"),
            (lambda: x.reshape("n", -1), "reshape() takes x, shape, and 3 were given: several numbers are one list, shape=['n', -1]"),
            (lambda: plait.ops.add(x, x, x), "add() takes x, y, and 3 were given"),
            (lambda: x.reshape([3, 2], x), "reshape() takes x, shape, and 3 were given"),
            (lambda: plait.ops.exp(x, 1), "exp() takes x, and 2 were given")]:
        with pytest.raises(TypeError) as caught:
            call()
        assert str(caught.value) == words


def test_a_program_is_called_as_it_is_run():
    f = plait.Fusion("f")
    x, w = f.input("x", [2], plait.f32), f.input("w", [2], plait.f32)
    f.output("y", x * w)
    p, one, y = plait.compile(f, device="cpu"), np.ones(2, np.float32), np.zeros(2, np.float32)
    assert p(one, one * 3)["y"].tolist() == p(x=one, w=one * 3)["y"].tolist() == p({"x": one}, w=one * 3)["y"].tolist() == [3, 3]
    assert p(one, one * 5, out=y, threads=1)["y"].tolist() == y.tolist() == [5, 5]
    given = plait.array(np.ones(2, np.float32))
    assert p(given, one, donate="x")["y"].tolist() == [1, 1] and "donated" in repr(given)
    assert str(inspect.signature(plait.Program.__call__)) == str(inspect.signature(plait.Program.run))
    assert str(inspect.signature(p)) == str(inspect.signature(p.run)) and not inspect.signature(plait.Program).parameters
    with pytest.raises(plait.UserError, match="w"):
        p(one)


def test_from_array():
    a = np.arange(4, dtype=np.float32)
    b = plait.from_array(a)
    a[0] = 7
    assert isinstance(b, plait.Array) and b.tolist() == [7, 1, 2, 3]
    with pytest.raises(plait.UserError, match="is no array"):
        plait.from_array("text")
