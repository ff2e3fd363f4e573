// Each thread looks at its right neighbour; the last has none.  Blocks of 64 threads.
template <bool broken>
__device__ void shared_off_by_one(const int* values, int* rises) {
    __shared__ int row[64];
    const int i = threadIdx.x;
    row[i] = values[i];
    __syncthreads();
    if (broken || i < 63) rises[i] = row[i + 1] - row[i];
}
extern "C" __global__ void shared_off_by_one_broken(const int* values, int* rises) {
    shared_off_by_one<true>(values, rises);
}
extern "C" __global__ void shared_off_by_one_fixed(const int* values, int* rises) {
    shared_off_by_one<false>(values, rises);
}
