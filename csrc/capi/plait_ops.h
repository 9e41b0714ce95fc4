/* A function for every op, over plait_fusion_op (plait_c.h). Written by tools/make_c_ops.py from the schema of the ops
   and the words of docs/ops.md, which have more of each.

   `names` are those of the results, "y" or "mean, var", NULL: named after the op. Operands are names of tensors, "x";
   those of pointwise ops may be numbers, "0.5". Attributes are values; those that may be left out are pointers, sizes
   and dtypes are words: "768", "b", "f32". What may be left out stands behind "May be NULL": NULL, and a count of 0,
   leave it out. An operand is not left out where a later one is given: a bias needs a weight. `result`, where not NULL,
   gets the names. Errors are those of plait_fusion_statement(). */
/* clang-format off */
#ifndef PLAIT_OPS_H
#define PLAIT_OPS_H

#include <stdbool.h>

#include "plait_c.h"

#ifdef __cplusplus
extern "C" {
#endif

static inline plait_argument plait_tensor_argument(const char* name, const char* value) {
  const plait_argument out = {name, PLAIT_ARGUMENT_TENSOR, 0, 0, value, NULL, NULL, 0};
  return out;
}
static inline plait_argument plait_tensors_argument(const char* name, const char* const* values, size_t count) {
  const plait_argument out = {name, PLAIT_ARGUMENT_TENSORS, 0, 0, NULL, NULL, values, count};
  return out;
}
static inline plait_argument plait_integer_argument(const char* name, int64_t value) {
  const plait_argument out = {name, PLAIT_ARGUMENT_INTEGER, value, 0, NULL, NULL, NULL, 0};
  return out;
}
static inline plait_argument plait_integers_argument(const char* name, const int64_t* values, size_t count) {
  const plait_argument out = {name, PLAIT_ARGUMENT_INTEGERS, 0, 0, NULL, values, NULL, count};
  return out;
}
static inline plait_argument plait_number_argument(const char* name, double value) {
  const plait_argument out = {name, PLAIT_ARGUMENT_NUMBER, 0, value, NULL, NULL, NULL, 0};
  return out;
}
static inline plait_argument plait_flag_argument(const char* name, bool value) {
  const plait_argument out = {name, PLAIT_ARGUMENT_FLAG, value ? 1 : 0, 0, NULL, NULL, NULL, 0};
  return out;
}
static inline plait_argument plait_word_argument(const char* name, const char* value) {
  const plait_argument out = {name, PLAIT_ARGUMENT_WORD, 0, 0, value, NULL, NULL, 0};
  return out;
}
static inline plait_argument plait_words_argument(const char* name, const char* const* values, size_t count) {
  const plait_argument out = {name, PLAIT_ARGUMENT_WORDS, 0, 0, NULL, NULL, values, count};
  return out;
}
static inline plait_argument plait_string_argument(const char* name, const char* value) {
  const plait_argument out = {name, PLAIT_ARGUMENT_STRING, 0, 0, value, NULL, NULL, 0};
  return out;
}

/* x (1 + erf(x / sqrt(2))) / 2. approx = tanh: x / (1 + exp(-2 u)), u = sqrt(2 / pi) (x + 0.044715 x^3). Left out:
   approx = none. May be NULL: approx. */
static inline plait_error* plait_op_gelu(plait_fusion* fusion, const char* names, const char* x, const char* approx,
    plait_text** result) {
  plait_argument plait_given[2];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  if (approx != NULL) plait_given[plait_count++] = plait_word_argument("approx", approx);
  return plait_fusion_op(fusion, "gelu", names, plait_given, plait_count, result);
}

/* out = value everywhere. shape may be empty (0-dim), the way constants enter a graph. */
static inline plait_error* plait_op_full(plait_fusion* fusion, const char* names, const char* const* shape,
    size_t shape_count, double value, const char* dtype, plait_text** result) {
  plait_argument plait_given[3];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_words_argument("shape", shape, shape_count);
  plait_given[plait_count++] = plait_number_argument("value", value);
  plait_given[plait_count++] = plait_word_argument("dtype", dtype);
  return plait_fusion_op(fusion, "full", names, plait_given, plait_count, result);
}

/* plait_op_full of an integer, exactly; one beyond int64_t is a word of plait_fusion_op. */
static inline plait_error* plait_op_full_integer(plait_fusion* fusion, const char* names, const char* const* shape,
    size_t shape_count, int64_t value, const char* dtype, plait_text** result) {
  plait_argument plait_given[3];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_words_argument("shape", shape, shape_count);
  plait_given[plait_count++] = plait_integer_argument("value", value);
  plait_given[plait_count++] = plait_word_argument("dtype", dtype);
  return plait_fusion_op(fusion, "full", names, plait_given, plait_count, result);
}

/* out[i...] = i[dim], in dtype: integers modulo 2^bits, floats rounded. Left out: dtype = i64. May be NULL: dtype. */
static inline plait_error* plait_op_iota(plait_fusion* fusion, const char* names, const char* const* shape,
    size_t shape_count, int64_t dim, const char* dtype, plait_text** result) {
  plait_argument plait_given[3];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_words_argument("shape", shape, shape_count);
  plait_given[plait_count++] = plait_integer_argument("dim", dim);
  if (dtype != NULL) plait_given[plait_count++] = plait_word_argument("dtype", dtype);
  return plait_fusion_op(fusion, "iota", names, plait_given, plait_count, result);
}

/* out = value, 0-dim: an expression over sizes as a tensor. bool and unsigned dtypes are refused. Left out: dtype
   = i64. May be NULL: dtype. */
static inline plait_error* plait_op_size(plait_fusion* fusion, const char* names, const char* value,
    const char* dtype, plait_text** result) {
  plait_argument plait_given[2];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_word_argument("value", value);
  if (dtype != NULL) plait_given[plait_count++] = plait_word_argument("dtype", dtype);
  return plait_fusion_op(fusion, "size", names, plait_given, plait_count, result);
}

/* out[i...] = uniform_f32(seed, global linear index, offset), f32. May be NULL: offset. */
static inline plait_error* plait_op_uniform(plait_fusion* fusion, const char* names, const char* const* shape,
    size_t shape_count, const char* seed, const int64_t* offset, plait_text** result) {
  plait_argument plait_given[3];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_words_argument("shape", shape, shape_count);
  plait_given[plait_count++] = plait_tensor_argument("seed", seed);
  if (offset != NULL) plait_given[plait_count++] = plait_integer_argument("offset", *offset);
  return plait_fusion_op(fusion, "uniform", names, plait_given, plait_count, result);
}

/* out[i...] = normal(seed, global linear index, offset), f32 by Box-Muller (scalar/philox.h). Otherwise as
   Uniform. May be NULL: offset. */
static inline plait_error* plait_op_normal(plait_fusion* fusion, const char* names, const char* const* shape,
    size_t shape_count, const char* seed, const int64_t* offset, plait_text** result) {
  plait_argument plait_given[3];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_words_argument("shape", shape, shape_count);
  plait_given[plait_count++] = plait_tensor_argument("seed", seed);
  if (offset != NULL) plait_given[plait_count++] = plait_integer_argument("offset", *offset);
  return plait_fusion_op(fusion, "normal", names, plait_given, plait_count, result);
}

/* out[..., n] = sum_k x[..., k] * w[n, k] + b[n]. Accumulates in accumulation_type, of integers modulo 2^bits of
   their type. An empty sum is 0. May be NULL: b. */
static inline plait_error* plait_op_linear(plait_fusion* fusion, const char* names, const char* x, const char* w,
    const char* b, plait_text** result) {
  plait_argument plait_given[3];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  plait_given[plait_count++] = plait_tensor_argument(NULL, w);
  if (b != NULL) plait_given[plait_count++] = plait_tensor_argument(NULL, b);
  return plait_fusion_op(fusion, "linear", names, plait_given, plait_count, result);
}

/* out[..., m, n] = sum_k a[..., m, k] * b[..., k, n]; leading dims broadcast. At least 2 dims. Otherwise as
   Linear. */
static inline plait_error* plait_op_matmul(plait_fusion* fusion, const char* names, const char* a, const char* b,
    plait_text** result) {
  plait_argument plait_given[2];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, a);
  plait_given[plait_count++] = plait_tensor_argument(NULL, b);
  return plait_fusion_op(fusion, "matmul", names, plait_given, plait_count, result);
}

/* out = sum (x - mean)^2 / (n - correction) over dims, one pass in accumulation_type (Welford), rounded once.
   Fewer than correction + 1 elements: NaN, as 0 / 0, or an infinity. A NaN or an infinity among them: NaN. Left
   out: correction = 1, keepdim = false. May be NULL: dims, correction, keepdim. */
static inline plait_error* plait_op_var(plait_fusion* fusion, const char* names, const char* x, const int64_t* dims,
    size_t dims_count, const int64_t* correction, const bool* keepdim, plait_text** result) {
  plait_argument plait_given[4];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  if (dims != NULL || dims_count != 0) plait_given[plait_count++] = plait_integers_argument("dims", dims, dims_count);
  if (correction != NULL) plait_given[plait_count++] = plait_integer_argument("correction", *correction);
  if (keepdim != NULL) plait_given[plait_count++] = plait_flag_argument("keepdim", *keepdim);
  return plait_fusion_op(fusion, "var", names, plait_given, plait_count, result);
}

/* mean and var over dims (all where none are given): the mean is the sum in accumulation_type over the number of
   elements, the variance as Var; each rounded once. Results: mean, var. Left out: correction = 1, keepdim = false.
   May be NULL: dims, correction, keepdim. */
static inline plait_error* plait_op_var_mean(plait_fusion* fusion, const char* names, const char* x,
    const int64_t* dims, size_t dims_count, const int64_t* correction, const bool* keepdim, plait_text** result) {
  plait_argument plait_given[4];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  if (dims != NULL || dims_count != 0) plait_given[plait_count++] = plait_integers_argument("dims", dims, dims_count);
  if (correction != NULL) plait_given[plait_count++] = plait_integer_argument("correction", *correction);
  if (keepdim != NULL) plait_given[plait_count++] = plait_flag_argument("keepdim", *keepdim);
  return plait_fusion_op(fusion, "var_mean", names, plait_given, plait_count, result);
}

/* amax over dims (all where none are given), and its row-major position among them: argmax. Results: amax, argmax.
   Left out: keepdim = false. May be NULL: dims, keepdim. */
static inline plait_error* plait_op_max_with_argmax(plait_fusion* fusion, const char* names, const char* x,
    const int64_t* dims, size_t dims_count, const bool* keepdim, plait_text** result) {
  plait_argument plait_given[3];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  if (dims != NULL || dims_count != 0) plait_given[plait_count++] = plait_integers_argument("dims", dims, dims_count);
  if (keepdim != NULL) plait_given[plait_count++] = plait_flag_argument("keepdim", *keepdim);
  return plait_fusion_op(fusion, "max_with_argmax", names, plait_given, plait_count, result);
}

/* amin over dims (all where none are given), and its row-major position among them: argmin. Results: amin, argmin.
   Left out: keepdim = false. May be NULL: dims, keepdim. */
static inline plait_error* plait_op_min_with_argmin(plait_fusion* fusion, const char* names, const char* x,
    const int64_t* dims, size_t dims_count, const bool* keepdim, plait_text** result) {
  plait_argument plait_given[3];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  if (dims != NULL || dims_count != 0) plait_given[plait_count++] = plait_integers_argument("dims", dims, dims_count);
  if (keepdim != NULL) plait_given[plait_count++] = plait_flag_argument("keepdim", *keepdim);
  return plait_fusion_op(fusion, "min_with_argmin", names, plait_given, plait_count, result);
}

/* out[.., i, ..] = in[.., 0, ..] + ... + in[.., i, ..] along dim, added in accumulation_type, of floats on CPUs in
   f64, each rounded once; of integers and bool i64. exclusive: without in[.., i, ..]. reverse: from the end. Left
   out: exclusive = false, reverse = false. May be NULL: exclusive, reverse. */
static inline plait_error* plait_op_cumsum(plait_fusion* fusion, const char* names, const char* x, int64_t dim,
    const bool* exclusive, const bool* reverse, plait_text** result) {
  plait_argument plait_given[4];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  plait_given[plait_count++] = plait_integer_argument("dim", dim);
  if (exclusive != NULL) plait_given[plait_count++] = plait_flag_argument("exclusive", *exclusive);
  if (reverse != NULL) plait_given[plait_count++] = plait_flag_argument("reverse", *reverse);
  return plait_fusion_op(fusion, "cumsum", names, plait_given, plait_count, result);
}

/* out[.., i, ..] = in[.., 0, ..] * ... * in[.., i, ..] along dim, otherwise as CumSum: exclusive, reverse, i64 of
   integers and bool. The empty product is 1. Left out: exclusive = false, reverse = false. May be NULL: exclusive,
   reverse. */
static inline plait_error* plait_op_cumprod(plait_fusion* fusion, const char* names, const char* x, int64_t dim,
    const bool* exclusive, const bool* reverse, plait_text** result) {
  plait_argument plait_given[4];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  plait_given[plait_count++] = plait_integer_argument("dim", dim);
  if (exclusive != NULL) plait_given[plait_count++] = plait_flag_argument("exclusive", *exclusive);
  if (reverse != NULL) plait_given[plait_count++] = plait_flag_argument("reverse", *reverse);
  return plait_fusion_op(fusion, "cumprod", names, plait_given, plait_count, result);
}

/* out[.., i, ..] = log(exp(in[.., 0, ..]) + ... + exp(in[.., i, ..])) along dim, of floats, without overflow:
   carried in f64, each rounded once. Of -inf alone it is -inf; an infinity gives inf, a NaN NaN, from there on. */
static inline plait_error* plait_op_logcumsumexp(plait_fusion* fusion, const char* names, const char* x, int64_t dim,
    plait_text** result) {
  plait_argument plait_given[2];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  plait_given[plait_count++] = plait_integer_argument("dim", dim);
  return plait_fusion_op(fusion, "logcumsumexp", names, plait_given, plait_count, result);
}

/* The greatest of in[.., 0, ..] to in[.., i, ..] along dim, and its index along dim, i64: of equals, -0 and 0
   among them, and of several NaN the last; a NaN is greater than every number. bool is ordered false < true.
   Results: values, indices. */
static inline plait_error* plait_op_cummax(plait_fusion* fusion, const char* names, const char* x, int64_t dim,
    plait_text** result) {
  plait_argument plait_given[2];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  plait_given[plait_count++] = plait_integer_argument("dim", dim);
  return plait_fusion_op(fusion, "cummax", names, plait_given, plait_count, result);
}

/* The least of in[.., 0, ..] to in[.., i, ..] along dim, and its index along dim, i64: of equals, -0 and 0 among
   them, and of several NaN the last; a NaN is less than every number. bool is ordered false < true. Results:
   values, indices. */
static inline plait_error* plait_op_cummin(plait_fusion* fusion, const char* names, const char* x, int64_t dim,
    plait_text** result) {
  plait_argument plait_given[2];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  plait_given[plait_count++] = plait_integer_argument("dim", dim);
  return plait_fusion_op(fusion, "cummin", names, plait_given, plait_count, result);
}

/* out[i...] = in with dims reordered: dim d of out is dim dims[d] of in. May be NULL: dims. */
static inline plait_error* plait_op_permute(plait_fusion* fusion, const char* names, const char* x,
    const int64_t* dims, size_t dims_count, plait_text** result) {
  plait_argument plait_given[2];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  if (dims != NULL || dims_count != 0) plait_given[plait_count++] = plait_integers_argument("dims", dims, dims_count);
  return plait_fusion_op(fusion, "permute", names, plait_given, plait_count, result);
}

/* out of shape: dim d of in is dim dims[d] of out (increasing) and as long, or 1 and repeated. May be NULL: dims. */
static inline plait_error* plait_op_broadcast(plait_fusion* fusion, const char* names, const char* x,
    const char* const* shape, size_t shape_count, const int64_t* dims, size_t dims_count, plait_text** result) {
  plait_argument plait_given[3];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  plait_given[plait_count++] = plait_words_argument("shape", shape, shape_count);
  if (dims != NULL || dims_count != 0) plait_given[plait_count++] = plait_integers_argument("dims", dims, dims_count);
  return plait_fusion_op(fusion, "broadcast", names, plait_given, plait_count, result);
}

/* in without dims (all of extent 1 where none are given), which have extent 1. May be NULL: dims. */
static inline plait_error* plait_op_squeeze(plait_fusion* fusion, const char* names, const char* x,
    const int64_t* dims, size_t dims_count, plait_text** result) {
  plait_argument plait_given[2];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  if (dims != NULL || dims_count != 0) plait_given[plait_count++] = plait_integers_argument("dims", dims, dims_count);
  return plait_fusion_op(fusion, "squeeze", names, plait_given, plait_count, result);
}

/* in with dims of extent 1 put at places dims of the result. */
static inline plait_error* plait_op_unsqueeze(plait_fusion* fusion, const char* names, const char* x,
    const int64_t* dims, size_t dims_count, plait_text** result) {
  plait_argument plait_given[2];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  plait_given[plait_count++] = plait_integers_argument("dims", dims, dims_count);
  return plait_fusion_op(fusion, "unsqueeze", names, plait_given, plait_count, result);
}

/* in in row-major order as another shape of as many elements. Users may write one extent as -1. */
static inline plait_error* plait_op_reshape(plait_fusion* fusion, const char* names, const char* x,
    const char* const* shape, size_t shape_count, plait_text** result) {
  plait_argument plait_given[2];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  plait_given[plait_count++] = plait_words_argument("shape", shape, shape_count);
  return plait_fusion_op(fusion, "reshape", names, plait_given, plait_count, result);
}

/* out[.., i, ..] = in[.., start + i*step, ..] for start + i*step < stop. step >= 1; 0 <= start and 0 <= stop <=
   extent in the node, which is empty where start >= stop; users may count from the end with negative numbers and
   leave the ends out, and a stop that lies outside is clamped. Left out: step = 1. May be NULL: start, stop, step. */
static inline plait_error* plait_op_slice(plait_fusion* fusion, const char* names, const char* x, int64_t dim,
    const char* start, const char* stop, const int64_t* step, plait_text** result) {
  plait_argument plait_given[5];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  plait_given[plait_count++] = plait_integer_argument("dim", dim);
  if (start != NULL) plait_given[plait_count++] = plait_word_argument("start", start);
  if (stop != NULL) plait_given[plait_count++] = plait_word_argument("stop", stop);
  if (step != NULL) plait_given[plait_count++] = plait_integer_argument("step", *step);
  return plait_fusion_op(fusion, "slice", names, plait_given, plait_count, result);
}

/* in with low[d] and high[d] elements of value before and after dim d; value is rounded to the dtype. Left out:
   value = 0. May be NULL: low, high, value. */
static inline plait_error* plait_op_pad(plait_fusion* fusion, const char* names, const char* x,
    const char* const* low, size_t low_count, const char* const* high, size_t high_count, const double* value,
    plait_text** result) {
  plait_argument plait_given[4];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  if (low != NULL || low_count != 0) plait_given[plait_count++] = plait_words_argument("low", low, low_count);
  if (high != NULL || high_count != 0) plait_given[plait_count++] = plait_words_argument("high", high, high_count);
  if (value != NULL) plait_given[plait_count++] = plait_number_argument("value", *value);
  return plait_fusion_op(fusion, "pad", names, plait_given, plait_count, result);
}

/* The operands one after another along dim; all other extents are equal. Left out: dim = 0. May be NULL: dim. */
static inline plait_error* plait_op_cat(plait_fusion* fusion, const char* names, const char* const* x, size_t x_count,
    const int64_t* dim, plait_text** result) {
  plait_argument plait_given[2];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensors_argument(NULL, x, x_count);
  if (dim != NULL) plait_given[plait_count++] = plait_integer_argument("dim", *dim);
  return plait_fusion_op(fusion, "cat", names, plait_given, plait_count, result);
}

/* out[.., i, ..] = in[.., extent - 1 - i, ..] in each of dims. */
static inline plait_error* plait_op_flip(plait_fusion* fusion, const char* names, const char* x, const int64_t* dims,
    size_t dims_count, plait_text** result) {
  plait_argument plait_given[2];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  plait_given[plait_count++] = plait_integers_argument("dims", dims, dims_count);
  return plait_fusion_op(fusion, "flip", names, plait_given, plait_count, result);
}

/* out[.., (i + shifts[k]) mod extent, ..] = in[.., i, ..] in dim dims[k]. May be NULL: dims. */
static inline plait_error* plait_op_roll(plait_fusion* fusion, const char* names, const char* x,
    const int64_t* shifts, size_t shifts_count, const int64_t* dims, size_t dims_count, plait_text** result) {
  plait_argument plait_given[3];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  plait_given[plait_count++] = plait_integers_argument("shifts", shifts, shifts_count);
  if (dims != NULL || dims_count != 0) plait_given[plait_count++] = plait_integers_argument("dims", dims, dims_count);
  return plait_fusion_op(fusion, "roll", names, plait_given, plait_count, result);
}

/* in repeated repeats[d] times along dim d of the result; missing leading dims have extent 1
   (torch.Tensor.repeat). */
static inline plait_error* plait_op_repeat(plait_fusion* fusion, const char* names, const char* x,
    const int64_t* repeats, size_t repeats_count, plait_text** result) {
  plait_argument plait_given[2];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  plait_given[plait_count++] = plait_integers_argument("repeats", repeats, repeats_count);
  return plait_fusion_op(fusion, "repeat", names, plait_given, plait_count, result);
}

/* The bits of in as another dtype of the same size. */
static inline plait_error* plait_op_bitcast(plait_fusion* fusion, const char* names, const char* x, const char* to,
    plait_text** result) {
  plait_argument plait_given[2];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  plait_given[plait_count++] = plait_word_argument("to", to);
  return plait_fusion_op(fusion, "bitcast", names, plait_given, plait_count, result);
}

/* out[i...] = in[.., index[i...], ..] along dim, of the shape of index, whose other extents are at most those of
   in. Left out: bounds = check. May be NULL: bounds. */
static inline plait_error* plait_op_gather(plait_fusion* fusion, const char* names, const char* x, const char* index,
    int64_t dim, const char* bounds, plait_text** result) {
  plait_argument plait_given[4];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  plait_given[plait_count++] = plait_tensor_argument(NULL, index);
  plait_given[plait_count++] = plait_integer_argument("dim", dim);
  if (bounds != NULL) plait_given[plait_count++] = plait_word_argument("bounds", bounds);
  return plait_fusion_op(fusion, "gather", names, plait_given, plait_count, result);
}

/* out[.., i..., ..] = in[.., index[i...], ..]: dim is replaced by the dims of index, of any rank. Left out: bounds
   = check. May be NULL: bounds. */
static inline plait_error* plait_op_index_select(plait_fusion* fusion, const char* names, const char* x,
    const char* index, int64_t dim, const char* bounds, plait_text** result) {
  plait_argument plait_given[4];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  plait_given[plait_count++] = plait_tensor_argument(NULL, index);
  plait_given[plait_count++] = plait_integer_argument("dim", dim);
  if (bounds != NULL) plait_given[plait_count++] = plait_word_argument("bounds", bounds);
  return plait_fusion_op(fusion, "index_select", names, plait_given, plait_count, result);
}

/* out = in, then out[.., index[i...], ..] = src[i...] along dim, in row-major order of i, so that the last one
   stays. update = add, max, min, mul: what is there and src[i...] are combined in that order; sums and products of
   floats in accumulation_type, rounded once, those of integers modulo 2^bits; max and min propagate NaN and order
   bool false < true, which has no sums and products. index and src have one shape, whose other extents are at most
   those of in. Left out: update = set, bounds = check. May be NULL: update, bounds. */
static inline plait_error* plait_op_scatter(plait_fusion* fusion, const char* names, const char* x, const char* index,
    const char* src, int64_t dim, const char* update, const char* bounds, plait_text** result) {
  plait_argument plait_given[6];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  plait_given[plait_count++] = plait_tensor_argument(NULL, index);
  plait_given[plait_count++] = plait_tensor_argument(NULL, src);
  plait_given[plait_count++] = plait_integer_argument("dim", dim);
  if (update != NULL) plait_given[plait_count++] = plait_word_argument("update", update);
  if (bounds != NULL) plait_given[plait_count++] = plait_word_argument("bounds", bounds);
  return plait_fusion_op(fusion, "scatter", names, plait_given, plait_count, result);
}

/* The elements in order along dim, the least first or, descending, the greatest, and their indices along dim, i64;
   equals in the order of their indices. Results: values, indices. Left out: dim = -1, descending = false. May be
   NULL: dim, descending. */
static inline plait_error* plait_op_sort(plait_fusion* fusion, const char* names, const char* x, const int64_t* dim,
    const bool* descending, plait_text** result) {
  plait_argument plait_given[3];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  if (dim != NULL) plait_given[plait_count++] = plait_integer_argument("dim", *dim);
  if (descending != NULL) plait_given[plait_count++] = plait_flag_argument("descending", *descending);
  return plait_fusion_op(fusion, "sort", names, plait_given, plait_count, result);
}

/* NumPy's einsum: a label for each dim, ... for those without (trailing dims aligned); the products of elements
   with equal labels, summed over the labels that the result lacks. Extent 1 broadcasts; a label twice in one
   operand is its diagonal. Left out, -> and what follows are NumPy's. More than two operands are multiplied from
   left to right, each step rounded; sums otherwise as Linear. */
static inline plait_error* plait_op_einsum(plait_fusion* fusion, const char* names, const char* const* x,
    size_t x_count, const char* equation, plait_text** result) {
  plait_argument plait_given[2];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensors_argument(NULL, x, x_count);
  plait_given[plait_count++] = plait_string_argument("equation", equation);
  return plait_fusion_op(fusion, "einsum", names, plait_given, plait_count, result);
}

/* out = x / (1 - p) where uniform(global index) >= p (compared in double), else 0. 0 <= p < 1. seed: u64[]. May be
   NULL: offset. */
static inline plait_error* plait_op_dropout(plait_fusion* fusion, const char* names, const char* x, double p,
    const char* seed, const int64_t* offset, plait_text** result) {
  plait_argument plait_given[4];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  plait_given[plait_count++] = plait_number_argument("p", p);
  plait_given[plait_count++] = plait_tensor_argument("seed", seed);
  if (offset != NULL) plait_given[plait_count++] = plait_integer_argument("offset", *offset);
  return plait_fusion_op(fusion, "dropout", names, plait_given, plait_count, result);
}

/* A copy. */
static inline plait_error* plait_op_set(plait_fusion* fusion, const char* names, const char* x, plait_text** result) {
  plait_argument plait_given[1];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  return plait_fusion_op(fusion, "set", names, plait_given, plait_count, result);
}

/* The operands, all of one shape, along a new dim. Left out: dim = 0. May be NULL: dim. */
static inline plait_error* plait_op_stack(plait_fusion* fusion, const char* names, const char* const* x,
    size_t x_count, const int64_t* dim, plait_text** result) {
  plait_argument plait_given[2];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensors_argument(NULL, x, x_count);
  if (dim != NULL) plait_given[plait_count++] = plait_integer_argument("dim", *dim);
  return plait_fusion_op(fusion, "stack", names, plait_given, plait_count, result);
}

/* in cut along dim into parts of those sizes, whose sum is its extent: a result for each. Results: part, .... Left
   out: dim = 0. May be NULL: dim. */
static inline plait_error* plait_op_split(plait_fusion* fusion, const char* names, const char* x,
    const char* const* sizes, size_t sizes_count, const int64_t* dim, plait_text** result) {
  plait_argument plait_given[3];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  plait_given[plait_count++] = plait_words_argument("sizes", sizes, sizes_count);
  if (dim != NULL) plait_given[plait_count++] = plait_integer_argument("dim", *dim);
  return plait_fusion_op(fusion, "split", names, plait_given, plait_count, result);
}

/* in broadcast to shape, trailing dims aligned. */
static inline plait_error* plait_op_expand(plait_fusion* fusion, const char* names, const char* x,
    const char* const* shape, size_t shape_count, plait_text** result) {
  plait_argument plait_given[2];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  plait_given[plait_count++] = plait_words_argument("shape", shape, shape_count);
  return plait_fusion_op(fusion, "expand", names, plait_given, plait_count, result);
}

/* 1 where row equals column, else 0. Left out: dtype = f32. May be NULL: columns, dtype. */
static inline plait_error* plait_op_eye(plait_fusion* fusion, const char* names, const char* rows,
    const char* columns, const char* dtype, plait_text** result) {
  plait_argument plait_given[3];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_word_argument("rows", rows);
  if (columns != NULL) plait_given[plait_count++] = plait_word_argument("columns", columns);
  if (dtype != NULL) plait_given[plait_count++] = plait_word_argument("dtype", dtype);
  return plait_fusion_op(fusion, "eye", names, plait_given, plait_count, result);
}

/* in where column <= row + diagonal in its last two dims, else 0. Left out: diagonal = 0. May be NULL: diagonal. */
static inline plait_error* plait_op_tril(plait_fusion* fusion, const char* names, const char* x,
    const int64_t* diagonal, plait_text** result) {
  plait_argument plait_given[2];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  if (diagonal != NULL) plait_given[plait_count++] = plait_integer_argument("diagonal", *diagonal);
  return plait_fusion_op(fusion, "tril", names, plait_given, plait_count, result);
}

/* in where column >= row + diagonal in its last two dims, else 0. Left out: diagonal = 0. May be NULL: diagonal. */
static inline plait_error* plait_op_triu(plait_fusion* fusion, const char* names, const char* x,
    const int64_t* diagonal, plait_text** result) {
  plait_argument plait_given[2];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  if (diagonal != NULL) plait_given[plait_count++] = plait_integer_argument("diagonal", *diagonal);
  return plait_fusion_op(fusion, "triu", names, plait_given, plait_count, result);
}

/* table[index[i...], :] of a table [n, h]. Left out: bounds = check. May be NULL: bounds. */
static inline plait_error* plait_op_embedding(plait_fusion* fusion, const char* names, const char* index,
    const char* table, const char* bounds, plait_text** result) {
  plait_argument plait_given[3];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, index);
  plait_given[plait_count++] = plait_tensor_argument(NULL, table);
  if (bounds != NULL) plait_given[plait_count++] = plait_word_argument("bounds", bounds);
  return plait_fusion_op(fusion, "embedding", names, plait_given, plait_count, result);
}

/* Gather of operands whose dims other than dim broadcast (numpy.take_along_axis). Left out: bounds = check. May be
   NULL: bounds. */
static inline plait_error* plait_op_take_along(plait_fusion* fusion, const char* names, const char* x,
    const char* index, int64_t dim, const char* bounds, plait_text** result) {
  plait_argument plait_given[4];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  plait_given[plait_count++] = plait_tensor_argument(NULL, index);
  plait_given[plait_count++] = plait_integer_argument("dim", dim);
  if (bounds != NULL) plait_given[plait_count++] = plait_word_argument("bounds", bounds);
  return plait_fusion_op(fusion, "take_along", names, plait_given, plait_count, result);
}

/* 1 where the class equals the index, along a new last dim of classes, else 0. Left out: dtype = i64. May be NULL:
   dtype. */
static inline plait_error* plait_op_one_hot(plait_fusion* fusion, const char* names, const char* index,
    const char* classes, const char* dtype, plait_text** result) {
  plait_argument plait_given[3];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, index);
  plait_given[plait_count++] = plait_word_argument("classes", classes);
  if (dtype != NULL) plait_given[plait_count++] = plait_word_argument("dtype", dtype);
  return plait_fusion_op(fusion, "one_hot", names, plait_given, plait_count, result);
}

/* The indices of sort. Left out: dim = -1, descending = false. May be NULL: dim, descending. */
static inline plait_error* plait_op_argsort(plait_fusion* fusion, const char* names, const char* x,
    const int64_t* dim, const bool* descending, plait_text** result) {
  plait_argument plait_given[3];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  if (dim != NULL) plait_given[plait_count++] = plait_integer_argument("dim", *dim);
  if (descending != NULL) plait_given[plait_count++] = plait_flag_argument("descending", *descending);
  return plait_fusion_op(fusion, "argsort", names, plait_given, plait_count, result);
}

/* The k greatest elements along dim, or the k least, in order, and their indices along dim, i64: of equals those
   of lower index, and these first. Of a dim of fewer elements than k these are all elements: min(k, extent) of
   them. Results: values, indices. Left out: dim = -1, largest = true. May be NULL: dim, largest. */
static inline plait_error* plait_op_topk(plait_fusion* fusion, const char* names, const char* x, const char* k,
    const int64_t* dim, const bool* largest, plait_text** result) {
  plait_argument plait_given[4];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  plait_given[plait_count++] = plait_word_argument("k", k);
  if (dim != NULL) plait_given[plait_count++] = plait_integer_argument("dim", *dim);
  if (largest != NULL) plait_given[plait_count++] = plait_flag_argument("largest", *largest);
  return plait_fusion_op(fusion, "topk", names, plait_given, plait_count, result);
}

/* out[.., i, ..] = in[.., at + i, ..] along dim for i < size: a slice at a position that a tensor holds. at is an
   i32 or i64 of no dims; bounds as of lookups, never clamped: an offence names at + i. Left out: bounds = check.
   May be NULL: bounds. */
static inline plait_error* plait_op_slice_at(plait_fusion* fusion, const char* names, const char* x, const char* at,
    int64_t dim, const char* size, const char* bounds, plait_text** result) {
  plait_argument plait_given[5];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  plait_given[plait_count++] = plait_tensor_argument(NULL, at);
  plait_given[plait_count++] = plait_integer_argument("dim", dim);
  plait_given[plait_count++] = plait_word_argument("size", size);
  if (bounds != NULL) plait_given[plait_count++] = plait_word_argument("bounds", bounds);
  return plait_fusion_op(fusion, "slice_at", names, plait_given, plait_count, result);
}

/* out = in, but out[.., start + at + i, ..] = update[.., i, ..] along dim. at is an i32 or i64 of no dims, 0 where
   there is none. update is as long as in in all other dims. bounds as of scatters, never clamped: an offence names
   the place. Left out: bounds = check. May be NULL: at, start, bounds. */
static inline plait_error* plait_op_slice_update(plait_fusion* fusion, const char* names, const char* x,
    const char* update, const char* at, int64_t dim, const char* start, const char* bounds, plait_text** result) {
  plait_argument plait_given[6];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  plait_given[plait_count++] = plait_tensor_argument(NULL, update);
  if (at != NULL) plait_given[plait_count++] = plait_tensor_argument(NULL, at);
  plait_given[plait_count++] = plait_integer_argument("dim", dim);
  if (start != NULL) plait_given[plait_count++] = plait_word_argument("start", start);
  if (bounds != NULL) plait_given[plait_count++] = plait_word_argument("bounds", bounds);
  return plait_fusion_op(fusion, "slice_update", names, plait_given, plait_count, result);
}

/* Sum over dims (all where none are given) divided by the count (NaN of none), in accumulation_type, rounded once.
   Of floats. Left out: keepdim = false. May be NULL: dims, keepdim. */
static inline plait_error* plait_op_mean(plait_fusion* fusion, const char* names, const char* x, const int64_t* dims,
    size_t dims_count, const bool* keepdim, plait_text** result) {
  plait_argument plait_given[3];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  if (dims != NULL || dims_count != 0) plait_given[plait_count++] = plait_integers_argument("dims", dims, dims_count);
  if (keepdim != NULL) plait_given[plait_count++] = plait_flag_argument("keepdim", *keepdim);
  return plait_fusion_op(fusion, "mean", names, plait_given, plait_count, result);
}

/* Square root of Var. Left out: correction = 1, keepdim = false. May be NULL: dims, correction, keepdim. */
static inline plait_error* plait_op_std(plait_fusion* fusion, const char* names, const char* x, const int64_t* dims,
    size_t dims_count, const int64_t* correction, const bool* keepdim, plait_text** result) {
  plait_argument plait_given[4];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  if (dims != NULL || dims_count != 0) plait_given[plait_count++] = plait_integers_argument("dims", dims, dims_count);
  if (correction != NULL) plait_given[plait_count++] = plait_integer_argument("correction", *correction);
  if (keepdim != NULL) plait_given[plait_count++] = plait_flag_argument("keepdim", *keepdim);
  return plait_fusion_op(fusion, "std", names, plait_given, plait_count, result);
}

/* Whether an element over dims (all where none are given) is not 0; false of none. Left out: keepdim = false. May
   be NULL: dims, keepdim. */
static inline plait_error* plait_op_any(plait_fusion* fusion, const char* names, const char* x, const int64_t* dims,
    size_t dims_count, const bool* keepdim, plait_text** result) {
  plait_argument plait_given[3];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  if (dims != NULL || dims_count != 0) plait_given[plait_count++] = plait_integers_argument("dims", dims, dims_count);
  if (keepdim != NULL) plait_given[plait_count++] = plait_flag_argument("keepdim", *keepdim);
  return plait_fusion_op(fusion, "any", names, plait_given, plait_count, result);
}

/* Whether every element over dims (all where none are given) is not 0; true of none. Left out: keepdim = false.
   May be NULL: dims, keepdim. */
static inline plait_error* plait_op_all(plait_fusion* fusion, const char* names, const char* x, const int64_t* dims,
    size_t dims_count, const bool* keepdim, plait_text** result) {
  plait_argument plait_given[3];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  if (dims != NULL || dims_count != 0) plait_given[plait_count++] = plait_integers_argument("dims", dims, dims_count);
  if (keepdim != NULL) plait_given[plait_count++] = plait_flag_argument("keepdim", *keepdim);
  return plait_fusion_op(fusion, "all", names, plait_given, plait_count, result);
}

/* log sum exp(x) over dims, by way of the maximum, which it is where that is infinite; -inf of none. Left out:
   keepdim = false. May be NULL: dims, keepdim. */
static inline plait_error* plait_op_logsumexp(plait_fusion* fusion, const char* names, const char* x,
    const int64_t* dims, size_t dims_count, const bool* keepdim, plait_text** result) {
  plait_argument plait_given[3];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  if (dims != NULL || dims_count != 0) plait_given[plait_count++] = plait_integers_argument("dims", dims, dims_count);
  if (keepdim != NULL) plait_given[plait_count++] = plait_flag_argument("keepdim", *keepdim);
  return plait_fusion_op(fusion, "logsumexp", names, plait_given, plait_count, result);
}

/* (sum |x|^p)^(1/p) over dims (all where none are given), 0 of none, inf where p < 0; p = inf and -inf: the
   extremum of |x|; p = 0: the count of elements that are not 0, NaN too. The powers may overflow, or be less than
   any number. Left out: p = 2, keepdim = false. May be NULL: p, dims, keepdim. */
static inline plait_error* plait_op_norm(plait_fusion* fusion, const char* names, const char* x, const double* p,
    const int64_t* dims, size_t dims_count, const bool* keepdim, plait_text** result) {
  plait_argument plait_given[4];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  if (p != NULL) plait_given[plait_count++] = plait_number_argument("p", *p);
  if (dims != NULL || dims_count != 0) plait_given[plait_count++] = plait_integers_argument("dims", dims, dims_count);
  if (keepdim != NULL) plait_given[plait_count++] = plait_flag_argument("keepdim", *keepdim);
  return plait_fusion_op(fusion, "norm", names, plait_given, plait_count, result);
}

/* exp(x - max) / sum exp(x - max) along dim. NaN where the maximum is infinite. */
static inline plait_error* plait_op_softmax(plait_fusion* fusion, const char* names, const char* x, int64_t dim,
    plait_text** result) {
  plait_argument plait_given[2];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  plait_given[plait_count++] = plait_integer_argument("dim", dim);
  return plait_fusion_op(fusion, "softmax", names, plait_given, plait_count, result);
}

/* x - max - log sum exp(x - max) along dim. NaN where the maximum is infinite. */
static inline plait_error* plait_op_log_softmax(plait_fusion* fusion, const char* names, const char* x, int64_t dim,
    plait_text** result) {
  plait_argument plait_given[2];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  plait_given[plait_count++] = plait_integer_argument("dim", dim);
  return plait_fusion_op(fusion, "log_softmax", names, plait_given, plait_count, result);
}

/* (x - mean) / sqrt(var + eps) * w + b over the last dims, as many as dims says; w and b have the shape of those.
   Statistics keep those dims with extent 1. Results: layer_norm, layer_norm_mean, layer_norm_rstd. Left out: dims
   = 1, eps = 1e-05, statistics = false. May be NULL: w, b, dims, eps, statistics. */
static inline plait_error* plait_op_layer_norm(plait_fusion* fusion, const char* names, const char* x, const char* w,
    const char* b, const int64_t* dims, const double* eps, const bool* statistics, plait_text** result) {
  plait_argument plait_given[6];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  if (w != NULL || b != NULL) plait_given[plait_count++] = plait_tensor_argument(NULL, w);
  if (b != NULL) plait_given[plait_count++] = plait_tensor_argument(NULL, b);
  if (dims != NULL) plait_given[plait_count++] = plait_integer_argument("dims", *dims);
  if (eps != NULL) plait_given[plait_count++] = plait_number_argument("eps", *eps);
  if (statistics != NULL) plait_given[plait_count++] = plait_flag_argument("statistics", *statistics);
  return plait_fusion_op(fusion, "layer_norm", names, plait_given, plait_count, result);
}

/* x / sqrt(mean(x^2) + eps) * w over the last dims. Results: rms_norm, rms_norm_rstd. Left out: dims = 1, eps =
   1e-06, statistics = false. May be NULL: w, dims, eps, statistics. */
static inline plait_error* plait_op_rms_norm(plait_fusion* fusion, const char* names, const char* x, const char* w,
    const int64_t* dims, const double* eps, const bool* statistics, plait_text** result) {
  plait_argument plait_given[5];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  if (w != NULL) plait_given[plait_count++] = plait_tensor_argument(NULL, w);
  if (dims != NULL) plait_given[plait_count++] = plait_integer_argument("dims", *dims);
  if (eps != NULL) plait_given[plait_count++] = plait_number_argument("eps", *eps);
  if (statistics != NULL) plait_given[plait_count++] = plait_flag_argument("statistics", *statistics);
  return plait_fusion_op(fusion, "rms_norm", names, plait_given, plait_count, result);
}

/* x[n, c, ...] normalised over each of groups groups of channels and all later dims; w and b: [c]. Statistics: [n,
   groups]. Results: group_norm, group_norm_mean, group_norm_rstd. Left out: eps = 1e-05, statistics = false. May
   be NULL: w, b, eps, statistics. */
static inline plait_error* plait_op_group_norm(plait_fusion* fusion, const char* names, const char* x, const char* w,
    const char* b, int64_t groups, const double* eps, const bool* statistics, plait_text** result) {
  plait_argument plait_given[6];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  if (w != NULL || b != NULL) plait_given[plait_count++] = plait_tensor_argument(NULL, w);
  if (b != NULL) plait_given[plait_count++] = plait_tensor_argument(NULL, b);
  plait_given[plait_count++] = plait_integer_argument("groups", groups);
  if (eps != NULL) plait_given[plait_count++] = plait_number_argument("eps", *eps);
  if (statistics != NULL) plait_given[plait_count++] = plait_flag_argument("statistics", *statistics);
  return plait_fusion_op(fusion, "group_norm", names, plait_given, plait_count, result);
}

/* x[n, c, ...] normalised over all dims but c. With mean and var ([c]) given they are used (inference), else those
   of x, var without correction (training). w, b and statistics: [c]. Results: batch_norm, batch_norm_mean,
   batch_norm_rstd. Left out: eps = 1e-05, statistics = false. May be NULL: w, b, mean, var, eps, statistics. */
static inline plait_error* plait_op_batch_norm(plait_fusion* fusion, const char* names, const char* x, const char* w,
    const char* b, const char* mean, const char* var, const double* eps, const bool* statistics,
    plait_text** result) {
  plait_argument plait_given[7];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  if (w != NULL || b != NULL) plait_given[plait_count++] = plait_tensor_argument(NULL, w);
  if (b != NULL) plait_given[plait_count++] = plait_tensor_argument(NULL, b);
  if (mean != NULL) plait_given[plait_count++] = plait_tensor_argument("mean", mean);
  if (var != NULL) plait_given[plait_count++] = plait_tensor_argument("var", var);
  if (eps != NULL) plait_given[plait_count++] = plait_number_argument("eps", *eps);
  if (statistics != NULL) plait_given[plait_count++] = plait_flag_argument("statistics", *statistics);
  return plait_fusion_op(fusion, "batch_norm", names, plait_given, plait_count, result);
}

/* Loss of logits x[..., classes] against target classes [...] (i32 or i64). Per token -sum_c q_c log softmax(x)_c
   with q = (1 - smoothing) onehot(target) + smoothing / classes, 0 where target equals ignore_index, else NaN
   where it is no class; mean divides by the number of tokens that are not ignored (0 / 0 = NaN of none). Left out:
   smoothing = 0, reduction = mean. May be NULL: ignore_index, smoothing, reduction. */
static inline plait_error* plait_op_cross_entropy(plait_fusion* fusion, const char* names, const char* x,
    const char* target, const int64_t* ignore_index, const double* smoothing, const char* reduction,
    plait_text** result) {
  plait_argument plait_given[5];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  plait_given[plait_count++] = plait_tensor_argument(NULL, target);
  if (ignore_index != NULL) plait_given[plait_count++] = plait_integer_argument("ignore_index", *ignore_index);
  if (smoothing != NULL) plait_given[plait_count++] = plait_number_argument("smoothing", *smoothing);
  if (reduction != NULL) plait_given[plait_count++] = plait_word_argument("reduction", reduction);
  return plait_fusion_op(fusion, "cross_entropy", names, plait_given, plait_count, result);
}

/* (x - y)^2, its mean (NaN of none) or sum (0 of none) over all elements. Left out: reduction = mean. May be NULL:
   reduction. */
static inline plait_error* plait_op_mse(plait_fusion* fusion, const char* names, const char* x, const char* y,
    const char* reduction, plait_text** result) {
  plait_argument plait_given[3];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  plait_given[plait_count++] = plait_tensor_argument(NULL, y);
  if (reduction != NULL) plait_given[plait_count++] = plait_word_argument("reduction", reduction);
  return plait_fusion_op(fusion, "mse", names, plait_given, plait_count, result);
}

/* silu(gate) * up. */
static inline plait_error* plait_op_swiglu(plait_fusion* fusion, const char* names, const char* gate, const char* up,
    plait_text** result) {
  plait_argument plait_given[2];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, gate);
  plait_given[plait_count++] = plait_tensor_argument(NULL, up);
  return plait_fusion_op(fusion, "swiglu", names, plait_given, plait_count, result);
}

/* Rotary embedding of x[..., s, d], d even, by tables cos and sin that broadcast to it: x * cos + rotate(x) * sin.
   rotate gives (-second half, first half); interleaved: pairs (-x[2i+1], x[2i]). Left out: interleaved = false.
   May be NULL: interleaved. */
static inline plait_error* plait_op_rope(plait_fusion* fusion, const char* names, const char* x, const char* cos,
    const char* sin, const bool* interleaved, plait_text** result) {
  plait_argument plait_given[4];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  plait_given[plait_count++] = plait_tensor_argument(NULL, cos);
  plait_given[plait_count++] = plait_tensor_argument(NULL, sin);
  if (interleaved != NULL) plait_given[plait_count++] = plait_flag_argument("interleaved", *interleaved);
  return plait_fusion_op(fusion, "rope", names, plait_given, plait_count, result);
}

/* softmax(scale q k^T + mask) v of q[..., h, s, d], k[..., g, t, d], v[..., g, t, e]; h is a multiple of g (query
   heads share key heads in order). mask broadcasts to [..., h, s, t]: bool keeps where true, float is added.
   causal: key position <= query position (top left). scale: 1 / sqrt(d) where absent. A row of scores -inf, or no
   keys, gives 0. Scores are of compute_type; the exponentials that weigh f16 or bf16 are of that type, their sum
   is not. statistics: a second result, log sum exp of each row of scores, [..., h, s], in compute_type; -inf of
   such a row. Results: scaled_dot_product_attention, logsumexp. Left out: causal = false, statistics = false. May
   be NULL: mask, causal, scale, statistics. */
static inline plait_error* plait_op_scaled_dot_product_attention(plait_fusion* fusion, const char* names,
    const char* q, const char* k, const char* v, const char* mask, const bool* causal, const double* scale,
    const bool* statistics, plait_text** result) {
  plait_argument plait_given[7];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, q);
  plait_given[plait_count++] = plait_tensor_argument(NULL, k);
  plait_given[plait_count++] = plait_tensor_argument(NULL, v);
  if (mask != NULL) plait_given[plait_count++] = plait_tensor_argument("mask", mask);
  if (causal != NULL) plait_given[plait_count++] = plait_flag_argument("causal", *causal);
  if (scale != NULL) plait_given[plait_count++] = plait_number_argument("scale", *scale);
  if (statistics != NULL) plait_given[plait_count++] = plait_flag_argument("statistics", *statistics);
  return plait_fusion_op(fusion, "scaled_dot_product_attention", names, plait_given, plait_count, result);
}

/* out = the reduction of in over dims (all where none are given), which keepdim leaves with extent 1. sum and prod
   accumulate in accumulation_type and round once; of integers and bool they are i64. amax and amin propagate NaN;
   bool is ordered false < true; of zeros of both signs they give either. argmax and argmin give the row-major
   position among the reduced dims, i64: of the first NaN where there is one, else of the first extremum, where -0
   equals 0. Nothing to reduce: sum 0, prod 1, amax the least and amin the greatest number (infinities for floats),
   argmax and argmin 0. Left out: keepdim = false. May be NULL: dims, keepdim. */
static inline plait_error* plait_op_sum(plait_fusion* fusion, const char* names, const char* x, const int64_t* dims,
    size_t dims_count, const bool* keepdim, plait_text** result) {
  plait_argument plait_given[3];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  if (dims != NULL || dims_count != 0) plait_given[plait_count++] = plait_integers_argument("dims", dims, dims_count);
  if (keepdim != NULL) plait_given[plait_count++] = plait_flag_argument("keepdim", *keepdim);
  return plait_fusion_op(fusion, "sum", names, plait_given, plait_count, result);
}

/* out = the reduction of in over dims (all where none are given), which keepdim leaves with extent 1. sum and prod
   accumulate in accumulation_type and round once; of integers and bool they are i64. amax and amin propagate NaN;
   bool is ordered false < true; of zeros of both signs they give either. argmax and argmin give the row-major
   position among the reduced dims, i64: of the first NaN where there is one, else of the first extremum, where -0
   equals 0. Nothing to reduce: sum 0, prod 1, amax the least and amin the greatest number (infinities for floats),
   argmax and argmin 0. Left out: keepdim = false. May be NULL: dims, keepdim. */
static inline plait_error* plait_op_prod(plait_fusion* fusion, const char* names, const char* x, const int64_t* dims,
    size_t dims_count, const bool* keepdim, plait_text** result) {
  plait_argument plait_given[3];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  if (dims != NULL || dims_count != 0) plait_given[plait_count++] = plait_integers_argument("dims", dims, dims_count);
  if (keepdim != NULL) plait_given[plait_count++] = plait_flag_argument("keepdim", *keepdim);
  return plait_fusion_op(fusion, "prod", names, plait_given, plait_count, result);
}

/* out = the reduction of in over dims (all where none are given), which keepdim leaves with extent 1. sum and prod
   accumulate in accumulation_type and round once; of integers and bool they are i64. amax and amin propagate NaN;
   bool is ordered false < true; of zeros of both signs they give either. argmax and argmin give the row-major
   position among the reduced dims, i64: of the first NaN where there is one, else of the first extremum, where -0
   equals 0. Nothing to reduce: sum 0, prod 1, amax the least and amin the greatest number (infinities for floats),
   argmax and argmin 0. Left out: keepdim = false. May be NULL: dims, keepdim. */
static inline plait_error* plait_op_amax(plait_fusion* fusion, const char* names, const char* x, const int64_t* dims,
    size_t dims_count, const bool* keepdim, plait_text** result) {
  plait_argument plait_given[3];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  if (dims != NULL || dims_count != 0) plait_given[plait_count++] = plait_integers_argument("dims", dims, dims_count);
  if (keepdim != NULL) plait_given[plait_count++] = plait_flag_argument("keepdim", *keepdim);
  return plait_fusion_op(fusion, "amax", names, plait_given, plait_count, result);
}

/* out = the reduction of in over dims (all where none are given), which keepdim leaves with extent 1. sum and prod
   accumulate in accumulation_type and round once; of integers and bool they are i64. amax and amin propagate NaN;
   bool is ordered false < true; of zeros of both signs they give either. argmax and argmin give the row-major
   position among the reduced dims, i64: of the first NaN where there is one, else of the first extremum, where -0
   equals 0. Nothing to reduce: sum 0, prod 1, amax the least and amin the greatest number (infinities for floats),
   argmax and argmin 0. Left out: keepdim = false. May be NULL: dims, keepdim. */
static inline plait_error* plait_op_amin(plait_fusion* fusion, const char* names, const char* x, const int64_t* dims,
    size_t dims_count, const bool* keepdim, plait_text** result) {
  plait_argument plait_given[3];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  if (dims != NULL || dims_count != 0) plait_given[plait_count++] = plait_integers_argument("dims", dims, dims_count);
  if (keepdim != NULL) plait_given[plait_count++] = plait_flag_argument("keepdim", *keepdim);
  return plait_fusion_op(fusion, "amin", names, plait_given, plait_count, result);
}

/* out = the reduction of in over dims (all where none are given), which keepdim leaves with extent 1. sum and prod
   accumulate in accumulation_type and round once; of integers and bool they are i64. amax and amin propagate NaN;
   bool is ordered false < true; of zeros of both signs they give either. argmax and argmin give the row-major
   position among the reduced dims, i64: of the first NaN where there is one, else of the first extremum, where -0
   equals 0. Nothing to reduce: sum 0, prod 1, amax the least and amin the greatest number (infinities for floats),
   argmax and argmin 0. Left out: keepdim = false. May be NULL: dims, keepdim. */
static inline plait_error* plait_op_argmax(plait_fusion* fusion, const char* names, const char* x,
    const int64_t* dims, size_t dims_count, const bool* keepdim, plait_text** result) {
  plait_argument plait_given[3];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  if (dims != NULL || dims_count != 0) plait_given[plait_count++] = plait_integers_argument("dims", dims, dims_count);
  if (keepdim != NULL) plait_given[plait_count++] = plait_flag_argument("keepdim", *keepdim);
  return plait_fusion_op(fusion, "argmax", names, plait_given, plait_count, result);
}

/* out = the reduction of in over dims (all where none are given), which keepdim leaves with extent 1. sum and prod
   accumulate in accumulation_type and round once; of integers and bool they are i64. amax and amin propagate NaN;
   bool is ordered false < true; of zeros of both signs they give either. argmax and argmin give the row-major
   position among the reduced dims, i64: of the first NaN where there is one, else of the first extremum, where -0
   equals 0. Nothing to reduce: sum 0, prod 1, amax the least and amin the greatest number (infinities for floats),
   argmax and argmin 0. Left out: keepdim = false. May be NULL: dims, keepdim. */
static inline plait_error* plait_op_argmin(plait_fusion* fusion, const char* names, const char* x,
    const int64_t* dims, size_t dims_count, const bool* keepdim, plait_text** result) {
  plait_argument plait_given[3];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  if (dims != NULL || dims_count != 0) plait_given[plait_count++] = plait_integers_argument("dims", dims, dims_count);
  if (keepdim != NULL) plait_given[plait_count++] = plait_flag_argument("keepdim", *keepdim);
  return plait_fusion_op(fusion, "argmin", names, plait_given, plait_count, result);
}

/* x + y. */
static inline plait_error* plait_op_add(plait_fusion* fusion, const char* names, const char* x, const char* y,
    plait_text** result) {
  plait_argument plait_given[2];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  plait_given[plait_count++] = plait_tensor_argument(NULL, y);
  return plait_fusion_op(fusion, "add", names, plait_given, plait_count, result);
}

/* x - y. */
static inline plait_error* plait_op_sub(plait_fusion* fusion, const char* names, const char* x, const char* y,
    plait_text** result) {
  plait_argument plait_given[2];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  plait_given[plait_count++] = plait_tensor_argument(NULL, y);
  return plait_fusion_op(fusion, "sub", names, plait_given, plait_count, result);
}

/* x y. */
static inline plait_error* plait_op_mul(plait_fusion* fusion, const char* names, const char* x, const char* y,
    plait_text** result) {
  plait_argument plait_given[2];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  plait_given[plait_count++] = plait_tensor_argument(NULL, y);
  return plait_fusion_op(fusion, "mul", names, plait_given, plait_count, result);
}

/* x / y. */
static inline plait_error* plait_op_div(plait_fusion* fusion, const char* names, const char* x, const char* y,
    plait_text** result) {
  plait_argument plait_given[2];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  plait_given[plait_count++] = plait_tensor_argument(NULL, y);
  return plait_fusion_op(fusion, "div", names, plait_given, plait_count, result);
}

/* -x. */
static inline plait_error* plait_op_neg(plait_fusion* fusion, const char* names, const char* x, plait_text** result) {
  plait_argument plait_given[1];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  return plait_fusion_op(fusion, "neg", names, plait_given, plait_count, result);
}

/* abs(x). */
static inline plait_error* plait_op_abs(plait_fusion* fusion, const char* names, const char* x, plait_text** result) {
  plait_argument plait_given[1];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  return plait_fusion_op(fusion, "abs", names, plait_given, plait_count, result);
}

/* the larger. */
static inline plait_error* plait_op_max(plait_fusion* fusion, const char* names, const char* x, const char* y,
    plait_text** result) {
  plait_argument plait_given[2];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  plait_given[plait_count++] = plait_tensor_argument(NULL, y);
  return plait_fusion_op(fusion, "max", names, plait_given, plait_count, result);
}

/* the smaller. */
static inline plait_error* plait_op_min(plait_fusion* fusion, const char* names, const char* x, const char* y,
    plait_text** result) {
  plait_argument plait_given[2];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  plait_given[plait_count++] = plait_tensor_argument(NULL, y);
  return plait_fusion_op(fusion, "min", names, plait_given, plait_count, result);
}

/* the larger. */
static inline plait_error* plait_op_fmax(plait_fusion* fusion, const char* names, const char* x, const char* y,
    plait_text** result) {
  plait_argument plait_given[2];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  plait_given[plait_count++] = plait_tensor_argument(NULL, y);
  return plait_fusion_op(fusion, "fmax", names, plait_given, plait_count, result);
}

/* the smaller. */
static inline plait_error* plait_op_fmin(plait_fusion* fusion, const char* names, const char* x, const char* y,
    plait_text** result) {
  plait_argument plait_given[2];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  plait_given[plait_count++] = plait_tensor_argument(NULL, y);
  return plait_fusion_op(fusion, "fmin", names, plait_given, plait_count, result);
}

/* floor(x / y). */
static inline plait_error* plait_op_floor_divide(plait_fusion* fusion, const char* names, const char* x,
    const char* y, plait_text** result) {
  plait_argument plait_given[2];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  plait_given[plait_count++] = plait_tensor_argument(NULL, y);
  return plait_fusion_op(fusion, "floor_divide", names, plait_given, plait_count, result);
}

/* x - y floor(x / y), sign of y. */
static inline plait_error* plait_op_remainder(plait_fusion* fusion, const char* names, const char* x, const char* y,
    plait_text** result) {
  plait_argument plait_given[2];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  plait_given[plait_count++] = plait_tensor_argument(NULL, y);
  return plait_fusion_op(fusion, "remainder", names, plait_given, plait_count, result);
}

/* x - y trunc(x / y), sign of x. */
static inline plait_error* plait_op_fmod(plait_fusion* fusion, const char* names, const char* x, const char* y,
    plait_text** result) {
  plait_argument plait_given[2];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  plait_given[plait_count++] = plait_tensor_argument(NULL, y);
  return plait_fusion_op(fusion, "fmod", names, plait_given, plait_count, result);
}

/* x to the power y. */
static inline plait_error* plait_op_pow(plait_fusion* fusion, const char* names, const char* x, const char* y,
    plait_text** result) {
  plait_argument plait_given[2];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  plait_given[plait_count++] = plait_tensor_argument(NULL, y);
  return plait_fusion_op(fusion, "pow", names, plait_given, plait_count, result);
}

/* 1 / x. */
static inline plait_error* plait_op_reciprocal(plait_fusion* fusion, const char* names, const char* x,
    plait_text** result) {
  plait_argument plait_given[1];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  return plait_fusion_op(fusion, "reciprocal", names, plait_given, plait_count, result);
}

/* 1 / sqrt(x). */
static inline plait_error* plait_op_rsqrt(plait_fusion* fusion, const char* names, const char* x,
    plait_text** result) {
  plait_argument plait_given[1];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  return plait_fusion_op(fusion, "rsqrt", names, plait_given, plait_count, result);
}

/* x x. */
static inline plait_error* plait_op_square(plait_fusion* fusion, const char* names, const char* x,
    plait_text** result) {
  plait_argument plait_given[1];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  return plait_fusion_op(fusion, "square", names, plait_given, plait_count, result);
}

/* 1 for x > 0, -1 for x < 0, else 0. */
static inline plait_error* plait_op_sign(plait_fusion* fusion, const char* names, const char* x,
    plait_text** result) {
  plait_argument plait_given[1];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  return plait_fusion_op(fusion, "sign", names, plait_given, plait_count, result);
}

/* largest integer <= x. */
static inline plait_error* plait_op_floor(plait_fusion* fusion, const char* names, const char* x,
    plait_text** result) {
  plait_argument plait_given[1];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  return plait_fusion_op(fusion, "floor", names, plait_given, plait_count, result);
}

/* smallest integer >= x. */
static inline plait_error* plait_op_ceil(plait_fusion* fusion, const char* names, const char* x,
    plait_text** result) {
  plait_argument plait_given[1];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  return plait_fusion_op(fusion, "ceil", names, plait_given, plait_count, result);
}

/* nearest integer, ties to even. */
static inline plait_error* plait_op_round(plait_fusion* fusion, const char* names, const char* x,
    plait_text** result) {
  plait_argument plait_given[1];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  return plait_fusion_op(fusion, "round", names, plait_given, plait_count, result);
}

/* x without its fraction. */
static inline plait_error* plait_op_trunc(plait_fusion* fusion, const char* names, const char* x,
    plait_text** result) {
  plait_argument plait_given[1];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  return plait_fusion_op(fusion, "trunc", names, plait_given, plait_count, result);
}

/* x - trunc(x). */
static inline plait_error* plait_op_frac(plait_fusion* fusion, const char* names, const char* x,
    plait_text** result) {
  plait_argument plait_given[1];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  return plait_fusion_op(fusion, "frac", names, plait_given, plait_count, result);
}

/* x y + z, rounded once. */
static inline plait_error* plait_op_fma(plait_fusion* fusion, const char* names, const char* x, const char* y,
    const char* z, plait_text** result) {
  plait_argument plait_given[3];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  plait_given[plait_count++] = plait_tensor_argument(NULL, y);
  plait_given[plait_count++] = plait_tensor_argument(NULL, z);
  return plait_fusion_op(fusion, "fma", names, plait_given, plait_count, result);
}

/* x + z (y - x); y - (y - x) (1 - z) from abs(z) = 0.5. */
static inline plait_error* plait_op_lerp(plait_fusion* fusion, const char* names, const char* x, const char* y,
    const char* z, plait_text** result) {
  plait_argument plait_given[3];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  plait_given[plait_count++] = plait_tensor_argument(NULL, y);
  plait_given[plait_count++] = plait_tensor_argument(NULL, z);
  return plait_fusion_op(fusion, "lerp", names, plait_given, plait_count, result);
}

/* sqrt(x x + y y). */
static inline plait_error* plait_op_hypot(plait_fusion* fusion, const char* names, const char* x, const char* y,
    plait_text** result) {
  plait_argument plait_given[2];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  plait_given[plait_count++] = plait_tensor_argument(NULL, y);
  return plait_fusion_op(fusion, "hypot", names, plait_given, plait_count, result);
}

/* abs(x) with the sign of y. */
static inline plait_error* plait_op_copysign(plait_fusion* fusion, const char* names, const char* x, const char* y,
    plait_text** result) {
  plait_argument plait_given[2];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  plait_given[plait_count++] = plait_tensor_argument(NULL, y);
  return plait_fusion_op(fusion, "copysign", names, plait_given, plait_count, result);
}

/* min(max(x, y), z). */
static inline plait_error* plait_op_clamp(plait_fusion* fusion, const char* names, const char* x, const char* y,
    const char* z, plait_text** result) {
  plait_argument plait_given[3];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  plait_given[plait_count++] = plait_tensor_argument(NULL, y);
  plait_given[plait_count++] = plait_tensor_argument(NULL, z);
  return plait_fusion_op(fusion, "clamp", names, plait_given, plait_count, result);
}

/* cube root. */
static inline plait_error* plait_op_cbrt(plait_fusion* fusion, const char* names, const char* x,
    plait_text** result) {
  plait_argument plait_given[1];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  return plait_fusion_op(fusion, "cbrt", names, plait_given, plait_count, result);
}

/* log(exp(x) + exp(y)). */
static inline plait_error* plait_op_logaddexp(plait_fusion* fusion, const char* names, const char* x, const char* y,
    plait_text** result) {
  plait_argument plait_given[2];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  plait_given[plait_count++] = plait_tensor_argument(NULL, y);
  return plait_fusion_op(fusion, "logaddexp", names, plait_given, plait_count, result);
}

/* x log(y). */
static inline plait_error* plait_op_xlogy(plait_fusion* fusion, const char* names, const char* x, const char* y,
    plait_text** result) {
  plait_argument plait_given[2];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  plait_given[plait_count++] = plait_tensor_argument(NULL, y);
  return plait_fusion_op(fusion, "xlogy", names, plait_given, plait_count, result);
}

/* x log(1 + y). */
static inline plait_error* plait_op_xlog1py(plait_fusion* fusion, const char* names, const char* x, const char* y,
    plait_text** result) {
  plait_argument plait_given[2];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  plait_given[plait_count++] = plait_tensor_argument(NULL, y);
  return plait_fusion_op(fusion, "xlog1py", names, plait_given, plait_count, result);
}

/* angle of the point (y, x). */
static inline plait_error* plait_op_atan2(plait_fusion* fusion, const char* names, const char* x, const char* y,
    plait_text** result) {
  plait_argument plait_given[2];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  plait_given[plait_count++] = plait_tensor_argument(NULL, y);
  return plait_fusion_op(fusion, "atan2", names, plait_given, plait_count, result);
}

/* e to the power x. */
static inline plait_error* plait_op_exp(plait_fusion* fusion, const char* names, const char* x, plait_text** result) {
  plait_argument plait_given[1];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  return plait_fusion_op(fusion, "exp", names, plait_given, plait_count, result);
}

/* 2 to the power x. */
static inline plait_error* plait_op_exp2(plait_fusion* fusion, const char* names, const char* x,
    plait_text** result) {
  plait_argument plait_given[1];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  return plait_fusion_op(fusion, "exp2", names, plait_given, plait_count, result);
}

/* exp(x) - 1. */
static inline plait_error* plait_op_expm1(plait_fusion* fusion, const char* names, const char* x,
    plait_text** result) {
  plait_argument plait_given[1];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  return plait_fusion_op(fusion, "expm1", names, plait_given, plait_count, result);
}

/* natural logarithm. */
static inline plait_error* plait_op_log(plait_fusion* fusion, const char* names, const char* x, plait_text** result) {
  plait_argument plait_given[1];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  return plait_fusion_op(fusion, "log", names, plait_given, plait_count, result);
}

/* logarithm to base 2. */
static inline plait_error* plait_op_log2(plait_fusion* fusion, const char* names, const char* x,
    plait_text** result) {
  plait_argument plait_given[1];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  return plait_fusion_op(fusion, "log2", names, plait_given, plait_count, result);
}

/* logarithm to base 10. */
static inline plait_error* plait_op_log10(plait_fusion* fusion, const char* names, const char* x,
    plait_text** result) {
  plait_argument plait_given[1];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  return plait_fusion_op(fusion, "log10", names, plait_given, plait_count, result);
}

/* log(1 + x). */
static inline plait_error* plait_op_log1p(plait_fusion* fusion, const char* names, const char* x,
    plait_text** result) {
  plait_argument plait_given[1];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  return plait_fusion_op(fusion, "log1p", names, plait_given, plait_count, result);
}

/* square root. */
static inline plait_error* plait_op_sqrt(plait_fusion* fusion, const char* names, const char* x,
    plait_text** result) {
  plait_argument plait_given[1];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  return plait_fusion_op(fusion, "sqrt", names, plait_given, plait_count, result);
}

/* sine. */
static inline plait_error* plait_op_sin(plait_fusion* fusion, const char* names, const char* x, plait_text** result) {
  plait_argument plait_given[1];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  return plait_fusion_op(fusion, "sin", names, plait_given, plait_count, result);
}

/* cosine. */
static inline plait_error* plait_op_cos(plait_fusion* fusion, const char* names, const char* x, plait_text** result) {
  plait_argument plait_given[1];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  return plait_fusion_op(fusion, "cos", names, plait_given, plait_count, result);
}

/* tangent. */
static inline plait_error* plait_op_tan(plait_fusion* fusion, const char* names, const char* x, plait_text** result) {
  plait_argument plait_given[1];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  return plait_fusion_op(fusion, "tan", names, plait_given, plait_count, result);
}

/* arc sine. */
static inline plait_error* plait_op_asin(plait_fusion* fusion, const char* names, const char* x,
    plait_text** result) {
  plait_argument plait_given[1];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  return plait_fusion_op(fusion, "asin", names, plait_given, plait_count, result);
}

/* arc cosine. */
static inline plait_error* plait_op_acos(plait_fusion* fusion, const char* names, const char* x,
    plait_text** result) {
  plait_argument plait_given[1];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  return plait_fusion_op(fusion, "acos", names, plait_given, plait_count, result);
}

/* arc tangent. */
static inline plait_error* plait_op_atan(plait_fusion* fusion, const char* names, const char* x,
    plait_text** result) {
  plait_argument plait_given[1];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  return plait_fusion_op(fusion, "atan", names, plait_given, plait_count, result);
}

/* hyperbolic sine. */
static inline plait_error* plait_op_sinh(plait_fusion* fusion, const char* names, const char* x,
    plait_text** result) {
  plait_argument plait_given[1];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  return plait_fusion_op(fusion, "sinh", names, plait_given, plait_count, result);
}

/* hyperbolic cosine. */
static inline plait_error* plait_op_cosh(plait_fusion* fusion, const char* names, const char* x,
    plait_text** result) {
  plait_argument plait_given[1];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  return plait_fusion_op(fusion, "cosh", names, plait_given, plait_count, result);
}

/* hyperbolic tangent. */
static inline plait_error* plait_op_tanh(plait_fusion* fusion, const char* names, const char* x,
    plait_text** result) {
  plait_argument plait_given[1];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  return plait_fusion_op(fusion, "tanh", names, plait_given, plait_count, result);
}

/* inverse of sinh. */
static inline plait_error* plait_op_asinh(plait_fusion* fusion, const char* names, const char* x,
    plait_text** result) {
  plait_argument plait_given[1];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  return plait_fusion_op(fusion, "asinh", names, plait_given, plait_count, result);
}

/* inverse of cosh. */
static inline plait_error* plait_op_acosh(plait_fusion* fusion, const char* names, const char* x,
    plait_text** result) {
  plait_argument plait_given[1];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  return plait_fusion_op(fusion, "acosh", names, plait_given, plait_count, result);
}

/* inverse of tanh. */
static inline plait_error* plait_op_atanh(plait_fusion* fusion, const char* names, const char* x,
    plait_text** result) {
  plait_argument plait_given[1];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  return plait_fusion_op(fusion, "atanh", names, plait_given, plait_count, result);
}

/* error function. */
static inline plait_error* plait_op_erf(plait_fusion* fusion, const char* names, const char* x, plait_text** result) {
  plait_argument plait_given[1];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  return plait_fusion_op(fusion, "erf", names, plait_given, plait_count, result);
}

/* 1 - erf(x). */
static inline plait_error* plait_op_erfc(plait_fusion* fusion, const char* names, const char* x,
    plait_text** result) {
  plait_argument plait_given[1];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  return plait_fusion_op(fusion, "erfc", names, plait_given, plait_count, result);
}

/* inverse of erf. */
static inline plait_error* plait_op_erfinv(plait_fusion* fusion, const char* names, const char* x,
    plait_text** result) {
  plait_argument plait_given[1];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  return plait_fusion_op(fusion, "erfinv", names, plait_given, plait_count, result);
}

/* log(abs(gamma(x))). */
static inline plait_error* plait_op_lgamma(plait_fusion* fusion, const char* names, const char* x,
    plait_text** result) {
  plait_argument plait_given[1];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  return plait_fusion_op(fusion, "lgamma", names, plait_given, plait_count, result);
}

/* derivative of lgamma. */
static inline plait_error* plait_op_digamma(plait_fusion* fusion, const char* names, const char* x,
    plait_text** result) {
  plait_argument plait_given[1];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  return plait_fusion_op(fusion, "digamma", names, plait_given, plait_count, result);
}

/* max(x, 0). */
static inline plait_error* plait_op_relu(plait_fusion* fusion, const char* names, const char* x,
    plait_text** result) {
  plait_argument plait_given[1];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  return plait_fusion_op(fusion, "relu", names, plait_given, plait_count, result);
}

/* min(max(x, 0), 6). */
static inline plait_error* plait_op_relu6(plait_fusion* fusion, const char* names, const char* x,
    plait_text** result) {
  plait_argument plait_given[1];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  return plait_fusion_op(fusion, "relu6", names, plait_given, plait_count, result);
}

/* min(max(x, y), z). */
static inline plait_error* plait_op_hardtanh(plait_fusion* fusion, const char* names, const char* x, const char* y,
    const char* z, plait_text** result) {
  plait_argument plait_given[3];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  plait_given[plait_count++] = plait_tensor_argument(NULL, y);
  plait_given[plait_count++] = plait_tensor_argument(NULL, z);
  return plait_fusion_op(fusion, "hardtanh", names, plait_given, plait_count, result);
}

/* x for x > 0, else y x. */
static inline plait_error* plait_op_leaky_relu(plait_fusion* fusion, const char* names, const char* x, const char* y,
    plait_text** result) {
  plait_argument plait_given[2];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  plait_given[plait_count++] = plait_tensor_argument(NULL, y);
  return plait_fusion_op(fusion, "leaky_relu", names, plait_given, plait_count, result);
}

/* x for x > 0, else y (exp(x) - 1). */
static inline plait_error* plait_op_elu(plait_fusion* fusion, const char* names, const char* x, const char* y,
    plait_text** result) {
  plait_argument plait_given[2];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  plait_given[plait_count++] = plait_tensor_argument(NULL, y);
  return plait_fusion_op(fusion, "elu", names, plait_given, plait_count, result);
}

/* 1.05070098 elu(x, 1.67326324). */
static inline plait_error* plait_op_selu(plait_fusion* fusion, const char* names, const char* x,
    plait_text** result) {
  plait_argument plait_given[1];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  return plait_fusion_op(fusion, "selu", names, plait_given, plait_count, result);
}

/* x for x > 0, else y (exp(x / y) - 1). */
static inline plait_error* plait_op_celu(plait_fusion* fusion, const char* names, const char* x, const char* y,
    plait_text** result) {
  plait_argument plait_given[2];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  plait_given[plait_count++] = plait_tensor_argument(NULL, y);
  return plait_fusion_op(fusion, "celu", names, plait_given, plait_count, result);
}

/* x / (1 + exp(-x)). */
static inline plait_error* plait_op_silu(plait_fusion* fusion, const char* names, const char* x,
    plait_text** result) {
  plait_argument plait_given[1];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  return plait_fusion_op(fusion, "silu", names, plait_given, plait_count, result);
}

/* x tanh(log(1 + exp(x))). */
static inline plait_error* plait_op_mish(plait_fusion* fusion, const char* names, const char* x,
    plait_text** result) {
  plait_argument plait_given[1];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  return plait_fusion_op(fusion, "mish", names, plait_given, plait_count, result);
}

/* 1 / (1 + exp(-x)). */
static inline plait_error* plait_op_sigmoid(plait_fusion* fusion, const char* names, const char* x,
    plait_text** result) {
  plait_argument plait_given[1];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  return plait_fusion_op(fusion, "sigmoid", names, plait_given, plait_count, result);
}

/* min(x, 0) - log(1 + exp(-abs(x))). */
static inline plait_error* plait_op_log_sigmoid(plait_fusion* fusion, const char* names, const char* x,
    plait_text** result) {
  plait_argument plait_given[1];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  return plait_fusion_op(fusion, "log_sigmoid", names, plait_given, plait_count, result);
}

/* log(1 + exp(x)), x beyond 20. */
static inline plait_error* plait_op_softplus(plait_fusion* fusion, const char* names, const char* x,
    plait_text** result) {
  plait_argument plait_given[1];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  return plait_fusion_op(fusion, "softplus", names, plait_given, plait_count, result);
}

/* x / (1 + abs(x)). */
static inline plait_error* plait_op_softsign(plait_fusion* fusion, const char* names, const char* x,
    plait_text** result) {
  plait_argument plait_given[1];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  return plait_fusion_op(fusion, "softsign", names, plait_given, plait_count, result);
}

/* x - tanh(x). */
static inline plait_error* plait_op_tanhshrink(plait_fusion* fusion, const char* names, const char* x,
    plait_text** result) {
  plait_argument plait_given[1];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  return plait_fusion_op(fusion, "tanhshrink", names, plait_given, plait_count, result);
}

/* min(max(x + 3, 0), 6) / 6. */
static inline plait_error* plait_op_hardsigmoid(plait_fusion* fusion, const char* names, const char* x,
    plait_text** result) {
  plait_argument plait_given[1];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  return plait_fusion_op(fusion, "hardsigmoid", names, plait_given, plait_count, result);
}

/* x min(max(x + 3, 0), 6) / 6. */
static inline plait_error* plait_op_hardswish(plait_fusion* fusion, const char* names, const char* x,
    plait_text** result) {
  plait_argument plait_given[1];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  return plait_fusion_op(fusion, "hardswish", names, plait_given, plait_count, result);
}

/* 0 for abs(x) <= y, else x. */
static inline plait_error* plait_op_hardshrink(plait_fusion* fusion, const char* names, const char* x, const char* y,
    plait_text** result) {
  plait_argument plait_given[2];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  plait_given[plait_count++] = plait_tensor_argument(NULL, y);
  return plait_fusion_op(fusion, "hardshrink", names, plait_given, plait_count, result);
}

/* x - y for x > y, x + y for x < -y, else 0. */
static inline plait_error* plait_op_softshrink(plait_fusion* fusion, const char* names, const char* x, const char* y,
    plait_text** result) {
  plait_argument plait_given[2];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  plait_given[plait_count++] = plait_tensor_argument(NULL, y);
  return plait_fusion_op(fusion, "softshrink", names, plait_given, plait_count, result);
}

/* x = y. */
static inline plait_error* plait_op_eq(plait_fusion* fusion, const char* names, const char* x, const char* y,
    plait_text** result) {
  plait_argument plait_given[2];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  plait_given[plait_count++] = plait_tensor_argument(NULL, y);
  return plait_fusion_op(fusion, "eq", names, plait_given, plait_count, result);
}

/* not x = y. */
static inline plait_error* plait_op_ne(plait_fusion* fusion, const char* names, const char* x, const char* y,
    plait_text** result) {
  plait_argument plait_given[2];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  plait_given[plait_count++] = plait_tensor_argument(NULL, y);
  return plait_fusion_op(fusion, "ne", names, plait_given, plait_count, result);
}

/* x < y. */
static inline plait_error* plait_op_lt(plait_fusion* fusion, const char* names, const char* x, const char* y,
    plait_text** result) {
  plait_argument plait_given[2];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  plait_given[plait_count++] = plait_tensor_argument(NULL, y);
  return plait_fusion_op(fusion, "lt", names, plait_given, plait_count, result);
}

/* x <= y. */
static inline plait_error* plait_op_le(plait_fusion* fusion, const char* names, const char* x, const char* y,
    plait_text** result) {
  plait_argument plait_given[2];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  plait_given[plait_count++] = plait_tensor_argument(NULL, y);
  return plait_fusion_op(fusion, "le", names, plait_given, plait_count, result);
}

/* x > y. */
static inline plait_error* plait_op_gt(plait_fusion* fusion, const char* names, const char* x, const char* y,
    plait_text** result) {
  plait_argument plait_given[2];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  plait_given[plait_count++] = plait_tensor_argument(NULL, y);
  return plait_fusion_op(fusion, "gt", names, plait_given, plait_count, result);
}

/* x >= y. */
static inline plait_error* plait_op_ge(plait_fusion* fusion, const char* names, const char* x, const char* y,
    plait_text** result) {
  plait_argument plait_given[2];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  plait_given[plait_count++] = plait_tensor_argument(NULL, y);
  return plait_fusion_op(fusion, "ge", names, plait_given, plait_count, result);
}

/* x is NaN. */
static inline plait_error* plait_op_isnan(plait_fusion* fusion, const char* names, const char* x,
    plait_text** result) {
  plait_argument plait_given[1];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  return plait_fusion_op(fusion, "isnan", names, plait_given, plait_count, result);
}

/* x is an infinity. */
static inline plait_error* plait_op_isinf(plait_fusion* fusion, const char* names, const char* x,
    plait_text** result) {
  plait_argument plait_given[1];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  return plait_fusion_op(fusion, "isinf", names, plait_given, plait_count, result);
}

/* x is a number. */
static inline plait_error* plait_op_isfinite(plait_fusion* fusion, const char* names, const char* x,
    plait_text** result) {
  plait_argument plait_given[1];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  return plait_fusion_op(fusion, "isfinite", names, plait_given, plait_count, result);
}

/* x has a minus sign. */
static inline plait_error* plait_op_signbit(plait_fusion* fusion, const char* names, const char* x,
    plait_text** result) {
  plait_argument plait_given[1];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  return plait_fusion_op(fusion, "signbit", names, plait_given, plait_count, result);
}

/* x != 0 and y != 0. */
static inline plait_error* plait_op_logical_and(plait_fusion* fusion, const char* names, const char* x, const char* y,
    plait_text** result) {
  plait_argument plait_given[2];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  plait_given[plait_count++] = plait_tensor_argument(NULL, y);
  return plait_fusion_op(fusion, "logical_and", names, plait_given, plait_count, result);
}

/* x != 0 or y != 0. */
static inline plait_error* plait_op_logical_or(plait_fusion* fusion, const char* names, const char* x, const char* y,
    plait_text** result) {
  plait_argument plait_given[2];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  plait_given[plait_count++] = plait_tensor_argument(NULL, y);
  return plait_fusion_op(fusion, "logical_or", names, plait_given, plait_count, result);
}

/* one of x != 0, y != 0. */
static inline plait_error* plait_op_logical_xor(plait_fusion* fusion, const char* names, const char* x, const char* y,
    plait_text** result) {
  plait_argument plait_given[2];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  plait_given[plait_count++] = plait_tensor_argument(NULL, y);
  return plait_fusion_op(fusion, "logical_xor", names, plait_given, plait_count, result);
}

/* x = 0. */
static inline plait_error* plait_op_logical_not(plait_fusion* fusion, const char* names, const char* x,
    plait_text** result) {
  plait_argument plait_given[1];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  return plait_fusion_op(fusion, "logical_not", names, plait_given, plait_count, result);
}

/* bits of both. */
static inline plait_error* plait_op_bitwise_and(plait_fusion* fusion, const char* names, const char* x, const char* y,
    plait_text** result) {
  plait_argument plait_given[2];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  plait_given[plait_count++] = plait_tensor_argument(NULL, y);
  return plait_fusion_op(fusion, "bitwise_and", names, plait_given, plait_count, result);
}

/* bits of either. */
static inline plait_error* plait_op_bitwise_or(plait_fusion* fusion, const char* names, const char* x, const char* y,
    plait_text** result) {
  plait_argument plait_given[2];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  plait_given[plait_count++] = plait_tensor_argument(NULL, y);
  return plait_fusion_op(fusion, "bitwise_or", names, plait_given, plait_count, result);
}

/* bits of one. */
static inline plait_error* plait_op_bitwise_xor(plait_fusion* fusion, const char* names, const char* x, const char* y,
    plait_text** result) {
  plait_argument plait_given[2];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  plait_given[plait_count++] = plait_tensor_argument(NULL, y);
  return plait_fusion_op(fusion, "bitwise_xor", names, plait_given, plait_count, result);
}

/* all other bits. */
static inline plait_error* plait_op_bitwise_not(plait_fusion* fusion, const char* names, const char* x,
    plait_text** result) {
  plait_argument plait_given[1];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  return plait_fusion_op(fusion, "bitwise_not", names, plait_given, plait_count, result);
}

/* x 2^y modulo 2^bits. */
static inline plait_error* plait_op_shift_left(plait_fusion* fusion, const char* names, const char* x, const char* y,
    plait_text** result) {
  plait_argument plait_given[2];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  plait_given[plait_count++] = plait_tensor_argument(NULL, y);
  return plait_fusion_op(fusion, "shift_left", names, plait_given, plait_count, result);
}

/* floor(x / 2^y). */
static inline plait_error* plait_op_shift_right(plait_fusion* fusion, const char* names, const char* x, const char* y,
    plait_text** result) {
  plait_argument plait_given[2];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  plait_given[plait_count++] = plait_tensor_argument(NULL, y);
  return plait_fusion_op(fusion, "shift_right", names, plait_given, plait_count, result);
}

/* y for x true, else z. */
static inline plait_error* plait_op_where(plait_fusion* fusion, const char* names, const char* x, const char* y,
    const char* z, plait_text** result) {
  plait_argument plait_given[3];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  plait_given[plait_count++] = plait_tensor_argument(NULL, y);
  plait_given[plait_count++] = plait_tensor_argument(NULL, z);
  return plait_fusion_op(fusion, "where", names, plait_given, plait_count, result);
}

/* x in another dtype. */
static inline plait_error* plait_op_cast(plait_fusion* fusion, const char* names, const char* x, const char* to,
    plait_text** result) {
  plait_argument plait_given[2];
  size_t plait_count = 0;
  plait_given[plait_count++] = plait_tensor_argument(NULL, x);
  plait_given[plait_count++] = plait_word_argument("to", to);
  return plait_fusion_op(fusion, "cast", names, plait_given, plait_count, result);
}

#ifdef __cplusplus
}
#endif
#endif
