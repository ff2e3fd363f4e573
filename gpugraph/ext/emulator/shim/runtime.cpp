// The runtime: fibers, scheduler, collectives, and the functions by which the host lists and launches kernels.
//
// Compiled once per build mode and linked with each compiled kernel file.

#include <cstdio>
#include <thread>

#include "interface.h"
#include "scheduler.h"
#include "reports.h"
#ifdef SIMT_RACES
#include "race_hooks.h"
#endif
#include "signals.h"
#include "warp.h"
#include "scheduling.h"

namespace {

using namespace simt;

#ifdef SIMT_THREADS
constexpr uint64_t THREADS_WORTH_A_WORKER = 16384;  // a thread of the host costs as much as some thousand of ours
#endif
#ifdef SIMT_STATIC_SHARED
constexpr bool ONE_BLOCK_AT_A_TIME = true;  // shared memory cannot change hands between blocks
#else
constexpr bool ONE_BLOCK_AT_A_TIME = false;
#endif

std::vector<std::unique_ptr<Scheduler>> schedulers;  // one per worker, kept for their stacks

void run_worker(uint32_t worker, Common& common, uint32_t resident, uint64_t seed) {
    scheduler = schedulers[worker].get();
    scheduler->run(common, resident, seed);
}

}  // namespace

extern "C" {

uint64_t simt_collective(int operation, unsigned mask, uint64_t value, int argument, int width, Place place) {
    return collective(static_cast<Collective>(operation), mask, value, argument, width, place);
}
int simt_barrier(int kind, int predicate, Place place) { return barrier(static_cast<Barrier>(kind), predicate, place); }
void simt_sleep(Place place) { scheduler->sleep(place); }
void simt_preempt() { scheduler->preempt(true); }
void* simt_dynamic_shared() { return scheduler->current->block->dynamic_shared; }
unsigned simt_lane() { return scheduler->current->lane; }
uint64_t simt_clock() {
#ifdef SIMT_COUNTERS
    if (counters.clock) return counters.time();
#endif
    return static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
}
void simt_fail(const char* what, Place place) {
    scheduler->fail(std::string(what) + " (" + text(place) + "), " + who(*scheduler->current));
}
void simt_fence() {
#ifdef SIMT_THREADS
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
#ifdef SIMT_RACES
    race_fence();
#endif
}

__attribute__((visibility("default"))) uint32_t simt_count() { return simt_kernel_count; }
__attribute__((visibility("default"))) const Kernel* simt_kernel(uint32_t i) { return &simt_kernels[i]; }

// Run a launch to its end.  Returns 0, or 1 with the report in `error`.
__attribute__((visibility("default"))) int simt_launch(const Launch* launch, char* error, std::size_t error_bytes) {
    Common common;
    common.launch = launch;
    common.blocks = uint64_t{launch->grid[0]} * launch->grid[1] * launch->grid[2];
    if (launch->seed && !ONE_BLOCK_AT_A_TIME) {
        Random random(launch->seed);
        common.block_order.resize(common.blocks);
        for (uint64_t i = 0; i < common.blocks; ++i) common.block_order[i] = i;
        random.shuffle(common.block_order.begin(), common.block_order.end());
    }
#ifdef SIMT_RACES
    race_begin(*launch);
#endif
    [[maybe_unused]] FaultGuard guard;
#ifdef SIMT_THREADS
    const uint64_t threads = common.blocks * launch->block[0] * launch->block[1] * launch->block[2];
    const auto workers = static_cast<uint32_t>(
        std::min<uint64_t>({launch->workers, common.blocks, 1 + threads / THREADS_WORTH_A_WORKER}));
#else
    const uint32_t workers = 1;
#endif
    while (schedulers.size() < workers) schedulers.push_back(std::make_unique<Scheduler>());
    const uint32_t resident = ONE_BLOCK_AT_A_TIME ? 1 : (launch->resident + workers - 1) / workers;
    std::vector<std::thread> others;
    for (uint32_t w = 1; w < workers; ++w) {
        others.emplace_back([&, w] { run_worker(w, common, resident, launch->seed); });
    }
    run_worker(0, common, resident, launch->seed);
    for (auto& other : others) other.join();
    if (!common.failed) return 0;
    snprintf(error, error_bytes, "%s", common.error.c_str());
    return 1;
}

}  // extern "C"
