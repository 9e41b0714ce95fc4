#pragma once
// Kernels run statement by statement: slow, obvious, and the same for every target. Numbers are those of scalar/: each
// result is computed in double or in integers and brought to its dtype.
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "kir/kernel.h"

namespace plait::kir {

// An element that a statement meets, or a buffer that it brings to life (index 0).
struct Touch {
  const Stmt& stmt;
  uint32_t buffer = 0;
  int64_t index = 0, extent = 0;  // outside of 0 .. extent-1 nothing is read or written, and what is read is 0
  size_t phase = 0;               // those that run at once are one
  int64_t task = 0;               // number of the iteration of the parallel loops; 0 outside of them
  const std::set<int64_t>* behind = nullptr;  // tasks of the same phase that are done by now; null: none
};

// Hears what a run does, in the order of one thread that runs tasks one after another.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void alloc(const Touch&) {}
  virtual void load(const Touch&) {}
  virtual void store(const Touch&) {}
  virtual void atomic(const Touch&) {}
  // A claim that does not hold: lanes that are not contiguous, not aligned or differ.
  virtual void wrong(const Stmt&, const std::string& /*what*/) {}
};

// Runs the kernel on the memory of its arguments (elements as they lie in memory), in the order of its buffers.
// Workspaces and local buffers are the interpreter's; their bits are 1 at first. Works before and after every pass:
// reductions and lanes loops run as they stand.
void interpret(const Kernel& kernel, const std::vector<int64_t>& integers, const std::vector<void*>& arguments,
               Observer& observer);

// Finds what no kernel may do: accesses outside of a buffer, wrong claims about lanes; loads of elements of workspaces
// and local buffers that nothing wrote; elements of written arguments that are stored twice (once, where it is not
// updated) or, asked at the end, never; elements that one task writes and another one of the same phase meets.
class AccessChecker : public Observer {
 public:
  explicit AccessChecker(const Kernel& kernel) : kernel_(kernel), buffers_(kernel.buffers.size()) {}

  void alloc(const Touch& touch) override;
  void load(const Touch& touch) override;
  void store(const Touch& touch) override;
  void atomic(const Touch& touch) override;
  void wrong(const Stmt& stmt, const std::string& what) override;

  // Complains about elements of arguments that were to be written; `extents` of all buffers.
  void finish(const std::vector<int64_t>& extents);
  // One line each, the first 20.
  const std::vector<std::string>& problems() const { return problems_; }

 private:
  struct Element {
    bool written = false;
    int64_t writer = -1, reader = -1, updater = -1;  // tasks of the phase; the updater's are atomics
    size_t writer_phase = 0, reader_phase = 0, updater_phase = 0;
  };
  using Elements = std::map<int64_t, Element>;

  bool inside(const Touch& touch);
  void complain(const Stmt* stmt, const std::string& what);
  std::string place(const Touch& touch) const;
  void meet_others(const Touch& touch, const Element& element, bool writes);

  const Kernel& kernel_;
  std::vector<Elements> buffers_;
  std::vector<std::string> problems_;
};

// Extents of all buffers under the integers.
std::vector<int64_t> buffer_extents(const Kernel& kernel, const std::vector<int64_t>& integers);

}  // namespace plait::kir
