"""Compiled Borůvka for a team of threads: rows, live edges and trees, contracted round by round.

After the first round, on the rows, trees have numbers of their own, 0 to trees−1.  A tree that is merged into another
hangs on it in ``up``; numbers stay what they are, and a round looks at the roots alone, of which ``alive`` is the list.

Shared arrays (names used throughout; index is the dtype of targets):
    offsets, targets, words: the graph's rows; words are the bits of the weights (``canonical.weight_words``).
    forest:    (n,) int64, positions of the arcs of the forest.
    label:     (n,) index, the tree of each vertex: −1 of one without arcs.
    up:        (n,) index, of each tree the one it hangs on, itself if it is a root.
    best:      (n,) int64, the slot of the least edge of each tree, as a word of ``_offer``; in the first round the
               position of the least arc of each row; ``_NONE`` without one.
    alive:     (2, n) index, the roots with live edges before and after a round.
    tail_tree, head_tree: (slots,) index; key: (slots,) unsigned; edge: (slots,) int64 canonical ids: the live edges, in
               blocks of BLOCK slots, of which the first are in use: filled, (blocks,) int64.
    own:       (threads, COLUMNS) int64, what a thread tells the others; see the constants below.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gpugraph.compiled import plain_njit
from gpugraph.graph.canonical import find_arc
from gpugraph.team import (
    COUNTERS,
    STRIDE,
    compare_and_swap,
    cycles,
    enter,
    fetch_add,
    join,
    leave,
    load_now,
    meet,
    release,
    share_of,
    stopped,
)

BLOCK = 1024
COLUMNS = 16
_ROWS = 512
"""Rows that a thread takes at a time."""
_SAMPLES = 1024
_NONE = -1

# Counters of ``control``.
_NEXT_ROWS, _NEXT_BLOCK, _BLOCKS, _PLAN = (COUNTERS + i * STRIDE for i in range(4))
_FOREST, _GIANT, _LIVE, _HALT = _PLAN, _PLAN + 1, _PLAN + 2, _PLAN + 3

# Columns of ``own``.
_ROOTS, _CHILDREN, _KEPT, ROUNDS, FOREST, PHASES = 0, 1, 2, 3, 4, 5


@plain_njit
def _key(word: Any, sign: Any, below_sign: Any) -> Any:
    """Return a key that orders as the weight behind the word does: see ``canonical.order_keys``."""
    flipped = word ^ sign
    # Of a negative real all other bits are flipped too.
    return flipped ^ below_sign if word & sign else flipped


@plain_njit
def _root(up: Any, tree: Any) -> Any:
    """Return the root of a tree."""
    above = load_now(up, tree)
    while above != tree:
        tree, above = above, load_now(up, above)
    return tree


@plain_njit
def _flatten(up: Any, tree: Any) -> Any:
    """Return the root of a tree, halving the path to it; another thread may do so too: every ancestor will do."""
    at = tree
    above = load_now(up, at)
    while True:
        higher = load_now(up, above)
        if higher == above:
            break
        up[at] = higher
        at, above = above, higher
    up[tree] = above
    return above


@plain_njit
def _least_arcs(offsets: Any, targets: Any, words: Any, sign: Any, below_sign: Any, start: int, stop: int, best: Any,
                up: Any) -> None:  # fmt: skip
    """Write for each row of [start, stop) its least arc, the first of equals, and that arc's head."""
    for u in range(start, stop):
        first, end = offsets[u], offsets[u + 1]
        if first == end:
            best[u] = _NONE
            up[u] = u
            continue
        least = _key(words[first], sign, below_sign)
        for i in range(first + 1, end):  # no position in this loop, so that it is vectorised
            least = min(least, _key(words[i], sign, below_sign))
        while _key(words[first], sign, below_sign) != least:
            first += 1
        best[u] = first
        up[u] = targets[first]


@plain_njit
def _offer(best: Any, tree: Any, slot: int, key: Any, edge: Any) -> None:
    """Give a tree the edge in a slot, if that comes before the one it has.

    The upper half of a word is the upper half of the key, so that mostly the tree's own word tells enough.
    """
    shift = 8 * key.itemsize - 32
    prefix = np.int64(key[slot] >> key.dtype.type(shift))
    held = load_now(best, tree)
    while True:
        if held != _NONE:
            before = (held >> 32) & 0xFFFFFFFF
            if before < prefix:
                return
            if before == prefix:
                other = held & 0xFFFFFFFF
                if key[other] < key[slot] or (key[other] == key[slot] and edge[other] <= edge[slot]):
                    return
        found = compare_and_swap(best, tree, held, (prefix << 32) | slot)
        if found == held:
            return
        held = found


@plain_njit
def _first_forward(offsets: Any, targets: Any, u: Any) -> Any:
    """Return the position of the first arc of ``u`` to a greater vertex."""
    low, high = offsets[u], offsets[u + 1]
    while low < high:
        middle = (low + high) >> 1
        if targets[middle] < u:
            low = middle + 1
        else:
            high = middle
    return low


@plain_njit
def _list_edges(control: Any, rank: int, offsets: Any, targets: Any, words: Any, sign: Any, below_sign: Any, limit: Any,
                giant: int, label: Any, best: Any, tail_tree: Any, head_tree: Any, key: Any, edge: Any,
                filled: Any) -> None:  # fmt: skip
    """List the edges up to ``limit`` between two trees, and offer them; rows of the tree ``giant`` are not read."""
    n = len(offsets) - 1
    slot, end = 0, 0
    while True:
        start = fetch_add(control, _NEXT_ROWS, _ROWS)
        if start >= n:
            break
        for u in range(start, min(start + _ROWS, n)):
            a = label[u]
            if a == giant or a < 0:
                continue
            for i in range(offsets[u] if giant >= 0 else _first_forward(offsets, targets, u), offsets[u + 1]):
                weight = _key(words[i], sign, below_sign)
                if weight > limit:
                    continue
                v = targets[i]
                b = label[v]
                if a == b or (v < u and b != giant):
                    continue
                if slot == end:
                    if end > 0:
                        filled[(end - 1) // BLOCK] = BLOCK
                    slot = fetch_add(control, _BLOCKS, 1) * BLOCK
                    end = slot + BLOCK
                tail_tree[slot], head_tree[slot], key[slot] = a, b, weight
                edge[slot] = i if v > u else find_arc(offsets, targets, v, u)
                _offer(best, a, slot, key, edge)
                _offer(best, b, slot, key, edge)
                slot += 1
    if end > 0:
        filled[(end - 1) // BLOCK] = slot - (end - BLOCK)


@plain_njit
def _find_min(control: Any, up: Any, best: Any, tail_tree: Any, head_tree: Any, key: Any, edge: Any,
              filled: Any) -> int:  # fmt: skip
    """Rename the ends of live edges, drop those inside a tree, and offer the others; return how many those are."""
    kept = 0
    blocks = control[_BLOCKS]
    while True:
        block = fetch_add(control, _NEXT_BLOCK, 1)
        if block >= blocks:
            return kept
        start = block * BLOCK
        out = start
        for i in range(start, start + filled[block]):
            a, b = _root(up, tail_tree[i]), _root(up, head_tree[i])
            if a != b:
                tail_tree[out], head_tree[out], key[out], edge[out] = a, b, key[i], edge[i]
                _offer(best, a, out, key, edge)
                _offer(best, b, out, key, edge)
                out += 1
        filled[block] = out - start
        kept += out - start


@plain_njit
def _merge(control: Any, rank: int, size: int, count: int, rows: bool, before: Any, after: Any, forest: Any, up: Any,
           best: Any, edge: Any, own: Any) -> int:  # fmt: skip
    """Merge the trees that picked each other, take their picks into the forest, list the roots; return how many.

    There are ``count`` trees; those of the first round (``rows``) are all vertices, others stand in ``before``.
    ``after`` receives the roots that have picked; what they have picked is forgotten.
    """
    begun = cycles()
    first, last = share_of(count, rank, size)
    roots, children = 0, 0
    for i in range(first, last):
        tree = i if rows else before[i]
        above = up[tree]
        # Another thread may change up[above] meanwhile, but only where it is the smaller of its pair; then
        # this tree is the larger one and stays as it is.
        if tree < above and load_now(up, above) == tree:
            up[tree] = tree
        if up[tree] != tree:
            children += 1
        elif best[tree] != _NONE:
            roots += 1
    own[rank, _ROOTS], own[rank, _CHILDREN] = roots, children
    meet(control, size)
    ended = cycles()
    own[rank, PHASES + 1] += ended - begun
    out, taken, trees, joined = 0, control[_FOREST], 0, 0
    for t in range(size):
        if t < rank:
            out += own[t, _ROOTS]
            taken += own[t, _CHILDREN]
        trees += own[t, _ROOTS]
        joined += own[t, _CHILDREN]
    for i in range(first, last):
        tree = i if rows else before[i]
        if _flatten(up, tree) != tree:
            forest[taken] = best[tree] if rows else edge[best[tree] & 0xFFFFFFFF]
            taken += 1
        elif best[tree] != _NONE:
            after[out] = tree
            out += 1
            if not rows:
                best[tree] = _NONE
    if size == 1 or join(control, size):
        control[_FOREST] += joined
        control[_NEXT_BLOCK] = control[_NEXT_ROWS] = 0
        own[0, ROUNDS] += 1
        if size > 1:
            release(control)
    own[rank, PHASES + 2] += cycles() - ended
    return trees


@plain_njit
def _rounds(control: Any, rank: int, size: int, count: int, forest: Any, up: Any, best: Any, alive: Any,
            tail_tree: Any, head_tree: Any, key: Any, edge: Any, filled: Any, own: Any) -> None:  # fmt: skip
    """Contract the trees along live edges that are listed and offered, until none is left."""
    turn = 0
    while True:
        begun = cycles()
        first, last = share_of(count, rank, size)
        for i in range(first, last):
            tree = alive[turn, i]
            word = best[tree]
            if word != _NONE:
                slot = word & 0xFFFFFFFF
                up[tree] = head_tree[slot] if tail_tree[slot] == tree else tail_tree[slot]
        meet(control, size)
        own[rank, PHASES + 1] += cycles() - begun
        count = _merge(control, rank, size, count, False, alive[turn], alive[1 - turn], forest, up, best, edge, own)
        turn = 1 - turn
        begun = cycles()
        kept = _find_min(control, up, best, tail_tree, head_tree, key, edge, filled)
        fetch_add(control, _LIVE, kept)
        if size == 1 or join(control, size):
            if stopped(control):
                control[_LIVE], control[_HALT] = 0, 1
            own[0, _KEPT] = control[_LIVE]
            control[_LIVE] = 0
            if size > 1:
                release(control)
        own[rank, PHASES] += cycles() - begun
        if own[0, _KEPT] == 0:
            return


@plain_njit
def boruvka(control: Any, rank: int, size: int, offsets: Any, targets: Any, words: Any, sign: Any, below_sign: Any,
            limit: Any, filtered: bool, forest: Any, label: Any, up: Any, best: Any, alive: Any,
            tail_tree: Any, head_tree: Any, key: Any, edge: Any, filled: Any, own: Any) -> None:  # fmt: skip
    """Write the positions of the forest's arcs, and into ``own[0, FOREST]`` how many there are.

    The arrays are those of the top of the file, whatever is in them.  ``sign`` and ``below_sign``, of the words' dtype,
    tell how words are ordered (``_key``); ``limit`` is the greatest key of the edges that the rounds first run on, and
    ``filtered`` tells whether there may be heavier ones.
    """
    enter(control)
    n = len(offsets) - 1
    own[rank] = 0
    meet(control, size)
    begun = cycles()
    while True:
        start = fetch_add(control, _NEXT_ROWS, _ROWS)
        if start >= n:
            break
        _least_arcs(offsets, targets, words, sign, below_sign, start, min(start + _ROWS, n), best, up)
    meet(control, size)
    own[rank, PHASES] += cycles() - begun
    trees = _merge(control, rank, size, n, True, alive[0], alive[0], forest, up, best, edge, own)
    begun = cycles()
    # Trees get numbers of their own: their roots' places among the roots.
    first, last = share_of(trees, rank, size)
    for tree in range(first, last):
        label[alive[0, tree]] = tree
    meet(control, size)
    first, last = share_of(n, rank, size)
    for v in range(first, last):
        root = _root(up, v)
        if root != v:
            label[v] = label[root]
        elif best[v] == _NONE:
            label[v] = -1
    meet(control, size)
    own[rank, PHASES + 2] += cycles() - begun
    first, last = share_of(trees, rank, size)
    for tree in range(first, last):
        up[tree] = tree
        best[tree] = _NONE
        alive[0, tree] = tree
    giant = -1
    count = trees
    while True:
        begun = cycles()
        meet(control, size)
        _list_edges(
            control, rank, offsets, targets, words, sign, below_sign, limit, giant, label, best, tail_tree, head_tree,
            key, edge, filled,
        )  # fmt: skip
        meet(control, size)
        own[rank, PHASES + 3] += cycles() - begun
        _rounds(
            control, rank, size, count, forest, up, best, alive, tail_tree, head_tree, key, edge, filled, own
        )  # fmt: skip
        if not filtered or control[_HALT] != 0:
            break
        filtered = False
        limit = words.dtype.type(~words.dtype.type(0))
        begun = cycles()
        first, last = share_of(n, rank, size)
        for v in range(first, last):
            if label[v] >= 0:
                label[v] = _root(up, label[v])
        if size == 1 or join(control, size):
            control[_GIANT] = _frequent(label, targets)
            control[_BLOCKS] = control[_NEXT_ROWS] = control[_NEXT_BLOCK] = 0
            if size > 1:
                release(control)
        giant = control[_GIANT]
        count = _list_roots(control, rank, size, trees, up, best, alive[0], own)
        own[rank, PHASES + 3] += cycles() - begun
    if rank == 0:
        own[0, FOREST] = control[_FOREST]
    leave(control, size)


@plain_njit
def _list_roots(control: Any, rank: int, size: int, trees: int, up: Any, best: Any, alive: Any, own: Any) -> int:
    """List the trees that are roots, forget their picks, and return how many there are."""
    first, last = share_of(trees, rank, size)
    roots = 0
    for tree in range(first, last):
        roots += up[tree] == tree
    own[rank, _ROOTS] = roots
    meet(control, size)
    out, total = 0, 0
    for t in range(size):
        if t < rank:
            out += own[t, _ROOTS]
        total += own[t, _ROOTS]
    for tree in range(first, last):
        if up[tree] == tree:
            alive[out] = tree
            best[tree] = _NONE
            out += 1
    return total


@plain_njit
def _frequent(label: Any, targets: Any) -> int:
    """Return the tree of most heads among arcs that lie evenly spread, if it has half of them, else any.

    Source: Boyer and Moore 1991, MJRTY, a fast majority vote algorithm.
    """
    tree, votes = -1, 0
    for i in range(_SAMPLES):
        found = label[targets[i * (len(targets) // _SAMPLES) if len(targets) > _SAMPLES else i % len(targets)]]
        if votes == 0:
            tree = found
        votes += 1 if found == tree else -1
    return tree
