// Launches that may begin before what is in front of them has ended.
// blocks 2, threads 64, words 128, sm 90, programmatic 1
extern "C" __global__ void expected(const unsigned* in, unsigned* out) {
  for (int t = 0; t < 128; ++t) out[t] = in[t] + 1;
}

__device__ void wait_for_grids() { asm volatile("griddepcontrol.wait;" : : : "memory"); }

extern "C" __global__ void right(const unsigned* in, unsigned* out) {
  const unsigned t = 64 * blockIdx.x + threadIdx.x;
  asm volatile("griddepcontrol.launch_dependents;" : : : "memory");
  wait_for_grids();
  out[t] = in[t] + 1;
}

// wrong: too early: a load of what nobody writes during the launch
extern "C" __global__ void wrong_constant_load(const unsigned* in, unsigned* out) {
  const unsigned t = 64 * blockIdx.x + threadIdx.x;
  wait_for_grids();
  out[t] = __ldg(in + t) + 1;  // <-
}

// wrong: too early: reads 4 bytes at
extern "C" __global__ void wrong_reads_before(const unsigned* in, unsigned* out) {
  const unsigned t = 64 * blockIdx.x + threadIdx.x;
  const unsigned value = *(volatile const unsigned*)(in + t);  // <-
  wait_for_grids();
  out[t] = value + 1;
}

// wrong: too early: writes 4 bytes at
extern "C" __global__ void wrong_writes_before(const unsigned* in, unsigned* out) {
  const unsigned t = 64 * blockIdx.x + threadIdx.x;
  out[t] = t;  // <-
  wait_for_grids();
  out[t] = in[t] + 1;
}

// wrong: too early: reads 4 bytes at
extern "C" __global__ void wrong_one_warp_waits(const unsigned* in, unsigned* out) {
  const unsigned t = 64 * blockIdx.x + threadIdx.x;
  if (threadIdx.x < 32) wait_for_grids();
  __syncthreads();
  out[t] = in[t] + 1;  // <-
}

// wrong: ends without griddepcontrol.wait
extern "C" __global__ void wrong_nobody_waits(const unsigned* in, unsigned* out) {}
