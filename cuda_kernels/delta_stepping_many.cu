/*
Shortest paths from many sources: searches of delta_stepping.cu, several at once, in one cooperative launch.

A search of a graph with long paths keeps a part of a GPU busy.  Here the blocks are cut into groups; each group makes a
search by itself and then takes the next source.  The rows of blocks are groups: blockIdx.x and gridDim.x count within
one, so that whatever "all blocks" do in delta_stepping/ all blocks of a group do, barriers included.

    sources (count)           vertices
    rows (count x n)          the distances from each, words as in delta_stepping.cu, in place of its `distance`
    packed_rows (n, or none)  written by delta_stepping_many_pack before, read by all groups
    near_vertex ... hub_first_piece   as in delta_stepping.cu, a set for each group behind one another
    histogram, control, wide_control  of the first group; the others' are `set_words` words of 8 bytes apart.  Each
                              group has two sets, that take turns, all 0 before the launch
    queue (QUEUE_WORDS)       what groups share, all 0 before the launch (enum QueueWord)
    turns (groups x TURN_WORDS)   of each group, all 0 before the launch: the barrier between two of its searches, and
                              which search the next is
*/
#define SMALL_BLOCKS
#define PACKED_AHEAD true
#include "delta_stepping/alone.cuh"

constexpr int TURN_WORDS = 32;  // a cache line

// Words of `queue`.
enum QueueWord {
    TAKEN,               // sources that groups have taken
    HALT,                // the host may set it: then no more are taken
    WIDER,               // a sum did not fit: all searches have to be made with wider words, and no more are taken if
                         // there are such words
    TOTAL_ROUNDS,        // of all searches together, modulo 2^32
    TOTAL_SETTLED,
    TOTAL_PUSHES,
    QUEUE_WORDS = TURN_WORDS
};
enum TurnWord { MET, SEARCH };

// Launch: any grid, BLOCK threads.  Writes packed_rows.
extern "C" __global__ void __launch_bounds__(BLOCK)
delta_stepping_many_pack(int32 vertices, index_t arcs, const index_t* __restrict__ offsets,
                    const int32* __restrict__ targets, const weight_t* __restrict__ weights, PackedRow* packed_rows) {
    if (PACKABLE) pack_rows({vertices, arcs, offsets, targets, weights}, packed_rows);
}

// What a block knows between two searches, in shared memory: registers are for what is at work.
struct Between {
    uint32 search;  // the one that the group makes
    uint32 met;     // barriers between two searches
    Memory memory;
};

// Take the next search of this group, alike in all its blocks, when they have all ended the last.  Thread 0 calls.
__device__ __forceinline__ uint32 take_search(uint32* queue, uint32* turn, uint32 count, uint32* met) {
    if (blockIdx.x == 0) {
        const bool restarts = DISTANCE_BITS == 32 && current(&queue[WIDER]) != 0;
        const bool ends = restarts || static_cast<volatile uint32*>(queue)[HALT] != 0;
        turn[SEARCH] = ends ? count : atomicAdd(&queue[TAKEN], 1u);
    }
    arrive_and_wait<uint32>(&turn[MET], met, []() {});
    return current(&turn[SEARCH]);
}

// Launch: cooperative, BLOCK threads, as many blocks as are resident at most: those of a group times the groups.  The
// other arguments are those of delta_stepping.
extern "C" __global__ void __launch_bounds__(BLOCK, RESIDENT)
delta_stepping_many_search(const int32* __restrict__ sources, uint32 count, int32 vertices, index_t arcs,
                           int32 symmetric, int32 group_shift, int32 packs, uint32 local_limit, uint32 room,
                           uint32 far_room,
                           const index_t* __restrict__ offsets, const int32* __restrict__ targets,
                           const weight_t* __restrict__ weights, PackedRow* packed_rows, distance_t* rows,
                           int32* near_vertex, distance_t* near_length, int32* far_vertex, distance_t* far_length,
                           int32* hub_vertex, distance_t* hub_length, uint64* hub_first_piece, uint32* histogram,
                           uint32* control, uint64* wide_control, uint64* sets, uint32 set_words, uint32* queue,
                           uint32* turns) {
    __shared__ Shared shared;
    __shared__ Between between;
    const Graph graph = {vertices, arcs, offsets, targets, weights};
    if (threadIdx.x == 0) between.met = 0;
    while (true) {
        __syncthreads();
        if (threadIdx.x == 0) {
            const int64 group = blockIdx.y, hubs = arcs / LOCAL_ROW + 1;
            between.search = take_search(queue, turns + group * TURN_WORDS, count, &between.met);
            const int64 own = (2 * group + between.met % 2) * set_words;
            between.memory = {{near_vertex + group * 2 * room, near_length + group * 2 * room},
                              {far_vertex + group * 2 * far_room, far_length + group * 2 * far_room},
                              hub_vertex + group * hubs, hub_length + group * hubs, hub_first_piece + group * hubs,
                              histogram + 2 * own, wide_control + own};
        }
        __syncthreads();
        if (between.search >= count) return;
        const int64 sets_before = 2 * static_cast<int64>(blockIdx.y);
        uint32* const words = control + 2 * (sets_before + between.met % 2) * set_words;
        uint64* const next = sets + (sets_before + (between.met + 1) % 2) * set_words;
        distance_t* const distance = rows + static_cast<int64>(between.search) * vertices;
        Outbox outbox = {shared, graph, distance, words, true, 0, 0, 0, 0, 0, 0};
        Push push = {graph, distance, words, outbox, shared.horizon};
        Search search = {shared, graph, -1, UNREACHED, symmetric, group_shift, packs, local_limit, room, far_room,
                         packed_rows, distance, between.memory, words, outbox, push, 0};
        search.find(sources[between.search], next, set_words);
        if (is_first_thread()) {
            if (current(&words[OVERFLOW]) != 0) atomicExch(&queue[WIDER], 1u);
            atomicAdd(&queue[TOTAL_ROUNDS], shared.done[0]);
            atomicAdd(&queue[TOTAL_SETTLED], shared.counted[RELAXED]);
            atomicAdd(&queue[TOTAL_PUSHES], shared.counted[PUSHED]);
        }
    }
}
