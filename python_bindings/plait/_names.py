"""Names of ops in other libraries, for who asks for what plait calls otherwise."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Iterable

SYNONYMS = {
    "absolute": "abs", "fabs": "abs", "subtract": "sub", "multiply": "mul", "divide": "div", "true_divide": "div",
    "power": "pow", "negative": "neg", "mod": "remainder", "rint": "round", "fix": "trunc", "maximum": "max",
    "clamp_min": "max", "minimum": "min", "clamp_max": "min", "clip": "clamp", "equal": "eq", "not_equal": "ne",
    "less": "lt", "less_equal": "le", "greater": "gt", "greater_equal": "ge", "invert": "bitwise_not",
    "bitwise_invert": "bitwise_not", "left_shift": "shift_left", "bitwise_left_shift": "shift_left",
    "right_shift": "shift_right", "bitwise_right_shift": "shift_right", "arccos": "acos", "arccosh": "acosh",
    "arcsin": "asin", "arcsinh": "asinh", "arctan": "atan", "arctan2": "atan2", "arctanh": "atanh", "swish": "silu",
    "expit": "sigmoid", "masked_fill": "where", "average": "mean", "reduce_mean": "mean", "reduce_sum": "sum",
    "reduce_max": "amax", "reduce_min": "amin", "variance": "var", "concatenate": "cat", "concat": "cat",
    "hstack": "cat", "vstack": "cat", "chunk": "split", "narrow": "slice", "permute_dims": "permute",
    "moveaxis": "permute", "movedim": "permute", "swapaxes": "transpose", "swapdims": "transpose",
    "matrix_transpose": "transpose", "view": "reshape", "flatten": "reshape", "ravel": "reshape",
    "unflatten": "reshape", "broadcast_to": "expand", "expand_as": "expand", "expand_dims": "unsqueeze",
    "tile": "repeat", "flipud": "flip", "fliplr": "flip", "astype": "cast", "to": "cast", "type": "cast",
    "float": "cast", "half": "cast", "double": "cast", "bfloat16": "cast", "int": "cast", "long": "cast",
    "bool": "cast", "copy": "set", "clone": "set", "contiguous": "set", "zeros": "full", "ones": "full",
    "empty": "full", "zeros_like": "full", "ones_like": "full", "full_like": "full", "arange": "iota",
    "range": "iota", "identity": "eye", "rand": "uniform", "randn": "normal", "mm": "matmul", "bmm": "matmul",
    "dot": "matmul", "mv": "matmul", "tensordot": "einsum", "outer": "einsum", "inner": "einsum", "dense": "linear",
    "take": "index_select", "take_along_axis": "take_along", "take_along_dim": "take_along",
    "scatter_add": "scatter", "index_add": "scatter", "index_put": "scatter", "dynamic_slice": "slice_at",
    "dynamic_update_slice": "slice_update", "attention": "scaled_dot_product_attention",
    "flash_attention": "scaled_dot_product_attention", "sdpa": "scaled_dot_product_attention",
    "rotary_embedding": "rope", "mse_loss": "mse",
}
_OF_TENSORS = {"ndim": "rank", "ndimension": "rank", "dim": "rank", "size": "shape", "numel": "shape"}


def guess(word: str, known: Iterable[str]) -> str:
    """What may be meant, or nothing."""
    known = list(known)
    if SYNONYMS.get(word) in known:
        return SYNONYMS[word]
    plain = {each.replace("_", ""): each for each in known}
    return plain.get(word.lower().replace("_", "")) or next(iter(difflib.get_close_matches(word, known, 1)), "")


def unknown_op(word: str) -> str:
    """What is said of an op that plait.ops lacks."""
    from plait import ops

    return f"plait.ops has no `{word}`{_question(guess(word, ops.__all__))}"


def unknown_member(word: str, members: Iterable[str]) -> str:
    """What is said of an attribute that tensors lack."""
    if word.startswith("_"):  # what other libraries look for
        return f"plait.Tensor has no `{word}`"
    meant = _OF_TENSORS.get(word) or guess(word, [each for each in members if not each.startswith("_")])
    return f"plait.Tensor has no `{word}`{_question(meant)}"


def unknown_of_array(word: str) -> str:
    """What is said of an attribute that arrays lack."""
    begin = f"plait.Array has no `{word}`"
    if word.startswith("_"):  # what other libraries look for
        return begin
    numpys = getattr(sys.modules.get("numpy"), "ndarray", None)
    if hasattr(numpys, word):
        return f"{begin}: it lends its memory, to NumPy, y.numpy().{word}, and to others, torch.from_dlpack(y)"
    return f"{begin}: its memory is lent to libraries that have it, y.numpy(), torch.from_dlpack(y)"


def function_for(ufunc: str) -> str:
    """Where a function of NumPy's name is."""
    from plait import ops

    name = ufunc if ufunc in ops.__all__ else SYNONYMS.get(ufunc)
    return f"plait.ops.{name} adds it to the graph" if name else "plait.ops has the functions of graphs"


def _question(meant: str) -> str:
    return f"; did you mean `{meant}`?" if meant else ""
