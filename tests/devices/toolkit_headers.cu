#include <cuda_runtime.h>
#include <device_launch_parameters.h>
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

extern "C" __global__ void sums_of_warps(int n, const unsigned* values, unsigned* sums) {
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
    const unsigned long long at = cg::this_grid().thread_rank();
    unsigned sum = at < static_cast<unsigned long long>(n) ? values[at] : 0;
    for (unsigned by = warp.size() / 2; by > 0; by /= 2) sum += warp.shfl_down(sum, by);
    block.sync();
    if (warp.thread_rank() == 0) sums[at / 32] = sum + (warp.any(sum != 0) ? 0 : 0);
}
