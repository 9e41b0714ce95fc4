#pragma once
// Element types of tensors and scalars, and the facts about them that numerics need.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace plait {

// Types of elements; their bits and classes: scalar/dtype.def.
enum class DType : uint8_t {
#define X(enumerator, text, bits, kind) enumerator,
#include "scalar/dtype.def"
#undef X
};

// How many there are.
inline constexpr int kDTypeCount = 0
#define X(enumerator, text, bits, kind) +1
#include "scalar/dtype.def"
#undef X
    ;

// What kind of numbers a dtype has.
enum class DTypeClass : uint8_t { logical, signed_integer, unsigned_integer, floating };

// Text name: "bool", "i64", "f32" ... The view has static lifetime.
std::string_view name(DType dtype);
// Inverse of name; nothing for an unknown text.
std::optional<DType> parse_dtype(std::string_view text);

DTypeClass class_of(DType dtype);  // of scalar/dtype.def
// Bytes of one element in memory; bool takes one byte, 0 or 1.
size_t size_of(DType dtype);

bool is_float(DType dtype);     // f8e4m3 to f64
bool is_integer(DType dtype);   // i8 to u64; bool is not an integer
bool is_unsigned(DType dtype);  // u8, u16, u32, u64
bool is_narrow(DType dtype);    // f8e4m3, f8e5m2, f16, bf16: storage types, computed in f32
bool is_f8(DType dtype);        // f8e4m3, f8e5m2
// Storage types whose tensors hold numbers of the type everywhere, inside of kernels too: f8 (rounded) and i8, i16, u8,
// u16 (modulo 2^bits). Values of f16 and bf16 may stay wider until they are stored or enter a discontinuity.
bool is_always_rounded(DType dtype);

// Type in which sums and products accumulate: f32 for narrow floats and f32; f64 for f64; i64 for integers and bool.
DType accumulation_type(DType dtype);
// Type in which elementwise ops compute: f32 for narrow floats, i32 for i8 and i16, u32 for u8 and u16, else the type
// itself.
DType compute_type(DType dtype);

// Relative error of one rounding to nearest: 2^-4 f8e4m3, 2^-3 f8e5m2, 2^-8 bf16, 2^-11 f16, 2^-24 f32, 2^-53 f64; 0
// for integers and bool.
double unit_roundoff(DType dtype);
// Largest n such that every integer x with |x| <= n is exact (0 <= x <= n for unsigned types and bool); at most 2^63
// - 1.
int64_t max_exact_integer(DType dtype);
// Distance between neighbours around zero: 2^-9 f8e4m3, 2^-16 f8e5m2, 2^-24 f16, 2^-133 bf16, 2^-149 f32, 2^-1074 f64;
// 1 for integers and bool.
double smallest_spacing(DType dtype);
// Smallest positive normal number of a float type; 1 for integers and bool.
double min_normal(DType dtype);
// Largest finite value (rounded up to a double for i64 and u64); bool: 1.
double max_finite(DType dtype);
// Least finite value: -max_finite of floats, 0 for unsigned integers and bool.
double least_finite(DType dtype);

// Common type of two operands, as torch.promote_types: bool yields to integers, integers and bool to floats, i8 with u8
// gives i16, f16 with bf16 gives f32. There is none, and PyTorch refuses too, for u16, u32 and u64 with bool or another
// integer type, and for f8 with any other type: nothing.
std::optional<DType> try_promote(DType a, DType b);
// The same; UserError naming both types where there is none.
DType promote(DType a, DType b);

}  // namespace plait
