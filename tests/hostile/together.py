"""Public functions used by many threads at once, and by children of a fork: the answers are those of one thread."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import networkx as nx
import numpy as np
from scipy.sparse import csr_array

import gpugraph
from gpugraph import csgraph
from tests.hostile.trials import Part, Trial

THREADS = 8
CALLS = 24
"""Calls that the threads of one trial share."""
CHILD_SECONDS = 300
"""A child that takes longer hangs, and is ended by SIGALRM."""

Call = Callable[[], object]


@cache
def _calls() -> dict[str, Call]:
    """Return the functions, each on input that all its calls share, with an answer that can be compared."""
    wide, flat = gpugraph.generate("rmat:12"), gpugraph.generate("grid:40x40,w=0..3")
    forest = gpugraph.mst(wide, device="cpu")
    matrix = csr_array((flat.weights.astype(float) + 1, flat.targets, flat.offsets))
    nx.config.warnings_to_ignore.add("cache")  # one for each graph, and no news to a test of threads
    G = nx.gnm_random_graph(600, 2400, seed=1)
    for u, v, data in G.edges(data=True):
        data["weight"] = (u * 7 + v * 13) % 100

    def edges_of_backend() -> object:
        return sorted(nx.minimum_spanning_tree(G, backend="gpugraph").edges(data="weight"))

    return {
        "mst": lambda: gpugraph.mst(wide, device="cpu").edges.tobytes(),
        "kruskal": lambda: gpugraph.mst(wide, device="cpu", algo="kruskal").edges.tobytes(),
        "sssp": lambda: gpugraph.sssp(flat, 5, device="cpu", predecessors=True).raw.tobytes(),
        "batch": lambda: gpugraph.sssp(flat, sources=[1, 2, 3, 4], device="cpu").raw.tobytes(),
        "components": lambda: gpugraph.components(wide, device="cpu").labels.tobytes(),
        "scan": lambda: gpugraph.scan(np.arange(100_000, dtype=np.uint32), device="cpu").array.tobytes(),
        "generate": lambda: gpugraph.generate("rmat:12").weights.tobytes(),
        "verify": lambda: str(gpugraph.verify(wide, forest)),
        "csgraph tree": lambda: csgraph.minimum_spanning_tree(matrix).toarray().tobytes(),
        "csgraph paths": lambda: csgraph.dijkstra(matrix, indices=[1, 2]).tobytes(),
        "networkx tree": edges_of_backend,
        "networkx components": lambda: nx.number_connected_components(G, backend="gpugraph"),
        "networkx paths": lambda: nx.single_source_dijkstra_path_length(G, 5, backend="gpugraph"),
    }


@cache
def _answer(name: str) -> object:
    return _calls()[name]()


def try_threads(trial: Trial) -> str:
    """Call one function, or one of three, from eight threads at once."""
    names = trial.draw.sample(sorted(_calls()), trial.draw.choice((1, 1, 3)))
    expected = {name: _answer(name) for name in names}
    with ThreadPoolExecutor(THREADS) as pool:
        answers = list(pool.map(lambda i: (names[i % len(names)], _calls()[names[i % len(names)]]()), range(CALLS)))
    wrong = [name for name, answer in answers if answer != expected[name]]
    assert not wrong, f"{len(wrong)} of {CALLS} answers differ from that of one thread: {sorted(set(wrong))}"
    return "one function" if len(names) == 1 else "three functions"


def try_fork(trial: Trial) -> str:
    """Fork after a function was used, with or without another thread inside one, and use it in the child."""
    draw = trial.draw
    inside, asked = draw.choice(sorted(_calls())), draw.choice(sorted(_calls()))
    expected, _ = _answer(asked), _answer(inside)
    busy, stop = draw.random() < 0.7, threading.Event()

    def keep_busy() -> None:
        while not stop.is_set():
            _calls()[inside]()

    thread = threading.Thread(target=keep_busy, daemon=True)
    if busy:
        thread.start()
        time.sleep(draw.random() * 0.02)  # the fork meets the thread anywhere
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(CHILD_SECONDS)
        code = 9
        try:
            code = int(_calls()[asked]() != expected)
        finally:
            os._exit(code)
    try:
        _, status = os.waitpid(child, 0)
    finally:
        stop.set()
        if busy:
            thread.join()
    how = f"{asked} in a child of a fork" + (f" while a thread is inside {inside}" if busy else "")
    assert not os.WIFSIGNALED(status), f"{how}: ended by signal {os.WTERMSIG(status)}; SIGALRM means that it hangs"
    assert os.WEXITSTATUS(status) == 0, f"{how}: another answer, or an exception"
    return "a thread inside" if busy else "idle"


PARTS = (
    Part("threads", "public functions, each called by eight threads at once", 400, try_threads, 10, 300.0),
    Part("forks", "children of a fork, with and without a thread inside a function", 300, try_fork, 10, 300.0),
)
