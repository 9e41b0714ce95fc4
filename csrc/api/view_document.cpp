#include "api/view_document.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "api/inspect.h"
#include "api/or_null.h"
#include "api/step_facts.h"
#include "session/devices.h"
#include "shard/picture.h"

namespace plait {
namespace {

using OrderedJson = nlohmann::ordered_json;

class Document {
 public:
  Document(const Compiled& compiled, std::span<const StepTrace> trace)
      : compiled_(compiled),
        trace_(trace),
        fusion_(compiled.localized()),
        program_(compiled.program()),
        facts_(step_facts(compiled)),
        values_(program_, compiled.sizes()),
        rank_(first_rank(compiled)) {
    number_tensors();
  }

  OrderedJson make() {
    OrderedJson out = head();
    out["stages"] = stages();
    out["tensors"] = tensors();
    out["ops"] = ops();
    out["segments"] = segments();
    out["boundaries"] = boundaries();
    out["kernels"] = kernels();
    out["steps"] = steps();
    const bool cut = !program_.mesh.axes().empty();
    out["layouts_svg"] = cut ? sharding_picture(compiled_.sharded(), program_.devices) : "";
    out["layouts_text"] = cut ? compiled_.explain_layouts() : "";
    out["memory"] = memory();
    out["timeline"] = timeline();
    return out;
  }

 private:
  // Numbers in the order in which the text names them.
  void number_tensors() {
    const auto add = [&](const TensorView* t) {
      if (numbers_.emplace(t, all_.size()).second) all_.push_back(t);
    };
    for (const TensorView* t : fusion_.inputs()) add(t);
    for (const Op* op : fusion_.ops()) {
      for (const TensorView* t : inputs(*op)) add(t);
      for (const TensorView* t : op->results) add(t);
    }
    for (const TensorView* t : fusion_.outputs()) add(t);
    environment_ = compiled_.sizes();
    for (size_t i = 0; i < program_.mesh.axes().size(); ++i)
      environment_[rank_symbol(program_.mesh, static_cast<int>(i))] = 0;
    for (size_t v = 0; v < program_.values.size(); ++v) value_of_[program_.values[v].name] = v;
    for (size_t i = 0; i < fusion_.segments.size(); ++i) segment_of_[fusion_.segments[i].name] = i;
  }

  OrderedJson number_of(const std::vector<TensorView*>& tensors) const {
    OrderedJson out = OrderedJson::array();
    for (const TensorView* t : tensors) out.push_back(numbers_.at(t));
    return out;
  }

  OrderedJson head() const {
    const Report& report = compiled_.report();
    OrderedJson mesh = OrderedJson::array(), sizes = OrderedJson::object();
    for (size_t i = 0; i < program_.mesh.axes().size(); ++i)
      mesh.push_back({{"axis", program_.mesh.axes()[i].name}, {"size", program_.devices.size(static_cast<int>(i))}});
    for (const auto& [name, value] : compiled_.sizes()) sizes[name] = value;
    const bool ran = !trace_.empty();
    return {{"format", kViewFormat},
            {"title", compiled_.fusion().name()},
            {"version", version()},
            {"device", compiled_.options().device},
            {"ranks", compiled_.mesh().ranks()},
            {"mesh", mesh},
            {"sizes", sizes},
            {"counts",
             {{"kernels", report.kernels.size()},
              {"launches", report.launches},
              {"library_calls", report.library_calls},
              {"collectives", report.collectives},
              {"bytes_moved", report.bytes_moved},
              {"bytes_least", report.bytes_least},
              {"arena_bytes", report.arena_bytes},
              {"arena_least", report.arena_least},
              {"wire_bytes", ran ? OrderedJson(report.wire_bytes) : OrderedJson(nullptr)},
              {"wire_bytes_min", ran ? OrderedJson(report.wire_bytes_min) : OrderedJson(nullptr)}}},
            {"times",
             {{"compile_ms", report.compile_ms}, {"run_ms", ran ? OrderedJson(report.run_ms) : OrderedJson(nullptr)}}}};
  }

  OrderedJson stages() const {
    OrderedJson out = OrderedJson::array();
    for (const char* stage : {"fusion", "graph", "sharded", "localized", "segments", "program"})
      if (const std::string text = compiled_.stage_text(stage); !text.empty())
        out.push_back({{"name", stage}, {"text", text}});
    return out;
  }

  const char* kind_of(const TensorView* t) const {
    if (std::ranges::find(fusion_.outputs(), t) != fusion_.outputs().end()) return "output";
    if (std::ranges::find(fusion_.inputs(), t) == fusion_.inputs().end()) return "value";
    return t->role == TensorRole::parameter ? "param" : "input";
  }

  OrderedJson tensors() const {
    OrderedJson out = OrderedJson::array();
    for (const TensorView* t : all_) {
      OrderedJson shape = OrderedJson::array();
      for (sym::Expr extent : t->shape()) shape.push_back(sym::evaluate(extent, environment_));
      const std::string layout = fusion_.has_mesh() ? print(t->layout, fusion_.mesh()) : "";
      out.push_back({{"name", t->name},
                     {"dtype", name(t->dtype)},
                     {"shape", shape},
                     {"symbols", type_text(*t)},
                     {"layout", layout == "{}" ? "" : layout},
                     {"kind", kind_of(t)}});
    }
    return out;
  }

  OrderedJson ops() const {
    std::map<const Op*, size_t> made_in;
    for (size_t i = 0; i < fusion_.segments.size(); ++i)
      for (const Op* op : fusion_.segments[i].ops) made_in[op] = i;
    OrderedJson out = OrderedJson::array();
    for (const Op* op : fusion_.ops()) {
      const auto segment = made_in.find(op);
      op_numbers_[op] = out.size();
      out.push_back({{"name", text_name(*op)},
                     {"text", print(*op, fusion_)},
                     {"inputs", number_of(inputs(*op))},
                     {"outputs", number_of(op->results)},
                     {"segment", segment == made_in.end() ? OrderedJson(nullptr) : OrderedJson(segment->second)}});
    }
    return out;
  }

  // Bytes of a tensor on rank 0; 0 of one that the program has no value of.
  int64_t bytes_of(const TensorView* t) const {
    const auto value = value_of_.find(t->name);
    return value == value_of_.end() ? 0 : rank_.bytes[value->second];
  }

  int64_t least_of(size_t segment) const {
    int64_t out = 0;
    for (const TensorView* t : fusion_.segments[segment].inputs) out += bytes_of(t);
    for (const TensorView* t : fusion_.segments[segment].outputs) out += bytes_of(t);
    return out;
  }

  // Of each segment what its steps move; what a step moves is that of its segments in proportion to the least of each.
  std::vector<int64_t> moved_bytes(const std::vector<int64_t>& least) const {
    std::vector<int64_t> out(least.size());
    for (const StepFacts& step : facts_) {
      double all = 0;
      for (size_t segment : step.segments) all += double(least[segment]);
      for (size_t segment : step.segments)
        out[segment] += all == 0 ? step.bytes : int64_t(double(step.bytes) * (double(least[segment]) / all));
    }
    return out;
  }

  OrderedJson segments() const {
    std::vector<std::vector<size_t>> made_by(fusion_.segments.size());  // steps
    std::vector<int64_t> least;
    for (size_t i = 0; i < fusion_.segments.size(); ++i) least.push_back(least_of(i));
    const std::vector<int64_t> moved = moved_bytes(least);
    for (size_t s = 0; s < facts_.size(); ++s)
      for (size_t segment : facts_[s].segments) made_by[segment].push_back(s);
    OrderedJson out = OrderedJson::array();
    for (size_t i = 0; i < fusion_.segments.size(); ++i) {
      const Segment& s = fusion_.segments[i];
      OrderedJson kernel = nullptr, its_ops = OrderedJson::array();
      for (const Op* op : s.ops) its_ops.push_back(op_numbers_.at(op));
      for (size_t step : made_by[i])
        if (facts_[step].kernel) kernel = *facts_[step].kernel;
      out.push_back({{"name", s.name},
                     {"kind", is_generated(s.schedule) ? "kernel" : name(s.schedule)},
                     {"schedule", print(s.schedule)},
                     {"launch", s.joins.empty() ? s.name : s.joins},
                     {"inputs", number_of(s.inputs)},
                     {"outputs", number_of(s.outputs)},
                     {"ops", its_ops},
                     {"kernel", kernel},
                     {"bytes", moved[i]},
                     {"bytes_least", least[i]}});
    }
    return out;
  }

  OrderedJson boundaries() const {
    OrderedJson out = OrderedJson::array();
    for (const Boundary& boundary : boundaries_of(compiled_)) {
      OrderedJson refusers = OrderedJson::array(), read = OrderedJson::array();
      for (const Refuser& r : boundary.refusers)
        refusers.push_back({{"by", r.by}, {"reason", r.refused.reason}, {"change", r.refused.change}});
      for (const TensorView* t : boundary.tensors) read.push_back(numbers_.at(t));
      out.push_back({{"from", segment_of_.at(boundary.from->name)},
                     {"to", segment_of_.at(boundary.to->name)},
                     {"tensors", read},
                     {"refusers", refusers}});
    }
    return out;
  }

  OrderedJson kernels() const {
    std::map<std::string, const std::string*> kernel_ir;  // by name: `kernel @NAME(`
    for (const std::string& text : compiled_.kernel_texts())
      if (const size_t at = text.find('@'), end = text.find('(', at); at != text.npos && end != text.npos)
        kernel_ir[text.substr(at + 1, end - at - 1)] = &text;
    const std::vector<KernelReport>& reports = compiled_.report().kernels;
    OrderedJson out = OrderedJson::array();
    for (size_t k = 0; k < program_.kernels.size(); ++k) {
      const KernelSlot& slot = program_.kernels[k];
      const KernelFacts& facts = reports[k].facts;
      OrderedJson texts = OrderedJson::array();
      if (const auto kir = kernel_ir.find(slot.code.name); kir != kernel_ir.end())
        texts.push_back({{"name", "kir"}, {"text", *kir->second}});
      const bool cuda = compiled_.device().target().kind == TargetKind::cuda;
      if (!slot.code.text.empty()) texts.push_back({{"name", cuda ? "cuda" : "llvm"}, {"text", slot.code.text}});
      out.push_back({{"name", slot.code.name},
                     {"schedule", slot.schedule},
                     {"arch", reports[k].arch},
                     {"registers", or_null<OrderedJson>(facts.registers)},
                     {"spill_bytes", or_null<OrderedJson>(facts.spill_bytes)},
                     {"shared_bytes", or_null<OrderedJson>(facts.shared_bytes)},
                     {"instructions", or_null<OrderedJson>(facts.instructions)},
                     {"compile_ms", facts.compile_ms},
                     {"from_disk", facts.from_disk},
                     {"stages", texts}});
    }
    return out;
  }

  OrderedJson steps() const {
    OrderedJson out = OrderedJson::array();
    for (size_t s = 0; s < program_.steps.size(); ++s) {
      const StepFacts& facts = facts_[s];
      out.push_back({{"text", describe(program_, *program_.steps[s])},
                     {"kind", name(program_.steps[s]->kind)},
                     {"stream", name(program_.steps[s]->stream)},
                     {"segment", facts.segments.empty() ? OrderedJson(nullptr) : OrderedJson(facts.segments[0])},
                     {"kernel", or_null<OrderedJson>(facts.kernel)},
                     {"bytes", facts.bytes}});
    }
    return out;
  }

  OrderedJson memory() {
    const std::vector<Lifetime> alive = lifetimes(program_);
    OrderedJson out = OrderedJson::array();
    for (const auto& [ranks, rank] : memory_classes(program_, values_)) {
      OrderedJson buffers = OrderedJson::array();
      for (size_t v = 0; v < alive.size(); ++v)
        if (!alive[v].empty())
          buffers.push_back({{"name", program_.values[v].name},
                             {"bytes", rank.bytes[v]},
                             {"offset", rank.memory.offsets[v]},
                             {"first", alive[v].first},
                             {"last", alive[v].last}});
      out.push_back({{"ranks", ranks},
                     {"arena_bytes", rank.memory.arena_bytes},
                     {"alive_bytes", rank.memory.live_bytes},
                     {"input_bytes", rank.input_bytes},
                     {"output_bytes", rank.output_bytes},
                     {"buffers", buffers}});
    }
    return out;
  }

  OrderedJson timeline() const {
    if (trace_.empty()) return nullptr;
    const auto microseconds = [&](int64_t at) { return static_cast<double>(at - trace_.front().begin) * 1e-3; };
    OrderedJson spans = OrderedJson::array();
    for (const StepTrace& t : trace_)
      spans.push_back(OrderedJson::array({t.rank, t.step, microseconds(t.begin), microseconds(t.end)}));
    std::string note;
    if (compiled_.mesh().ranks() > 1 && compiled_.options().comm == "local")
      note = "ranks take turns on one thread; with --comm local:threads they run at once";
    if (is_simulated(compiled_.device().name())) note = "what the simulator took, which is not what a GPU takes";
    return {{"note", note}, {"spans", spans}};
  }

  const Compiled& compiled_;
  std::span<const StepTrace> trace_;
  const Fusion& fusion_;
  const Program& program_;
  std::vector<StepFacts> facts_;
  RankValues values_;
  RankBinding rank_;
  sym::Environment environment_;
  std::vector<const TensorView*> all_;
  std::map<const TensorView*, size_t> numbers_;
  mutable std::map<const Op*, size_t> op_numbers_;
  std::map<std::string_view, size_t> value_of_, segment_of_;
};

}  // namespace

std::string view_document(const Compiled& compiled, std::span<const StepTrace> trace) {
  return Document(compiled, trace).make().dump();
}

}  // namespace plait
