#include "support/norm_cases.h"

#include <span>

namespace plait::test {

namespace {

struct Rows {
  const char *name, *inputs, *names, *outputs, *body;
  bool floats_only = true;
  int64_t most = INT64_MAX;
};

const Rows kRows[] = {
    {"softmax", "%x: T[b, n]", "%x", "%y", R"(
    %w: W[b, n] = cast(%x, to = W)
    %m: W[b, 1] = amax(%w, dims = [1], keepdim = true)
    %c: W[b, n] = sub(%w, %m)
    %e: W[b, n] = exp(%c)
    %s: W[b, 1] = sum(%e, dims = [1], keepdim = true)
    %q: W[b, n] = div(%e, %s)
    %y: T[b, n] = cast(%q, to = T))"},
    {"log_softmax", "%x: T[b, n]", "%x", "%y, %l", R"(
    %m: T[b, 1] = amax(%x, dims = [1], keepdim = true)
    %c: T[b, n] = sub(%x, %m)
    %e: T[b, n] = exp(%c)
    %s: T[b, 1] = sum(%e, dims = [1], keepdim = true)
    %l: T[b, 1] = log(%s)
    %y: T[b, n] = sub(%c, %l))"},
    {"layer_norm", "%x: T[b, n], %g: T[n], %h: T[n]", "%x, %g, %h", "%y, %mean, %rstd", R"(
    %w: W[b, n] = cast(%x, to = W)
    %gw: W[n] = cast(%g, to = W)
    %hw: W[n] = cast(%h, to = W)
    %sum: W[b, 1] = sum(%w, dims = [1], keepdim = true)
    %cnt: W[] = size(value = n, dtype = W)
    %mean: W[b, 1] = div(%sum, %cnt)
    %c: W[b, n] = sub(%w, %mean)
    %q: W[b, n] = square(%c)
    %sq: W[b, 1] = sum(%q, dims = [1], keepdim = true)
    %var: W[b, 1] = div(%sq, %cnt)
    %eps: W[] = full(shape = [], value = 1e-05, dtype = W)
    %ve: W[b, 1] = add(%var, %eps)
    %root: W[b, 1] = sqrt(%ve)
    %rstd: W[b, 1] = reciprocal(%root)
    %u: W[b, n] = mul(%c, %rstd)
    %a: W[b, n] = mul(%u, %gw)
    %d: W[b, n] = add(%a, %hw)
    %y: T[b, n] = cast(%d, to = T))"},
    {"rms_norm_of_tanh", "%x: T[a, b, n]", "%x", "%y, %g", R"(
    %g: T[a, b, n] = tanh(%x)
    %q: T[a, b, n] = square(%g)
    %s: T[a, b, 1] = sum(%q, dims = [2], keepdim = true)
    %one: T[] = full(shape = [], value = 1, dtype = T)
    %p: T[a, b, 1] = add(%s, %one)
    %r: T[a, b, 1] = rsqrt(%p)
    %y: T[a, b, n] = mul(%g, %r))"},
    {"statistics", "%x: T[b, n]", "%x", "%mean, %var, %y", R"(
    %mean: T[b, 1], %var: T[b, 1] = var_mean(%x, dims = [1], keepdim = true, correction = 0)
    %c: T[b, n] = sub(%x, %mean)
    %y: T[b, n] = mul(%c, %var))"},
    {"variance_alone", "%x: T[b, n]", "%x", "%v", R"(
    %v: T[b] = var(%x, dims = [1], correction = 0))"},
    {"greatest_and_where", "%x: T[b, n]", "%x", "%m, %i, %s", R"(
    %m: T[b], %i: i64[b] = max_with_argmax(%x, dims = [1])
    %s: T[b], %j: i64[b] = min_with_argmin(%x, dims = [1]))",
     false},
    {"norm_of_two_dims", "%x: T[a, b, n]", "%x", "%y", R"(
    %q: T[a, b, n] = square(%x)
    %s: T[a, 1, 1] = sum(%q, dims = [1, 2], keepdim = true)
    %r: T[a, 1, 1] = sqrt(%s)
    %one: T[] = full(shape = [], value = 1, dtype = T)
    %p: T[a, 1, 1] = add(%r, %one)
    %y: T[a, b, n] = div(%x, %p))"},
    {"dims_apart", "%x: T[a, b, n], %w: T[b]", "%x, %w", "%y, %s", R"(
    %s: T[1, b, 1] = sum(%x, dims = [0, 2], keepdim = true)
    %u: T[b, 1] = unsqueeze(%w, dims = [1])
    %t: T[1, b, 1] = mul(%s, %u)
    %y: T[a, b, n] = sub(%x, %t))"},
    {"several_of_two", "%x: T[b, n], %z: T[b, n]", "%x, %z", "%s, %p, %q, %l, %k", R"(
    %s: T[b] = sum(%x, dims = [1])
    %p: T[b] = amax(%x, dims = [1])
    %t: T[b, n] = mul(%x, %z)
    %q: T[b] = sum(%t, dims = [1])
    %l: T[b] = amin(%z, dims = [1])
    %k: i64[b] = argmin(%t, dims = [1]))"},
    {"log_sum_exp", "%x: T[b, n]", "%x", "%y", R"(
    %m: T[b, 1] = amax(%x, dims = [1], keepdim = true)
    %c: T[b, n] = sub(%x, %m)
    %e: T[b, n] = exp(%c)
    %s: T[b, 1] = sum(%e, dims = [1], keepdim = true)
    %l: T[b, 1] = log(%s)
    %k: T[b, 1] = add(%l, %m)
    %y: T[b] = squeeze(%k, dims = [1]))"},
    {"everything", "%x: T[b, n]", "%x", "%s, %y", R"(
    %s: T[] = sum(%x, dims = [0, 1])
    %y: T[b, n] = sub(%x, %s))"},
    {"products_and_views", "%x: T[b, n], %v: T[n, b]", "%x, %v", "%p, %y", R"(
    %t: T[b, n] = permute(%v, dims = [1, 0])
    %d: T[b, n] = sub(%x, %t)
    %p: T[b, 1] = prod(%d, dims = [1], keepdim = true)
    %f: T[b, n] = flip(%x, dims = [1])
    %y: T[b, n] = mul(%f, %p))",
     true, 70},
    {"numbers_of_the_row", "%x: T[b, n]", "%x", "%y, %s", R"(
    %i: W[b, n] = iota(shape = [b, n], dim = 1, dtype = W)
    %w: W[b, n] = cast(%x, to = W)
    %m: W[b, n] = mul(%w, %i)
    %s: W[b, 1] = sum(%m, dims = [1], keepdim = true)
    %d: W[b, n] = sub(%m, %s)
    %y: T[b, n] = cast(%d, to = T))",
     true, 200},
    {"columns", "%x: T[b, n], %w: T[b]", "%x, %w", "%y, %mean, %m, %i", R"(
    %u: T[b, 1] = unsqueeze(%w, dims = [1])
    %t: T[b, n] = mul(%x, %u)
    %mean: T[1, n], %var: T[1, n] = var_mean(%t, dims = [0], keepdim = true, correction = 0)
    %c: T[b, n] = sub(%t, %mean)
    %y: T[b, n] = mul(%c, %var)
    %m: T[1, n], %i: i64[1, n] = max_with_argmax(%x, dims = [0], keepdim = true))"},
    {"columns_between", "%x: T[a, b, n]", "%x", "%s, %y", R"(
    %s: T[a, 1, n] = sum(%x, dims = [1], keepdim = true)
    %y: T[a, b, n] = sub(%x, %s))"},
    {"softmax_of_dims_apart", "%x: T[n, 3, b]", "%x", "%y, %z", R"(
    %e: T[n, 3, b] = exp(%x)
    %s: T[1, 3, 1] = sum(%e, dims = [0, 2], keepdim = true)
    %y: T[n, 3, b] = div(%e, %s)
    %g: T[n, 3, b] = tanh(%e)
    %t: T[1, 3, 1] = sum(%g, dims = [0, 2], keepdim = true)
    %z: T[n, 3, b] = mul(%g, %t))",
     true, 70},
};

const Rows kScans[] = {
    {"sum_of_products", "%x: T[b, n], %w: T[n]", "%x, %w", "%y", R"(
    %t: T[b, n] = mul(%x, %w)
    %c: T[b, n] = cumsum(%t, dim = 1)
    %y: T[b, n] = tanh(%c))"},
    {"likely_ones", "%x: T[b, n]", "%x", "%y, %c", R"(
    %w: W[b, n] = cast(%x, to = W)
    %m: W[b, 1] = amax(%w, dims = [1], keepdim = true)
    %d: W[b, n] = sub(%w, %m)
    %e: W[b, n] = exp(%d)
    %s: W[b, 1] = sum(%e, dims = [1], keepdim = true)
    %p: W[b, n] = div(%e, %s)
    %c: W[b, n] = cumsum(%p, dim = 1, exclusive = true)
    %q: W[b, n] = mul(%c, %p)
    %y: T[b, n] = cast(%q, to = T))"},
    {"normalised_from_the_end", "%x: T[a, b, n]", "%x", "%y, %s", R"(
    %c: T[a, b, n] = cumsum(%x, dim = 2, reverse = true)
    %s: T[a, b, 1] = sum(%c, dims = [2], keepdim = true)
    %y: T[a, b, n] = sub(%c, %s))",
     true, 500},
    {"scan_of_a_scan", "%x: T[b, n]", "%x", "%y, %z", R"(
    %c: T[b, n] = cumsum(%x, dim = 1)
    %t: T[b, n] = tanh(%c)
    %y: T[b, n] = cumsum(%c, dim = 1, exclusive = true)
    %z: T[b, n] = cumsum(%t, dim = 1))",
     true, 500},
    {"products", "%x: T[b, n]", "%x", "%y, %z", R"(
    %t: T[b, n] = tanh(%x)
    %y: T[b, n] = cumprod(%t, dim = 1, reverse = true, exclusive = true)
    %z: T[b, n] = add(%y, %x))"},
    {"extrema_and_where", "%x: T[b, n]", "%x", "%g, %i, %y, %j", R"(
    %g: T[b, n], %i: i64[b, n] = cummax(%x, dim = 1)
    %l: T[b, n], %j: i64[b, n] = cummin(%x, dim = 1)
    %y: T[b, n] = sub(%g, %l))",
     false},
    {"log_of_sums", "%x: T[b, n]", "%x", "%y", R"(
    %c: T[b, n] = logcumsumexp(%x, dim = 1)
    %y: T[b, n] = sub(%c, %x))"},
    {"moving_means", "%x: T[b, n]", "%x", "%y", R"(
    %c: T[b, n] = cumsum(%x, dim = 1)
    %p: T[b, n + 3] = pad(%c, low = [0, 3], high = [0, 0])
    %q: T[b, n] = slice(%p, dim = 1, start = 0, stop = n)
    %y: T[b, n] = sub(%c, %q))",
     true, 16384},
    {"turned", "%x: T[a, b, n]", "%x", "%y, %s", R"(
    %c: T[a, b, n] = cumsum(%x, dim = 2, reverse = true)
    %f: T[a, b, n] = flip(%c, dims = [2])
    %t: T[a, b, n] = mul(%f, %x)
    %s: T[a, b, 1] = sum(%t, dims = [2], keepdim = true)
    %y: T[a, b, n] = sub(%c, %s))",
     true, 500},
    {"columns", "%x: T[b, n], %w: T[b]", "%x, %w", "%y, %s, %i", R"(
    %u: T[b, 1] = unsqueeze(%w, dims = [1])
    %t: T[b, n] = mul(%x, %u)
    %c: T[b, n] = cumsum(%t, dim = 0)
    %s: T[1, n] = sum(%c, dims = [0], keepdim = true)
    %y: T[b, n] = sub(%c, %s)
    %g: T[b, n], %i: i64[b, n] = cummax(%x, dim = 0))"},
    {"columns_between", "%x: T[a, b, n]", "%x", "%y", R"(
    %c: T[a, b, n] = cumsum(%x, dim = 1, reverse = true, exclusive = true)
    %y: T[a, b, n] = mul(%c, %x))"},
};

std::vector<NormCase> texts(std::span<const Rows> rows, const std::string& numbers) {
  std::vector<NormCase> out;
  for (const Rows& r : rows) {
    const std::string results = std::string("(") + r.outputs + ")";
    const std::string text = "let a = 3, b = 7, n = 100, T = f32, W = f32\nfusion @f (" + std::string(r.inputs) +
                             ") -> " + results + " {\n  segment @s1 (" + r.names + ") -> " + results +
                             " schedule norm(" + numbers + ") {" + r.body + "\n  }\n}\n";
    out.push_back({r.name, text, r.floats_only, r.most});
  }
  return out;
}

}  // namespace

std::vector<NormCase> norm_cases(const std::string& numbers) { return texts(kRows, numbers); }

std::vector<NormCase> scan_cases(const std::string& numbers) { return texts(kScans, numbers); }

}  // namespace plait::test
