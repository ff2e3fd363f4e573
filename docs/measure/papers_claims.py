"""What the four papers claim; papers_figures.py measures what the claims need and prints what comes of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from dijkstra_figures import LIST_CLAIMS, MATRIX_CLAIMS
from papers_claim import NEAR, ONE_THREAD, Claim, Found, Run, against, faster, holds, kernel, moved, ms, ratio

PAPER = ("renumber", "sort-adjacency", "rank-weights")

# ------------------------------------------------------------------ Kolganov 2015


def kolganov(small: bool, full: bool) -> Iterator[Claim]:
    """RMAT and SSCA2 graphs of degree 32 with weights that are doubles."""
    scale = 10 if small else 22
    rmat, ssca2 = f"rmat:{scale},w=0.0..1.0", f"ssca2:{scale},w=0.0..1.0"

    def boruvka(graph: str, *prepare: str) -> Run:
        return Run("mst", graph, "boruvka", prepare=prepare, phases=True)

    best = {rmat: boruvka(rmat, *PAPER), ssca2: boruvka(ssca2, *PAPER, "compress")}
    both = tuple(best.values())

    def share(found: Found) -> tuple[str, str]:
        shares = []
        for run in both:
            inner = found[run]["kernel_phases_s"]
            shares.append(inner["find_min"] / sum(inner.values()))
        return "RMAT {:.0%}, SSCA2 {:.0%}".format(*shares), holds(0.5 < max(shares) <= 0.9)

    def rounds(found: Found) -> tuple[str, str]:
        told = [int(found[run]["rounds"]) for run in both]
        return "RMAT {}, SSCA2 {}".format(*told), holds(all(7 <= one <= 8 for one in told))

    def factor(found: Found) -> tuple[str, str]:
        ours = found[best[ssca2]]["counters"]["compression_percent"] / 100
        return f"{ours:.2f}", against(2.9, ours)

    def renumbering(found: Found) -> tuple[str, str]:
        gains = [ratio(found, boruvka(graph), boruvka(graph, "renumber")) for graph in (rmat, ssca2)]
        return "RMAT {:.2f} times, SSCA2 {:.2f} times".format(*gains), holds(gains[1] > max(gains[0], 1.05))

    hybrid = Run("mst", ssca2, "boruvka-hybrid", prepare=(*PAPER, "compress"), phases=True)
    shares = [hybrid.but(cpu_share=text) for text in ("0", "0.1", "0.2", "0.25", "auto")]

    def cpu_share(found: Found) -> tuple[str, str]:
        least = min(shares, key=lambda run: kernel(found, run))
        times = ", ".join(f"{dict(run.options)['cpu-share']}: {ms(kernel(found, run))}" for run in shares)
        told = found[least]["counters"]["cpu_percent"]
        return f"best at {told} % ({times})", holds(15 <= told <= 30)

    sizes = [scale - 6, scale - 4, scale - 2, scale]
    growing = [boruvka(f"ssca2:{one},w=0.0..1.0", *PAPER, "compress") for one in sizes]

    def growth(found: Found) -> tuple[str, str]:
        rates = [float(found[run]["mteps"]["kernel"] or 0) for run in growing]
        told = ", ".join(f"scale {one}: {rate:,.0f}" for one, rate in zip(sizes, rates, strict=True))
        return f"MTEPS at {told}", holds(rates[0] > 0 and rates == sorted(rates))

    averaged = (
        boruvka(f"rmat:{scale + 1},w=0.0..1.0", *PAPER),
        boruvka(f"ssca2:{scale + 1},w=0.0..1.0", *PAPER, "compress"),
    )

    def mean_rate(found: Found) -> tuple[str, str]:
        rates = [float(found[run]["mteps"]["kernel"] or 0) for run in averaged]
        told = "{:,.0f} MTEPS (RMAT {:,.0f}, SSCA2 {:,.0f}) at scale {}"
        return told.format(sum(rates) / 2, *rates, scale + 1), against(3200, sum(rates) / 2)

    copied = Run("scan", f"array:size={'64KiB' if small else '512MiB'}", "look-back")

    def copies(found: Found) -> tuple[str, str]:
        ways = [moved(found, copied)[f"{way}_gb_s"] or 0.0 for way in ("h2d", "d2h")]
        return "to the GPU {:.1f}, back {:.1f} GB/s".format(*ways), against(12, min(ways))

    cpu, limit = Run("mst", ssca2, "boruvka", "cpu"), Run("mst", ssca2, "boruvka-hybrid").but(memory_limit="60%")
    test = "test results"
    yield Claim("find-min takes up to 80 % of the time", "stages, 4", "80 %", both, share)
    yield Claim("about 7–8 rounds", "stages, 4", "7–8", both, rounds)
    yield Claim(
        "compression makes the neighbours 2.9 times smaller", "conversion, 4", "2.9 (computed)", both[1:], factor
    )
    for name, run in (("RMAT", best[rmat]), ("SSCA2", best[ssca2])):
        text = f"{name}: shuffles make the whole algorithm about 2 times as fast as shared memory"
        yield faster(text, "stages, 1", 2.0, run.but(exchange="shared-memory"), run)
    for name, graph in (("RMAT", rmat), ("SSCA2", ssca2)):
        text = f"{name}: with sorted rows find-min can stop early, and is faster"
        yield faster(text, "stages, 1", "no figure", boruvka(graph), boruvka(graph, "sort-adjacency"))
    several = tuple(boruvka(graph, *prepare) for graph in (rmat, ssca2) for prepare in ((), ("renumber",)))
    yield Claim("renumbering helps SSCA2 more than RMAT", "conversion, 2", "no figure", several, renumbering)
    text = "the CPU is worth 20–25 % of find-min at most"
    yield Claim(text, "hybrid", "20–25 %", tuple(shares), cpu_share)
    yield Claim("copies between CPU and GPU reach 12 GB/s", "hybrid", "12 GB/s", (copied,), copies)
    text = "SSCA2: the larger, the faster, while it fits"
    yield Claim(text, test, "figure without numbers", tuple(growing), growth)
    text = "beyond the GPU's memory (here: 60 % of the graph) the hybrid is faster than the CPU alone"
    yield faster(text, test, "no figure", cpu, limit)
    text = "the best codes for each family average 3200 MTEPS at scale 23"
    yield Claim(text, "comparison", "3200 MTEPS, projected", averaged, mean_rate)


# ------------------------------------------------------------------ Sun, Skadron 2013


def sun(small: bool, full: bool) -> Iterator[Claim]:
    """Exclusive sums of uint32, segmented minima, and forests of equal edge counts."""
    size = "64KiB" if small else "512MiB"
    array = f"array:size={size},exclusive=yes"
    three, clpp = Run("scan", array, "reduce-then-scan"), Run("scan", array, "scan-then-propagate")
    two, one = three.but(buffers=2), Run("scan", array, "cpu", "cpu")
    back = Run("scan", array, "look-back")

    def total(text: str, stated: float, run: Run) -> Claim:
        def judge(found: Found) -> tuple[str, str]:
            seconds = moved(found, run)["total_s"]
            ours = kernel(found, one) / seconds
            return f"{ours:.2f} times ({ms(kernel(found, one), seconds)})", against(stated, ours)

        return Claim(text, "3, figure 8", f"{stated:g} times", (one, run), judge)

    def transfers(found: Found) -> tuple[str, str]:
        told = moved(found, three)
        ours = told["transfers_share"]
        rates = "–" if not told["h2d_gb_s"] else f"{told['h2d_gb_s']:.1f} and {told['d2h_gb_s']:.1f} GB/s"
        return f"{ours:.1%}, {rates}", "yes, more" if ours > 0.95 else holds(ours >= 0.8)

    def buffers(found: Found) -> tuple[str, str]:
        totals = [moved(found, run)["total_s"] for run in (two, three)]
        return f"total {ms(*totals)}, kernel {ms(kernel(found, two), kernel(found, three))}", holds(
            totals[0] > totals[1]
        )

    yield faster(f"sums of {size}: times one thread, kernel", "3, figure 6", 21.7, one, three)
    yield faster("the same by CLPP's scheme", "3, figure 6", 2.1, one, clpp)
    yield faster("reduce-then-scan is faster than scan-then-propagate", "3, figure 6", 21.7 / 2.1, clpp, three)
    yield total("the same in total, with allocation and both transfers", 3.1, three)
    yield total("the same in total by CLPP's scheme", 1.4, clpp)
    text = "transfers are most of the total"
    yield Claim(text, "3", "86 % at 3.3 GB/s; 95 % at 2 GB/s on an AMD Tahiti", (three,), transfers)
    yield Claim("one buffer is faster in total than two", "3", "3 against 1.2 times", (three, two), buffers)
    yield faster("one pass over the data (ours: look-back) is faster than three", "–", "not in the paper", three, back)

    lengths = (16, 256) if small else (16, 16384)
    sparse, dense = (f"array:size={size},segments={length}" for length in lengths)

    def find_min(graph: str, stated: float, kind: str) -> Claim:
        gpu, cpu = Run("scan", graph, "segmented-min"), Run("scan", graph, "segmented-min", "cpu")

        def judge(found: Found) -> tuple[str, str]:
            seconds = kernel(found, gpu) + found[gpu]["phases_s"]["d2h"]
            ours = kernel(found, cpu) / seconds
            told = f"{ours:.2f} times with the copy back, {ratio(found, cpu, gpu):.1f} times without"
            return told, against(stated, ours)

        text = f"find-min-edge of 128 M edges, {kind}: times one thread, with the copy back"
        return Claim(text, "5, figure 11", f"{stated:g} times", (cpu, gpu), judge)

    yield find_min(dense, 1.92, "dense")
    yield find_min(sparse, 4.11, "sparse")

    def same(found: Found) -> tuple[str, str]:
        times = [kernel(found, Run("scan", graph, "segmented-min")) for graph in (dense, sparse)]
        return f"dense, sparse: {ms(*times)}", holds(abs(times[0] / times[1] - 1) <= NEAR)

    needs = tuple(Run("scan", graph, "segmented-min") for graph in (dense, sparse))
    yield Claim("the GPU takes as long on dense as on sparse graphs", "5", "figure without numbers", needs, same)
    flags = [needs[0].but(flags="bytes"), needs[0].but(flags="top-bit")]
    yield faster("heads in the top bit are faster than heads in bytes", "6, open", "no figure", *flags)
    yield from _forests(small, full)


def _forests(small: bool, full: bool) -> Iterator[Claim]:
    n, vertices = (64, 128) if small else (16384, 1 << 24) if full else (8192, 1 << 22)
    edges = n * (n - 1) // 2
    graphs = {"dense": f"complete:{n}", "sparse": f"random:n={vertices},m={edges}"}
    for kind, stated, share_stated in (("dense", 1.26, 0.45), ("sparse", 1.28, 0.30)):
        scan = Run("mst", graphs[kind], "boruvka-scan", phases=True)
        one, all_ = Run("mst", scan.graph, "boruvka", ONE_THREAD, phases=True), Run("mst", scan.graph, "boruvka", "cpu")

        def share(found: Found, run: Run = one, stated: float = share_stated) -> tuple[str, str]:
            inner = found[run]["kernel_phases_s"]
            ours = inner["find_min"] / sum(inner.values())
            return f"{ours:.0%} of our Borůvka, which filters, on one thread", holds(abs(ours - stated) <= 0.1)

        def speedup(
            found: Found, scan: Run = scan, one: Run = one, all_: Run = all_, stated: float = stated
        ) -> tuple[str, str]:
            seconds = kernel(found, scan) + found[scan]["phases_s"]["d2h"]
            ours = kernel(found, one) / seconds
            return f"{ours:.1f} times one thread, {kernel(found, all_) / seconds:.1f} times all", against(stated, ours)

        text = f"find-min-edge is {share_stated:.0%} of a sequential Borůvka, {kind}".replace("%", " %")
        yield Claim(text, "4", f"{share_stated:.0%}".replace("%", " %"), (one,), share)
        text = f"forest of {edges / 1e6:.3g} M edges, {kind}: times sequential Borůvka"
        yield Claim(text, "5, figure 14", f"{stated:g} times at 128 M edges", (scan, one, all_), speedup)
        prims = [Run("mst", scan.graph, "boruvka-prim").but(switch_after=rounds) for rounds in (-1, 3, 4, 6, 8)]

        def question(found: Found, scan: Run = scan, prims: Sequence[Run] = tuple(prims)) -> tuple[str, str]:
            times = {str(dict(run.options)["switch-after"]): kernel(found, run) for run in prims}
            told = ", ".join(f"{'log log V' if k == '-1' else k}: {ms(s)}" for k, s in times.items())
            verdict = "yes" if min(times.values()) < kernel(found, scan) else "no"
            return f"Prim after {told}; Borůvka alone {ms(kernel(found, scan))}", verdict

        text = f"is Borůvka's, then Prim's, faster than Borůvka's by scan alone? {kind}"
        yield Claim(text, "6, open", "open question", (scan, *prims), question)


# ------------------------------------------------------------------ Wang, Huang, Guo 2011


def wang(small: bool, full: bool) -> Iterator[Claim]:
    """Random graphs with 2 and 10 edges a vertex, weights 1 to 1000."""
    sizes = [16, 32, 64] if small else [1 << k for k in (7, 10, 12, 13, 14)]
    middle, last = sizes[len(sizes) // 2], sizes[-1]

    def run(n: int, ef: int, algorithm: str, device: str = "gpu") -> Run:
        return Run("mst", f"random:n={n},ef={ef},w=1..1000", algorithm, device)

    for ef in (2, 10):
        heap, prim = run(last, ef, "prim", "cpu"), run(last, ef, "prim")
        naive, persistent = run(last, ef, "prim-naive"), run(last, ef, "prim-persistent")
        text = f"{last} vertices, {ef} edges a vertex: prim is faster than serial Prim"
        yield faster(text, "VI-D, figure 10", 2.0, heap, prim)
        yield faster(
            "the same: prim-persistent, without a loop on the host", "VI-E", "not in the paper", heap, persistent
        )
        yield faster(
            "the same: prim is faster than the version without the primitive", "VI-D, figure 10", 3.0, naive, prim
        )
        for algorithm, stated in (("prim", "faster beyond 4096 vertices"), ("prim-persistent", "not in the paper")):
            pairs = {n: (run(n, ef, "prim", "cpu"), run(n, ef, algorithm)) for n in sizes}

            def crossing(found: Found, pairs: dict[int, tuple[Run, Run]] = pairs) -> tuple[str, str]:
                gains = {n: ratio(found, *pair) for n, pair in pairs.items()}
                beyond = [gain for n, gain in gains.items() if n > middle]
                told = ", ".join(f"{n}: {gain:.2f}" for n, gain in gains.items())
                return f"times the CPU at {told}", holds(min(beyond) > 1)

            text = f"{algorithm} is faster than the CPU beyond 4096 vertices, {ef} edges a vertex"
            needs = tuple(one for pair in pairs.values() for one in pair)
            yield Claim(text, "VI-D, figure 9", stated, needs, crossing)
        naives = tuple((run(n, ef, "prim", "cpu"), run(n, ef, "prim-naive")) for n in sizes)

        def never(found: Found, pairs: tuple[tuple[Run, Run], ...] = naives) -> tuple[str, str]:
            gains = [ratio(found, *pair) for pair in pairs]
            return f"at most {max(gains):.2f} times the CPU", holds(max(gains) < 1)

        text = f"without the primitive the GPU is never faster, {ef} edges a vertex"
        yield Claim(text, "VI-D, figure 10", "less than 1", tuple(one for pair in naives for one in pair), never)
    base = run(middle if small else 8192, 10, "prim")
    yield faster(
        "the layout of pairs is faster than V, E and W",
        "III-C",
        "no figure",
        base.but(layout="csr"),
        base.but(layout="int2"),
    )
    shapes = {(b, t): base.but(blocks=b, threads=t) for b in (32, 64, 128, 256) for t in (32, 64, 128, 256)}

    def best(found: Found) -> tuple[str, str]:
        times = {shape: kernel(found, one) for shape, one in shapes.items()}
        blocks, threads = min(times, key=times.__getitem__)
        behind = times[128, 128] / min(times.values())
        return f"best {blocks} × {threads}, 128 × 128 takes {behind:.3f} times as long", holds(behind <= 1.02)

    yield Claim("128 blocks of 128 threads are best", "VI-D", "128 × 128", tuple(shapes.values()), best)


# ------------------------------------------------------------------ Martín, Torres, Gavilanes 2009

FACTORS = {
    "U-GPU-PLUS is near 10 times as fast as FH": ("6, figure 6", 10.0),
    "F-GPU is around 60 times as fast as FH": ("6, figure 6", 60.0),
    "matrices: U-GPU is 32 times as fast as FH": ("6, figure 7", 32.0),
}
"""The claims of docs/measure/dijkstra_figures.py that state a factor."""


def martin(small: bool, full: bool) -> Iterator[Claim]:
    """Lists of in-degree 7, matrices of in-degree n/5, weights 1 to 10, from vertex 0."""
    most, lists, matrix = (512, 256, 64) if small else (11 << 20, 4 << 20, 15 << 10)

    def run(n: int, algorithm: str, degree: int = 7) -> Run:
        place = "cpu" if algorithm == "dijkstra-fibonacci" else "gpu"
        graph = f"regular:n={n},in={degree},w=1..10"
        return Run("sssp", graph, algorithm, place, phases=algorithm == "dijkstra")

    def rounds(found: Found) -> tuple[str, str]:
        told = int(found[run(most, "dijkstra")]["rounds"])
        return str(told), holds(abs(told / 45 - 1) <= NEAR)

    yield Claim("about 45 rounds on the largest lists", "6", "45", (run(most, "dijkstra"),), rounds)
    for text, slow, fast, least, greatest in (*LIST_CLAIMS, *MATRIX_CLAIMS):
        on_matrix = text.startswith("matrices")
        place, stated = FACTORS.get(text, (f"6, figure {7 if on_matrix else 6}", 0.0))
        n = matrix if on_matrix else most if "FH" in text else lists
        pair = [run(n, name, n // 5 if on_matrix else 7) for name in (slow, fast)]

        def judge(
            found: Found, pair: list[Run] = pair, stated: float = stated, least: float = least, most: float = greatest
        ) -> tuple[str, str]:
            ours = ratio(found, *pair)
            told = f"{ours:.2f} times ({ms(*(kernel(found, one) for one in pair))}), {pair[0].graph}"
            return told, against(stated, ours) if stated else holds(least <= ours <= most)

        text = text if on_matrix else f"lists: {text}"
        yield Claim(text, place, f"about {stated:g} times" if stated else "figure without numbers", tuple(pair), judge)


PAPERS: dict[str, tuple[str, Callable[[bool, bool], Iterator[Claim]]]] = {
    "kolganov2015": ("GTX Titan, Xeon E5 v1660", kolganov),
    "sun2013": ("GTX 460, Core i7", sun),
    "wang2011": ("GTX 260, Pentium 4 3 GHz", wang),
    "martin2009": ("GTX 280, Core 2 Quad Q6600", martin),
}
"""By paper: what it measured on, and its claims for (small, full)."""
