#include "scalar/dtype.h"

#include <array>
#include <string>

#include "base/error.h"

namespace plait {
namespace {

struct DTypeInfo {
  std::string_view text;
  int bits;
  DTypeClass kind;
};

constexpr std::array<DTypeInfo, kDTypeCount> kInfo{{
#define X(enumerator, text, bits, kind) {#text, bits, DTypeClass::kind},
#include "scalar/dtype.def"
#undef X
}};

const DTypeInfo& info_of(DType dtype) {
  PLAIT_CHECK(size_t(dtype) < kInfo.size(), "dtype {}", int(dtype));
  return kInfo[size_t(dtype)];
}

// Facts of a binary floating format.
struct FloatFormat {
  int precision;  // bits of the significand, the leading one included
  double unit_roundoff, min_normal, smallest_spacing, max_finite;
};

const FloatFormat* format_of(DType dtype) {
  static constexpr FloatFormat f16{11, 0x1p-11, 0x1p-14, 0x1p-24, 65504.0};
  static constexpr FloatFormat bf16{8, 0x1p-8, 0x1p-126, 0x1p-133, 0x1.FEp127};
  static constexpr FloatFormat f32{24, 0x1p-24, 0x1p-126, 0x1p-149, 0x1.FFFFFEp127};
  static constexpr FloatFormat f64{53, 0x1p-53, 0x1p-1022, 0x1p-1074, 0x1.FFFFFFFFFFFFFp1023};
  switch (dtype) {
    case DType::f16:
      return &f16;
    case DType::bf16:
      return &bf16;
    case DType::f32:
      return &f32;
    case DType::f64:
      return &f64;
    case DType::boolean:
    case DType::i64:
    case DType::u32:
    case DType::u64:
      return nullptr;
  }
  return nullptr;
}

// The one table of promotion; a gap is a pair without a common type. Order: bool i64 u32 u64 f16 bf16 f32 f64.
constexpr DType kBool = DType::boolean, kI64 = DType::i64, kU32 = DType::u32, kU64 = DType::u64, kF16 = DType::f16,
                kBf16 = DType::bf16, kF32 = DType::f32, kF64 = DType::f64, kNone = DType(255);
// clang-format off
constexpr DType kPromotion[kDTypeCount][kDTypeCount] = {
    /* bool */ {kBool, kI64,  kNone, kNone, kF16, kBf16, kF32, kF64},
    /* i64  */ {kI64,  kI64,  kNone, kNone, kF16, kBf16, kF32, kF64},
    /* u32  */ {kNone, kNone, kU32,  kNone, kF16, kBf16, kF32, kF64},
    /* u64  */ {kNone, kNone, kNone, kU64,  kF16, kBf16, kF32, kF64},
    /* f16  */ {kF16,  kF16,  kF16,  kF16,  kF16, kF32,  kF32, kF64},
    /* bf16 */ {kBf16, kBf16, kBf16, kBf16, kF32, kBf16, kF32, kF64},
    /* f32  */ {kF32,  kF32,  kF32,  kF32,  kF32, kF32,  kF32, kF64},
    /* f64  */ {kF64,  kF64,  kF64,  kF64,  kF64, kF64,  kF64, kF64},
};
// clang-format on

}  // namespace

std::string_view name(DType dtype) { return info_of(dtype).text; }

std::optional<DType> parse_dtype(std::string_view text) {
  for (size_t i = 0; i < kInfo.size(); ++i)
    if (kInfo[i].text == text) return DType(i);
  return std::nullopt;
}

DTypeClass class_of(DType dtype) { return info_of(dtype).kind; }
size_t size_of(DType dtype) { return size_t(info_of(dtype).bits) / 8; }

bool is_float(DType dtype) { return class_of(dtype) == DTypeClass::floating; }
bool is_unsigned(DType dtype) { return class_of(dtype) == DTypeClass::unsigned_integer; }
bool is_integer(DType dtype) { return class_of(dtype) == DTypeClass::signed_integer || is_unsigned(dtype); }
bool is_narrow(DType dtype) { return is_float(dtype) && info_of(dtype).bits < 32; }

DType accumulation_type(DType dtype) { return is_float(dtype) ? compute_type(dtype) : DType::i64; }
DType compute_type(DType dtype) { return is_narrow(dtype) ? DType::f32 : dtype; }

double unit_roundoff(DType dtype) {
  const FloatFormat* format = format_of(dtype);
  return format ? format->unit_roundoff : 0.0;
}

int64_t max_exact_integer(DType dtype) {
  if (const FloatFormat* format = format_of(dtype)) return int64_t(1) << format->precision;
  if (dtype == DType::boolean) return 1;
  return dtype == DType::u32 ? int64_t(UINT32_MAX) : INT64_MAX;
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
  switch (dtype) {
    case DType::i64:
      return 0x1p63;
    case DType::u32:
      return 4294967295.0;
    case DType::u64:
      return 0x1p64;
    default:
      return 1.0;
  }
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
