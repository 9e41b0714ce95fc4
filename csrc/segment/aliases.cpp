#include "segment/aliases.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace plait {

namespace {

// Dims of the operand in the order in which the result has them in memory, but those of extent 1.
std::vector<int64_t> memory_order(const Permute& op) {
  std::vector<int64_t> out;
  for (int d : op.out()->domain.allocation)
    if (const int64_t from = op.dims[static_cast<size_t>(d)]; op.in->extent(static_cast<size_t>(from)).constant() != 1)
      out.push_back(from);
  return out;
}

// The allocation with which a permute that swaps the last two dims is its operand's memory; empty for other permutes.
std::vector<int> swapped_allocation(const Permute& op) {
  const size_t rank = op.dims.size();
  if (rank < 2 || !is_row_major(op.in->domain)) return {};
  std::vector<int> order(rank);
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[rank - 2], order[rank - 1]);
  return std::equal(order.begin(), order.end(), op.dims.begin()) ? order : std::vector<int>();
}

bool pinned(const Op& op, const SegmentOptions& options) {
  const auto it = options.pins.find(op.out()->name);
  return it != options.pins.end() && is_generated(it->second);
}

}  // namespace

bool is_alias(const Op& op) {
  return visit(op, overloaded{
                       [](const Reshape& o) { return is_row_major(o.in->domain) && is_row_major(o.out()->domain); },
                       [](const Squeeze& o) { return is_row_major(o.in->domain) && is_row_major(o.out()->domain); },
                       [](const Unsqueeze& o) { return is_row_major(o.in->domain) && is_row_major(o.out()->domain); },
                       [](const Permute& o) {
                         const std::vector<int64_t> order = memory_order(o);
                         return is_row_major(o.in->domain) && std::is_sorted(order.begin(), order.end());
                       },
                       [](const Op&) { return false; },
                   });
}

void allocate_for_contractions(const Fusion& fusion, const Readers& readers, const SegmentOptions& options) {
  if (!options.library_accepts || options.contractions == "nest") return;
  for (Op* op : fusion.ops()) {
    const auto* permute = as<Permute>(*op);
    if (permute == nullptr || fusion.is_output(op->out()) || pinned(*op, options)) continue;
    const std::vector<int> order = swapped_allocation(*permute);
    const auto read = readers.find(op->out());
    if (order.empty() || read == readers.end()) continue;
    const std::vector<int> before = std::exchange(op->out()->domain.allocation, order);
    const bool taken = std::all_of(read->second.begin(), read->second.end(), [&](const Op* reader) {
      std::string why;
      return reader->kind == OpKind::Matmul && !pinned(*reader, options) && options.library_accepts(*reader, &why);
    });
    if (!taken) op->out()->domain.allocation = before;
  }
}

}  // namespace plait
