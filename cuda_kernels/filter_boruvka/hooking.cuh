/*
Phase 2 of filter_boruvka.cu, and the end of every round: picks become links, links become trees, roots get numbers, and
all below them learn these.
*/
#ifndef GPUGRAPH_FILTER_BORUVKA_HOOKING_CUH
#define GPUGRAPH_FILTER_BORUVKA_HOOKING_CUH

#include "filter_boruvka/base.cuh"

// Where the forest goes on, and the numbers of the live and of the retired, for what this thread counts of each
// (counted).  All threads must call.
struct Places {
    uint32 edge, number, final;
};
__device__ __forceinline__ Places take_places(Shared& shared, uint64 mine, uint32* control, uint32* live) {
    uint64 total;
    const uint64 before = block_scan(shared, mine, &total);
    if (threadIdx.x < 3) {
        uint32* const word = threadIdx.x == 0 ? &control[FOREST] : threadIdx.x == 1 ? live : &control[FINALS];
        const uint32 asked = counter(total, threadIdx.x);
        shared.bases[threadIdx.x] = asked == 0 ? 0 : atomicAdd(word, asked);
    }
    __syncthreads();
    return {shared.bases[0] + counter(before, 0), shared.bases[1] + counter(before, 1),
            shared.bases[2] + counter(before, 2)};
}

// What becomes of PER_THREAD vertices or components of each thread: one that is a root is numbered among the live, one
// that leads to an `other` is hooked on, and its edge joins the forest; one that leads nowhere is DEAD (a vertex) or
// retires (a component).  All threads must call.
__device__ __forceinline__ void hook_on(Shared& shared, int64 first, uint32 count, bool vertices,
                                        const int32 (&other)[PER_THREAD], const bool (&root)[PER_THREAD],
                                        const edge_id_t (&id)[PER_THREAD], int32* up, edge_id_t* forest,
                                        uint32* control, uint32* live) {
    uint64 mine = 0;
#pragma unroll
    for (int k = 0; k < PER_THREAD; ++k) {
        const int64 t = first + k * BLOCK + threadIdx.x;
        mine += counted(other[k] != NO_LINK && !root[k], root[k], other[k] == NO_LINK && !vertices && t < count);
    }
    Places to = take_places(shared, mine, control, live);
#pragma unroll
    for (int k = 0; k < PER_THREAD; ++k) {
        const int64 t = first + k * BLOCK + threadIdx.x;
        if (t >= count) continue;
        if (other[k] == NO_LINK) {
            up[t] = vertices ? DEAD : retired_root(to.final++);
        } else if (root[k]) {
            up[t] = live_root(to.number++);
        } else {
            up[t] = other[k];
            forest[to.edge++] = id[k];
        }
    }
}

// Hook vertices along their links.  Of two that picked each other the smaller is a root.  All threads must call.
__device__ void hook_vertices(Shared& shared, uint32 count, const edge_id_t* pick, const int32* link, int32* up,
                              edge_id_t* forest, uint32* control) {
    for (int64 first = static_cast<int64>(blockIdx.x) * BLOCK * PER_THREAD; first < count;
         first += static_cast<int64>(gridDim.x) * BLOCK * PER_THREAD) {
        int32 other[PER_THREAD];
        edge_id_t id[PER_THREAD];
        bool root[PER_THREAD];
#pragma unroll
        for (int k = 0; k < PER_THREAD; ++k) {
            const int64 t = first + k * BLOCK + threadIdx.x;
            other[k] = t < count ? link[t] : NO_LINK;
            id[k] = other[k] != NO_LINK ? pick[t] : 0;
        }
#pragma unroll
        for (int k = 0; k < PER_THREAD; ++k) {
            const int64 t = first + k * BLOCK + threadIdx.x;
            root[k] = other[k] != NO_LINK && link[other[k]] == t && t < other[k];
        }
        hook_on(shared, first, count, true, other, root, id, up, forest, control, &control[LIVE]);
    }
}

// The same of the components of a round on a list in order: the winning bid has the slot of the lightest edge, and two
// picked each other if theirs are the same.  All threads must call.
template <typename Slots>
__device__ void hook_by_slots(Shared& shared, uint32 count, const Slots& pages, bool narrow, const uint64* best_key,
                              const uint64* best_slot, int32* up, edge_id_t* forest, uint32* control, uint32* live) {
    const uint64* const winner = narrow ? best_key : best_slot;
    for (int64 first = static_cast<int64>(blockIdx.x) * BLOCK * PER_THREAD; first < count;
         first += static_cast<int64>(gridDim.x) * BLOCK * PER_THREAD) {
        uint64 bid[PER_THREAD];
        int32 other[PER_THREAD];
        edge_id_t id[PER_THREAD];
        bool root[PER_THREAD];
#pragma unroll
        for (int k = 0; k < PER_THREAD; ++k) {
            const int64 t = first + k * BLOCK + threadIdx.x;
            bid[k] = t < count ? winner[t] : NO_BID;
        }
#pragma unroll
        for (int k = 0; k < PER_THREAD; ++k) {
            const int64 t = first + k * BLOCK + threadIdx.x;
            other[k] = NO_LINK;
            id[k] = 0;
            if (bid[k] == NO_BID) continue;
            const Edge* const edge = pages.at(narrow ? static_cast<uint32>(bid[k]) : bid[k]);
            other[k] = edge->a == t ? edge->b : edge->a;
            id[k] = edge->id;
        }
#pragma unroll
        for (int k = 0; k < PER_THREAD; ++k) {
            const int64 t = first + k * BLOCK + threadIdx.x;
            root[k] = other[k] != NO_LINK && t < other[k] && winner[other[k]] == bid[k];
        }
        hook_on(shared, first, count, false, other, root, id, up, forest, control, live);
    }
}

// Every vertex or component learns the number of its root.  On most graphs that is a link or two away; but where
// weights are equal, or rise along a path, a million may form one chain.  So who has followed LONG_WAY links puts
// what each further one leads to in the place of its own parent: as all on the chain climb at once, every link then
// leads twice as far as the one before it, and who comes to the root leaves its number to those below.  The way of a
// thread may lead on among those whose turn has not come.  After CHASE links it gives up and reports so: the caller
// repeats until nobody did.
__device__ void learn_number(uint32 count, int32* up, int32* number, uint32* unfinished) {
    static_assert(LONG_WAY < CHASE, "who gives up has come nearer");
    bool left = false;
    for (int64 first = own_thread(); first < count; first += grid_threads() * PER_THREAD) {
        int32 found[PER_THREAD];  // what is above, or the number of the root
        bool climbing = true;
#pragma unroll
        for (int k = 0; k < PER_THREAD; ++k) {
            const int64 t = first + k * grid_threads();
            found[k] = t < count ? up[t] : +DEAD;
        }
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
                left = true;
            } else {
                number[t] = learned(found[k]);
            }
        }
    }
    if (left) *unfinished = 1;  // race-allowed: every writer writes 1
}

// The same until nobody gives up.  `unfinished` are three words that take turns, all 0 at first, and `chases` is how
// many turns there were.  What the caller does `meanwhile`, it does in the first.  All threads of all blocks must call.
template <typename Meanwhile, typename Barrier>
__device__ __forceinline__ void learn_numbers(uint32 count, int32* up, int32* number, uint32* unfinished,
                                              uint32& chases, const Meanwhile& meanwhile, const Barrier& barrier) {
    for (uint32 more = 1, first = 1; more != 0; first = 0, ++chases) {
        uint32* const mine = &unfinished[chases % 3];
        learn_number(count, up, number, mine);
        if (first != 0) meanwhile();
        barrier();
        more = current(mine);
        // A barrier lies between the last reader of this word and its reset, and another before its next use.
        if (own_thread() == 0) unfinished[(chases + 2) % 3] = 0;
    }
}

// Every component of before the rounds learns what became of it in all of them, by the numbers that each has left in
// the chain.  The live ones that are left are numbered from `last` on; the retired keep their numbers.
__device__ void shorten_chain(const Shared& shared, uint32 count, int32* chain, uint32 levels, int32 last) {
    for (uint32 first = static_cast<uint32>(own_thread()); first < count; first += grid_threads() * LABELS) {
        int32 component[LABELS];
        load_labels(chain, first, static_cast<int32>(count), component);
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
        load_labels(label, first, vertices, component);
#pragma unroll
        for (int k = 0; k < LABELS; ++k) {
            if (component[k] != DEAD) label[first + k * grid_threads()] = chain[component[k]];
        }
    }
}

#endif
