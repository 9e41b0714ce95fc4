#include "kir/fingerprint.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <optional>
#include <vector>

namespace plait::kir {
namespace {

class Words {
 public:
  void add(uint64_t word) { words_.push_back(word); }
  void add(sym::Expr e) { add(e ? uint64_t{e.id()} + 1 : 0); }
  void add(const Value& v) {
    add(v.id);
    add(uint64_t(v.dtype) << 32 | uint64_t(v.lanes));
  }
  void add(const Constant& c) {
    add(uint64_t(c.dtype));
    add(c.bits);
  }
  void add(const std::optional<DType>& dtype) { add(dtype ? uint64_t(*dtype) + 1 : 0); }
  void add(const std::vector<Value>& values) {
    add(values.size());
    for (const Value& v : values) add(v);
  }
  void add(const Block& body) {
    add(body.size());
    for (const auto& stmt : body) {
      add(uint64_t(stmt->kind));
      visit(*stmt,
            [&](const auto& s) { for_each_field(s, [&](const auto&, const auto& member) { member_of(member); }); });
    }
  }
  uint64_t hash() const { return XXH3_64bits(words_.data(), words_.size() * sizeof(uint64_t)); }

 private:
  template <class T>
  void member_of(const T& member) {
    if constexpr (std::is_enum_v<T> || std::is_integral_v<T>)
      add(static_cast<uint64_t>(member));
    else
      add(member);
  }

  std::vector<uint64_t> words_;
};

}  // namespace

uint64_t fingerprint(const Kernel& kernel) {
  Words words;
  words.add(uint64_t(kernel.target) << 1 | uint64_t(kernel.narrow));
  words.add(kernel.buffers.size());
  for (const Buffer& b : kernel.buffers) {
    words.add(XXH3_64bits(b.name.data(), b.name.size()));
    words.add(b.extent);
    words.add(uint64_t(b.dtype) << 8 | uint64_t(b.space));
    words.add(uint64_t(b.written) << 2 | uint64_t(b.updated) << 1 | uint64_t(b.replaced));
    words.add(uint64_t(b.turned));
  }
  words.add(kernel.integers.size());
  for (const sym::Expr e : kernel.integers) words.add(e);
  for (const Phase& phase : kernel.phases) {
    words.add(uint64_t(phase.beside));
    words.add(phase.body);
  }
  return words.hash();
}

}  // namespace plait::kir
