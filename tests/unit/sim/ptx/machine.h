#pragma once
// One simulated device for tests of PTX: buffers in its memory, kernels launched one after the other.
#include <bit>
#include <cstring>
#include <string>
#include <vector>

#include "base/error.h"
#include "sim/ptx/ptx.h"

namespace plait::sim::test {

class Machine {
 public:
  Machine() { space.add_device(0, size_t(1) << 30); }

  // An operation of a stream after all that were made before it on any stream.
  Actor actor(const std::string& name, int stream = 1) {
    const Actor out = space.trace().begin({name, stream, ++sequence_, "main"}, done_, 0);
    done_.raise(stream, sequence_);
    return out;
  }
  uint64_t allocate(size_t bytes) { return space.allocate(0, bytes); }
  template <class T>
  uint64_t upload(const std::vector<T>& values) {
    const uint64_t address = space.allocate(0, std::max<size_t>(values.size(), 1) * sizeof(T));
    if (values.empty()) return address;
    space.check_write(actor("upload"), address, values.size() * sizeof(T));
    std::memcpy(space.host_address(address, values.size() * sizeof(T)), values.data(), values.size() * sizeof(T));
    return address;
  }
  template <class T>
  std::vector<T> download(uint64_t address, size_t count) {
    std::vector<T> out(count);
    if (count == 0) return out;
    space.check_read(actor("download"), address, count * sizeof(T));
    std::memcpy(out.data(), space.host_address(address, count * sizeof(T)), count * sizeof(T));
    return out;
  }

  // Addresses of the module's variables, loaded anew: zeros where nothing is said.
  std::vector<uint64_t> globals(const PtxModule& module) {
    std::vector<uint64_t> out;
    for (const GlobalVariable& each : module.globals()) {
      out.push_back(space.allocate(0, each.bytes));
      space.check_write(actor("load"), out.back(), each.bytes);
      auto* to = static_cast<uint8_t*>(space.host_address(out.back(), each.bytes));
      std::memset(to, 0, each.bytes);
      std::copy(each.initial.begin(), each.initial.end(), to);
    }
    return out;
  }

  // Launches the only kernel of a module; parameters of 8 bytes each.
  LaunchCounts run(const PtxModule& module, const std::vector<uint64_t>& parameters, uint32_t blocks, uint32_t threads,
                   uint64_t seed = 0, uint64_t budget = 1 << 22) {
    Launch launch;
    launch.grid[0] = blocks;
    launch.block[0] = threads;
    launch.seed = seed;
    launch.budget = budget;
    launch.parameters.resize(parameters.size() * 8);
    std::memcpy(launch.parameters.data(), parameters.data(), launch.parameters.size());
    launch.globals = globals(module);
    return sim::launch(module, launch, actor(module.kernels()[0].name), space);
  }

  AddressSpace space;

 private:
  Clock done_;
  uint64_t sequence_ = 0;
};

// A module of one kernel `k` with parameters a, b, c, d of 8 bytes each and the usual registers: %p0-%p9, %h0-%h19 (16
// bits), %r0-%r39, %rd0-%rd39.
inline std::string kernel_text(const std::string& body, const std::string& before = "") {
  return ".version 9.0\n.target sm_80\n.address_size 64\n" + before +
         ".visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 d)\n{\n"
         ".reg .pred %p<10>;\n.reg .b16 %h<20>;\n.reg .b32 %r<40>;\n.reg .b64 %rd<40>;\n" +
         body + "\n}\n";
}

// %rd39 = a + 8 * index of the thread in the grid; %r39 = the index.
inline const char* const kThread =
    "mov.u32 %r37, %ctaid.x; mov.u32 %r38, %ntid.x; mov.u32 %r39, %tid.x; mad.lo.s32 %r39, %r37, %r38, %r39;\n"
    "ld.param.u64 %rd38, [a]; mul.wide.u32 %rd39, %r39, 8; add.s64 %rd39, %rd38, %rd39;\n";

// Runs one instruction, or several, over threads: operands %a, %b, %c, %e of the given bits (1: predicates), result %d.
// rows[thread][operand]; returns %d of every thread.
inline std::vector<uint64_t> evaluate(const std::string& instructions, int result_bits,
                                      const std::vector<int>& operand_bits,
                                      const std::vector<std::vector<uint64_t>>& rows,
                                      const std::string& target = "sm_80") {
  static const char* const names[] = {"%a", "%b", "%c", "%e"};
  std::string body;
  const auto declare = [&](int bits, const char* name) {
    body += bits == 1 ? fmt::format(".reg .pred {};\n", name) : fmt::format(".reg .b{} {};\n", bits, name);
  };
  declare(result_bits, "%d");
  for (size_t i = 0; i < operand_bits.size(); ++i) declare(operand_bits[i], names[i]);
  const size_t stride = std::max<size_t>(operand_bits.size(), 1) * 8;
  body += fmt::format(
      "mov.u32 %r0, %ctaid.x; mov.u32 %r1, %ntid.x; mov.u32 %r2, %tid.x; mad.lo.s32 %r2, %r0, %r1, %r2;\n"
      "ld.param.u64 %rd0, [a]; ld.param.u64 %rd1, [b]; ld.param.u64 %rd2, [c]; cvt.u64.u32 %rd3, %r2;\n"
      "setp.ge.u64 %p0, %rd3, %rd2; @%p0 ret;\n"
      "mad.lo.s64 %rd0, %rd3, {}, %rd0; mad.lo.s64 %rd1, %rd3, 8, %rd1;\n",
      stride);
  for (size_t i = 0; i < operand_bits.size(); ++i) {
    body += fmt::format("ld.global.u64 %rd5, [%rd0+{}];\n", 8 * i);
    body += operand_bits[i] == 64  ? fmt::format("mov.u64 {}, %rd5;\n", names[i])
            : operand_bits[i] == 1 ? fmt::format("setp.ne.u64 {}, %rd5, 0;\n", names[i])
                                   : fmt::format("cvt.u{}.u64 {}, %rd5;\n", operand_bits[i], names[i]);
  }
  body += instructions + "\n";
  body += result_bits == 64  ? "mov.u64 %rd6, %d;\n"
          : result_bits == 1 ? "selp.u64 %rd6, 1, 0, %d;\n"
                             : fmt::format("cvt.u64.u{} %rd6, %d;\n", result_bits);
  body += "st.global.u64 [%rd1], %rd6; ret;";
  Machine machine;
  std::vector<uint64_t> flat;
  for (const auto& row : rows)
    for (size_t i = 0; i < std::max<size_t>(operand_bits.size(), 1); ++i) flat.push_back(i < row.size() ? row[i] : 0);
  const uint64_t in = machine.upload(flat), out = machine.allocate(rows.size() * 8);
  std::string text = kernel_text(body);
  text.replace(text.find("sm_80"), 5, target);
  const auto module = PtxModule::load(text);
  const uint32_t blocks = static_cast<uint32_t>((rows.size() + 127) / 128);
  machine.run(*module, {in, out, rows.size(), 0}, blocks, 128);
  return machine.download<uint64_t>(out, rows.size());
}

inline uint64_t bits(float x) { return std::bit_cast<uint32_t>(x); }
inline uint64_t bits(double x) { return std::bit_cast<uint64_t>(x); }

}  // namespace plait::sim::test
