#pragma once
// What a caller asks of compile(): device, ranks, sizes, and who watches.
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "base/dump.h"
#include "base/options.h"
#include "base/pass.h"
#include "compile/measured_schedules.h"
#include "device/device.h"

namespace plait {

// Values of size symbols by name.
using Sizes = std::map<std::string, int64_t, std::less<>>;

// Where and how a fusion is compiled and run. What is left out is found: the device by what is here, sizes by the
// inputs.
struct CompileOptions {
  std::string device;                 // cpu, reference, cuda, sim:ARCH[:N]; empty: default_device() (session/devices.h)
  Device* device_override = nullptr;  // where not null: this device instead; the caller keeps it
  std::optional<int64_t> ranks;       // solves the one free symbol of the mesh
  Sizes sizes;                        // mesh symbols, and size symbols that no input gives
  bool one_rank = false;              // every mesh axis is 1, whatever the file says
  // How the ranks run and talk: local steps all of them in this process, local:threads gives each a thread; mpi and
  // nccl hold one rank a process, nccl all of them where this is the only process; given: every run lends its
  // communicators. docs/multi_device.md.
  std::string comm = "local";
  uint64_t interleaving = 0;  // order in which ranks that are stepped, and simulated streams, go on; 0 is round robin
  Options options;
  DumpSink* dumps = nullptr;                       // the caller keeps it while the program is in use
  PassControl* passes = nullptr;                   // limits and watches the passes; the caller keeps it
  MeasuredSchedules measured{};                    // null: what `plait tune` left on disk
  bool whole_on_disk = true;                       // specializations come whole from disk, and go there
  PassHook hook{};                                 // sees, and may edit, what each pass leaves
  std::function<void(const std::string&)> warn{};  // gets a line per warning; null: standard error does
  std::string until;                               // pass or stage after which compiling stops (StoppedAt)
  // Called before every step of every rank, by the thread that drives it; nothing is waited for.
  std::function<void(int64_t rank, size_t step, const std::string& text)> on_step;
};

}  // namespace plait
