/*
The certificate of a minimum spanning forest, from its edges alone and without a second algorithm: they close no cycle,
every other edge of the graph has both ends in one tree, and it is the heaviest on the cycle that it would close.

Boruvka's rounds over the forest's own edges build a hierarchy: the leaves are the vertices, the nodes of the next level
are what the first round merged them to, and so on.  Every node keeps the edge it chose.  The heaviest edge on the way
from u to v through the tree is the heaviest among the choices on the way from leaf u and leaf v to where they meet, and
that is at most log2 n levels up, be the tree a path of a million edges.  Then all arcs of the graph stream by, and each
climbs from both its ends.

    offsets (n+1)  targets (arcs)  weights (arcs)   the graph, both arcs of every edge, rows by target
    edges (k)          the forest to be checked: ids that should ascend, each the position of an arc u->v, u < v
    ends (k)           the components that each edge joins in this round; INSIDE once it lies in one
    leaves (n)         the lowest level of the hierarchy
    inner (2 c)        the levels above it, one after the other, c the nodes of the first of them
    level (count)      the nodes of the round at work: `leaves`, or a part of `inner`
    changed (steps)    whether a step of follow moved a link
    malformed, closing, violation (1)   what was found: an id that is none, the first edge that closes a cycle (NO_EDGE
                       if none does), the first arc that refutes the forest (~0 if none does)

Invariants.  Edges compare by (weight, id); as ids ascend, the position in `edges` serves as the id: 32 bits for any
graph.  A node's parent passes through three states in a round: the neighbour that its edge leads to, then the root
of its chain (both numbers in its own level, >= 0), then the complement of the node above it in `inner` (< 0).  All
leaves of a tree end at one node, equally high.  The chosen edges close no cycle, for (weight, id) is a total order; so
an edge that comes to lie in one component without having been chosen closes one.

Rounds, in launch order: reset, bid, (break_ties), link, hook, follow, number, settle, relabel.

Source: V. King, "A simpler minimum spanning tree verification algorithm", Algorithmica 18, 1997 (the hierarchy and why
it keeps heaviest edges; after J. Komlos, 1985); O. Boruvka, 1926.  King answers all edges in linear time; climbing
takes O(log n) for each, but runs for all of them at once.
*/
#include "common.cuh"

constexpr int TILE = 1024;  // consecutive arcs that a warp takes
constexpr int JUMPS = 8;    // links followed in one launch of verify_forest_follow

// A packed key ends in a position, which is below 2^31; a wide one may be NO_KEY_YET; Node::edge decides.
constexpr uint64 NO_KEY_YET = ~0ull;
constexpr uint32 NO_EDGE = ~0u;
constexpr int32 INSIDE = -1;  // nodes are numbered from 0
constexpr int32 NO_PARENT = static_cast<int32>(0x80000000u);  // the complement of no node

// A key of 32 bits and an edge's position fit one atomicMin; wider ones go in two passes.
constexpr bool PACKED = sizeof(weight_key_t) == 4;

struct alignas(16) Node {
    uint64 key;    // the lightest edge that leaves the component: its key, and below it its position if PACKED
    uint32 edge;   // its position otherwise
    int32 parent;  // NO_PARENT if no edge leaves the component: it is a whole tree
};

// A node as one load of 16 bytes takes it.
struct alignas(16) NodeWords {
    uint64 key, edge_and_parent;
};

struct alignas(8) Ends {
    int32 a, b;
};

// ------------------------------------------------------------------ helpers

__device__ __forceinline__ uint64 bid_of(weight_key_t key, uint32 edge) {
    return PACKED ? static_cast<uint64>(key) << 32 | edge : key;
}

__device__ __forceinline__ uint32 chosen_edge(const Node& node) {
    return PACKED ? static_cast<uint32>(node.key) : node.edge;
}

__device__ __forceinline__ bool heavier(const Node& a, const Node& b) {
    return a.key > b.key || (!PACKED && a.key == b.key && a.edge > b.edge);
}

__device__ __forceinline__ Node load_node(const Node* __restrict__ nodes, int32 t) {
    const NodeWords words = reinterpret_cast<const NodeWords*>(nodes)[t];
    return {words.key, static_cast<uint32>(words.edge_and_parent), static_cast<int32>(words.edge_and_parent >> 32)};
}

// Climb from leaves u and v until they meet.  Returns a node whose chosen edge is the heaviest on the forest's path
// from u to v; its parent is NO_PARENT if there is no path.
__device__ __forceinline__ Node heaviest_between(const Node* __restrict__ leaves, const Node* __restrict__ inner,
                                                 int32 u, int32 v) {
    Node a = load_node(leaves, u), b = load_node(leaves, v);
    Node heaviest = a;
    while (a.parent != NO_PARENT && b.parent != NO_PARENT) {
        if (heavier(a, heaviest)) heaviest = a;
        if (heavier(b, heaviest)) heaviest = b;
        if (a.parent == b.parent) return heaviest;
        a = load_node(inner, ~a.parent);
        b = load_node(inner, ~b.parent);
    }
    heaviest.parent = NO_PARENT;
    return heaviest;
}

// ------------------------------------------------------------------ the forest's edges

// Find the ends of the forest's edges; report if one is no arc u->v, u < v, or does not come after the one before it.
// Launch: any grid.  Writes ends, *malformed.
extern "C" __global__ void verify_forest_read_edges(uint32 count, int32 vertices, index_t arcs,
                                                    const index_t* __restrict__ offsets,
                                                    const int32* __restrict__ targets,
                                                    const int64* __restrict__ edges, Ends* ends, uint32* malformed) {
    for (int64 i = grid_thread(); i < count; i += grid_threads()) {
        const int64 id = edges[i];
        Ends found = {INSIDE, INSIDE};
        if (id >= 0 && id < arcs && (i == 0 || edges[i - 1] < id)) {
            const index_t arc = static_cast<index_t>(id);
            found = {row_of_arc(offsets, arc, 0, vertices - 1), targets[arc]};
        }
        ends[i] = found;
        if (found.a >= found.b) *malformed = 1;  // race-allowed: every writer writes 1
    }
}

// ------------------------------------------------------------------ a round

// The compiler of CUDA 13.0 unrolls a loop that loads and stores level[t].parent by four, and then stores the last
// three 12 bytes too far (it adds the member's offset twice).  Loops over nodes are therefore not unrolled.
#define ONE_BY_ONE _Pragma("unroll 1")

// Launch: any grid.  Writes level.
extern "C" __global__ void verify_forest_reset(int32 count, Node* level) {
    ONE_BY_ONE
    for (int64 t = grid_thread(); t < count; t += grid_threads()) level[t] = {NO_KEY_YET, NO_EDGE, NO_PARENT};
}

// Every edge bids at both its ends.
// Launch: any grid.  Lowers level.key.
extern "C" __global__ void verify_forest_bid(uint32 count, const int64* __restrict__ edges,
                                             const weight_t* __restrict__ weights, int32 weight_kind,
                                             const Ends* __restrict__ ends, Node* level) {
    const KeyMap key_of(weight_kind);
    for (int64 i = grid_thread(); i < count; i += grid_threads()) {
        const Ends at = ends[i];
        if (at.a == INSIDE) continue;
        const uint64 bid = bid_of(key_of(weights[edges[i]]), static_cast<uint32>(i));
        lower_to(&level[at.a].key, bid);
        lower_to(&level[at.b].key, bid);
    }
}

// Second pass of wide keys: the first of the edges of least weight.
// Launch: any grid.  Lowers level.edge.
extern "C" __global__ void verify_forest_break_ties(uint32 count, const int64* __restrict__ edges,
                                                    const weight_t* __restrict__ weights, int32 weight_kind,
                                                    const Ends* __restrict__ ends, Node* level) {
    const KeyMap key_of(weight_kind);
    for (int64 i = grid_thread(); i < count; i += grid_threads()) {
        const Ends at = ends[i];
        if (at.a == INSIDE) continue;
        const uint64 key = key_of(weights[edges[i]]);
        if (level[at.a].key == key) lower_to(&level[at.a].edge, static_cast<uint32>(i));
        if (level[at.b].key == key) lower_to(&level[at.b].edge, static_cast<uint32>(i));
    }
}

// The edge that a node has chosen gives it its link.  Positions are unique, so one thread writes.
// Launch: any grid.  Writes level.parent.
extern "C" __global__ void verify_forest_link(uint32 count, const Ends* __restrict__ ends, Node* level) {
    for (int64 i = grid_thread(); i < count; i += grid_threads()) {
        const Ends at = ends[i];
        if (at.a == INSIDE) continue;
        if (chosen_edge(level[at.a]) == i) level[at.a].parent = at.b;
        if (chosen_edge(level[at.b]) == i) level[at.b].parent = at.a;
    }
}

// Of two nodes that chose the same edge, the smaller becomes a root.
// Launch: any grid.  Writes level.parent.
extern "C" __global__ void verify_forest_hook(int32 count, Node* level) {
    ONE_BY_ONE
    for (int64 t = grid_thread(); t < count; t += grid_threads()) {
        const int32 other = level[t].parent;
        if (other == NO_PARENT || other < t) continue;
        // Only the smaller of a pair writes.  If `other` is the smaller of another pair, neither value it holds is t.
        if (level[other].parent == t) level[t].parent = static_cast<int32>(t);  // race-allowed: see above
    }
}

// Pointer jumping: every node links to its root.  Each launch follows up to JUMPS links, so the longest chain is at
// least JUMPS times shorter after it; a launch that follows one without change returns at once, so that the host need
// not ask.
// Launch: any grid, ceil(log_JUMPS count) + 1 times with step = 0, 1, ...  Writes level.parent, changed[step].
extern "C" __global__ void verify_forest_follow(int32 step, int32 count, Node* level, uint32* changed) {
    if (step > 0 && changed[step - 1] == 0) return;
    bool moved = false;
    ONE_BY_ONE
    for (int64 t = grid_thread(); t < count; t += grid_threads()) {
        const int32 start = level[t].parent;  // race-allowed: only thread t writes it
        if (start == NO_PARENT) continue;
        int32 root = start;
        for (int jump = 0; jump < JUMPS; ++jump) {
            const int32 next = level[root].parent;  // race-allowed: any value it holds leads to the same root
            if (next == root) break;
            root = next;
        }
        if (root == start) continue;
        level[t].parent = root;  // race-allowed: a shortcut to the same root
        moved = true;
    }
    if (moved) changed[step] = 1;  // race-allowed: every writer writes 1
}

// Every root becomes a node of the next level, which begins at inner[above].
// Launch: any grid of whole warps.  Writes level.parent of the roots, *above_count.
extern "C" __global__ void verify_forest_number(int32 count, int32 above, Node* level, uint32* above_count) {
    ONE_BY_ONE
    for (int64 first = grid_thread() - lane_id(); first < count; first += grid_threads()) {
        const int64 t = first + lane_id();
        const bool root = t < count && level[t].parent == t;
        const uint32 slot = warp_append(above_count, root);
        if (root) level[t].parent = ~(above + static_cast<int32>(slot));
    }
}

// The others learn their node of the next level from their roots.
// Launch: any grid.  Writes level.parent of all others.
extern "C" __global__ void verify_forest_settle(int32 count, Node* level) {
    ONE_BY_ONE
    for (int64 t = grid_thread(); t < count; t += grid_threads()) {
        const int32 root = level[t].parent;
        if (root >= 0) level[t].parent = level[root].parent;
    }
}

// Every edge learns the components it joins now.  One that lies in a component and was not chosen closes a cycle.
// Launch: any grid.  Writes ends, lowers *closing.
extern "C" __global__ void verify_forest_relabel(uint32 count, int32 above, const Node* __restrict__ level, Ends* ends,
                                                 uint32* closing) {
    for (int64 i = grid_thread(); i < count; i += grid_threads()) {
        const Ends at = ends[i];
        if (at.a == INSIDE) continue;
        const Node a = load_node(level, at.a), b = load_node(level, at.b);
        if (a.parent != b.parent) {
            ends[i] = {~a.parent - above, ~b.parent - above};
            continue;
        }
        ends[i] = {INSIDE, INSIDE};
        if (chosen_edge(a) != i && chosen_edge(b) != i) lower_to(closing, static_cast<uint32>(i));
    }
}

// ------------------------------------------------------------------ the graph's edges

// Find the first edge of the graph that joins two trees, or comes before the heaviest forest edge between its ends.
// Launch: any grid of whole warps.  Lowers *violation.
extern "C" __global__ void verify_forest_check_arcs(int32 vertices, index_t arcs, const index_t* __restrict__ offsets,
                                                    const int32* __restrict__ targets,
                                                    const weight_t* __restrict__ weights, int32 weight_kind,
                                                    const int64* __restrict__ edges, const Node* __restrict__ leaves,
                                                    const Node* __restrict__ inner, uint64* violation) {
    const KeyMap key_of(weight_kind);
    walk_arcs<TILE>(offsets, vertices, 0, arcs, [&](int32 u, index_t arc, bool there) {
        if (!there) return;
        const int32 v = targets[arc];
        if (u > v) return;
        const weight_key_t key = key_of(weights[arc]);
        const Node heaviest = heaviest_between(leaves, inner, u, v);
        bool refutes = heaviest.parent == NO_PARENT;
        if (!refutes) {  // a forest edge finds itself, and does not come before itself
            const uint64 least = PACKED ? heaviest.key >> 32 : heaviest.key;
            refutes = key < least || (key == least && arc < edges[chosen_edge(heaviest)]);
        }
        if (refutes) lower_to(violation, static_cast<uint64>(arc));
    });
}

// Tell which forest edge is the heaviest between u and v; NO_EDGE if there is no path.
// Launch: any grid; one thread works.  Writes *edge.
extern "C" __global__ void verify_forest_explain(int32 u, int32 v, const Node* __restrict__ leaves,
                                                 const Node* __restrict__ inner, uint32* edge) {
    if (grid_thread() != 0) return;
    const Node heaviest = heaviest_between(leaves, inner, u, v);
    *edge = heaviest.parent == NO_PARENT ? NO_EDGE : chosen_edge(heaviest);
}
