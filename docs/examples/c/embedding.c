/* A kernel inside of a C program: a graph by functions, memory of the program's own, memory of plait's, an error. */
#include <stdio.h>
#include <stdlib.h>

#include <plait_c.h>
#include <plait_ops.h>

enum { kColumns = 64 };
static const plait_dtype kF32 = {kDLFloat, 32, 1};

/* Says what is wrong and goes; a program that has a user would hand the three parts on. */
static void check(plait_error* error) {
  if (error == NULL) return;
  fprintf(stderr, "%s\n  at: %s\n  help: %s\n", plait_error_what(error), plait_error_where(error),
          plait_error_remedy(error));
  plait_error_free(error);
  exit(1);
}

/* y = rms_norm(x + residual) * weight, of any number of rows. */
static plait_fusion* norm(void) {
  const plait_extent matrix[] = {{"rows", 0}, {NULL, kColumns}};
  const double eps = 1e-5;
  plait_fusion* f;
  check(plait_fusion_new("norm", NULL, &f));
  check(plait_fusion_typed_input(f, PLAIT_ROLE_INPUT, "x", kF32, matrix, 2));
  check(plait_fusion_typed_input(f, PLAIT_ROLE_INPUT, "residual", kF32, matrix, 2));
  check(plait_fusion_typed_input(f, PLAIT_ROLE_PARAMETER, "weight", kF32, matrix + 1, 1));
  check(plait_op_add(f, "sum", "x", "residual", NULL));
  check(plait_op_rms_norm(f, "y", "sum", "weight", NULL, &eps, NULL, NULL));
  check(plait_fusion_output(f, "y", "y"));
  return f;
}

/* Memory that the program has anyway, with what DLPack says of it. Dense and row-major: no strides. */
typedef struct Matrix {
  int64_t shape[2];
  float* values;
  DLTensor tensor;
} Matrix;

static void make(Matrix* m, int64_t rows, float value) {
  m->shape[0] = rows;
  m->shape[1] = kColumns;
  m->values = malloc(sizeof(float) * (size_t)rows * kColumns);
  if (m->values == NULL) abort();
  for (int64_t i = 0; i < rows * kColumns; ++i) m->values[i] = value;
  const DLTensor tensor = {m->values, {kDLCPU, 0}, 2, kF32, m->shape, NULL, 0};
  m->tensor = tensor;
}

int main(void) {
  if (plait_abi_version() != PLAIT_ABI_VERSION) return 2;
  plait_fusion* fusion = norm();
  plait_program* program;
  check(plait_compile(fusion, NULL, &program)); /* on the first of cuda, cpu, reference that is here */
  plait_fusion_free(fusion);

  Matrix x, residual, longer, y;
  make(&x, 2, 1);
  make(&residual, 2, 2);
  make(&longer, 3, 2);
  make(&y, 2, 0);
  float weights[kColumns];
  for (int i = 0; i < kColumns; ++i) weights[i] = 10;
  int64_t columns[] = {kColumns};
  DLTensor weight = {weights, {kDLCPU, 0}, 1, kF32, columns, NULL, 0};
  plait_input inputs[] = {{"x", &x.tensor}, {"residual", &residual.tensor}, {"weight", &weight}};

  /* The output in memory of plait's, until its deleter is called. */
  DLManagedTensorVersioned* out;
  check(plait_program_run(program, inputs, 3, NULL, &out, 1));
  const float* first = (const float*)((const char*)out->dl_tensor.data + out->dl_tensor.byte_offset);
  printf("y: %d x %d, y[0] = %.3f\n", (int)out->dl_tensor.shape[0], (int)out->dl_tensor.shape[1], first[0]);
  out->deleter(out);

  /* The output in memory of the program's. */
  const plait_output given = {"y", &y.tensor};
  plait_run_options how = {.struct_size = sizeof how, .given = &given, .given_count = 1};
  check(plait_program_run(program, inputs, 3, &how, &out, 1)); /* out is NULL: it was given */
  printf("y[0] = %.3f in memory of the program's own\n", y.values[0]);

  /* An error leaves everything as it was; the caller frees it. */
  inputs[1].tensor = &longer.tensor;
  plait_error* error = plait_program_run(program, inputs, 3, &how, &out, 1);
  if (error == NULL) return 3;
  printf("refused: %s\n  at: %s\n", plait_error_what(error), plait_error_where(error));
  plait_error_free(error);

  inputs[1].tensor = &residual.tensor;
  check(plait_program_run(program, inputs, 3, &how, &out, 1));
  printf("and it goes on\n");

  plait_program_free(program);
  free(x.values);
  free(residual.values);
  free(longer.values);
  free(y.values);
  return 0;
}
