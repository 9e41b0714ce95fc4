"""Cases of the pointwise functions of pointwise.def, against PyTorch, NumPy and SciPy."""
import fractions
import math
import re

import mpmath
import numpy as np
import scipy.special
import torch
import torch.nn.functional as F

from cases import DTYPES, tensor

INF, NAN = math.inf, math.nan


def rows(path):
    """(name, arity, type rule) of every row of pointwise.def."""
    text = path.read_text()
    found = re.findall(r"^X\((\w+), (\d), (\w+),", text, re.M)
    return [(name, int(arity), rule) for name, arity, rule in found]


def fused(x, y, z):
    """x y + z, rounded once."""
    def one(a, b, c):
        if not all(map(math.isfinite, (a, b, c))) or 0 in (a, b):
            return a * b + c
        exact = fractions.Fraction(a) * fractions.Fraction(b) + fractions.Fraction(c)
        try:
            return float(exact)
        except OverflowError:
            return math.copysign(INF, exact)
    flat = zip(*(t.double().reshape(-1).tolist() for t in (x, y, z)))
    return torch.tensor([one(*v) for v in flat], dtype=torch.float64).reshape(x.shape).to(x.dtype)


def by_numpy(function):
    """Of floats, in double, rounded once; integers become f32."""
    def apply(*t):
        dtype = t[0].dtype if t[0].is_floating_point() else torch.float32
        with np.errstate(all="ignore"):
            return torch.from_numpy(np.asarray(function(*(v.double().numpy() for v in t)))).to(dtype)
    return apply


def floats_by_numpy(function, of_integers):
    return lambda *t: (by_numpy(function) if t[0].is_floating_point() else of_integers)(*t)


def through_double(function):
    """Rounded once, where PyTorch's f32 is not good at the ends of the range."""
    return lambda x: function(x.double()).to(x.dtype) if x.is_floating_point() else function(x)


def scalar(function):
    """A function whose second operand PyTorch takes as a number: one call for every value of it."""
    def apply(x, y):
        out = torch.empty_like(x)
        for value in set(y.reshape(-1).tolist()):
            at = y == value
            out[at] = function(x[at], value)
        return out
    return apply


def digamma(x):
    """PyTorch's and SciPy's lose digits near the roots and poles below 0."""
    if x < 0 and math.isfinite(x) and x != math.floor(x):
        return float(mpmath.digamma(x))
    return float(scipy.special.digamma(x))


def softshrink(x, y):
    return torch.where(x > y, x - y, torch.where(x < -y, x + y, torch.where(torch.isnan(x), x, torch.zeros_like(x))))


T, S = torch, torch.special
FUNCTIONS = {
    "add": T.add, "sub": T.sub, "mul": T.mul, "div": T.div, "neg": T.neg, "abs": T.abs, "max": T.maximum,
    "min": T.minimum, "fmax": T.fmax, "fmin": T.fmin, "floor_divide": T.floor_divide,
    "remainder": floats_by_numpy(np.remainder, T.remainder), "fmod": floats_by_numpy(np.fmod, T.fmod), "pow": T.pow,
    "reciprocal": T.reciprocal, "rsqrt": T.rsqrt, "square": T.square, "sign": T.sign, "floor": T.floor,
    "ceil": T.ceil, "round": T.round, "trunc": T.trunc, "frac": T.frac, "fma": fused, "lerp": T.lerp,
    "hypot": T.hypot, "copysign": T.copysign, "clamp": T.clamp, "cbrt": by_numpy(np.cbrt), "logaddexp": T.logaddexp,
    "xlogy": S.xlogy, "xlog1py": S.xlog1py, "atan2": T.atan2, "exp": T.exp, "exp2": T.exp2, "expm1": T.expm1,
    "log": T.log, "log2": T.log2, "log10": T.log10, "log1p": T.log1p, "sqrt": by_numpy(np.sqrt), "sin": T.sin,
    "cos": T.cos, "tan": T.tan, "asin": T.asin, "acos": T.acos, "atan": T.atan, "sinh": T.sinh, "cosh": T.cosh,
    "tanh": T.tanh, "asinh": T.asinh, "acosh": T.acosh, "atanh": T.atanh, "erf": T.erf, "erfc": T.erfc,
    "erfinv": by_numpy(scipy.special.erfinv), "lgamma": T.lgamma, "digamma": by_numpy(np.vectorize(digamma)),
    "relu": F.relu, "relu6": F.relu6, "hardtanh": T.clamp, "leaky_relu": scalar(F.leaky_relu), "elu": scalar(F.elu),
    "selu": F.selu, "celu": scalar(F.celu), "gelu_erf": through_double(F.gelu),
    "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"), "silu": F.silu, "mish": F.mish,
    "sigmoid": through_double(T.sigmoid), "log_sigmoid": F.logsigmoid, "softplus": F.softplus,
    "softsign": lambda x: F.softsign(x if x.is_floating_point() else x.float()), "tanhshrink": F.tanhshrink,
    "hardsigmoid": F.hardsigmoid, "hardswish": F.hardswish, "hardshrink": scalar(F.hardshrink),
    "softshrink": softshrink, "eq": T.eq, "ne": T.ne, "lt": T.lt, "le": T.le, "gt": T.gt, "ge": T.ge,
    "isnan": T.isnan, "isinf": T.isinf, "isfinite": T.isfinite, "signbit": T.signbit, "logical_and": T.logical_and,
    "logical_or": T.logical_or, "logical_xor": T.logical_xor, "logical_not": T.logical_not,
    "bitwise_and": T.bitwise_and, "bitwise_or": T.bitwise_or, "bitwise_xor": T.bitwise_xor,
    "bitwise_not": T.bitwise_not, "shift_left": T.bitwise_left_shift, "shift_right": T.bitwise_right_shift,
    "where": T.where, "cast": None,
}
CALLS = {"gelu_erf": "gelu(%a)", "gelu_tanh": "gelu(%a, approx = tanh)"}
# Functions whose second operand is a setting, and what it may be.
SETTINGS = {"leaky_relu": [0.01, 0.2], "elu": [1.0, 0.5], "celu": [1.0, 2.5], "hardshrink": [0.5, 0.0],
            "softshrink": [0.5, 0.0]}
# Exact of zeros too.
MOVES = {"neg", "abs", "floor", "ceil", "round", "trunc", "copysign", "where", "sqrt"}
SPECIAL = [0.0, -0.0, INF, -INF, NAN, 1.0, -1.0, 0.5, -0.5, 2.0, -2.0, 3.0, -3.0, 2.5, -2.5, 1e-8, -1e-8, 20.0, -20.0,
           0.1, -0.1, 100.25, -100.25, 1e10, -1e10, 700.0, -700.0]
ENDS = {"f64": [5e-324, -5e-324, 2.2250738585072014e-308, 1.7976931348623157e308, -1.7976931348623157e308],
        "f32": [1e-45, -1e-45, 1.1754943508222875e-38, 3.4028234663852886e38, -3.4028234663852886e38]}
PAIRS = [0.0, -0.0, INF, -INF, NAN, 1.0, -1.0, 0.5, -2.0, 3.0, -2.5, 1e-300, 1e300]
TRIPLES = [0.0, INF, -INF, NAN, 1.0, -2.0, 0.5]
WHOLE = {"i64": [0, 1, -1, 2, -3, 7, -8, 100, -2**63, 2**63 - 1],
         "i32": [0, 1, -1, 2, -3, 7, -8, 100, -2**31, 2**31 - 1],
         "u8": [0, 1, 2, 3, 7, 100, 128, 255], "i8": [0, 1, -1, 3, -7, 100, -128, 127]}


def grids(values, arity, rng, drawn=12):
    """Every tuple of the values, then random ones."""
    columns = np.array(np.meshgrid(*[values] * arity, indexing="ij")).reshape(arity, -1)
    scales = np.repeat([0.01, 1.0, 4.0], drawn // 3)
    return [np.concatenate([columns[i], rng.normal(size=drawn) * scales]) for i in range(arity)]


def float_operands(name, arity, dtype, rng):
    if name in SETTINGS:
        x = np.concatenate([SPECIAL, rng.normal(size=12)])
        pairs = [(v, s) for s in SETTINGS[name] for v in x]
        columns = [np.array(c) for c in zip(*pairs)]
    elif arity == 1:
        columns = grids(SPECIAL + ENDS.get(dtype, []), 1, rng, 30)
    else:
        columns = grids(PAIRS if arity == 2 else TRIPLES, arity, rng)
    if name == "copysign":  # the sign of a NaN is not defined
        columns = [c[~np.isnan(columns[1])] for c in columns]
    if name == "signbit":
        columns = [c[~np.isnan(columns[0])] for c in columns]
    with np.errstate(over="ignore"):
        return [tensor(c, dtype) for c in columns]


def add(table, name, operands, want):
    call = CALLS.get(name, f"{name}({', '.join('%' + 'abc'[i] for i in range(len(operands)))})")
    table.case(call, *operands, want=want, signs=name in MOVES)


def float_cases(table, name, arity, rng):
    function = FUNCTIONS[name]
    for dtype in ("f64", "f32", "bf16"):
        operands = float_operands(name, arity, dtype, rng)
        if dtype == "bf16":  # rounded once
            want = function(*(t.double() for t in operands))
            want = want.to(torch.bfloat16) if want.is_floating_point() else want
        else:
            want = function(*operands)
        add(table, name, operands, want)


def whole_cases(table, name, arity, rule, rng):
    function = FUNCTIONS[name]
    for dtype in ("i64", "i32", "u8", "i8"):
        values = np.array(WHOLE[dtype], dtype=object)
        columns = np.array(np.meshgrid(*[values] * arity, indexing="ij")).reshape(arity, -1)
        if name in ("floor_divide", "remainder", "fmod"):  # PyTorch refuses 0 and traps at the least integer
            columns = columns[:, [y not in (0, -1) for y in columns[1]]]
        if name == "pow":
            columns = columns[:, [0 <= y < 64 for y in columns[1]]]
        if rule == "shift":
            bits = 8 * DTYPES[dtype].itemsize
            columns = columns[:, [0 <= y < bits for y in columns[1]]]
        operands = [tensor([int(v) for v in c], dtype) for c in columns]
        add(table, name, operands, function(*operands))


def bool_cases(table, name, arity):
    columns = np.array(np.meshgrid(*[[False, True]] * arity, indexing="ij")).reshape(arity, -1)
    operands = [tensor(c.tolist(), "bool") for c in columns]
    add(table, name, operands, FUNCTIONS[name](*operands))


WHOLE_TOO = {"same", "to_float", "compare", "test", "logical", "bits", "shift"}


def where_cases(table, rng):
    for dtype in ("f64", "bf16", "i64", "u8", "bool"):
        a = tensor([[1, 0, 1], [0, 1, 1]], dtype)
        b = tensor([0, 1, 0], dtype)
        condition = tensor([[True, False, False], [False, True, True]], "bool")
        add(table, "where", [condition, a, b], torch.where(condition, a, b))
    values = tensor(SPECIAL)
    condition = tensor((np.arange(len(SPECIAL)) % 3 == 0).tolist(), "bool")
    add(table, "where", [condition, values, -values], torch.where(condition, values, -values))


def cast_cases(table, rng):
    floats = [0.0, -0.0, 1.0, -1.0, 0.5, 1.5, 2.5, -2.5, 0.1, 1 / 3, 255.0, 256.5, 1e-8, 65504.0, 65520.0,
              1e5, 3e38, 1e39, 1e-40, 1e-46, 6e-8, 2e-8, 448.0, 1 + 2**-8, 1 + 3 * 2**-8, 1 + 2**-24, 1 + 2**-11]
    for source in ("f64", "f32", "f16", "bf16"):
        x = torch.cat([tensor(floats, source), tensor(rng.normal(size=12), source)])
        for target in ("f64", "f32", "f16", "bf16"):
            y = torch.cat([x, tensor([INF, -INF, NAN], source)])
            table.case(f"cast(%a, to = {target})", y, want=y.to(DTYPES[target]), signs=True)
        for target in ("f8e4m3", "f8e5m2"):  # beyond the range PyTorch's conversions differ from each other
            y = x[x.abs() <= 448]
            table.case(f"cast(%a, to = {target})", y, want=y.to(DTYPES[target]), signs=True)
        table.case("cast(%a, to = bool)", x, want=x.bool())
        y = x[x.abs() <= 100]
        for target in ("i8", "i16", "i32", "i64"):
            table.case(f"cast(%a, to = {target})", y, want=y.to(DTYPES[target]))
        y = y[y >= 0]
        for target in ("u8", "u16", "u32", "u64"):
            table.case(f"cast(%a, to = {target})", y, want=y.to(torch.int64).to(DTYPES[target]))
    for source, values in WHOLE.items():
        x = tensor(values, source)
        for target in DTYPES:
            if target.startswith("f8"):
                x = x[x.abs() <= 100] if source != "u8" else x[x <= 100]
            table.case(f"cast(%a, to = {target})", x, want=x.to(DTYPES[target]))


def fill(table, definitions):
    table_rows = rows(definitions)
    missing = {name for name, _, _ in table_rows} - FUNCTIONS.keys()
    if missing:
        raise SystemExit(f"functions without a case: {sorted(missing)}")
    rng = np.random.default_rng(1)
    for name, arity, rule in table_rows:
        if name == "where":
            where_cases(table, rng)
        elif name == "cast":
            cast_cases(table, rng)
        else:
            if rule not in ("bits", "shift"):
                float_cases(table, name, arity, rng)
            if rule in WHOLE_TOO and name not in ("fma", "hardtanh", "relu6") and not (
                    rule == "to_float" and arity == 2):
                whole_cases(table, name, arity, rule, rng)
            if rule in ("bits", "logical", "compare"):
                bool_cases(table, name, arity)
