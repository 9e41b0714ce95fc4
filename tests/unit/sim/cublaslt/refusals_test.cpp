// What the stand-in for cuBLASLt refuses, and how it says so.
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

class CublasLtRefusals : public ::testing::Test {
 protected:
  CublasLtRefusals() : product(world().machine, world().lt, world().handle) { world().machine.findings(); }
  ~CublasLtRefusals() override { EXPECT_EQ(world().machine.findings(), ""); }

  // The heuristic refuses without a finding: it was a fair question.
  void expect_not_supported() {
    EXPECT_EQ(product.heuristic(), CUBLAS_STATUS_NOT_SUPPORTED);
    EXPECT_TRUE(product.algorithms.empty());
    EXPECT_EQ(world().machine.findings(), "");
  }
  void expect_finding(cublasStatus_t got, cublasStatus_t status, const std::string& part) {
    EXPECT_EQ(got, status);
    EXPECT_TRUE(has(world().machine.findings(), part));
  }
  void expect_invalid(const std::string& part) {
    expect_finding(product.heuristic(), CUBLAS_STATUS_INVALID_VALUE, part);
  }
  void expect_matmul(const std::string& part, cublasStatus_t status = CUBLAS_STATUS_INVALID_VALUE) {
    expect_finding(product.matmul(&product.algorithms.at(0)), status, part);
  }
  void prepare_with_algorithm() {
    product.prepare();
    ASSERT_EQ(product.heuristic(), CUBLAS_STATUS_SUCCESS);
  }
  // Work was queued and loses the context; the finding names what was wrong.
  void expect_fault(CUresult code, const std::string& part) {
    EXPECT_EQ(product.matmul(&product.algorithms.at(0)), CUBLAS_STATUS_SUCCESS);
    EXPECT_EQ(world().machine.driver.cuStreamSynchronize(nullptr), code);
    EXPECT_TRUE(has(world().machine.findings(), part));
    for (Matrix* each : {&product.a, &product.b, &product.c, &product.d, &product.bias}) each->address = 0;
    world().machine.reset(0);
  }

  Product product;
};

TEST_F(CublasLtRefusals, CombinationsOutsideOfTheTable) {
  const auto rows = type_rows();
  const cublasComputeType_t computes[] = {CUBLAS_COMPUTE_16F, CUBLAS_COMPUTE_32F, CUBLAS_COMPUTE_32F_PEDANTIC,
                                          CUBLAS_COMPUTE_32F_FAST_TF32, CUBLAS_COMPUTE_64F};
  const cudaDataType types[] = {CUDA_R_16F, CUDA_R_16BF, CUDA_R_32F, CUDA_R_64F};
  int refused = 0;
  for (auto compute : computes) {
    for (auto scale : types) {
      for (auto in : types) {
        for (auto out : types) {
          Product one(world().machine, world().lt, world().handle);
          one.row = {compute, scale, in, out, ""};
          one.prepare();
          const bool known = std::any_of(rows.begin(), rows.end(), [&](const TypeRow& row) {
            return row.compute == compute && row.scale == scale && row.in == in && row.out == out;
          });
          EXPECT_EQ(one.heuristic(), known ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_SUPPORTED);
          refused += !known;
        }
      }
    }
  }
  EXPECT_GT(refused, 200);
}

TEST_F(CublasLtRefusals, OperandsOfDifferentTypes) {
  product.prepare();
  product.set(product.layout_b, CUBLASLT_MATRIX_LAYOUT_TYPE, uint32_t{CUDA_R_16BF});
  expect_not_supported();
  product.set(product.layout_b, CUBLASLT_MATRIX_LAYOUT_TYPE, uint32_t{CUDA_R_32F});
  product.set(product.layout_c, CUBLASLT_MATRIX_LAYOUT_TYPE, uint32_t{CUDA_R_16BF});
  expect_not_supported();
}

TEST_F(CublasLtRefusals, TypesThatAreNotSimulatedAreNamed) {
  product.prepare();
  product.set(product.layout_a, CUBLASLT_MATRIX_LAYOUT_TYPE, uint32_t{CUDA_R_8F_E4M3});
  product.set(product.layout_b, CUBLASLT_MATRIX_LAYOUT_TYPE, uint32_t{CUDA_R_8F_E4M3});
  expect_finding(product.heuristic(), CUBLAS_STATUS_NOT_SUPPORTED, "not simulated");
}

TEST_F(CublasLtRefusals, LayoutsThatContradict) {
  product.prepare();
  product.set(product.layout_a, CUBLASLT_MATRIX_LAYOUT_LD, product.m - 1);
  expect_invalid("A: leading dimension 3 is less than its 4 rows");
  product.set(product.layout_a, CUBLASLT_MATRIX_LAYOUT_LD, product.m);
  product.set(product.layout_b, CUBLASLT_MATRIX_LAYOUT_ROWS, uint64_t(product.k - 1));
  expect_invalid("op(A) is 4 x 5, op(B) is 4 x 3");
  product.set(product.layout_b, CUBLASLT_MATRIX_LAYOUT_ROWS, uint64_t(product.k));
  product.set(product.layout_d, CUBLASLT_MATRIX_LAYOUT_COLS, uint64_t(product.n + 1));
  expect_invalid("D is 4 x 4, not 4 x 3");
  product.set(product.layout_d, CUBLASLT_MATRIX_LAYOUT_COLS, uint64_t(product.n));
  product.set(product.layout_c, CUBLASLT_MATRIX_LAYOUT_ROWS, uint64_t(product.m - 1));
  expect_invalid("C is 3 x 3, not 4 x 3");
  product.set(product.layout_c, CUBLASLT_MATRIX_LAYOUT_ROWS, uint64_t(product.m));
  product.set(product.layout_a, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, int32_t{2});
  expect_invalid("batch counts of A, B, C, D: 2, 1, 1, 1");
  product.set(product.layout_a, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, int32_t{0});
  expect_invalid("A: batch count 0");
}

TEST_F(CublasLtRefusals, RowMajorLeadingDimensionCountsColumns) {
  product.order_b = CUBLASLT_ORDER_ROW;
  product.prepare();
  product.set(product.layout_b, CUBLASLT_MATRIX_LAYOUT_LD, product.n - 1);
  expect_invalid("B: leading dimension 2 is less than its 3 columns");
}

TEST_F(CublasLtRefusals, OrdersOfEightBitIntegers) {
  product.prepare();
  product.set(product.layout_a, CUBLASLT_MATRIX_LAYOUT_ORDER, int32_t{CUBLASLT_ORDER_COL32});
  expect_not_supported();
}

TEST_F(CublasLtRefusals, EmptyProducts) {
  product.k = 0;
  product.prepare();
  expect_not_supported();
}

TEST_F(CublasLtRefusals, EpiloguesOnRowMajorD) {
  product.order_d = CUBLASLT_ORDER_ROW;
  product.epilogue = CUBLASLT_EPILOGUE_BIAS;
  product.prepare();
  expect_not_supported();
}

TEST_F(CublasLtRefusals, BiasOfAnotherType) {
  product.row = {CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_16BF, CUDA_R_16BF, "f32"};
  product.epilogue = CUBLASLT_EPILOGUE_BIAS;
  product.prepare();
  product.set(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, int32_t{CUDA_R_32F});
  expect_not_supported();
  product.set(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, int32_t{CUDA_R_16BF});
  EXPECT_EQ(product.heuristic(), CUBLAS_STATUS_SUCCESS);
}

TEST_F(CublasLtRefusals, EpiloguesThatAreNotSimulatedAreNamed) {
  product.epilogue = CUBLASLT_EPILOGUE_GELU_AUX_BIAS;
  product.prepare();
  expect_finding(product.heuristic(), CUBLAS_STATUS_NOT_SUPPORTED, "epilogue 164 is not simulated");
}

TEST_F(CublasLtRefusals, Operations) {
  product.prepare();
  product.set(CUBLASLT_MATMUL_DESC_TRANSC, int32_t{CUBLAS_OP_T});
  expect_not_supported();
  product.set(CUBLASLT_MATMUL_DESC_TRANSC, int32_t{CUBLAS_OP_N});
  product.set(CUBLASLT_MATMUL_DESC_TRANSA, int32_t{CUBLAS_OP_CONJG});
  expect_invalid("operation 3 on A or B");
}

TEST_F(CublasLtRefusals, ScalesOfNarrowTypes) {
  product.prepare();
  product.set(CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, reinterpret_cast<void*>(product.a.address));
  expect_invalid("a scale or maximum pointer");
}

TEST_F(CublasLtRefusals, ArgumentsOfTheHeuristic) {
  product.prepare();
  const auto& lt = world().lt;
  cublasLtMatmulHeuristicResult_t result{};
  int found = 0;
  auto ask = [&](cublasLtHandle_t handle, int count) {
    return lt.cublasLtMatmulAlgoGetHeuristic(handle, product.desc, product.layout_a, product.layout_b, product.layout_c,
                                             product.layout_d, product.preference, count, &result, &found);
  };
  expect_finding(ask(world().handle, 0), CUBLAS_STATUS_INVALID_VALUE, "0 algorithms are asked for");
  expect_finding(ask(nullptr, 1), CUBLAS_STATUS_NOT_INITIALIZED, "the handle is no live one");
  EXPECT_EQ(ask(world().handle, 1), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(found, 1);
  product.set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, uint32_t{24});
  expect_finding(ask(world().handle, 1), CUBLAS_STATUS_INVALID_VALUE, "24 bytes is no power of two");
}

TEST_F(CublasLtRefusals, AlignmentOfThePreferenceFiltersAlgorithms) {
  product.m = 8, product.n = 8, product.k = 8;
  product.prepare();
  ASSERT_EQ(product.heuristic(), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(product.algorithms.size(), 2u);
  product.set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, uint32_t{4});
  ASSERT_EQ(product.heuristic(), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(product.algorithms.size(), 1u);
  product.set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, uint32_t{2});  // less than an element
  expect_not_supported();
}

TEST_F(CublasLtRefusals, AttributesOfWrongSize) {
  product.prepare();
  const auto& lt = world().lt;
  const int64_t wide = 1;
  expect_finding(lt.cublasLtMatmulDescSetAttribute(product.desc, CUBLASLT_MATMUL_DESC_TRANSA, &wide, sizeof wide),
                 CUBLAS_STATUS_INVALID_VALUE, "attribute 3 has 4 bytes, not 8");
  expect_finding(lt.cublasLtMatrixLayoutSetAttribute(product.layout_a, CUBLASLT_MATRIX_LAYOUT_LD, &wide, 4),
                 CUBLAS_STATUS_INVALID_VALUE, "attribute 4 has 8 bytes, not 4");
  expect_finding(lt.cublasLtMatrixLayoutSetAttribute(product.layout_a, CUBLASLT_MATRIX_LAYOUT_LD, nullptr, 8),
                 CUBLAS_STATUS_INVALID_VALUE, "is null");
  expect_finding(lt.cublasLtMatmulPreferenceSetAttribute(
                     product.preference, static_cast<cublasLtMatmulPreferenceAttributes_t>(2), &wide, 8),
                 CUBLAS_STATUS_INVALID_VALUE, "there is no attribute 2");
}

TEST_F(CublasLtRefusals, AttributesReadBack) {
  product.prepare();
  const auto& lt = world().lt;
  size_t written = 0;
  ASSERT_EQ(lt.cublasLtMatrixLayoutGetAttribute(product.layout_a, CUBLASLT_MATRIX_LAYOUT_COLS, nullptr, 0, &written),
            CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(written, 8u);
  uint64_t columns = 0;
  ASSERT_EQ(lt.cublasLtMatrixLayoutGetAttribute(product.layout_a, CUBLASLT_MATRIX_LAYOUT_COLS, &columns, 8, &written),
            CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(columns, static_cast<uint64_t>(product.k));
  int32_t bias_type = 0;
  ASSERT_EQ(
      lt.cublasLtMatmulDescGetAttribute(product.desc, CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, &bias_type, 4, &written),
      CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(bias_type, -1);
  uint32_t alignment = 0;
  cublasLtMatmulPreferenceOpaque_t own;
  ASSERT_EQ(lt.cublasLtMatmulPreferenceInit_internal(&own, sizeof own), CUBLAS_STATUS_SUCCESS);
  ASSERT_EQ(lt.cublasLtMatmulPreferenceGetAttribute(&own, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, &alignment, 4,
                                                    &written),
            CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(alignment, 256u);
  EXPECT_EQ(lt.cublasLtMatmulPreferenceInit_internal(&own, sizeof own - 1), CUBLAS_STATUS_ALLOC_FAILED);
}

TEST_F(CublasLtRefusals, DescriptorsAfterTheirEnd) {
  prepare_with_algorithm();
  const auto& lt = world().lt;
  cublasLtMatrixLayout_t gone = nullptr;
  ASSERT_EQ(lt.cublasLtMatrixLayoutCreate(&gone, CUDA_R_32F, 4, 5, 4), CUBLAS_STATUS_SUCCESS);
  ASSERT_EQ(lt.cublasLtMatrixLayoutDestroy(gone), CUBLAS_STATUS_SUCCESS);
  expect_finding(lt.cublasLtMatrixLayoutDestroy(gone), CUBLAS_STATUS_INVALID_VALUE, "destroyed");
  std::swap(product.layout_a, gone);
  expect_matmul("the layout of A is destroyed");
  std::swap(product.layout_a, gone);
  const cublasLtMatmulDesc_t desc = std::exchange(product.desc, nullptr);
  expect_matmul("the operation's descriptor is null");
  product.desc = reinterpret_cast<cublasLtMatmulDesc_t>(product.layout_b);
  expect_matmul("the operation's descriptor is no such descriptor");
  product.desc = desc;
}

TEST_F(CublasLtRefusals, HandlesAfterTheirEnd) {
  const auto& lt = world().lt;
  cublasLtHandle_t handle = nullptr;
  ASSERT_EQ(lt.cublasLtCreate(&handle), CUBLAS_STATUS_SUCCESS);
  ASSERT_EQ(lt.cublasLtDestroy(handle), CUBLAS_STATUS_SUCCESS);
  expect_finding(lt.cublasLtDestroy(handle), CUBLAS_STATUS_NOT_INITIALIZED, "the handle is no live one");
  expect_finding(lt.cublasLtCreate(nullptr), CUBLAS_STATUS_INVALID_VALUE, "null");
  world().machine.driver.cuCtxSetCurrent(nullptr);
  expect_finding(lt.cublasLtCreate(&handle), CUBLAS_STATUS_NOT_INITIALIZED, "no context is current");
  world().machine.use(0);
}

TEST_F(CublasLtRefusals, NullPointers) {
  prepare_with_algorithm();
  struct Case {
    Matrix* matrix;
    const char* text;
  };
  for (const Case& each : {Case{&product.a, "A is null"},
                           {&product.b, "B is null"},
                           {&product.c, "C is null"},
                           {&product.d, "D is null"}}) {
    const CUdeviceptr address = std::exchange(each.matrix->address, 0);
    expect_matmul(each.text);
    each.matrix->address = address;
  }
  expect_finding(world().lt.cublasLtMatmul(world().handle, product.desc, nullptr, reinterpret_cast<void*>(8),
                                           product.layout_a, reinterpret_cast<void*>(8), product.layout_b, nullptr,
                                           reinterpret_cast<void*>(8), product.layout_c, reinterpret_cast<void*>(8),
                                           product.layout_d, nullptr, nullptr, 0, nullptr),
                 CUBLAS_STATUS_INVALID_VALUE, "alpha or beta is null");
}

TEST_F(CublasLtRefusals, BiasThatWasNeverSet) {
  product.epilogue = CUBLASLT_EPILOGUE_BIAS;
  product.prepare();
  product.set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, static_cast<void*>(nullptr));
  ASSERT_EQ(product.heuristic(), CUBLAS_STATUS_SUCCESS);  // the pointer may come later
  expect_matmul("the bias pointer is not set");
}

TEST_F(CublasLtRefusals, WorkspaceTooSmallMissingOrMisaligned) {
  product.m = 8, product.n = 8, product.k = 512;
  product.max_workspace = 1 << 20;
  prepare_with_algorithm();
  const auto& split = product.algorithms.at(0);
  ASSERT_EQ(split.workspaceSize, 8u * 8 * 4 * 4);
  const CUdeviceptr workspace = world().machine.allocate(2048);
  auto run = [&](CUdeviceptr at, size_t bytes) { return product.matmul(&split.algo, at, bytes, nullptr); };
  expect_finding(run(workspace, 1023), CUBLAS_STATUS_INVALID_VALUE, "needs 1024 bytes of workspace and is given 1023");
  expect_finding(run(0, 1024), CUBLAS_STATUS_INVALID_VALUE, "the workspace is null");
  expect_finding(run(workspace + 8, 1024), CUBLAS_STATUS_INVALID_VALUE, "not aligned to 16 bytes");
  expect_finding(run(product.a.address, 1024), CUBLAS_STATUS_INVALID_VALUE, "the workspace overlaps A");
  EXPECT_EQ(run(workspace, 1024), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(world().machine.driver.cuStreamSynchronize(nullptr), CUDA_SUCCESS);
  world().machine.driver.cuMemFree(workspace);
}

TEST_F(CublasLtRefusals, PromisesOfAlignment) {
  product.m = 8, product.n = 8, product.k = 8;
  product.alignment = 32;
  prepare_with_algorithm();
  product.a.address += 4;
  expect_matmul("not aligned to the 16 bytes that the algorithm needs");
  product.a.address += 12;
  expect_matmul("not aligned to 32 bytes, which the preference promised");
  product.a.address -= 16;
}

TEST_F(CublasLtRefusals, AlgorithmOfAnotherProblem) {
  prepare_with_algorithm();
  product.set(product.layout_a, CUBLASLT_MATRIX_LAYOUT_LD, product.m + 1);
  expect_matmul("the algorithm was chosen for another problem");
  product.algorithms[0].algo = {};
  expect_matmul("the algorithm is none of this library");
}

TEST_F(CublasLtRefusals, DOverlapsOperands) {
  product.m = product.n = product.k = 8;
  prepare_with_algorithm();
  const CUdeviceptr d = product.d.address;
  product.d.address = product.a.address;
  expect_matmul("D overlaps A");
  product.d.address = product.b.address;
  expect_matmul("D overlaps B");
  product.d.address = d;
  product.beta = 1;
  product.d.address = product.c.address + 0;
  product.set(product.layout_d, CUBLASLT_MATRIX_LAYOUT_LD, int64_t{9});
  ASSERT_EQ(product.heuristic(), CUBLAS_STATUS_SUCCESS);
  expect_matmul("C is D, and their layouts differ");
  product.d.address = d;
}

TEST_F(CublasLtRefusals, BatchesOfDOverlap) {
  product.batch = 2;
  prepare_with_algorithm();
  product.set(product.layout_d, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, int64_t{4});
  ASSERT_EQ(product.heuristic(), CUBLAS_STATUS_SUCCESS);
  expect_matmul("share memory");
}

// D and A may be columns of one wide matrix.
TEST_F(CublasLtRefusals, InterleavedMatricesDoNotOverlap) {
  product.m = product.n = product.k = 4;
  product.padding = 4;
  product.integers = true;
  product.prepare();
  ASSERT_EQ(product.heuristic(), CUBLAS_STATUS_SUCCESS);
  const CUdeviceptr d = product.d.address;
  product.d.address = product.a.address + 16;
  product.alignment = 16;
  for (auto id : {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES}) product.set(id, uint32_t{16});
  ASSERT_EQ(product.heuristic(), CUBLAS_STATUS_SUCCESS);
  // The last column of D would end beyond A's allocation: one column fewer.
  product.set(product.layout_d, CUBLASLT_MATRIX_LAYOUT_COLS, uint64_t{3});
  product.set(product.layout_c, CUBLASLT_MATRIX_LAYOUT_COLS, uint64_t{3});
  product.set(product.layout_b, CUBLASLT_MATRIX_LAYOUT_COLS, uint64_t{3});
  ASSERT_EQ(product.heuristic(), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(product.matmul(&product.algorithms[0]), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(world().machine.driver.cuStreamSynchronize(nullptr), CUDA_SUCCESS);
  product.d.address = d;
}

TEST_F(CublasLtRefusals, DevicesThatDiffer) {
  prepare_with_algorithm();
  world().machine.use(1);
  const CUstream other = world().machine.stream();
  world().machine.use(0);
  expect_finding(product.matmul(&product.algorithms[0].algo, 0, 0, other), CUBLAS_STATUS_EXECUTION_FAILED,
                 "the handle was made on device 0, and the stream is of device 1");
  world().machine.use(1);
  expect_finding(product.matmul(&product.algorithms[0].algo, 0, 0, other), CUBLAS_STATUS_EXECUTION_FAILED,
                 "the handle was made on device 0, and device 1 is current");
  world().machine.driver.cuStreamDestroy(other);
  world().machine.use(0);
}

// ---- Bugs that hardware would show as a fault, or not at all.

TEST_F(CublasLtRefusals, WrongLeadingDimensionRunsOutOfTheAllocation) {
  product.prepare();
  product.set(product.layout_d, CUBLASLT_MATRIX_LAYOUT_LD, product.m + 1);
  ASSERT_EQ(product.heuristic(), CUBLAS_STATUS_SUCCESS);
  expect_fault(CUDA_ERROR_ILLEGAL_ADDRESS,
               "cublasLtMatmul m 4 n 3 k 5 batch 1 f32: D [4 x 3, ld 5, column-major, f32]");
}

TEST_F(CublasLtRefusals, PageableHostMemory) {
  prepare_with_algorithm();
  alignas(256) static float host[64] = {};
  product.b.address = reinterpret_cast<CUdeviceptr>(&host[0]);
  expect_fault(CUDA_ERROR_ILLEGAL_ADDRESS, "B [5 x 3, ld 5, column-major, f32] at");
}

TEST_F(CublasLtRefusals, FreedOperand) {
  prepare_with_algorithm();
  world().machine.driver.cuMemFree(product.a.address);
  expect_fault(CUDA_ERROR_ILLEGAL_ADDRESS, "A [4 x 5, ld 4, column-major, f32] at");
}

TEST_F(CublasLtRefusals, UninitialisedC) {
  product.beta = 1;
  prepare_with_algorithm();
  world().machine.driver.cuMemFree(product.c.address);
  product.c.address = world().machine.allocate(product.c.bytes.size());
  expect_fault(CUDA_ERROR_LAUNCH_FAILED, "uninitialised");
}

TEST_F(CublasLtRefusals, MissingWaitForTheOtherStream) {
  prepare_with_algorithm();
  const Driver& driver = world().machine.driver;
  const CUstream first = world().machine.stream(), second = world().machine.stream();
  ASSERT_EQ(product.matmul(&product.algorithms[0].algo, 0, 0, first), CUBLAS_STATUS_SUCCESS);
  std::swap(product.a.address, product.d.address);  // reads what the first product writes
  std::swap(product.layout_a, product.layout_d);
  product.set(product.layout_a, CUBLASLT_MATRIX_LAYOUT_COLS, uint64_t{3});
  product.set(product.layout_b, CUBLASLT_MATRIX_LAYOUT_ROWS, uint64_t{3});
  product.set(product.layout_d, CUBLASLT_MATRIX_LAYOUT_COLS, uint64_t{3});
  product.set(product.layout_b, CUBLASLT_MATRIX_LAYOUT_LD, int64_t{3});
  ASSERT_EQ(product.heuristic(), CUBLAS_STATUS_SUCCESS);
  ASSERT_EQ(product.matmul(&product.algorithms[0].algo, 0, 0, second), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(driver.cuCtxSynchronize(), CUDA_ERROR_LAUNCH_FAILED);
  EXPECT_TRUE(has(world().machine.findings(), "cublasLtMatmul m 4 n 3 k 3"));
  for (Matrix* each : {&product.a, &product.b, &product.c, &product.d, &product.bias}) each->address = 0;
  world().machine.reset(0);
}

}  // namespace
}  // namespace plait::test
