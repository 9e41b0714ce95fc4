#pragma once
// Texts of fusions that mutations start from: every construct of the grammar stands in one of them.
#include <array>
#include <string_view>

namespace plait::test {

inline constexpr std::array<std::string_view, 8> kTextCorpus = {
    R"(
let T = f8e4m3
fusion @dtypes (%x: T[4], %a: i8[4], %b: i16[4], %c: i32[4], %d: u8[4], %e: u16[4], %f: f8e5m2[4]) -> (%y, %z, %w) {
  %k = full(shape = [], value = -128, dtype = i8)
  %h = full(shape = [], value = 0.1, dtype = f8e4m3)
  %s = add(%a, %k)
  %t = add(%s, %d)
  %u = mul(%t, %b)
  %y = sub(%u, %c)
  %q = mul(%x, %h)
  %z = cast(%q, to = f8e5m2)
  %v = max(%z, %f)
  %o = cast(%v, to = u16)
  %w = max(%o, %e)
}
)",
    R"(
let b = 4, n = 6, T = bf16
mesh @m (dp = 2, tp = t)
fusion @all on @m (
  %x: T[b, 2*n] {0: [dp, tp granule 2]},
  %i: i64[b],
  param %w: T[n, 2*n] {0: tp} stored {0: [tp, dp]},
  param %v: T[n] {} allocation (0),
  %seed: u64[]
) -> (%y {0: dp}, %k) {
  %h = linear(%x, %w, %v)          # a comment
  %c: f32[b, n] {1: [local 2, tp]} = cast(%h, to = f32)
  %g = gelu(%c)
  %q = gelu(%g, approx = tanh)
  %half = full(shape = [], value = 0.5, dtype = f32)
  %big = full(shape = [b, n], value = -inf, dtype = f32)
  %u = uniform(shape = [b, n], seed = %seed, offset = 3)
  %m = ge(%u, %half)
  %s = where(%m, %q, %big)
  %d = dropout(%s, p = 0.25, seed = %seed, offset = 7)
  %mm: f32[b, n] {} = linear(%x, %w, accumulate = true)
  %y = add(%d, %mm)
  %k = add(%i, %i)
}
)",
    R"(
fusion @f (%x: f32[8, n], %e: f32[0]) -> (%z) {
  segment @s1 (%x) -> (%y, %y2) schedule pointwise(vector = 8, unroll = 2) {
    %y: f32[8, n] loops (merge(0), split(0, 8), parallel(1, vectorize), reorder(1, 0)) = exp(%x)
    %y2: f32[8, n] allocation (1, 0) = silu(%y)
  }
  segment @s2 (%y, %y2) -> (%z) schedule library {
    %z: f32[8, n] = add(%y, %y2)
  }
}
)",
    R"(
fusion @f (%x: f32[3, 8, n], %v: f32[n, 4]) -> (%z, %x) {
  segment @s1 (%x, %v) -> (%y) schedule nest(vector = 4) {
    %y: f32[3, 8, 4] loops (split(3, 16), reorder(0, 1, 3, 2, 4)) = matmul(%x, %v)
  }
  segment @s2 (%y) -> (%z) {
    %t: f32[3, 8, 4] = neg(%y)
    %z = max(%t, %y)
  }
}
)",
    R"(
mesh @m (tp = 3, dp = 2)
fusion @local on @m (%x: f32[4, chunk(12, 3, rank.tp)]) -> (%g, %a, %l) {
  %g: f32[4, 12] = all_gather(%x, team = tp, outer = 4, count = chunk(12, 3, rank.tp), total = 12, inner = 1)
  %r: f32[4, chunk(12, 3, rank.tp)] = reduce_scatter(%g, team = tp, reduce = sum, outer = 4, count = chunk(12, 3, rank.tp), total = 12, inner = 1)
  %e: f32[chunk(4, 3, rank.tp), 12] = all_to_all(%r, team = tp, outer = 1, count = chunk(12, 3, rank.tp), total = 12, middle = 1, scattered = chunk(4, 3, rank.tp), scattered_total = 4, inner = 1, scattered_first = true)
  %h: f32[4, chunk(12, 3, rank.tp)] = gather_range(%r, team = tp, outer = 4, count = chunk(12, 3, rank.tp), total = 12, inner = 1, start = chunk_start(12, 3, rank.tp), taken = chunk(12, 3, rank.tp))
  %b: f32[chunk(4, 3, rank.tp), 12] = gather_block(%r, team = tp, outer = 1, middle = 1, inner = 1, totals = [4, 12], held = [0, 4, chunk_start(12, 3, rank.tp), chunk(12, 3, rank.tp)], wanted = [chunk_start(4, 3, rank.tp), chunk(4, 3, rank.tp), 0, 12])
  %a = all_reduce(%r, team = tp, reduce = max)
  %l: f32[4, chunk(12, 3, rank.tp)] = local_slice(%g, outer = 4, start = chunk_start(12, 3, rank.tp), count = chunk(12, 3, rank.tp), total = 12, inner = 1)
}
)",
    R"(
let s = 128
mesh @m (a = 2, b = 2)
fusion @sharded on @m (
  %x: f32[s, floordiv(s + 3, 4), max(s, 7) - min(s, 3)] {0: [a, b]},
  %seed: u64[]
) -> (%w) {
  %p: f32[s, floordiv(s + 3, 4), max(s, 7) - min(s, 3)] {} partial(a: sum, b: max) = abs(%x)
  %q: f32[s, floordiv(s + 3, 4), max(s, 7) - min(s, 3)] {2: [local 2, a granule 64]} = reshard(%p)
  %u = uniform(shape = [s, 4], seed = %seed, global = [2*s, 8], start = [s*rank.a, 4*rank.b])
  %w = sub(%q, %q)
}
)",
    R"(
let n = 4, c = 6
fusion @ops (
  %x: f32[n, c], %y: bf16[3, n, 4], %i: i64[n, c], %j: i32[5], %k: i64[n], %v: f32[c], %table: f32[9, c], %seed: u64[]
) -> (%sum, %repeat, %bits, %scatter, %drawn, %axis, %total, %tall) {
  %sum = sum(%x, dims = [0, -1], keepdim = true)
  %prod = prod(%x, dims = [1])
  %high = amax(%x)
  %low = amin(%y, dims = [2])
  %at = argmax(%x, dims = [1])
  %first = argmin(%i)
  %var = var(%x, dims = [0], correction = 0)
  %running: f32[n, c] = cumsum(%x, dim = 1, exclusive = true, reverse = true)
  %powers = cumprod(%x, dim = 0, reverse = true)
  %lcse = logcumsumexp(%x, dim = 1)
  %top, %topat = cummax(%x, dim = 1)
  %bottom, _ = cummin(%i, dim = 0)
  %ordered, %order = sort(%x, dim = 0, descending = true)
  %turned = permute(%y, dims = [2, 0, 1])
  %wide = broadcast(%v, shape = [n, c], dims = [1])
  %long = unsqueeze(%v, dims = [0, 2])
  %short = squeeze(%long, dims = [0])
  %flat = reshape(%running, shape = [c, n])
  %tall = reshape(%y, shape = [-1])
  %part = slice(%x, dim = 1, start = 1, stop = -1, step = 2)
  %padded = pad(%x, low = [1, 0], high = [0, 2], value = -inf)
  %joined = cat(%x, %wide, %running, dim = 0)
  %back = flip(%joined, dims = [0, 1])
  %rolled = roll(%x, shifts = [1, -2], dims = [0, 1])
  %repeat = repeat(%back, repeats = [2, 1, 3])
  %bits = bitcast(%rolled, to = u32)
  %taken = gather(%x, %i, dim = 1)
  %chosen = index_select(%x, %j, dim = 0)
  %written = scatter(%x, %i, %taken, dim = 1)
  %scatter = scatter(%written, %i, %taken, dim = 1, update = add)
  %drawn = normal(shape = [n, 2], seed = %seed, offset = 5)
  %axis = iota(shape = [n, c], dim = 1, dtype = i32)
  %total = size(value = n*c, dtype = f32)
}
)",
    R"(
let n = 4, c = 6
given n: 2 in 2..64, c: 1 in 1.. below 2*n
fusion @composites (
  %x: f32[n, c], %u: f32[2, n, 2*c], %i: i64[n, c], %k: i64[n], %v: f32[c], %table: f32[9, c], %q: bf16[4, n, c],
  %kv: bf16[2, n, c], %mask: bool[n, n], %pos: i64[], %cos: f32[n, 2*c], %six: f32[n, 6, 2]
) -> (%copy, %stacked, %spread, %one, %lower, %upper, %rows, %along, %hot, %mean, %std, %any, %all, %lse, %norm, %soft,
      %logs, %layer, %rms, %group, %batch, %loss, %mse, %gated, %roped, %seen) {
  %copy = set(%x)
  %outer = einsum(%x, %copy, %v, equation = "...c, nd, d -> ...dc")
  %stacked = stack(%x, %copy, dim = 1)
  %part, _ = split(%stacked, sizes = [1, 1], dim = 1)
  %spread = expand(%v, shape = [n, -1])
  %one = eye(rows = n, columns = c, dtype = f64)
  %lower = tril(%x, diagonal = -1)
  %upper = triu(%x, diagonal = 2)
  %rows = embedding(%k, %table)
  %along = take_along(%x, %i, dim = 1)
  %hot = one_hot(%k, classes = 9, dtype = f32)
  %mean = mean(%x, dims = [1], keepdim = true)
  %std = std(%x, dims = [0], correction = 0)
  %vm, %vv = var_mean(%x, dims = [1])
  %mv, _ = max_with_argmax(%x, dims = [0])
  _, %np = min_with_argmin(%x)
  %args = argsort(%x, dim = 0, descending = true)
  %best, %which = topk(%table, k = 3, dim = 0, largest = false)
  %somewhere = slice_at(%x, %pos, dim = 1, size = 2, bounds = assume)
  %patched = slice_update(%x, %somewhere, %pos, dim = 1)
  %patched1 = slice_update(%x, %somewhere, dim = 1, start = 1)
  %any = any(%i)
  %all = all(%i, dims = [1])
  %lse = logsumexp(%x, dims = [1])
  %norm = norm(%x, p = inf, dims = [0])
  %soft = softmax(%x, dim = 1)
  %logs = log_softmax(%x, dim = 0)
  %layer = layer_norm(%x, %v, %v, dims = 1, eps = 0.001)
  %rms = rms_norm(%x, %v, dims = 1)
  %group = group_norm(%six, groups = 3)
  %batch = batch_norm(%x, %v, %v, mean = %v, var = %v)
  %loss = cross_entropy(%x, %k, ignore_index = -100, smoothing = 0.1, reduction = sum)
  %mse = mse(%x, %copy, reduction = none)
  %gated = swiglu(%x, %copy)
  %roped = rope(%u, %cos, %cos, interleaved = true)
  %seen = scaled_dot_product_attention(%q, %kv, %kv, mask = %mask, causal = true, scale = 0.5)
}
)",
};

}  // namespace plait::test
