/*
The whole minimum spanning forest in one cooperative launch: Boruvka's rounds on a list of light edges, then on the few
heavy edges that still join two components.

    1  row minimum      every vertex picks its lightest arc: 4 bytes per arc, no atomics, no labels
    2  hook and number  of two vertices that picked each other the smaller is a root; all others join the forest;
                        roots get dense numbers, and every vertex the number of its root
    3  light edges      arcs below a sampled threshold that join two components are listed, in their order
                        (all arcs, if degrees are low): a few for each vertex, more where the graph is clustered
    4  rounds           each component picks its lightest listed edge, hooks, and is renumbered;
                        edges inside are dropped, and those seen next to a lighter parallel one; when few components are
                        left, a matrix takes the lightest edge between each two, and the last rounds read its rows
    5  heavy edges      as 3, for the rest: after 4 nearly all vertices lie in one giant component, and an edge that
                        joins two components has an end outside of it, so only the rows of vertices outside are read,
                        and of each only the lightest edge into the giant component is listed
    6  rounds           as 4

Where no component is giant, 5 lists all edges that are left as 3 does.  Where the list has no room for what is to be
listed, the threshold is lowered, and 3 to 5 are repeated.

filter_boruvka/phases has the phases in order; their parts are in row_minima, hooking, listing, rounds and matrix, and
what all share is in base.

    offsets (n+1)  targets (arcs)  weights (arcs)      the graph, both arcs of every edge, rows by target
    label (n)          component of each vertex; DEAD if isolated
    pick, link, up (n) per vertex, then per component: the lightest arc, where it leads; one that is above, or the
                       root's number
    first_row (spans)  the row in which each span of arcs begins; a warp lists the light edges of two spans
    best_key, best_id  (components <= n/2)             lightest listed edge of each component: key, and slot or id
    chain (n)          the numbers of each round behind each other, to find a vertex's component after all rounds
    list (room * PAGE) listed edges: light ones on pages, each warp's in order, others one after the other; who listed
                       them compacts them in place
    page_of (arcs / PAGE + 1)  the page of the list on which PAGE slots lie
    hubs (n)                   rows too long for a warp; shares the memory of `chain`
    forest (n-1)       picked edges, each by the position of one of its arcs
    control, next_control (CONTROL_WORDS)  counters of this launch (enum Control), and of the one behind it
    timeline (END + 1) when each phase began (enum Phase)
    cells              of the matrix between `dense` components: as many words as struct Matrix says

Invariants.  Edges compare by (weight, id), id = position of the arc u->v with u < v.  Inside a row that is (weight,
position).  Every edge in the forest is the lightest that leaves some set of vertices, so the order in which edges are
listed cannot change the forest.  Live components at least halve in a round; one without a listed edge retires.

Kernel rules: every wait on another block is grid_barrier(); every loop around one runs equally often in all threads.

Source: O. Boruvka 1926; V. Osipov, P. Sanders, J. Singler, "The filter-Kruskal minimum spanning tree algorithm", ALENEX
2009 (the threshold); A. Fallin, A. Gonzalez, J. Seo, M. Burtscher, "A high-performance MST implementation for GPUs", SC
2023 (filtering on the GPU).  Dense renumbering, the row minimum without atomics, slots on pages that order edges as ids
do and find them, and reading only the rows outside the giant component are ours.
*/
#include "filter_boruvka/phases.cuh"

// Launch: cooperative, BLOCK threads, at most as many blocks as are resident; `control` is all 0, and
// `next_control` when it has ended.
// `wanted` is how many arcs should be light if every vertex has arcs, 0 for all (then phases 5 and 6 are not needed);
// `room` is how many pages the list has, at least one for each span and one more; `dense` is from how many components
// on the rounds are made on a matrix, at most MOST_DENSE; 1 for none.
// Writes forest; control[FOREST] is the number of its edges.
extern "C" __global__ void __launch_bounds__(BLOCK, RESIDENT)
filter_boruvka(int32 vertices, index_t arcs, uint64 wanted, const index_t* __restrict__ offsets,
               const int32* __restrict__ targets, const weight_t* __restrict__ weights, int32* label, index_t* pick,
               int32* link, int32* up, uint64* best_key, uint64* best_id, int32* chain, Edge* list, uint32 room,
               uint32* page_of, int32* first_row, int32* hubs, index_t* forest, uint32* control, uint32* next_control,
               uint64* timeline, uint64* cells, uint32 dense) {
    __shared__ Shared shared;
    const Graph graph = {vertices, arcs, offsets, targets, weights};
    const Pages pages = {list, room, page_of, &control[PAGES]};
    const bool narrow = sizeof(weight_key_t) == 4 && (INDEX_BITS == 32 || arcs < 0xffffffffll);
    Boruvka boruvka = {shared, graph, pages, wanted, label, pick, link, up, best_key, best_id, chain, first_row, hubs,
                       forest, control, timeline, cells, narrow, narrow ? dense : 1, 0, 0, 0};
    boruvka.pick_minima(next_control);
    boruvka.hook_vertices();
    boruvka.choose_threshold();
    Holding held;  // what the warp has listed
    while (true) {
        if (!boruvka.list_spans(held)) continue;
        boruvka.make_rounds_by_slots(held);
        if (!shared.filters) break;
        boruvka.spread_numbers();
        if (!boruvka.list_outside_giant()) continue;
        boruvka.make_rounds_by_ids();
        break;
    }
    if (own_thread() == 0) control[ROUNDS] = shared.round;
    boruvka.enter(END);
}
