#pragma once
// All operations so far, and interned sets of accesses that are not ordered among each other.
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "sim/memory/clock.h"

namespace plait::sim {

// The accesses to one 4-byte granule that later ones must be ordered after, in 32 bits. Lowest 4 bits: the bytes of the
// granule. Then 27 bits: an operation, or with the top bit set a set of them, in the Trace. 0: none.
using Access32 = uint32_t;
inline constexpr Access32 kSetFlag = 1u << 31;
constexpr Access32 pack_access(OperationId id, unsigned byte_mask) { return id << 4 | byte_mask; }

class Trace {
 public:
  Trace();
  // Registers an operation about to be queued or run; at most 2^27 of them. `before` need not name the operation.
  Actor begin(Operation operation, Clock before, int device = -1);
  Operation operation(OperationId id) const;
  int stream_of(OperationId id) const { return orders_[id].stream; }
  // "`k1` (operation 3 on stream comm)".
  std::string describe(OperationId id) const;
  // All operations so far happen before all that begin from now on, whose clocks need not say so. Stream indices that
  // no operation will have any more may be used anew.
  void settle() { settled_ = static_cast<OperationId>(orders_.size()) - 1; }
  bool settled(OperationId id) const { return id <= settled_; }
  // Whether an operation is the actor's own or happens before it.
  bool ordered(OperationId earlier, const Actor& actor) const {
    if (earlier <= settled_ || earlier == actor.id) return true;
    const Order& order = orders_[earlier];
    if (order.stream == actor.stream) return order.sequence <= actor.sequence;
    return order.sequence <= actor.before.of(order.stream);
  }

  // The operation of an access that shares a byte with `byte_mask` and is not ordered before the actor; 0: none.
  OperationId conflict(Access32 accesses, const Actor& actor, unsigned byte_mask) const;
  // The accesses with the actor's added; those ordered before it leave, its own become one.
  Access32 with(Access32 accesses, const Actor& actor, unsigned byte_mask);

 private:
  struct Order {
    uint64_t sequence;
    int stream;
    uint32_t name, stream_name;  // in names_
  };
  uint32_t intern(std::string name);

  OperationId settled_ = kBeforeAll;

  std::vector<Order> orders_;  // by OperationId
  std::vector<std::string> names_;
  std::map<std::string, uint32_t> name_numbers_;
  std::vector<std::vector<Access32>> sets_;  // sorted
  std::map<std::vector<Access32>, uint32_t> set_numbers_;
};

}  // namespace plait::sim
