/*
Shortest paths from many sources in one cooperative launch: delta-stepping with two buckets, near and far, several
searches at a time.  The searches of a group, 8, 16 or 32, share everything but their distances: the distances of a
vertex lie side by side, eight of 32 bits in one sector of memory, so that one gather along an arc serves all of them.
A warp is cut into groups of as many threads; a thread belongs to one search of the group throughout.

    a common frontier   a vertex is near if it is for any of the searches; `marks` tells for which its arcs are still to
                        be relaxed.  It is in the queue once, whoever set its first mark entered it
    own thresholds      sources lie at different distances from the bulk of a graph.  Each search has its own threshold;
                        all move by the same width, so that the searches come through the bulk together
    no far queue        far is what is reached and not below its threshold.  To find it again, `waiting` tells for every
                        CHUNK vertices whether there may be some; one pass over those finds the next near ones
    a horizon           in a dense graph most arcs are far too long to matter.  At first each search leaves sums alone
                        that lie far from its source; then whoever was not reached pulls (delta_stepping.cu does so too)
    hubs                long rows are cut into pieces for all warps
    teams               the grid is cut into teams of blocks, and each takes one group of searches after another: on a
                        large graph there is one team, on a small one as many as have room

The width doubles while rounds are too small to fill the team, or buckets too small for the pass over the distances that
finds them, and halves when most lowerings are repetitions.

    offsets (n+1)  targets (arcs)  weights (arcs)   the graph; weights are not negative
    sources (searches)                              where they begin
    distance (groups, n, lanes)                     order-preserving words (distance_words.cuh)
    marks (teams, n)                                a bit for each search; all 0 between two groups
    near (teams, 2, n)                              the queues of this round and of the next
    waiting (teams, chunks)                         not 0: some vertex of the chunk may be far; all 0 between two groups
    pieces (teams, room)                            of the long rows of a round: vertex, marks, first arc
    least (teams, 3, MAX_LANES)                     complement of the least far distance of every search, by turns
    control (teams, CONTROL_WORDS)                  counters (enum Control)
    flags (FLAGS)                                   what the host and the kernel tell each other (enum Flag)
    timeline (PHASES)                               nanoseconds that the first team spent in each phase (enum Phase)

Invariants.  A distance only falls.  Each time it does, its vertex is marked and queued if it is near, and else its
chunk is waiting.  Marks are set after the distance and taken before it is read, so that no improvement is lost.  When
the queue is empty everything below the thresholds is settled.

Kernel rules: every wait on another block is Team::barrier(); every loop around one runs equally often in all threads of
a team, because what decides is read after a barrier and not written before the next.

Source: delta_stepping.cu, with the searches of a group side by side as in M. Then et al., "The more the merrier:
efficient multi-source graph traversal", PVLDB 2014 (breadth-first searches, a bit each).
*/
#include "csr.cuh"
#include "distance_words.cuh"

#if defined(__CUDA_ARCH__) && (__CUDA_ARCH__ < 900 || __CUDA_ARCH__ >= 1200)
constexpr int RESIDENT = 1;  // blocks of a multiprocessor: two leave 64 registers for a thread,
                             // and code for these needs a few more
#else
constexpr int RESIDENT = INDEX_BITS == 32 && DISTANCE_BITS == 32 ? 2 : 1;
#endif
constexpr int BLOCK = 512;
constexpr int WARPS = BLOCK / WARP;
constexpr int MAX_LANES = 32;     // searches of a group
constexpr int IN_FLIGHT = 8;      // arcs that a group has under way
constexpr int HUB_ROW = 512;      // arcs, from which on a row is cut into pieces
constexpr int PIECE = 256;        // arcs
constexpr int CHUNK = 256;        // vertices
constexpr int BUFFER = 64;        // vertices a warp holds back, to write them out together

constexpr int HORIZON_DEGREE = 16;    // arcs a vertex, from which on a horizon pays
constexpr int HORIZON_ARCS = 4;       // arcs a vertex that are shorter than the horizon
constexpr int FIRST_WIDTHS = 4;       // widths to the horizon, at first
constexpr int SOURCE_ARCS = 1024;     // of a source that are looked at for its nearest neighbour
constexpr uint32 IDLE = 32;           // vertices a round and block: fewer do not fill the GPU
constexpr int SMALL_SHARE = 16;       // of the vertices: fewer a bucket are not worth reading all distances
constexpr float64 MANY_REPEATS = 0.75;  // of the distances lowered; above, the width was too wide
constexpr float64 FEW_REPEATS = 0.5;    // below, it may grow

enum Phase { START, COLLECT, RELAX, HUBS, PULL, PHASES };

// What the host sets while the kernel runs; all 0 before the launch.
enum Flag { STOP, FLAGS };

// Words of a team, all 0 before the launch.
enum Control {
    ARRIVALS,
    LEAVE,               // the barrier at which all leave, or 0
    OVERFLOW,            // a sum did not fit that may be needed
    PUSHES,              // distances lowered; modulo 2^32, as the next four
    REPEATS,             // distances lowered that were below the threshold already
    SETTLED,             // vertices whose arcs were relaxed, for one search or more
    ROUNDS,              // rounds between two barriers
    BUCKETS_DONE,        // thresholds
    NEAR,                // three words that take turns: vertices in the queue
    PIECES = NEAR + 3,   // three words that take turns: pieces of long rows
    FAR = PIECES + 3,    // three words that take turns: not 0, some vertex is far
    CONTROL_WORDS = FAR + 3
};

// ------------------------------------------------------------------ structures

// Parts of the long rows of a round.
struct Pieces {
    int32* vertex;
    uint32* marks;
    index_t* begin;
    uint32* count;
};

// The shared memory of a block.  What is needed seldom lies here too, so that registers suffice.
struct Shared {
    int32 held[WARPS * BUFFER];      // by warp, vertices for the next queue
    distance_t least[MAX_LANES];
    distance_t nearest[MAX_LANES];   // the least weight of an arc out of each source; UNREACHED if it has none
    // By search: what lies below was settled, is to be settled, is looked at.
    distance_t floor[MAX_LANES], threshold[MAX_LANES], horizon[MAX_LANES];
    distance_t* distance;            // of the group of searches
    uint32* marks;
    uint32* waiting;
    int32* near;                     // the two queues of the team,
    int32* queue;                    // that of this round,
    int32* next;                     // and that of the next
    uint32* queued;                  // how many vertices are in the next
    Pieces pieces;
    distance_t* least_far;           // of the team, what `least` is of all
    float64 width, first_width;      // of a bucket
    float64 view;                    // how far from a source's nearest neighbour its horizon lies
    uint32 bounded;                  // sums from the horizon on are left alone
    uint32 far, pushes, repeats;
    uint32 before[4];                // what the counters PUSHES to ROUNDS were before this bucket
    uint32* control;                 // of the team,
    const uint32* flags;
    uint32 rank, blocks;             // and which of its blocks this one is
    int32 first;                     // of the sources of the present group
    uint32 barriers;                 // passed by the block
    uint64 spent[PHASES], since;
};

// The blocks that work on one group of searches.
struct Team {
    Shared& shared;

    // Neighbouring numbers belong to different blocks.
    __device__ __forceinline__ uint32 warp() const { return threadIdx.x / WARP * shared.blocks + shared.rank; }
    __device__ __forceinline__ uint32 warps() const { return WARPS * shared.blocks; }

    // How many of `count` items, up to 32, a warp takes at a time so that all have some.
    __device__ __forceinline__ uint32 share(uint32 count) const {
        const uint32 even = (count + warps() - 1) / warps();
        return even < 1 ? 1 : even > WARP ? WARP : even;
    }

    // Wait for all blocks of the team; true, in all of them alike, if the host wants the kernel to end.  The first
    // block names the barrier before it arrives there: who passes that one sees it, who is late at the last one sees
    // that it is not meant.  All threads must call.
    __device__ __forceinline__ bool barrier() const {
        __syncthreads();
        bool leaves = false;
        if (threadIdx.x == 0) {
            shared.barriers += 1;
            uint32* const control = shared.control;
            const uint32 goal = shared.barriers * shared.blocks;
            const bool asked = shared.rank == 0 && static_cast<const volatile uint32*>(shared.flags)[STOP] != 0;
            // race-allowed: who still reads it for the last barrier finds a number that is not that one's
            if (asked) static_cast<volatile uint32*>(control)[LEAVE] = shared.barriers;
            arrive(&control[ARRIVALS]);
            spin_until(see(&control[ARRIVALS]) - goal < 0x80000000u);
            leaves = current(&control[LEAVE]) == shared.barriers;
        }
        return __syncthreads_or(leaves);
    }
};

// The searches side by side, as one thread sees them.
struct Group {
    const Shared& shared;
    int32 shift;  // the binary logarithm of their number

    __device__ __forceinline__ int32 lanes() const { return 1 << shift; }
    // The thread's own search; the first thread of the warp that has to do with the same arcs.
    __device__ __forceinline__ int32 lane() const { return lane_id() & (lanes() - 1); }
    __device__ __forceinline__ int32 first() const { return lane_id() & -lanes(); }
    // Of a ballot the bits of the searches that this thread has to do with.
    __device__ __forceinline__ uint32 own(unsigned ballot) const {
        return ballot >> first() & FULL_MASK >> (WARP - lanes());
    }
    // The vertex's distance in the own search.
    __device__ __forceinline__ distance_t* at(int32 vertex) const {
        return &shared.distance[(static_cast<int64>(vertex) << shift) + lane()];
    }
};

// A row to be relaxed, for the searches that have a bit in `marks`.
struct Row {
    int32 vertex;
    uint32 marks;
    index_t begin, end;
};

// Where vertices that become near go: a buffer of the warp, written to the queue when it is full.
struct Outbox {
    Shared& shared;
    uint32 held;  // the same in every lane

    // Take in every lane's vertex, if it has one.  All lanes must call.
    __device__ __forceinline__ void push(bool has, int32 vertex) {
        const unsigned pushed = __ballot_sync(FULL_MASK, has);
        if (pushed == 0) return;
        if (has) shared.held[threadIdx.x / WARP * BUFFER + held + __popc(pushed & lanes_before())] = vertex;
        held += __popc(pushed);
        __syncwarp();
        if (held > BUFFER - WARP) flush();
    }

    // Write out what is held.  No vertex is in a queue twice, so that there is room.
    __device__ __forceinline__ void flush() {
        if (held == 0) return;
        uint32 base = 0;
        if (lane_id() == 0) base = atomicAdd(shared.queued, held);
        base = __shfl_sync(FULL_MASK, base, 0);
        for (uint32 i = lane_id(); i < held; i += WARP) {
            shared.next[base + i] = shared.held[threadIdx.x / WARP * BUFFER + i];
        }
        held = 0;
        __syncwarp();
    }
};

// ------------------------------------------------------------------ one group of arcs

// Relax up to `lanes` arcs of one row: lower the distances at their heads.  Each of the group's threads loads one of
// the arcs, and looks after its head; the distances are its search's for all of them.
struct Push {
    const Graph& graph;
    const Group& group;
    Outbox& outbox;
    uint32 pushes, repeats;  // the same in every lane

    // All lanes must call; those of a group with the same arguments, end = arc if there is nothing for them to do.
    __device__ __forceinline__ void relax(const Row& row, index_t arc, index_t end) {
        const Shared& shared = group.shared;
        const int32 lane = group.lane();
        const bool asks = row.marks >> lane & 1, has = arc + lane < end, bounded = shared.bounded != 0;
        const distance_t length = asks ? current(group.at(row.vertex)) : 0;
        const weight_t weight = has ? streamed(&graph.weights[arc + lane]) : static_cast<weight_t>(0);
        int32 head = has && !bounded ? streamed(&graph.targets[arc + lane]) : 0;
        uint32 nears = 0;   // for whom the thread's head has become near,
        bool far = false;   // and whether for anybody far
#pragma unroll 1
        for (int base = 0; base < group.lanes(); base += IN_FLIGHT) {
            if (!__any_sync(FULL_MASK, arc + base < end)) break;
            // The sum along one of the arcs, and its head: two reads of another thread's register.
            const auto sum = [&](int i) {
                return extended(length, __shfl_sync(FULL_MASK, weight, group.first() + base + i));
            };
            const auto at_head = [&](int i) {
                return group.at(__shfl_sync(FULL_MASK, head, group.first() + base + i));
            };
            unsigned wanted = 0;  // a bit for each arc
            const distance_t limit = bounded ? shared.horizon[lane] - 1 : UNREACHED;
#pragma unroll
            for (int i = 0; i < IN_FLIGHT; ++i) {
                if (sum(i) <= limit && asks && arc + base + i < end) wanted |= 1u << i;
            }
            if (bounded) {
                bool needed = false;
#pragma unroll
                for (int i = 0; i < IN_FLIGHT; ++i) {
                    const unsigned askers = __ballot_sync(FULL_MASK, wanted >> i & 1);
                    if (lane == base + i) needed = group.own(askers) != 0;
                }
                if (needed) head = streamed(&graph.targets[arc + lane]);
            }
            distance_t before[IN_FLIGHT];
#pragma unroll
            for (int i = 0; i < IN_FLIGHT; ++i) {
                const distance_t* const place = at_head(i);
                before[i] = wanted >> i & 1 ? current(place) : 0;
            }
#pragma unroll
            for (int i = 0; i < IN_FLIGHT; ++i) {
                distance_t* const place = at_head(i);
                const distance_t length_there = sum(i);
                if (length_there < before[i]) before[i] = atomicMin(place, length_there);
                // A sum that does not fit matters only if its head cannot be reached otherwise.
                if (SUMS_OVERFLOW && length_there == UNREACHED && before[i] == UNREACHED) {
                    shared.control[OVERFLOW] = 1;  // race-allowed: every writer writes 1
                }
            }
            const distance_t threshold = shared.threshold[lane];
#pragma unroll
            for (int i = 0; i < IN_FLIGHT; ++i) {
                const distance_t length_there = sum(i);
                const bool lowered = length_there < before[i];
                const unsigned winners = __ballot_sync(FULL_MASK, lowered);
                const unsigned near = __ballot_sync(FULL_MASK, lowered && length_there < threshold);
                pushes += __popc(winners);
                repeats += __popc(__ballot_sync(FULL_MASK, lowered && before[i] < threshold));
                if (lane != base + i) continue;
                nears = group.own(near);
                far = group.own(winners & ~near) != 0;
            }
        }
        if (far) shared.waiting[head / CHUNK] = 1;  // race-allowed: every writer writes 1
        if (!__any_sync(FULL_MASK, nears != 0)) return;
        __threadfence();  // the distances before the marks
        __syncwarp();
        outbox.push(nears != 0 && atomicOr(&shared.marks[head], nears) == 0, head);
    }

    // Write out what became near, and add up what was lowered.  All threads must call.
    __device__ __forceinline__ void tell(Shared& shared) {
        outbox.flush();
        if (lane_id() == 0 && pushes != 0) {
            atomicAdd(&shared.pushes, pushes);
            atomicAdd(&shared.repeats, repeats);
        }
        pushes = repeats = 0;
        __syncthreads();
        if (threadIdx.x == 0 && shared.pushes != 0) {
            atomicAdd(&shared.control[PUSHES], shared.pushes);
            atomicAdd(&shared.control[REPEATS], shared.repeats);
            shared.pushes = shared.repeats = 0;
        }
    }
};

// Lower the distances at the tail of up to `lanes` arcs by what their heads offer: the same the other way round, in a
// graph that has both arcs of every edge.
struct Pull {
    const Graph& graph;
    const Group& group;

    __device__ __forceinline__ void relax(const Row& row, index_t arc, index_t end) {
        const Shared& shared = group.shared;
        const int32 lane = group.lane();
        const bool asks = row.marks >> lane & 1, has = arc + lane < end;
        const weight_t weight = has ? streamed(&graph.weights[arc + lane]) : static_cast<weight_t>(0);
        const int32 head = has ? streamed(&graph.targets[arc + lane]) : 0;
        const distance_t horizon = shared.horizon[lane];
        distance_t best = UNREACHED;
        bool offered = false;
#pragma unroll 1
        for (int base = 0; base < group.lanes(); base += IN_FLIGHT) {
            if (!__any_sync(FULL_MASK, arc + base < end)) break;
            distance_t offer[IN_FLIGHT];
#pragma unroll
            for (int i = 0; i < IN_FLIGHT; ++i) {
                const int32 vertex = __shfl_sync(FULL_MASK, head, group.first() + base + i);
                offer[i] = asks && arc + base + i < end ? current(group.at(vertex)) : UNREACHED;
            }
#pragma unroll
            for (int i = 0; i < IN_FLIGHT; ++i) {
                const weight_t w = __shfl_sync(FULL_MASK, weight, group.first() + base + i);
                if (offer[i] >= horizon) continue;
                offered = true;
                const distance_t sum = extended(offer[i], w);
                if (sum < best) best = sum;
            }
        }
        if (!offered) return;
        distance_t* const own = group.at(row.vertex);
        if (best < current(own)) {
            atomicMin(own, best);
            shared.waiting[row.vertex / CHUNK] = 1;  // race-allowed: every writer writes 1
        } else if (SUMS_OVERFLOW && best == UNREACHED && current(own) == UNREACHED) {
            shared.control[OVERFLOW] = 1;  // race-allowed: every writer writes 1
        }
    }
};

// ------------------------------------------------------------------ rows

// Cut the rows of those lanes that bring a hub into pieces.  All lanes must call.  Returns the lane's row, empty if it
// was put aside.
__device__ __forceinline__ Row put_aside(const Shared& shared, Row row) {
    const bool is_hub = row.end - row.begin >= HUB_ROW;
    for (unsigned hubs = __ballot_sync(FULL_MASK, is_hub); hubs != 0; hubs &= hubs - 1) {
        const int owner = first_lane(hubs);
        const int32 vertex = __shfl_sync(FULL_MASK, row.vertex, owner);
        const uint32 marks = __shfl_sync(FULL_MASK, row.marks, owner);
        const index_t begin = __shfl_sync(FULL_MASK, row.begin, owner);
        const index_t end = __shfl_sync(FULL_MASK, row.end, owner);
        const uint32 parts = static_cast<uint32>((end - begin + PIECE - 1) / PIECE);
        uint32 base = 0;
        if (lane_id() == 0) base = atomicAdd(shared.pieces.count, parts);
        base = __shfl_sync(FULL_MASK, base, 0);
        for (uint32 part = lane_id(); part < parts; part += WARP) {
            shared.pieces.vertex[base + part] = vertex;
            shared.pieces.marks[base + part] = marks;
            shared.pieces.begin[base + part] = begin + static_cast<index_t>(part) * PIECE;
        }
    }
    if (is_hub) row.end = row.begin;
    return row;
}

// Visit the rows of the warp's lanes: each is cut into parts of `lanes` arcs, and these are dealt out evenly to the
// groups of threads.  All lanes must call; a lane without a row brings an empty one.
template <typename Visit>
__device__ __forceinline__ void visit_rows(Visit& visit, const Row& row) {
    const Group& group = visit.group;
    const uint32 inclusive = warp_scan(
        static_cast<uint32>((row.end - row.begin + group.lanes() - 1) >> group.shift));
    const uint32 total = __shfl_sync(FULL_MASK, inclusive, WARP - 1);
#pragma unroll 1
    for (uint32 base = 0; base < total; base += WARP >> group.shift) {
        const uint32 turn = base + (lane_id() >> group.shift);
        int owner = 0;  // the first lane whose row, with those before it, has more than `turn` parts
#pragma unroll
        for (int step = WARP / 2; step > 0; step /= 2) {
            if (turn >= __shfl_sync(FULL_MASK, inclusive, owner + step - 1)) owner += step;
        }
        const uint32 up_to = __shfl_sync(FULL_MASK, inclusive, owner - 1 & WARP - 1), before = owner == 0 ? 0 : up_to;
        const Row whole = {__shfl_sync(FULL_MASK, row.vertex, owner), __shfl_sync(FULL_MASK, row.marks, owner),
                           __shfl_sync(FULL_MASK, row.begin, owner), __shfl_sync(FULL_MASK, row.end, owner)};
        const index_t arc = whole.begin + (static_cast<index_t>(turn - before) << group.shift);
        visit.relax(whole, arc, turn < total ? whole.end : arc);
    }
}

// Relax the vertices of the queue, whose marks are taken; long rows are put aside.
__device__ __forceinline__ void relax_queue(Push& push, const Team& team, uint32 count) {
    const Shared& shared = team.shared;
    const uint32 share = team.share(count);
    for (uint32 base = team.warp() * share; base < count; base += team.warps() * share) {
        const uint32 i = base + lane_id();
        Row row = {0, 0, 0, 0};
        if (lane_id() < share && i < count) {
            row.vertex = current(&shared.queue[i]);
            row.marks = atomicExch(&shared.marks[row.vertex], 0u);
            row.begin = push.graph.offsets[row.vertex];
            row.end = push.graph.offsets[row.vertex + 1];
        }
        __threadfence();  // the marks before the distances
        __syncwarp();
        visit_rows(push, put_aside(shared, row));
    }
}

// Visit the pieces of long rows.
template <typename Visit>
__device__ __forceinline__ void visit_pieces(Visit& visit, const Team& team, uint32 count) {
    const Pieces& pieces = team.shared.pieces;
    const uint32 share = team.share(count);
    for (uint32 base = team.warp() * share; base < count; base += team.warps() * share) {
        const uint32 i = base + lane_id();
        Row row = {0, 0, 0, 0};
        if (lane_id() < share && i < count) {
            row = {current(&pieces.vertex[i]), current(&pieces.marks[i]), current(&pieces.begin[i]), 0};
            const index_t end = visit.graph.offsets[row.vertex + 1];
            row.end = end - row.begin > PIECE ? row.begin + PIECE : end;
        }
        visit_rows(visit, row);
    }
}

// ------------------------------------------------------------------ all distances

// Test the distances of 32 vertices from `base` on.  Each lane gets the bits of one vertex, base + lane: of those
// searches for which test(distance) is true.  All lanes must call.
template <typename Test>
__device__ __forceinline__ uint32 test_vertices(const Group& group, int32 base, int32 vertices, Test test) {
    // A step reads 32 words, those of as many vertices as the warp has groups.
    const distance_t* const words = group.shared.distance + (static_cast<int64>(base) << group.shift) + lane_id();
    const int32 many = vertices - base < WARP ? (vertices - base) << group.shift : WARP << group.shift;
    uint32 bits = 0;
#pragma unroll 1
    for (int32 first = 0; first < group.lanes(); first += IN_FLIGHT) {
        distance_t word[IN_FLIGHT];
#pragma unroll
        for (int i = 0; i < IN_FLIGHT; ++i) {
            const int32 at = (first + i) * WARP;
            word[i] = at + lane_id() < many ? current(words + at) : 0;
        }
#pragma unroll
        for (int i = 0; i < IN_FLIGHT; ++i) {
            const int32 at = (first + i) * WARP;
            const unsigned found = __ballot_sync(FULL_MASK, at + lane_id() < many && test(word[i]));
            const int32 part = (lane_id() << group.shift) - at;  // where the lane's own vertex lies
            if (part >= 0 && part < WARP) bits = found >> part & FULL_MASK >> (WARP - group.lanes());
        }
    }
    return bits;
}

// Queue the vertices between floor and threshold, and find out what lies beyond: `far`, and complements of the least
// distances.  All threads must call.
__device__ __forceinline__ void collect(const Team& team, const Group& group, Outbox& outbox, int32 vertices,
                                        uint32* far, distance_t* least) {
    Shared& shared = team.shared;
    if (threadIdx.x < MAX_LANES) shared.least[threadIdx.x] = 0;
    if (threadIdx.x == 0) shared.far = 0;
    __syncthreads();
    const distance_t floor = shared.floor[group.lane()], threshold = shared.threshold[group.lane()];
    distance_t nearest = UNREACHED;
    bool found = false;
    const int32 chunks = (vertices + CHUNK - 1) / CHUNK;
    for (int32 chunk = static_cast<int32>(team.warp()); chunk < chunks; chunk += static_cast<int32>(team.warps())) {
        if (current(&shared.waiting[chunk]) == 0) continue;
        bool stays = false;
        const auto is_near = [&](distance_t length) {
            if (length < floor || length == UNREACHED) return false;
            if (length < threshold) return true;
            stays = true;
            if (length < nearest) nearest = length;
            return false;
        };
        for (int32 base = chunk * CHUNK; base < vertices && base < (chunk + 1) * CHUNK; base += WARP) {
            const uint32 marks = test_vertices(group, base, vertices, is_near);
            if (marks != 0) shared.marks[base + lane_id()] = marks;
            outbox.push(marks != 0, base + lane_id());
        }
        stays = __any_sync(FULL_MASK, stays);
        if (!stays && lane_id() == 0) shared.waiting[chunk] = 0;
        found |= stays;
    }
    outbox.flush();
    if (nearest != UNREACHED) atomicMax(&shared.least[group.lane()], static_cast<distance_t>(~nearest));
    if (found && lane_id() == 0) atomicOr(&shared.far, 1u);
    __syncthreads();
    if (threadIdx.x < MAX_LANES && shared.least[threadIdx.x] != 0) {
        atomicMax(&least[threadIdx.x], shared.least[threadIdx.x]);
    }
    if (threadIdx.x == 0 && shared.far != 0) atomicOr(far, 1u);
}

// Let every vertex that a search has not reached within its horizon pull; long rows are put aside.
__device__ __forceinline__ void pull_rows(Pull& pull, const Team& team) {
    const Group& group = pull.group;
    const distance_t horizon = group.shared.horizon[group.lane()];
    const bool asks = group.shared.nearest[group.lane()] != UNREACHED;
    const int32 vertices = pull.graph.vertices, stride = static_cast<int32>(team.warps()) * WARP;
    for (int64 base = static_cast<int64>(team.warp()) * WARP; base < vertices; base += stride) {
        const int32 vertex = static_cast<int32>(base) + lane_id();
        Row row = {vertex, 0, 0, 0};
        row.marks = test_vertices(group, static_cast<int32>(base), vertices,
                                  [&](distance_t length) { return asks && length >= horizon; });
        if (row.marks != 0) {
            row.begin = pull.graph.offsets[vertex];
            row.end = pull.graph.offsets[vertex + 1];
        }
        visit_rows(pull, put_aside(team.shared, row));
    }
}

// ------------------------------------------------------------------ how far

// The least word that `rank` of the block's samples, one a thread, do not exceed.  All threads must call.
__device__ __noinline__ distance_t quantile(distance_t sample, int rank) {
    distance_t low = 0, high = UNREACHED;
    while (low < high) {
        const distance_t middle = low + (high - low) / 2;
        if (__syncthreads_count(sample <= middle) >= rank) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

// A weight of the graph as a distance; every block draws the same ones.
__device__ __forceinline__ distance_t sampled_weight(const Graph& graph) {
    const uint64 scattered = threadIdx.x * 2654435761ull & 0xffffffffull, arcs = static_cast<uint64>(graph.arcs);
    const index_t arc = static_cast<index_t>(arcs >> 32 ? scattered * (arcs >> 16) >> 16 : scattered * arcs >> 32);
    return arcs == 0 ? UNREACHED : extended(0, graph.weights[arc]);
}

// Choose the first width of a bucket and the horizon: that of a dense graph lies so far from a source's nearest
// neighbour that about HORIZON_ARCS arcs of a vertex are shorter.  Without one the width is the median weight, or the
// greatest where that is 0.  All threads must call.
__device__ __forceinline__ void choose_widths(Shared& shared, const Graph& graph, bool symmetric) {
    const distance_t sample = sampled_weight(graph);
    const float64 degree = static_cast<float64>(graph.arcs) / (graph.vertices > 0 ? graph.vertices : 1);
    distance_t word = UNREACHED;
    float64 view = 0;
    if (symmetric && degree >= HORIZON_DEGREE) {
        const int rank = static_cast<int>(BLOCK * HORIZON_ARCS / degree);
        word = quantile(sample, rank > 0 ? rank : 1);
        if (word != UNREACHED) view = value_of(word, weight_t());
    }
    if (!(view > 0)) {
        word = quantile(sample, BLOCK / 2);
        if (word == 0) word = quantile(sample, BLOCK);
    }
    if (threadIdx.x == 0) {
        shared.view = view;
        shared.first_width = word == 0 || word == UNREACHED ? 1 : value_of(word, weight_t());
        if (view > 0) shared.first_width = view / FIRST_WIDTHS;
    }
    __syncthreads();
}

// The word `width` beyond another, and a step beyond it at least.
__device__ __forceinline__ distance_t beyond(distance_t word, float64 width) {
    if (word == UNREACHED) return UNREACHED;
    const distance_t next = word_of(value_of(word, weight_t()) + width, weight_t());
    return next > word ? next : word + 1;
}

// The least weight among the first arcs of a source, UNREACHED if it has none.  All lanes must call.
__device__ __forceinline__ distance_t nearest_of(const Graph& graph, int32 source) {
    const index_t begin = graph.offsets[source], all = graph.offsets[source + 1] - begin;
    const index_t some = all < SOURCE_ARCS ? all : static_cast<index_t>(SOURCE_ARCS);
    distance_t nearest = UNREACHED;
    for (index_t i = lane_id(); i < some; i += WARP) {
        const distance_t length = extended(0, graph.weights[begin + i]);
        if (length < nearest) nearest = length;
    }
    return warp_min(nearest);
}

// Begin `count` searches: no vertex is reached but the sources, whose chunks are waiting.  All threads must call.
__device__ __forceinline__ void begin_searches(const Team& team, const Graph& graph, const Group& group,
                                               const int32* sources, int32 count) {
    Shared& shared = team.shared;
    for (int32 lane = threadIdx.x / WARP; lane < MAX_LANES; lane += WARPS) {
        const distance_t nearest = lane < count ? nearest_of(graph, sources[lane]) : UNREACHED;
        if (lane_id() != 0) continue;
        shared.nearest[lane] = nearest;
        shared.floor[lane] = shared.threshold[lane] = 0;
        shared.horizon[lane] = shared.view > 0 && nearest != UNREACHED ? beyond(nearest, shared.view) : UNREACHED;
        shared.least[lane] = static_cast<distance_t>(~static_cast<distance_t>(0));
    }
    if (threadIdx.x == 0) {
        shared.bounded = shared.view > 0;
        shared.width = shared.first_width;
    }
    __syncthreads();
    const int32 source = group.lane() < count ? sources[group.lane()] : -1;
    const int64 words = static_cast<int64>(graph.vertices) << group.shift;
    const int64 stride = static_cast<int64>(shared.blocks) * BLOCK;
    for (int64 word = static_cast<int64>(shared.rank) * BLOCK + threadIdx.x; word < words; word += stride) {
        const bool is_source = word >> group.shift == source;
        shared.distance[word] = is_source ? 0 : UNREACHED;
        if (is_source) shared.waiting[source / CHUNK] = 1;  // race-allowed: every writer writes 1
    }
}

// Set the next threshold of every search, a width beyond the last, or beyond its least far distance if there is none
// before; shared.least has complements.
__device__ __forceinline__ void raise_thresholds(Shared& shared) {
    __syncthreads();
    if (threadIdx.x < MAX_LANES) {
        const distance_t last = shared.threshold[threadIdx.x], horizon = shared.horizon[threadIdx.x];
        const distance_t least = static_cast<distance_t>(~shared.least[threadIdx.x]);
        const distance_t next = beyond(least != UNREACHED && least > last ? least : last, shared.width);
        shared.floor[threadIdx.x] = last;
        shared.threshold[threadIdx.x] = next < horizon ? next : horizon;
    }
    __syncthreads();
}

// Choose the next width by what the last bucket saw: all blocks see the same.
__device__ __forceinline__ void adapt_width(Shared& shared, int32 vertices) {
    if (threadIdx.x != 0) return;
    float64 passed[4];  // by this bucket; the counters are modulo 2^32
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        const uint32 now = current(&shared.control[PUSHES + i]);
        passed[i] = now - shared.before[i];
        shared.before[i] = now;
    }
    const float64 pushes = passed[0], repeats = passed[1], settled = passed[2], rounds = passed[3];
    const bool idle = settled < rounds * IDLE * shared.blocks || settled < vertices / SMALL_SHARE;
    if (repeats > MANY_REPEATS * pushes) {
        shared.width /= 2;
    } else if (idle && repeats < FEW_REPEATS * pushes) {
        shared.width *= 2;
    }
}

// Go on without horizons, from where they were.
__device__ __forceinline__ void look_beyond(Shared& shared) {
    if (threadIdx.x == 0) shared.bounded = 0;
    if (threadIdx.x < MAX_LANES) {
        shared.threshold[threadIdx.x] = shared.horizon[threadIdx.x];
        shared.horizon[threadIdx.x] = UNREACHED;
    }
    __syncthreads();
}

// ------------------------------------------------------------------ the search

// Launch: cooperative, BLOCK threads, a multiple of `team_blocks` blocks, at most as many as are resident; control,
// marks, waiting, least and flags are all 0.  `lane_shift` is the binary logarithm of the searches of a group, 3 to 5;
// `symmetric` tells that both arcs of every edge are there.  Writes distance; a team's control[OVERFLOW] tells that a
// wider word is needed.  The host may set flags[STOP] while it runs: then it ends a round or two later, and what it has
// written means nothing.
extern "C" __global__ void __launch_bounds__(BLOCK, RESIDENT)
delta_stepping_batched(int32 vertices, index_t arcs, int32 searches, int32 lane_shift, uint32 team_blocks,
                       int32 symmetric, uint32 piece_room, const index_t* __restrict__ offsets,
                       const int32* __restrict__ targets, const weight_t* __restrict__ weights,
                       const int32* __restrict__ sources, distance_t* distance, int32* near_vertex, int32* piece_vertex,
                       uint32* piece_marks, index_t* piece_begin, uint32* marks, uint32* waiting, distance_t* least,
                       uint32* control, uint32* flags, uint64* timeline) {
    __shared__ Shared shared;
    const Graph graph = {vertices, arcs, offsets, targets, weights};
    const Team team = {shared};
    const Group group = {shared, lane_shift};
    const auto enter = [&](Phase phase) {  // the time since the last call was spent in `phase`
        if (grid_thread() != 0) return;
        const uint64 now = device_nanoseconds();
        shared.spent[phase] += now - shared.since;
        shared.since = now;
    };
    const auto leads = [&]() { return shared.rank == 0 && threadIdx.x == 0; };
    const auto least_far = [&](uint32 turn) { return shared.least_far + turn % 3 * MAX_LANES; };
    // The queues and counters of a step, which are 0: what becomes near is for the next one.  Those of the step after
    // are cleared.
    const auto open = [&](uint32 turn) {
        if (threadIdx.x == 0) {
            shared.queue = shared.near + static_cast<int64>(turn % 2) * vertices;
            shared.next = shared.near + static_cast<int64>((turn + 1) % 2) * vertices;
            shared.queued = &shared.control[NEAR + (turn + 1) % 3];
            shared.pieces.count = &shared.control[PIECES + turn % 3];
            if (shared.rank == 0) {
                shared.control[NEAR + (turn + 2) % 3] = 0;
                shared.control[PIECES + (turn + 1) % 3] = shared.control[FAR + (turn + 1) % 3] = 0;
            }
        }
        if (shared.rank == 0 && threadIdx.x < MAX_LANES) least_far(turn + 1)[threadIdx.x] = 0;
        __syncthreads();
    };

    // Start: how wide a bucket is at first, and how far the horizon.
    if (threadIdx.x == 0) {
        shared.barriers = shared.pushes = shared.repeats = 0;
        for (int i = 0; i < 4; ++i) shared.before[i] = 0;
        for (int phase = 0; phase < PHASES; ++phase) shared.spent[phase] = 0;
        shared.since = device_nanoseconds();
        shared.rank = blockIdx.x % team_blocks;
        shared.blocks = team_blocks;
        const int64 team_id = blockIdx.x / team_blocks, first_piece = team_id * piece_room;
        shared.control = control + team_id * CONTROL_WORDS;
        shared.flags = flags;
        shared.first = static_cast<int32>(team_id) << lane_shift;
        shared.marks = marks + team_id * vertices;
        shared.waiting = waiting + team_id * ((vertices + CHUNK - 1) / CHUNK);
        shared.near = near_vertex + team_id * 2 * vertices;
        shared.pieces = {piece_vertex + first_piece, piece_marks + first_piece, piece_begin + first_piece, nullptr};
        shared.least_far = least + team_id * 3 * MAX_LANES;
    }
    choose_widths(shared, graph, symmetric != 0);
    Outbox outbox = {shared, 0};
    Push push = {graph, group, outbox, 0, 0};
    uint32 round = 0;  // goes on from one group to the next

    while (shared.first < searches) {
        // A group begins: every distance is UNREACHED but the sources', and their chunks are waiting.
        const int32 first = shared.first;
        const int32 count = searches - first < group.lanes() ? searches - first : group.lanes();
        if (threadIdx.x == 0) shared.distance = distance + static_cast<int64>(first) * vertices;
        begin_searches(team, graph, group, sources + first, count);
        if (team.barrier()) return;
        enter(START);

        while (true) {
            // The next threshold; what lies below it becomes near.
            open(round);
            if (leads()) shared.control[BUCKETS_DONE] += 1;
            raise_thresholds(shared);
            collect(team, group, outbox, vertices, &shared.control[FAR + round % 3], least_far(round));
            if (team.barrier()) return;
            enter(COLLECT);
            if (threadIdx.x < MAX_LANES) shared.least[threadIdx.x] = current(&least_far(round)[threadIdx.x]);
            round += 1;

            // Relax until nothing is near.
            const uint32 began = round;
            while (true) {
                const uint32 near = current(&shared.control[NEAR + round % 3]);
                if (near == 0) break;
                open(round);
                if (leads()) {
                    shared.control[ROUNDS] += 1;
                    shared.control[SETTLED] += near;
                }
                relax_queue(push, team, near);
                push.tell(shared);
                if (team.barrier()) return;
                enter(RELAX);
                const uint32 parts = current(&shared.control[PIECES + round % 3]);
                if (parts != 0) {
                    visit_pieces(push, team, parts);
                    push.tell(shared);
                    if (team.barrier()) return;
                    enter(HUBS);
                }
                round += 1;
            }
            if (round != began) {
                adapt_width(shared, vertices);
                continue;
            }
            if (current(&shared.control[FAR + (round + 2) % 3]) != 0) continue;  // of the last step, the collecting one
            if (shared.bounded == 0) break;

            // Everything within the horizons is settled; what lies beyond pulls.
            Pull pull = {graph, group};
            open(round);
            pull_rows(pull, team);
            if (team.barrier()) return;
            const uint32 parts = current(&shared.control[PIECES + round % 3]);
            if (parts != 0) {
                visit_pieces(pull, team, parts);
                if (team.barrier()) return;
            }
            round += 1;
            look_beyond(shared);
            enter(PULL);
        }
        // Wider words are needed.
        if (SUMS_OVERFLOW && DISTANCE_BITS == 32 && current(&shared.control[OVERFLOW]) != 0) break;
        __syncthreads();
        if (threadIdx.x == 0) shared.first += static_cast<int32>(gridDim.x / team_blocks) << lane_shift;
        __syncthreads();
    }
    if (grid_thread() == 0) {
        for (int phase = 0; phase < PHASES; ++phase) timeline[phase] = shared.spent[phase];
    }
}
