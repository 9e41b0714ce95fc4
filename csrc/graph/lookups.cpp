// Lookups and scatters: their ordinals, and the type that scatters add and multiply in.
#include <algorithm>

#include "graph/passes.h"
#include "graph/rewrite.h"

namespace plait {

namespace {

Lookup facts(const Op& op, const TensorView& index, const TensorView& in, int64_t dim,
             const std::vector<sym::Expr>& places) {
  return {print(op, *op.out()->fusion), index.name, in.name, places, index.shape(), dim, in.extent(size_t(dim))};
}

Lookup facts(const Op& op) {
  return visit(op, overloaded{
                       [](const Embedding& o) { return facts(o, *o.index, *o.table, 0, o.index->shape()); },
                       [](const TakeAlong& o) { return facts(o, *o.index, *o.in, o.dim, o.out()->shape()); },
                       [](const Gather& o) { return facts(o, *o.index, *o.in, o.dim, o.index->shape()); },
                       [](const IndexSelect& o) { return facts(o, *o.index, *o.in, o.dim, o.index->shape()); },
                       [](const Scatter& o) { return facts(o, *o.index, *o.in, o.dim, o.index->shape()); },
                       [](const SliceAt& o) { return facts(o, *o.at, *o.in, o.dim, {}); },
                       [](const SliceUpdate& o) {
                         return o.at ? facts(o, *o.at, *o.in, o.dim, {})
                                     : facts(o, *o.update, *o.in, o.dim, o.update->shape());
                       },
                       [](const Op&) { return Lookup{}; },
                   });
}

}  // namespace

std::vector<Lookup> number_lookups(Fusion& fusion) {
  std::vector<Lookup> out;
  std::vector<const Op*> numbered;
  for (Op* op : fusion.ops()) {
    std::optional<int64_t>* ordinal = lookup_ordinal(*op);
    if (ordinal == nullptr) continue;
    ordinal->reset();
    Lookup lookup = facts(*op);
    const auto same = std::find_if(numbered.begin(), numbered.end(), [&](const Op* other) {
      *ordinal = *lookup_ordinal(const_cast<Op&>(*other));
      return same_fields(*op, *other);
    });
    if (same != numbered.end()) continue;
    *ordinal = int64_t(out.size());
    numbered.push_back(op);
    out.push_back(std::move(lookup));
  }
  return out;
}

void widen_scatters(Fusion& fusion) {
  Rewriter rewriter(fusion);
  rewriter.run([&](Op* op) {
    auto* scatter = as<Scatter>(*op);
    if (scatter == nullptr || !is_narrow(scatter->in->dtype) || !rounds(scatter->update)) return rewriter.keep(op);
    TensorView* out = op->out();
    const DType type = accumulation_type(out->dtype);
    auto wide = std::make_unique<Scatter>();
    wide->in = rewriter.cast(scatter->in, type, out->name + "_in");
    wide->index = scatter->index;
    wide->src = rewriter.cast(scatter->src, type, out->name + "_src");
    wide->dim = scatter->dim;
    wide->update = scatter->update;
    wide->bounds = scatter->bounds;
    wide->ordinal = scatter->ordinal;
    rewriter.cast_as(rewriter.emit(std::move(wide), out->name + "_wide"), out);
  });
}

}  // namespace plait
