#include "kir/passes/in_place.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "kir/lane.h"
#include "kir/passes/edit.h"
#include "kir/statements.h"

namespace plait::kir {
namespace {

// A block around a statement, and where in it.
struct StmtPlace {
  const Block* block;
  size_t at;
  bool of_loop;  // the block is the body of a loop
};

template <class T>
struct AccessSite {
  const T* access;
  size_t wave;                  // of phases that run at once
  std::vector<StmtPlace> path;  // outermost first
};

class ReplaceFinder {
 public:
  ReplaceFinder(const Kernel& kernel, std::span<const uint32_t> read, uint32_t written)
      : kernel_(kernel), read_(read.begin(), read.end()), written_(written) {
    for (const Phase& phase : kernel.phases) {
      wave_ += !phase.beside;
      walk(phase.body, false);
    }
    for (const AccessSite<Store>& store : stores_)
      if (is_there_already(store)) needless_.insert(store.access);
  }

  // Stores of what the element is.
  const std::set<const Stmt*>& needless() const { return needless_; }

  std::optional<std::string> refusal() const {
    const bool updated = kernel_.buffers[written_].updated;
    if (by_atomics_) return fmt::format("%{} is changed by atomics", kernel_.buffers[written_].name);
    if (copied_) return fmt::format("%{} is read by copies that run ahead", kernel_.buffers[*copied_].name);
    for (const AccessSite<Load>& load : loads_) {
      if (only_for_needless(*load.access)) continue;
      bool matched = false, meets = false;
      for (const AccessSite<Store>& store : stores_) {
        if (store.wave < load.wave && !needless_.contains(store.access)) return text(load, "in a later phase");
        meets = meets || (store.wave == load.wave && !needless_.contains(store.access));
        matched = matched || (is_behind(store, load) && same_lanes(*load.access, *store.access));
      }
      if (!meets) continue;
      if (updated) return text(load, "while it is updated");
      if (!matched && !covered(load)) return text(load, "in other iterations than those that store to the element");
    }
    return std::nullopt;
  }

 private:
  void walk(const Block& block, bool of_loop) {
    for (size_t i = 0; i < block.size(); ++i) {
      path_.push_back({&block, i, of_loop});
      const Stmt& stmt = *block[i];
      for (const Value& v : operands(stmt)) users_[v.id].push_back(&stmt);
      if (const auto* load = as<Load>(stmt); load != nullptr && read_.contains(load->buffer)) {
        loads_.push_back({load, wave_, path_});
        loaded_[load->out.id] = loads_.size() - 1;
      }
      if (const auto* copy = as<CopyAsync>(stmt); copy != nullptr && read_.contains(copy->from)) copied_ = copy->from;
      if (const auto* atomic = as<Atomic>(stmt); atomic != nullptr && atomic->buffer == written_) by_atomics_ = true;
      if (const auto* store = as<Store>(stmt); store != nullptr && store->buffer == written_)
        stores_.push_back({store, wave_, path_});
      if (const Block* body = body_of(stmt)) walk(*body, stmt.kind == StmtKind::For);
      path_.pop_back();
    }
  }

  // The store stands behind the load in the load's block or in one around it, with no loop between.
  static bool is_behind(const AccessSite<Store>& store, const AccessSite<Load>& load) {
    const StmtPlace& last = store.path.back();
    for (size_t i = load.path.size(); i-- > 0;) {
      if (load.path[i].block == last.block) return load.path[i].at < last.at;
      if (load.path[i].of_loop) return false;
    }
    return false;
  }

  // Whether the store goes to all that the load takes, lane by lane.
  static bool same_lanes(const Load& load, const Store& store) {
    return load.index == store.index && load.out.lanes == store.in.lanes &&
           (!store.active || load.active == store.active);
  }

  // Whether stores behind the load go to all of its lanes, side by side.
  bool covered(const AccessSite<Load>& load) const {
    const Load& l = *load.access;
    const auto beside = [](kir::Access access) {
      return access == kir::Access::aligned || access == kir::Access::contiguous;
    };
    if (!beside(l.access) || l.active) return false;
    std::set<int64_t> lanes;
    for (const AccessSite<Store>& store : stores_) {
      const Store& s = *store.access;
      if (!beside(s.access) || s.active || !is_behind(store, load)) continue;
      const auto first = (at_lane(s.index, 0) - at_lane(l.index, 0)).constant();
      for (int lane = 0; first && lane < s.in.lanes; ++lane) lanes.insert(*first + lane);
    }
    for (int lane = 0; lane < l.out.lanes; ++lane)
      if (!lanes.contains(lane)) return false;
    return true;
  }

  bool is_there_already(const AccessSite<Store>& store) const {
    const auto loaded = loaded_.find(store.access->in.id);
    if (loaded == loaded_.end()) return false;
    const AccessSite<Load>& load = loads_[loaded->second];
    const bool all = !load.access->active || load.access->active == store.access->active;
    return all && load.access->index == store.access->index && load.access->out.lanes == store.access->in.lanes &&
           kernel_.buffers[load.access->buffer].dtype == kernel_.buffers[written_].dtype && is_behind(store, load);
  }

  bool only_for_needless(const Load& load) const {
    const auto users = users_.find(load.out.id);
    return users == users_.end() || std::all_of(users->second.begin(), users->second.end(),
                                                [&](const Stmt* s) { return needless_.contains(s); });
  }

  std::string text(const AccessSite<Load>& load, std::string_view when) const {
    return fmt::format("%{} is read {}", kernel_.buffers[load.access->buffer].name, when);
  }

  const Kernel& kernel_;
  const std::set<uint32_t> read_;
  const uint32_t written_;
  size_t wave_ = 0;
  std::optional<uint32_t> copied_;
  bool by_atomics_ = false;
  std::vector<StmtPlace> path_;
  std::vector<AccessSite<Load>> loads_;
  std::vector<AccessSite<Store>> stores_;
  std::map<uint32_t, size_t> loaded_;                   // by value
  std::map<uint32_t, std::vector<const Stmt*>> users_;  // of values
  std::set<const Stmt*> needless_;
};

void remove_stores(Block& block, const std::set<const Stmt*>& gone) {
  std::erase_if(block, [&](const auto& stmt) { return gone.contains(stmt.get()); });
  for (const auto& stmt : block)
    if (Block* body = body_of(*stmt)) remove_stores(*body, gone);
}

bool has_loads(const Block& block, uint32_t buffer) {
  return std::any_of(block.begin(), block.end(), [&](const auto& stmt) {
    const auto* load = as<Load>(*stmt);
    const Block* body = body_of(*stmt);
    return (load != nullptr && load->buffer == buffer) || (body != nullptr && has_loads(*body, buffer));
  });
}

}  // namespace

std::optional<std::string> write_in_place(Kernel& kernel, std::span<const uint32_t> read, uint32_t written) {
  const ReplaceFinder finder(kernel, read, written);
  if (auto why = finder.refusal()) return why;
  for (Phase& phase : kernel.phases) {
    if (finder.needless().empty()) break;
    remove_stores(phase.body, finder.needless());
    remove_unused(phase.body);
  }
  for (uint32_t buffer : read)
    kernel.buffers[buffer].replaced = std::any_of(kernel.phases.begin(), kernel.phases.end(),
                                                  [&](const Phase& phase) { return has_loads(phase.body, buffer); });
  return std::nullopt;
}

}  // namespace plait::kir
