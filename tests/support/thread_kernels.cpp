#include "support/thread_kernels.h"

#include <fmt/core.h>

#include <random>

#include "kir/interpret.h"

namespace plait::testing {

namespace {

// A state as it is declared, read, and declared as the result of a fold.
struct StateText {
  std::string declared, named, folded;
  explicit StateText(const std::vector<std::string>& types) {
    for (size_t i = 0; i < types.size(); ++i) {
      declared += fmt::format("{}%{}: {}", i ? ", " : "", i, types[i]);
      named += fmt::format("{}%{}", i ? ", " : "", i);
      folded += fmt::format("{}%{}: {}", i ? ", " : "", 20 + i, types[i]);
    }
  }
};

// One reduction of the rows of %x, so many of which a block has.
std::string rows_of_blocks(const std::string& combine, const std::string& dtype, int rows, int threads,
                           const std::vector<std::string>& types) {
  const StateText state(types);
  const bool first = combine.starts_with("first");
  return fmt::format(
      "kernel @k(%x: {dtype}[m*n] read, %y: {result}[m] write; m, n) target cuda {{\n"
      "  for b in 0..ceildiv(m, {rows}) on block_x {{\n    for r in 0..{rows} on threads_y {{\n"
      "      if {rows}*b + r < m {{\n        {declared} = start {combine}\n"
      "        for s in 0..ceildiv(n, {threads}) {{\n          for t in 0..{threads} on threads {{\n"
      "            if {threads}*s + t < n {{\n"
      "              %10: {element} = load %x[({rows}*b + r)*n + {threads}*s + t] lanewise\n{position}"
      "              accumulate {combine}({named}) with %10{with}\n            }}\n          }}\n        }}\n"
      "        {folded} = fold {combine}({named})\n        store %y[{rows}*b + r] = %{last} lanewise\n"
      "      }}\n    }}\n  }}\n}}\n",
      fmt::arg("dtype", dtype), fmt::arg("result", types.back()), fmt::arg("rows", rows),
      fmt::arg("declared", state.declared), fmt::arg("combine", combine), fmt::arg("threads", threads),
      fmt::arg("element", types[0]),
      fmt::arg("position", first ? fmt::format("              %11: i64 = coordinate {}*s + t\n", threads) : ""),
      fmt::arg("named", state.named), fmt::arg("with", first ? ", %11" : ""), fmt::arg("folded", state.folded),
      fmt::arg("last", 19 + types.size()));
}

// One reduction of the columns of %x: so many threads side by side, each of them with lanes, and so many of a column.
std::string columns_of_blocks(const std::string& combine, const std::string& dtype, int wide, int lanes, int tall,
                              const std::vector<std::string>& types) {
  const StateText state(types);
  const bool first = combine.starts_with("first");
  const std::string column = fmt::format("{}*b + {}*t + l", wide * lanes, lanes);
  return fmt::format(
      "kernel @k(%x: {dtype}[m*n] read, %y: {result}[m] write; m, n) target cuda {{\n"
      "  for b in 0..ceildiv(m, {together}) on block_x {{\n    for t in 0..{wide} on threads {{\n"
      "      for l in 0..{lanes} on lanes {{\n        if {column} < m {{\n          {declared} = start {combine}\n"
      "          for s in 0..ceildiv(n, {tall}) {{\n            for q in 0..{tall} on threads_y {{\n"
      "              if {tall}*s + q < n {{\n                %10: {element} = load %x[({tall}*s + q)*m + {column}] "
      "lanewise\n"
      "{position}                accumulate {combine}({named}) with %10{with}\n              }}\n            }}\n"
      "          }}\n          {folded} = fold {combine}({named})\n          store %y[{column}] = %{last} lanewise\n"
      "        }}\n      }}\n    }}\n  }}\n}}\n",
      fmt::arg("dtype", dtype), fmt::arg("result", types.back()), fmt::arg("together", wide * lanes),
      fmt::arg("wide", wide), fmt::arg("lanes", lanes), fmt::arg("column", column),
      fmt::arg("declared", state.declared), fmt::arg("combine", combine), fmt::arg("tall", tall),
      fmt::arg("element", types[0]),
      fmt::arg("position", first ? fmt::format("                %11: i64 = coordinate {}*s + q\n", tall) : ""),
      fmt::arg("named", state.named), fmt::arg("with", first ? ", %11" : ""), fmt::arg("folded", state.folded),
      fmt::arg("last", 19 + types.size()));
}

// The running states of the rows of %x, so many of which a block has: in front of each thread, and of all threads.
std::string prefix_of_rows(const std::string& combine, const std::string& dtype, int rows, int threads,
                           const std::vector<std::string>& types) {
  const StateText state(types);
  const bool first = combine.starts_with("first");
  std::string all;
  for (size_t i = 0; i < types.size(); ++i) all += fmt::format(", %{}: {}", 30 + i, types[i]);
  return fmt::format(
      "kernel @k(%x: {dtype}[m*n] read, %y: {result}[m*n] write, %z: {result}[m*n] write; m, n) target cuda {{\n"
      "  for b in 0..ceildiv(m, {rows}) on block_x {{\n    for r in 0..{rows} on thread_y {{\n"
      "      for t in 0..{threads} on thread_x {{\n        for s in 0..ceildiv(n, {threads}) {{\n"
      "          {declared} = start {combine} of {dtype}\n"
      "          if {rows}*b + r < m and {threads}*s + t < n {{\n"
      "            %10: {element} = load %x[({rows}*b + r)*n + {threads}*s + t] lanewise\n{position}"
      "            accumulate {combine}({named}) with %10{with}\n          }}\n"
      "          {folded}{all} = prefix {combine}({named}) over {threads} of {dtype}\n"
      "          if {rows}*b + r < m and {threads}*s + t < n {{\n"
      "            store %y[({rows}*b + r)*n + {threads}*s + t] = %{last} lanewise\n"
      "            store %z[({rows}*b + r)*n + {threads}*s + t] = %{whole} lanewise\n"
      "          }}\n        }}\n      }}\n    }}\n  }}\n}}\n",
      fmt::arg("dtype", dtype), fmt::arg("result", types.back()), fmt::arg("rows", rows),
      fmt::arg("declared", state.declared), fmt::arg("combine", combine), fmt::arg("threads", threads),
      fmt::arg("element", types[0]),
      fmt::arg("position", first ? fmt::format("            %11: i64 = coordinate {}*s + t\n", threads) : ""),
      fmt::arg("named", state.named), fmt::arg("with", first ? ", %11" : ""), fmt::arg("folded", state.folded),
      fmt::arg("all", all), fmt::arg("last", 19 + types.size()), fmt::arg("whole", 29 + types.size()));
}

// One reduction of the rows of %x, a block each.
std::string reduction(const std::string& combine, const std::string& dtype, int threads, int lanes,
                      const std::vector<std::string>& state_types, const std::string& element,
                      const std::string& result) {
  const StateText state(state_types);
  const std::string &declared = state.declared, &named = state.named, &folded = state.folded;
  const int step = threads * lanes;
  return fmt::format(
      "kernel @k(%x: {dtype}[m*n] read, %y: {result}[m] write; m, n) target cuda {{\n"
      "  for b in 0..m on block_x {{\n    {declared} = start {combine}\n    for s in 0..ceildiv(n, {step}) {{\n"
      "      for t in 0..{threads} on threads {{\n        for l in 0..{lanes} on lanes {{\n"
      "          if {step}*s + {lanes}*t + l < n {{\n            %10: {element} = load %x[b*n + {step}*s + {lanes}*t + "
      "l] lanewise\n"
      "{position}            accumulate {combine}({named}) with %10{with}\n          }}\n        }}\n      }}\n    }}\n"
      "    {folded} = fold {combine}({named})\n    store %y[b] = %{last} lanewise\n  }}\n}}\n",
      fmt::arg("dtype", dtype), fmt::arg("result", result), fmt::arg("declared", declared),
      fmt::arg("combine", combine), fmt::arg("step", step), fmt::arg("threads", threads), fmt::arg("lanes", lanes),
      fmt::arg("element", element),
      fmt::arg("position", combine.starts_with("first")
                               ? fmt::format("            %11: i64 = coordinate {}*s + {}*t + l\n", step, lanes)
                               : ""),
      fmt::arg("named", named), fmt::arg("with", combine.starts_with("first") ? ", %11" : ""),
      fmt::arg("folded", folded), fmt::arg("last", 20 + (combine == "variance" ? 1 : state_types.size() - 1)));
}

const char* const kSoftmax = R"(
kernel @softmax(%x: f32[m*n] read, %y: f32[m*n] write; m, n) target cuda {
  for b in 0..m on block_x {
    %0: f32 = start greatest
    for s in 0..ceildiv(n, 256) {
      for t in 0..64 on threads {
        for l in 0..4 on lanes {
          if 256*s + 4*t + l < n {
            %1: f32 = load %x[b*n + 256*s + 4*t + l] lanewise
            accumulate greatest(%0) with %1
          }
        }
      }
    }
    %2: f32 = fold greatest(%0)
    %3: f64 = start sum
    for s in 0..ceildiv(n, 256) {
      for t in 0..64 on threads {
        for l in 0..4 on lanes {
          if 256*s + 4*t + l < n {
            %4: f32 = load %x[b*n + 256*s + 4*t + l] lanewise
            %5: f32 = sub(%4, %2)
            %6: f32 = abs(%5)
            %7: f64 = convert(%6)
            accumulate sum(%3) with %7
          }
        }
      }
    }
    %8: f64 = fold sum(%3)
    %9: f32 = convert(%8)
    for s in 0..ceildiv(n, 256) {
      for t in 0..64 on threads {
        for l in 0..4 on lanes {
          if 256*s + 4*t + l < n {
            %10: f32 = load %x[b*n + 256*s + 4*t + l] lanewise
            %11: f32 = add(%10, %9)
            store %y[b*n + 256*s + 4*t + l] = %11 lanewise
          }
        }
      }
    }
  }
}
)";

// Sums along rows of %x, 64 elements at a time through a panel that threads copy, so many under way at once. Turned:
// lanes lie apart in it.
std::string copied_panels(const std::string& dtype, int stages, bool turned) {
  const std::string value = dtype == "f64" ? "f64" : dtype == "i8" ? "i32" : "f32";
  return fmt::format(
      "kernel @k(%x: {dtype}[m*n] read, %y: {value}[32*m] write; m, n) target cuda {{\n"
      "  for b in 0..m on block_x {{\n    alloc %s: {value}[32] stack\n"
      "    for t in 0..32 on threads {{\n      %0: {value} = literal 0\n      store %s[t] = %0 lanewise\n    }}\n"
      "    for k in 0..ceildiv(n, 64) stages {stages} {{\n      alloc %p: {dtype}[72] stack\n"
      "      for t in 0..32 on threads {{\n        for l in 0..2 on lanes {{\n"
      "          copy_async %p[{to}] lanewise = %x[n*b + 64*k + 2*t + l] lanewise of 1 active 64*k + 2*t + l < n\n"
      "        }}\n      }}\n"
      "      for t in 0..32 on threads {{\n        %1: {value} = load %s[t] lanewise\n"
      "        %2: {value} = load %p[{first}] lanewise\n        %3: {value} = load %p[{second}] lanewise\n"
      "        %4: {value} = sub(%2, %3)\n        %5: {value} = add(%1, %4)\n        store %s[t] = %5 lanewise\n"
      "      }}\n    }}\n"
      "    for t in 0..32 on threads {{\n      %6: {value} = load %s[t] lanewise\n      store %y[32*b + t] = %6 "
      "lanewise\n"
      "    }}\n  }}\n}}\n",
      fmt::arg("dtype", dtype), fmt::arg("value", value), fmt::arg("stages", stages),
      fmt::arg("to", turned ? "36*l + t" : "2*t + l"), fmt::arg("first", turned ? "67 - t" : "63 - t"),
      fmt::arg("second", "31 - t"));
}

// A warp's product of matrices in shared memory, [16 * rows, 16] times [16, 8 * columns], whose rows lie side by side
// or, transposed, columns do. Sums of a thread are as `mma` has them.
std::string products_of_warps(const std::string& dtype, bool left_transposed, bool right_transposed, int rows,
                              int columns, bool turned) {
  const std::string row = "(floordiv(l, 4) + 8*i + 16*p)", column = "(2*mod(l, 4) + j + 8*q)";
  const int left_pitch = left_transposed ? 16 * rows : 16, right_pitch = right_transposed ? 8 * columns : 16;
  const auto copies = [](const std::string& to, const std::string& from, int elements) {
    return fmt::format(
        "      for e in 0..{} {{\n        if 32*e + l < {} {{\n"
        "          for z in 0..8 on lanes {{\n"
        "            copy_async %{}[256*e + 8*l + z] lanewise = %{} + 256*e + 8*l + z] lanewise of 1\n          }}\n"
        "        }}\n      }}\n",
        (elements / 8 + 31) / 32, elements / 8, to, from);
  };
  const std::string tiles =
      fmt::format("      for p in 0..{} unroll {{\n        for q in 0..{} unroll {{\n", rows, columns);
  const std::string sum = fmt::format("%s[{}*p + 4*q + 2*i + j]", 4 * columns);
  const std::string pairs = "          for i in 0..2 unroll {\n            for j in 0..2 on lanes {\n";
  return fmt::format(
      "kernel @k(%x: {dtype}[{left}*m] read, %w: {dtype}[{right}] read, %y: f32[{out}*m] write; m) target cuda {{\n"
      "  for b in 0..m on block_x {{\n    for l in 0..32 on thread_x {{\n"
      "      alloc %s: f32[{sums}] stack\n      alloc %a: {dtype}[{left}] shared{left_turned}\n"
      "      alloc %b: {dtype}[{right}] shared{right_turned}\n{copy_left}{copy_right}"
      "      commit\n      wait 0\n      sync block\n"
      "{tiles}{pairs}              %0: f32 = literal 0\n              store {sum} = %0 lanewise\n            }}\n"
      "          }}\n        }}\n      }}\n"
      "{tiles}          for k in 0..16 {{\n{pairs}"
      "              %1: f32 = load {sum} lanewise\n              %2: f32 = load %a[{a}] lanewise\n"
      "              %3: f32 = load %b[{b}] lanewise\n              %4: f32 = fma(%2, %3, %1)\n"
      "              store {sum} = %4 lanewise\n            }}\n          }}\n          }}\n        }}\n      }}\n"
      "{tiles}{pairs}              %5: f32 = load {sum} lanewise\n"
      "              store %y[{out}*b + {width}*{row} + {column}] = %5 lanewise\n            }}\n          }}\n"
      "        }}\n      }}\n    }}\n  }}\n}}\n",
      fmt::arg("dtype", dtype), fmt::arg("left", 256 * rows), fmt::arg("right", 128 * columns),
      fmt::arg("out", 128 * rows * columns), fmt::arg("sums", 4 * rows * columns),
      fmt::arg("left_turned", turned ? fmt::format(" turned {}", left_pitch) : ""),
      fmt::arg("right_turned", turned ? fmt::format(" turned {}", right_pitch) : ""),
      fmt::arg("copy_left", copies("a", fmt::format("x[{}*b", 256 * rows), 256 * rows)),
      fmt::arg("copy_right", copies("b", "w[0", 128 * columns)), fmt::arg("tiles", tiles), fmt::arg("pairs", pairs),
      fmt::arg("sum", sum), fmt::arg("row", row), fmt::arg("column", column), fmt::arg("width", 8 * columns),
      fmt::arg("a", left_transposed ? fmt::format("{}*k + {}", left_pitch, row) : fmt::format("16*{} + k", row)),
      fmt::arg("b",
               right_transposed ? fmt::format("{}*k + {}", right_pitch, column) : fmt::format("16*{} + k", column)));
}

}  // namespace

const std::vector<ThreadKernel>& thread_kernels() {
  static const std::vector<ThreadKernel> all = [] {
    const std::vector<std::vector<int64_t>> rows = {{1, 1}, {2, 31}, {1, 33}, {3, 257}, {2, 1023}, {1, 0}};
    std::vector<ThreadKernel> out;
    const auto add = [&](const char* combine, const char* dtype, int threads, int lanes,
                         const std::vector<std::string>& state, const char* result) {
      out.push_back({fmt::format("{} of {}, {} threads", combine, dtype, threads),
                     reduction(combine, dtype, threads, lanes, state, state[0], result), rows});
    };
    add("sum", "f32", 32, 4, {"f32"}, "f32");
    add("sum", "bf16", 256, 8, {"f32"}, "f32");
    add("sum", "i64", 64, 1, {"i64"}, "i64");
    add("product", "f64", 64, 2, {"f64"}, "f64");
    add("greatest", "i32", 128, 4, {"i32"}, "i32");
    add("least", "f16", 32, 1, {"f32"}, "f32");
    add("first_greatest", "f32", 64, 4, {"f32", "i64"}, "i64");
    add("first_least", "i8", 32, 8, {"i32", "i64"}, "i64");
    add("any", "bool", 64, 4, {"bool"}, "bool");
    add("all", "bool", 32, 1, {"bool"}, "bool");
    out.push_back({"three passes", kSoftmax, rows});
    const std::vector<std::vector<int64_t>> blocks = {{1, 1}, {9, 4}, {33, 5}, {70, 37}, {3, 300}, {2, 0}};
    for (const auto& [block_rows, threads] : {std::pair{8, 4}, {32, 8}, {4, 32}, {2, 128}}) {
      const std::string name = fmt::format("{} rows of {} threads", block_rows, threads);
      out.push_back({name, rows_of_blocks("sum", "f32", block_rows, threads, {"f32"}), blocks});
      out.push_back(
          {name + ", first", rows_of_blocks("first_least", "i16", block_rows, threads, {"i32", "i64"}), blocks});
    }
    struct Shape {
      int wide, lanes, tall;
    };
    for (const auto& [wide, lanes, tall] : {Shape{32, 1, 4}, Shape{32, 4, 8}, Shape{8, 1, 4}, Shape{4, 2, 8}}) {
      const std::string name = fmt::format("{} columns of {} lanes and {} threads", wide, lanes, tall);
      out.push_back({name, columns_of_blocks("sum", "f32", wide, lanes, tall, {"f32"}), blocks});
      out.push_back(
          {name + ", first", columns_of_blocks("first_greatest", "f64", wide, lanes, tall, {"f64", "i64"}), blocks});
    }
    const std::vector<std::vector<int64_t>> few = {{9, 4}, {17, 37}, {3, 300}};
    for (const auto& [block_rows, threads] : {std::pair{16, 2}, {8, 4}, {1, 32}, {2, 128}}) {
      const std::string name = fmt::format("prefix of {} rows of {} threads", block_rows, threads);
      out.push_back({name, prefix_of_rows("sum", "f32", block_rows, threads, {"f32"}), few});
      out.push_back({name + ", first", prefix_of_rows("first_least", "i8", block_rows, threads, {"i32", "i64"}), few});
    }
    const std::vector<std::vector<int64_t>> panels = {{2, 0}, {2, 1}, {1, 129}, {2, 321}};
    for (const char* dtype : {"f32", "bf16", "i8", "f64"})
      for (const int stages : {1, 2, 3, 4})
        out.push_back({fmt::format("panels of {} in {} stages", dtype, stages),
                       copied_panels(dtype, stages, stages % 2 == 1), panels});
    for (const char* dtype : {"bf16", "f16"})
      for (int which = 0; which < 8; ++which) {
        const bool left = which % 2 == 1, right = which / 2 % 2 == 1, many = which >= 4;
        out.push_back({fmt::format("matrices of {}{}{}, {} tiles", dtype, left ? ", left transposed" : "",
                                   right ? ", right transposed" : "", many ? 8 : 1),
                       products_of_warps(dtype, left, right, many ? 2 : 1, many ? 4 : 1, many),
                       {{2}}});
      }
    return out;
  }();
  return all;
}

std::vector<std::vector<unsigned char>> thread_kernel_memory(const kir::Kernel& kernel,
                                                             const std::vector<int64_t>& integers, uint64_t seed) {
  std::mt19937_64 random(seed);
  const std::vector<int64_t> extents = kir::buffer_extents(kernel, integers);
  std::vector<std::vector<unsigned char>> out;
  for (size_t i = 0; i < kir::passed_buffers(kernel); ++i) {
    const kir::Buffer& buffer = kernel.buffers[i];
    std::vector<unsigned char>& bytes = out.emplace_back(size_t(extents[i]) * size_of(buffer.dtype));
    for (int64_t k = 0; k < extents[i] && !buffer.written; ++k) {
      const auto number = static_cast<int64_t>(random() % 7) - 3;
      const Constant value = buffer.dtype == DType::boolean ? Constant::from_bool(number > 2)
                             : is_float(buffer.dtype) ? Constant::from_double(buffer.dtype, static_cast<double>(number))
                                                      : Constant::from_int64(buffer.dtype, number);
      value.store(bytes.data() + size_t(k) * size_of(buffer.dtype));
    }
  }
  return out;
}

}  // namespace plait::testing
