"""Types for checkers and editors: the stub of the extension has all that the package shows, with words and types."""

import ast
import inspect
import pathlib

import plait
import pytest

FOLDER = pathlib.Path(plait._plait.__file__).parent
STUB = ast.parse((FOLDER / "_plait.pyi").read_text())
CLASSES = {node.name: node for node in STUB.body if isinstance(node, ast.ClassDef)}
FUNCTIONS = {node.name: node for node in STUB.body if isinstance(node, ast.FunctionDef)}
PUBLIC = [getattr(plait, name) for name in plait.__all__ if name != "ops"]
BOUND = [each for each in PUBLIC if callable(each) and each.__module__ == "plait._plait"]
BOTH_WAYS = ["add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and", "or", "xor"]
OPERATORS = [*BOTH_WAYS, *["r" + word for word in BOTH_WAYS], "lt", "le", "gt", "ge"]


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
        values = {target.id for node in CLASSES["DType"].body if isinstance(node, ast.Assign) for target in node.targets}
        assert values == {member.name for member in plait.DType}
        return
    known = members(bound.__name__)
    kinds = ("nb_method", "nb_func", "property", "function", "staticmethod")  # a function: set from Python
    assert {name for name, value in vars(bound).items() if type(value).__name__ in kinds} <= set(known)
    assert [complaint(each) for each in known.values() if complaint(each)] == []


def test_operators_have_types():
    known = members("Tensor")
    for word in OPERATORS:
        other, = known[f"__{word}__"].args.posonlyargs[1:]
        assert ast.unparse(other.annotation) == "Tensor | float", word
        assert ast.unparse(known[f"__{word}__"].returns) == "Tensor", word
    assert ast.unparse(known["__matmul__"].args.posonlyargs[1].annotation) == "Tensor"
    assert ast.unparse(known["__neg__"].returns) == "Tensor"


def test_results_have_types():
    for name, member, returns in [("Program", "run", "dict[str, Array]"), ("Program", "run_local", "dict[str, Array]"),
                                  ("Array", "numpy", "numpy.typing.NDArray[Any]"), ("Array", "shape", "tuple[int, ...]"),
                                  ("Fusion", "find", "Tensor | None"), ("Fusion", "outputs", "list[Tensor]")]:
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
