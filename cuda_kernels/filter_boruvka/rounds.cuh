/*
Phases 4 and 6 of filter_boruvka.cu: the listed edges bid for the components at their ends, and the winners hook them.
On the paged list of light edges a bid names a slot, from which the component learns where it leads; on the list of
heavy edges, which is in no order, it names an id, and the edge that has won hooks the component.
*/
#ifndef GPUGRAPH_FILTER_BORUVKA_ROUNDS_CUH
#define GPUGRAPH_FILTER_BORUVKA_ROUNDS_CUH

#include "filter_boruvka/hooking.cuh"

// ------------------------------------------------------------------ light edges

// Whether no lane next to this one is seen to hold a lighter edge between the same two components, which makes this one
// needless.  Lanes hold edges in their order.  All 32 lanes must call.
__device__ __forceinline__ bool lightest_of_neighbours(const Edge& edge) {
    const int32 a = __shfl_up_sync(FULL_MASK, edge.a, 1), b = __shfl_up_sync(FULL_MASK, edge.b, 1);
    const weight_key_t key = __shfl_up_sync(FULL_MASK, edge.key, 1);
    const bool parallel = lane_id() > 0 && ((a == edge.a && b == edge.b) || (a == edge.b && b == edge.a));
    const unsigned after_lighter = __ballot_sync(FULL_MASK, parallel && key <= edge.key);
    const unsigned after_heavier = __ballot_sync(FULL_MASK, parallel && key > edge.key);
    return ((after_lighter | after_heavier >> 1) >> lane_id() & 1) == 0;
}

// A warp drops those of its edges that lie inside a component, in order, and the others bid at both ends.  `number`
// is what became of the components of the round before; nullptr in the first round.  Returns what it holds then.
template <typename Slots>
__device__ Holding bid_by_slots(const Slots& pages, const Holding& held, bool narrow, const int32* number,
                                uint64* best_key) {
    Holding kept = held;
    if (number != nullptr) kept.first = kept.edges = 0;
    for (uint32 first = 0; first < held.edges; first += WARP * PER_THREAD) {
        Edge edge[PER_THREAD];
        uint32 place[PER_THREAD];
        bool joins[PER_THREAD];
#pragma unroll
        for (int k = 0; k < PER_THREAD; ++k) {
            place[k] = first + k * WARP + lane_id();
            joins[k] = place[k] < held.edges;
            edge[k] = *pages.at(held.slot(joins[k] ? place[k] : first));
        }
        if (number != nullptr) {
#pragma unroll
            for (int k = 0; k < PER_THREAD; ++k) {
                edge[k].a = number[edge[k].a];
                edge[k].b = number[edge[k].b];
            }
            __syncwarp();  // all have read what is overwritten now
#pragma unroll
            for (int k = 0; k < PER_THREAD; ++k) {
                joins[k] = lightest_of_neighbours(edge[k]) && joins[k] && edge[k].a != edge[k].b;
                const unsigned joining = __ballot_sync(FULL_MASK, joins[k]);
                kept.first += __popc(joining & __ballot_sync(FULL_MASK, place[k] < held.first));
                place[k] = kept.edges + __popc(joining & lanes_before());
                kept.edges += __popc(joining);
                if (joins[k]) *pages.at(kept.slot(place[k])) = edge[k];
            }
        }
        uint64 bid[PER_THREAD], at_a[PER_THREAD], at_b[PER_THREAD];
#pragma unroll
        for (int k = 0; k < PER_THREAD; ++k) {
            const uint64 key = edge[k].key;
            bid[k] = narrow ? key << 32 | static_cast<uint32>(kept.slot(place[k])) : key;
            at_a[k] = joins[k] ? best_key[edge[k].a] : 0;  // race-allowed: the value only falls
            at_b[k] = joins[k] ? best_key[edge[k].b] : 0;  // race-allowed: the value only falls
        }
#pragma unroll
        for (int k = 0; k < PER_THREAD; ++k) {
            if (bid[k] < at_a[k]) atomicMin(&best_key[edge[k].a], bid[k]);
            if (bid[k] < at_b[k]) atomicMin(&best_key[edge[k].b], bid[k]);
        }
    }
    return kept;
}

// Of the edges of least weight, where weight and slot do not fit one word, the least slot.
template <typename Slots>
__device__ void bid_again_by_slots(const Slots& pages, const Holding& held, const uint64* best_key,
                                   uint64* best_slot) {
    for (uint32 i = lane_id(); i < held.edges; i += WARP) {
        const uint64 slot = held.slot(i);
        const Edge edge = *pages.at(slot);
        if (best_key[edge.a] == edge.key) lower_to(&best_slot[edge.a], slot);
        if (best_key[edge.b] == edge.key) lower_to(&best_slot[edge.b], slot);
    }
}

// ------------------------------------------------------------------ heavy edges

__device__ __forceinline__ uint64 bid_of(const Edge& edge) {
    return PACKED ? static_cast<uint64>(edge.key) << 32 | static_cast<uint32>(edge.id) : edge.key;
}

// Edges inside a component are dropped from the block's region, the others bid at both ends.  `renumbered` is what
// became of the components of the round before; nullptr in the first round.  If there is a giant component, most have
// an end in it, or in what became of it: so many atomics of one word would wait for each other, and the block agrees
// first on what it bids there.  Returns the edges kept.  All threads must call.
__device__ uint32 compact_and_bid(Shared& shared, Edge* region, uint32 held, const int32* renumbered, int32& giant,
                                  uint64* best_key) {
    uint32 kept = 0;
    uint64 at_giant = NO_BID;
    if (renumbered != nullptr && giant >= 0) giant = renumbered[giant];
    for (uint32 first = 0; first < held; first += BLOCK * PER_THREAD) {
        Edge edge[PER_THREAD];
        bool joins[PER_THREAD];
#pragma unroll
        for (int k = 0; k < PER_THREAD; ++k) {
            const uint32 i = first + k * BLOCK + threadIdx.x;
            joins[k] = i < held;
            edge[k] = region[joins[k] ? i : first];
        }
        if (renumbered != nullptr) {
            uint32 mine = 0;
#pragma unroll
            for (int k = 0; k < PER_THREAD; ++k) {
                edge[k].a = renumbered[edge[k].a];
                edge[k].b = renumbered[edge[k].b];
            }
#pragma unroll
            for (int k = 0; k < PER_THREAD; ++k) {
                joins[k] = joins[k] && edge[k].a != edge[k].b;
                mine += joins[k];
            }
            uint64 total;
            uint32 slot = kept + static_cast<uint32>(block_scan(shared, mine, &total));
#pragma unroll
            for (int k = 0; k < PER_THREAD; ++k) {
                if (joins[k]) region[slot++] = edge[k];
            }
            kept += static_cast<uint32>(total);
        }
        uint64 at_a[PER_THREAD], at_b[PER_THREAD];
#pragma unroll
        for (int k = 0; k < PER_THREAD; ++k) {
            const bool to_giant = edge[k].a == giant || edge[k].b == giant;
            if (to_giant && joins[k] && bid_of(edge[k]) < at_giant) at_giant = bid_of(edge[k]);
            at_a[k] = joins[k] && edge[k].a != giant ? best_key[edge[k].a] : 0;  // race-allowed: the value only falls
            at_b[k] = joins[k] && edge[k].b != giant ? best_key[edge[k].b] : 0;  // race-allowed: the value only falls
        }
#pragma unroll
        for (int k = 0; k < PER_THREAD; ++k) {
            const uint64 bid = bid_of(edge[k]);
            if (bid < at_a[k]) atomicMin(&best_key[edge[k].a], bid);
            if (bid < at_b[k]) atomicMin(&best_key[edge[k].b], bid);
        }
    }
    if (giant >= 0) {
        at_giant = warp_min(at_giant);
        __syncthreads();
        if (lane_id() == 0) shared.counts[threadIdx.x / WARP] = at_giant;
        __syncthreads();
        if (threadIdx.x == 0) {
            for (int warp = 1; warp < WARPS; ++warp) {
                if (shared.counts[warp] < at_giant) at_giant = shared.counts[warp];
            }
            if (at_giant != NO_BID) lower_to(&best_key[giant], at_giant);
        }
    }
    return renumbered == nullptr ? held : kept;
}

// Of the edges of least weight, whose wide keys are equal, the least id.
__device__ void bid_again(const Edge* region, uint32 held, const uint64* best_key, uint64* best_id) {
    for (uint32 i = threadIdx.x; i < held; i += BLOCK) {
        const Edge edge = region[i];
        const uint64 id = static_cast<uint64>(edge.id);
        if (best_key[edge.a] == edge.key) lower_to(&best_id[edge.a], id);
        if (best_key[edge.b] == edge.key) lower_to(&best_id[edge.b], id);
    }
}

// The components of a round on a list in no order, whose bids name edges: each that has won hooks its component on the
// other, and of two that picked each other, which is by the same edge, the smaller is a root.  Who got no bid retires.
// All threads must call.
__device__ void hook_by_edges(Shared& shared, uint32 count, const Edge* region, uint32 held, const uint64* best_key,
                              const uint64* best_id, int32* up, edge_id_t* forest, uint32* control, uint32* live) {
    for (uint32 first = 0; first < held; first += BLOCK * PER_THREAD) {
        Edge edge[PER_THREAD];
        uint64 at_a[PER_THREAD], at_b[PER_THREAD];
        bool wins_a[PER_THREAD], wins_b[PER_THREAD];
        Fates<PER_THREAD> fates;
        Place to[PER_THREAD];
#pragma unroll
        for (int k = 0; k < PER_THREAD; ++k) {
            const uint32 i = first + k * BLOCK + threadIdx.x;
            edge[k] = region[i < held ? i : first];
        }
#pragma unroll
        for (int k = 0; k < PER_THREAD; ++k) {
            at_a[k] = best_key[edge[k].a];
            at_b[k] = best_key[edge[k].b];
        }
#pragma unroll
        for (int k = 0; k < PER_THREAD; ++k) {
            const uint64 bid = bid_of(edge[k]), id = static_cast<uint64>(edge[k].id);
            const bool there = first + k * BLOCK + threadIdx.x < held;
            wins_a[k] = there && at_a[k] == bid && (PACKED || best_id[edge[k].a] == id);
            wins_b[k] = there && at_b[k] == bid && (PACKED || best_id[edge[k].b] == id);
            fates.hooked[k] = wins_a[k] || wins_b[k];
            fates.root[k] = wins_a[k] && wins_b[k];
            fates.retired[k] = false;
        }
        take_places(shared, fates, control, live, to);
#pragma unroll
        for (int k = 0; k < PER_THREAD; ++k) {
            if (!wins_a[k] && !wins_b[k]) continue;
            const int32 a = edge[k].a, b = edge[k].b;
            const bool a_hooks = wins_a[k] && !(wins_b[k] && a < b);
            up[a_hooks ? a : b] = a_hooks ? b : a;
            if (wins_a[k] && wins_b[k]) up[a_hooks ? b : a] = live_root(to[k].number);
            forest[to[k].edge] = edge[k].id;
        }
    }
    for (int64 first = own_thread() / WARP * WARP; first < count; first += grid_threads()) {
        const int64 t = first + lane_id();
        const bool retires = t < count && (PACKED ? best_key[t] : best_id[t]) == NO_BID;
        const uint32 final = warp_append(&control[FINALS], retires);
        if (retires) up[t] = retired_root(final);
    }
}

#endif
