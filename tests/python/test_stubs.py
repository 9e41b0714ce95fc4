"""Types for checkers and editors: the stub of the extension has all that the package shows, with words and types."""

import ast
import inspect
import json
import pathlib
import subprocess
import sys

import plait
import pytest

FOLDER = pathlib.Path(plait._plait.__file__).parent
STUB = ast.parse((FOLDER / "_plait.pyi").read_text())
CLASSES = {node.name: node for node in STUB.body if isinstance(node, ast.ClassDef)}
FUNCTIONS = {node.name: node for node in STUB.body if isinstance(node, ast.FunctionDef)}
PUBLIC = [getattr(plait, name) for name in plait.__all__ if name != "ops"]
BOUND = [each for each in PUBLIC if callable(each) and each.__module__ == "plait._plait"]
BOTH_WAYS = ["add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and", "or", "xor", "lshift", "rshift"]
OPERATORS = [*BOTH_WAYS, *["r" + word for word in BOTH_WAYS], "eq", "ne", "lt", "le", "gt", "ge"]


def members(name):
    return {node.name: node for node in CLASSES[name].body if isinstance(node, ast.FunctionDef)}


def complaint(function):
    """What a function of the stub lacks, or None."""
    given = function.args.posonlyargs + function.args.args + function.args.kwonlyargs
    bare = [argument.arg for argument in given if argument.arg != "self" and argument.annotation is None]
    if bare or function.returns is None:
        return f"{function.name} has no type for {bare or 'its result'}"
    if not function.name.startswith("__") and not ast.get_docstring(function):
        return f"{function.name} has no words"
    return None


def test_the_package_is_typed():
    assert (FOLDER / "py.typed").exists() and (FOLDER / "ops.py").exists()


@pytest.mark.parametrize("bound", BOUND, ids=lambda each: each.__name__)
def test_what_is_bound_is_in_the_stub(bound):
    if not inspect.isclass(bound):
        assert complaint(FUNCTIONS[bound.__name__]) is None
        return
    assert ast.get_docstring(CLASSES[bound.__name__])
    if bound is plait.DType:
        values = {node.targets[0].id for node in CLASSES["DType"].body if isinstance(node, ast.Assign)}
        assert values == {member.name for member in plait.DType}
        return
    known = members(bound.__name__)
    kinds = ("nb_method", "nb_func", "property", "function", "staticmethod")  # a function: set from Python
    assert {name for name, value in vars(bound).items() if type(value).__name__ in kinds} - set(known) <= {"__getattr__", "__setitem__", "__format__"}
    assert not known.keys() & {"__getattr__", "__setitem__"}, "checkers would let every name and every x[i] = y pass"
    assert [complaint(each) for each in known.values() if complaint(each)] == []


def test_operators_have_types():
    known = members("Tensor")
    for word in OPERATORS:
        other, = known[f"__{word}__"].args.posonlyargs[1:]
        assert ast.unparse(other.annotation) == "Tensor | float | plait.size.Size", word
        assert ast.unparse(known[f"__{word}__"].returns) == "Tensor", word
    assert ast.unparse(known["__matmul__"].args.posonlyargs[1].annotation) == "Tensor"
    for word in ("neg", "pos", "abs", "invert"):
        assert ast.unparse(known[f"__{word}__"].returns) == "Tensor"


def test_operators_of_arrays_have_types():
    known = members("Array")
    for word in (*OPERATORS, "matmul", "rmatmul", "divmod", "rdivmod"):
        other, = known[f"__{word}__"].args.posonlyargs[1:]
        assert ast.unparse(other.annotation) == "object" and ast.unparse(known[f"__{word}__"].returns) == "Any", word
    for word in ("neg", "pos", "abs", "invert"):
        assert ast.unparse(known[f"__{word}__"].returns) == "Any", word
    for word, returns in (("ndim", "int"), ("size", "int"), ("T", "Array"), ("__contains__", "bool"), ("__hash__", "int")):
        assert ast.unparse(known[word].returns) == returns, word


def test_methods_have_the_types_of_their_functions():
    known = members("Tensor")
    methods = [name for name, value in vars(plait.Tensor).items() if inspect.isfunction(value)]
    assert len(methods) > 100 and {"sum", "reshape", "transpose", "matmul", "softmax"} <= set(methods)
    for name in methods:
        function = getattr(plait.ops, name)
        assert getattr(plait.Tensor, name) is function
        first, *rest = inspect.signature(function).parameters.values()
        given = known[name].args
        assert [argument.arg for argument in given.args] == ["self", *(each.name for each in rest)], name
        assert len(given.defaults) == sum(each.default is not each.empty for each in rest), name
        assert ast.unparse(known[name].returns) == function.__annotations__["return"], name
        assert ast.get_docstring(known[name]) == inspect.getdoc(function), name


def test_results_have_types():
    for name, member, returns in [
            ("Program", "run", "dict[str, Array]"), ("Program", "__call__", "dict[str, Array]"), ("Program", "run_local", "dict[str, Array]"),
            ("Program", "report", "dict[str, Any]"), ("Array", "__iter__", "Iterator[Any]"), ("Array", "item", "bool | int | float"), ("Array", "numpy", "Any"), ("Array", "shape", "tuple[int, ...]"),
            ("Tensor", "shape", "tuple[int | plait.size.Size, ...]"), ("Tensor", "__getitem__", "Tensor"), ("Tensor", "T", "Tensor"), ("Fusion", "find", "Tensor | None"), ("Fusion", "outputs", "list[Tensor]")]:
        assert ast.unparse(members(name)[member].returns) == returns, member


def test_what_is_written_in_python_has_types():
    for each in PUBLIC:
        if each in BOUND or not callable(each):
            continue
        assert each.__doc__, each
        parameters = inspect.signature(each).parameters.values()
        assert all(p.annotation is not p.empty for p in parameters if p.kind != p.VAR_POSITIONAL), each


def test_operators_leave_what_they_do_not_know_to_the_other_side():
    class Other:
        def __radd__(self, tensor):
            return "other"

        def __rmatmul__(self, tensor):
            return "other"

    x = plait.Fusion().input("x", [4, 4], plait.f32)
    assert x + Other() == x @ Other() == "other"
    for wrong in ("1", None, 1j):
        with pytest.raises(TypeError, match="unsupported operand"):
            x - wrong
    assert (x @ x).type == "f32[4, 4]" and (True & (x < 1)).type == "bool[4, 4]"


def test_ops_say_what_they_raise():
    words = {name: " ".join(getattr(plait.ops, name).__doc__.split()) for name in plait.ops.__all__}
    assert [name for name, text in words.items() if "Raises UserError for " not in text] == []


def test_ops_raise_what_they_say():
    f, ops = plait.Fusion(), plait.ops
    x, i, seed = f.input("x", [4, 6], plait.f32), f.input("i", [4], plait.i64), f.input("seed", [], plait.u64)
    for call in (lambda: ops.softmax(x, 2), lambda: ops.sum(x, [2]), lambda: ops.permute(x, [0, 0]),
                 lambda: ops.transpose(x, 0, 2), lambda: ops.reshape(x, [5, 5]),
                 lambda: ops.full(f, [-1], 0, plait.f32), lambda: ops.full(f, [1], 1.5, plait.i32),
                 lambda: ops.full(f, [1], 1, "f33"), lambda: ops.size(f, 1.5), lambda: ops.uniform([3], x),
                 lambda: ops.bitcast(x, plait.f64), lambda: ops.uniform([3], seed, offset=-1),
                 lambda: ops.slice(x, 0, step=0), lambda: ops.pad(x, [0], [0]), lambda: ops.roll(x, [1], [0, 1]),
                 lambda: ops.repeat(x, [2]), lambda: ops.dropout(x, 1.0, seed), lambda: ops.norm(x, float("nan")),
                 lambda: ops.var(x, correction=-1), lambda: ops.eye(f, -1), lambda: ops.eye(f, 1, -1),
                 lambda: ops.one_hot(i, -1), lambda: ops.layer_norm(x, eps=-1), lambda: ops.layer_norm(x, dims=3),
                 lambda: ops.rms_norm(x, dims=3), lambda: ops.group_norm(x, 4), lambda: ops.mse(x, x, "max"),
                 lambda: ops.cross_entropy(x, i, smoothing=1.5), lambda: ops.cross_entropy(x, i, reduction="max"),
                 lambda: ops.gelu(x, "erf"), lambda: ops.gelu(i), lambda: ops.cast(x, "f33"), lambda: ops.var_mean(i),
                 lambda: ops.where(x, x, x), lambda: ops.add(x, i), lambda: ops.selu(i), lambda: ops.lt(seed, i),
                 lambda: ops.bitwise_and(x, x), lambda: ops.exp(1), lambda: ops.set(1), lambda: ops.cat([x, i])):
        with pytest.raises(plait.UserError):
            call()
    assert ops.logical_and(seed, i).type == "bool[4]" and ops.exp(x > 0).type == "f32[4, 6]"


def with_parameter(ops, op, **parameter):
    next(each for each in ops if each["name"] == op)["parameters"].append({"role": "attribute", **parameter})


def without_parameter(ops, op, name):
    schema = next(each for each in ops if each["name"] == op)
    schema["parameters"] = [each for each in schema["parameters"] if each["name"] != name]


def renamed(ops, op, name):
    next(each for each in ops if each["name"] == op)["name"] = name


@pytest.mark.parametrize("change, said", [
    (lambda ops: with_parameter(ops, "flip", name="around", type="int"),
     "nothing says what is refused of attribute `around` of `flip`"),
    (lambda ops: with_parameter(ops, "flip", name="dim", type="colour"), "attribute `dim` of `flip` is a colour"),
    (lambda ops: without_parameter(ops, "group_norm", "groups"), "no op has groups"),
    (lambda ops: renamed(ops, "flip", "turn"), "docs/ops.md has no row for `turn`"),
    (lambda ops: renamed(ops, "elu", "other"), "docs/ops.md has no row for `other`"),
], ids=["refusal", "type", "gone", "op", "function"])
def test_what_the_schema_has_and_the_words_lack_is_found_when_the_ops_are_made(tmp_path, change, said):
    root = pathlib.Path(__file__).resolve().parents[2]
    schema = json.loads((FOLDER / "op_schema.json").read_text())
    change(schema["ops"])
    (tmp_path / "schema.json").write_text(json.dumps(schema))
    command = [sys.executable, root / "python_bindings/make_ops.py", tmp_path / "schema.json", root / "docs/ops.md",
               tmp_path / "ops.py", tmp_path / "methods.pattern"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 1 and said in done.stderr and not (tmp_path / "ops.py").exists()
