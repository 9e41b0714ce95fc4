"""Sizes of a graph that are equal wherever it runs, though PyTorch has several names for them: inputs of one call have symbols
of their own. Where PyTorch's guards, or an op, demand that two are equal, the guards say so, and both get one name; a call
with others compiles anew."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import sympy
import torch
from torch._dynamo.source import TensorPropertySource
from torch.utils._sympy.functions import FloorDiv, Mod

from plait.torch.sizes import expression, same_as

aten = torch.ops.aten

_PRODUCTS = {aten.mm.default: [((0, 1), (1, 0))], aten.addmm.default: [((1, 1), (2, 0))],
             aten.bmm.default: [((0, 0), (1, 0)), ((0, 2), (1, 1))]}
_SCATTERS = {aten.scatter.value, aten.scatter.src, aten.scatter_add.default, aten.scatter.reduce, aten.scatter.value_reduce,
             aten.scatter_reduce.two}
_PUTS = {aten.index_put.default, aten._unsafe_index_put.default}
_ATTENTION = {aten._scaled_dot_product_flash_attention_for_cpu.default: 0,
              aten._scaled_dot_product_flash_attention_for_cpu_backward.default: 1}  # number of the queries


def _fake(value: Any) -> Any:
    value = value.meta.get("val") if isinstance(value, torch.fx.Node) else value
    return value if isinstance(value, torch.Tensor) else None


def _broadcast(a: Any, b: Any) -> Iterator[tuple[Any, Any]]:
    """Sizes of two shapes that meet, from the last; those that are 1 meet any."""
    return ((m, n) for m, n in zip(reversed(a), reversed(b)) if not (isinstance(m, int) and m == 1 or isinstance(n, int) and n == 1))


def _demanded(node: torch.fx.Node) -> Iterator[tuple[Any, Any]]:
    """Pairs of sizes of the node's operands that plait needs to be equal."""
    tensors = [_fake(each) for each in node.args]
    op = node.target
    if op in _PRODUCTS:
        yield from ((tensors[i].shape[m], tensors[j].shape[n]) for (i, m), (j, n) in _PRODUCTS[op])
    elif op is aten.gather.default or op in _SCATTERS:
        x, index, source = tensors[0], tensors[2], tensors[3] if len(tensors) > 3 else None
        if x.dim() and index.dim():
            yield from ((x.shape[d], index.shape[d]) for d in range(x.dim()) if d != node.args[1] % x.dim())
        if source is not None and op in _SCATTERS:
            yield from zip(source.shape, index.shape)
    elif op in _PUTS:
        x, values, indices = tensors[0], tensors[2], [_fake(each) for each in node.args[1]]
        at = [d for d, each in enumerate(indices) if each is not None]
        if len(at) == 1:
            yield from _broadcast(values.shape, [*x.shape[:at[0]], *indices[at[0]].shape, *x.shape[at[0] + 1:]])
    elif op in _ATTENTION:
        q, k, v = tensors[_ATTENTION[op]:_ATTENTION[op] + 3]
        yield from ((q.shape[0], k.shape[0]), (q.shape[0], v.shape[0]), (q.shape[1], k.shape[1]), (k.shape[1], v.shape[1]),
                    (k.shape[2], v.shape[2]), (q.shape[3], k.shape[3]), (q.shape[3], v.shape[3]))
        mask = _fake(node.kwargs.get("attn_mask"))
        if mask is not None:
            yield from _broadcast(mask.shape, [*q.shape[:3], k.shape[2]])


class SameSizes:
    """What is known to be equal in graphs of one call."""

    def __init__(self, env: Any):
        self.env = env
        self.guards = not env.frozen and not env._suppress_guards_tls()  # whether guards may still be added
        self.order = {symbol: i for i, symbol in enumerate(env.var_to_sources)}  # of symbols, as inputs have them

    def is_dim(self, symbol: Any) -> bool:
        return any(isinstance(source, TensorPropertySource) for source in self.env.var_to_sources.get(symbol, ()))

    def hint(self, expr: Any) -> Any:
        """Its value for the sizes at hand; None where these depend on values of tensors."""
        expr, values = self.env.replace(sympy.sympify(expr)), self.env.backed_var_to_val
        return expr.xreplace(values) if expr.free_symbols <= values.keys() else None

    def guard(self, a: Any, b: Any) -> bool:
        return self.guards and bool(self.env.evaluate_expr(sympy.Eq(a, b)))

    def join(self, a: Any, b: Any) -> bool:
        """Gives two equal sizes one name. Whether they have one."""
        a, b = self.now(a), self.now(b)
        if a == b:
            return True
        hint = self.hint(a)
        if hint is None or hint != self.hint(b) or not self.guard(a, b):
            return False
        return self.of_divisors(a, b) or self.renamed(a, b) or self.of_factors(a, b) or self.of_parts(a, b)

    def of_guards(self) -> None:
        """What PyTorch's own guards say of sizes that it cannot solve."""
        for expr in [each.expr for each in self.env.guards]:
            if isinstance(expr, sympy.Eq) and not expr.has(Mod):
                a, b = self.now(expr.lhs), self.now(expr.rhs)
                if not a.is_number and not b.is_number:
                    self.renamed(a, b) or self.of_factors(a, b) or self.of_parts(a, b)

    def now(self, expr: Any) -> Any:
        return same_as(self.env, self.env.replace(sympy.sympify(expr)))

    def renamed(self, a: Any, b: Any) -> bool:
        """Takes the other in place of one that is a symbol."""
        a, b = self.now(a), self.now(b)
        if a == b:
            return True
        for symbol, other in ((a, b), (b, a)):
            if symbol.is_Symbol and symbol not in other.free_symbols:
                same_as(self.env, symbol, other)
                return True
        return False

    def of_factors(self, a: Any, b: Any) -> bool:
        """Two products of dims whose factors are equal one by one, in the order of the inputs."""
        factors = [[each for each in sympy.Mul.make_args(expr)] for expr in (a, b)]
        for each in list(factors[0]):
            if each in factors[1]:
                factors[0].remove(each)
                factors[1].remove(each)
        if len(factors[0]) != len(factors[1]) or not all(self.is_dim(each) for side in factors for each in side):
            return False
        pairs = list(zip(*(sorted(side, key=self.order.__getitem__) for side in factors)))
        if any(self.hint(m) is None or self.hint(m) != self.hint(n) for m, n in pairs):
            return False
        return all([self.guard(m, n) and self.renamed(m, n) for m, n in pairs])

    def of_divisors(self, a: Any, b: Any) -> bool:
        """Two sizes of which one is split by integers that are no dims, such as numbers of heads: these become numbers."""
        divisors = {symbol for expr in (a, b) for each in expr.atoms(FloorDiv) for symbol in each.args[1].free_symbols}
        numbers = sorted((each for each in divisors if not self.is_dim(each)), key=str)
        if not numbers or any(self.hint(each) is None for each in numbers):
            return False
        if not all([self.guard(each, self.hint(each)) for each in numbers]):
            return False
        return self.renamed(a, b) or self.of_parts(a, b)

    def of_parts(self, a: Any, b: Any) -> bool:
        """Two sizes that are parts of another, or all of it: the parts are equal, so that their number divides it."""
        whole = [self.guard_parts(each) for expr in map(self.now, (a, b)) for each in expr.atoms(FloorDiv)]
        return bool(whole) and all(whole)

    def guard_parts(self, part: Any) -> bool:
        base, divisor = part.args
        offset, rest = base.as_coeff_Add()
        if not divisor.is_Integer or not rest.is_Symbol or not 0 <= offset < divisor or self.hint(rest) is None:
            return False
        return self.hint(rest) % divisor == 0 and self.guard(Mod(rest, divisor), 0)


def give_names(graph: torch.fx.Graph) -> None:
    """Joins the equal sizes of a graph. Requires that its callable is being made, when guards may be added."""
    sizes = (each for node in graph.nodes if (tensor := _fake(node)) is not None for each in tensor.shape)
    symbolic = next((each for each in sizes if isinstance(each, torch.SymInt)), None)
    if symbolic is None:
        return
    same = SameSizes(symbolic.node.shape_env)
    for node in graph.nodes:
        if node.op == "call_function":
            for a, b in _demanded(node):
                if isinstance(a, torch.SymInt) or isinstance(b, torch.SymInt):
                    same.join(*(expression(n) if isinstance(n, torch.SymInt) else n for n in (a, b)))
    same.of_guards()
