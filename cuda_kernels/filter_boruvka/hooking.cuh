/*
Phase 2 of filter_boruvka.cu, and the end of every round: picks become links, links become trees, roots get numbers, and
all below them learn these.
*/
#ifndef GPUGRAPH_FILTER_BORUVKA_HOOKING_CUH
#define GPUGRAPH_FILTER_BORUVKA_HOOKING_CUH

#include "filter_boruvka/base.cuh"

// What becomes of COUNT vertices or components of each thread, a block apart: those that are hooked on another, whose
// edges join the forest; the roots, which are numbered among the live; and those that retire.
template <int COUNT>
struct Fates {
    bool hooked[COUNT], root[COUNT], retired[COUNT];
};

// Where the forest goes on, and the next number of the live, and of the retired.
struct Place {
    uint32 edge, number, final;
};

// A place for each of them, in the order of the vertices, for what is numbered alike shares a line of the cache.  Each
// warp writes and reads its own tallies; only between the two barriers does the first warp write those of all.  All
// threads must call.
template <int COUNT>
__device__ __forceinline__ void take_places(Shared& shared, const Fates<COUNT>& fates, uint32* control, uint32* live,
                                            Place (&place)[COUNT]) {
    static_assert(COUNT <= HOOKS, "there is a tally for each");
    uint64* const tally = shared.tallies;
    const int warp = threadIdx.x / WARP;
    __syncwarp();  // all lanes have read what is written now
    uint32 rank[COUNT];  // of the lane's own in its warp, eight bits for each
#pragma unroll
    for (int k = 0; k < COUNT; ++k) {
        const unsigned hooked = __ballot_sync(FULL_MASK, fates.hooked[k]);
        const unsigned root = __ballot_sync(FULL_MASK, fates.root[k]);
        const unsigned retired = __ballot_sync(FULL_MASK, fates.retired[k]);
        if (lane_id() == 0) tally[k * WARPS + warp] = counted(__popc(hooked), __popc(root), __popc(retired));
        rank[k] = __popc(hooked & lanes_before()) | __popc(root & lanes_before()) << 8 |
                  __popc(retired & lanes_before()) << 16;
    }
    __syncthreads();
    if (warp == 0) {
        uint64 total = 0;
#pragma unroll
        for (int first = 0; first < COUNT * WARPS; first += WARP) {
            const int at = first + lane_id();
            const uint64 mine = at < COUNT * WARPS ? tally[at] : 0;
            const uint64 upto = total + warp_scan(mine);
            if (at < COUNT * WARPS) tally[at] = upto - mine;
            total = __shfl_sync(FULL_MASK, upto, WARP - 1);
        }
        if (lane_id() < 3) {
            uint32* const word = lane_id() == 0 ? &control[FOREST] : lane_id() == 1 ? live : &control[FINALS];
            const uint32 places = counter(total, lane_id());
            shared.bases[lane_id()] = places == 0 ? 0 : atomicAdd(word, places);
        }
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < COUNT; ++k) {
        const uint64 before = tally[k * WARPS + warp];
        place[k] = {shared.bases[0] + counter(before, 0) + (rank[k] & 0xff),
                    shared.bases[1] + counter(before, 1) + (rank[k] >> 8 & 0xff),
                    shared.bases[2] + counter(before, 2) + (rank[k] >> 16)};
    }
}

// A root is numbered among the live; what leads to an `other` is hooked on it, and its edge joins the forest; what
// leads nowhere is DEAD (a vertex) or retires (a component).  All threads must call.
template <int COUNT>
__device__ __forceinline__ void hook_on(Shared& shared, uint32 first, uint32 count, bool vertices,
                                        const int32 (&other)[COUNT], const bool (&root)[COUNT],
                                        const edge_id_t (&id)[COUNT], int32* up, edge_id_t* forest, uint32* control,
                                        uint32* live) {
    Fates<COUNT> fates;
    Place to[COUNT];
#pragma unroll
    for (int k = 0; k < COUNT; ++k) {
        fates.hooked[k] = other[k] != NO_LINK && !root[k];
        fates.root[k] = root[k];
        fates.retired[k] = other[k] == NO_LINK && !vertices && first + k * BLOCK + threadIdx.x < count;
    }
    take_places(shared, fates, control, live, to);
#pragma unroll
    for (int k = 0; k < COUNT; ++k) {
        const uint32 t = first + k * BLOCK + threadIdx.x;
        if (t >= count) continue;
        if (other[k] == NO_LINK) {
            up[t] = vertices ? DEAD : retired_root(to[k].final);
        } else if (root[k]) {
            up[t] = live_root(to[k].number);
        } else {
            up[t] = other[k];
            forest[to[k].edge] = id[k];
        }
    }
}

// The choices of the vertices: each leads along the arc that was picked.  Of two that picked each other the smaller is
// a root.
struct VertexChoices {
    typedef int32 Choice;
    static constexpr int AT_ONCE = HOOKS;  // of a thread
    static constexpr bool VERTICES = true;
    static constexpr int32 NONE = NO_LINK;
    const int32* chosen;  // the link of each
    const edge_id_t* pick;

    __device__ __forceinline__ void follow(int32 t, int32 link, int32& other, edge_id_t& id) const {
        other = link;
        id = pick[t];
    }
    __device__ __forceinline__ bool is_root(int32 t, int32, int32 other) const {
        return chosen[other] == t && t < other;
    }
};

// Those of the components of a round on a list in order: the winning bid has the slot of the lightest edge, and two
// picked each other if theirs are the same.
template <typename Slots>
struct ComponentChoices {
    typedef uint64 Choice;
    static constexpr int AT_ONCE = PER_THREAD;
    static constexpr bool VERTICES = false;
    static constexpr uint64 NONE = NO_BID;
    const uint64* chosen;  // the winning bid of each
    const Slots& pages;
    bool narrow;

    __device__ __forceinline__ void follow(int32 t, uint64 bid, int32& other, edge_id_t& id) const {
        const Edge* const edge = pages.at(narrow ? static_cast<uint32>(bid) : bid);
        other = edge->a == t ? edge->b : edge->a;
        id = edge->id;
    }
    __device__ __forceinline__ bool is_root(int32 t, uint64 bid, int32 other) const {
        return t < other && chosen[other] == bid;
    }
};

// Hook `count` vertices or components along their choices.  The next are under way while places are taken.  All threads
// must call.
template <typename Choices>
__device__ void hook_along(Shared& shared, uint32 count, const Choices& choices, int32* up, edge_id_t* forest,
                           uint32* control, uint32* live) {
    constexpr int COUNT = Choices::AT_ONCE;
    typedef typename Choices::Choice Choice;
    const uint32 begin = blockIdx.x * BLOCK * COUNT, step = gridDim.x * BLOCK * COUNT;
    Choice next[COUNT];
    load_each(choices.chosen, begin + threadIdx.x, BLOCK, count, Choices::NONE, next);
    for (uint32 first = begin; first < count; first += step) {
        Choice choice[COUNT];
        int32 other[COUNT];
        edge_id_t id[COUNT];
        bool root[COUNT];
#pragma unroll
        for (int k = 0; k < COUNT; ++k) {
            choice[k] = next[k];
            other[k] = NO_LINK;
            id[k] = 0;
            const int32 t = static_cast<int32>(first + k * BLOCK + threadIdx.x);
            if (choice[k] != Choices::NONE) choices.follow(t, choice[k], other[k], id[k]);
        }
#pragma unroll
        for (int k = 0; k < COUNT; ++k) {
            const int32 t = static_cast<int32>(first + k * BLOCK + threadIdx.x);
            root[k] = other[k] != NO_LINK && choices.is_root(t, choice[k], other[k]);
        }
        load_each(choices.chosen, first + step + threadIdx.x, BLOCK, count, Choices::NONE, next);
        hook_on(shared, first, count, Choices::VERTICES, other, root, id, up, forest, control, live);
    }
}

// Every vertex or component learns the number of its root.  On most graphs that is a link or two away; but where
// weights are equal, or rise along a path, a million may form one chain.  So who has followed LONG_WAY links puts
// what each further one leads to in the place of its own parent: as all on the chain climb at once, every link then
// leads twice as far as the one before it, and who comes to the root leaves its number to those below.  The way of a
// thread may lead on among those whose turn has not come.  After CHASE links it gives up and reports so, by the number
// of this turn: the caller repeats until nobody did.
__device__ void learn_number(uint32 count, int32* up, int32* number, uint32* last_long_chain,
                             uint32 turn) {
    static_assert(LONG_WAY < CHASE, "who gives up has come nearer");
    bool gave_up = false;
    int32 next[PER_THREAD];
    load_each(up, own_thread(), grid_threads(), count, DEAD, next);
    for (int64 first = own_thread(); first < count; first += grid_threads() * PER_THREAD) {
        int32 found[PER_THREAD];  // what is above, or the number of the root
        bool climbing = true;
#pragma unroll
        for (int k = 0; k < PER_THREAD; ++k) found[k] = next[k];
        load_each(up, first + grid_threads() * PER_THREAD, grid_threads(), count, DEAD, next);
        for (int hop = 0; climbing && hop < CHASE; ++hop) {
            climbing = false;
#pragma unroll
            for (int k = 0; k < PER_THREAD; ++k) {
                if (found[k] < 0) continue;
                found[k] = up[found[k]];  // race-allowed: shortcuts, and old values, lead to the same root
                climbing |= found[k] >= 0;
            }
            if (hop < LONG_WAY) continue;
#pragma unroll
            for (int k = 0; k < PER_THREAD; ++k) {
                const int64 t = first + k * grid_threads();
                if (t < count) up[t] = found[k];  // race-allowed: a shortcut to the same root
            }
        }
#pragma unroll
        for (int k = 0; k < PER_THREAD; ++k) {
            const int64 t = first + k * grid_threads();
            if (t >= count) continue;
            if (found[k] >= 0) {
                gave_up = true;
            } else {
                number[t] = learned(found[k]);
            }
        }
    }
    if (gave_up) *last_long_chain = turn;  // race-allowed: every writer writes the same
}

// The same until nobody gives up.  `next_turn` numbers the turns, from 1 on and alike in all threads; `last_long_chain`
// is the last in which somebody gave up, 0 at first, and `read_behind_barrier` a barrier of all blocks that returns it.
// The caller runs `meanwhile` in the first turn.  All threads of all blocks must call.
template <typename Turn, typename Meanwhile, typename Read>
__device__ __forceinline__ void learn_numbers(uint32 count, int32* up, int32* number, uint32* last_long_chain,
                                              const Turn& next_turn, const Meanwhile& meanwhile,
                                              const Read& read_behind_barrier) {
    for (bool more = true, first = true; more; first = false) {
        const uint32 turn = next_turn();
        learn_number(count, up, number, last_long_chain, turn);
        if (first) meanwhile();
        more = read_behind_barrier() >= turn;  // a block that is late may find the next turn's number there
    }
}

// Every component of before the rounds learns what became of it in all of them, by the numbers that each has left in
// the chain.  The live ones that are left are numbered from `last` on; the retired keep their numbers.
__device__ void shorten_chain(const Shared& shared, uint32 count, int32* chain, uint32 levels, int32 last) {
    for (uint32 first = static_cast<uint32>(own_thread()); first < count; first += grid_threads() * LABELS) {
        int32 component[LABELS];
        load_each(chain, first, grid_threads(), count, DEAD, component);
        for (uint32 l = 1; l < levels; ++l) {
#pragma unroll
            for (int k = 0; k < LABELS; ++k) {
                if (component[k] >= 0) component[k] = chain[shared.levels[l] + component[k]];
            }
        }
#pragma unroll
        for (int k = 0; k < LABELS; ++k) {
            const int64 t = first + k * grid_threads();
            if (t < count) chain[t] = component[k] >= 0 ? last + component[k] : -2 - component[k];
        }
    }
}

// Every vertex learns what became of its component in all rounds.
__device__ void spread(int32 vertices, int32* label, const int32* chain) {
    for (int64 first = own_thread(); first < vertices; first += grid_threads() * LABELS) {
        int32 component[LABELS];
        load_each(label, first, grid_threads(), vertices, DEAD, component);
#pragma unroll
        for (int k = 0; k < LABELS; ++k) {
            if (component[k] != DEAD) label[first + k * grid_threads()] = chain[component[k]];
        }
    }
}

#endif
