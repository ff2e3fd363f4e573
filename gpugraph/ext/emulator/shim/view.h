// The built-in variables that kernels read: threadIdx and the rest, one set per worker.
#pragma once

#include <utility>
#include <vector>

#include "block.h"
#include "interface.h"

extern "C" {
SIMT_PER_WORKER simt::uint3_ simt_thread_index, simt_block_index, simt_block_shape, simt_grid_shape;
SIMT_PER_WORKER int64_t simt_atomics_left;
SIMT_PER_WORKER uint64_t simt_progress;
}

namespace simt {

SIMT_PER_WORKER Scheduler* scheduler;

inline void set_thread_index(const uint3_& index) { simt_thread_index = index; }
inline void set_block_index(const uint3_& index) { simt_block_index = index; }
inline void set_shapes(const Launch& launch) {
    simt_block_shape = {launch.block[0], launch.block[1], launch.block[2]};
    simt_grid_shape = {launch.grid[0], launch.grid[1], launch.grid[2]};
}

// Where the runtime's own variables lie, which must survive a change of shared memory.
inline std::vector<std::pair<char*, std::size_t>> view_ranges() {
#ifdef SIMT_THREADS
    return {{reinterpret_cast<char*>(&simt_thread_index), sizeof simt_thread_index},
            {reinterpret_cast<char*>(&simt_block_index), sizeof simt_block_index},
            {reinterpret_cast<char*>(&simt_block_shape), sizeof simt_block_shape},
            {reinterpret_cast<char*>(&simt_grid_shape), sizeof simt_grid_shape},
            {reinterpret_cast<char*>(&simt_atomics_left), sizeof simt_atomics_left},
            {reinterpret_cast<char*>(&simt_progress), sizeof simt_progress},
            {reinterpret_cast<char*>(&scheduler), sizeof scheduler}};
#else
    return {};
#endif
}

}  // namespace simt
