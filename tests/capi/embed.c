/* A C program that builds, compiles, runs and frees a fusion, as an embedder would. Prints "ok"; every other way out is a
   failure that says why. */
#include <plait_c.h>
#include <plait_ops.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check(plait_error* error) {
  if (error == NULL) return;
  fprintf(stderr, "error %d: %s\n  at %s\n  %s\n", (int)plait_error_code(error), plait_error_what(error),
          plait_error_where(error), plait_error_remedy(error));
  plait_error_free(error);
  exit(1);
}

int main(int argc, char** argv) {
  if (plait_abi_version() != PLAIT_ABI_VERSION) return 2;
  plait_fusion* fusion;
  check(plait_fusion_new("mlp", "@m (tp = t)", &fusion));
  check(plait_fusion_input(fusion, "%x: f32[b, 3]"));
  check(plait_fusion_input(fusion, "param %w: f32[2, 3] {0: tp}"));
  check(plait_op_linear(fusion, "h", "x", "w", NULL, NULL));
  plait_text* name;
  check(plait_op_relu(fusion, NULL, "h", &name));
  check(plait_fusion_output(fusion, "y", plait_text_data(name)));
  plait_text_free(name);

  plait_compile_options how = {0};
  how.struct_size = sizeof how;
  how.device = argc > 1 ? argv[1] : "cpu";
  how.ranks = 2;
  plait_program* program;
  check(plait_compile(fusion, &how, &program));
  plait_fusion_free(fusion);

  float x[2][3] = {{1, 2, 3}, {-1, 0, 1}}, w[2][3] = {{1, 0, 1}, {0, -1, 0}};
  int64_t shape[] = {2, 3}, strides[] = {3, 1};
  const plait_dtype f32 = {kDLFloat, 32, 1};
  DLTensor tensors[] = {{x, {kDLCPU, 0}, 2, f32, shape, strides, 0}, {w, {kDLCPU, 0}, 2, f32, shape, strides, 0}};
  plait_input inputs[] = {{"x", &tensors[0]}, {"w", &tensors[1]}};
  DLManagedTensorVersioned* y;
  check(plait_program_run(program, inputs, 2, NULL, &y, 1));
  const float expected[] = {4, 0, 0, 0};
  int wrong = y->dl_tensor.ndim != 2 || y->dl_tensor.shape[0] != 2 || y->dl_tensor.shape[1] != 2 ||
              memcmp((char*)y->dl_tensor.data + y->dl_tensor.byte_offset, expected, sizeof expected) != 0;
  y->deleter(y);

  plait_program_info info = {.struct_size = sizeof info};
  check(plait_program_info_get(program, &info));
  wrong |= info.ranks != 2;
  plait_program_free(program);
  if (wrong) {
    fprintf(stderr, "wrong result\n");
    return 3;
  }
  printf("ok\n");
  return 0;
}
