#include <algorithm>

#include "build/compose.h"
#include "graph/passes.h"
#include "graph/rewrite.h"

namespace plait {

void number_random_ops(Fusion& fusion) {
  int64_t ordinal = 0;
  for (Op* op : fusion.ops()) {
    std::optional<int64_t>* offset = counter_offset(*op);
    if (!offset) continue;
    if (!*offset) *offset = ordinal;
    ++ordinal;
  }
}

namespace {

// An op with several results computes all of them in one pass: worth it where more than one is read, or where no other
// ops say one of them.
bool is_half_read(const Op& op, const Fusion& fusion) {
  const auto read = [&](const TensorView* t) { return fusion.is_output(t) || !fusion.readers(t).empty(); };
  return op.results.size() > 1 && can_compose(op.kind) && std::count_if(op.results.begin(), op.results.end(), read) < 2;
}

constexpr size_t kMostOperands = 64;  // of one cat: what a kernel reads, and its branches, grow with them

// Parts of so many operands, until one cat takes what is left.
void cat_by_parts(Rewriter& rewriter, const Cat& cat) {
  std::vector<TensorView*> in = cat.in;
  const auto made_of = [&](std::vector<TensorView*> operands) {
    auto part = std::make_unique<Cat>();
    part->in = std::move(operands);
    part->dim = cat.dim;
    return part;
  };
  while (in.size() > kMostOperands) {
    std::vector<TensorView*> parts;
    for (size_t i = 0; i < in.size(); i += kMostOperands) {
      std::vector<TensorView*> some(in.begin() + static_cast<ptrdiff_t>(i),
                                    in.begin() + static_cast<ptrdiff_t>(std::min(in.size(), i + kMostOperands)));
      parts.push_back(some.size() == 1 ? some[0] : rewriter.emit(made_of(std::move(some)), cat.out()->name + "_part"));
    }
    in = std::move(parts);
  }
  rewriter.emit_as(made_of(std::move(in)), cat.out());
}

}  // namespace

void expand(Fusion& fusion, bool for_sharding) {
  widen_scatters(fusion);
  Rewriter rewriter(fusion);
  rewriter.run([&](Op* op) {
    if (const Cat* cat = as<Cat>(*op); cat != nullptr && cat->in.size() > kMostOperands)
      return cat_by_parts(rewriter, *cat);
    const bool composite = property(op->kind) == OpProperty::composite;
    const bool stays = !composite ? !is_half_read(*op, fusion) : for_sharding && is_sharded_whole(op->kind);
    if (stays) return rewriter.keep(op);
    rewriter.replace([&] { compose_as(fusion, *op); });
  });
}

}  // namespace plait
