"""Compiled Borůvka for a thread pool: rows, live edges and trees, contracted round by round.

After the first round, on the rows, trees have numbers of their own, 0 to trees−1.  A tree that is merged into another
hangs on it in ``up``; numbers stay what they are, and a round looks at the roots alone, of which ``alive`` is the list.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpugraph.base.compiled import inner_njit, plain_njit
from gpugraph.ext.tuned.thread_pool import (
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
from gpugraph.graph.canonical import find_arc

BLOCK = 1024
COLUMNS = 16
_ROWS = 512
"""Rows that a thread takes at a time."""
_SAMPLES = 1024
_NONE = -1  # slots and positions are not negative

# Counters of ``control``.
_NEXT_ROWS, _NEXT_BLOCK, _BLOCKS, _PLAN = (COUNTERS + i * STRIDE for i in range(4))
_FOREST, _GIANT, _LIVE, _HALT = _PLAN, _PLAN + 1, _PLAN + 2, _PLAN + 3

# Columns of ``thread_state``.
_ROOTS, _CHILDREN, _KEPT, ROUNDS, FOREST, PHASES = 0, 1, 2, 3, 4, 5


class Shared(NamedTuple):
    """What the threads of a run share; index is the dtype of targets.

    Attributes:
        offsets, targets, words: the graph's rows; words are the bits of the weights (``canonical.weight_words``).
        sign, below_sign: of the words' dtype, how words are ordered (``_key``).
        forest: (n,) int64, positions of the arcs of the forest.
        label: (n,) index, the tree of each vertex: −1 of one without arcs.
        up: (n,) index, of each tree the one that it points to, itself if it is a root.
        best: (n,) int64, the slot of the least edge of each tree, as a word of ``_offer``; in the first round the
            position of the least arc of each row; ``_NONE`` without one.
        alive: (2, n) index, the roots with live edges before and after a round.
        tail_tree, head_tree, key, edge: (slots,) index, index, unsigned and int64 canonical ids: the live edges, in
            blocks of BLOCK slots.
        filled: (blocks,) int64, how many slots of a block are in use, its first.
        thread_state: (threads, COLUMNS) int64, what a thread reports to the others; see the constants above.
        limit: the greatest key of the edges that the rounds first run on.
        filtered: there may be heavier ones.
    """

    offsets: NDArray[Any]
    targets: NDArray[Any]
    words: NDArray[Any]
    sign: Any
    below_sign: Any
    forest: NDArray[np.int64]
    label: NDArray[Any]
    up: NDArray[Any]
    best: NDArray[np.int64]
    alive: NDArray[Any]
    tail_tree: NDArray[Any]
    head_tree: NDArray[Any]
    key: NDArray[Any]
    edge: NDArray[np.int64]
    filled: NDArray[np.int64]
    thread_state: NDArray[np.int64]
    limit: Any
    filtered: bool


@inner_njit
def _key(word: Any, sign: Any, below_sign: Any) -> Any:
    """Return a key that orders as the weight behind the word does: see ``canonical.order_keys``."""
    flipped = word ^ sign
    # Of a negative real all other bits are flipped too.
    return flipped ^ below_sign if word & sign else flipped


@inner_njit
def _root(up: Any, tree: Any) -> Any:
    """Return the root of a tree."""
    above = load_now(up, tree)
    while above != tree:
        tree, above = above, load_now(up, above)
    return tree


@inner_njit
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


@inner_njit
def _least_arcs(s: Any, start: int, stop: int) -> None:
    """Write for each row of [start, stop) its least arc, the first of equals, and that arc's head."""
    for u in range(start, stop):
        first, end = s.offsets[u], s.offsets[u + 1]
        if first == end:
            s.best[u] = _NONE
            s.up[u] = u
            continue
        least = _key(s.words[first], s.sign, s.below_sign)
        for i in range(first + 1, end):  # no position in this loop, so that it is vectorised
            least = min(least, _key(s.words[i], s.sign, s.below_sign))
        while _key(s.words[first], s.sign, s.below_sign) != least:
            first += 1
        s.best[u] = first
        s.up[u] = s.targets[first]


@inner_njit
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


@inner_njit
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


@inner_njit
def _list_edges(s: Any, control: Any, limit: Any, giant: int) -> None:
    """List the edges up to ``limit`` between two trees, and offer them; rows of the tree ``giant`` are not read."""
    n = len(s.offsets) - 1
    slot, end = 0, 0
    while True:
        start = fetch_add(control, _NEXT_ROWS, _ROWS)
        if start >= n:
            break
        for u in range(start, min(start + _ROWS, n)):
            a = s.label[u]
            if a == giant or a < 0:
                continue
            for i in range(s.offsets[u] if giant >= 0 else _first_forward(s.offsets, s.targets, u), s.offsets[u + 1]):
                weight = _key(s.words[i], s.sign, s.below_sign)
                if weight > limit:
                    continue
                v = s.targets[i]
                b = s.label[v]
                if a == b or (v < u and b != giant):
                    continue
                if slot == end:
                    block = fetch_add(control, _BLOCKS, 1)
                    slot, end = block * BLOCK, (block + 1) * BLOCK
                    s.filled[block] = BLOCK
                s.tail_tree[slot], s.head_tree[slot], s.key[slot] = a, b, weight
                s.edge[slot] = i if v > u else find_arc(s.offsets, s.targets, v, u)
                _offer(s.best, a, slot, s.key, s.edge)
                _offer(s.best, b, slot, s.key, s.edge)
                slot += 1
    if end > 0:
        s.filled[(end - 1) // BLOCK] = slot - (end - BLOCK)


@inner_njit
def _find_min(s: Any, control: Any) -> int:
    """Rename the ends of live edges, drop those inside a tree, and offer the others; return how many those are."""
    kept = 0
    blocks = control[_BLOCKS]
    while True:
        block = fetch_add(control, _NEXT_BLOCK, 1)
        if block >= blocks:
            return kept
        start = block * BLOCK
        out = start
        for i in range(start, start + s.filled[block]):
            a, b = _root(s.up, s.tail_tree[i]), _root(s.up, s.head_tree[i])
            if a != b:
                s.tail_tree[out], s.head_tree[out], s.key[out], s.edge[out] = a, b, s.key[i], s.edge[i]
                _offer(s.best, a, out, s.key, s.edge)
                _offer(s.best, b, out, s.key, s.edge)
                out += 1
        s.filled[block] = out - start
        kept += out - start


@inner_njit
def _merge(s: Any, me: Any, count: int, rows: bool, turn: int) -> int:
    """Merge the trees that picked each other, take their picks into the forest, list the roots; return how many.

    There are ``count`` trees; those of the first round (``rows``) are all vertices, the others are in ``alive[turn]``.
    The other half of ``alive`` receives the roots that have picked; what they have picked is forgotten.
    """
    control, rank, size = me
    before, after = s.alive[turn], s.alive[1 - turn]
    begun = cycles()
    first, last = share_of(count, rank, size)
    roots, children = 0, 0
    for i in range(first, last):
        tree = i if rows else before[i]
        above = s.up[tree]
        # Another thread may change up[above] meanwhile, but only where it is the smaller of its pair; then
        # this tree is the larger one and stays as it is.
        if tree < above and load_now(s.up, above) == tree:
            s.up[tree] = tree
        if s.up[tree] != tree:
            children += 1
        elif s.best[tree] != _NONE:
            roots += 1
    s.thread_state[rank, _ROOTS], s.thread_state[rank, _CHILDREN] = roots, children
    meet(control, size)
    ended = cycles()
    s.thread_state[rank, PHASES + 1] += ended - begun
    out, taken, trees, joined = 0, control[_FOREST], 0, 0
    for t in range(size):
        if t < rank:
            out += s.thread_state[t, _ROOTS]
            taken += s.thread_state[t, _CHILDREN]
        trees += s.thread_state[t, _ROOTS]
        joined += s.thread_state[t, _CHILDREN]
    for i in range(first, last):
        tree = i if rows else before[i]
        if _flatten(s.up, tree) != tree:
            s.forest[taken] = s.best[tree] if rows else s.edge[s.best[tree] & 0xFFFFFFFF]
            taken += 1
        elif s.best[tree] != _NONE:
            after[out] = tree
            out += 1
            if not rows:
                s.best[tree] = _NONE
    if join(control, size):
        control[_FOREST] += joined
        control[_NEXT_BLOCK] = control[_NEXT_ROWS] = 0
        s.thread_state[0, ROUNDS] += 1
        release(control)
    s.thread_state[rank, PHASES + 2] += cycles() - ended
    return trees


@inner_njit
def _rounds(s: Any, me: Any, count: int) -> None:
    """Contract the trees along live edges that are listed and offered, until none is left."""
    control, rank, size = me
    turn = 0
    while True:
        begun = cycles()
        first, last = share_of(count, rank, size)
        for i in range(first, last):
            tree = s.alive[turn, i]
            word = s.best[tree]
            if word != _NONE:
                slot = word & 0xFFFFFFFF
                s.up[tree] = s.head_tree[slot] if s.tail_tree[slot] == tree else s.tail_tree[slot]
        meet(control, size)
        s.thread_state[rank, PHASES + 1] += cycles() - begun
        count = _merge(s, me, count, False, turn)
        turn = 1 - turn
        begun = cycles()
        kept = _find_min(s, control)
        fetch_add(control, _LIVE, kept)
        if join(control, size):
            if stopped(control):
                control[_LIVE], control[_HALT] = 0, 1
            s.thread_state[0, _KEPT] = control[_LIVE]
            control[_LIVE] = 0
            release(control)
        s.thread_state[rank, PHASES] += cycles() - begun
        if s.thread_state[0, _KEPT] == 0:
            return


@plain_njit
def boruvka(control: Any, rank: int, size: int, s: Shared) -> None:
    """Write the positions of the forest's arcs, and into ``thread_state[0, FOREST]`` how many there are."""
    enter(control)
    n = len(s.offsets) - 1
    me, limit, filtered = (control, rank, size), s.limit, s.filtered
    s.thread_state[rank] = 0
    meet(control, size)
    begun = cycles()
    while True:
        start = fetch_add(control, _NEXT_ROWS, _ROWS)
        if start >= n:
            break
        _least_arcs(s, start, min(start + _ROWS, n))
    meet(control, size)
    s.thread_state[rank, PHASES] += cycles() - begun
    trees = _merge(s, me, n, True, 1)
    begun = cycles()
    # Trees get numbers of their own: their roots' places among the roots.
    first, last = share_of(trees, rank, size)
    for tree in range(first, last):
        s.label[s.alive[0, tree]] = tree
    meet(control, size)
    first, last = share_of(n, rank, size)
    for v in range(first, last):
        root = _root(s.up, v)
        if root != v:
            s.label[v] = s.label[root]
        elif s.best[v] == _NONE:
            s.label[v] = -1
    meet(control, size)
    s.thread_state[rank, PHASES + 2] += cycles() - begun
    first, last = share_of(trees, rank, size)
    for tree in range(first, last):
        s.up[tree] = tree
        s.best[tree] = _NONE
        s.alive[0, tree] = tree
    giant = -1
    count = trees
    while True:
        begun = cycles()
        meet(control, size)
        _list_edges(s, control, limit, giant)
        meet(control, size)
        s.thread_state[rank, PHASES + 3] += cycles() - begun
        _rounds(s, me, count)
        if not filtered or control[_HALT] != 0:
            break
        filtered = False
        limit = s.words.dtype.type(~s.words.dtype.type(0))
        begun = cycles()
        first, last = share_of(n, rank, size)
        for v in range(first, last):
            if s.label[v] >= 0:
                s.label[v] = _root(s.up, s.label[v])
        if join(control, size):
            control[_GIANT] = _frequent(s.label, s.targets)
            control[_BLOCKS] = control[_NEXT_ROWS] = control[_NEXT_BLOCK] = 0
            release(control)
        giant = control[_GIANT]
        count = _list_roots(s, me, trees)
        s.thread_state[rank, PHASES + 3] += cycles() - begun
    if rank == 0:
        s.thread_state[0, FOREST] = control[_FOREST]
    leave(control, size)


@inner_njit
def _list_roots(s: Any, me: Any, trees: int) -> int:
    """List the trees that are roots, forget their picks, and return how many there are."""
    control, rank, size = me
    alive = s.alive[0]
    first, last = share_of(trees, rank, size)
    roots = 0
    for tree in range(first, last):
        roots += s.up[tree] == tree
    s.thread_state[rank, _ROOTS] = roots
    meet(control, size)
    out, total = 0, 0
    for t in range(size):
        if t < rank:
            out += s.thread_state[t, _ROOTS]
        total += s.thread_state[t, _ROOTS]
    for tree in range(first, last):
        if s.up[tree] == tree:
            alive[out] = tree
            s.best[tree] = _NONE
            out += 1
    return total


@inner_njit
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
