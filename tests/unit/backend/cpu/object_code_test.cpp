// Objects of LLVM's, linked without it: what kernels hold, and whatever else a file may.
#include "backend/cpu/object_code.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <cmath>

#include "backend/cpu/c_library.h"
#include "backend/cpu/code_pool.h"
#include "backend/cpu/llvm_compiler.h"
#include "backend/disk_cache.h"
#include "support/scratch_folder.h"

namespace plait {
namespace {

using plait::testing::ScratchFolder;

// A table of constants, a table of jumps, a table of addresses, calls of functions here and elsewhere.
constexpr const char* kText = R"(
@numbers = private constant [8 x double] [double 1.0, double 2.0, double 4.0, double 8.0, double 16.0, double 32.0, double 64.0, double 128.0], align 64
@ways = internal constant [2 x ptr] [ptr @half, ptr @whole]
declare double @plait_exp(double)
declare void @memcpy(ptr, ptr, i64)
define internal double @half(double %x) { %y = fmul double %x, 0.5 ret double %y }
define internal double @whole(double %x) { ret double %x }
define double @other(double %x) { %y = call double @plait_exp(double %x) ret double %y }
define void @k(ptr %buffers, ptr %integers, i64 %begin, i64 %end) {
entry:
  %out = load ptr, ptr %buffers
  %which = load i64, ptr %integers
  %bits = and i64 %which, 7
  %at = getelementptr double, ptr @numbers, i64 %bits
  %number = load double, ptr %at
  %odd = and i64 %which, 1
  %way = getelementptr ptr, ptr @ways, i64 %odd
  %function = load ptr, ptr %way
  %passed = call double %function(double %number)
  switch i64 %which, label %default [ i64 0, label %a i64 1, label %b i64 2, label %c i64 3, label %d i64 4, label %e ]
a: br label %end_of_it
b: br label %end_of_it
c: %e2 = call double @other(double 0.0) br label %end_of_it
d: br label %end_of_it
e: br label %end_of_it
default: br label %end_of_it
end_of_it:
  %added = phi double [ 10.0, %a ], [ 200.0, %b ], [ %e2, %c ], [ 4000.0, %d ], [ 70000.0, %e ], [ -1.0, %default ]
  %sum = fadd double %passed, %added
  %kept = alloca double
  store double %sum, ptr %kept
  call void @memcpy(ptr %out, ptr %kept, i64 8)
  ret void
}
)";

// The object file of a text that defines @k.
std::string object_of(const std::string& text) {
  const ScratchFolder scratch;
  DiskCache disk(scratch / "c", int64_t(1) << 30);
  const LlvmCompiler compiler("", &disk);
  return compiler.object(text, {"k"}).bytes;
}

std::unique_ptr<ObjectCode> link(const std::string& object, std::string* error = nullptr) {
  std::string said;
  static const auto pool = std::make_shared<CodePool>();
  auto out = ObjectCode::link(object, c_library(), pool, said);
  EXPECT_EQ(out == nullptr, !said.empty());
  if (error != nullptr) *error = said;
  return out;
}

double run(const ObjectCode& code, int64_t which) {
  double out = 0;
  void* buffers[] = {&out};
  const int64_t integers[] = {which};
  reinterpret_cast<KernelEntry>(code.function("k"))(buffers, integers, 0, 1);
  return out;
}

TEST(ObjectCode, RunsWhatKernelsAreMadeOf) {
  const std::string object = object_of(kText);
  const auto first = link(object);
  auto second = link(object);
  ASSERT_TRUE(first && second);
  EXPECT_NE(first->function("k"), second->function("k"));
  EXPECT_EQ(first->function("half"), nullptr);  // nobody else's
  EXPECT_NE(first->function("other"), nullptr);
  second.reset();
  const double expected[] = {0.5 + 10, 2 + 200, 2 + 1, 8 + 4000, 8 + 70000.0, 32 - 1, 32 - 1, 128 - 1};
  for (int64_t i = 0; i < 8; ++i) EXPECT_EQ(run(*first, i), expected[i]) << i;
}

TEST(ObjectCode, PagesComeBack) {
  const std::string object = object_of(kText);
  std::set<void*> places;
  for (int i = 0; i < 100; ++i) places.insert(link(object)->function("k"));
  EXPECT_LE(places.size(), 2);
}

TEST(ObjectCode, RefusesWhatKernelsHaveNot) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"@g = global i64 1\ndefine void @k() { store i64 2, ptr @g ret void }",
       "section .data is neither code nor constants"},
      {"@g = global i64 0\ndefine void @k() { store i64 2, ptr @g ret void }",
       "section .bss is neither code nor constants"},
      {"declare void @somewhere()\ndefine void @k() { call void @somewhere() ret void }",
       "it calls somewhere, which is not there"},
      {"declare double @plait_exp(double)\ndefine void @k(ptr %out) { store ptr @plait_exp, ptr %out ret void }",
       "a relocation of kind"},
  };
  for (const auto& [text, reason] : cases) {
    const ScratchFolder scratch;
    DiskCache disk(scratch / "c", int64_t(1) << 30);
    const LlvmCompiler compiler("", &disk);
    std::string error;
    EXPECT_EQ(link(compiler.object(text, {"k"}).bytes, &error), nullptr) << text;
    EXPECT_NE(error.find(reason), std::string::npos) << error;
  }
}

// Whatever bytes come, nothing is read or written that is not theirs (the sanitizers look), and they are taken or
// refused.
TEST(ObjectCode, BearsDamage) {
  const std::string object = object_of(kText);
  std::string error;
  for (size_t size = 0; size < object.size(); ++size) (void)link(object.substr(0, size), &error);
  size_t taken = 0, refused = 0;
  for (size_t bit = 0; bit < object.size() * 8; ++bit) {
    std::string damaged = object;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << bit % 8));
    (link(damaged, &error) ? taken : refused) += 1;
  }
  EXPECT_GT(taken, object.size());    // of the code itself nothing is known
  EXPECT_GT(refused, object.size());  // of the tables much
}

// Every field of every section and symbol at its limits.
TEST(ObjectCode, BearsAnyTable) {
  const std::string object = object_of(kText);
  Elf64_Ehdr header;
  std::memcpy(&header, object.data(), sizeof header);
  const uint64_t values[] = {
      0, 1, 2, 7, 0xff, 0xffff, 0x7fffffff, 0xffffffff, object.size(), uint64_t(1) << 62, ~uint64_t{0}};
  std::string error;
  const auto overwrite = [&](size_t at, size_t bytes) {
    for (const uint64_t value : values) {
      std::string damaged = object;
      if (at + bytes > damaged.size()) return;
      std::memcpy(damaged.data() + at, &value, bytes);
      (void)link(damaged, &error);
    }
  };
  for (size_t at = EI_NIDENT; at < sizeof(Elf64_Ehdr); at += 2)
    for (const size_t bytes : {2, 4, 8}) overwrite(at, bytes);
  for (size_t i = 0; i < header.e_shnum; ++i) {
    const size_t begin = header.e_shoff + i * sizeof(Elf64_Shdr);
    for (size_t at = begin; at < begin + sizeof(Elf64_Shdr); at += 4)
      for (const size_t bytes : {4, 8}) overwrite(at, bytes);
    Elf64_Shdr section;
    std::memcpy(&section, object.data() + begin, sizeof section);
    if (section.sh_type != SHT_SYMTAB && section.sh_type != SHT_RELA) continue;
    for (size_t at = section.sh_offset; at < section.sh_offset + section.sh_size; at += 4)
      for (const size_t bytes : {4, 8}) overwrite(at, bytes);
  }
}

}  // namespace
}  // namespace plait
