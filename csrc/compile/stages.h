#pragma once
// What pipeline.cpp calls besides passes: the driver bound to one compilation, and the work per group.
#include "base/pass.h"
#include "compile/pipeline.h"

namespace plait {

// The pass driver with the options of one compilation.
class Stages {
 public:
  explicit Stages(const PipelineContext& context);
  void begin(std::string_view stage, const Fusion& fusion);
  // Runs a pass that edits the fusion; verifies it afterwards.
  void pass(std::string_view stage, std::string_view name, Fusion& fusion, const std::function<void()>& pass);
  // Runs a pass whose result is a new value; verifies it.
  void make(std::string_view stage, std::string_view name, std::unique_ptr<Fusion>& out,
            const std::function<std::unique_ptr<Fusion>()>& work);
  void make(std::string_view stage, std::string_view name, std::shared_ptr<const Program>& out,
            const std::function<std::shared_ptr<Program>()>& work);
  // Whether an optional step within a pass is to be done (PassDriver::decide).
  bool decide(std::string_view stage, std::string_view what);
  // Runs work that leaves no text of its own.
  void work(std::string_view stage, std::string_view name, const std::function<void()>& work);
  // Hands a value to the hook of the passes.
  void offer(std::string_view stage, std::string_view name, const PassSubject& subject);
  void end(std::string_view stage, const Fusion& fusion);
  void end(std::string_view stage, const Program& program);
  void text(std::string_view stage, const std::string& name, const std::string& text);
  // True if anybody wants the texts of a stage.
  bool wants(std::string_view stage) const;
  // True if somebody asks for the texts of a stage by its name.
  bool asks_for(std::string_view stage) const;
  // Ends a stage that consists of several texts.
  void stop_at(std::string_view stage, const std::string& text);
  std::string finish();  // hands over the timings

 private:
  const CompileOptions& options_;
  std::string fusion_name_;
  PassDriver driver_;
};

// localize() for the communicator of the device: on GPUs NCCL, which does not reduce everything.
std::unique_ptr<Fusion> localize_for(const Fusion& sharded, const PipelineContext& context);
void bucket_for(Fusion& localized, const PipelineContext& context);  // nothing where a person wrote segments
// Stages `cuda` and `ptx` of a device that is no GPU, for whoever asks: segments, schedules and kernels of the
// localized fusion for sm_90a. Numbers of a pinned schedule that only CPUs have are chosen again. Not all that a GPU
// gets: each segment has a kernel of its own, where a GPU joins those of a launch and runs phases by last blocks; sizes
// are not asked (no guards), indices have 64 bits, and no kernel begins before the one in front of it has ended.
void show_gpu_stages(const Fusion& localized, Stages& stages, const PipelineContext& context);
// Segments the localized fusion for the device's target, with what the file pins. `stages` (may be null) may leave
// steps out; `reasons` gets a line per decision.
void segment_for(Fusion& localized, const PipelineContext& context, Stages* stages, std::string& reasons);
// Kernel IR of every generated segment, verified. For the reference device nothing is generated.
void lower_segments(CompiledSpecialization& compiled, Stages& stages, const PipelineContext& context);
// Text of every kernel, compiled in parallel; executables of contractions.
void compile_segments(CompiledSpecialization& compiled, Stages& stages, const PipelineContext& context);

}  // namespace plait
