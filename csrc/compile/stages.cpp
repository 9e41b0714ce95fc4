#include "compile/stages.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "backend/cuda/nvrtc.h"
#include "backend/cuda/offline_device.h"
#include "base/error.h"
#include "base/progress.h"
#include "base/suggest.h"
#include "codegen/cuda/write.h"
#include "codegen/llvm/text.h"
#include "codegen/llvm/writer.h"
#include "comm/nccl/nccl_communicators.h"
#include "compile/failed_kernels.h"
#include "compile/kernel_legend.h"
#include "ir/launches.h"
#include "kir/in_turns.h"
#include "kir/index_ranges.h"
#include "kir/last_blocks.h"
#include "kir/passes/in_place.h"
#include "lower/join_lowered.h"
#include "lower/tree/lower_tree.h"
#include "reference/contraction_executable.h"
#include "reference/executable.h"
#include "schedule/scheduler.h"
#include "segment/segment.h"
#include "segment/views.h"
#include "shard/localize.h"

namespace plait {

namespace {

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> out;
  for (size_t at = 0; at <= text.size();) {
    size_t end = std::min(text.find(',', at), text.size());
    if (end > at) out.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

std::string kernel_name(const Fusion& fusion, const Segment& segment) { return fusion.name() + "_" + segment.name; }

LowerOptions lower_options(const Fusion& fusion, const Segment& segment, const CompileOptions& options,
                           TargetKind target) {
  LowerOptions out;
  out.target = target;
  out.strict_rounding = options.options.strict_rounding;
  out.name = kernel_name(fusion, segment);
  return out;
}

}  // namespace

namespace {

// Passes that no later one needs: option `skip` and `--bisect` leave them out.
const std::vector<std::string>& optional_passes() {
  static const std::vector<std::string> names = {"remove_dead_code",  "widen_contractions", "part_batches",
                                                 "lift_reshapes",     "merge_equal",        "remove_unread",
                                                 "bucket_collectives"};
  return names;
}

bool is_optional(std::string_view pass) {
  const auto& names = optional_passes();
  return std::find(names.begin(), names.end(), pass) != names.end();
}

std::vector<std::string> passes_to_skip(const std::string& text) {
  std::vector<std::string> names = split(text);
  for (const auto& name : names)
    if (!is_optional(name))
      throw UserError(fmt::format("there is no pass `{}` that can be left out", name), "option skip",
                      suggestion(name, optional_passes()));
  return names;
}

}  // namespace

Stages::Stages(const PipelineContext& context)
    : options_(context.options),
      driver_({passes_to_skip(context.options.options.skip), context.options.until, context.options.options.verify,
               context.options.dumps, context.options.passes, context.options.hook}) {}

void Stages::begin(std::string_view stage, const Fusion& fusion) {
  fusion_name_ = fusion.name();
  driver_.show(stage, [&] { return print(fusion); });
  end(stage, fusion);
}

void Stages::pass(std::string_view stage, std::string_view name, Fusion& fusion, const std::function<void()>& pass) {
  driver_.run(stage, name,
              {[&] { return print(fusion); }, [&] { verify(fusion); }, [&] { return PassSubject(fusion); }}, pass,
              is_optional(name));
}

void Stages::make(std::string_view stage, std::string_view name, std::unique_ptr<Fusion>& out,
                  const std::function<std::unique_ptr<Fusion>()>& work) {
  driver_.run(stage, name, {[&] { return print(*out); }, [&] { verify(*out); }, [&] { return PassSubject(*out); }},
              [&] { out = work(); });
}

void Stages::make(std::string_view stage, std::string_view name, std::shared_ptr<const Program>& out,
                  const std::function<std::shared_ptr<Program>()>& work) {
  std::shared_ptr<Program> made;
  driver_.run(stage, name, {[&] { return print(*made); }, [&] { verify(*made); }, [&] { return PassSubject(*made); }},
              [&] { made = work(); });
  out = std::move(made);
}

bool Stages::decide(std::string_view stage, std::string_view what) { return driver_.decide(stage, what); }

void Stages::work(std::string_view stage, std::string_view name, const std::function<void()>& work) {
  driver_.timed(stage, name, [&] {
    work();
    driver_.offer(stage, name, {});
  });
}

void Stages::offer(std::string_view stage, std::string_view name, const PassSubject& subject) {
  driver_.offer(stage, name, subject);
}

void Stages::end(std::string_view stage, const Fusion& fusion) {
  driver_.end_stage(stage, fusion_name_, [&] { return print(fusion); });
}

void Stages::end(std::string_view stage, const Program& program) {
  driver_.end_stage(stage, fusion_name_, [&] { return print(program); });
}

void Stages::text(std::string_view stage, const std::string& name, const std::string& text) {
  if (wants(stage) && options_.dumps) options_.dumps->put(stage, name, text);
}

bool Stages::wants(std::string_view stage) const {
  return options_.until == stage || (options_.dumps && options_.dumps->wants(stage));
}

bool Stages::asks_for(std::string_view stage) const {
  return options_.until == stage || (options_.dumps && options_.dumps->requested(stage));
}

void Stages::stop_at(std::string_view stage, const std::string& text) {
  if (options_.until == stage) throw StoppedAt{std::string(stage), text};
}

std::string Stages::finish() {
  std::string table = driver_.timings();
  text("timings", fusion_name_, table);
  stop_at("timings", table);
  return table;
}

std::unique_ptr<Fusion> localize_for(const Fusion& sharded, const PipelineContext& context) {
  LocalizeOptions how;
  if (!context.device.host_memory())
    how.reduces = [](ReduceOp op, DType dtype) { return nccl_reduces(reduce_of(op), dtype); };
  return localize(sharded, context.mesh, how);
}

void bucket_for(Fusion& localized, const PipelineContext& context) {
  if (!context.file_segments.empty()) return;
  const auto decide = [&](sym::Expr small) {
    return context.guards != nullptr ? context.guards->decide(small, "bytes of collectives that may be one")
                                     : sym::proven(small);
  };
  // On a GPU each gather begins while what is before its readers runs (program/prefetch.h).
  bucket_collectives(localized, decide, context.device.host_memory());
}

namespace {

std::pair<Schedule, std::string> measured_for(const Fusion& fusion, const Segment& segment,
                                              const PipelineContext& context) {
  const auto all = context.options.measured(schedule_key(fusion, segment, context.device), segment.name);
  const MeasuredSchedule* found = matching(all, fusion, context.guards);
  return found != nullptr ? std::pair(found->schedule, found->note) : std::pair(Schedule(), std::string());
}

}  // namespace

void segment_for(Fusion& localized, const PipelineContext& context, Stages* stages, std::string& reasons) {
  const Options& options = context.options.options;
  SegmentOptions how;
  how.target = context.device.target();
  how.guards = context.guards;
  const std::vector<FileSegment> written = without_nests(context.file_segments, context.as_nests);
  how.nests = context.as_nests;
  how.pins = pinned_schedules(written);
  how.limits = kernel_limits(options);
  how.together = how.fixed = fixed_groups(written, localized);
  how.joined = joined_groups(written);
  how.contractions = options.contractions;
  how.unordered_sums = options.unordered_sums;
  how.explain = &reasons;
  if (context.options.measured) how.measured = [&](const Segment& s) { return measured_for(localized, s, context); };
  if (stages != nullptr) how.decide = [&](std::string_view what) { return stages->decide("segments", what); };
  how.library_accepts = [&](const Op& op, std::string* why) {
    if (context.refused_contractions.contains(op.out()->name)) {
      *why = "the library refuses the sizes at hand";
      return false;
    }
    return context.device.library(library_contraction(op), why) != nullptr;
  };
  how.library_widens = [&](const Op& op) {
    const auto product = context.device.library(library_contraction(op), nullptr);
    return product != nullptr && product->widens();
  };
  segment(localized, how);
  check_file_segments(written, localized);
}

namespace {

// Makes the kernel of segment `index` write its outputs that alias inputs where these lie, or says why it cannot.
void write_in_place(std::vector<InPlace>& outputs, size_t index, const Segment& segment, kir::Kernel& kernel) {
  for (InPlace& o : outputs) {
    if (o.segment != index || !o.why_not.empty()) continue;
    std::vector<uint32_t> read(o.read.begin(), o.read.end());
    const auto made = static_cast<uint32_t>(segment.inputs.size() + o.made);
    PLAIT_CHECK(made < kernel.buffers.size() && kernel.buffers[made].written, "%{} is no buffer of {}", o.root->name,
                kernel.name);
    o.why_not = kir::write_in_place(kernel, read, made).value_or("");
  }
}

// Whether no argument of a kernel has more elements than indices of 32 bits count: one question for all kernels.
bool has_narrow_indices(const CompiledSpecialization& compiled, sym::Guards* guards) {
  sym::Pool& pool = compiled.localized->pool();
  sym::Expr all;
  std::set<uint64_t> seen;
  for (const CompiledSegment& segment : compiled.segments) {
    if (!segment.kernel) continue;
    for (const kir::Buffer& buffer : segment.kernel->kernel.buffers) {
      if (buffer.space != kir::Space::argument) continue;
      const sym::Expr few = sym::lt(over_sizes(*segment.kernel, pool, buffer.extent), kir::kMostNarrow);
      if (!seen.insert(few.id()).second || sym::proven(few)) continue;
      all = all ? sym::logical_and(all, few) : few;
    }
  }
  return !all || (guards != nullptr && guards->decide(all, "indices of 32 bits"));
}

}  // namespace

void lower_segments(CompiledSpecialization& compiled, Stages& stages, const PipelineContext& context) {
  const Fusion& fusion = *compiled.localized;
  compiled.segments.resize(fusion.segments.size());
  const TargetKind target = context.device.target().kind;
  const bool cooperate = context.device.target().threads_cooperate();
  for (InPlace& o : compiled.in_place)
    if (o.why_not.empty() && target != TargetKind::cpu) o.why_not = "only kernels of CPUs write in place";
  if (target == TargetKind::reference) return;
  std::string all, params, groups;
  for (const auto& segment : fusion.segments) params += fmt::format("{} {}\n", segment.name, print(segment.schedule));
  stages.text("params", fusion.name(), params);
  stages.stop_at("params", params);
  const auto lower_one = [&](const Segment& segment) {
    LowerOptions how = lower_options(fusion, segment, context.options, target);
    if (context.options.hook)
      how.offer = [&](std::string_view step, const PassSubject& subject) { stages.offer("kir", step, subject); };
    auto group = scheduled_group({fusion, segment});
    if (group) stages.offer("kir", "schedule", PassSubject(*group));
    std::string tree;
    LoweredKernel out;
    on_kernel(fusion, segment, context, [&] {
      out = group ? lower_tree(*group, fusion.pool(), how, &tree) : lower(fusion, segment, how);
      if (cooperate) kir::run_in_turns(out.kernel), kir::run_last_blocks(out.kernel);  // before joins: fewer waves
    });
    if (group) groups += group->print() + "tree {\n" + tree + "}\n";
    return out;
  };
  for (const std::vector<const Segment*>& launch : launches(fusion)) {
    if (!is_generated(launch.front()->schedule)) continue;
    const auto i = static_cast<size_t>(launch.front() - fusion.segments.data());
    std::vector<LoweredPart> parts;
    for (const Segment* segment : launch) parts.push_back({segment, lower_one(*segment)});
    const Segment whole = as_one(fusion, launch);
    LoweredKernel lowered;
    on_kernel(fusion, whole, context, [&] {
      if (parts.size() == 1) {
        lowered = std::move(parts[0].lowered);
      } else {
        lowered = join_lowered(whole, std::move(parts), kernel_name(fusion, whole));
        if (cooperate) kir::run_last_blocks(lowered.kernel);
      }
      write_in_place(compiled.in_place, i, whole, lowered.kernel);
      stages.offer("kir", "lower", PassSubject(lowered.kernel));
      kir::verify(lowered.kernel);
    });
    compiled.segments[i].integers = lowered.arguments;
    compiled.segments[i].kernel = std::move(lowered);
  }
  const bool narrow = target == TargetKind::cuda && has_narrow_indices(compiled, context.guards);
  for (CompiledSegment& segment : compiled.segments) {
    if (!segment.kernel) continue;
    segment.kernel->kernel.narrow = narrow;
    compiled.kernel_texts.push_back(kir::print(segment.kernel->kernel));
    stages.text("kir", segment.kernel->kernel.name, compiled.kernel_texts.back());
    all += compiled.kernel_texts.back();
  }
  stages.text("scheduled", fusion.name(), print(fusion) + groups);
  stages.stop_at("scheduled", print(fusion) + groups);
  stages.stop_at("kir", all);
}

namespace {

// The reference evaluates generated segments as a whole.
void use_reference(CompiledSpecialization& compiled) {
  const Fusion& fusion = *compiled.localized;
  for (size_t i = 0; i < fusion.segments.size(); ++i) {
    const Segment& segment = fusion.segments[i];
    if (!is_generated(segment.schedule)) continue;
    CompiledSegment& slot = compiled.segments[i];
    slot.executable = reference::make_executable(compiled.localized, i);
    slot.text.name = kernel_name(fusion, segment);
    slot.text.status = reference::has_status(segment);
    slot.text.buffers = segment.inputs.size() + segment.outputs.size() + (slot.text.status ? 1 : 0);
    for (const auto& symbol : reference::segment_symbols(fusion, segment))
      slot.integers.push_back(fusion.pool().symbol(symbol));
    slot.text.integers = slot.integers.size();
  }
}

// Whether kernels may begin before what is in front of them has ended.
bool is_programmatic(const PipelineContext& context) {
  constexpr int kFirst = 90;  // compute capability
  const Target& target = context.device.target();
  return context.options.options.programmatic_launch && target.cuda() && target.compute_capability() >= kFirst;
}

std::string write_text(const kir::Kernel& kernel, bool follows) {
  return kernel.target == TargetKind::cuda ? write_cuda(kernel, follows) : codegen::write_llvm(kernel);
}

// The signature and the text with its name blanked: what tells kernels apart.
std::string without_name(const KernelText& kernel) {
  std::string out = kernel.signature() + '\n';
  size_t begin = 0;
  for (size_t at = kernel.text.find(kernel.name); at != std::string::npos; at = kernel.text.find(kernel.name, begin)) {
    out.append(kernel.text, begin, at - begin);
    begin = at + kernel.name.size();
  }
  return codegen::llvm::without_notes(out.append(kernel.text, begin, std::string::npos));
}

// Runs the jobs on as many threads as there are cores; the first error is thrown.
void run_parallel(const std::vector<std::function<void()>>& jobs) {
  std::atomic<size_t> next = 0;
  std::exception_ptr error;
  std::mutex mutex;
  auto worker = [&] {
    for (size_t i = next++; i < jobs.size(); i = next++) {
      try {
        jobs[i]();
      } catch (...) {
        std::lock_guard lock(mutex);
        if (!error) error = std::current_exception();
      }
    }
  };
  size_t count = std::min<size_t>(jobs.size(), std::max(1u, std::thread::hardware_concurrency()));
  std::vector<std::thread> threads;
  for (size_t i = 1; i < count; ++i) threads.emplace_back(worker);
  worker();
  for (auto& t : threads) t.join();
  if (error) std::rethrow_exception(error);
}

// A GPU's compiler takes several kernels at once; the CPU's takes one at a time on each core.
void compile_fresh(const std::vector<std::pair<CompiledSegment*, const Segment*>>& fresh, const Fusion& fusion,
                   const PipelineContext& context) {
  Device& device = context.device;
  std::vector<CompiledSegment*> slots;
  for (const auto& [slot, segment] : fresh) slots.push_back(slot);
  if (device.target().cuda()) {
    std::vector<KernelText> texts;
    for (const CompiledSegment* slot : slots) texts.push_back(slot->text);
    const ProgressLine progress(
        fmt::format("compiling @{}: {} {}", fusion.name(), texts.size(), texts.size() == 1 ? "kernel" : "kernels"));
    std::vector<CompiledKernel> made = device.compile_many(texts);
    for (size_t i = 0; i < slots.size(); ++i) {
      slots[i]->executable = std::move(made[i].executable);
      slots[i]->facts = std::move(made[i].facts);
    }
    return;
  }
  ProgressLine progress("compiling @" + fusion.name(), fresh.size(), "kernels");
  std::vector<std::function<void()>> jobs;
  for (const auto& [slot, segment] : fresh)
    jobs.push_back([slot = slot, segment = segment, &device, &fusion, &context, &progress] {
      on_kernel(fusion, *segment, context, [&] { slot->executable = device.compile(slot->text, &slot->facts); });
      progress.step();
    });
  run_parallel(jobs);
}

// What NVRTC makes of CUDA text: it costs a compiler's run.
void show_ptx(const std::vector<const KernelText*>& kernels, const std::string& architecture, Stages& stages) {
  std::string all;
  for (const KernelText* kernel : kernels) {
    std::string text = compile_cuda(kernel->text, kernel->name, architecture).ptx;
    stages.text("ptx", kernel->name, text);
    all += text;
  }
  stages.stop_at("ptx", all);
}

}  // namespace

void compile_segments(CompiledSpecialization& compiled, Stages& stages, const PipelineContext& context) {
  const Fusion& fusion = *compiled.localized;
  const Target& target = context.device.target();
  if (target.kind == TargetKind::reference) use_reference(compiled);
  const char* stage = target.cuda() ? "cuda" : "llvm";
  std::vector<std::pair<CompiledSegment*, const Segment*>> fresh_slots;
  std::map<size_t, Segment> whole;                  // by the first segment of a launch
  std::map<std::string, size_t> by_content;         // text without the name -> segment
  std::vector<std::pair<size_t, size_t>> repeated;  // segment, the earlier one with the same kernel
  std::string all;
  for (const std::vector<const Segment*>& launch : launches(fusion)) {
    const auto i = static_cast<size_t>(launch.front() - fusion.segments.data());
    CompiledSegment& slot = compiled.segments[i];
    if (std::holds_alternative<schedules::Library>(fusion.segments[i].schedule)) {
      std::string why;
      slot.executable = context.device.library(library_contraction(*fusion.segments[i].ops[0]), &why);
    }
    if (!slot.kernel) continue;
    const kir::Kernel& kernel = slot.kernel->kernel;
    const Segment& own = whole.emplace(i, as_one(fusion, launch)).first->second;
    on_kernel(fusion, own, context, [&] {
      const bool follows = is_programmatic(context);
      slot.text = kir::text_of(kernel, write_text(kernel, follows), slot.kernel->status);
      slot.text.follows = follows;
    });
    auto [first, fresh] = by_content.emplace(without_name(slot.text), i);
    if (!fresh) {  // the same kernel under the name of its first use
      repeated.emplace_back(i, first->second);
      continue;
    }
    const std::string shown = kernel_legend(fusion, *slot.kernel) + slot.text.text;
    stages.text(stage, kernel.name, shown);
    all += shown;
    fresh_slots.emplace_back(&slot, &own);
  }
  if (target.kind != TargetKind::reference) stages.stop_at(stage, all);
  if (target.cuda() && stages.asks_for("ptx")) {
    std::vector<const KernelText*> texts;
    for (const auto& [slot, segment] : fresh_slots) texts.push_back(&slot->text);
    show_ptx(texts, target.architecture, stages);
  }
  compile_fresh(fresh_slots, fusion, context);
  for (const auto& [again, first] : repeated) {
    compiled.segments[again].text = compiled.segments[first].text;
    compiled.segments[again].facts = compiled.segments[first].facts;
    compiled.segments[again].executable = compiled.segments[first].executable;
  }
}

namespace {

// What a file pins for CPUs as what it says to a GPU, about tensors that are still computed.
std::vector<FileSegment> for_gpu(std::vector<FileSegment> segments, const Fusion& fusion) {
  for (FileSegment& segment : segments) {
    std::erase_if(segment.outputs, [&](const std::string& name) { return fusion.find(name) == nullptr; });
    if (auto* pointwise = std::get_if<schedules::Pointwise>(&segment.schedule)) pointwise->block.reset();
    if (auto* nest = std::get_if<schedules::Nest>(&segment.schedule)) *nest = {.threads = nest->threads};
    if (std::holds_alternative<schedules::Manual>(segment.schedule)) segment.schedule = {};
    segment.loops = {};
    segment.joins.clear();
  }
  return segments;
}

}  // namespace

void show_gpu_stages(const Fusion& localized, Stages& stages, const PipelineContext& context) {
  if (stages.asks_for("sass"))
    throw MissingError("stage `sass` needs a disassembler, and none is part of this build", "sass", "use --dump=ptx");
  if (context.device.target().cuda() || (!stages.asks_for("cuda") && !stages.asks_for("ptx"))) return;
  const std::unique_ptr<Device> gpu = make_offline_device(target_named("sm_90a"));
  const auto fusion = clone(localized);
  const PipelineContext how{context.options, context.mesh, *gpu, for_gpu(context.file_segments, *fusion)};
  std::string reasons, all;
  segment_for(*fusion, how, nullptr, reasons);
  std::vector<KernelText> texts;
  for (const Segment& segment : fusion->segments) {
    if (!is_generated(segment.schedule)) continue;
    const auto lowered = lower(*fusion, segment, lower_options(*fusion, segment, context.options, TargetKind::cuda));
    kir::verify(lowered.kernel);
    texts.push_back({lowered.kernel.name, write_cuda(lowered.kernel)});
    const std::string shown = kernel_legend(*fusion, lowered) + texts.back().text;
    stages.text("cuda", texts.back().name, shown);
    all += shown;
  }
  stages.stop_at("cuda", all);
  if (!stages.asks_for("ptx")) return;
  std::vector<const KernelText*> kernels;
  for (const KernelText& text : texts) kernels.push_back(&text);
  show_ptx(kernels, gpu->target().architecture, stages);
}

}  // namespace plait
