#include "compile/ask_multiples.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "graph/passes.h"

namespace plait {

namespace {

constexpr int64_t kMost = 16;  // the lanes of the widest vectors, and the most that is asked for

// Lanes that a row of the tensor would be whole vectors of. The widest count on every CPU: one text for most sizes. On
// the reference they alone do, so that its texts do not depend on the machine.
std::vector<int64_t> lanes_of(const TensorView& tensor, const Target& target, int64_t parts) {
  const auto bytes = static_cast<int64_t>(size_of(tensor.dtype));
  if (target.cuda()) {
    const int64_t lanes = kMost / std::max<int64_t>(bytes, 2);
    return {std::min(kMost, lanes * parts), lanes, std::min<int64_t>(lanes, 4)};  // of a piece, of the whole
  }
  if (target.kind == TargetKind::reference) return {kMost};
  return {kMost, std::max<int64_t>(1, bytes == 8 ? target.vector_lanes / 2 : target.vector_lanes)};
}

class Questions {
 public:
  explicit Questions(const DeviceMesh& mesh) : mesh_(mesh) {}

  void of_tensor(const TensorView& tensor, const Target& target) {
    const bool sum = tensor.definition != nullptr && property(tensor.definition->kind) == OpProperty::reduction;
    if (!sum)  // what is made of it asks, where it has rows
      for (const int64_t lanes : lanes_of(tensor, target, mesh_.ranks() & -mesh_.ranks())) row(tensor, lanes);
    for (sym::Expr extent : tensor.shape()) quotients(extent, tensor);
  }

  std::vector<MultipleQuestion> all(const std::set<std::string>& symbols) {
    for (const std::string& symbol : symbols)
      for (int64_t d = 2; d <= kMost; d *= 2)
        if (mesh_.ranks() % d == 0) ask(symbol, d, [] { return std::string("pieces of the mesh"); });
    std::vector<MultipleQuestion> out;
    for (const auto& [symbol, multiples] : asked_)
      for (const auto& [multiple, who] : multiples) out.push_back({symbol, multiple, who});
    return out;
  }

 private:
  template <class Who>
  void ask(const std::string& symbol, int64_t multiple, Who who) {
    auto& multiples = asked_[symbol];
    if (multiple > 1 && !multiples.contains(multiple)) multiples.emplace(multiple, who());
  }

  void row(const TensorView& tensor, int64_t lanes) {
    const std::vector<sym::Expr> shape = tensor.shape();
    if (!shape.empty() && shape.back().constant() == 1) return;  // one number for each row of others
    for (size_t d = shape.size(); d-- > 0 && lanes > 1;) {
      lanes /= std::gcd(lanes, sym::divisor(shape[d]));
      if (shape[d].constant()) continue;
      for (const std::string& symbol : sym::symbols(shape[d]))
        ask(symbol, lanes, [&] { return fmt::format("rows of %{}", tensor.name); });
      return;
    }
  }

  void quotients(sym::Expr extent, const TensorView& tensor) {
    if (extent.operands().empty() || !seen_.insert(extent.node()).second) return;
    const sym::Kind kind = extent.kind();
    if (kind == sym::Kind::floordiv || kind == sym::Kind::mod || kind == sym::Kind::chunk ||
        kind == sym::Kind::chunk_start)
      for (const std::string& symbol : sym::symbols(extent))
        for (int64_t d = 2; d <= kMost; d *= 2)
          ask(symbol, d, [&] { return fmt::format("quotients of %{}", tensor.name); });
    for (sym::Expr operand : extent.operands()) quotients(operand, tensor);
  }

  const DeviceMesh& mesh_;
  std::map<std::string, std::map<int64_t, std::string, std::greater<>>> asked_;
  std::set<const sym::Node*> seen_;
};

}  // namespace

std::vector<MultipleQuestion> multiple_questions(const Fusion& fusion, const DeviceMesh& mesh, const Target& target) {
  const std::unique_ptr<Fusion> open = clone(fusion);
  drop_allocations(*open);
  number_random_ops(*open);
  expand(*open);  // rows of what composites compute
  remove_dead_code(*open);
  Questions out(mesh);
  std::set<std::string> symbols;
  for (const TensorView* t : open->tensors()) out.of_tensor(*t, target);
  for (const TensorView* t : open->inputs())
    for (sym::Expr extent : t->shape()) sym::symbols(extent, symbols);
  return out.all(symbols);
}

void ask_multiples(const std::vector<MultipleQuestion>& questions, const Fusion& fusion, sym::Guards* guards,
                   CloneOptions& facts) {
  if (guards == nullptr) return;
  sym::Pool pool;
  fusion.given().apply(pool);
  for (const MultipleQuestion& q : questions) {
    const auto it = facts.facts.find(q.symbol);
    if (it == facts.facts.end() || it->second.multiple_of % q.multiple == 0) continue;
    if (guards->decide(sym::eq(sym::mod(pool.symbol(q.symbol, {.lo = 0}), q.multiple), 0), q.asked_by))
      it->second.multiple_of = std::lcm(it->second.multiple_of, q.multiple);
  }
}

}  // namespace plait
