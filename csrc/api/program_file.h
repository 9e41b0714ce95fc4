#pragma once
// Files of compiled programs: what is in them.
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "device/device.h"

namespace plait {

struct SavedKernel {
  KernelText text;
  std::string schedule;
  std::vector<int64_t> taken;
  KernelFacts facts;
  std::shared_ptr<const std::string> code;  // of Device::machine_code
};

// As sym::Answer and Lookup have them, expressions as text.
struct SavedAnswer {
  std::string condition, asked_by;
  bool yes = false;
};
struct SavedLookup {
  std::string op, index, in;
  std::vector<std::string> places, shape;
  int64_t dim = 0;
  std::string extent;
};

// A specialization.
struct SavedClass {
  std::string key;  // of its sizes and places, without answers
  std::vector<SavedAnswer> answers;
  std::vector<std::string> refused;
  std::vector<SavedLookup> lookups;
  // Of stages by name; `segmented`, the fusion with its segments and schedules; `reasons` of segmentation,
  // `shard`, what explain says of layouts.
  std::map<std::string, std::string> texts;
  std::vector<std::string> kernel_texts;  // kernel IR
  std::vector<SavedKernel> kernels;
  std::vector<std::string> library_results;
};

struct SavedProgram {
  std::string version, device;
  std::string needs;  // of a machine: Device::code_needs
  std::string comm;
  uint64_t interleaving = 0;
  bool one_rank = false;
  std::map<std::string, int64_t> sizes;         // that the caller gave, and of the mesh
  std::vector<std::string> options;             // `name=value`
  std::string fusion;                           // text
  std::map<std::string, std::string> measured;  // by key: schedules that its classes were told of (measured_text.h)
  std::map<std::string, int64_t> last_sizes;    // that were run or compiled for last
  std::vector<SavedClass> classes;              // the one used last first
};

// Goes up with every change of what is written, or of what kernels and runs expect of each other.
inline constexpr int kProgramFormat = 4;

// A head (magic, format, lengths), a checksum (XXH3, 128 bits) of all behind it, a table as JSON, texts and code.
std::string pack(const SavedProgram& program);
// Whether these bytes begin as such a file does.
bool is_program_file(std::string_view bytes);
// UserError naming `file`: none of these, of another format, cut, or damaged. Texts and code are those that were
// packed, as far as a checksum tells; who can write the file decides what they are.
SavedProgram unpack(std::string_view bytes, const std::string& file);

// The same of a specialization alone.
std::string pack(const SavedClass& made);
SavedClass unpack_class(std::string_view bytes, const std::string& file);

}  // namespace plait
