#include "kir/passes/merge_equal.h"

#include <algorithm>
#include <unordered_map>

#include "kir/passes/edit.h"

namespace plait::kir {
namespace {

using Key = std::vector<uint64_t>;

class MergeEqual {
 public:
  void block(Block& body) {
    std::vector<Key> here;
    for (auto& stmt : body) {
      edit_operands(*stmt, [&](const Value& v) { return current(v); });
      if (Block* inner = body_of(*stmt)) {
        if (stmt->kind == StmtKind::For) change_all(*inner);
        block(*inner);
      } else if (is_pure(stmt->kind)) {
        Key key = key_of(*stmt);
        const auto [known, fresh] = known_.emplace(key, results(*stmt));
        if (fresh) {
          here.push_back(std::move(key));
          continue;
        }
        const std::vector<Value> mine = results(*stmt);
        for (size_t i = 0; i < mine.size(); ++i) merged_[mine[i].id] = known->second[i];
        stmt.reset();
      } else {
        for (Cell cell : changes(*stmt)) versions_[cell] = ++version_;
      }
    }
    std::erase(body, nullptr);
    for (const Key& key : here) known_.erase(key);
  }

 private:
  Value current(const Value& v) const {
    const auto found = merged_.find(v.id);
    return found == merged_.end() ? v : found->second;
  }

  void change_all(const Block& body) {
    for (const auto& stmt : body) {
      for (Cell cell : changes(*stmt)) versions_[cell] = ++version_;
      if (const Block* inner = body_of(*stmt)) change_all(*inner);
    }
  }

  uint64_t version(Cell cell) const {
    const auto found = versions_.find(cell);
    return found == versions_.end() ? 0 : found->second;
  }

  static void add_type(Key& key, const Value& v) {
    key.push_back(static_cast<uint64_t>(v.dtype) << 8 | static_cast<uint64_t>(v.lanes));
  }

  template <class T>
  void add(Key& key, Role role, const T& member) const {
    if constexpr (std::is_same_v<T, Value>) {
      add_type(key, member);
      if (role == Role::result) return;
      key.push_back(member.id);
      key.push_back(version(cell_of(member)));
    } else if constexpr (std::is_same_v<T, std::vector<Value>>) {
      key.push_back(member.size());
      for (const Value& v : member) add(key, role, v);
    } else if constexpr (std::is_same_v<T, sym::Expr>) {
      key.push_back(member ? member.id() + 1 : 0);
    } else if constexpr (std::is_same_v<T, Constant>) {
      key.push_back(static_cast<uint64_t>(member.dtype));
      key.push_back(member.bits);
    } else if constexpr (std::is_enum_v<T> || std::is_integral_v<T>) {
      key.push_back(static_cast<uint64_t>(member));
    }
  }

  Key key_of(const Stmt& stmt) const {
    Key key{static_cast<uint64_t>(stmt.kind)};
    visit(stmt, [&](const auto& s) {
      for_each_field(s, [&](const auto& field, const auto& member) { add(key, field.role, member); });
    });
    if (const Load* load = as<Load>(stmt)) {
      key.push_back(version(cell_of_buffer(load->buffer)));
      key.push_back(version(kOfThreads));
    }
    return key;
  }

  std::map<Key, std::vector<Value>> known_;
  std::unordered_map<uint32_t, Value> merged_;
  std::unordered_map<Cell, uint64_t> versions_;
  uint64_t version_ = 0;
};

}  // namespace

void merge_equal(Kernel& kernel) {
  for (Phase& phase : kernel.phases) {
    MergeEqual().block(phase.body);
    remove_unread_buffers(kernel, phase.body);
    remove_unused(phase.body);
  }
}

}  // namespace plait::kir
