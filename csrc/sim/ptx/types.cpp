#include "sim/ptx/types.h"

namespace plait::sim::ptx {
namespace {

struct Row {
  std::string_view name;
  int bits;
  TypeClass kind;
};

constexpr Row kRows[] = {{"", 0, TypeClass::none},
#define X(name, bits, kind) {#name, bits, TypeClass::kind},
                         PLAIT_PTX_TYPES(X)
#undef X
};

}  // namespace

int bits_of(Type type) { return kRows[static_cast<int>(type)].bits; }
TypeClass class_of(Type type) { return kRows[static_cast<int>(type)].kind; }
std::string_view name(Type type) { return kRows[static_cast<int>(type)].name; }

std::optional<Type> parse_type(std::string_view text) {
  for (size_t i = 1; i < std::size(kRows); ++i)
    if (kRows[i].name == text) return static_cast<Type>(i);
  return {};
}

}  // namespace plait::sim::ptx
