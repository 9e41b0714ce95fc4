// Products of the stand-in for cuBLASLt against sums in double.

#include "unit/sim/cublaslt/library.h"

namespace plait::test {
namespace {

struct World {
  Machine machine{PLAIT_BINARY_DIR, 2};
  Library library{PLAIT_BINARY_DIR "/libplait_sim_cublaslt.so"};
  CublasLt lt{library};
  cublasLtHandle_t handle = nullptr;
  World() { lt.cublasLtCreate(&handle); }
};
World& world() {
  static World world;
  return world;
}
Product make_contraction() { return {world().machine, world().lt, world().handle}; }

double rounded_operand(const Product& product, double value) {
  if (std::string(product.row.precision) != "tf32") return value;
  if (value == 0) return value;
  const double unit = std::ldexp(1.0, std::ilogb(value) - 10);
  return std::copysign(std::floor(std::abs(value) / unit + 0.5) * unit, value);
}

// Error of a sum of k products with sum |terms| = `magnitude` before the epilogue.
double sum_bound(const Product& product, double magnitude) {
  const std::string precision = product.row.precision;
  const auto k = static_cast<double>(product.k);
  if (precision == "f64") return (k + 8) * 0x1p-53 * magnitude;
  if (precision == "f16") return (k / 16 + 6) * 0x1p-11 * magnitude + 0x1p-24;
  return (k + 8) * 0x1p-24 * magnitude;
}

double activated(cublasLtEpilogue_t epilogue, double x) {
  if ((epilogue & CUBLASLT_EPILOGUE_RELU) != 0) return std::max(x, 0.0);
  if ((epilogue & CUBLASLT_EPILOGUE_GELU) == 0) return x;
  return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
}

// Compares every element of D, and that nothing between its columns was written.
void expect_values(const Product& product, const Matrix& c_before) {
  Matrix d = product.d;
  d.bytes = world().machine.download<std::byte>(product.d.address, d.bytes.size());
  const DType out = dtype_of(product.row.out);
  for (int64_t batch = 0; batch < product.batch; ++batch) {
    for (int64_t i = 0; i < product.m; ++i) {
      for (int64_t j = 0; j < product.n; ++j) {
        double sum = 0, magnitude = 0;
        for (int64_t p = 0; p < product.k; ++p) {
          const bool plain_a = product.transa == CUBLAS_OP_N, plain_b = product.transb == CUBLAS_OP_N;
          const double x = rounded_operand(product, product.a.at(batch, plain_a ? i : p, plain_a ? p : i));
          const double y = rounded_operand(product, product.b.at(batch, plain_b ? p : j, plain_b ? j : p));
          sum += x * y, magnitude += std::abs(x * y);
        }
        double value = product.alpha * sum + (product.beta == 0 ? 0 : product.beta * c_before.at(batch, i, j));
        if ((product.epilogue & CUBLASLT_EPILOGUE_BIAS) != 0) value += product.bias.at(0, i, 0);
        magnitude = std::abs(product.alpha) * magnitude + std::abs(value) + 4;
        const double expected = activated(product.epilogue, value);
        const double got = d.at(batch, i, j);
        if (product.integers) {
          ASSERT_EQ(got, expected) << batch << " " << i << " " << j;
          continue;
        }
        const double bound =
            1.2 * sum_bound(product, magnitude) + unit_roundoff(out) * std::abs(expected) + smallest_spacing(out);
        ASSERT_LE(std::abs(got - expected), bound) << batch << " " << i << " " << j << " of " << product.row.precision;
      }
    }
  }
}

// Runs with every algorithm that the heuristic names, and without one.
void expect_all_algorithms(Product& product, size_t least) {
  product.prepare();
  ASSERT_EQ(product.heuristic(), CUBLAS_STATUS_SUCCESS);
  ASSERT_GE(product.algorithms.size(), least);
  for (const auto& algorithm : product.algorithms) {
    EXPECT_LE(algorithm.workspaceSize, product.max_workspace);
    ASSERT_EQ(product.matmul(&algorithm), CUBLAS_STATUS_SUCCESS);
    ASSERT_EQ(world().machine.driver.cuStreamSynchronize(nullptr), CUDA_SUCCESS);
    expect_values(product, product.c);
  }
  ASSERT_EQ(product.matmul(nullptr), CUBLAS_STATUS_SUCCESS);
  ASSERT_EQ(world().machine.driver.cuStreamSynchronize(nullptr), CUDA_SUCCESS);
  expect_values(product, product.c);
  EXPECT_EQ(world().machine.findings(), "");
}

TEST(CublasLtValues, EveryTypeRow) {
  for (const TypeRow& row : type_rows()) {
    Product product = make_contraction();
    product.row = row;
    product.m = 19, product.n = 7, product.k = 37;
    product.beta = 0.5;
    expect_all_algorithms(product, 1);
  }
}

TEST(CublasLtValues, ExactIntegersInEveryTypeRow) {
  for (const TypeRow& row : type_rows()) {
    Product product = make_contraction();
    product.row = row;
    product.m = 33, product.n = 5, product.k = 20;
    product.integers = true;
    product.transa = CUBLAS_OP_T;
    product.epilogue = CUBLASLT_EPILOGUE_RELU_BIAS;
    if (row.out == CUDA_R_16BF) product.k = 6;  // all sums below 2^8
    expect_all_algorithms(product, 1);
  }
}

TEST(CublasLtValues, EveryOperationAndOrder) {
  for (auto transa : {CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C}) {
    for (auto transb : {CUBLAS_OP_N, CUBLAS_OP_T}) {
      for (int orders = 0; orders < 8; ++orders) {
        Product product = make_contraction();
        product.m = 6, product.n = 9, product.k = 11, product.batch = 2;
        product.transa = transa, product.transb = transb;
        product.order_a = (orders & 1) != 0 ? CUBLASLT_ORDER_ROW : CUBLASLT_ORDER_COL;
        product.order_b = (orders & 2) != 0 ? CUBLASLT_ORDER_ROW : CUBLASLT_ORDER_COL;
        product.order_d = (orders & 4) != 0 ? CUBLASLT_ORDER_ROW : CUBLASLT_ORDER_COL;
        product.padding = 3, product.gap = 5;
        product.integers = true;
        product.beta = 2, product.alpha = 3;
        expect_all_algorithms(product, 1);
      }
    }
  }
}

TEST(CublasLtValues, EveryEpilogue) {
  for (auto epilogue : {CUBLASLT_EPILOGUE_DEFAULT, CUBLASLT_EPILOGUE_RELU, CUBLASLT_EPILOGUE_GELU,
                        CUBLASLT_EPILOGUE_BIAS, CUBLASLT_EPILOGUE_RELU_BIAS, CUBLASLT_EPILOGUE_GELU_BIAS}) {
    for (auto [compute, scale, type] : {std::tuple(CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_32F),
                                        std::tuple(CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_16BF),
                                        std::tuple(CUBLAS_COMPUTE_64F, CUDA_R_64F, CUDA_R_64F)}) {
      Product product = make_contraction();
      product.row = {compute, scale, type, type, compute == CUBLAS_COMPUTE_64F ? "f64" : "f32"};
      product.m = 17, product.n = 6, product.k = 12, product.batch = 3;
      product.epilogue = epilogue;
      product.beta = 1;
      expect_all_algorithms(product, 1);
    }
  }
}

TEST(CublasLtValues, SplitsAddTheirPartsInWorkspace) {
  for (int64_t k : {256, 300, 1024}) {
    Product product = make_contraction();
    product.m = 20, product.n = 12, product.k = k, product.batch = 2;
    product.max_workspace = 1 << 20;
    expect_all_algorithms(product, 3);
    EXPECT_TRUE(std::any_of(product.algorithms.begin(), product.algorithms.end(),
                            [](const auto& each) { return each.workspaceSize > 0; }));
    product.set(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, uint64_t{0});
    ASSERT_EQ(product.heuristic(), CUBLAS_STATUS_SUCCESS);
    for (const auto& each : product.algorithms) EXPECT_EQ(each.workspaceSize, 0u);
  }
}

TEST(CublasLtValues, BetaZeroReadsNoC) {
  Product product = make_contraction();
  product.prepare();
  ASSERT_EQ(product.heuristic(), CUBLAS_STATUS_SUCCESS);
  const CUdeviceptr c = product.c.address;
  product.c.address = product.d.address;  // never written
  ASSERT_EQ(product.matmul(&product.algorithms[0]), CUBLAS_STATUS_SUCCESS);
  ASSERT_EQ(world().machine.driver.cuStreamSynchronize(nullptr), CUDA_SUCCESS);
  product.c.address = c;
  expect_values(product, product.c);
  EXPECT_EQ(world().machine.findings(), "");
}

TEST(CublasLtValues, InPlaceAddsToC) {
  Product product = make_contraction();
  product.m = 40, product.n = 10, product.k = 8;
  product.beta = 1;
  product.prepare();
  ASSERT_EQ(product.heuristic(), CUBLAS_STATUS_SUCCESS);
  const CUdeviceptr d = product.d.address;
  product.d.address = product.c.address;
  ASSERT_EQ(product.matmul(&product.algorithms[0]), CUBLAS_STATUS_SUCCESS);
  ASSERT_EQ(world().machine.driver.cuStreamSynchronize(nullptr), CUDA_SUCCESS);
  expect_values(product, product.c);
  product.d.address = d;
  EXPECT_EQ(world().machine.findings(), "");
}

TEST(CublasLtValues, ScalarsOnTheDevice) {
  Product product = make_contraction();
  product.prepare();
  product.set(CUBLASLT_MATMUL_DESC_POINTER_MODE, int32_t{CUBLASLT_POINTER_MODE_DEVICE});
  product.alpha = 2, product.beta = -1;
  const CUdeviceptr scalars = world().machine.upload(std::vector<float>{2, -1});
  ASSERT_EQ(product.heuristic(), CUBLAS_STATUS_SUCCESS);
  auto pointer = [](CUdeviceptr address) { return reinterpret_cast<void*>(address); };
  ASSERT_EQ(
      world().lt.cublasLtMatmul(world().handle, product.desc, pointer(scalars), pointer(product.a.address),
                                product.layout_a, pointer(product.b.address), product.layout_b, pointer(scalars + 4),
                                pointer(product.c.address), product.layout_c, pointer(product.d.address),
                                product.layout_d, &product.algorithms[0].algo, nullptr, 0, nullptr),
      CUBLAS_STATUS_SUCCESS);
  ASSERT_EQ(world().machine.driver.cuStreamSynchronize(nullptr), CUDA_SUCCESS);
  expect_values(product, product.c);
  world().machine.driver.cuMemFree(scalars);
  EXPECT_EQ(world().machine.findings(), "");
}

// op(A) is a view into a wider matrix, and every matrix of a batch of B is the same one.
TEST(CublasLtValues, BroadcastBatchAndView) {
  Product product = make_contraction();
  product.m = 5, product.n = 4, product.k = 6, product.batch = 3;
  product.padding = 7;
  product.integers = true;
  product.prepare();
  product.set(product.layout_b, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, int64_t{0});
  for (int64_t batch = 1; batch < 3; ++batch) {
    for (int64_t p = 0; p < product.k; ++p) {
      for (int64_t j = 0; j < product.n; ++j) product.b.put(batch, p, j, product.b.at(0, p, j));
    }
  }
  ASSERT_EQ(product.heuristic(), CUBLAS_STATUS_SUCCESS);
  ASSERT_EQ(product.matmul(&product.algorithms[0]), CUBLAS_STATUS_SUCCESS);
  ASSERT_EQ(world().machine.driver.cuStreamSynchronize(nullptr), CUDA_SUCCESS);
  expect_values(product, product.c);
  EXPECT_EQ(world().machine.findings(), "");
}

TEST(CublasLtValues, LeavesWhatLiesBetweenColumnsOfD) {
  Product product = make_contraction();
  product.padding = 4;
  product.prepare();
  ASSERT_EQ(product.heuristic(), CUBLAS_STATUS_SUCCESS);
  ASSERT_EQ(product.matmul(&product.algorithms[0]), CUBLAS_STATUS_SUCCESS);
  const auto bytes = world().machine.download<uint8_t>(product.d.address, product.d.bytes.size());
  for (int64_t column = 0; column < product.n; ++column) {
    for (int64_t row = product.m; row < product.d.ld(); ++row) {
      EXPECT_EQ(bytes[static_cast<size_t>(product.d.index(0, row, column)) * 4], 0x5a);
    }
  }
}

TEST(CublasLtValues, CapturedProductRunsAtEveryLaunch) {
  const Driver& driver = world().machine.driver;
  Product product = make_contraction();
  product.integers = true;
  product.beta = 0;
  product.prepare();
  ASSERT_EQ(product.heuristic(), CUBLAS_STATUS_SUCCESS);
  CUstream stream = world().machine.stream();
  ASSERT_EQ(driver.cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED), CUDA_SUCCESS);
  ASSERT_EQ(product.matmul(&product.algorithms[0], stream), CUBLAS_STATUS_SUCCESS);
  CUgraph graph = nullptr;
  ASSERT_EQ(driver.cuStreamEndCapture(stream, &graph), CUDA_SUCCESS);
  CUDA_GRAPH_INSTANTIATE_PARAMS params{};
  CUgraphExec exec = nullptr;
  ASSERT_EQ(driver.cuGraphInstantiateWithParams(&exec, graph, &params), CUDA_SUCCESS);
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(driver.cuMemsetD8(product.d.address, 0, product.d.bytes.size()), CUDA_SUCCESS);
    ASSERT_EQ(driver.cuCtxSynchronize(), CUDA_SUCCESS);
    ASSERT_EQ(driver.cuGraphLaunch(exec, stream), CUDA_SUCCESS);
    ASSERT_EQ(driver.cuStreamSynchronize(stream), CUDA_SUCCESS);
    expect_values(product, product.c);
  }
  driver.cuGraphExecDestroy(exec);
  driver.cuGraphDestroy(graph);
  driver.cuStreamDestroy(stream);
  EXPECT_EQ(world().machine.findings(), "");
}

TEST(CublasLtValues, LargeProductRuns) {
  Product product = make_contraction();
  product.row.in = product.row.out = CUDA_R_16BF;
  product.m = 1024, product.n = 512, product.k = 1024;
  product.prepare();
  ASSERT_EQ(product.heuristic(), CUBLAS_STATUS_SUCCESS);
  ASSERT_EQ(product.matmul(&product.algorithms[0]), CUBLAS_STATUS_SUCCESS);
  ASSERT_EQ(world().machine.driver.cuStreamSynchronize(nullptr), CUDA_SUCCESS);
  EXPECT_EQ(world().machine.findings(), "");
}

}  // namespace
}  // namespace plait::test
