// The maximum by look-then-exchange: another block may raise the cell between the look and the exchange.
template <bool broken>
__device__ void lost_update(const int* values, int* best) {
    const int mine = values[blockIdx.x * blockDim.x + threadIdx.x];
    if (broken) {
        if (atomicAdd(best, 0) < mine) atomicExch(best, mine);
    } else {
        atomicMax(best, mine);
    }
}
extern "C" __global__ void lost_update_broken(const int* values, int* best) { lost_update<true>(values, best); }
extern "C" __global__ void lost_update_fixed(const int* values, int* best) { lost_update<false>(values, best); }
