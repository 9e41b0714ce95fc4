"""Inputs of the MLP, and a check of its outputs against float64 on some rows, with a bound for every element.

The bound follows docs/numerics.md: sums in f32 err by 2 u depth sum|terms|, a narrow tensor by one rounding, a pending
sum of a narrow dtype by one rounding a rank and one of the sum.
"""
import numpy

ROWS = 64
U32, U16 = 2.0**-24, 2.0**-8  # half an ulp of 1 in f32 and bf16
GELU_SLOPE = 1.13  # the largest derivative of gelu


def to_bits(values, dtype):
    """Elements as a file holds them: f32, or the upper half of f32 rounded to nearest even."""
    values = numpy.asarray(values, dtype="<f4")
    if dtype == "f32":
        return values
    bits = values.view("<u4").astype(numpy.uint64)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype("<u2")


def from_bits(bits, dtype):
    return bits.astype(numpy.float64) if dtype == "f32" else (
        (bits.astype("<u4") << 16).view("<f4").astype(numpy.float64))


def write_inputs(job):
    """Draws the tensors, writes every rank's pieces, and returns the tensors as float64."""
    draw = numpy.random.default_rng(20)
    tensors = {"x": draw.standard_normal((job.sb, job.h)), "w0": 0.02 * draw.standard_normal((job.h4, job.h)),
               "b0": 0.02 * draw.standard_normal(job.h4), "w1": 0.02 * draw.standard_normal((job.h, job.h4)),
               "b1": 0.02 * draw.standard_normal(job.h)}
    axis = {"w0": 0, "b0": 0, "w1": 1}
    for name, values in tensors.items():
        bits = to_bits(values, job.dtype)
        tensors[name] = from_bits(bits, job.dtype)
        for rank in range(job.ranks):
            piece = numpy.split(bits, job.ranks, axis[name])[rank] if name in axis else bits
            numpy.ascontiguousarray(piece).tofile(f"{job.folder}/{name}.{rank}")
    return tensors


def read_output(job, side, name):
    """A global output: h4 is cut over the ranks, the others are whole on every rank."""
    kind = "<f4" if job.dtype == "f32" else "<u2"
    pieces = [from_bits(numpy.fromfile(f"{job.folder}/{side}.{name}.{rank}", dtype=kind), job.dtype)
              for rank in range(job.ranks)]
    if name in ("linear1", "gelu"):
        return numpy.concatenate([piece.reshape(job.sb, -1) for piece in pieces], axis=1)
    whole = [piece.reshape(job.sb, job.h) for piece in pieces]
    assert all(numpy.array_equal(whole[0], other) for other in whole), f"{side}: ranks hold different {name}"
    return whole[0]


def gelu(x):
    return 0.5 * x * (1 + numpy.tanh(numpy.sqrt(2 / numpy.pi) * (x + 0.044715 * x**3)))


def linear(x, radius, w, b, depth, roundings, narrow):
    """Value and radius of x w^T + b where x is off by at most `radius`."""
    value = x @ w.T + b
    terms = abs(x) @ abs(w).T + abs(b)
    return value, 2 * U32 * depth * terms + radius @ abs(w).T + narrow * (roundings * terms + abs(value))


def reference(job, t, rows):
    """{output: (value, radius)} of the first `rows` rows."""
    narrow = U16 if job.dtype == "bf16" else 0
    x = t["x"][:rows]
    v1, r1 = linear(x, numpy.zeros_like(x), t["w0"], t["b0"], job.h + 1, 0, narrow)
    vg = gelu(v1)
    rg = GELU_SLOPE * r1 + 8 * 2 * U32 * (1 + abs(v1)) + narrow * (abs(vg) + r1)
    # A narrow product is rounded before the bias joins it.
    pending = job.ranks if job.ranks > 1 else 1
    v2, r2 = linear(vg, rg, t["w1"], t["b1"], job.h4 + job.ranks, pending, narrow)
    return {"linear1": (v1, r1 + narrow * abs(v1)), "gelu": (vg, rg), "linear2": (v2, r2)}


def outputs(job, side, tensors):
    """{output: largest error over its bound}; `dropout` is 2 where it is no dropout of linear2, else 0."""
    rows = min(ROWS, job.sb)
    found = {}
    for name, (value, radius) in reference(job, tensors, rows).items():
        error = abs(read_output(job, side, name)[:rows] - value) / radius
        found[name] = float(f"{error.max():.3g}")
    whole, dropped = read_output(job, side, "linear2"), read_output(job, side, "dropout")
    kept = dropped != 0
    near = abs(dropped - whole / 0.9) <= (2 * U16 if job.dtype == "bf16" else 4 * U32) * abs(whole / 0.9)
    share, sigma = 1 - kept.mean(), (0.09 / kept.size) ** 0.5
    found["dropout"] = 0 if (near | ~kept).all() and abs(share - 0.1) < 6 * sigma + 1 / kept.size else 2
    return found
