// Copies from device to shared memory that threads do not wait for at once.
// blocks 2, threads 64, words 128
__device__ unsigned address(const void* at) { return static_cast<unsigned>(__cvta_generic_to_shared(at)); }
__device__ void copy(unsigned* to, const unsigned* from) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(address(to)), "l"(from) : "memory");
}
__device__ void copy_four(unsigned* to, const unsigned* from) {
  asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16;" ::"r"(address(to)), "l"(from) : "memory");
}
// Of the four bytes so many are read; zeros come behind them.
__device__ void copy_some(unsigned* to, const unsigned* from, unsigned bytes) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(address(to)), "l"(from), "r"(bytes) : "memory");
}
__device__ void copy_unless(unsigned* to, const unsigned* from, unsigned ignores) {
  asm volatile("{ .reg .pred p; setp.ne.u32 p, %2, 0; cp.async.ca.shared.global [%0], [%1], 4, p; }" ::"r"(address(to)),
               "l"(from), "r"(ignores)
               : "memory");
}
__device__ void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int kKept>
__device__ void wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kKept) : "memory");
}
__device__ void wait_all() { asm volatile("cp.async.wait_all;" ::: "memory"); }

// Word `step` of four that belong to a thread.
__device__ unsigned at(unsigned t, unsigned step) { return (t + 32 * step) % 128; }

extern "C" __global__ void expected(const unsigned* in, unsigned* out) {
  for (unsigned t = 0; t < 128; ++t) {
    out[t] = 0;
    for (unsigned s = 0; s < 4; ++s) out[t] += (s + 1) * in[at(t ^ 1, s)];
  }
}

extern "C" __global__ void right(const unsigned* in, unsigned* out) {
  __shared__ unsigned tile[4][64];
  const unsigned t = 64 * blockIdx.x + threadIdx.x;
  for (unsigned s = 0; s < 4; ++s) copy(&tile[s][threadIdx.x], in + at(t, s));
  wait_all();
  __syncthreads();
  unsigned sum = 0;
  for (unsigned s = 0; s < 4; ++s) sum += (s + 1) * tile[s][threadIdx.x ^ 1];
  out[t] = sum;
}

// While a step is added up the next one is on its way.
extern "C" __global__ void right_by_two_stages(const unsigned* in, unsigned* out) {
  __shared__ unsigned tile[2][64];
  const unsigned t = 64 * blockIdx.x + threadIdx.x;
  unsigned sum = 0;
  copy(&tile[0][threadIdx.x], in + at(t, 0));
  commit();
  for (unsigned s = 0; s < 4; ++s) {
    if (s < 3) copy(&tile[(s + 1) % 2][threadIdx.x], in + at(t, s + 1));
    commit();
    wait<1>();
    __syncthreads();
    sum += (s + 1) * tile[s % 2][threadIdx.x ^ 1];
    __syncthreads();
  }
  out[t] = sum;
}

// Three stages need one barrier a step.
extern "C" __global__ void right_by_three_stages(const unsigned* in, unsigned* out) {
  __shared__ __align__(16) unsigned tile[3][64];
  const unsigned t = 64 * blockIdx.x + threadIdx.x;
  unsigned sum = 0;
  for (unsigned s = 0; s < 2; ++s) {
    if (threadIdx.x % 4 == 0) copy_four(&tile[s][threadIdx.x], in + at(t, s));
    commit();
  }
  for (unsigned s = 0; s < 4; ++s) {
    wait<1>();
    __syncthreads();
    if (s < 2 && threadIdx.x % 4 == 0) copy_four(&tile[(s + 2) % 3][threadIdx.x], in + at(t, s + 2));
    commit();
    sum += (s + 1) * tile[s % 3][threadIdx.x ^ 1];
  }
  out[t] = sum;
}

extern "C" __global__ void right_with_zeros(const unsigned* in, unsigned* out) {
  __shared__ unsigned even[4][64], odd[4][64];
  const unsigned t = 64 * blockIdx.x + threadIdx.x;
  for (unsigned s = 0; s < 4; ++s) {
    copy_some(&even[s][threadIdx.x], t % 2 == 0 ? in + at(t, s) : nullptr, t % 2 == 0 ? 4 : 0);
    copy_unless(&odd[s][threadIdx.x], t % 2 == 1 ? in + at(t, s) : nullptr, t % 2 == 0);
  }
  commit();
  wait<0>();
  __syncwarp();
  unsigned sum = 0;
  for (unsigned s = 0; s < 4; ++s) sum += (s + 1) * (even[s][threadIdx.x ^ 1] + odd[s][threadIdx.x ^ 1]);
  out[t] = sum;
}

// wrong: in flight: reads 4 bytes at `tile` +
extern "C" __global__ void wrong_without_wait(const unsigned* in, unsigned* out) {
  __shared__ unsigned tile[64];
  const unsigned t = 64 * blockIdx.x + threadIdx.x;
  copy(&tile[threadIdx.x], in + t);
  commit();
  __syncthreads();
  out[t] = tile[threadIdx.x ^ 1];  // <-
}

// wrong: in flight: reads 4 bytes at `tile` +
extern "C" __global__ void wrong_without_commit(const unsigned* in, unsigned* out) {
  __shared__ unsigned tile[64];
  const unsigned t = 64 * blockIdx.x + threadIdx.x;
  copy(&tile[threadIdx.x], in + t);
  wait<0>();
  __syncthreads();
  out[t] = tile[threadIdx.x ^ 1];  // <-
}

// wrong: in flight: reads 4 bytes at `tile` +
extern "C" __global__ void wrong_weak_wait(const unsigned* in, unsigned* out) {
  __shared__ unsigned tile[2][64];
  const unsigned t = 64 * blockIdx.x + threadIdx.x;
  for (unsigned s = 0; s < 2; ++s) {
    copy(&tile[s][threadIdx.x], in + at(t, s));
    commit();
  }
  wait<1>();
  __syncthreads();
  out[t] = tile[0][threadIdx.x ^ 1];
  out[t] = tile[1][threadIdx.x ^ 1];  // <-
}

// wrong: race: reads 4 bytes at `tile` +
extern "C" __global__ void wrong_without_barrier(const unsigned* in, unsigned* out) {
  __shared__ unsigned tile[64];
  const unsigned t = 64 * blockIdx.x + threadIdx.x;
  copy(&tile[threadIdx.x], in + t);
  wait_all();
  out[t] = tile[threadIdx.x ^ 1];  // <-
}

// What others may still read is overwritten by the copy of the step after the next.
// wrong: race: writes 4 bytes at `tile` +
extern "C" __global__ void wrong_one_barrier_for_two_stages(const unsigned* in, unsigned* out) {
  __shared__ unsigned tile[2][64];
  const unsigned t = 64 * blockIdx.x + threadIdx.x;
  unsigned sum = 0;
  copy(&tile[0][threadIdx.x], in + at(t, 0));
  commit();
  for (unsigned s = 0; s < 4; ++s) {
    if (s < 3) copy(&tile[(s + 1) % 2][threadIdx.x], in + at(t, s + 1));  // <-
    commit();
    wait<1>();
    __syncthreads();
    sum += (s + 1) * tile[s % 2][threadIdx.x ^ 1];
  }
  out[t] = sum;
}

// wrong: in flight: writes 4 bytes at `tile` +
extern "C" __global__ void wrong_two_copies(const unsigned* in, unsigned* out) {
  __shared__ unsigned tile[64];
  const unsigned t = 64 * blockIdx.x + threadIdx.x;
  copy(&tile[threadIdx.x], in + t);
  commit();
  copy(&tile[threadIdx.x], in + at(t, 1));  // <-
  wait_all();
  out[t] = tile[threadIdx.x];
}

// wrong: in flight: writes 4 bytes at `tile` +
extern "C" __global__ void wrong_store_behind(const unsigned* in, unsigned* out) {
  __shared__ unsigned tile[64];
  const unsigned t = 64 * blockIdx.x + threadIdx.x;
  copy(&tile[threadIdx.x], in + t);
  tile[threadIdx.x] = 0;  // <-
  wait_all();
  out[t] = tile[threadIdx.x];
}

// wrong: in flight: 4 bytes at
extern "C" __global__ void wrong_source_changes(const unsigned* in, unsigned* out) {
  __shared__ unsigned tile[64];
  const unsigned t = 64 * blockIdx.x + threadIdx.x;
  copy(&tile[threadIdx.x], out + t);  // <-
  out[t] = 1 + in[t];
  wait_all();
  out[t] = tile[threadIdx.x];
}

// wrong: race: reads 4 bytes at | race: writes 4 bytes at
extern "C" __global__ void wrong_source_of_another(const unsigned* in, unsigned* out) {
  __shared__ unsigned tile[64];
  const unsigned t = 64 * blockIdx.x + threadIdx.x;
  copy(&tile[threadIdx.x], out + (t ^ 32));
  __syncthreads();
  out[t] = 0;
  wait_all();
  out[t] = tile[threadIdx.x];
}

// wrong: misaligned: writes 16 bytes at offset
extern "C" __global__ void wrong_place(const unsigned* in, unsigned* out) {
  __shared__ __align__(16) unsigned tile[64];
  copy_four(&tile[threadIdx.x % 8], in);  // <-
  wait_all();
  out[threadIdx.x] = tile[0];
}

// wrong: misaligned: reads 16 bytes at
extern "C" __global__ void wrong_source(const unsigned* in, unsigned* out) {
  __shared__ __align__(16) unsigned tile[256];
  copy_four(&tile[4 * threadIdx.x], in + threadIdx.x);  // <-
  wait_all();
  out[threadIdx.x] = tile[4 * threadIdx.x];
}

// wrong: out of bounds: reads 4 bytes at
extern "C" __global__ void wrong_beyond(const unsigned* in, unsigned* out) {
  __shared__ unsigned tile[64];
  copy(&tile[threadIdx.x], in + 127 + threadIdx.x);  // <-
  wait_all();
  out[threadIdx.x] = tile[threadIdx.x];
}

// wrong: a copy of 4 bytes that reads 8
extern "C" __global__ void wrong_size(const unsigned* in, unsigned* out) {
  __shared__ unsigned tile[64];
  copy_some(&tile[threadIdx.x], in + threadIdx.x, 8);  // <-
  wait_all();
  out[threadIdx.x] = tile[threadIdx.x];
}
