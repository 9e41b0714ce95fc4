/* What a saved program costs in C: plait_calls load FILE TIMES, or plait_calls run FILE CALLS ROUNDS. Prints JSON with
   microseconds: of each load in this process, the first one first; or of a run of a program with one input x: f32[16] and
   one output y: f32[16], by round, with the output made by plait and given by the caller. */
#include <plait_c.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { kElements = 16 };

static void check(plait_error* error) {
  if (error == NULL) return;
  fprintf(stderr, "%s\n  at: %s\n  help: %s\n", plait_error_what(error), plait_error_where(error),
          plait_error_remedy(error));
  plait_error_free(error);
  exit(1);
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return 1e6 * (double)time.tv_sec + 1e-3 * (double)time.tv_nsec;
}

static void print_all(const char* name, const double* values, int count) {
  printf("\"%s\": [", name);
  for (int i = 0; i < count; ++i) printf("%s%.3f", i > 0 ? ", " : "", values[i]);
  printf("]");
}

static void loads(const char* file, int times, double* taken) {
  for (int i = 0; i < times; ++i) {
    plait_program* program;
    const double begin = now();
    check(plait_program_load(file, &program));
    taken[i] = now() - begin;
    plait_program_free(program);
  }
  printf("{");
  print_all("load", taken, times);
  printf("}\n");
}

static double of_a_call(plait_program* program, int calls, int given) {
  static float x[kElements], y[kElements];
  int64_t shape[] = {kElements};
  DLTensor in = {x, {kDLCPU, 0}, 1, {kDLFloat, 32, 1}, shape, NULL, 0}, out = in;
  out.data = y;
  const plait_input input = {"x", &in};
  const plait_output output = {"y", &out};
  plait_run_options how = {.struct_size = sizeof how, .given = &output, .given_count = 1};
  DLManagedTensorVersioned* made = NULL;
  const double begin = now();
  for (int i = 0; i < calls; ++i) {
    check(plait_program_run(program, &input, 1, given ? &how : NULL, &made, 1));
    if (made != NULL) made->deleter(made);
  }
  return (now() - begin) / calls;
}

static void runs(const char* file, int calls, int rounds, double* taken) {
  plait_program* program;
  check(plait_program_load(file, &program));
  of_a_call(program, calls, 0); /* the first call prepares its shape */
  of_a_call(program, calls, 1);
  for (int i = 0; i < rounds; ++i) {
    taken[i] = of_a_call(program, calls, 0);
    taken[rounds + i] = of_a_call(program, calls, 1);
  }
  plait_program_free(program);
  printf("{");
  print_all("made", taken, rounds);
  printf(", ");
  print_all("given", taken + rounds, rounds);
  printf("}\n");
}

int main(int count, char** words) {
  const int is_load = count == 4 && strcmp(words[1], "load") == 0;
  const int is_run = count == 5 && strcmp(words[1], "run") == 0;
  const int first = is_load || is_run ? atoi(words[3]) : 0, rounds = is_run ? atoi(words[4]) : first;
  if (first < 1 || rounds < 1) {
    fprintf(stderr, "usage: plait_calls load FILE TIMES, or plait_calls run FILE CALLS ROUNDS\n");
    return 1;
  }
  double* taken = malloc(sizeof(double) * 2 * (size_t)rounds);
  if (taken == NULL) abort();
  if (is_load)
    loads(words[2], first, taken);
  else
    runs(words[2], first, rounds, taken);
  free(taken);
  return 0;
}
