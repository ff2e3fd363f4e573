/*
A loop around grid barriers that can be stopped, as the searches in one launch have it.
*/
#include "common.cuh"

// Every turn passes a plain barrier and one with a way out; in turn `asking` block `asker` sets the host's word, as the
// host would.  left (blocks): the turn in which each block left, `turns` if it came to the end.
extern "C" __global__ void pass_barriers(uint32 turns, uint32 asking, uint32 asker, uint32* words, uint32* left) {
    __shared__ uint32 barriers;
    if (threadIdx.x == 0) barriers = 0;
    uint32 turn = 0;
    for (; turn < turns; ++turn) {
        if (turn == asking && blockIdx.x == asker && threadIdx.x == 0) static_cast<volatile uint32*>(words)[2] = 1;
        if (grid_barrier_or_stop(words, &barriers)) break;
        if (turn % 3 == 0) grid_barrier(words, &barriers);
    }
    if (threadIdx.x == 0) left[blockIdx.x] = turn;
}
