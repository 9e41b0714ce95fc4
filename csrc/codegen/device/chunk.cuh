// needs least
// Piece number `rank` of n cut into `parts` by ceil division, boundaries on multiples of `granule`.
__device__ __forceinline__ long long chunk_size(long long n, long long parts, long long granule) {
  return ((n + granule - 1) / granule + parts - 1) / parts * granule;
}
__device__ __forceinline__ long long chunk_start(long long n, long long parts, long long rank, long long granule) {
  return least(n, rank * chunk_size(n, parts, granule));
}
__device__ __forceinline__ long long chunk(long long n, long long parts, long long rank, long long granule) {
  return least(chunk_size(n, parts, granule), n - chunk_start(n, parts, rank, granule));
}
