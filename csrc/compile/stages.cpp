#include "compile/stages.h"

#include <algorithm>
#include <atomic>
#include <csignal>
#include <mutex>
#include <thread>

#include "backend/cuda/nvrtc.h"
#include "base/error.h"
#include "base/suggest.h"
#include "codegen/cuda/write.h"
#include "codegen/llvm/writer.h"
#include "comm/nccl/nccl_communicators.h"
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
                           kir::Target target) {
  LowerOptions out;
  out.target = target;
  out.strict_rounding = options.options.strict_rounding;
  out.name = kernel_name(fusion, segment);
  out.missing_tail = has_test_bug(options.options, "missing_tail");
  out.wrong_broadcast = has_test_bug(options.options, "wrong_broadcast");
  return out;
}

}  // namespace

namespace {

// Passes that no later one needs: option `skip` and `--bisect` leave them out.
const std::vector<std::string>& optional_passes() {
  static const std::vector<std::string> names = {"remove_dead_code", "widen_contractions", "merge_equal",
                                                 "remove_unread"};
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

// The pass in which the planted internal error stands: `internal_error_compile` is in `compile`.
std::string planted_pass(const Options& options) {
  constexpr std::string_view kPrefix = "internal_error_";
  const std::string_view bug = options.test_bug;
  return bug.substr(0, kPrefix.size()) == kPrefix ? std::string(bug.substr(kPrefix.size())) : "";
}

}  // namespace

Stages::Stages(const PipelineContext& context)
    : options_(context.options),
      driver_({passes_to_skip(context.options.options.skip), context.options.until, context.options.options.verify,
               context.options.dumps, context.options.passes, planted_pass(context.options.options)}) {}

void Stages::begin(std::string_view stage, const Fusion& fusion) {
  fusion_name_ = fusion.name();
  PLAIT_CHECK(!has_test_bug(options_.options, "internal_error"), "a planted internal error");
  if (has_test_bug(options_.options, "internal_error_crash")) std::raise(SIGSEGV);
  driver_.show(stage, [&] { return print(fusion); });
  end(stage, fusion);
}

void Stages::pass(std::string_view stage, std::string_view name, Fusion& fusion, const std::function<void()>& pass) {
  driver_.run(stage, name, {[&] { return print(fusion); }, [&] { verify(fusion); }}, pass, is_optional(name));
}

void Stages::make(std::string_view stage, std::string_view name, std::unique_ptr<Fusion>& out,
                  const std::function<std::unique_ptr<Fusion>()>& work) {
  driver_.run(stage, name, {[&] { return print(*out); }, [&] { verify(*out); }}, [&] { out = work(); });
}

void Stages::make(std::string_view stage, std::string_view name, std::shared_ptr<const Program>& out,
                  const std::function<std::shared_ptr<const Program>()>& work) {
  driver_.run(stage, name, {[&] { return print(*out); }, [&] { verify(*out); }}, [&] { out = work(); });
}

bool Stages::decide(std::string_view stage, std::string_view what) { return driver_.decide(stage, what); }

void Stages::work(std::string_view stage, std::string_view name, const std::function<void()>& work) {
  driver_.timed(stage, name, work);
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

// UserError where a schedule of the file states another target than that of the device's kernels.
static void check_targets(const PipelineContext& context) {
  const bool cuda = context.device.language() == KernelLanguage::cuda;
  for (const FileSegment& segment : context.file_segments) {
    // No other word of a schedule holds it.
    if (!is_generated(segment.schedule) || segment.schedule.find("target") == std::string::npos) continue;
    const std::string where = fmt::format("segment @{}", segment.name);
    if (parse_params(segment.schedule, where).cuda != cuda)
      throw UserError(fmt::format("`{}` is of another target than {}, that of the device's kernels", segment.schedule,
                                  cuda ? "cuda" : "cpu"),
                      where, "leave `target` out, or choose another device");
  }
}

void segment_for(Fusion& localized, Stages& stages, const PipelineContext& context, std::string& reasons) {
  check_targets(context);
  const Options& options = context.options.options;
  SegmentOptions how;
  how.machine.cuda = context.device.language() == KernelLanguage::cuda;
  how.machine.lanes = context.device.vector_lanes();
  how.pins = pinned_schedules(context.file_segments);
  how.limits = kernel_limits(options);
  for (const FileSegment& written : context.file_segments) how.together.push_back(written.tensors);
  how.contractions = options.contractions;
  how.explain = &reasons;
  how.decide = [&](std::string_view what) { return stages.decide("segments", what); };
  how.library_accepts = [&](const Op& op, std::string* why) {
    if (context.refused_contractions.contains(op.out()->name)) {
      *why = "the library refuses the sizes at hand";
      return false;
    }
    return context.device.library(library_contraction(op), why) != nullptr;
  };
  segment(localized, how);
  check_file_segments(context.file_segments, localized);
}

void lower_segments(CompiledSpecialization& compiled, Stages& stages, const PipelineContext& context) {
  const Fusion& fusion = *compiled.localized;
  compiled.segments.resize(fusion.segments.size());
  const KernelLanguage language = context.device.language();
  if (language == KernelLanguage::none) return;
  const kir::Target target = language == KernelLanguage::cuda ? kir::Target::cuda : kir::Target::cpu;
  std::string all, params;
  for (const auto& segment : fusion.segments) params += fmt::format("{} {}\n", segment.name, segment.schedule);
  stages.text("params", fusion.name(), params);
  stages.stop_at("params", params);
  for (size_t i = 0; i < fusion.segments.size(); ++i) {
    const Segment& segment = fusion.segments[i];
    if (!is_generated(segment.schedule)) continue;
    auto lowered = lower(fusion, segment, lower_options(fusion, segment, context.options, target));
    kir::verify(lowered.kernel);
    compiled.kernel_texts.push_back(kir::print(lowered.kernel));
    stages.text("kir", lowered.kernel.name, compiled.kernel_texts.back());
    all += compiled.kernel_texts.back();
    compiled.segments[i].integers = lowered.arguments;
    compiled.segments[i].kernel = std::move(lowered);
  }
  stages.text("scheduled", fusion.name(), print(fusion));
  stages.stop_at("scheduled", print(fusion));
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

std::string write_text(const kir::Kernel& kernel) {
  return kernel.target == kir::Target::cuda ? write_cuda(kernel) : codegen::write_llvm(kernel);
}

// The text with its name blanked: what tells kernels apart.
std::string without_name(const KernelText& kernel) {
  std::string out;
  size_t begin = 0;
  for (size_t at = kernel.text.find(kernel.name); at != std::string::npos; at = kernel.text.find(kernel.name, begin)) {
    out.append(kernel.text, begin, at - begin);
    begin = at + kernel.name.size();
  }
  return out.append(kernel.text, begin, std::string::npos);
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
void compile_fresh(const std::vector<CompiledSegment*>& slots, Device& device, bool planted) {
  if (device.language() == KernelLanguage::cuda) {
    PLAIT_CHECK(!planted || slots.empty(), "a planted internal error");
    std::vector<KernelText> texts;
    for (const CompiledSegment* slot : slots) texts.push_back(slot->text);
    std::vector<CompiledKernel> made = device.compile_many(texts);
    for (size_t i = 0; i < slots.size(); ++i) {
      slots[i]->executable = std::move(made[i].executable);
      slots[i]->facts = std::move(made[i].facts);
    }
    return;
  }
  std::vector<std::function<void()>> jobs;
  for (CompiledSegment* slot : slots)
    jobs.push_back([slot, &device, planted] {
      PLAIT_CHECK(!planted, "a planted internal error");
      slot->executable = device.compile(slot->text, &slot->facts);
    });
  run_parallel(jobs);
}

// What NVRTC makes of CUDA text, for whoever names these stages: they cost a compiler's run.
void show_machine_code(const std::vector<CudaKernel>& kernels, const std::string& architecture, Stages& stages) {
  std::string all;
  for (const auto& kernel : kernels) {
    std::string text = compile_cuda(kernel.text, kernel.name, architecture).ptx;
    stages.text("ptx", kernel.name, text);
    all += text;
  }
  stages.stop_at("ptx", all);
}

// The stages that only GPUs have, for whoever asks: CUDA text (on other devices), PTX.
void show_gpu_stages(const CompiledSpecialization& compiled, const std::vector<CompiledSegment*>& fresh, Stages& stages,
                     const PipelineContext& context) {
  const CompileOptions& options = context.options;
  auto named = [&](const char* stage) {
    return options.until == stage || (options.dumps && options.dumps->requested(stage));
  };
  if (named("sass"))
    throw MissingError("stage `sass` needs a disassembler, and none is part of this build", "sass", "use --dump=ptx");
  const bool with_ptx = named("ptx");
  if (context.device.language() == KernelLanguage::cuda) {
    std::vector<CudaKernel> kernels;
    for (const CompiledSegment* slot : fresh) kernels.push_back({slot->text.name, "", slot->text.text});
    if (with_ptx) show_machine_code(kernels, context.device.architecture(), stages);
    return;
  }
  if (!stages.wants("cuda") && !with_ptx) return;
  const std::vector<CudaKernel> kernels = write_cuda_kernels(compiled, options);
  std::string cuda;
  for (const auto& kernel : kernels) {
    stages.text("cuda", kernel.name, kernel.text);
    cuda += kernel.text;
  }
  stages.stop_at("cuda", cuda);
  if (with_ptx) show_machine_code(kernels, "sm_90a", stages);
}

}  // namespace

void compile_segments(CompiledSpecialization& compiled, Stages& stages, const PipelineContext& context) {
  const Fusion& fusion = *compiled.localized;
  const KernelLanguage language = context.device.language();
  if (language == KernelLanguage::none) use_reference(compiled);
  const char* stage = language == KernelLanguage::cuda ? "cuda" : "llvm";
  std::vector<CompiledSegment*> fresh_slots;
  std::map<std::string, size_t> by_content;         // text without the name -> segment
  std::vector<std::pair<size_t, size_t>> repeated;  // segment, the earlier one with the same kernel
  std::string all;
  for (size_t i = 0; i < fusion.segments.size(); ++i) {
    CompiledSegment& slot = compiled.segments[i];
    if (fusion.segments[i].schedule == kLibrary) {
      std::string why;
      slot.executable = context.device.library(library_contraction(*fusion.segments[i].ops[0]), &why);
    }
    if (!slot.kernel) continue;
    const kir::Kernel& kernel = slot.kernel->kernel;
    slot.text = {kernel.name, write_text(kernel), kernel.buffers.size(), kernel.integers.size(), slot.kernel->status};
    auto [first, fresh] = by_content.emplace(without_name(slot.text), i);
    if (!fresh) {  // the same kernel under the name of its first use
      repeated.emplace_back(i, first->second);
      continue;
    }
    stages.text(stage, kernel.name, slot.text.text);
    all += slot.text.text;
    fresh_slots.push_back(&slot);
  }
  if (language != KernelLanguage::none) stages.stop_at(stage, all);
  show_gpu_stages(compiled, fresh_slots, stages, context);
  compile_fresh(fresh_slots, context.device, has_test_bug(context.options.options, "internal_error_kernel"));
  for (const auto& [again, first] : repeated) {
    compiled.segments[again].text = compiled.segments[first].text;
    compiled.segments[again].facts = compiled.segments[first].facts;
    compiled.segments[again].executable = compiled.segments[first].executable;
  }
}

// A schedule pinned for a CPU as one of a GPU: what only loops of a CPU have is chosen again.
static std::string without_cpu_keys(const std::string& pinned) {
  if (pinned.empty()) return pinned;
  Params out = parse_params(pinned);
  const bool nest = out.scheduler == "nest";
  std::erase_if(out.numbers, [&](const auto& pair) {
    return pair.first == "block" || (nest && (pair.first == "rows" || pair.first == "vector"));
  });
  return print(out);
}

std::vector<CudaKernel> write_cuda_kernels(const CompiledSpecialization& compiled, const CompileOptions& options) {
  auto fusion = clone(*compiled.localized);
  std::vector<CudaKernel> out;
  for (auto& segment : fusion->segments) {
    if (!is_generated(segment.schedule)) continue;
    for (TensorView* t : segment.outputs) t->domain.transforms.clear();
    Machine machine;
    machine.cuda = true;
    std::string pinned;
    for (const TensorView* t : segment.outputs)
      if (auto pin = compiled.pins.find(t->name); pin != compiled.pins.end()) pinned = pin->second;
    segment.schedule = print(choose_params({*fusion, segment}, machine, without_cpu_keys(pinned)));
    apply_schedule(*fusion, segment);
    auto lowered = lower(*fusion, segment, lower_options(*fusion, segment, options, kir::Target::cuda));
    kir::verify(lowered.kernel);
    out.push_back({lowered.kernel.name, segment.schedule, write_cuda(lowered.kernel)});
  }
  return out;
}

}  // namespace plait
