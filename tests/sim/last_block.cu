// Sums of blocks that the last block to come adds up, and words that a block leaves for the next one.
// blocks 5, threads 64, words 8
__device__ unsigned partial[5];
__device__ unsigned tickets = 0;
__device__ unsigned ready[5] = {0, 0, 0, 0, 0};

extern "C" __global__ void expected(const unsigned* in, unsigned* out) {
  out[0] = 0;
  for (int t = 0; t < 320; ++t) out[0] += in[t];
  unsigned before = 0;
  for (int b = 0; b < 5; ++b) {
    for (int t = 0; t < 64; ++t) before += in[64 * b + t];
    out[1 + b] = before;
  }
  out[6] = out[7] = 0;
}

__device__ unsigned block_sum(const unsigned* in, unsigned block) {
  __shared__ unsigned sum;
  __syncthreads();
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  atomicAdd(&sum, in[64 * block + threadIdx.x]);
  __syncthreads();
  return sum;
}

__device__ void prefixes_of_one_thread(const unsigned* in, unsigned* out) {
  unsigned before = 0;
  for (int b = 0; b < 5; ++b) {
    for (int t = 0; t < 64; ++t) before += in[64 * b + t];
    out[1 + b] = before;
  }
  out[6] = out[7] = 0;
}

// The last block by a ticket; all threads of it add up.
extern "C" __global__ void right_ticket(const unsigned* in, unsigned* out) {
  __shared__ bool last;
  const unsigned sum = block_sum(in, blockIdx.x);
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = sum;
    __threadfence();
    last = atomicAdd(&tickets, 1) == gridDim.x - 1;
    __threadfence();
  }
  __syncthreads();
  if (!last) return;
  if (threadIdx.x < 5) atomicAdd(&out[0], partial[threadIdx.x]);
  if (threadIdx.x == 0) prefixes_of_one_thread(in, out);
}

// Every thread writes and fences; the ticket comes behind a barrier.
extern "C" __global__ void right_fence_of_all(const unsigned* in, unsigned* out) {
  __shared__ bool last;
  const unsigned sum = block_sum(in, blockIdx.x);
  if (threadIdx.x == 17) partial[blockIdx.x] = sum;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) last = atomicInc(&tickets, gridDim.x - 1) == gridDim.x - 1;
  __syncthreads();
  if (!last) return;
  __threadfence();
  if (threadIdx.x == 33) {
    for (unsigned b = 0; b < 5; ++b) out[0] += partial[b];
    prefixes_of_one_thread(in, out);
  }
}

// An atomic that acquires and releases; a thread that wrote behind a barrier.
extern "C" __global__ void right_orders_of_its_own(const unsigned* in, unsigned* out) {
  __shared__ unsigned last;
  const unsigned sum = block_sum(in, blockIdx.x);
  if (threadIdx.x == 40) partial[blockIdx.x] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    unsigned ticket;
    asm volatile("atom.acq_rel.gpu.global.add.u32 %0, [%1], 1;" : "=r"(ticket) : "l"(__cvta_generic_to_global(&tickets)) : "memory");
    last = ticket == gridDim.x - 1;
  }
  __syncthreads();
  if (last == 0) return;
  if (threadIdx.x < 5) atomicAdd(&out[0], partial[threadIdx.x]);
  if (threadIdx.x == 0) prefixes_of_one_thread(in, out);
}

// Blocks in the order of their tickets, each behind the one before.
extern "C" __global__ void right_chain(const unsigned* in, unsigned* out) {
  __shared__ unsigned number;
  if (threadIdx.x == 0) number = atomicAdd(&tickets, 1);
  __syncthreads();
  const unsigned block = number, sum = block_sum(in, block);
  if (threadIdx.x == 0) {
    unsigned before = 0;
    if (block > 0) {
      while (atomicAdd(&ready[block - 1], 0) == 0) {}
      __threadfence();
      before = out[block];
    }
    out[1 + block] = before + sum;
    __threadfence();
    atomicExch(&ready[block], 1);
    if (block == 4) {
      out[0] = before + sum;
      out[6] = out[7] = 0;
    }
  }
}

// The same by loads that acquire and stores that release.
extern "C" __global__ void right_chain_of_loads(const unsigned* in, unsigned* out) {
  __shared__ unsigned number, before;
  if (threadIdx.x == 0) number = atomicAdd(&tickets, 1);
  __syncthreads();
  const unsigned block = number, sum = block_sum(in, block);
  if (threadIdx.x == 0) {
    unsigned there = block == 0;
    while (there == 0)
      asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(there) : "l"(__cvta_generic_to_global(&ready[block - 1])) : "memory");
    before = block == 0 ? 0 : partial[block - 1];
    partial[block] = before + sum;
    asm volatile("st.release.gpu.global.u32 [%0], %1;" : : "l"(__cvta_generic_to_global(&ready[block])), "r"(1u) : "memory");
  }
  __syncthreads();
  if (threadIdx.x == 5) out[1 + block] = before + sum;
  if (block == 4 && threadIdx.x == 6) out[0] = before + sum;
  if (block == 4 && threadIdx.x == 7) out[6] = out[7] = 0;
}

// wrong: in the same launch, unordered
extern "C" __global__ void wrong_no_fence(const unsigned* in, unsigned* out) {
  __shared__ bool last;
  const unsigned sum = block_sum(in, blockIdx.x);
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = sum;
    last = atomicAdd(&tickets, 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last) return;
  __threadfence();
  if (threadIdx.x < 5) atomicAdd(&out[0], partial[threadIdx.x]);  // <-
}

// wrong: in the same launch, unordered
extern "C" __global__ void wrong_fence_of_the_block(const unsigned* in, unsigned* out) {
  __shared__ bool last;
  const unsigned sum = block_sum(in, blockIdx.x);
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = sum;
    __threadfence_block();
    last = atomicAdd(&tickets, 1) == gridDim.x - 1;
    __threadfence();
  }
  __syncthreads();
  if (!last) return;
  if (threadIdx.x < 5) atomicAdd(&out[0], partial[threadIdx.x]);  // <-
}

// wrong: in the same launch, unordered
extern "C" __global__ void wrong_atomic_of_the_block(const unsigned* in, unsigned* out) {
  __shared__ bool last;
  const unsigned sum = block_sum(in, blockIdx.x);
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = sum;
    __threadfence();
    last = atomicAdd_block(&tickets, 1) == gridDim.x - 1;
    __threadfence();
  }
  __syncthreads();
  if (!last) return;
  if (threadIdx.x < 5) atomicAdd(&out[0], partial[threadIdx.x]);  // <-
}

// wrong: in the same launch, unordered
extern "C" __global__ void wrong_reader_without_fence(const unsigned* in, unsigned* out) {
  __shared__ bool last;
  const unsigned sum = block_sum(in, blockIdx.x);
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = sum;
    __threadfence();
    last = atomicAdd(&tickets, 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last) return;
  if (threadIdx.x < 5) atomicAdd(&out[0], partial[threadIdx.x]);  // <-
}

// wrong: in the same launch, unordered
extern "C" __global__ void wrong_fences_that_are_not_sc(const unsigned* in, unsigned* out) {
  __shared__ bool last;
  const unsigned sum = block_sum(in, blockIdx.x);
  if (threadIdx.x == 17) partial[blockIdx.x] = sum;
  asm volatile("fence.acq_rel.gpu;" : : : "memory");
  __syncthreads();
  if (threadIdx.x == 0) last = atomicInc(&tickets, gridDim.x - 1) == gridDim.x - 1;
  __syncthreads();
  if (!last) return;
  __threadfence();
  if (threadIdx.x < 5) atomicAdd(&out[0], partial[threadIdx.x]);  // <-
}

// wrong: in the same launch, unordered
extern "C" __global__ void wrong_reader_that_is_not_sc(const unsigned* in, unsigned* out) {
  __shared__ bool last;
  const unsigned sum = block_sum(in, blockIdx.x);
  if (threadIdx.x == 17) partial[blockIdx.x] = sum;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) {
    last = atomicInc(&tickets, gridDim.x - 1) == gridDim.x - 1;
    asm volatile("fence.acq_rel.gpu;" : : : "memory");
  }
  __syncthreads();
  if (!last) return;
  if (threadIdx.x < 5) atomicAdd(&out[0], partial[threadIdx.x]);  // <-
}

// wrong: in the same launch, unordered
extern "C" __global__ void wrong_fence_of_a_thread_that_did_not_read(const unsigned* in, unsigned* out) {
  __shared__ bool last;
  const unsigned sum = block_sum(in, blockIdx.x);
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = sum;
    asm volatile("fence.acq_rel.gpu;" : : : "memory");
    last = atomicInc(&tickets, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last) return;
  if (threadIdx.x == 1) {
    __threadfence();
    for (unsigned b = 0; b < 5; ++b) out[0] += partial[b];  // <-
  }
}

// wrong: in the same launch, unordered
extern "C" __global__ void wrong_fence_of_another_lane(const unsigned* in, unsigned* out) {
  __shared__ bool last;
  const unsigned sum = block_sum(in, blockIdx.x);
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = sum;
    __threadfence();
    last = atomicInc(&tickets, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last || threadIdx.x >= 32) return;
  __syncwarp();
  if (threadIdx.x == 1) {
    asm volatile("fence.acq_rel.gpu;" : : : "memory");
    for (unsigned b = 0; b < 5; ++b) out[0] += partial[b];  // <-
  }
}

// A lane reads the ticket, and another one of its warp fences behind a barrier of both.
extern "C" __global__ void right_fence_of_another_lane(const unsigned* in, unsigned* out) {
  __shared__ bool last;
  const unsigned sum = block_sum(in, blockIdx.x);
  if (threadIdx.x >= 32) return;
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = sum;
    __threadfence();
    last = atomicInc(&tickets, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncwarp();
  if (!last || threadIdx.x != 1) return;
  __threadfence();
  for (unsigned b = 0; b < 5; ++b) out[0] += partial[b];
  prefixes_of_one_thread(in, out);
}

// A narrower fence between takes nothing from a wider one.
extern "C" __global__ void right_narrower_fences_between(const unsigned* in, unsigned* out) {
  __shared__ bool last;
  const unsigned sum = block_sum(in, blockIdx.x);
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = sum;
    asm volatile("fence.acq_rel.gpu;" : : : "memory");
    asm volatile("fence.acq_rel.cta;" : : : "memory");
    last = atomicInc(&tickets, gridDim.x - 1) == gridDim.x - 1;
    __threadfence_block();
    __threadfence();
  }
  __syncthreads();
  if (!last) return;
  if (threadIdx.x < 5) atomicAdd(&out[0], partial[threadIdx.x]);
  if (threadIdx.x == 0) prefixes_of_one_thread(in, out);
}

// wrong: in the same launch, unordered
extern "C" __global__ void wrong_fence_of_another_thread(const unsigned* in, unsigned* out) {
  __shared__ bool last;
  const unsigned sum = block_sum(in, blockIdx.x);
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = sum;
    __threadfence();
    last = atomicAdd(&tickets, 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last) return;
  if (threadIdx.x == 1) __threadfence();
  if (threadIdx.x < 5) atomicAdd(&out[0], partial[threadIdx.x]);  // <-
}

// wrong: in the same launch, unordered
extern "C" __global__ void wrong_written_behind_the_ticket(const unsigned* in, unsigned* out) {
  __shared__ bool last;
  const unsigned sum = block_sum(in, blockIdx.x);
  if (threadIdx.x == 0) {
    __threadfence();
    last = atomicAdd(&tickets, 1) == gridDim.x - 1;
    partial[blockIdx.x] = sum;
    __threadfence();
  }
  __syncthreads();
  if (!last) return;
  if (threadIdx.x < 5) atomicAdd(&out[0], partial[threadIdx.x]);
}

// wrong: in the same launch, unordered
extern "C" __global__ void wrong_written_by_another_thread(const unsigned* in, unsigned* out) {
  __shared__ bool last;
  const unsigned sum = block_sum(in, blockIdx.x);
  if (threadIdx.x == 32) partial[blockIdx.x] = sum;
  if (threadIdx.x == 0) {
    __threadfence();
    last = atomicAdd(&tickets, 1) == gridDim.x - 1;
    __threadfence();
  }
  __syncthreads();
  if (!last) return;
  if (threadIdx.x < 5) atomicAdd(&out[0], partial[threadIdx.x]);
}

// wrong: race: reads 4 bytes at
extern "C" __global__ void wrong_barrier_missing(const unsigned* in, unsigned* out) {
  __shared__ volatile unsigned last;
  if (threadIdx.x == 0) last = 0;
  const unsigned sum = block_sum(in, blockIdx.x);
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = sum;
    __threadfence();
    last = 1 + (atomicAdd(&tickets, 1) == gridDim.x - 1);
    __threadfence();
  }
  while (last == 0) {}
  if (last == 1) return;
  if (threadIdx.x < 5) atomicAdd(&out[0], partial[threadIdx.x]);  // <-
}

// wrong: no end: a warp executed
extern "C" __global__ void wrong_waits_for_blocks_that_have_not_begun(const unsigned* in, unsigned* out) {
  if (threadIdx.x == 0) {
    atomicAdd(&tickets, 1);
    while (atomicAdd(&tickets, 0) < gridDim.x) {}
  }
}
