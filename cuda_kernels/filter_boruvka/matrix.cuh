/*
The end of phase 4 of filter_boruvka.cu: when few components are left, most of the listed edges are parallel to a
lighter one.  A matrix then takes the lightest bid between each two components, and the last rounds read its rows
instead of the list.  Links of trees are worked out by every block for itself, in shared memory, so that a round has
one barrier.
*/
#ifndef GPUGRAPH_FILTER_BORUVKA_MATRIX_CUH
#define GPUGRAPH_FILTER_BORUVKA_MATRIX_CUH

#include "filter_boruvka/rounds.cuh"

// Two bids, 16 bytes, the most that one load brings.
struct alignas(16) BidPair {
    uint64 bid[2];
};

constexpr uint32 AT_ONCE = 2 * WARP * IN_ROW;  // bids of a row that a warp reads at once

// Bids are (weight, name) in a word.  Blocks are not more than a barrier apart: the bids of the rows in a round are
// still read when those of the next are written, and those of the roots are forgotten a round before; so they take
// turns.
struct Matrix {
    uint64* cell;  // the lightest bid of a row's component at a column's; then those of rows, and of roots
    uint32 size;   // components

    __device__ __forceinline__ uint32 stride() const { return (size + AT_ONCE - 1) / AT_ONCE * AT_ONCE; }
    __device__ __forceinline__ uint64* at(int32 a, int32 b) const { return cell + a * stride() + b; }
    __device__ __forceinline__ uint64* row_bids(uint32 round) const { return at(size, 0) + round % 2 * size; }
    __device__ __forceinline__ uint64* root_bids(uint32 round) const { return at(size, 0) + (2 + round % 3) * size; }
    __device__ __forceinline__ uint32 words() const { return size * (stride() + 5); }
};

// The edges of a warp as the matrix takes them, each with a word that names it and orders edges as their ids do: on a
// list in order its slot,
template <typename Slots>
struct NamedBySlot {
    static constexpr bool IN_ORDER = true;
    const Slots& pages;
    Holding held;

    __device__ __forceinline__ uint32 edges() const { return held.edges; }
    __device__ __forceinline__ Edge read(uint32 i, uint32& name) const {
        const slot_t slot = held.slot(i);
        name = static_cast<uint32>(slot);
        return *pages.at(slot);
    }
    __device__ __forceinline__ edge_id_t id(uint32 name) const { return pages.at(name)->id; }
};

// and on one in no order its id; the warps of a block have even shares of its region.
struct NamedById {
    static constexpr bool IN_ORDER = false;
    const Edge* list;
    uint32 held;

    __device__ __forceinline__ NamedById(const Edge* region, uint64 in_region) {
        const uint32 warp = threadIdx.x / WARP, first = static_cast<uint32>(in_region * warp / WARPS);
        list = region + first;
        held = static_cast<uint32>(in_region * (warp + 1) / WARPS) - first;
    }
    __device__ __forceinline__ uint32 edges() const { return held; }
    __device__ __forceinline__ Edge read(uint32 i, uint32& name) const {
        const Edge edge = list[i];
        name = static_cast<uint32>(edge.id);
        return edge;
    }
    __device__ __forceinline__ edge_id_t id(uint32 name) const { return static_cast<edge_id_t>(name); }
};

// Every edge that joins two components bids in both their rows.  `number` is what became of the components of the round
// before, or nullptr.
template <typename Named>
__device__ void fill_matrix(const Named& named, const int32* number, const Matrix& matrix) {
    for (uint32 first = 0; first < named.edges(); first += WARP * PER_THREAD) {
        Edge edge[PER_THREAD];
        uint64 bid[PER_THREAD];
        bool joins[PER_THREAD];
#pragma unroll
        for (int k = 0; k < PER_THREAD; ++k) {
            const uint32 i = first + k * WARP + lane_id();
            joins[k] = i < named.edges();
            uint32 name;
            edge[k] = named.read(joins[k] ? i : first, name);
            bid[k] = static_cast<uint64>(edge[k].key) << 32 | name;
        }
        if (number != nullptr) {
#pragma unroll
            for (int k = 0; k < PER_THREAD; ++k) {
                edge[k].a = number[edge[k].a];
                edge[k].b = number[edge[k].b];
            }
        }
        uint64 at_a[PER_THREAD], at_b[PER_THREAD];
#pragma unroll
        for (int k = 0; k < PER_THREAD; ++k) {
            joins[k] = (!Named::IN_ORDER || lightest_of_neighbours(edge[k])) && joins[k] && edge[k].a != edge[k].b;
            at_a[k] = joins[k] ? *matrix.at(edge[k].a, edge[k].b) : 0;  // race-allowed: the value only falls
            at_b[k] = joins[k] ? *matrix.at(edge[k].b, edge[k].a) : 0;  // race-allowed: the value only falls
        }
#pragma unroll
        for (int k = 0; k < PER_THREAD; ++k) {
            if (bid[k] < at_a[k]) atomicMin(matrix.at(edge[k].a, edge[k].b), bid[k]);
            if (bid[k] < at_b[k]) atomicMin(matrix.at(edge[k].b, edge[k].a), bid[k]);
        }
    }
}

// Each row bids for the root of its component with the lightest edge that leads to that of another, and notes its bid
// and where that leads.  A row's end is padded, with words that are no bids.
__device__ void bid_by_rows(const Matrix& matrix, const int32* root, uint64* bids, uint64* row_bid, int32* row_to) {
    for (uint32 row = threadIdx.x / WARP * gridDim.x + own_block(); row < matrix.size; row += gridDim.x * WARPS) {
        const int32 own = root[row];
        const BidPair* pairs = reinterpret_cast<const BidPair*>(matrix.at(static_cast<int32>(row), 0)) + lane_id();
        uint64 least = NO_BID;
        int32 to = NO_LINK;
        for (uint32 column = 2 * lane_id(); column < matrix.stride(); column += AT_ONCE, pairs += AT_ONCE / 2) {
            BidPair pair[IN_ROW];
#pragma unroll
            for (int k = 0; k < IN_ROW; ++k) pair[k] = pairs[k * WARP];
#pragma unroll
            for (int k = 0; k < 2 * IN_ROW; ++k) {
                const uint64 bid = pair[k / 2].bid[k % 2];
                const int32 there = column + k / 2 * (2 * WARP) + k % 2;
                if (bid < least && root[there] != own) {
                    least = bid;
                    to = there;
                }
            }
        }
        const uint64 lightest = warp_min(least);
        if (lightest == NO_BID ? lane_id() == 0 : lightest == least) {
            row_bid[row] = lightest;
            row_to[row] = to;
            if (lightest != NO_BID) atomicMin(&bids[own], lightest);
        }
    }
}

// The last rounds, on a matrix, until no component joins another.  A component is not renumbered: its row bids for its
// root.  Leaves the root of each in shared.root.  `leads_to` has two words for each component.  All threads of all
// blocks must call.
template <typename Named, typename Barrier>
__device__ void finish_on_matrix(Shared& shared, const Matrix& matrix, const Named& named, const int32* number,
                                 int32* leads_to, edge_id_t* forest, uint32* forest_edges, const Barrier& barrier) {
    fill_matrix(named, number, matrix);
    barrier();
    for (uint32 t = threadIdx.x; t < matrix.size; t += BLOCK) shared.root[t] = static_cast<int32>(t);
    __syncthreads();
    uint32 round = 0;
    for (uint32 trees = matrix.size, joined = 1; trees > 1 && joined != 0; trees -= joined, ++round) {
        uint64 *const row_bid = matrix.row_bids(round), *const bids = matrix.root_bids(round);
        int32* const row_to = leads_to + round % 2 * matrix.size;
        bid_by_rows(matrix, shared.root, bids, row_bid, row_to);
        for (int64 t = own_thread(); t < matrix.size; t += grid_threads()) matrix.root_bids(round + 1)[t] = NO_BID;
        for (uint32 t = threadIdx.x; t < matrix.size; t += BLOCK) shared.other[t] = NO_LINK;
        barrier();
        // The row that has won gives the root its link.  A bid is of two rows, and these of two roots.
        for (uint32 first = threadIdx.x; first < matrix.size; first += BLOCK * PER_THREAD) {
            int32 own[PER_THREAD], to[PER_THREAD];
            uint64 bid[PER_THREAD], least[PER_THREAD];
#pragma unroll
            for (int k = 0; k < PER_THREAD; ++k) {
                const uint32 t = first + k * BLOCK < matrix.size ? first + k * BLOCK : first;
                own[k] = shared.root[t];
                bid[k] = row_bid[t];
                to[k] = row_to[t];
                least[k] = bids[own[k]];
            }
#pragma unroll
            for (int k = 0; k < PER_THREAD; ++k) {
                if (bid[k] == NO_BID || bid[k] != least[k]) continue;
                shared.other[own[k]] = shared.root[to[k]];
                shared.won[own[k]] = static_cast<uint32>(bid[k]);
            }
        }
        __syncthreads();
        // Of two that picked each other the smaller stays a root.
        const auto above = [&](int32 t) {
            const int32 other = shared.other[t];
            return other == NO_LINK || (t < other && shared.other[other] == t) ? t : other;
        };
        joined = 0;
        for (uint32 first = 0; first < matrix.size; first += BLOCK) {
            const int32 t = static_cast<int32>(first + threadIdx.x);
            bool joins = false;
            if (t < matrix.size) {
                int32 root = shared.root[t];
                const bool was_root = root == t;
                for (int32 next = above(root); next != root; next = above(root)) root = next;
                shared.root[t] = root;
                joins = was_root && root != t;
            }
            joined += __syncthreads_count(joins);
        }
    }
    for (int64 first = own_thread() / WARP * WARP; first < matrix.size; first += grid_threads()) {
        const int64 t = first + lane_id();
        const bool joined = t < matrix.size && shared.root[t] != t;
        const uint32 place = warp_append(forest_edges, joined);
        if (joined) forest[place] = named.id(shared.won[t]);
    }
    if (threadIdx.x == 0) shared.round += round;
}

#endif
