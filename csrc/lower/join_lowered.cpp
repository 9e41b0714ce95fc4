#include "lower/join_lowered.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/error.h"
#include "kir/join.h"
#include "kir/merge_phases.h"
#include "kir/passes/edit.h"
#include "kir/statements.h"

namespace plait {

namespace {

// That statements of the body meet.
std::set<uint32_t> buffers_of(const kir::Block& body) {
  std::set<uint32_t> out;
  for (const auto& stmt : body) {
    for (const uint32_t* buffer : kir::buffers_of(*stmt)) out.insert(*buffer);
    if (const kir::Block* inner = kir::body_of(*stmt)) out.merge(buffers_of(*inner));
  }
  return out;
}

class LoweredJoiner {
 public:
  LoweredJoiner(const Segment& whole, std::vector<LoweredPart> parts, std::string name)
      : whole_(whole), parts_(std::move(parts)) {
    out_.kernel.name = std::move(name);
    out_.kernel.target = parts_.front().lowered.kernel.target;
    out_.kernel.pool = std::make_shared<sym::Pool>();
    out_.kernel.phases.clear();
  }

  LoweredKernel run() {
    declare_buffers();
    std::vector<kir::JoinPart> parts;
    std::map<const TensorView*, size_t> ready;  // the first wave that may read the tensor
    for (LoweredPart& part : parts_) {
      kir::JoinPart joined;
      joined.waves = waves_of(part, ready);
      joined.arguments = arguments(part);
      for (size_t i = 0; i < part.lowered.arguments.size(); ++i)
        joined.integers.push_back(integer(part.lowered.arguments[i], part.lowered.kernel, i));
      std::string& schedule = out_.kernel.schedule;
      schedule += (schedule.empty() ? "joined(" : ", ") + part.lowered.kernel.schedule;
      joined.kernel = std::move(part.lowered.kernel);
      parts.push_back(std::move(joined));
    }
    out_.kernel.schedule += ")";
    kir::join(out_.kernel, std::move(parts));
    kir::merge_phases(out_.kernel);
    count_takers();
    return std::move(out_);
  }

 private:
  // Each of its waves runs as soon as what it reads is there and the one before it is done; what it writes is there
  // behind it.
  static std::vector<size_t> waves_of(const LoweredPart& part, std::map<const TensorView*, size_t>& ready) {
    const auto &inputs = part.segment->inputs, &outputs = part.segment->outputs;
    std::vector<std::set<uint32_t>> met;  // by its own waves
    for (const kir::Phase& phase : part.lowered.kernel.phases) {
      if (met.empty() || !phase.beside) met.emplace_back();
      met.back().merge(buffers_of(phase.body));
    }
    std::vector<size_t> out;
    for (const auto& buffers : met) {
      size_t wave = out.empty() ? 0 : out.back() + 1;
      for (uint32_t buffer : buffers)
        if (buffer < inputs.size())
          if (const auto it = ready.find(inputs[buffer]); it != ready.end()) wave = std::max(wave, it->second);
      out.push_back(wave);
      for (uint32_t buffer : buffers)
        if (buffer >= inputs.size() && buffer - inputs.size() < outputs.size())
          ready[outputs[buffer - inputs.size()]] = wave + 1;
    }
    return out;
  }

  void count_takers() {
    std::vector<int64_t> counts(out_.kernel.buffers.size(), 1);
    for (const auto& [t, place] : places_) counts[place] = 0;
    for (const LoweredPart& part : parts_)
      for (const auto* list : {&part.segment->inputs, &part.segment->outputs})
        for (const TensorView* t : *list) ++counts[places_.at(t)];
    for (size_t i = 0; i < counts.size(); ++i)
      if (out_.kernel.buffers[i].space <= kir::Space::workspace && !(out_.status && i == status_))
        out_.taken.push_back(counts[i]);
  }

  void declare(const TensorView* t, bool written, kir::Space space) {
    kir::Buffer buffer;
    buffer.name = t->name;
    buffer.dtype = t->dtype;
    buffer.written = written;
    buffer.space = space;
    places_[t] = static_cast<uint32_t>(out_.kernel.buffers.size());
    out_.kernel.buffers.push_back(std::move(buffer));
  }

  void declare_buffers() {
    for (const TensorView* t : whole_.inputs) declare(t, false, kir::Space::argument);
    for (const TensorView* t : whole_.outputs) declare(t, true, kir::Space::argument);
    for (const LoweredPart& part : parts_) {
      for (const TensorView* t : part.segment->inputs)
        if (const auto it = places_.find(t); it != places_.end() && out_.kernel.buffers[it->second].written)
          out_.kernel.buffers[it->second].updated = true;
      size_t own = part.segment->inputs.size();  // a kernel may work in the memory of its results
      for (const TensorView* t : part.segment->outputs)
        if (const auto it = places_.find(t); part.lowered.kernel.buffers.at(own++).updated && it != places_.end())
          out_.kernel.buffers[it->second].updated = true;
    }
    for (const LoweredPart& part : parts_) {
      if (!part.lowered.status) continue;
      const size_t own = part.segment->inputs.size() + part.segment->outputs.size();
      if (!out_.status) {
        out_.kernel.buffers.push_back(part.lowered.kernel.buffers.at(own));
        out_.kernel.buffers.back().extent = {};
      }
      out_.status = true;
    }
    status_ = static_cast<uint32_t>(out_.kernel.buffers.size() - 1);
    for (const LoweredPart& part : parts_)
      for (const TensorView* t : part.segment->outputs)
        if (!places_.contains(t)) declare(t, false, kir::Space::workspace);
    std::map<std::string, int> names;
    for (kir::Buffer& buffer : out_.kernel.buffers)
      if (const int earlier = names[buffer.name]++; earlier > 0) buffer.name += fmt::format("_{}", earlier + 1);
  }

  std::vector<uint32_t> arguments(const LoweredPart& part) const {
    std::vector<uint32_t> out;
    for (const auto* list : {&part.segment->inputs, &part.segment->outputs})
      for (const TensorView* t : *list) out.push_back(places_.at(t));
    if (part.lowered.status) out.push_back(status_);
    const auto& buffers = part.lowered.kernel.buffers;
    const auto own = std::count_if(buffers.begin(), buffers.end(),
                                   [](const kir::Buffer& b) { return b.space == kir::Space::argument; });
    PLAIT_CHECK(static_cast<size_t>(own) == out.size(), "@{} has {} tensors, its kernel {} arguments",
                part.segment->name, out.size(), own);
    return out;
  }

  // The integer of the whole for one of a part: that of another part, where both are the same and known alike.
  sym::Expr integer(sym::Expr argument, const kir::Kernel& kernel, size_t index) {
    const sym::SymbolInfo& own = kernel.pool->info(kernel.integers[index]);
    PLAIT_CHECK(!own.below, "an integer of kernel {} is bounded by another one", kernel.name);
    for (size_t i = 0; i < out_.arguments.size(); ++i) {
      const sym::SymbolInfo& known = out_.kernel.pool->info(out_.kernel.integers[i]);
      if (out_.arguments[i] == argument && known.lo == own.lo && known.hi == own.hi &&
          known.multiple_of == own.multiple_of)
        return out_.kernel.integers[i];
    }
    out_.arguments.push_back(argument);
    out_.kernel.integers.push_back(out_.kernel.pool->symbol(fmt::format("n{}", out_.kernel.integers.size()), own));
    return out_.kernel.integers.back();
  }

  const Segment& whole_;
  std::vector<LoweredPart> parts_;
  LoweredKernel out_;
  std::map<const TensorView*, uint32_t> places_;
  uint32_t status_ = 0;
};

}  // namespace

LoweredKernel join_lowered(const Segment& whole, std::vector<LoweredPart> parts, std::string name) {
  return LoweredJoiner(whole, std::move(parts), std::move(name)).run();
}

}  // namespace plait
