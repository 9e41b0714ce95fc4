"""Cases of the ops of ops.def that are not pointwise, against PyTorch and NumPy. Layers: layers.py."""
import math

import numpy as np
import torch

from cases import DTYPES, tensor

INF, NAN = math.inf, math.nan
rng = np.random.default_rng(2)


def drawn(*shape, dtype="f64"):
    return tensor(rng.normal(size=shape), dtype)


def in_types(table, call, function, *operands, dtypes=("f64", "f32", "bf16"), **keywords):
    """One case per dtype. Narrow ones are computed in double and rounded once; integer operands stay."""
    for dtype in dtypes:
        own = [t.to(DTYPES[dtype]) if t.is_floating_point() else t for t in operands]
        if dtype in ("f64", "f32"):
            want = function(*own)
        else:
            want = function(*(t.double() if t.is_floating_point() else t for t in own))
            want = want.to(DTYPES[dtype]) if want.is_floating_point() else want
        table.case(call, *own, want=want, **keywords)


def movement(table):
    x, y = drawn(2, 3, 4), drawn(2, 3, 4)
    x[0, 0, 0], x[0, 0, 1], x[0, 0, 2], x[0, 0, 3] = -0.0, INF, NAN, 5e-324
    mask = x > 0
    whole = tensor([[1, -2, 2**62], [-2**63, 5, 6]], "i64")
    empty = tensor(np.zeros((0, 3)))

    def move(call, function, *operands):
        table.case(call, *operands, want=function(*operands), signs=True)

    for v in (x, x.to(torch.bfloat16), mask):
        move("permute(%a, dims = [2, 0, 1])", lambda t: t.permute(2, 0, 1), v)
        move("reshape(%a, shape = [6, -1])", lambda t: t.reshape(6, -1), v)
        move("slice(%a, dim = 2, start = 1, stop = 4, step = 2)", lambda t: t[:, :, 1:4:2], v)
        move("flip(%a, dims = [0, 2])", lambda t: t.flip(0, 2), v)
        move("roll(%a, shifts = [1, -2], dims = [1, 2])", lambda t: t.roll((1, -2), (1, 2)), v)
        move("repeat(%a, repeats = [2, 1, 2, 3])", lambda t: t.repeat(2, 1, 2, 3), v)
        move("set(%a)", lambda t: t.clone(), v)
        move("tril(%a)", torch.tril, v)
        move("triu(%a, diagonal = -1)", lambda t: torch.triu(t, -1), v)
    move("permute(%a, dims = [-1, 0])", lambda t: t.t(), whole)
    move("permute(%a, dims = [])", lambda t: t, tensor(2.5))
    move("broadcast(%a, shape = [2, 4, 3], dims = [0, 2])", lambda t: t[:, None, :].expand(2, 4, 3), whole)
    move("broadcast(%a, shape = [2, 3, 5], dims = [1])", lambda t: t[None, :, None].expand(2, 3, 5), whole[0])
    move("expand(%a, shape = [4, -1, 3])", lambda t: t.expand(4, -1, 3), whole)
    move("expand(%a, shape = [2, 5])", lambda t: t.expand(2, 5), x[0, :2, :1])
    move("squeeze(%a)", lambda t: t.squeeze(), x[:1, :, :1])
    move("squeeze(%a, dims = [2])", lambda t: t.squeeze(2), x[:1, :, :1])
    move("unsqueeze(%a, dims = [0, 2, -1])", lambda t: t[None, :, None, :, None], whole)
    move("reshape(%a, shape = [])", lambda t: t.reshape(()), x[0, :1, 3])
    move("reshape(%a, shape = [3, 0, 2])", lambda t: t.reshape(3, 0, 2), empty)
    move("slice(%a, dim = 1, start = -2)", lambda t: t[:, -2:], whole)
    move("slice(%a, dim = 0, start = 1, stop = 100)", lambda t: t[1:100], whole)
    move("slice(%a, dim = 0, start = 2, stop = 1)", lambda t: t[2:1], whole)
    move("slice(%a, dim = -1, step = 3)", lambda t: t[..., ::3], x)
    move("pad(%a, low = [1, 0], high = [0, 2], value = 7)",
         lambda t: torch.nn.functional.pad(t, (0, 2, 1, 0), value=7), whole)
    move("pad(%a, low = [0, 2, 1], high = [1, 0, 0], value = -inf)",
         lambda t: torch.nn.functional.pad(t, (1, 0, 2, 0, 0, 1), value=-INF), x)
    move("pad(%a, low = [2, 0])", lambda t: torch.nn.functional.pad(t, (0, 0, 2, 0)), empty)
    move("cat(%a, %b, dim = 1)", lambda s, t: torch.cat([s, t], 1), x, y[:, :2])
    move("cat(%a, %b, %a, dim = -1)", lambda s, t: torch.cat([s, t, s], -1), whole, whole[:, :0])
    move("stack(%a, %b, dim = 1)", lambda s, t: torch.stack([s, t], 1), x, y)
    move("stack(%a, dim = -1)", lambda t: torch.stack([t], -1), mask)
    move("flip(%a, dims = [1])", lambda t: t.flip(1), whole)
    move("roll(%a, shifts = [-7], dims = [-1])", lambda t: t.roll(-7, -1), whole)
    move("roll(%a, shifts = [3], dims = [0])", lambda t: t, empty)
    move("repeat(%a, repeats = [0, 2])", lambda t: t.repeat(0, 2), whole)
    move("set(%a)", lambda t: t.clone(), whole)
    move("tril(%a, diagonal = 1)", lambda t: torch.tril(t, 1), whole)
    move("triu(%a, diagonal = 5)", lambda t: torch.triu(t, 5), whole)
    move("bitcast(%a, to = i64)", lambda t: t.view(torch.int64), x)
    move("bitcast(%a, to = f64)", lambda t: t.view(torch.float64),
         tensor([0, 1, -2**63, 0x7FF0000000000000, 2**62], "i64"))
    move("bitcast(%a, to = f32)", lambda t: t.view(torch.float32), tensor([0, 1, -2**31, 1065353216, -8388608], "i32"))
    move("bitcast(%a, to = i16)", lambda t: t.view(torch.int16), tensor([0.0, -0.0, 1.0, -2.5, INF], "bf16"))
    move("bitcast(%a, to = f16)", lambda t: t.view(torch.float16), tensor([0, 1, -32768, 15360, 31744], "i16"))
    move("bitcast(%a, to = u8)", lambda t: t.view(torch.uint8), tensor([0, 1, -1, -128], "i8"))
    move("bitcast(%a, to = f8e4m3)", lambda t: t.view(torch.float8_e4m3fn), tensor([0, 1, 128, 56, 126, 200], "u8"))


def creation(table):
    table.case("full(shape = [2, 3], value = 2.5, dtype = f64)", want=torch.full((2, 3), 2.5, dtype=torch.float64))
    table.case("full(shape = [], value = -3, dtype = i64)", want=tensor(-3, "i64"))
    table.case("full(shape = [0, 4], value = true, dtype = bool)", want=torch.zeros((0, 4), dtype=torch.bool))
    table.case("full(shape = [3], value = 0.1, dtype = bf16)", want=torch.full((3,), 0.1, dtype=torch.bfloat16))
    for dtype in ("i64", "i32", "u8", "f64", "f32", "bf16"):
        counts = torch.arange(300).to(DTYPES[dtype])
        table.case(f"iota(shape = [300], dim = 0, dtype = {dtype})", want=counts)
    table.case("iota(shape = [2, 3, 2], dim = 1)", want=torch.arange(3)[None, :, None].expand(2, 3, 2))
    table.case("iota(shape = [2, 0], dim = -1)", want=torch.zeros((2, 0), dtype=torch.int64))
    x = drawn(3, 5)
    for dtype, want in (("i64", 16), ("f32", 16.0), ("f64", 16.0)):
        table.case(f"size(value = n*m + 1, dtype = {dtype})", x, want=tensor(want, dtype), shapes={"a": "[n, m]"})
    table.case("eye(rows = 3)", want=torch.eye(3))
    table.case("eye(rows = 2, columns = 4, dtype = i64)", want=torch.eye(2, 4, dtype=torch.int64))
    table.case("eye(rows = 3, columns = 2, dtype = bool)", want=torch.eye(3, 2, dtype=torch.bool))
    table.case("eye(rows = 0, columns = 2, dtype = f64)", want=torch.zeros((0, 2), dtype=torch.float64))


def philox(seed, count, offset):
    """The words of elements 0 .. count-1, by the definition of Philox 4x32-10 in Python's integers."""
    words = []
    for block in range((count + 3) // 4):
        c = [block & 0xFFFFFFFF, block >> 32, offset & 0xFFFFFFFF, offset >> 32]
        key = [seed & 0xFFFFFFFF, seed >> 32]
        for _ in range(10):
            p, q = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
            c = [(q >> 32) ^ c[1] ^ key[0], q & 0xFFFFFFFF, (p >> 32) ^ c[3] ^ key[1], p & 0xFFFFFFFF]
            key = [(key[0] + 0x9E3779B9) & 0xFFFFFFFF, (key[1] + 0xBB67AE85) & 0xFFFFFFFF]
        words += c
    return words[:count]


def random(table):
    def scale(t):  # rounded, as PyTorch's
        return torch.tensor(1 / 0.7, dtype=t.dtype)
    for seed, offset in ((0, 0), (7, 3), (2**64 - 5, 2**40)):
        u = [(w >> 8) / 2**24 for w in philox(seed, 16, offset)]
        seed_tensor = tensor(seed, "u64")
        table.case(f"uniform(shape = [3, 5], seed = %a, offset = {offset})", seed_tensor,
                   want=tensor(u[:15], "f32").reshape(3, 5))
        normal = []
        for i in range(0, 16, 2):
            r, angle = math.sqrt(-2 * math.log1p(-u[i])), 2 * math.pi * u[i + 1]
            normal += [r * math.cos(angle), r * math.sin(angle)]
        table.case(f"normal(shape = [15], seed = %a, offset = {offset})", seed_tensor, want=tensor(normal[:15], "f32"))
        x = drawn(3, 5)
        kept = tensor(u[:15]).reshape(3, 5) >= 0.3
        in_types(table, f"dropout(%b, p = 0.3, seed = %a, offset = {offset})",
                 lambda s, t: torch.where(kept, t * scale(t), torch.zeros_like(t)), seed_tensor, x)


def products(table):
    x, w, b = drawn(2, 3, 4), drawn(5, 4), drawn(5)
    in_types(table, "linear(%a, %b)", torch.nn.functional.linear, x, w)
    in_types(table, "linear(%a, %b, %c)", torch.nn.functional.linear, x, w, b)
    in_types(table, "linear(%a, %b, %c)", torch.nn.functional.linear, x[0, 0], w, b)
    in_types(table, "linear(%a, %b, %c)", torch.nn.functional.linear, x[:, :, :0], w[:, :0], b, dtypes=("f64",))
    in_types(table, "matmul(%a, %b)", torch.matmul, drawn(3, 4), drawn(4, 2))
    in_types(table, "matmul(%a, %b)", torch.matmul, drawn(2, 1, 3, 4), drawn(3, 4, 2))
    in_types(table, "matmul(%a, %b)", torch.matmul, drawn(3, 0), drawn(0, 2), dtypes=("f64",))
    for dtype in ("i8", "i32", "i64", "u8"):  # modulo 2^bits
        a, b = (torch.from_numpy(np.arange(12).reshape(shape) * 23 - 7).to(DTYPES[dtype]) for shape in ((3, 4), (4, 3)))
        table.case("matmul(%a, %b)", a, b, want=a @ b)
        table.case("linear(%a, %b)", a, a, want=a @ a.T)
    special = tensor([[INF, 1.0], [NAN, 0.0], [0.0, -0.0]])
    in_types(table, "matmul(%a, %b)", torch.matmul, special, tensor([[1.0, 0.0, -1.0], [2.0, 3.0, INF]]),
             dtypes=("f64",))


def indexing(table):
    x = drawn(4, 3)
    whole = tensor(np.arange(12).reshape(4, 3) - 2**60, "i64")
    index = tensor([[3, 0, 1], [2, 2, 0]], "i64")
    for t in (x, x.to(torch.bfloat16), whole, x > 0):
        table.case("gather(%a, %b, dim = 0)", t, index, want=torch.gather(t, 0, index))
        table.case("gather(%a, %b, dim = 1)", t, index[:, :2] % 3, want=torch.gather(t, 1, index[:, :2] % 3))
        table.case("index_select(%a, %b, dim = 1)", t, tensor([2, 0, 2, 1], "i32"),
                   want=torch.index_select(t, 1, torch.tensor([2, 0, 2, 1])))
        table.case("index_select(%a, %b, dim = 0)", t, index, want=t[index])
        table.case("index_select(%a, %b, dim = 0)", t, tensor(2, "i64"), want=t[2])
        table.case("embedding(%b, %a)", t, index, want=t[index])
        table.case("take_along(%a, %b, dim = 1)", t, tensor([[2], [0], [1], [1]], "i64"),
                   want=torch.take_along_dim(t, tensor([[2], [0], [1], [1]], "i64"), 1))
        table.case("take_along(%a, %b, dim = 0)", t, tensor([[3], [0]], "i64"),
                   want=torch.take_along_dim(t, tensor([[3], [0]], "i64"), 0))
    table.case("take_along(%a, %b, dim = 1)", x[:1], index, want=torch.where(index < 3, x[0][index % 3], NAN))
    outside = tensor([[4, -1, 0]], "i64")
    table.case("gather(%a, %b, dim = 0)", x, outside, want=torch.stack([torch.tensor([NAN, NAN, x[0, 2]])]).double())
    table.case("gather(%a, %b, dim = 0)", whole, outside, want=torch.stack([torch.tensor([0, 0, int(whole[0, 2])])]))
    table.case("gather(%a, %b, dim = 0)", x, index[:0], want=x[:0])
    src = drawn(2, 3)
    in_types(table, "scatter(%a, %b, %c, dim = 0, update = add)", lambda t, i, s: t.scatter_add(0, i, s), x, index, src)
    in_types(table, "scatter(%a, %b, %c, dim = 1, update = add)", lambda t, i, s: t.scatter_add(1, i % 3, s), x,
             index % 3, src)
    in_types(table, "scatter(%a, %b, %c, dim = 0)", lambda t, i, s: t.scatter(0, i, s), x, index, src)
    for update, word in (("max", "amax"), ("min", "amin"), ("mul", "prod")):
        call = f"scatter(%a, %b, %c, dim = 1, update = {update})"
        in_types(table, call, lambda t, i, s: t.scatter_reduce(1, i % 3, s, word), x, index % 3, src)
        table.case(call, whole, index % 3, whole[2:], want=whole.scatter_reduce(1, index % 3, whole[2:], word))
        if update != "mul":
            nan = torch.where(index == 0, NAN, src)
            table.case(call, x, index % 3, nan, want=x.scatter_reduce(1, index % 3, nan, word))
    last = tensor([[3, 0, 1], [3, 0, 0]], "i64")  # the last one of those that meet
    for t, s in ((x, src), (whole, whole[:2]), (x > 0, src > 0)):
        met = t.clone()
        for row in range(2):
            met.scatter_(0, last[row:row + 1], s[row:row + 1])
        table.case("scatter(%a, %b, %c, dim = 0)", t, last, s, want=met)
    table.case("scatter(%a, %b, %c, dim = 0, update = max)", x > 0, last, src > 0,
               want=(x > 0).long().scatter_reduce(0, last, (src > 0).long(), "amax").bool())
    table.case("scatter(%a, %b, %c, dim = 0, update = add)", whole, index, whole[:2],
               want=whole.scatter_add(0, index, whole[:2]))
    table.case("scatter(%a, %b, %c, dim = 0, update = add)", x, tensor([[4, -1, 9]], "i64"), src[:1], want=x)
    table.case("one_hot(%a, classes = 4)", index, want=torch.nn.functional.one_hot(index, 4))
    table.case("one_hot(%a, classes = 3, dtype = f32)", tensor([0, 3, -1, 2], "i32"),
               want=tensor([[1, 0, 0], [0, 0, 0], [0, 0, 0], [0, 0, 1]], "f32"))
    table.case("one_hot(%a, classes = 2, dtype = bool)", tensor(1, "i64"), want=tensor([False, True], "bool"))


def extremum(function, t, dims, keepdim=False):
    return function(t, dim=dims, keepdim=keepdim)


def first_index(t, dims, least):
    """Row-major place among the reduced dims of the first NaN, else of the first extremum."""
    rest = [d for d in range(t.dim()) if d not in dims]
    rows = t.permute(*rest, *dims).reshape([t.shape[d] for d in rest] + [-1])
    values = rows.double().numpy() if t.is_floating_point() else rows.to(torch.int64).numpy()
    return torch.from_numpy(np.asarray((np.argmin if least else np.argmax)(values, axis=-1)))


def reductions(table):
    x = drawn(2, 3, 4)
    special = tensor([[1.0, INF, 2.0], [-INF, INF, 0.0], [NAN, 1.0, 2.0], [-INF, -INF, -INF], [-0.0, -0.0, -0.0]])
    ties = tensor([[1.0, 3.0, 3.0, -2.0, -2.0], [0.0, -0.0, 0.0, -0.0, 0.0]])
    whole = tensor([[2**62, 2**62, 3], [-5, 7, -5]], "i64")
    small = tensor([[200, 100, 3], [0, 7, 255]], "u8")
    mask = tensor([[True, False, True], [False, False, False], [True, True, True]], "bool")
    everything = {"sum": torch.sum, "prod": torch.prod}
    for name, function in everything.items():
        in_types(table, f"{name}(%a)", function, x)
        in_types(table, f"{name}(%a, dims = [1])", lambda t: function(t, dim=1), x)
        in_types(table, f"{name}(%a, dims = [-1], keepdim = true)",
                 lambda t: function(t, dim=-1, keepdim=True), special)
        for t in (whole, small, mask):
            table.case(f"{name}(%a, dims = [1])", t, want=function(t, dim=1))
        table.case(f"{name}(%a, dims = [0])", x[:0, 0], want=function(x[:0, 0], dim=0))
        table.case(f"{name}(%a)", tensor(2.5), want=tensor(2.5))
    in_types(table, "sum(%a, dims = [0, 2])", lambda t: t.sum((0, 2)), x)
    for name, function in (("amax", torch.amax), ("amin", torch.amin)):
        for t in (x[0], special, ties, whole, small, mask, x[0].to(torch.bfloat16)):
            table.case(f"{name}(%a, dims = [1])", t, want=function(t, dim=1))
        in_types(table, f"{name}(%a, dims = [0, 2], keepdim = true)",
                 lambda t: function(t, dim=(0, 2), keepdim=True), x)
        table.case(f"{name}(%a)", tensor(2.5), want=tensor(2.5))
    table.case("amax(%a, dims = [1])", x[0, :, :0], want=torch.full((3,), -INF, dtype=torch.float64))
    table.case("amin(%a, dims = [1])", whole[:, :0], want=torch.full((2,), 2**63 - 1))
    for name, least in (("argmax", False), ("argmin", True)):
        for t in (x[0], special, ties, whole, small, mask):
            table.case(f"{name}(%a, dims = [1])", t, want=first_index(t, [1], least))
        table.case(f"{name}(%a)", x, want=first_index(x, [0, 1, 2], least))
        table.case(f"{name}(%a, dims = [0, 2])", x, want=first_index(x, [0, 2], least))
        table.case(f"{name}(%a, dims = [1])", whole[:, :0], want=torch.zeros(2, dtype=torch.int64))
    for name, function in (("any", torch.any), ("all", torch.all)):
        for t in (special, whole, mask, tensor([[0.0, -0.0], [0.0, 1e-300]])):
            table.case(f"{name}(%a, dims = [1])", t, want=function(t, dim=1))
            table.case(f"{name}(%a)", t, want=function(t))
        table.case(f"{name}(%a, dims = [1], keepdim = true)", mask[:, :0],
                   want=function(mask[:, :0], dim=1, keepdim=True))
    statistics(table, x, special)
    scans(table, x, special, whole, mask)


def statistics(table, x, special):
    far = x + 1e6
    for call, function in (
            ("mean(%a)", torch.mean),
            ("mean(%a, dims = [0, 2], keepdim = true)", lambda t: t.mean((0, 2), keepdim=True)),
            ("var(%a)", torch.var), ("var(%a, dims = [2], correction = 0)", lambda t: t.var(2, correction=0)),
            ("var(%a, dims = [1, 2], keepdim = true)", lambda t: t.var((1, 2), keepdim=True)),
            ("std(%a)", torch.std), ("std(%a, dims = [2], correction = 2)", lambda t: t.std(2, correction=2)),
            ("logsumexp(%a, dims = [2])", lambda t: t.logsumexp(2)),
            ("logsumexp(%a, dims = [0, 1], keepdim = true)", lambda t: t.logsumexp((0, 1), keepdim=True)),
            ("norm(%a)", torch.linalg.vector_norm)):
        in_types(table, call, function, x)
        in_types(table, call, function, far, dtypes=("f64",))
    for call, function in (("mean(%a, dims = [1])", lambda t: t.mean(1)), ("var(%a, dims = [1])", lambda t: t.var(1)),
                           ("logsumexp(%a, dims = [1])", lambda t: t.logsumexp(1))):
        in_types(table, call, function, special)
    none = x[0, :, :0]
    table.case("mean(%a, dims = [1])", none, want=none.mean(1))
    table.case("var(%a, dims = [1])", none, want=none.var(1))
    table.case("var(%a, dims = [1])", x[0, :, :1], want=torch.full((3,), NAN, dtype=torch.float64))
    table.case("std(%a, dims = [1])", none, want=none.std(1))
    table.case("logsumexp(%a, dims = [1])", none, want=none.logsumexp(1))
    for far in ([800.0, 801.0, -800.0], [-800.0, -801.0, -INF]):
        in_types(table, "logsumexp(%a, dims = [0])", lambda t: t.logsumexp(0), tensor(far), dtypes=("f64", "f32"))
    for p in (0, 0.5, 1, 2, 3, -1, -2.5, INF, -INF):
        text = {INF: "inf", -INF: "-inf"}.get(p, str(p))
        in_types(table, f"norm(%a, p = {text}, dims = [1])", lambda t: torch.linalg.vector_norm(t, p, dim=1), x)
        table.case(f"norm(%a, p = {text}, dims = [1])", special, want=torch.linalg.vector_norm(special, p, dim=1))
        if p >= 0 and p != INF:
            table.case(f"norm(%a, p = {text}, dims = [1])", none, want=torch.linalg.vector_norm(none, p, dim=1))


def scans(table, x, special, whole, mask):
    def cumsum(t, dim, exclusive=False, reverse=False):
        t = t.flip(dim) if reverse else t
        out = t.cumsum(dim)
        if exclusive:
            out = torch.cat([torch.zeros_like(out.narrow(dim, 0, 1)), out.narrow(dim, 0, t.shape[dim] - 1)], dim)
        return out.flip(dim) if reverse else out
    for dim in (0, 2):
        in_types(table, f"cumsum(%a, dim = {dim})", lambda t: cumsum(t, dim), x)
    in_types(table, "cumsum(%a, dim = -1, reverse = true)", lambda t: cumsum(t, 2, reverse=True), x)
    in_types(table, "cumsum(%a, dim = 1, exclusive = true)", lambda t: cumsum(t, 1, exclusive=True), x)
    in_types(table, "cumsum(%a, dim = 1, exclusive = true, reverse = true)",
             lambda t: cumsum(t, 1, exclusive=True, reverse=True), x)
    for t in (special, whole, mask):
        table.case("cumsum(%a, dim = 1)", t, want=cumsum(t, 1))
    table.case("cumsum(%a, dim = 1)", whole[:, :0], want=whole[:, :0])
    for dim in (0, 2):
        in_types(table, f"cumprod(%a, dim = {dim})", lambda t: t.cumprod(dim), x)
        in_types(table, f"logcumsumexp(%a, dim = {dim})", lambda t: t.logcumsumexp(dim), x, dtypes=("f64", "f32"))
    in_types(table, "cumprod(%a, dim = 1, reverse = true)", lambda t: t.flip(1).cumprod(1).flip(1), x)
    for t in (special, whole, mask):
        table.case("cumprod(%a, dim = 1)", t, want=t.cumprod(1))
    table.case("logcumsumexp(%a, dim = 1)", special, want=special.logcumsumexp(1))


def several(table):
    """Of ops with several results the call names them; %r is compared."""
    x = torch.tensor([[1.0, -2.5, 4.0, 4.0], [0.5, 8.0, -3.0, NAN], [-1.0, 0.25, 7.0, 1e6]], dtype=torch.float64)
    y = x[::2]
    table.case("%r, _ = var_mean(%a, dims = [1])", y, want=y.mean(1))
    table.case("%m, %r = var_mean(%a, dims = [-1], correction = 0)", y, want=y.var(1, correction=0))
    for name, function in (("max_with_argmax", torch.max), ("min_with_argmin", torch.min)):
        values, places = function(x, 1)
        table.case(f"%r, _ = {name}(%a, dims = [1])", x, want=values)
        table.case(f"_, %r = {name}(%a, dims = [1], keepdim = true)", x, want=places[:, None])
    ties = torch.tensor([[1.0, -0.0, 0.0, NAN, INF, -INF, 1.0, NAN], [2.0, 2.0, -1.0, 2.0, -1.0, 0.0, 5.0, 5.0]],
                        dtype=torch.float64)
    whole = torch.tensor([[3, -1, 3, 7, -1], [0, 0, -2**63, 2**63 - 1, 0]], dtype=torch.int64)
    for t in (ties, whole):
        for name, function in (("cummax", torch.cummax), ("cummin", torch.cummin)):
            values, places = function(t, 1)
            table.case(f"%r, _ = {name}(%a, dim = 1)", t, want=values)
            table.case(f"_, %r = {name}(%a, dim = 1)", t, want=places)
        for descending in (False, True):
            values, places = torch.sort(t, dim=1, descending=descending, stable=True)
            flag = str(descending).lower()
            table.case(f"%r, _ = sort(%a, dim = 1, descending = {flag})", t, want=values)
            table.case(f"_, %r = sort(%a, descending = {flag})", t, want=places)
            table.case(f"argsort(%a, dim = 1, descending = {flag})", t, want=places)
            table.case(f"%r, _ = topk(%a, k = 3, largest = {flag})", t, want=values[:, :3])
            table.case(f"_, %r = topk(%a, k = 3, largest = {flag})", t, want=places[:, :3])
    position = torch.tensor(2)
    table.case("slice_at(%a, %b, dim = 1, size = 3)", ties, position, want=ties[:, 2:5])
    table.case("slice_update(%a, %b, %c, dim = 1)", whole, whole[:, 3:], position,
               want=torch.slice_scatter(whole, whole[:, 3:], 1, 2, 4))
    table.case("slice_update(%a, %b, dim = 0, start = 1)", whole, whole[:1], want=whole[[0, 0]])
    table.case("%r, _ = split(%a, sizes = [1, 3], dim = 1)", x, want=x[:, :1])
    table.case("_, %r, _ = split(%a, sizes = [1, 0, 2])", y.T[:3], want=y.T[1:1])
    table.case("_, %r = split(%a, sizes = [1, 3], dim = -1)", x, want=x[:, 1:])
    out, mean, rstd = torch.native_layer_norm(y, (4,), None, None, 1e-5)
    for place, want in enumerate((out, mean, rstd)):
        names = ", ".join("%r" if at == place else "_" for at in range(3))
        table.case(f"{names} = layer_norm(%a, statistics = true)", y, want=want)
    table.case("_, %r = rms_norm(%a, eps = 0, statistics = true)", y, want=y.square().mean(1, keepdim=True).rsqrt())


def contractions(table):
    def einsum(equation, *operands, **keywords):
        names = ", ".join("%" + "abc"[i] for i in range(len(operands)))
        in_types(table, f'einsum({names}, equation = "{equation}")', lambda *t: torch.einsum(equation, *t), *operands,
                 **keywords)

    heads = drawn(2, 3, 4, 5)
    einsum("ij,jk->ki", drawn(3, 4), drawn(4, 2))
    einsum("bhqd,bhkd->bhqk", heads, drawn(2, 3, 6, 5))
    einsum("bshd,hde->bse", heads, drawn(4, 5, 3))
    einsum("...ij,...jk->...ik", heads, drawn(3, 5, 2))
    einsum("bi,bj->bij", drawn(2, 3), drawn(2, 4))
    einsum("i,i->", drawn(5), drawn(5))
    einsum("ii->i", drawn(4, 4))
    einsum("bii", drawn(2, 3, 3))
    einsum("ba,bc", drawn(3, 2), drawn(3, 4))
    einsum("ij,kj->k", drawn(3, 1), drawn(2, 4))
    einsum("ij,jk->ik", drawn(3, 0), drawn(0, 2), dtypes=("f64",))
    einsum("ij,jk,kl->il", drawn(2, 3), drawn(3, 4), drawn(4, 2), dtypes=("f64", "f32"))
    whole = torch.from_numpy(np.arange(24).reshape(2, 3, 4) * 23 - 7)
    table.case('einsum(%a, %b, equation = "bij,cij->cb")', whole, whole, want=torch.einsum("bij,cij->cb", whole, whole))


def fill(table):
    movement(table)
    creation(table)
    random(table)
    products(table)
    indexing(table)
    reductions(table)
