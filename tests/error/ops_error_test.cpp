// Refusals of every op: a user must be able to mend the graph from the message alone, so it names the op and its
// tensors, what was found, and the remedy.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "base/error.h"
#include "ir/fusion.h"
#include "scalar/pointwise.h"

namespace plait {
namespace {

constexpr const char* kHead = R"(
mesh @m (tp = 3)
fusion @f on @m (%x: f32[a, b], %y: f32[b, a], %v: f32[b], %s: f32[], %c4: f32[n, 4*c, h], %h: bf16[a, b],
  %i: i64[a, b], %j: i64[b], %k: i64[a], %c: bool[a, b], %u: u32[a, b], %one: f32[a, 1, b], %w: f32[4*c], %wb: bf16[b],
  %q: f32[g, s, d], %q3: f32[3, s, d], %kk: f32[2, t, d], %vv: f32[2, t, e], %o: f32[a, 2*b], %seed: u64[],
  %table: f32[100, b], %e5: f32[5, 3], %gate: f32[4, 12]) -> (%x) {
)";

struct Refusal {
  const char* call;    // `%r = <call>`
  const char* what;    // part of the message
  const char* remedy;  // part of the help
};

const Refusal kRefusals[] = {
    // elementwise, by type rule
    {"add(%x)", "add takes 2 operands, found 1", "give that many tensors: add(%x, %y)"},
    {"add(%x, %y)", "extents differ: dim 0 of %y: f32[b, a] is b, dim 0 of %x: f32[a, b] is a", "1 to broadcast"},
    {"add(%c, %c)", "add is not defined on bool; found operands: bool, bool", "cast to an integer or float type"},
    {"mul(%u, %i)", "mul has operands without a common type; found operands: u32, i64", "cast them to one type"},
    {"clamp(%x)", "clamp takes 3 operands, found 1", "give that many tensors: clamp(%x, %y, %z)"},
    {"relu(%c)", "relu is not defined on bool", "cast to an integer or float type first"},
    {"exp(%x, to = f32)", "exp takes no `to`", "only cast names a dtype"},
    {"exp(%x, %x)", "exp takes 1 operand, found 2", "give that many tensors"},
    {"div(%u, %i)", "div has operands without a common type; found operands: u32, i64", "cast them to one type"},
    {"atan2(%x, %q)", "extents differ: dim 1 of %q: f32[g, s, d] is s, dim 0 of %x: f32[a, b] is a", "1 to broadcast"},
    {"hypot(%i, %i)", "hypot is defined on floats only; found operands: i64, i64", "cast to a float type first"},
    {"frac(%c)", "frac is defined on floats only; found operands: bool", "cast to a float type first"},
    {"lerp(%x, %x)", "lerp takes 3 operands, found 2", "give that many tensors"},
    {"gelu(%i)", "gelu is defined on floats only; found operands: i64", "cast to a float type first"},
    {"gelu(%x, approx = fast)", "`fast` is no approximation of gelu", "known: none, tanh"},
    {"lt(%u, %i)", "lt has operands without a common type; found operands: u32, i64", "cast them to one type first"},
    {"eq(%x)", "eq takes 2 operands, found 1", "give that many tensors"},
    {"ge(%x, %y)", "extents differ: dim 0 of %y: f32[b, a] is b, dim 0 of %x: f32[a, b] is a", "1 to broadcast"},
    {"isnan(%x, %x)", "isnan takes 1 operand, found 2", "give that many tensors"},
    {"isinf()", "isinf takes 1 operand, found 0", "give that many tensors: isinf(%x)"},
    {"signbit(%x, to = bool)", "signbit takes no `to`", "only cast names a dtype"},
    {"logical_not(%x, %c)", "logical_not takes 1 operand, found 2", "give that many tensors"},
    {"logical_and(%c)", "logical_and takes 2 operands, found 1", "give that many tensors: logical_and(%x, %y)"},
    {"logical_or(%c, %y)", "extents differ: dim 0 of %y: f32[b, a] is b, dim 0 of %c: bool[a, b] is a", "to broadcast"},
    {"bitwise_and(%x, %x)", "bitwise_and is defined on integers and bool only; found operands: f32, f32",
     "cast to an integer type first"},
    {"bitwise_or(%i, %x)", "bitwise_or is defined on integers and bool only; found operands: i64, f32",
     "cast to an integer type first"},
    {"bitwise_not(%h)", "bitwise_not is defined on integers and bool only; found operands: bf16",
     "cast to an integer type first"},
    {"bitwise_xor(%u, %i)", "bitwise_xor has operands without a common type", "cast them to one type first"},
    {"shift_left(%c, %c)", "shift_left is defined on integers only; found operands: bool, bool",
     "cast to an integer type first"},
    {"shift_right(%x, %i)", "shift_right is defined on integers only; found operands: f32, i64",
     "cast to an integer type first"},
    {"shift_left(%i)", "shift_left takes 2 operands, found 1", "give that many tensors"},
    {"where(%x, %x, %x)", "where needs a bool condition; found operands: f32, f32, f32", "compare first"},
    {"where(%c, %u, %i)", "where has operands without a common type; found operands: bool, u32, i64",
     "cast them to one type first"},
    {"where(%c, %x)", "where takes 3 operands, found 2", "give that many tensors: where(%x, %y, %z)"},
    {"cast(%x)", "cast needs its result dtype", "cast(%x, to = f32)"},
    {"cast(%x, to = f33)", "`f33` is no dtype", "f32"},
    {"cast(%x, %y, to = f32)", "cast takes 1 operand, found 2", "give that many tensors: cast(%x, to = f32)"},
    // from nothing
    {"full(value = 1, dtype = f32)", "full lacks `shape`", "write shape = [b, 4], or shape = []"},
    {"full(shape = [a], value = 1.5, dtype = i64)", "`1.5` is no i64 constant", "write a whole number in its range"},
    {"full(shape = [-2], value = 1, dtype = f32)", "extent -2 is negative", "extents are at least 0"},
    {"full(shape = [a], value = 1)", "full lacks `dtype`", "value = 0, dtype = f32"},
    {"iota(shape = [a])", "iota lacks `dim`", "write dim = 0, or dim = -1 for the last"},
    {"iota(shape = [a], dim = 1)", "there is no dim 1", "dims are -1 to 0"},
    {"iota(shape = [], dim = 0)", "there is no dim 0", "the tensor has no dims"},
    {"iota(shape = [a], dim = 0, dtype = bool)", "bool is no number", "name another dtype"},
    {"iota(dim = 0)", "iota lacks `shape`", "shape"},
    {"iota(shape = [4611686018427387904, 4], dim = 0)", "has more than 2^63 - 1 bytes", "use smaller extents"},
    {"size(dtype = i64)", "size lacks `value`", "write "},
    {"size(value = a, dtype = u32)", "a size as u32", "signed or float dtype"},
    {"size(value = a, dtype = bool)", "a size as bool", "signed or float dtype"},
    {"uniform(shape = [a])", "uniform lacks its operand `seed`", "seed = %seed"},
    {"uniform(shape = [a], seed = %x)", "the seed is %x: f32[a, b]", "a seed is u64[]: declare"},
    {"uniform(shape = [a], seed = %seed, offset = -1)", "-1 is out of range", "expected an offset, 0 to"},
    {"normal(shape = [a])", "normal lacks its operand `seed`", "seed = %seed"},
    {"normal(shape = [a], seed = %i)", "the seed is %i: i64[a, b]", "a seed is u64[]"},
    {"normal(seed = %seed)", "normal lacks `shape`", "shape"},
    {"eye(dtype = f32)", "eye lacks `rows`", "write "},
    {"eye(rows = -1)", "rows is negative: -1", "at least 0"},
    {"eye(rows = a, dtype = f31)", "`f31` is no dtype", "f32"},
    // products
    {"linear(%x, %y)", "contracted extents differ: dim 1 of %x: f32[a, b] is b, dim 1 of %y: f32[b, a] is a", "equal"},
    {"linear(%x)", "linear lacks its operand `w`", "give the tensor"},
    {"linear(%c, %c)", "%c: bool[a, b] has no products to add", "cast it first"},
    {"matmul(%x, %x)", "contracted extents differ", "make them equal"},
    {"matmul(%v, %y)", "%v: f32[b] has 1 dim", "a[..., m, k] and b[..., k, n]"},
    {"matmul(%x, %h)", "dtypes differ: %x: f32[a, b] and %h: bf16[a, b]", "cast one of them"},
    // reductions
    {"sum(%x, dims = [2])", "there is no dim 2 of %x: f32[a, b]", "dims are -2 to 1"},
    {"sum(%x, dims = [0, -2])", "dim 0 is named twice", "name each dim once"},
    {"sum(%x, %y)", "sum takes 1 tensor, found 2", "drop the others"},
    {"prod(%s, dims = [0])", "there is no dim 0", "the tensor has no dims"},
    {"prod(%x, dims = [-3])", "there is no dim -3", "dims are -2 to 1"},
    {"prod(%x, dim = 1)", "prod has no attribute `dim`", "did you mean `dims`?"},
    {"amax(%x, dims = [1, 1])", "dim 1 is named twice", "once"},
    {"amax()", "amax lacks its operand `in`", "give the tensor"},
    {"amax(%x, axis = [1])", "amax has no attribute `axis`", "did you mean `dims`?"},
    {"amin(%x, dims = [5])", "there is no dim 5", "dims are -2 to 1"},
    {"amin(%x, %y)", "amin takes 1 tensor, found 2", "drop the others"},
    {"amin(%x, dims = 1)", "found `1`", "expected `[` before a list, e.g. [0, 1]"},
    {"argmax(%x, dims = [7])", "there is no dim 7", "dims are -2 to 1"},
    {"argmax(%x, keepdims = true)", "argmax has no attribute `keepdims`", "did you mean `keepdim`?"},
    {"argmax()", "argmax lacks its operand `in`", "give the tensor"},
    {"argmin(%x, dims = [-9])", "there is no dim -9", "dims are -2 to 1"},
    {"argmin(%zz)", "%zz is not defined", ""},
    {"argmin(%x, keepdim = yes)", "found `yes`", "expected `false`"},
    {"any(%x, dims = [2])", "there is no dim 2 of %x: f32[a, b]", "dims are -2 to 1"},
    {"any()", "any lacks its operand `in`", "give the tensor"},
    {"any(%x, %y)", "any takes 1 tensor, found 2", "drop the others"},
    {"all(%x, dims = [2])", "there is no dim 2 of %x: f32[a, b]", "dims are -2 to 1"},
    {"all()", "all lacks its operand `in`", "give the tensor"},
    {"all(%x, dims = [0, 0])", "dim 0 is named twice", "once"},
    {"mean(%i)", "%i: i64[a, b] is not floating-point", "cast it first, e.g. cast(%i, to = f32)"},
    {"mean(%x, dims = [3])", "there is no dim 3", "dims are -2 to 1"},
    {"mean(%x, dims = [1.5])", "`1.5` is no whole number", "write e.g. 1 or -1"},
    {"var(%i)", "%i: i64[a, b] is not floating-point", "cast it first"},
    {"var(%x, correction = -1)", "correction is -1", "0 or more"},
    {"var(%x, dims = [3])", "there is no dim 3", "dims are -2 to 1"},
    {"std(%c)", "%c: bool[a, b] is not floating-point", "cast it first"},
    {"std(%x, correction = -2)", "correction is -2", "0 or more"},
    {"std(%x, dims = [0, 0])", "dim 0 is named twice", "once"},
    {"var_mean(%i)", "var_mean has 2 results, named are 1", "name each result"},
    {"%r, %r2 = var_mean(%i)", "%i: i64[a, b] is not floating-point", "cast it first"},
    {"%r, _ = var_mean(%x, correction = -1)", "correction is -1", "0 or more"},
    {"%r, _, _ = max_with_argmax(%x)", "max_with_argmax has 2 results, named are 3", "name each result"},
    {"%r, _ = max_with_argmax(%x, dims = [2])", "there is no dim 2", "dims are -2 to 1"},
    {"%r, _ = max_with_argmax()", "max_with_argmax lacks its operand `in`", "give the tensor"},
    {"%r, _ = min_with_argmin(%x, dims = [0, 0])", "dim 0 is named twice", "once"},
    {"%r, _ = min_with_argmin(%x, dims = [-3])", "there is no dim -3", "dims are -2 to 1"},
    {"min_with_argmin(%x)", "min_with_argmin has 2 results, named are 1", "`_` where nothing reads it"},
    {"%r, _ = split(%x, sizes = [1, b], dim = 1)", "the parts have b + 1 elements of the b of dim 1", "add up"},
    {"%r, _ = split(%x, sizes = [a])", "split has 1 result, named are 2", "name each result"},
    {"split(%x, sizes = [])", "split into no parts", "size of each part"},
    {"%r, _ = split(%x, dim = 1)", "split lacks `sizes`", "sizes = [b, 4]"},
    {"%r, _ = layer_norm(%x, statistics = true)", "layer_norm has 3 results, named are 2", "name each result"},
    {"logsumexp(%i, dims = [0])", "%i: i64[a, b] is not floating-point", "cast it first"},
    {"logsumexp(%x, dims = [2])", "there is no dim 2 of %x: f32[a, b]", "dims are -2 to 1"},
    {"logsumexp()", "logsumexp lacks its operand `in`", "give the tensor"},
    {"norm(%x, p = nan)", "p is nan", "inf or -inf"},
    {"norm(%i)", "%i: i64[a, b] is not floating-point", "cast it first"},
    {"norm(%x, dims = [2])", "there is no dim 2 of %x: f32[a, b]", "dims are -2 to 1"},
    {"cumsum(%x, dim = 2)", "there is no dim 2 of %x: f32[a, b]", "dims are -2 to 1"},
    {"cumsum(%s, dim = 0)", "there is no dim 0", "the tensor has no dims"},
    {"cumsum(%x, exclusive = true)", "cumsum lacks `dim`", "write dim = 0, or dim = -1 for the last"},
    {"cumsum(%x, dims = [0])", "cumsum has no attribute `dims`", "did you mean `dim`?"},
    {"cumprod(%x, dim = -3)", "there is no dim -3 of %x: f32[a, b]", "dims are -2 to 1"},
    {"cumprod(%s, dim = 0)", "there is no dim 0", "the tensor has no dims"},
    {"cumprod(%x)", "cumprod lacks `dim`", "write dim = 0, or dim = -1 for the last"},
    {"logcumsumexp(%i, dim = 0)", "%i: i64[a, b] is not floating-point", "cast it first"},
    {"logcumsumexp(%x, dim = 2)", "there is no dim 2 of %x: f32[a, b]", "dims are -2 to 1"},
    {"logcumsumexp(%x)", "logcumsumexp lacks `dim`", "write dim = 0, or dim = -1 for the last"},
    {"cummax(%x, dim = 0)", "cummax has 2 results, named are 1", "name each result"},
    {"%r, _ = cummax(%x, dim = 2)", "there is no dim 2 of %x: f32[a, b]", "dims are -2 to 1"},
    {"%r, _ = cummax(%s, dim = 0)", "there is no dim 0", "the tensor has no dims"},
    {"cummin(%x, dim = 0)", "cummin has 2 results, named are 1", "name each result"},
    {"%r, _ = cummin(%x, dim = -3)", "there is no dim -3 of %x: f32[a, b]", "dims are -2 to 1"},
    {"%r, _ = cummin(%x)", "cummin lacks `dim`", "write dim = 0, or dim = -1 for the last"},
    {"sort(%x)", "sort has 2 results, named are 1", "name each result"},
    {"%r, _ = sort(%x, dim = 2)", "there is no dim 2 of %x: f32[a, b]", "dims are -2 to 1"},
    {"%r, _ = sort(%s)", "there is no dim -1", "the tensor has no dims"},
    {"argsort(%x, dim = -3)", "there is no dim -3 of %x: f32[a, b]", "dims are -2 to 1"},
    {"argsort(%s)", "there is no dim -1", "the tensor has no dims"},
    {"argsort()", "argsort lacks its operand `in`", "give the tensor"},
    {"%r, _ = topk(%x, k = -1, dim = 0)", "k is negative: -1", "at least 0"},
    {"%r, _ = topk(%x, k = 1, dim = 2)", "there is no dim 2 of %x: f32[a, b]", "dims are -2 to 1"},
    {"%r, _ = topk(%x)", "topk lacks `k`", "write"},
    {"slice_at(%x, %x, dim = 0, size = 1)", "%x: f32[a, b] is no index", "cast it"},
    {"slice_at(%x, %i, dim = 0, size = 1)", "%i: i64[a, b]", "a position is one integer"},
    {"slice_at(%x, %k, dim = 2, size = 1)", "there is no dim 2 of %x: f32[a, b]", "dims are -2 to 1"},
    {"slice_update(%x, %v, dim = 0)", "%v: f32[b]", "as many dims"},
    {"slice_update(%x, %i, dim = 0)", "%i: i64[a, b]", "cast"},
    {"slice_update(%x, %x, dim = 0, start = 1)", "places 1 to a + 1 of dim 0 of %x: f32[a, b]", "lies within 0 to a"},
    // moves
    {"permute(%x, dims = [0])", "1 dims for %x: f32[a, b]", "name every dim once"},
    {"permute(%x, dims = [0, 0])", "dim 0 is named twice", "name each dim once"},
    {"permute(%x, dims = [0, 2])", "there is no dim 2 of %x: f32[a, b]", "dims are -2 to 1"},
    {"broadcast(%v, shape = [a, b], dims = [0])", "dim 0 of %v: f32[b] meets dim 0 of extent a", "1 to broadcast"},
    {"broadcast(%x, shape = [a, b], dims = [1, 0])", "dim 0 stands after dim 1", "increasing order"},
    {"broadcast(%x, shape = [a, b, 2], dims = [0])", "1 dims for %x: f32[a, b]", "which dim of the result"},
    {"squeeze(%x, dims = [0])", "dim 0 of %x: f32[a, b] is a", "only dims of extent 1 can go"},
    {"squeeze(%one, dims = [3])", "there is no dim 3", "dims are -3 to 2"},
    {"squeeze(%one, dims = [1, 1])", "dim 1 is named twice", "once"},
    {"unsqueeze(%x, dims = [4])", "there is no dim 4 of a result of 3 dims", "dims are -3 to 2"},
    {"unsqueeze(%x, dims = [0, 0])", "dim 0 is named twice", "once"},
    {"unsqueeze(%x)", "unsqueeze lacks `dims`", "write dims = [1]"},
    {"unsqueeze()", "unsqueeze lacks its operand `in`", "give the tensor"},
    {"reshape(%e5, shape = [4, 4])", "%e5: f32[5, 3] has 15 elements, the new shape 16", "equally many elements"},
    {"reshape(%x, shape = [-1, -1])", "two extents of the new shape are -1", "leave one open"},
    {"reshape(%x, shape = [-1, 4])", "not known to divide by 4", "f32[4*n]"},
    {"reshape(%x, shape = [c])", "not known to be as many", "f32[4*n]"},
    {"slice(%x, dim = 2)", "there is no dim 2 of %x: f32[a, b]", "dims are -2 to 1"},
    {"slice(%x, stop = 2)", "slice lacks `dim`", "write dim = 0, or dim = -1 for the last"},
    {"slice(%x, dim = 0, step = 0)", "step is 0", "at least 1"},
    {"slice(%x, dim = 0, step = -1)", "step is -1", "flip first"},
    {"pad(%x, low = [1])", "1 low and 2 high widths for %x: f32[a, b]", "one width for every dim"},
    {"pad(%x, low = [-1, 0])", "extent -1 is negative", "at least 0"},
    {"pad(%x, low = [0, 0], value = x)", "`x` is no number", "write e.g. 0.1"},
    {"cat(%x, %y, dim = 0)", "extents differ: dim 1 of %x: f32[a, b] is b, dim 1 of %y: f32[b, a] is a",
     "only the extents"},
    {"cat(%x, %h, dim = 0)", "dtypes differ: %x: f32[a, b] and %h: bf16[a, b]", "cast one of them"},
    {"cat(%x, %v, dim = 0)", "%v: f32[b] has 1 dim", "the tensors of cat have as many dims each"},
    {"cat(dim = 0)", "cat of nothing", "at least one tensor"},
    {"einsum(%x, %y)", "einsum lacks `equation`", "write equation = \"ij,jk->ik\""},
    {"einsum(equation = \"->\")", "einsum of nothing", "at least one tensor"},
    {"einsum(%x, %y, equation = \"ij->j\")", "the equation `ij->j` is of 1 tensor, found 2", "a comma between two"},
    {"einsum(%x, %v, equation = \"ijk,k\")", "%x: f32[a, b] has 2 dims, the equation `ijk,k->ij` gives it 3 labels",
     "or `...` for those without"},
    {"einsum(%x, %v, equation = \"i,...i->i\")", "gives it 1 label", "one label for each dim"},
    {"einsum(%x, equation = \"i1\")", "`i1` of the equation `i1->i` is no list of labels", "letters a-z and A-Z"},
    {"einsum(%x, equation = \"......\")", "`......` of the equation", "may stand once"},
    {"einsum(%x, equation = \"ij-ji\")", "`ij-ji` is no equation", "write e.g."},
    {"einsum(%x, equation = \"ij->jj\")", "label `j` stands twice in the result of `ij->jj`", "once"},
    {"einsum(%x, equation = \"ij->k\")", "no operand has the label `k` of the result", "labels of operands"},
    {"einsum(%x, equation = \"...j->j\")", "the result of `...j->j` leaves out the dims of `...`", "write `...`"},
    {"einsum(%x, equation = \"ii\")", "extents of label `i` differ: dim 0 of %x: f32[a, b] is a, dim 1 of %x",
     "make them equal"},
    {"einsum(%x, %v, equation = \"ij,i->j\")", "extents of label `i` differ: dim 0 of %x: f32[a, b] is a, dim 0 of %v",
     "or 1 to broadcast"},
    {"einsum(%x, %h, equation = \"ij,ij\")", "dtypes differ", "cast one of them"},
    {"einsum(%c, equation = \"ij\")", "%c: bool[a, b] has no products to add", "cast it first"},
    {"einsum(%x, equation = ij)", "found `ij`", "expected a text in quotes"},
    {"einsum(%x, equation = \"ij", "`\"` is never closed", "on the same line"},
    {"stack(%x, %y, dim = 0)", "extents differ", "one shape"},
    {"stack(%x, %x, dim = 3)", "there is no dim 3", "dims are -3 to 2"},
    {"stack(dim = 0)", "stack of nothing", "at least one tensor"},
    {"flip(%x, dims = [2])", "there is no dim 2 of %x: f32[a, b]", "dims are -2 to 1"},
    {"flip(%x, dims = [0, 0])", "dim 0 is named twice", "once"},
    {"flip(%x)", "flip lacks `dims`", "write dims = [1]"},
    {"flip(%x, %y, dims = [0])", "flip takes 1 tensor, found 2", "drop the others"},
    {"roll(%x, shifts = [1, 2], dims = [0])", "2 shifts for 1 dims", "one shift for every dim"},
    {"roll(%x, dims = [1])", "roll lacks `shifts`", "write shifts = [1]"},
    {"roll(%x, shifts = [1], dims = [2])", "there is no dim 2 of %x: f32[a, b]", "dims are -2 to 1"},
    {"roll(%x, shifts = [1, 1], dims = [0, 0])", "dim 0 is named twice", "once"},
    {"repeat(%x, repeats = [2])", "1 repeats for %x: f32[a, b]", "one number for every dim"},
    {"repeat(%x, repeats = [-1, 2])", "-1 repeats of dim 0", "at least 0 times"},
    {"repeat(%x, repeat = [1, 2])", "repeat has no attribute `repeat`", "did you mean `repeats`?"},
    {"bitcast(%x, to = f64)", "%x: f32[a, b] has elements of 4 bytes, f64 of 8", "same size"},
    {"bitcast(%x)", "bitcast lacks `to`", "write to = f32"},
    {"bitcast(%c, to = bool)", "bits of %c: bool[a, b] as bool", "compare"},
    {"bitcast(%h, to = f32)", "%h: bf16[a, b] has elements of 2 bytes, f32 of 4", "same size"},
    {"expand(%x, shape = [b])", "%x: f32[a, b] has more dims than the 1", "at least 2 extents"},
    {"expand(%x, shape = [a, a])", "dim 1 of %x: f32[a, b] meets extent a", "1 to broadcast"},
    {"expand(%x)", "expand lacks `shape`", "shape"},
    {"set()", "set lacks its operand `in`", "give the tensor"},
    {"set(%x, %x)", "set takes 1 tensor, found 2", "drop the others"},
    {"set(%nowhere)", "%nowhere is not defined", ""},
    {"tril(%v)", "%v: f32[b] has 1 dim", "a matrix or a stack of them"},
    {"tril(%x, k = 1)", "tril has no attribute `k`", "known: diagonal"},
    {"tril(%x, diagonal = 0.5)", "`0.5` is no whole number", "1 or -1"},
    {"triu(%s)", "%s: f32[] has 0 dims", "a matrix or a stack of them"},
    {"triu(%x, %y)", "triu takes 1 tensor, found 2", "drop the others"},
    {"triu()", "triu lacks its operand `in`", "give the tensor"},
    // indices
    {"gather(%x, %x, dim = 0)", "%x: f32[a, b] is no index", "an index is i32 or i64"},
    {"gather(%x, %i)", "gather lacks `dim`", "write dim = 0, or dim = -1 for the last"},
    {"gather(%x, %j, dim = 0)", "%j: i64[b] has 1 dim", "index and operand of gather have as many dims"},
    {"gather(%x, %i, dim = 0, bounds = clamp)", "`clamp` says nothing about bounds", "known: check, assume"},
    {"gather(%x, %i, dim = 0, global = [9])", "the index has 2 dims, global 1 and start 0",
     "for every dim, or neither"},
    {"embedding(%i, %table, bounds = 1)", "found `1`", "what to do about indices outside"},
    {"gather(%y, %i, dim = 0)", "extents differ: dim 1 of %i: i64[a, b] is b, dim 1 of %y: f32[b, a] is a",
     "no longer"},
    {"take_along(%y, %i, dim = 0)", "extents differ", "1 to broadcast"},
    {"take_along(%x, %i)", "take_along lacks `dim`", "write dim = 0, or dim = -1 for the last"},
    {"take_along(%x, %x, dim = 0)", "%x: f32[a, b] is no index", "i32 or i64"},
    {"take_along(%x, %i, dim = 2)", "there is no dim 2 of %x: f32[a, b]", "dims are -2 to 1"},
    {"index_select(%x, %x, dim = 0)", "%x: f32[a, b] is no index", "i32 or i64"},
    {"index_select(%x, %j)", "index_select lacks `dim`", "write dim = 0, or dim = -1 for the last"},
    {"index_select(%x, %j, dim = 2)", "there is no dim 2 of %x: f32[a, b]", "dims are -2 to 1"},
    {"index_select(%x)", "index_select lacks its operand `index`", "give the tensor"},
    {"embedding(%table, %i)", "%table: f32[100, b] is no index", "i32 or i64"},
    {"embedding(%i, %v)", "%v: f32[b] has 1 dim", "a table is [entries, width]"},
    {"embedding(%i)", "embedding lacks its operand `table`", "give the tensor"},
    {"scatter(%x, %i, %h, dim = 0, update = add)", "dtypes differ: %x: f32[a, b] and %h: bf16[a, b]",
     "cast one of them"},
    {"scatter(%x, %i, %x, update = add)", "scatter lacks `dim`", "write dim = 0, or dim = -1 for the last"},
    {"scatter(%x, %i, %y, dim = 0, update = add)", "extents differ", "index and src have one shape"},
    {"scatter(%c, %i, %c, dim = 0, update = add)", "%c: bool[a, b] cannot be added to", "cast it first"},
    {"scatter(%c, %i, %c, dim = 0, update = mul)", "%c: bool[a, b] cannot be multiplied", "update = min"},
    {"scatter(%x, %i, %x, dim = 0, update = mean)", "`mean` is no update of a scatter", "set, add, max, min, mul"},
    {"one_hot(%x, classes = 4)", "%x: f32[a, b] is no index", "i32 or i64"},
    {"one_hot(%i)", "one_hot lacks `classes`", "write "},
    {"one_hot(%i, classes = -4)", "classes is negative: -4", "at least 0"},
    // layers
    {"dropout(%x, seed = %seed)", "dropout lacks `p`", "write p = 0.1"},
    {"dropout(%x, p = 1, seed = %seed)", "p is 1", "0 <= p < 1"},
    {"dropout(%i, p = 0.5, seed = %seed)", "%i: i64[a, b] is not floating-point", "cast it first"},
    {"softmax(%i, dim = 0)", "%i: i64[a, b] is not floating-point", "cast it first"},
    {"softmax(%x)", "softmax lacks `dim`", "write dim = 0, or dim = -1 for the last"},
    {"softmax(%x, dim = 2)", "there is no dim 2 of %x: f32[a, b]", "dims are -2 to 1"},
    {"softmax(%x, axis = 1)", "softmax has no attribute `axis`", "did you mean `dim`?"},
    {"log_softmax(%c, dim = 0)", "%c: bool[a, b] is not floating-point", "cast it first"},
    {"log_softmax(%x)", "log_softmax lacks `dim`", "write dim = 0, or dim = -1 for the last"},
    {"log_softmax(%s, dim = 0)", "there is no dim 0", "the tensor has no dims"},
    {"log_softmax()", "log_softmax lacks its operand `in`", "give the tensor"},
    {"layer_norm(%x, %x)", "%x: f32[a, b] has 2 dims", "the shape of the normalised dims"},
    {"layer_norm(%x, dims = 3)", "dims is 3 for %x: f32[a, b]", "1 to all dims"},
    {"layer_norm(%x, %v, %v, eps = -1)", "eps is -1", "from 0"},
    {"layer_norm(%x, %wb)", "dtypes differ: %x: f32[a, b] and %wb: bf16[b]", "cast one of them"},
    {"rms_norm(%x, %w)", "extents differ: dim 1 of %x: f32[a, b] is b, dim 0 of %w: f32[4*c] is 4*c",
     "normalised dims"},
    {"rms_norm(%i)", "%i: i64[a, b] is not floating-point", "cast it first"},
    {"rms_norm(%x, dims = 0)", "dims is 0 for %x: f32[a, b]", "1 to all dims"},
    {"group_norm(%c4, groups = 3)", "4*c channels of %c4: f32[n, 4*c, h] do not divide into 3 groups", "f32[n, 8*c]"},
    {"group_norm(%c4)", "group_norm lacks `groups`", "write groups = 2"},
    {"group_norm(%v, groups = 1)", "%v: f32[b] has 1 dim", "x[n, channels, ...]"},
    {"group_norm(%c4, %v, groups = 2)", "extents differ", "one weight for every channel"},
    {"batch_norm(%c4, mean = %w)", "one of mean and var is given", "both (inference) or neither (training)"},
    {"batch_norm(%v)", "%v: f32[b] has 1 dim", "x[n, channels, ...]"},
    {"batch_norm(%c4, %v)", "extents differ", "one weight for every channel"},
    {"cross_entropy(%x, %x)", "%x: f32[a, b] is no index", "i32 or i64"},
    {"cross_entropy(%x, %j)", "extents differ: dim 0 of %x: f32[a, b] is a, dim 0 of %j: i64[b] is b",
     "without classes"},
    {"cross_entropy(%x, %k, smoothing = 2)", "smoothing is 2", "0 to 1"},
    {"cross_entropy(%x, %k, reduction = average)", "`average` is no reduction", "known: mean, sum, none"},
    {"mse(%x, %y)", "extents differ", "one shape"},
    {"mse(%x, %h)", "dtypes differ: %x: f32[a, b] and %h: bf16[a, b]", "cast one of them"},
    {"mse(%i, %i)", "%i: i64[a, b] is not floating-point", "cast it first"},
    {"swiglu(%x, %y)", "extents differ", "gate and up have one shape"},
    {"swiglu(%x)", "swiglu lacks its operand `up`", "give the tensor"},
    {"swiglu(%x, %h)", "dtypes differ: %x: f32[a, b] and %h: bf16[a, b]", "cast one of them"},
    {"rope(%x, %v, %v)", "the last dim of %x: f32[a, b] is not known to be even", "f32[s, 2*d]"},
    {"rope(%o, %h, %h)", "dtypes differ: %o: f32[a, 2*b] and %h: bf16[a, b]", "cast one of them"},
    {"rope(%o, %q, %q)", "%q: f32[g, s, d] has 3 dims", "tables broadcast to the operand"},
    {"scaled_dot_product_attention(%x, %x, %x)", "%x: f32[a, b] has 2 dims", "q[..., h, s, d]"},
    {"scaled_dot_product_attention(%q3, %kk, %vv)", "3 query heads of %q3: f32[3, s, d] are not a multiple of 2 key",
     "multiple of key heads"},
    {"scaled_dot_product_attention(%q, %kk, %vv)",
     "g query heads of %q: f32[g, s, d] are not known to be a multiple of 2 key heads", "e.g. q[b, 4*g, s, d]"},
    {"scaled_dot_product_attention(%q3, %q, %q)",
     "3 query heads of %q3: f32[3, s, d] are not known to be a multiple of g key heads of %q",
     "q[b, 4*g, s, d] or q[b, n*g, s, d]"},
    {"scaled_dot_product_attention(%kk, %vv, %vv)",
     "extents differ: dim 2 of %kk: f32[2, t, d] is d, dim 2 of %vv: f32[2, t, e] is e", "q and k have one head width"},
    {"scaled_dot_product_attention(%kk, %kk, %vv, scale = inf)", "scale is inf", "a finite number"},
    {"scaled_dot_product_attention(%kk, %kk, %vv, mask = %x)", "dim 0 of the mask %x: f32[a, b] meets extent t",
     "broadcasts"},
    // between ranks
    {"reshard()", "reshard lacks its operand `in`", "give the tensor"},
    {"reshard(%x, axis = tp)", "reshard has no attribute `axis`", "takes none: write reshard(%in)"},
    {"reshard(%x, %y)", "reshard takes 1 tensor, found 2", "drop the others"},
    {"all_reduce(%x, team = dp)", "dp", "tp"},
    {"all_reduce(%x, team = [tp, tp])", "mesh axis `tp` is named twice", "name it once"},
    {"all_reduce(%x, team = [])", "found `]`", "expected a mesh axis"},
    {"all_reduce(%x)", "all_reduce lacks `team`", "write team = tp, an axis of the mesh"},
    {"all_reduce(%c, team = tp)", "%c: bool[a, b] cannot be reduced", "cast it first"},
    {"all_reduce(%x, team = tp, reduce = avg)", "avg", "sum"},
    {"all_gather(%gate, team = tp, outer = 4, count = 12, total = 36, inner = 1)", "needs the type of its result",
     "%y: f32"},
    {"all_gather(%gate, team = tp, count = 12, total = 36, inner = 1)", "all_gather lacks `outer`", "write "},
    {"all_gather(%gate, team = pp, outer = 4, count = 12, total = 36, inner = 1)", "pp", "tp"},
    {"all_to_all(%gate, team = tp, outer = 1, count = 4, total = 12, middle = 1, scattered = 12, scattered_total = 12, "
     "inner = 1)",
     "needs the type of its result", "%y: f32"},
    {"all_to_all(%gate, team = tp, outer = 1, count = 4, total = 12, middle = 1, scattered = 12, inner = 1)",
     "all_to_all lacks `scattered_total`", "write "},
    {"all_to_all(%gate, team = pp, outer = 1, count = 4, total = 12, middle = 1, scattered = 12, scattered_total = 12, "
     "inner = 1)",
     "pp", "tp"},
    {"gather_range(%gate, team = tp, outer = 4, count = 4, total = 12, inner = 1, start = 0, taken = 5)",
     "needs the type of its result", "%y: f32"},
    {"gather_range(%gate, team = tp, outer = 4, count = 4, total = 12, inner = 1, start = 0)",
     "gather_range lacks `taken`", "write "},
    {"gather_range(%gate, team = pp, outer = 4, count = 4, total = 12, inner = 1, start = 0, taken = 5)", "pp", "tp"},
    {"reshard(%x, step = all_gather)", "a step of a reshard has no team", "give team = "},
    {"reshard(%x, team = tp)", "a reshard has a team and no step", "give step = "},
    {"reshard(%x, step = gather)", "`gather` is no step of a reshard", "write a collective, or slice"},
    {"gather_block(%gate, team = tp, outer = 1, middle = 1, inner = 1, totals = [4, 12], held = [0, 4, 0, 4], wanted = "
     "[0, 2, 0, 12])",
     "needs the type of its result", "%y: f32"},
    {"gather_block(%gate, team = tp, outer = 1, middle = 1, inner = 1, totals = [4, 12], held = [0, 4])",
     "gather_block lacks `wanted`", "write "},
    {"gather_block(%gate, team = tp, outer = 1, middle = 1, inner = 1, totals = [4], held = [0, 4], wanted = [0, 4])",
     "totals, held and wanted have 1, 2 and 2 numbers", "give two, four and four"},
    {"reduce_scatter(%gate, team = tp, outer = 4, count = 4, total = 12, inner = 1)", "needs the type of its result",
     "%y"},
    {"reduce_scatter(%gate, team = tp, outer = 4, count = 4, inner = 1)", "reduce_scatter lacks `total`",
     "write total = "},
    {"reduce_scatter(team = tp)", "reduce_scatter lacks its operand `in`", "give the tensor"},
    {"local_slice(%gate, outer = 4, start = 0, count = 4, total = 12, inner = 1)", "needs the type of its result",
     "%y"},
    {"local_slice(%gate, outer = 4, count = 4, total = 12, inner = 1)", "local_slice lacks `start`", "write "},
    {"local_slice(outer = 4, start = 0, count = 4, total = 12, inner = 1)", "local_slice lacks its operand `in`",
     "tensor"},
};

// Of an op with several results the call names them.
std::string op_of(const char* text) {
  std::string call = text;
  if (call[0] == '%') call.erase(0, call.find('=') + 2);
  return call.substr(0, call.find('('));
}

// A refusal that points at no single word names the op and all tensors of the call.
void expect_names_tensors(const std::string& call, const UserError& e) {
  if (e.where().find(": ") == std::string::npos) return;
  EXPECT_NE(e.where().find(": " + op_of(call.c_str())), std::string::npos) << e.what();
  const std::string text = e.message() + " " + e.where();
  for (size_t at = call.find('%', call.find('(')); at != std::string::npos; at = call.find('%', at + 1)) {
    const std::string tensor = call.substr(at, call.find_first_of(",)", at) - at);
    EXPECT_NE(text.find(tensor), std::string::npos) << tensor << "\n" << e.what();
  }
}

TEST(OpRefusals, SayWhatIsWrongAndTheRemedy) {
  for (const Refusal& r : kRefusals) {
    try {
      parse_fusion(fmt::format("{}  {}{}\n}}\n", kHead, r.call[0] == '%' ? "" : "%r = ", r.call),
                   {.file = "bad.plait"});
      ADD_FAILURE() << "accepted: " << r.call;
    } catch (const UserError& e) {
      EXPECT_NE(e.message().find(r.what), std::string::npos) << r.call << "\n" << e.what();
      EXPECT_NE(e.remedy().find(r.remedy), std::string::npos) << r.call << "\n" << e.what();
      EXPECT_EQ(e.where().rfind("bad.plait:", 0), 0u) << r.call << "\n" << e.what();
      expect_names_tensors(r.call, e);
      EXPECT_FALSE(e.remedy().empty()) << r.call << "\n" << e.what();
    }
  }
}

TEST(OpRefusals, EveryOpHasThree) {
  std::map<std::string, int> count;
  for (const Refusal& r : kRefusals) ++count[op_of(r.call)];
  std::set<std::string> ops;
#define PLAIT_OP(Name, text, properties) ops.insert(#text);
#include "ir/ops.def"
#undef PLAIT_OP
#define X(name) ops.insert(#name);
#include "ir/reductions.def"
#undef X
  ops.erase("pointwise");  // by type rule below
  ops.erase("reduce");     // by its rows
  for (const std::string& op : ops) EXPECT_GE(count[op], 3) << op;
}

// Pointwise ops of one type rule are refused alike.
TEST(OpRefusals, EveryTypeRuleHasThree) {
  std::map<TypeRule, std::set<std::string>> refused;
  for (const Refusal& r : kRefusals) {
    const std::string op = op_of(r.call);
    if (const auto function = parse_pointwise(op == "gelu" ? "gelu_erf" : op))
      refused[info(*function).type_rule].insert(r.call);
  }
  for (int i = 0; i < kPointwiseCount; ++i) {
    const Pointwise op = Pointwise(i);
    EXPECT_GE(refused[info(op).type_rule].size(), 3u) << "the type rule of " << name(op);
  }
}

}  // namespace
}  // namespace plait
