#include "reduce/reduce_graph.h"

#include <set>

#include "base/error.h"

namespace plait {

namespace {

std::string counted(size_t n, const char* one, const char* many) {
  return fmt::format("{} {}", n, n == 1 ? one : many);
}

class Reducer {
 public:
  Reducer(const Fusion& fusion, const std::function<bool(const std::string&)>& fails, const ReduceOptions& options)
      : fails_(fails), options_(options), current_(clone(fusion)), text_(print(fusion)), size_(graph_size(fusion)) {
    tried_.insert(text_);
  }

  ReducedGraph run() {
    for (bool progress = true; progress && !stopped_;) {
      progress = false;
      for (const EditList& list : edit_lists()) {
        const std::vector<int64_t> before = size_;
        if (list.together)
          in_batches(list);
        else
          one_by_one(list);
        if (size_ == before) continue;
        progress = true;
        if (options_.progress)
          options_.progress(fmt::format("{:<12} {}, {}, {} (run {})", list.name,
                                        counted(current_->ops().size(), "op", "ops"),
                                        counted(current_->inputs().size(), "input", "inputs"),
                                        counted(current_->outputs().size(), "output", "outputs"), runs_));
      }
    }
    return {text_, runs_, !stopped_};
  }

 private:
  // Halves, quarters ... single edits; what was accepted leaves the list.
  void in_batches(const EditList& list) {
    std::vector<GraphEdit> edits = list.make(*current_);
    for (size_t size = edits.size(); size >= 1 && !stopped_; size /= 2)
      for (size_t at = 0; at < edits.size() && !stopped_;) {
        const size_t count = std::min(size, edits.size() - at);
        if (attempt(std::span(edits).subspan(at, count)))
          edits.erase(edits.begin() + static_cast<long>(at), edits.begin() + static_cast<long>(at + count));
        else
          at += count;
      }
  }

  // Far apart first: a lucky one makes the list short.
  void one_by_one(const EditList& list) {
    for (bool again = true; again && !stopped_;) {
      again = false;
      const std::vector<GraphEdit> edits = list.make(*current_);
      std::vector<bool> done(edits.size(), false);
      for (size_t stride = edits.size(); stride >= 1 && !again && !stopped_; stride /= 2)
        for (size_t at = stride / 2; at < edits.size() && !again && !stopped_; at += stride) {
          if (done[at]) continue;
          done[at] = true;
          again = attempt(std::span(edits).subspan(at, 1));
        }
    }
  }

  bool attempt(std::span<const GraphEdit> edits) {
    std::unique_ptr<Fusion> candidate = edited(*current_, edits);
    if (!candidate) return false;
    std::vector<int64_t> size = graph_size(*candidate);
    if (size >= size_) return false;
    std::string text = print(*candidate);
    if (!tried_.insert(text).second) return false;
    if (runs_ >= options_.max_runs) {
      stopped_ = true;
      return false;
    }
    ++runs_;
    if (!fails_(text)) return false;
    current_ = std::move(candidate);
    text_ = std::move(text);
    size_ = std::move(size);
    if (options_.smaller) options_.smaller(text_);
    return true;
  }

  const std::function<bool(const std::string&)>& fails_;
  const ReduceOptions& options_;
  std::unique_ptr<Fusion> current_;
  std::string text_;
  std::vector<int64_t> size_;
  std::set<std::string> tried_;
  int64_t runs_ = 0;
  bool stopped_ = false;
};

}  // namespace

ReducedGraph reduce_graph(const Fusion& fusion, const std::function<bool(const std::string&)>& fails,
                          const ReduceOptions& options) {
  return Reducer(fusion, fails, options).run();
}

}  // namespace plait
