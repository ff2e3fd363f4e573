// The guard must keep the thread behind the last one out.
template <bool broken>
__device__ void off_by_one(int* values, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (broken ? i <= n : i < n) values[i] = i;
}
extern "C" __global__ void off_by_one_broken(int* values, int n) { off_by_one<true>(values, n); }
extern "C" __global__ void off_by_one_fixed(int* values, int n) { off_by_one<false>(values, n); }
