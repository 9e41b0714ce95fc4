#pragma once
// Types of PTX.
#include <cstdint>
#include <optional>
#include <string_view>

namespace plait::sim::ptx {

// X(enumerator and text, bits, class)
#define PLAIT_PTX_TYPES(X) \
  X(pred, 1, predicate)    \
  X(b8, 8, bits)           \
  X(b16, 16, bits)         \
  X(b32, 32, bits)         \
  X(b64, 64, bits)         \
  X(u8, 8, unsigned_)      \
  X(u16, 16, unsigned_)    \
  X(u32, 32, unsigned_)    \
  X(u64, 64, unsigned_)    \
  X(s8, 8, signed_)        \
  X(s16, 16, signed_)      \
  X(s32, 32, signed_)      \
  X(s64, 64, signed_)      \
  X(f16, 16, floating)     \
  X(bf16, 16, floating)    \
  X(f32, 32, floating)     \
  X(f64, 64, floating)     \
  X(f16x2, 32, packed)     \
  X(bf16x2, 32, packed)    \
  X(f32x2, 64, packed)

enum class Type : uint8_t {
  none,
#define X(name, bits, kind) name,
  PLAIT_PTX_TYPES(X)
#undef X
};
enum class TypeClass : uint8_t { none, predicate, bits, unsigned_, signed_, floating, packed };

int bits_of(Type type);
TypeClass class_of(Type type);
std::string_view name(Type type);
std::optional<Type> parse_type(std::string_view text);  // "u32", without the dot

inline bool is_signed(Type type) { return class_of(type) == TypeClass::signed_; }
inline bool is_float(Type type) { return class_of(type) == TypeClass::floating; }
// Signed, unsigned or untyped bits.
inline bool is_integer(Type type) {
  const TypeClass kind = class_of(type);
  return kind == TypeClass::bits || kind == TypeClass::unsigned_ || kind == TypeClass::signed_;
}

}  // namespace plait::sim::ptx
