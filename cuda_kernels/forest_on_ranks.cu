/*
Filter-Boruvka on the rows of one rank: the local part of every step; what the ranks agree on lies between the launches.

    1  row minimum      every vertex picks its lightest arc: its row lies on one rank as a whole, so the pick is right
    2  hook and number  the ranks give each other their picks; from there on all do the same to the same arrays
    3  list edges       own arcs up to a threshold that join two components; in the last pass all of those whose row
                        lies outside the giant component
    4  rounds           each component finds its least key, then the least name among the edges of that key, of the own
                        edges and then of all ranks; it hooks along that edge, and all are renumbered; edges inside are
                        dropped

Steps 3 and 4 are repeated until a pass has listed everything.  Edges compare by (key, name): the name of an edge is its
smaller end << 32 | its larger end, so the order is the canonical one, total and the same on every rank.  Names are all
that is kept of a forest.  Both ends' ranks hold an edge; who lists it in step 3 a bit of its ends decides, so that
neither has more to do than the other (lists_here).

A rank's rows are those of the vertices [first, first + rows):
    offsets (rows + 1,), targets, weights (arcs,)   the rows; `offsets` is that of the first own vertex
    pick, hubs (rows,), tile_row (arcs / TILE + 1,) see filter_boruvka.cu; tiles and hubs count rows from the first
Of all n vertices, or of the c components of a round:
    link (n,) int32        the vertex at the other end of the lightest arc; NO_LINK if there is none
    up                     the one hooked on; in the end the root; DEAD for isolated vertices
    number                 numbers of roots, in order, so that all ranks number alike
    label (n,)             component of each vertex when the pass began; DEAD if isolated
    now (components)       what has become of the components since
    best_key, best_name    the least edge of each component; NO_KEY, NO_NAME if it has none
    renamed                the new number of each component
    names (n,), control[NAMES]                      edges of the forest that this rank keeps
Of the edges that this rank has listed, room for `room` of them:
    tail, head int32, key weight_key_t, name uint64

Source: see filter_boruvka.cu; the reduction among ranks as in Chung & Condon 1996, Parallel implementation of Boruvka's
minimum spanning tree algorithm, section 4.  Picks of whole rows without communication, names and the division of edges
by a bit are ours.
*/
#include "filter_boruvka/row_minima.cuh"
#include "tree_links.cuh"

constexpr int TREES = 2048;       // trees that a block numbers
constexpr int NUMBERERS = 256;    // threads of a block that numbers
constexpr int JUMPS = 32;         // links that a launch of follow climbs
constexpr int GATHERED = 48;      // edges that a warp gathers before it writes them: more would not fit
constexpr int SAMPLED = 512;      // edges sampled by each rank
constexpr uint64 NO_NAME = 0xffffffffffffffffull;

// Words of `control`, read by the host after every round; MOST_EDGES are those of the rank that has most.
enum RankControl { EDGES, MOST_EDGES, TREES_LEFT, NAMES, HUB_ROWS, RANK_CONTROL_WORDS };

__device__ __forceinline__ uint64 name_of(int32 u, int32 v) {
    return static_cast<uint64>(static_cast<uint32>(u < v ? u : v)) << 32 | static_cast<uint32>(u < v ? v : u);
}

// Whether an edge is listed at the arc u -> v, or else at v -> u.
__device__ __forceinline__ bool lists_here(int32 u, int32 v) { return ((u ^ v) & 1) == 0 ? u < v : u > v; }

// ------------------------------------------------------------------ row minima

// Launch: any grid of BLOCK threads; control[HUB_ROWS] is 0.  Writes pick, link (own), tile_row, hubs,
// control[HUB_ROWS].
extern "C" __global__ void forest_on_ranks_row_minima(int32 rows, index_t arcs, const index_t* __restrict__ offsets,
                                                      const int32* __restrict__ targets,
                                                      const weight_t* __restrict__ weights, index_t* pick, int32* link,
                                                      int32* tile_row, int32* hubs, uint32* control) {
    const Graph graph = {rows, arcs, offsets, targets, weights};
    pick_row_minima(graph, TILE, pick, link, tile_row, hubs, &control[HUB_ROWS]);
}

// Launch: any grid of BLOCK threads, after row_minima.  Writes pick, link of the hubs.
extern "C" __global__ void forest_on_ranks_hub_minima(int32 rows, index_t arcs, const index_t* __restrict__ offsets,
                                                      const int32* __restrict__ targets,
                                                      const weight_t* __restrict__ weights, index_t* pick, int32* link,
                                                      const int32* hubs, const uint32* control) {
    __shared__ Shared shared;
    const Graph graph = {rows, arcs, offsets, targets, weights};
    pick_hub_minima(shared, graph, pick, link, hubs, control[HUB_ROWS]);
}

// ------------------------------------------------------------------ hooking, on all ranks alike

// Of two vertices that picked each other the smaller is a root; the picks of all others join the forest.
// Launch: any grid of whole warps.  Writes up; names of own vertices, control[NAMES].
extern "C" __global__ void forest_on_ranks_hook(int32 vertices, int32 first, int32 last, const int32* __restrict__ link,
                                                int32* up, uint64* names, uint32* control) {
    for (int64 start = grid_thread() - lane_id(); start < vertices; start += grid_threads()) {
        const int64 v = start + lane_id();
        const int32 other = v < vertices ? link[v] : NO_LINK;
        const bool root = other != NO_LINK && v < other && link[other] == v;
        if (v < vertices) up[v] = other == NO_LINK ? DEAD : root ? static_cast<int32>(v) : other;
        const bool joins = other != NO_LINK && !root && v >= first && v < last;
        const uint32 slot = warp_append(&control[NAMES], joins);
        if (joins) names[slot] = name_of(static_cast<int32>(v), other);
    }
}

// The same of components: the least edge leads to the component at its other end.  The names of the forest are divided
// among the ranks.
// Launch: any grid of whole warps.  Writes up, names, control[NAMES].
extern "C" __global__ void forest_on_ranks_hook_components(uint32 components, uint32 rank, uint32 ranks,
                                                           const uint64* __restrict__ best_name,
                                                           const int32* __restrict__ label,
                                                           const int32* __restrict__ now, int32* up, uint64* names,
                                                           uint32* control) {
    for (int64 start = grid_thread() - lane_id(); start < components; start += grid_threads()) {
        const int64 c = start + lane_id();
        const uint64 name = c < components ? best_name[c] : NO_NAME;
        int32 other = static_cast<int32>(c);
        if (name != NO_NAME) {
            const int32 a = now[label[name >> 32]], b = now[label[name & 0xffffffffu]];
            other = a == c ? b : a;
            if (c < other && best_name[other] == name) other = static_cast<int32>(c);
        }
        if (c < components) up[c] = other;
        const bool joins = other != c && c % ranks == rank;
        const uint32 slot = warp_append(&control[NAMES], joins);
        if (joins) names[slot] = name;
    }
}

// Pointer jumping: every node links to its root.  A launch that follows one without change returns at once, so that the
// host need not ask.
// Launch: any grid, ceil(log_JUMPS count) + 1 times with step = 0, 1, ...; `changed` is 0.  Writes up, changed[step].
extern "C" __global__ void forest_on_ranks_follow(int32 step, int32 count, int32* up, uint32* changed) {
    if (step > 0 && changed[step - 1] == 0) return;
    if (shorten_links<JUMPS, true>(count, up)) changed[step] = 1;  // race-allowed: every writer writes 1
}

// Launch: a block of NUMBERERS for every TREES nodes.  Writes: counts (blocks,), the roots of each stretch.
extern "C" __global__ void forest_on_ranks_count(int32 count, const int32* __restrict__ up, uint32* counts) {
    __shared__ uint32 total;
    if (threadIdx.x == 0) total = 0;
    __syncthreads();
    const int64 base = static_cast<int64>(blockIdx.x) * TREES;
    uint32 mine = 0;
    for (int64 t = base + threadIdx.x; t < base + TREES && t < count; t += NUMBERERS) mine += up[t] == t;
    if (mine != 0) atomicAdd(&total, mine);
    __syncthreads();
    if (threadIdx.x == 0) counts[blockIdx.x] = total;
}

// From counts to what lies before each.  Launch: one block of NUMBERERS.  Writes: counts, control[TREES_LEFT].
extern "C" __global__ void forest_on_ranks_scan(uint32 blocks, uint32* counts, uint32* control) {
    __shared__ uint32 of_warps[NUMBERERS / WARP];
    uint32 before = 0;
    for (uint32 start = 0; start < blocks; start += NUMBERERS) {
        const uint32 i = start + threadIdx.x;
        const uint32 own = i < blocks ? counts[i] : 0;
        const uint32 inclusive = warp_scan(own);
        if (lane_id() == WARP - 1) of_warps[threadIdx.x / WARP] = inclusive;
        __syncthreads();
        uint32 mine = before;
        for (int w = 0; w < NUMBERERS / WARP; ++w) {
            if (w < threadIdx.x / WARP) mine += of_warps[w];
            before += of_warps[w];
        }
        if (i < blocks) counts[i] = mine + inclusive - own;
        __syncthreads();
    }
    if (threadIdx.x == 0) control[TREES_LEFT] = before;
}

// Number the roots in order.  Launch: as count; bases (blocks,) are the roots of the stretches before.
// Writes: number of the roots, each by one thread.
extern "C" __global__ void forest_on_ranks_number(int32 count, const int32* __restrict__ up,
                                                  const uint32* __restrict__ bases, int32* number) {
    __shared__ uint32 of_warps[NUMBERERS / WARP];
    const int warp = threadIdx.x / WARP;
    uint32 before = bases[blockIdx.x];
    for (int64 base = static_cast<int64>(blockIdx.x) * TREES; base < (static_cast<int64>(blockIdx.x) + 1) * TREES;
         base += NUMBERERS) {
        const int64 t = base + threadIdx.x;
        const bool root = t < count && up[t] == t;
        const unsigned here = __ballot_sync(FULL_MASK, root);
        if (lane_id() == 0) of_warps[warp] = __popc(here);
        __syncthreads();
        uint32 mine = before;
        for (int w = 0; w < NUMBERERS / WARP; ++w) {
            if (w < warp) mine += of_warps[w];
            before += of_warps[w];
        }
        if (root) number[t] = static_cast<int32>(mine + __popc(here & lanes_before()));
        __syncthreads();
    }
}

// Launch: any grid.  Writes: out (count,), the number of each node's root, or DEAD.
extern "C" __global__ void forest_on_ranks_learn(int32 count, const int32* __restrict__ up,
                                                 const int32* __restrict__ number, int32* out) {
    for (int64 t = grid_thread(); t < count; t += grid_threads()) out[t] = up[t] == DEAD ? DEAD : number[up[t]];
}

// Launch: any grid.  Writes: where (count,), what each of its numbers has become; DEAD stays.
extern "C" __global__ void forest_on_ranks_compose(int32 count, int32* where, const int32* __restrict__ renamed) {
    for (int64 t = grid_thread(); t < count; t += grid_threads()) {
        if (where[t] != DEAD) where[t] = renamed[where[t]];
    }
}

// Launch: any grid.  Writes: now (count,), each its own number.
extern "C" __global__ void forest_on_ranks_count_up(int32 count, int32* now) {
    for (int64 t = grid_thread(); t < count; t += grid_threads()) now[t] = static_cast<int32>(t);
}

// ------------------------------------------------------------------ samples

// Launch: any grid.  Writes: sample_key, sample_name (SAMPLED,) of this rank; NO_KEY, NO_NAME where there are no arcs.
extern "C" __global__ void forest_on_ranks_sample(int32 rows, int32 first, index_t arcs,
                                                  const index_t* __restrict__ offsets,
                                                  const int32* __restrict__ targets,
                                                  const weight_t* __restrict__ weights, uint64* sample_key,
                                                  uint64* sample_name) {
    for (int64 i = grid_thread(); i < SAMPLED; i += grid_threads()) {
        sample_key[i] = sample_name[i] = NO_NAME;
        if (arcs == 0) continue;
        const index_t stratum = arcs / SAMPLED;
        const uint64 jitter = static_cast<uint64>(i) * 0x9E3779B97F4A7C15ull >> 32;
        index_t arc = static_cast<index_t>(static_cast<uint64>(i) * static_cast<uint64>(arcs) / SAMPLED);
        if (stratum > 1) arc += static_cast<index_t>(jitter % static_cast<uint64>(stratum));
        if (arc >= arcs) arc = arcs - 1;
        sample_key[i] = order_key(weights[arc]);
        sample_name[i] = name_of(first + row_of_arc(offsets, arc, 0, rows - 1), targets[arc]);
    }
}

// Find the samples of which `rank` are smaller, and write the last of them as the threshold.
// Launch: any grid.  Writes: threshold (2,), by the threads of equal samples alike.
extern "C" __global__ void forest_on_ranks_quantile(int32 count, int32 rank, const uint64* __restrict__ sample_key,
                                                    const uint64* __restrict__ sample_name, uint64* threshold) {
    for (int64 i = grid_thread(); i < count; i += grid_threads()) {
        int32 smaller = 0, equal = 0;
        for (int32 j = 0; j < count; ++j) {
            const bool same_key = sample_key[j] == sample_key[i];
            smaller += sample_key[j] < sample_key[i] || (same_key && sample_name[j] < sample_name[i]);
            equal += same_key && sample_name[j] == sample_name[i];
        }
        if (smaller <= rank && rank < smaller + equal) {
            threshold[0] = sample_key[i];   // race-allowed: equal samples write the same
            threshold[1] = sample_name[i];  // race-allowed: equal samples write the same
        }
    }
}

// The component that most of 32 sampled arcs lead to, with its votes.
// Launch: one warp.  Writes: giant (1,), votes << 32 | component; 0 where there are no arcs.
extern "C" __global__ void forest_on_ranks_find_giant(index_t arcs, const int32* __restrict__ targets,
                                                      const int32* __restrict__ label, uint64* giant) {
    if (arcs == 0) {
        if (lane_id() == 0) *giant = 0;
        return;
    }
    const index_t arc = static_cast<index_t>(static_cast<uint64>(arcs) / (2 * WARP) * (2 * lane_id() + 1));
    const int32 component = label[targets[arc]];
    int votes = 0;
    for (int lane = 0; lane < WARP; ++lane) votes += __shfl_sync(FULL_MASK, component, lane) == component;
    const uint64 lost = ~(static_cast<uint64>(votes) << 32 | static_cast<uint32>(component));
    const uint64 least = warp_min(lost);
    if (lane_id() == 0) *giant = ~least;
}

// ------------------------------------------------------------------ listing

struct ListedEdge {
    uint64 name;
    weight_key_t key;
    int32 tail, head;
};

// Where listed edges go.
struct List {
    uint32 room;
    int32 *tail, *head;
    weight_key_t* key;
    uint64* name;
    uint32* count;
};

// The edges that a warp has found and not yet written; beyond the room of the list they are only counted.
struct ListGatherer {
    ListedEdge* buffer;
    const List& list;
    uint32 held;

    __device__ __forceinline__ void flush() {
        if (held == 0) return;
        __syncwarp();
        uint32 base = 0;
        if (lane_id() == 0) base = atomicAdd(list.count, held);
        base = __shfl_sync(FULL_MASK, base, 0);
        for (uint32 i = lane_id(); i < held; i += WARP) {
            const ListedEdge edge = buffer[i];
            const uint32 slot = base + i;
            if (slot >= list.room || slot < base) continue;
            list.tail[slot] = edge.tail;
            list.head[slot] = edge.head;
            list.key[slot] = edge.key;
            list.name[slot] = edge.name;
        }
        __syncwarp();
        held = 0;
    }

    // All 32 lanes must call.
    __device__ __forceinline__ void add(bool found, const ListedEdge& edge) {
        if (held + WARP > GATHERED) flush();
        const unsigned finders = __ballot_sync(FULL_MASK, found);
        if (found) buffer[held + __popc(finders & lanes_before())] = edge;
        held += __popc(finders);
    }
};

#define LIST_PARAMETERS \
    uint32 room, int32 *tail, int32 *head, weight_key_t *key, uint64 *name, uint32 *control
#define LIST \
    List { room, tail, head, key, name, &control[EDGES] }

// List the own edges up to the threshold that join two components: the weights of all arcs stream by, and only the few
// that are light are looked at, 32 at a time.
// Launch: any grid of BLOCK threads; control[EDGES] is 0.  Writes the list, slots by atomicAdd on control[EDGES].
extern "C" __global__ void forest_on_ranks_list_light(int32 rows, int32 first, index_t arcs,
                                                      const index_t* __restrict__ offsets,
                                                      const int32* __restrict__ targets,
                                                      const weight_t* __restrict__ weights,
                                                      const int32* __restrict__ tile_row,
                                                      const int32* __restrict__ label,
                                                      const uint64* __restrict__ threshold, LIST_PARAMETERS) {
    __shared__ ListedEdge buffers[WARPS][GATHERED];
    __shared__ index_t positions_of[WARPS][WARP * 5];
    constexpr int AHEAD = 4;
    const int warp = threadIdx.x / WARP;
    const List list = LIST;
    ListGatherer gatherer = {buffers[warp], list, 0};
    index_t* const positions = positions_of[warp];
    const weight_key_t limit = static_cast<weight_key_t>(threshold[0]);
    const uint64 last_name = threshold[1];
    uint32 pending = 0;
    const auto look_at = [&](uint32 count) {
        __syncwarp();
        const bool valid = lane_id() < count;
        index_t arc = 0;
        if (valid) arc = positions[pending - count + lane_id()];
        pending -= count;
        __syncwarp();
        ListedEdge edge;
        bool found = false;
        if (valid) {
            const index_t tile = arc / TILE;
            const int32 high = (tile + 1) * TILE < arcs ? tile_row[tile + 1] : rows - 1;
            const int32 u = first + row_of_arc(offsets, arc, tile_row[tile], high), v = targets[arc];
            if (lists_here(u, v)) {
                edge = {name_of(u, v), order_key(weights[arc]), label[u], label[v]};
                found = edge.tail != edge.head && (edge.key < limit || edge.name <= last_name);
            }
        }
        gatherer.add(found, edge);
    };
    const int64 step = grid_threads() * AHEAD;
    for (int64 portion = (grid_thread() - lane_id()) * AHEAD; portion < arcs; portion += step) {
        weight_t weight[AHEAD];
#pragma unroll
        for (int i = 0; i < AHEAD; ++i) {
            const int64 arc = portion + i * WARP + lane_id();
            weight[i] = weights[arc < arcs ? arc : arcs - 1];
        }
#pragma unroll
        for (int i = 0; i < AHEAD; ++i) {
            const int64 arc = portion + i * WARP + lane_id();
            const bool light = arc < arcs && order_key(weight[i]) <= limit;
            const unsigned lights = __ballot_sync(FULL_MASK, light);
            if (light) positions[pending + __popc(lights & lanes_before())] = static_cast<index_t>(arc);
            pending += __popc(lights);
        }
        while (pending >= WARP) look_at(WARP);
    }
    look_at(pending);
    gatherer.flush();
}

// List the edges of a row that join two components.  A lane sees every STRIDE-th arc; all 32 must call, with an empty
// range if they have none.  Between two components other than the giant one an edge is met twice, and counts once.
template <int STRIDE>
__device__ __forceinline__ void list_own_row(const int32* __restrict__ targets, const weight_t* __restrict__ weights,
                                             const int32* __restrict__ label, int32 giant, int32 u, int32 own,
                                             index_t begin, index_t end, int lane, ListGatherer& gatherer) {
    for (index_t portion = begin; __any_sync(FULL_MASK, portion < end); portion += STRIDE) {
        const bool there = portion < end && lane < end - portion;
        ListedEdge edge;
        bool found = false;
        if (there) {
            const index_t arc = portion + lane;
            const int32 v = targets[arc];
            const int32 other = label[v];
            found = other != own && (other == giant || lists_here(u, v));
            if (found) edge = {name_of(u, v), order_key(weights[arc]), own, other};
        }
        gatherer.add(found, edge);
    }
}

// List all own edges that join two components, of rows outside the giant one; hubs are put off.  giant[0] is votes and
// the component, or NO_NAME if all rows are to be read.
// Launch: any grid of BLOCK threads; control[EDGES] and control[HUB_ROWS] are 0.  Writes the list, hubs.
extern "C" __global__ void forest_on_ranks_list_rows(int32 rows, int32 first, const index_t* __restrict__ offsets,
                                                     const int32* __restrict__ targets,
                                                     const weight_t* __restrict__ weights,
                                                     const int32* __restrict__ label,
                                                     const uint64* __restrict__ giant_votes, int32* hubs,
                                                     LIST_PARAMETERS) {
    __shared__ ListedEdge buffers[WARPS][GATHERED];
    const List list = LIST;
    ListGatherer gatherer = {buffers[threadIdx.x / WARP], list, 0};
    const int32 giant = *giant_votes == NO_NAME ? NO_GIANT : static_cast<int32>(*giant_votes & 0xffffffffu);
    for (int64 start = grid_thread() - lane_id(); start < rows; start += grid_threads()) {
        const int64 row = start + lane_id();
        index_t begin = 0, end = 0;
        int32 own = DEAD;
        if (row < rows) own = label[first + row];
        if (own != DEAD && own != giant) {
            begin = offsets[row];
            end = offsets[row + 1];
        }
        const index_t length = end - begin;
        const int32 u = first + static_cast<int32>(row);
        const index_t short_end = length < LISTED_ALONE ? end : begin;
        list_own_row<1>(targets, weights, label, giant, u, own, begin, short_end, 0, gatherer);
        for (unsigned waiting = __ballot_sync(FULL_MASK, length >= LISTED_ALONE && length < HUB_ROW); waiting != 0;
             waiting &= waiting - 1) {
            const int owner = first_lane(waiting);
            const index_t row_begin = __shfl_sync(FULL_MASK, begin, owner);
            const index_t row_end = __shfl_sync(FULL_MASK, end, owner);
            const int32 row_own = __shfl_sync(FULL_MASK, own, owner);
            const int32 of = first + static_cast<int32>(start) + owner;
            list_own_row<WARP>(targets, weights, label, giant, of, row_own, row_begin, row_end, lane_id(), gatherer);
        }
        note_hubs(hubs, &control[HUB_ROWS], length >= HUB_ROW, static_cast<int32>(row));
    }
    gatherer.flush();
}

// The same of the hubs that were put off, a block for each.
// Launch: any grid of BLOCK threads, after list_rows.  Writes the list.
extern "C" __global__ void forest_on_ranks_list_hubs(int32 first, const index_t* __restrict__ offsets,
                                                     const int32* __restrict__ targets,
                                                     const weight_t* __restrict__ weights,
                                                     const int32* __restrict__ label,
                                                     const uint64* __restrict__ giant_votes,
                                                     const int32* __restrict__ hubs, LIST_PARAMETERS) {
    __shared__ ListedEdge buffers[WARPS][GATHERED];
    const List list = LIST;
    ListGatherer gatherer = {buffers[threadIdx.x / WARP], list, 0};
    const int32 giant = *giant_votes == NO_NAME ? NO_GIANT : static_cast<int32>(*giant_votes & 0xffffffffu);
    const uint32 count = control[HUB_ROWS];
    for (uint32 h = blockIdx.x; h < count; h += gridDim.x) {
        const int32 row = hubs[h], u = first + row;
        const index_t begin = offsets[row], end = offsets[row + 1];
        list_own_row<BLOCK>(targets, weights, label, giant, u, label[u], begin, end, threadIdx.x, gatherer);
    }
    gatherer.flush();
}

// ------------------------------------------------------------------ rounds

// Launch: any grid.  Writes: best_key, NO_KEY before, lowered by atomicMin.
extern "C" __global__ void forest_on_ranks_find_key(uint32 edges, const int32* __restrict__ tail,
                                                    const int32* __restrict__ head,
                                                    const weight_key_t* __restrict__ key, weight_key_t* best_key) {
    for (int64 i = grid_thread(); i < edges; i += grid_threads()) {
        lower_to(best_key + tail[i], key[i]);
        lower_to(best_key + head[i], key[i]);
    }
}

// Launch: any grid.  Writes: best_name, NO_NAME before, lowered by atomicMin.
extern "C" __global__ void forest_on_ranks_find_name(uint32 edges, const int32* __restrict__ tail,
                                                     const int32* __restrict__ head,
                                                     const weight_key_t* __restrict__ key,
                                                     const uint64* __restrict__ name,
                                                     const weight_key_t* __restrict__ best_key, uint64* best_name) {
    for (int64 i = grid_thread(); i < edges; i += grid_threads()) {
        if (key[i] == best_key[tail[i]]) lower_to(best_name + tail[i], name[i]);
        if (key[i] == best_key[head[i]]) lower_to(best_name + head[i], name[i]);
    }
}

// Keep the edges between two components, by their new numbers, in any order.
// Launch: any grid of whole warps; control[EDGES] is 0.  Writes: the second set of arrays, control[EDGES].
extern "C" __global__ void forest_on_ranks_filter(uint32 edges, const int32* __restrict__ tail,
                                                  const int32* __restrict__ head,
                                                  const weight_key_t* __restrict__ key,
                                                  const uint64* __restrict__ name, const int32* __restrict__ renamed,
                                                  int32* tail_out, int32* head_out, weight_key_t* key_out,
                                                  uint64* name_out, uint32* control) {
    for (int64 start = grid_thread() - lane_id(); start < edges; start += grid_threads()) {
        const int64 i = start + lane_id();
        int32 one = 0, other = 0;
        if (i < edges) {
            one = renamed[tail[i]];
            other = renamed[head[i]];
        }
        const uint32 slot = warp_append(&control[EDGES], one != other);
        if (one != other) {
            tail_out[slot] = one;
            head_out[slot] = other;
            key_out[slot] = key[i];
            name_out[slot] = name[i];
        }
    }
}

// ------------------------------------------------------------------ the result

// Find the arcs of the forest's edges whose smaller end is an own vertex.
// Launch: any grid; ids and words are 0.  Writes: ids (count,), the arc's position here and first_arc more, and words
// (count,), the weight's bits, each by one thread.
extern "C" __global__ void forest_on_ranks_locate(uint32 count, int32 first, int32 last, int64 first_arc,
                                                  const index_t* __restrict__ offsets,
                                                  const int32* __restrict__ targets,
                                                  const weight_key_t* __restrict__ weights,
                                                  const uint64* __restrict__ names, uint64* ids, weight_key_t* words) {
    for (int64 i = grid_thread(); i < count; i += grid_threads()) {
        const int32 u = static_cast<int32>(names[i] >> 32), v = static_cast<int32>(names[i] & 0xffffffffu);
        if (u < first || u >= last) continue;
        const index_t arc = find_arc(targets, offsets[u - first], offsets[u - first + 1], v);
        ids[i] = static_cast<uint64>(first_arc + arc);
        words[i] = weights[arc];
    }
}
