#pragma once
// Exact conversions between element types in memory and double, float, int64_t. All rounding is to nearest, ties to
// even, in one step. Memory is read and written in the machine's byte order and may be unaligned.
#include <cstdint>

#include "scalar/dtype.h"

namespace plait {

// Bits of the narrow floats. Rounding keeps infinities, signed zeros and denormals; overflow gives infinity; a NaN
// keeps its sign, and for f16 and bf16 is quieted and keeps the leading payload bits. f8e5m2 has one NaN, 0x7F. f8e4m3
// is the OCP variant without infinity (exponent 15 is a number unless all bits are set, which is NaN): overflow and
// infinities give the largest number, 448, as torch.float8_e4m3fn and the GPUs' own conversions do.
uint8_t f8e4m3_from_double(double value);
uint8_t f8e5m2_from_double(double value);
uint8_t f8e4m3_from_float(float value);
uint8_t f8e5m2_from_float(float value);
double f8e4m3_to_double(uint8_t bits);  // exact
double f8e5m2_to_double(uint8_t bits);
float f8e4m3_to_float(uint8_t bits);
float f8e5m2_to_float(uint8_t bits);
uint16_t f16_from_double(double value);
uint16_t bf16_from_double(double value);
uint16_t f16_from_float(float value);
uint16_t bf16_from_float(float value);
double f16_to_double(uint16_t bits);  // exact
double bf16_to_double(uint16_t bits);
float f16_to_float(uint16_t bits);
float bf16_to_float(uint16_t bits);

// The element at `source` as a double: exact, except i64 and u64 beyond 2^53, which round to nearest. bool: 0 or 1.
double load_double(DType dtype, const void* source);
// Writes `value` rounded to `dtype`. Integers: truncated toward zero, saturating, NaN becomes 0. bool: value != 0 (a
// NaN is true).
void store_double(DType dtype, void* target, double value);
// The value that store_double followed by load_double gives.
double round_to(DType dtype, double value);
// Whether a finite value lies so far out that rounding to nearest, were the exponents without end, gives no number of
// the float type. False for integers and bool.
bool overflows(DType dtype, double value);

// Distance from |value| (rounded down to a number of `dtype`) to the next larger number, as if the exponent had no
// upper end; smallest_spacing around zero, 1 for integers and bool. Infinite beyond max_finite, NaN for NaN.
double ulp(DType dtype, double value);

// The element at `source`, integers and bool only: u64 as the int64_t of the same bits, all others by value.
int64_t load_int64(DType dtype, const void* source);
// Writes an integer modulo 2^bits; bool: value != 0.
void store_int64(DType dtype, void* target, int64_t value);
// The value that store_int64 followed by load_int64 gives.
int64_t wrap_to(DType dtype, int64_t value);

}  // namespace plait
