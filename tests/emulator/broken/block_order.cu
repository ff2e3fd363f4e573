// A chain of blocks must take its order from a ticket: nothing says which block starts first.  Blocks of 256 threads.
template <bool broken>
__device__ void block_order(unsigned* ticket, unsigned* chain, int* order) {
    if (threadIdx.x != 0) return;
    const unsigned turn = broken ? blockIdx.x : atomicAdd(ticket, 1u);
    while (atomicAdd(chain, 0u) != turn) __nanosleep(20);
    order[turn] = static_cast<int>(turn);
    atomicAdd(chain, 1u);
}
extern "C" __global__ void block_order_broken(unsigned* ticket, unsigned* chain, int* order) {
    block_order<true>(ticket, chain, order);
}
extern "C" __global__ void block_order_fixed(unsigned* ticket, unsigned* chain, int* order) {
    block_order<false>(ticket, chain, order);
}
