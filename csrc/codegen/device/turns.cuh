// needs last_block
// Blocks of one dim in the order in which they begin. Words: a mark of each block that came to its await, then how many
// began, and how many are at their end. All begin with 0 and end with it.
__device__ __forceinline__ unsigned take_turn(unsigned* words) {
  __shared__ unsigned turn;
  if (threadIdx.x == 0 && threadIdx.y == 0 && threadIdx.z == 0) turn = atomicAdd(words + gridDim.x, 1u);
  __syncthreads();
  return turn;
}

// Block `turn` is here; waits for those from `first` on, and sees what they wrote before.
__device__ __forceinline__ void await_turns(unsigned* words, unsigned turn, unsigned first) {
  const unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  const unsigned threads = blockDim.x * blockDim.y * blockDim.z;
  __syncthreads();
  if (thread == 0) {
    __threadfence();
    *reinterpret_cast<volatile unsigned*>(words + turn) = 1;
  }
  for (unsigned block = first + thread; block < turn; block += threads)
    while (*reinterpret_cast<volatile unsigned*>(words + block) == 0) {}
  __threadfence();
  __syncthreads();
}

__device__ __forceinline__ void end_turns(unsigned* words) {
  if (!last_block(words + gridDim.x + 1, gridDim.x)) return;
  const unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  for (unsigned i = thread; i <= gridDim.x; i += blockDim.x * blockDim.y * blockDim.z) words[i] = 0;
}
