/*
The certificate of shortest distances, from the distances alone and without a second search; and the canonical
predecessors, which the same look at every arc brings to light.

An arc u->v is tight if d(u) + w = d(v).  Distances are right exactly if the source has distance 0, no arc can be
relaxed (so none is too high), and tight arcs lead to every reached vertex (so none is too low).  A tight
arc from a nearer vertex, d(u) < d(v), cannot be part of a cycle: it is its head's predecessor, at level 0.  Tight
arcs between equal distances (zero weights, or sums absorbed by rounding) can: a cycle of them might lead to
itself alone. So where
only those are tight they are followed from vertices of level 0 on, breadth first, a level a round.

    offsets (n+1)  targets (arcs)  weights (arcs)   the graph, rows by tail; weights of 0 or more
    distance (n)   as the host holds them: uint64 for integer weights, float64 for floats, or float32 where DISTANCE is
                   defined so; the largest number, infinity for floats, means not reached.  All sums are taken in this
                   type
    hold (n)       level << 32 | u for the predecessor u of a vertex, the least offered so far; NOTHING
    items          vertex << 32 | piece: the pieces of TILE arcs of the rows to be followed, one level after the other
    found[level % 3]   the items of a level; the next level's count is clear when its round begins
    relaxable, wraps (1)   the first arc that can be relaxed, and the first whose sum is no distance and whose head is
                   not reached (which refutes integers, and is right for floats: the sum is infinite); ~0 if none
    loose (2)      how many reached vertices have no predecessor, and the first of them
    barrier (3)    words of grid_barrier_or_stop(), 0 before the launch

Invariants.  A hold only falls, and its upper half is the level, so an offer of a later round never displaces one of an
earlier round: within a level the smallest tail stays, whatever the order of the offers.  The one offer that replaces
NOTHING puts the vertex into the queue, so every vertex is followed once.

In launch order: check_arcs, find_loose; where some are loose, begin_levels, follow_levels, find_loose; and for the
predecessors, name_tails.

Source: L. R. Ford, "Network flow theory", RAND P-923, 1956 (the conditions).
*/
#include "csr.cuh"

constexpr int TILE = 1024;  // consecutive arcs that a warp takes; a longer row is followed in pieces of so many
constexpr uint64 NOTHING = ~0ull;  // levels and vertices are below 2^31

// ------------------------------------------------------------------ distances

// The type that real weights are summed in.
#ifndef DISTANCE
#define DISTANCE float64
#endif

// A weight in the type of distances.
__device__ __forceinline__ DISTANCE as_distance(float32 w) { return w; }
__device__ __forceinline__ DISTANCE as_distance(float64 w) { return static_cast<DISTANCE>(w); }
template <typename Integer>
__device__ __forceinline__ uint64 as_distance(Integer w) { return static_cast<uint64>(w); }

typedef decltype(as_distance(weight_t())) distance_t;

// Something that is no number counts as reached, as on the host; then it has no predecessor.
__device__ __forceinline__ bool reached(uint64 d) { return d != ~0ull; }
__device__ __forceinline__ bool reached(float32 d) { return __float_as_uint(d) != 0x7f800000u; }
__device__ __forceinline__ bool reached(float64 d) { return __double_as_longlong(d) != 0x7ff0000000000000ll; }

// Kinds of arc: not tight; tight from a nearer vertex; tight at equal distance; relaxable; the sum is no distance of
// this type (it wrapped or is infinite), and the head is not reached.
constexpr int32 SLACK = 0, NEARER = 1, LEVEL = 2, RELAXABLE = 3, WRAPS = 4;

// The kind of an arc of weight w from a reached vertex at distance `near` to one at distance `held`.
__device__ __forceinline__ int32 kind_of(distance_t near, weight_t w, distance_t held) {
    const distance_t far = near + as_distance(w);
    if (far < near || !reached(far)) return reached(held) ? SLACK : WRAPS;
    if (far < held) return RELAXABLE;
    if (far != held) return SLACK;
    return near < held ? NEARER : LEVEL;
}

// ------------------------------------------------------------------ the arcs

// A graph with the distances that are to be certified.
struct Solved : Graph {
    const distance_t* __restrict__ distance;
};

// Call visit(kind, u, v, arc) for every arc u->v, all lanes of a warp together; SLACK marks a lane without one.
template <typename Visit>
__device__ __forceinline__ void for_each_arc(const Solved& graph, Visit visit) {
    walk_arcs<TILE>(graph.offsets, graph.vertices, 0, graph.arcs, [&](int32 u, index_t arc, bool there) {
        int32 kind = SLACK, v = 0;
        const distance_t near = graph.distance[u];
        if (there && reached(near)) {
            v = graph.targets[arc];
            kind = kind_of(near, graph.weights[arc], graph.distance[v]);
        }
        visit(kind, u, v, arc);
    });
}

// Look at every arc: it refutes the distances if it can be relaxed; the nearer tail of a tight one becomes a
// predecessor.
// Launch: any grid of whole warps.  Lowers hold, *relaxable, *wraps.
extern "C" __global__ void verify_distances_check_arcs(int32 vertices, index_t arcs,
                                                       const index_t* __restrict__ offsets,
                                                       const int32* __restrict__ targets,
                                                       const weight_t* __restrict__ weights,
                                                       const distance_t* __restrict__ distance, uint64* hold,
                                                       uint64* relaxable, uint64* wraps) {
    const Solved graph = {{vertices, arcs, offsets, targets, weights}, distance};
    for_each_arc(graph, [&](int32 kind, int32 u, int32 v, index_t arc) {
        if (kind == NEARER) lower_to(&hold[v], static_cast<uint64>(u));
        if (kind == RELAXABLE) lower_to(relaxable, static_cast<uint64>(arc));
        if (kind == WRAPS) lower_to(wraps, static_cast<uint64>(arc));
    });
}

// Count the reached vertices without a predecessor, and find the first.
// Launch: any grid of whole warps.  Adds to loose[0], lowers loose[1].
extern "C" __global__ void verify_distances_find_loose(int32 vertices, const distance_t* __restrict__ distance,
                                                       const uint64* __restrict__ hold, uint32* loose) {
    uint32 mine = 0;
    for (int64 v = grid_thread(); v < vertices; v += grid_threads()) {
        if (hold[v] != NOTHING || !reached(distance[v])) continue;
        lower_to(&loose[1], static_cast<uint32>(v));
        ++mine;
    }
    warp_reserve(&loose[0], mine);
}

// ------------------------------------------------------------------ levels

// Offer v the tail u at this level, if the lane `offers` it; if v had none before, the pieces of its row join `items`.
// All lanes must call.
__device__ __forceinline__ void offer(const Solved& graph, uint64* hold, uint64* items, uint32* count, bool offers,
                                      uint32 level, int32 u, int32 v) {
    uint32 pieces = 0;
    const uint64 offered = static_cast<uint64>(level) << 32 | static_cast<uint32>(u);
    if (offers && offered < *static_cast<volatile uint64*>(&hold[v])) {  // race-allowed: it only falls; losers may try
        if (atomicMin(&hold[v], offered) == NOTHING) {
            pieces = static_cast<uint32>((graph.offsets[v + 1] - graph.offsets[v] + TILE - 1) / TILE);
        }
    }
    if (!__any_sync(FULL_MASK, pieces != 0)) return;
    const uint32 slot = warp_reserve(count, pieces);
    for (uint32 piece = 0; piece < pieces; ++piece) items[slot + piece] = static_cast<uint64>(v) << 32 | piece;
}

// Level 1: what has no predecessor is offered the vertices of level 0 from which a level arc leads to it.
// Launch: any grid of whole warps.  Lowers hold, writes items, adds to found[1].
extern "C" __global__ void verify_distances_begin_levels(int32 vertices, index_t arcs,
                                                         const index_t* __restrict__ offsets,
                                                         const int32* __restrict__ targets,
                                                         const weight_t* __restrict__ weights,
                                                         const distance_t* __restrict__ distance, uint64* hold,
                                                         uint64* items, uint32* found) {
    const Solved graph = {{vertices, arcs, offsets, targets, weights}, distance};
    for_each_arc(graph, [&](int32 kind, int32 u, int32 v, index_t) {
        // Others may lower the tail's hold meanwhile, but never to level 0.
        const bool offers = kind == LEVEL && *static_cast<volatile uint64*>(&hold[u]) >> 32 == 0;  // race-allowed: so
        offer(graph, hold, items, &found[1], offers, 1, u, v);
    });
}

// All further levels: the vertices of the last one are offered to the heads of their level arcs.
// Launch: cooperative, any grid of whole warps; a barrier a level.  A warp takes a piece of a row.  Lowers hold, writes
// items, found.
extern "C" __global__ void verify_distances_follow_levels(int32 vertices, index_t arcs,
                                                          const index_t* __restrict__ offsets,
                                                          const int32* __restrict__ targets,
                                                          const weight_t* __restrict__ weights,
                                                          const distance_t* __restrict__ distance, uint64* hold,
                                                          uint64* items, uint32* found, uint32* barrier) {
    const Solved graph = {{vertices, arcs, offsets, targets, weights}, distance};
    uint32 begin = 0, end = found[1], barriers = 0;
    for (uint32 level = 2; begin < end; ++level) {
        if (grid_thread() == 0) found[(level + 1) % 3] = 0;  // everybody has read it before the last barrier
        for (int64 i = begin + grid_thread() / WARP; i < end; i += grid_threads() / WARP) {
            const uint64 item = items[i];
            const int32 u = static_cast<int32>(item >> 32);
            const int64 first = offsets[u] + static_cast<int64>(static_cast<uint32>(item)) * TILE;
            const int64 last = first + TILE < offsets[u + 1] ? first + TILE : static_cast<int64>(offsets[u + 1]);
            const distance_t near = distance[u];
            for (int64 at = first; at < last; at += WARP) {
                const int64 arc = at + lane_id();
                const int32 v = arc < last ? targets[arc] : u;
                const bool offers = arc < last && kind_of(near, weights[arc], distance[v]) == LEVEL;
                offer(graph, hold, items + end, &found[level % 3], offers, level, u, v);
            }
        }
        if (grid_barrier_or_stop(barrier, &barriers)) return;
        begin = end;
        end += *static_cast<volatile uint32*>(&found[level % 3]);
    }
}

// ------------------------------------------------------------------ predecessors

// From holds to predecessors: the tail alone; -1, which NOTHING is as a signed number, for the source too.
// Launch: any grid.  Writes hold.
extern "C" __global__ void verify_distances_name_tails(int32 vertices, int32 source, uint64* hold) {
    for (int64 v = grid_thread(); v < vertices; v += grid_threads()) {
        if (v == source) {
            hold[v] = NOTHING;
        } else if (hold[v] != NOTHING) {
            hold[v] = static_cast<uint32>(hold[v]);
        }
    }
}
