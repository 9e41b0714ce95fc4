#include "scalar/dtype.h"

#include <array>
#include <cmath>
#include <string>

#include "base/error.h"

namespace plait {
namespace {

struct DTypeInfo {
  std::string_view text;
  int bits;
  DTypeClass kind;
};

constexpr std::array<DTypeInfo, kDTypeCount> kDTypes{{
#define X(enumerator, text, bits, kind) {#text, bits, DTypeClass::kind},
#include "scalar/dtype.def"
#undef X
}};

const DTypeInfo& info_of(DType dtype) {
  PLAIT_CHECK(size_t(dtype) < kDTypes.size(), "dtype {}", int(dtype));
  return kDTypes[size_t(dtype)];
}

// Facts of a binary floating format.
struct FloatFormat {
  int precision;  // bits of the significand, the leading one included
  double unit_roundoff, min_normal, smallest_spacing, max_finite;
};

const FloatFormat* format_of(DType dtype) {
  static constexpr FloatFormat f8e4m3{4, 0x1p-4, 0x1p-6, 0x1p-9, 448.0};
  static constexpr FloatFormat f8e5m2{3, 0x1p-3, 0x1p-14, 0x1p-16, 57344.0};
  static constexpr FloatFormat f16{11, 0x1p-11, 0x1p-14, 0x1p-24, 65504.0};
  static constexpr FloatFormat bf16{8, 0x1p-8, 0x1p-126, 0x1p-133, 0x1.FEp127};
  static constexpr FloatFormat f32{24, 0x1p-24, 0x1p-126, 0x1p-149, 0x1.FFFFFEp127};
  static constexpr FloatFormat f64{53, 0x1p-53, 0x1p-1022, 0x1p-1074, 0x1.FFFFFFFFFFFFFp1023};
  switch (dtype) {
    case DType::f8e4m3:
      return &f8e4m3;
    case DType::f8e5m2:
      return &f8e5m2;
    case DType::f16:
      return &f16;
    case DType::bf16:
      return &bf16;
    case DType::f32:
      return &f32;
    case DType::f64:
      return &f64;
    case DType::boolean:
    case DType::i8:
    case DType::i16:
    case DType::i32:
    case DType::i64:
    case DType::u8:
    case DType::u16:
    case DType::u32:
    case DType::u64:
      return nullptr;
  }
  return nullptr;
}

// The one table of promotion; a gap is a pair without a common type. Order: that of dtype.def.
constexpr DType kBool = DType::boolean, kI8 = DType::i8, kI16 = DType::i16, kI32 = DType::i32, kI64 = DType::i64,
                kU8 = DType::u8, kU16 = DType::u16, kU32 = DType::u32, kU64 = DType::u64, kE4m3 = DType::f8e4m3,
                kE5m2 = DType::f8e5m2, kF16 = DType::f16, kBf16 = DType::bf16, kF32 = DType::f32, kF64 = DType::f64,
                kNone = DType(255);
// clang-format off
constexpr DType kPromotion[kDTypeCount][kDTypeCount] = {
  /*bool  */ {kBool, kI8,   kI16,  kI32,  kI64,  kU8,   kNone, kNone, kNone, kNone, kNone, kF16,  kBf16, kF32,  kF64},
  /*i8    */ {kI8,   kI8,   kI16,  kI32,  kI64,  kI16,  kNone, kNone, kNone, kNone, kNone, kF16,  kBf16, kF32,  kF64},
  /*i16   */ {kI16,  kI16,  kI16,  kI32,  kI64,  kI16,  kNone, kNone, kNone, kNone, kNone, kF16,  kBf16, kF32,  kF64},
  /*i32   */ {kI32,  kI32,  kI32,  kI32,  kI64,  kI32,  kNone, kNone, kNone, kNone, kNone, kF16,  kBf16, kF32,  kF64},
  /*i64   */ {kI64,  kI64,  kI64,  kI64,  kI64,  kI64,  kNone, kNone, kNone, kNone, kNone, kF16,  kBf16, kF32,  kF64},
  /*u8    */ {kU8,   kI16,  kI16,  kI32,  kI64,  kU8,   kNone, kNone, kNone, kNone, kNone, kF16,  kBf16, kF32,  kF64},
  /*u16   */ {kNone, kNone, kNone, kNone, kNone, kNone, kU16,  kNone, kNone, kNone, kNone, kF16,  kBf16, kF32,  kF64},
  /*u32   */ {kNone, kNone, kNone, kNone, kNone, kNone, kNone, kU32,  kNone, kNone, kNone, kF16,  kBf16, kF32,  kF64},
  /*u64   */ {kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone, kU64,  kNone, kNone, kF16,  kBf16, kF32,  kF64},
  /*f8e4m3*/ {kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone, kE4m3, kNone, kNone, kNone, kNone, kNone},
  /*f8e5m2*/ {kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone, kE5m2, kNone, kNone, kNone, kNone},
  /*f16   */ {kF16,  kF16,  kF16,  kF16,  kF16,  kF16,  kF16,  kF16,  kF16,  kNone, kNone, kF16,  kF32,  kF32,  kF64},
  /*bf16  */ {kBf16, kBf16, kBf16, kBf16, kBf16, kBf16, kBf16, kBf16, kBf16, kNone, kNone, kF32,  kBf16, kF32,  kF64},
  /*f32   */ {kF32,  kF32,  kF32,  kF32,  kF32,  kF32,  kF32,  kF32,  kF32,  kNone, kNone, kF32,  kF32,  kF32,  kF64},
  /*f64   */ {kF64,  kF64,  kF64,  kF64,  kF64,  kF64,  kF64,  kF64,  kF64,  kNone, kNone, kF64,  kF64,  kF64,  kF64},
};
// clang-format on

}  // namespace

std::string_view name(DType dtype) { return info_of(dtype).text; }

std::optional<DType> parse_dtype(std::string_view text) {
  for (size_t i = 0; i < kDTypes.size(); ++i)
    if (kDTypes[i].text == text) return DType(i);
  return std::nullopt;
}

DTypeClass class_of(DType dtype) { return info_of(dtype).kind; }
size_t size_of(DType dtype) { return size_t(info_of(dtype).bits) / 8; }

bool is_float(DType dtype) { return class_of(dtype) == DTypeClass::floating; }
bool is_unsigned(DType dtype) { return class_of(dtype) == DTypeClass::unsigned_integer; }
bool is_integer(DType dtype) { return class_of(dtype) == DTypeClass::signed_integer || is_unsigned(dtype); }
bool is_narrow(DType dtype) { return is_float(dtype) && info_of(dtype).bits < 32; }

bool is_f8(DType dtype) { return is_float(dtype) && info_of(dtype).bits == 8; }
bool is_always_rounded(DType dtype) { return is_f8(dtype) || (is_integer(dtype) && info_of(dtype).bits < 32); }

DType accumulation_type(DType dtype) { return is_float(dtype) ? compute_type(dtype) : DType::i64; }

DType compute_type(DType dtype) {
  if (is_narrow(dtype)) return DType::f32;
  if (!is_always_rounded(dtype)) return dtype;
  return is_unsigned(dtype) ? DType::u32 : DType::i32;
}

double unit_roundoff(DType dtype) {
  const FloatFormat* format = format_of(dtype);
  return format ? format->unit_roundoff : 0.0;
}

int64_t max_exact_integer(DType dtype) {
  if (const FloatFormat* format = format_of(dtype)) return int64_t(1) << format->precision;
  if (dtype == DType::boolean) return 1;
  const int digits = info_of(dtype).bits - (is_unsigned(dtype) ? 0 : 1);
  return digits >= 63 ? INT64_MAX : (int64_t(1) << digits) - 1;
}

double smallest_spacing(DType dtype) {
  const FloatFormat* format = format_of(dtype);
  return format ? format->smallest_spacing : 1.0;
}

double min_normal(DType dtype) {
  const FloatFormat* format = format_of(dtype);
  return format ? format->min_normal : 1.0;
}

double max_finite(DType dtype) {
  if (const FloatFormat* format = format_of(dtype)) return format->max_finite;
  return dtype == DType::u64 ? 0x1p64 : double(max_exact_integer(dtype));
}

double least_finite(DType dtype) {
  if (is_float(dtype)) return -max_finite(dtype);
  return class_of(dtype) == DTypeClass::signed_integer ? -std::ldexp(1.0, info_of(dtype).bits - 1) : 0.0;
}

std::optional<DType> try_promote(DType a, DType b) {
  info_of(a), info_of(b);
  const DType result = kPromotion[size_t(a)][size_t(b)];
  return result == kNone ? std::nullopt : std::optional(result);
}

DType promote(DType a, DType b) {
  if (auto result = try_promote(a, b)) return *result;
  throw UserError(fmt::format("{} and {} have no common type", name(a), name(b)), "", "cast one of them first");
}

}  // namespace plait
