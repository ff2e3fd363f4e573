/*
What every kernel of gpugraph shares: types, keys, warp primitives, and waiting.

Types are chosen by defines, so that one source serves 32- and 64-bit arc indices and every type of weight:

    INDEX_BITS   32 | 64                       width of an arc index                    (default 32)
    INDEX        uint32                        its type, where 32 bits have no sign     (default int32)
    WEIGHT       uint32 | int32 | uint64 | int64 | float32 | float64                    (default uint32)

The file compiles as CUDA C++17 under NVRTC for sm_70 and later, and as C++17 on the emulated device.  It uses
no header of the toolkit, explicit masks in every warp operation, and never assumes that lanes run in lock-step.

A race that is meant carries a comment `race-allowed: why it is benign` on the line of the access; the race
detector of the emulated device accepts those and no others.
*/
#ifndef GPUGRAPH_COMMON_CUH
#define GPUGRAPH_COMMON_CUH

#ifndef INDEX_BITS
#define INDEX_BITS 32
#endif
#ifndef WEIGHT
#define WEIGHT uint32
#endif

typedef unsigned char uint8;
typedef int int32;
typedef unsigned int uint32;
typedef long long int64;
typedef unsigned long long uint64;
typedef float float32;
typedef double float64;

typedef WEIGHT weight_t;

#if INDEX_BITS == 64
typedef int64 index_t;
typedef uint64 count_t;  // of arcs
#elif defined(INDEX)
typedef INDEX index_t;
typedef INDEX count_t;
#else
typedef int32 index_t;
typedef uint32 count_t;
#endif
#ifdef INDEX
enum : bool { UNSIGNED_INDEX = true };
typedef uint64 span_t;  // of arcs, and up to a span behind the last
#else
enum : bool { UNSIGNED_INDEX = false };
typedef count_t span_t;
#endif

constexpr int WARP = 32;
constexpr unsigned FULL_MASK = 0xffffffffu;

// ------------------------------------------------------------------ order-preserving keys

// Map a weight to an unsigned integer of its width that compares as the weight does, so that one atomicMin
// serves every type.  A float has its sign bit flipped if positive and all bits flipped if negative.
__device__ __forceinline__ uint32 order_key(uint32 w) { return w; }
__device__ __forceinline__ uint32 order_key(int32 w) { return static_cast<uint32>(w) ^ 0x80000000u; }
__device__ __forceinline__ uint64 order_key(uint64 w) { return w; }
__device__ __forceinline__ uint64 order_key(int64 w) { return static_cast<uint64>(w) ^ 0x8000000000000000ull; }

__device__ __forceinline__ uint32 order_key(float32 w) {
    const uint32 bits = __float_as_uint(w);
    return bits ^ (bits >> 31 ? 0xffffffffu : 0x80000000u);
}

__device__ __forceinline__ uint64 order_key(float64 w) {
    const uint64 bits = static_cast<uint64>(__double_as_longlong(w));
    return bits ^ (bits >> 63 ? 0xffffffffffffffffull : 0x8000000000000000ull);
}

typedef decltype(order_key(weight_t())) weight_key_t;
// Also the key of the greatest integer: whoever looks for the least needs an id or a flag to know whether there is one.
constexpr weight_key_t NO_KEY = static_cast<weight_key_t>(-1);
constexpr weight_key_t TOP_BIT = static_cast<weight_key_t>(1) << (8 * sizeof(weight_key_t) - 1);

// The same where one build serves all types of a width: weights come as unsigned words, of what kind they are comes as
// an argument of the kernel (in the driver: weight_kind), and masks made of it do what order_key does.
enum WeightKind { UNSIGNED, SIGNED, REAL };

struct KeyMap {
    weight_key_t sign, flip;

    __device__ __forceinline__ explicit KeyMap(int32 kind)
        : sign(kind == UNSIGNED ? 0 : TOP_BIT), flip(kind == REAL ? TOP_BIT - 1 : 0) {}

    __device__ __forceinline__ weight_key_t operator()(weight_key_t word) const {
        const weight_key_t negative = static_cast<weight_key_t>(0) - (word >> (8 * sizeof(weight_key_t) - 1));
        return word ^ sign ^ (negative & flip);
    }
};

// ------------------------------------------------------------------ ranges

// First index and step of a grid-stride loop over this launch's threads.
__device__ __forceinline__ int64 grid_thread() { return static_cast<int64>(blockIdx.x) * blockDim.x + threadIdx.x; }
__device__ __forceinline__ int64 grid_threads() { return static_cast<int64>(gridDim.x) * blockDim.x; }

// The tiles of this block where n elements are cut into tiles of TILE: an even share of all, consecutive ones.
struct Range {
    int64 first, last;
};
template <int TILE>
__device__ __forceinline__ Range own_tiles(int64 n) {
    const int64 tiles = (n + TILE - 1) / TILE;
    return {tiles * blockIdx.x / gridDim.x, tiles * (blockIdx.x + 1) / gridDim.x};
}

__device__ __forceinline__ int lane_id() { return threadIdx.x % WARP; }

// A bit for each lane before this one; and the first of the lanes that have a bit in a mask.
__device__ __forceinline__ unsigned lanes_before() { return (1u << lane_id()) - 1; }
__device__ __forceinline__ int first_lane(unsigned lanes) { return __ffs(static_cast<int>(lanes)) - 1; }

// ------------------------------------------------------------------ warp primitives

// Reserve one slot for every lane that appends, with one atomic for the whole warp.  All 32 lanes must call.
// Returns the lane's slot; meaningless for lanes that do not append.
__device__ __forceinline__ uint32 warp_append(uint32* counter, bool appends) {
    const unsigned lanes = __ballot_sync(FULL_MASK, appends);
    uint32 base = 0;
    if (lane_id() == 0 && lanes != 0) base = atomicAdd(counter, static_cast<uint32>(__popc(lanes)));
    base = __shfl_sync(FULL_MASK, base, 0);
    return base + __popc(lanes & lanes_before());
}

// Note the vertex of every lane whose row is a hub's, too long for a warp.  All 32 lanes must call.
__device__ __forceinline__ void note_hubs(int32* hubs, uint32* count, bool is_hub, int32 v) {
    if (!__any_sync(FULL_MASK, is_hub)) return;
    const uint32 slot = warp_append(count, is_hub);
    if (is_hub) hubs[slot] = v;
}

// Kogge-Stone over the lanes of a warp: in step k every lane adds the value 2^k lanes before it.  Returns the sum of
// the values up to and with the lane's own.  All 32 lanes must call.
template <typename T>
__device__ __forceinline__ T warp_scan(T value) {
#pragma unroll
    for (int offset = 1; offset < WARP; offset *= 2) {
        const T below = __shfl_up_sync(FULL_MASK, value, offset);
        if (lane_id() >= offset) value += below;
    }
    return value;
}

// Reserve `count` consecutive slots for every lane.  All 32 lanes must call.  Returns the lane's first slot.
__device__ __forceinline__ uint32 warp_reserve(uint32* counter, uint32 count) {
    const uint32 inclusive = warp_scan(count);
    uint32 base = 0;
    if (lane_id() == WARP - 1 && inclusive != 0) base = atomicAdd(counter, inclusive);
    return __shfl_sync(FULL_MASK, base, WARP - 1) + inclusive - count;
}

// How many lanes before the last hold a number up to `value`; the lanes' numbers ascend.  Each lane brings a value of
// its own, and all 32 must call.
template <typename T>
__device__ __forceinline__ int lanes_up_to(T value, T ascending) {
    int lanes = 0;
#pragma unroll
    for (int step = WARP / 2; step > 0; step /= 2) {
        if (__shfl_sync(FULL_MASK, ascending, lanes + step - 1) <= value) lanes += step;
    }
    return lanes;
}

// Smallest value of the warp, in every lane.  All 32 lanes must call.
template <typename T>
__device__ __forceinline__ T warp_min(T value) {
    for (int offset = WARP / 2; offset > 0; offset /= 2) {
        const T other = __shfl_xor_sync(FULL_MASK, value, offset);
        if (other < value) value = other;
    }
    return value;
}

// ------------------------------------------------------------------ guarded atomics

// atomicMin that looks first: most candidates lose, and a read costs far less than an atomic.  The value only
// ever falls, so a stale read can at worst let a loser try.
template <typename T>
__device__ __forceinline__ void lower_to(T* cell, T value) {
    if (value < *static_cast<volatile T*>(cell)) atomicMin(cell, value);  // race-allowed: the value only falls
}

// ------------------------------------------------------------------ caches

// Ask for the cache line of `address`, which must lie inside an array; nobody waits for it.
__device__ __forceinline__ void prefetch_line(const void* address) {
#ifdef __CUDA_ARCH__
    asm volatile("prefetch.global.L2 [%0];" ::"l"(address));
#endif
}

// The same for the first-level cache, which only what is read passes through: so a word is copied to shared memory, to
// `unused`, where nobody reads it.  Whoever uses that memory for something else awaits the copies first.
template <typename T>
__device__ __forceinline__ void fetch_close(uint32* unused, const T* address) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    const uint32 there = static_cast<uint32>(__cvta_generic_to_shared(unused));
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(there), "l"(address));
#else
    prefetch_line(address);
#endif
}

// ------------------------------------------------------------------ rows

// First position in the ascending range targets[begin, end) that is not below `target`.
__device__ __forceinline__ index_t lower_bound(const int32* __restrict__ targets, index_t begin, index_t end,
                                               int32 target) {
    while (begin < end) {
        const index_t middle = begin + (end - begin) / 2;
        if (targets[middle] < target) {
            begin = middle + 1;
        } else {
            end = middle;
        }
    }
    return begin;
}

// Position of `target` in the ascending range targets[begin, end), or -1.
__device__ __forceinline__ index_t find_arc(const int32* __restrict__ targets, index_t begin, index_t end,
                                            int32 target) {
    const index_t at = lower_bound(targets, begin, end, target);
    return at < end && targets[at] == target ? at : static_cast<index_t>(-1);
}

// The row of an arc, known to lie in [low, high]: the last that begins at or before it.
template <typename Offset, typename Row>
__device__ __forceinline__ Row row_of_arc(const Offset* __restrict__ offsets, Offset arc, Row low, Row high) {
    while (low < high) {
        const Row middle = low + (high - low + 1) / 2;
        if (offsets[middle] <= arc) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    return low;
}

// Visit the arcs [first, first + count) of a graph together with their rows: visit(u, at, there) for the arc first + at
// of row u.  A warp takes TILE consecutive arcs at a time, so that no row, however long, falls to one alone, and finds
// the rows of the first and the last of them; a lane finds its own between these.  All lanes of a warp call together; a
// lane that has no arc is not `there`.
template <int TILE, typename Offset, typename Visit>
__device__ __forceinline__ void walk_arcs(const Offset* __restrict__ offsets, int32 vertices, int64 first, int64 count,
                                          Visit visit) {
    const Offset origin = static_cast<Offset>(first);
    for (int64 begin = grid_thread() / WARP * TILE; begin < count; begin += grid_threads() / WARP * TILE) {
        const int64 end = begin + TILE < count ? begin + TILE : count;
        int32 u = row_of_arc(offsets, origin + static_cast<Offset>(begin), 0, vertices - 1);
        const int32 last = row_of_arc(offsets, origin + static_cast<Offset>(end - 1), u, vertices - 1);
        for (int64 portion = begin; portion < end; portion += WARP) {
            const Offset at = static_cast<Offset>(portion + lane_id());
            const bool there = at < end;
            if (there) u = row_of_arc(offsets, origin + at, u, last);
            visit(u, at, there);
        }
    }
}

// ------------------------------------------------------------------ waiting

// Begin to copy 16 bytes to shared memory; the calling thread may read them after await_copies().
__device__ __forceinline__ void copy_async(uint4* shared, const uint4* source) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    const uint32 address = static_cast<uint32>(__cvta_generic_to_shared(shared));
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(address), "l"(source) : "memory");
#else
    *shared = *source;
#endif
}

// The copies that the calling thread has begun since the last call are a group, which may be empty.
__device__ __forceinline__ void end_copies() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

// Wait until all but the calling thread's last LATER groups are copied.
template <int LATER>
__device__ __forceinline__ void await_copies() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_group %0;" ::"n"(LATER) : "memory");
#endif
}

// Wait until `condition` holds; something another resident block does must make it true.  The pause lets the
// memory system breathe on a GPU, and lets the other blocks run on the emulated device.
#define spin_until(condition)                 \
    do {                                      \
        while (!(condition)) __nanosleep(20); \
    } while (0)

// Whether a counter that wraps has reached `goal`, of which it is never 2^31 or more away.
__device__ __forceinline__ bool has_reached(uint32 counter, uint32 goal) { return counter - goal < 0x80000000u; }

// Count this thread's block as arrived at a barrier.  What all its threads wrote before is visible to whoever reads the
// new count with read_arrivals().
__device__ __forceinline__ void arrive(uint32* arrivals) {
#ifdef __CUDA_ARCH__
    asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(arrivals) : "memory");
#else
    __threadfence();
    atomicAdd(arrivals, 1u);
#endif
}

// Read how many blocks have arrived: a word of 32 bits; or one of 64, whose upper half is the word behind the arrivals.
// That is one read of two words that are written by 32 bits.  The memory model does not define it; on all GPUs that we
// know it is one access.
template <typename Word>
__device__ __forceinline__ Word read_arrivals(const uint32* arrivals) {
    Word seen;
#ifdef __CUDA_ARCH__
    if constexpr (sizeof(Word) == 8) {
        asm volatile("ld.acquire.gpu.global.u64 %0, [%1];" : "=l"(seen) : "l"(arrivals) : "memory");
    } else {
        asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(arrivals) : "memory");
    }
#else
    seen = *reinterpret_cast<const volatile Word*>(arrivals);  // race-allowed: polled
    __threadfence();
#endif
    return seen;
}

// Arrive at a barrier of all blocks of a cooperative launch, and wait until all have.  Thread 0 of each block calls,
// between two __syncthreads(), and runs `meanwhile` before it waits.  Returns what it read last, see read_arrivals().
// `arrivals` starts at 0 and only grows: the n-th barrier is passed at n * gridDim.x.  A block counts them in
// `*barriers`, 0 at the start.
template <typename Word, typename Meanwhile>
__device__ __forceinline__ Word arrive_and_wait(uint32* arrivals, uint32* barriers, const Meanwhile& meanwhile) {
    *barriers += 1;
    const uint32 goal = *barriers * gridDim.x;
    arrive(arrivals);
    meanwhile();
    Word seen;
    const auto all_arrived = [&]() {
        seen = read_arrivals<Word>(arrivals);
        return has_reached(static_cast<uint32>(seen), goal);
    };
    spin_until(all_arrived());
    return seen;
}

// Wait until every block has arrived.  All threads must call.
__device__ __forceinline__ void grid_barrier(uint32* arrivals, uint32* barriers) {
    __syncthreads();
    if (threadIdx.x == 0) arrive_and_wait<uint32>(arrivals, barriers, []() {});
    __syncthreads();
}

// A barrier with a way out: true, in all threads of all blocks alike, if the host wants the kernel to end.  `words` are
// three, 0 at the start and at a multiple of 8 bytes: the arrivals, with which all other barriers of the kernel go too;
// the barrier at which all leave, or 0; and the host's request.  Block 0 reads the last while it waits, and then
// names the next barrier, before it arrives there itself: a block that passes that one sees it, and one that is late at
// this one sees a later number than its own.  The second word comes with the first, so that nobody waits longer for it.
__device__ __forceinline__ bool grid_barrier_or_stop(uint32* words, uint32* barriers) {
    __syncthreads();
    bool leaves = false;
    if (threadIdx.x == 0) {
        uint32 requested = 0;
        const auto read_request = [&]() {
            if (blockIdx.x == 0) requested = static_cast<volatile uint32*>(words)[2];
        };
        const uint64 seen = arrive_and_wait<uint64>(words, barriers, read_request);
        const uint32 last_barrier = static_cast<uint32>(seen >> 32);
        leaves = last_barrier != 0 && has_reached(*barriers, last_barrier);
        // race-allowed: read by blocks that still wait at this barrier, which is not the last
        if (requested != 0 && last_barrier == 0) static_cast<volatile uint32*>(words)[1] = *barriers + 1;
    }
    return __syncthreads_or(leaves);
}

// ------------------------------------------------------------------ what the host would have to do before and after

// Makes words 0 that the launch behind this one uses; nobody uses them now.
template <typename T>
__device__ __forceinline__ void clear_for_next(T* words, uint32 count) {
    for (int64 i = grid_thread(); i < count; i += grid_threads()) words[i] = 0;
}

// Answers the host, in a word of the host's own memory; `number` says which launch does.  One thread calls it when
// nothing can change what is reported any more; all else the host sees when the kernel has ended.
__device__ __forceinline__ void reply(uint64* word, uint32 number, uint32 answer) {
    *static_cast<volatile uint64*>(word) = static_cast<uint64>(number) << 32 | answer;
}

// ------------------------------------------------------------------ time

// Nanoseconds of the device's global timer, which all blocks share; it ticks coarsely.
__device__ __forceinline__ uint64 device_nanoseconds() {
#ifdef __CUDA_ARCH__
    uint64 now;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
    return now;
#else
    return static_cast<uint64>(clock64());
#endif
}

#endif
