// What a compiled kernel calls in the runtime, and what the host calls in both.
//
// The runtime (runtime.cpp) is compiled once per build mode; a kernel file is compiled on its own and linked with it
// into one shared object.
#pragma once

#include <cstddef>
#include <cstdint>

#ifdef SIMT_THREADS
#define SIMT_PER_WORKER __thread  // each worker thread of the host runs its own blocks
#else
#define SIMT_PER_WORKER
#endif

namespace simt {

enum Collective : int {
    SYNC, SHUFFLE, SHUFFLE_UP, SHUFFLE_DOWN, SHUFFLE_XOR, BALLOT, ANY, ALL, MATCH_ANY, MATCH_ALL,
    REDUCE_ADD, REDUCE_MIN, REDUCE_MAX, REDUCE_MIN_SIGNED, REDUCE_MAX_SIGNED, REDUCE_AND, REDUCE_OR, REDUCE_XOR
};
enum Barrier : int { PLAIN, COUNT, AND, OR };

// A position in the kernel's source, for reports.
struct Place {
    const char* file;
    int line;
};

struct Parameter {
    uint32_t bytes;
    char kind;             // 'p' pointer, 'i' signed, 'u' unsigned, 'f' real, 's' structure
    uint32_t pointee_bytes;  // of a pointer to an arithmetic type, else 0
    const char* type;      // text from which the host cuts the type's name
};

struct Kernel {
    const char* name;
    uint32_t parameters;
    uint32_t max_threads;  // of __launch_bounds__, or 0
    const Parameter* parameter;
    void (*invoke)(void* const* arguments);
};

// Memory that a kernel may touch: an array, or the arguments themselves (argument -1).
struct Extent {
    uint64_t low, high;
    int64_t argument;
};

struct Launch {
    const Kernel* kernel;
    void* const* arguments;
    uint32_t grid[3];
    uint32_t block[3];
    uint32_t shared_bytes;
    uint32_t resident;  // how many blocks may be under way at once
    uint32_t workers;   // threads of the host to deal the blocks to
    uint64_t seed;      // 0: in order; else the schedule is shuffled by it
    const Extent* extents;  // none: bounds are not known
    uint32_t extent_count;
    uint32_t races;  // look for races, in a build that sees every access
    uint32_t counts;  // count work, in the build for that: 1 + the total that kernels read as the time
};

}  // namespace simt

extern "C" {
uint64_t simt_collective(int operation, unsigned mask, uint64_t value, int argument, int width, simt::Place place);
int simt_barrier(int kind, int predicate, simt::Place place);
void simt_sleep(simt::Place place);
void simt_fence();
void simt_preempt();
void* simt_dynamic_shared();
unsigned simt_lane();
uint64_t simt_clock();
[[noreturn]] void simt_fail(const char* what, simt::Place place);
// The kernel file's list.
extern const simt::Kernel simt_kernels[];
extern const uint32_t simt_kernel_count;
// Counts down to the next forced pre-emption at an atomic; counts up whenever an atomic changed memory.
extern SIMT_PER_WORKER int64_t simt_atomics_left;
extern SIMT_PER_WORKER uint64_t simt_progress;
#ifdef SIMT_RACES
void simt_race_atomic(const volatile void* address, unsigned bytes, const char* name, void* pc);
#endif
}
