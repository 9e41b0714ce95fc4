#include "backend/cuda/nvrtc.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <map>
#include <optional>
#include <string_view>

#include "backend/cuda/nvrtc_library.h"
#include "backend/disk_cache.h"
#include "base/error.h"
#include "base/library_search.h"

namespace plait {
namespace {

constexpr const char* kRemedy =
    "install the wheel nvidia-cuda-nvrtc into the environment that VIRTUAL_ENV names, or set PLAIT_CUDA_HOME";

const NvrtcLibrary& library() {
  std::string why_not;
  const NvrtcLibrary* found = nvrtc_library(&why_not);
  if (found == nullptr) throw MissingError(fmt::format("NVRTC is missing: {}", why_not), "", kRemedy);
  return *found;
}

void check(nvrtcResult result, const char* what) {
  PLAIT_CHECK(result == NVRTC_SUCCESS, "{}: {}", what, library().nvrtcGetErrorString(result));
}

// A program of NVRTC, destroyed with its scope.
class Program {
 public:
  Program(const std::string& text, const std::string& file) {
    check(library().nvrtcCreateProgram(&program_, text.c_str(), file.c_str(), 0, nullptr, nullptr),
          "nvrtcCreateProgram");
  }
  ~Program() { library().nvrtcDestroyProgram(&program_); }
  Program(const Program&) = delete;

  nvrtcProgram get() const { return program_; }

  // Bytes that a pair of functions (size, contents) yields.
  template <class Size, class Contents>
  std::string bytes(Size size, Contents contents) const {
    size_t count = 0;
    check(size(program_, &count), "size of a result");
    std::string out(count, '\0');
    if (count != 0) check(contents(program_, out.data()), "a result");
    return out;
  }

  std::string text(std::string bytes) const {
    if (!bytes.empty() && bytes.back() == '\0') bytes.pop_back();
    return bytes;
  }

 private:
  nvrtcProgram program_ = nullptr;
};

bool is_virtual(const std::string& architecture) { return architecture.rfind("compute_", 0) == 0; }

std::vector<std::string> options(const NvrtcLibrary& nvrtc, const std::string& architecture) {
  std::vector<std::string> out = {"-arch=" + architecture, "--std=c++17"};
  out.push_back(is_virtual(architecture) ? "--generate-line-info" : "-Xptxas=-v");
  const auto since = [&](int major, int minor) {
    return nvrtc.major > major || (nvrtc.major == major && nvrtc.minor >= minor);
  };
  if (since(12, 4)) out.push_back("--minimal");   // saves about 7 ms: leaves out what kernels here do not use
  if (since(12, 9)) out.push_back("--no-cache");  // our own cache decides what is compiled again
  return out;
}

// The integer in front of `unit` in a line of the assembler, 0 where there is none.
int number_before(const std::string& line, const std::string& unit) {
  size_t at = line.find(unit);
  if (at == line.npos) return 0;
  size_t first = at;
  while (first > 0 && line[first - 1] >= '0' && line[first - 1] <= '9') --first;
  return std::atoi(line.substr(first, at - first).c_str());
}

struct EntryFacts {
  int registers = 0, spill_bytes = 0, stack_bytes = 0, shared_bytes = 0;
};

// Reads what `ptxas -v` says about the entry:
//   ptxas info    : Compiling entry function 'k' for 'sm_90a'
//   ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
//   ptxas info    : Used 30 registers, used 0 barriers, 128 bytes smem
EntryFacts read_assembler_log(const std::string& name, const std::string& log) {
  EntryFacts result;
  bool in_entry = false, used = false;
  for (size_t at = 0; at < log.size();) {
    const size_t end = std::min(log.find('\n', at), log.size());
    const std::string line = log.substr(at, end - at);
    at = end + 1;
    if (line.find("Compiling entry function") != line.npos) in_entry = line.find("'" + name + "'") != line.npos;
    if (!in_entry) continue;
    if (line.find("bytes stack frame") != line.npos) {
      result.stack_bytes = number_before(line, " bytes stack frame");
      result.spill_bytes = number_before(line, " bytes spill stores") + number_before(line, " bytes spill loads");
    } else if (line.find("Used ") != line.npos) {
      used = true;
      result.registers = number_before(line, " registers");
      result.shared_bytes = number_before(line, " bytes smem");
    }
  }
  PLAIT_CHECK(used, "the assembler's log does not speak of {}:\n{}", name, log);
  return result;
}

// Number of the line that the first error of a log speaks of, 0 where it names none.
int error_line(const std::string& file, const std::string& log) {
  size_t at = log.find(": error");
  if (at == log.npos) return 0;
  at = log.rfind(file + "(", at);
  return at == log.npos ? 0 : std::atoi(log.c_str() + at + file.size() + 1);
}

// Lines first .. last of a text, numbered from 1.
std::string numbered(const std::string& text, int first, int last) {
  std::string out;
  int number = 1;
  for (size_t at = 0; at < text.size(); ++number) {
    const size_t end = std::min(text.find('\n', at), text.size());
    if (number >= first && number <= last) out += fmt::format("{:4} {}\n", number, text.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

[[noreturn]] void refuse(const std::string& text, const std::string& file, const std::string& architecture,
                         const std::string& log) {
  const int line = error_line(file, log);
  throw InternalError(fmt::format("NVRTC refuses a generated kernel:\n{}\n{}", log, numbered(text, line - 4, line + 4)),
                      fmt::format("{}:{} for {}", file, line, architecture), "");
}

constexpr int kFirst = 80;  // compute capability of the first architecture that kernels are written for

void check_architecture(const std::string& architecture) {
  const std::vector<int> known = nvrtc_architectures();
  const bool has_form = architecture.rfind("sm_", 0) == 0 || is_virtual(architecture);
  const int number = has_form ? std::atoi(architecture.c_str() + architecture.find('_') + 1) : 0;
  if (std::find(known.begin(), known.end(), number) != known.end()) return;
  std::string list;
  for (int each : known)
    if (each >= kFirst) list += fmt::format("{}sm_{}", list.empty() ? "" : ", ", each);
  throw MissingError(fmt::format("NVRTC {} does not compile for {}", nvrtc_version(), architecture), "",
                     fmt::format("choose one of {} or install another NVRTC", list));
}

// What a run of NVRTC yields; code where it succeeded.
struct Output {
  nvrtcResult status = NVRTC_SUCCESS;
  std::string cubin, ptx, log;
  double compile_ms = 0;
  bool from_disk = false;
};

Output run(const std::string& text, const std::string& file, const std::string& architecture) {
  const NvrtcLibrary& nvrtc = library();
  const Program program(text, file);
  const std::vector<std::string> list = options(nvrtc, architecture);
  std::vector<const char*> arguments;
  for (const std::string& option : list) arguments.push_back(option.c_str());
  Output out;
  const auto start = std::chrono::steady_clock::now();
  out.status = nvrtc.nvrtcCompileProgram(program.get(), int(arguments.size()), arguments.data());
  out.compile_ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  out.log = program.text(program.bytes(nvrtc.nvrtcGetProgramLogSize, nvrtc.nvrtcGetProgramLog));
  if (out.status != NVRTC_SUCCESS) return out;
  if (!is_virtual(architecture)) out.cubin = program.bytes(nvrtc.nvrtcGetCUBINSize, nvrtc.nvrtcGetCUBIN);
  out.ptx = program.text(program.bytes(nvrtc.nvrtcGetPTXSize, nvrtc.nvrtcGetPTX));
  return out;
}

void check_compiled(const Output& out, const std::string& name) {
  PLAIT_CHECK(out.status == NVRTC_SUCCESS, "NVRTC on {}: {}\n{}", name, library().nvrtcGetErrorString(out.status),
              out.log);
}

}  // namespace

bool nvrtc_available(std::string* why_not) { return nvrtc_library(why_not) != nullptr; }

std::string nvrtc_identity() {
  const NvrtcLibrary& nvrtc = library();
  return fmt::format("{}.{}, {}", nvrtc.major, nvrtc.minor,
                     library_identity(reinterpret_cast<const void*>(nvrtc.nvrtcVersion)));
}

std::string nvrtc_version() {
  const NvrtcLibrary& nvrtc = library();
  return fmt::format("{}.{}", nvrtc.major, nvrtc.minor);
}

std::string nvrtc_rule() { return library().rule; }

std::string nvrtc_path() { return library_file_of(reinterpret_cast<void*>(library().nvrtcVersion)); }

std::vector<int> nvrtc_architectures() {
  int count = 0;
  check(library().nvrtcGetNumSupportedArchs(&count), "nvrtcGetNumSupportedArchs");
  std::vector<int> out(static_cast<size_t>(count));
  check(library().nvrtcGetSupportedArchs(out.data()), "nvrtcGetSupportedArchs");
  return out;
}

NvrtcResult compile_cuda(const std::string& text, const std::string& name, const std::string& architecture) {
  check_architecture(architecture);
  Output out = run(text, name + ".cu", architecture);
  if (out.status == NVRTC_ERROR_COMPILATION) refuse(text, name + ".cu", architecture, out.log);
  check_compiled(out, name);
  NvrtcResult result;
  result.cubin.assign(out.cubin.begin(), out.cubin.end());
  result.ptx = std::move(out.ptx);
  result.log = std::move(out.log);
  result.compile_ms = out.compile_ms;
  if (is_virtual(architecture)) return result;
  const EntryFacts entry = read_assembler_log(name, result.log);
  result.registers = entry.registers;
  result.spill_bytes = entry.spill_bytes;
  result.stack_bytes = entry.stack_bytes;
  result.shared_bytes = entry.shared_bytes;
  return result;
}

namespace {

// The lines of the CUDA text as comments behind the PTX, `//cuda FILE|LINE` each: what reads PTX can quote them.
void append_source(std::string& ptx, const KernelText& kernel) {
  while (!ptx.empty() && ptx.back() == '\0') ptx.pop_back();
  if (!ptx.empty() && ptx.back() != '\n') ptx += '\n';
  for (size_t at = 0; at < kernel.text.size();) {
    const size_t end = std::min(kernel.text.find('\n', at), kernel.text.size());
    ptx += fmt::format("//cuda {}.cu|{}\n", kernel.name, std::string_view(kernel.text).substr(at, end - at));
    at = end + 1;
  }
}

// Cubin, PTX and log as one entry of the cache on disk: their lengths, eight bytes each, in front of them.
std::string packed(const Output& out) {
  std::string lengths, rest;
  for (const std::string* part : {&out.cubin, &out.ptx, &out.log}) {
    const uint64_t length = part->size();
    lengths.append(reinterpret_cast<const char*>(&length), sizeof length);
    rest += *part;
  }
  return lengths + rest;
}

std::optional<Output> unpacked(std::string_view bytes) {
  Output out;
  std::array<uint64_t, 3> lengths{};
  if (bytes.size() < sizeof lengths) return std::nullopt;
  std::memcpy(lengths.data(), bytes.data(), sizeof lengths);
  bytes.remove_prefix(sizeof lengths);
  const std::array<std::string*, 3> parts{&out.cubin, &out.ptx, &out.log};
  for (size_t i = 0; i < parts.size(); ++i) {
    if (lengths[i] > bytes.size()) return std::nullopt;
    *parts[i] = bytes.substr(0, lengths[i]);
    bytes.remove_prefix(lengths[i]);
  }
  out.from_disk = true;
  return bytes.empty() ? std::optional(std::move(out)) : std::nullopt;
}

// As run(), which is asked where the cache (may be null) has no answer. What does not compile is not kept.
Output run_or_find(const std::string& text, const std::string& file, const std::string& architecture, DiskCache* disk) {
  if (disk == nullptr) return run(text, file, architecture);
  const auto start = std::chrono::steady_clock::now();
  const NvrtcLibrary& nvrtc = library();
  std::string source = fmt::format("nvrtc, 1: {}\n{}", nvrtc_identity(), file);
  for (const std::string& option : options(nvrtc, architecture)) source += ' ' + option;
  source += '\n' + text;
  const std::optional<std::string> kept = disk->find(source);
  if (std::optional<Output> out = kept ? unpacked(*kept) : std::nullopt) {
    out->compile_ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    return *std::move(out);
  }
  Output out = run(text, file, architecture);
  if (!is_virtual(architecture)) out.ptx.clear();  // nobody asks
  if (out.status == NVRTC_SUCCESS) disk->store(source, packed(out));
  return out;
}

// One run for all, each in a namespace of its own unless it is alone.
Output run_unit(std::span<const KernelText> kernels, const std::string& architecture, DiskCache* disk) {
  std::string text, names;
  for (size_t i = 0; i < kernels.size(); ++i) {
    text += fmt::format("namespace plait_{} {{\n#line 1 \"{}.cu\"\n{}\n}}\n", i, kernels[i].name, kernels[i].text);
    names += (names.empty() ? "" : "+") + kernels[i].name;
  }
  const bool alone = kernels.size() == 1;
  if (alone) text = kernels[0].text;
  Output out = run_or_find(text, alone ? names + ".cu" : "unit.cu", architecture, disk);
  if (out.status == NVRTC_ERROR_COMPILATION && alone) refuse(text, names + ".cu", architecture, out.log);
  if (out.status == NVRTC_ERROR_COMPILATION) {  // the kernel at fault says what is wrong, by itself
    for (const KernelText& kernel : kernels) run_unit({&kernel, 1}, architecture, nullptr);
  }
  check_compiled(out, names);
  return out;
}

// By kernel and phase.
using UnitFacts = std::vector<std::vector<EntryFacts>>;

UnitFacts entry_facts(std::span<const KernelText> kernels, const std::string& log) {
  UnitFacts out(kernels.size());
  for (size_t k = 0; k < kernels.size(); ++k)
    for (size_t i = 0; i < kernels[k].phases(); ++i)
      out[k].push_back(read_assembler_log(phase_entry(kernels[k].name, i), log));
  return out;
}

int spill_bytes(const UnitFacts& facts) {
  int out = 0;
  for (const auto& kernel : facts)
    for (const EntryFacts& entry : kernel) out += entry.spill_bytes;
  return out;
}

// Says in the bounds of an entry how many of its blocks a multiprocessor is to hold: as many as there are with this
// many registers for each thread. Without that word the assembler keeps room for more of them, and would rather spill a
// few registers than take more. Bounds that speak of it stay.
void let_have_registers(std::string& text, const std::string& entry, int registers) {
  constexpr std::string_view kBounds = "__launch_bounds__(";
  constexpr int kAll = 65536;  // of a multiprocessor
  const size_t name = text.find(" " + entry + "(");
  const size_t bounds = name == text.npos ? name : text.rfind(kBounds, name);
  if (bounds == text.npos) return;
  const size_t end = text.find(')', bounds);
  if (end + 1 != name || text.substr(bounds, end - bounds).find(',') != text.npos) return;
  const int threads = std::atoi(text.c_str() + bounds + kBounds.size());
  if (threads > 0) text.insert(end, fmt::format(", {}", std::max(1, kAll / (threads * registers))));
}

// Entries that spill get a few registers more, those that spill still all that a block may have; the code that spills
// least is taken. `facts`: of the machine code.
Output run_without_spills(std::span<const KernelText> kernels, const std::string& architecture, DiskCache* disk,
                          UnitFacts& facts) {
  constexpr int kUnit = 8, kMost = 255;
  Output best = run_unit(kernels, architecture, disk);
  if (is_virtual(architecture)) return best;
  facts = entry_facts(kernels, best.log);
  int spilled = spill_bytes(facts);
  double ms = best.compile_ms;
  std::map<std::string, int> registers;  // of entries that get more
  for (const bool all : {false, true}) {
    if (spilled == 0) break;
    std::vector<KernelText> texts(kernels.begin(), kernels.end());
    for (size_t k = 0; k < texts.size(); ++k)
      for (size_t i = 0; i < facts[k].size(); ++i) {
        const std::string entry = phase_entry(texts[k].name, i);
        if (facts[k][i].spill_bytes > 0)
          registers[entry] = all ? kMost : std::min((facts[k][i].registers / kUnit + 1) * kUnit, kMost);
        if (registers.contains(entry)) let_have_registers(texts[k].text, entry, registers[entry]);
      }
    Output again = run_unit(texts, architecture, disk);
    ms += again.compile_ms;
    best.from_disk = again.from_disk = best.from_disk && again.from_disk;
    UnitFacts now = entry_facts(texts, again.log);
    if (spill_bytes(now) >= spilled) continue;
    facts = std::move(now);
    spilled = spill_bytes(facts);
    best = std::move(again);
  }
  best.compile_ms = ms;
  return best;
}

}  // namespace

NvrtcUnit compile_cuda_unit(std::span<const KernelText> kernels, const std::string& architecture, DiskCache* disk) {
  check_architecture(architecture);
  UnitFacts entries(kernels.size());
  Output out = run_without_spills(kernels, architecture, disk, entries);
  NvrtcUnit unit;
  unit.code = is_virtual(architecture) ? std::move(out.ptx) : std::move(out.cubin);
  if (is_virtual(architecture))
    for (const KernelText& kernel : kernels) append_source(unit.code, kernel);
  for (size_t k = 0; k < kernels.size(); ++k) {
    const std::vector<size_t>& asked = kernels[k].shared_bytes;
    KernelFacts facts;
    facts.arch = architecture.substr(0, 2) == "sm" ? architecture : "sm_" + architecture.substr(8);
    facts.compile_ms = out.compile_ms / double(kernels.size());
    facts.from_disk = out.from_disk;
    if (!is_virtual(architecture)) {
      facts.registers = facts.spill_bytes = facts.shared_bytes = 0;  // the most of its phases
      for (size_t phase = 0; phase < entries[k].size(); ++phase) {
        const EntryFacts& entry = entries[k][phase];
        const int launch = asked.empty() ? 0 : static_cast<int>(asked[phase]);
        facts.registers = std::max(*facts.registers, entry.registers);
        facts.spill_bytes = std::max(*facts.spill_bytes, entry.spill_bytes);
        facts.shared_bytes = std::max(*facts.shared_bytes, entry.shared_bytes + launch);
      }
    }
    unit.facts.push_back(std::move(facts));
  }
  return unit;
}

KernelFacts facts(const NvrtcResult& result) {
  return {.registers = result.registers,
          .spill_bytes = result.spill_bytes,
          .shared_bytes = result.shared_bytes,
          .compile_ms = result.compile_ms};
}

}  // namespace plait
