"""A graph in figures, and advice on the hardware for one: for people."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from gpugraph.base.quantities import count, counted, duration, in_units
from gpugraph.ext.graph_files.properties import Degrees, GraphProperties
from gpugraph.ext.machine.break_even import edges_text
from gpugraph.ext.machine.data_sheets import OF_ESTIMATE
from gpugraph.report.terminal import BAR_WIDTH, Line, columns, field, indented


def graph_figures(graph: Mapping[str, object], figures: GraphProperties, *, width: int = 80) -> list[Line]:
    """Return the lines of a graph: of the ``graph`` object of a record, and of what was counted."""
    kind = "directed" if figures.directed else "undirected"
    source = f" ({graph['source']})" if graph["source"] not in ("", graph["name"]) else ""
    edges = counted(figures.arcs, "arc") if figures.directed else f"{counted(figures.edges, 'edge')}"
    parts = count(figures.components)
    if figures.components > 1:
        parts += f", the largest of {counted(figures.largest_component, 'vertex')}; {count(figures.isolated)} isolated"
    rows = [
        ("graph", f"{graph['name']}{source}, {kind}"),
        ("size", f"{counted(figures.vertices, 'vertex')}, {edges}"),
        ("components", parts + (" (weakly connected)" if figures.directed else "")),
        ("weights", _weights(figures)),
        ("memory", _memory(figures)),
        ("digest", str(graph["digest"])),
    ]
    lines = [line for label, text in rows for line in field(label, text, width=width)]
    names = ("out-degrees", "in-degrees") if figures.directed else ("degrees", "")
    lines += _distribution(names[0], figures.degrees, width)
    return lines + (_distribution(names[1], figures.in_degrees, width) if figures.in_degrees else [])


def _weights(figures: GraphProperties) -> str:
    if figures.least_weight is None:
        return figures.weight_dtype
    text = f"{figures.weight_dtype}, {figures.least_weight} to {figures.greatest_weight}"
    if figures.distinct_weights is not None:
        text += f", {count(figures.distinct_weights)} distinct"
    counts = {"zero": figures.zero_weights, "negative": figures.negative_weights, "infinite": figures.infinite_weights}
    return text + "".join(f", {count(number)} {name}" for name, number in counts.items() if number)


def _memory(figures: GraphProperties) -> str:
    wide = f"{in_units(figures.device_bytes_64)} with 64-bit arc indices"
    narrow = figures.device_bytes_32
    device = wide if narrow is None else f"{in_units(narrow)} (32-bit arc indices) or {wide}"
    return f"{in_units(figures.host_bytes)} on the host; on a device {device}, algorithms need more on top"


def _distribution(label: str, degrees: Degrees, width: int) -> list[Line]:
    text = f"{degrees.least} to {count(degrees.greatest)}, median {degrees.median:g}, mean {degrees.mean:.4g}"
    lines: list[Line] = [[("", "")], *field(label, text, width=width)]
    most = max((vertices for _, _, vertices in degrees.histogram), default=0)
    for low, high, vertices in degrees.histogram:
        span = f"{low}" if low == high else f"{low}..{high}"
        bar = "█" * round(vertices / max(most, 1) * BAR_WIDTH)
        lines.append([(f"{span:>24}{count(vertices):>14}  ", ""), (bar, "cyan")])
    return lines


# ------------------------------------------------------------------ advice on hardware


def advice_lines(advice: Mapping[str, Any], *, width: int = 80) -> list[Line]:
    """Return a screen of advice on the hardware for a graph, as ``gpugraph.ext.machine.advice.advise`` gives it."""
    cpu, gpu, about = advice["cpu"], advice["gpu"], "" if advice["exact"] or advice["header"] else "about "
    vertices, edges = counted(advice["vertices"], "vertex"), counted(advice["arcs"] // 2, "edge")
    by_header = " (by its header, for an undirected graph)" if advice["header"] else " drawn" if advice["drawn"] else ""
    lines = field("graph", f"{advice['graph']}: {about}{vertices}, {about}{edges}{by_header}", width=width)
    for label, device, need in (("CPU", cpu, "host_bytes"), ("GPU", gpu, "device_bytes")):
        text = f"none that is usable: {device['detail']}"
        if device["usable"]:
            large = [name for name, one in advice["problems"].items() if one[need] > device["free_bytes"]]
            text = f"{device['name']}, {in_units(device['free_bytes'])} of memory free, "
            text += f"too little for {', '.join(large)}" if large else "enough for all"
        lines += field(label, text, width=width)
    table = [
        [
            name, in_units(one["host_bytes"]), duration(one["cpu_s"]), in_units(one["device_bytes"]),
            "-" if one["gpu_s"] is None else duration(one["gpu_s"]), edges_text(one["pays_from"]),
            edges_text(one["pays_there_from"]),
        ]
        for name, one in advice["problems"].items()
    ]  # fmt: skip
    header = ("problem", "CPU memory", "CPU time", "GPU memory", "GPU time", "GPU from", "calls from")
    lines += [[("", "")], *columns(header, table, right=range(1, 7), width=width), [("", "")]]
    words = "{} on the {}: {per_million_answers:.3g} for 10⁶ answers, {per_billion_edges:.3g} for 10⁹ edges"
    paid = [
        words.format(name, label, **cost)
        for name, one in advice["problems"].items()
        for label in ("CPU", "GPU")
        if (cost := one.get(f"{label.lower()}_cost"))
    ]
    lines += [line for i, text in enumerate(paid) for line in field("" if i else "cost", text, width=width)]
    said = (
        "Times are the kernel's, estimated from smaller graphs, and may be off by a factor of three. A GPU is faster "
        "from this many edges: 'GPU from' for a command with building and verifying, 'calls from' with the graph "
        "already on the GPU."
    )
    assumed = advice["gpus"][0]["name"] if advice["gpus"] else "H200"
    lines += indented(said + ("" if gpu["usable"] else f" They assume an NVIDIA {assumed}."), 0, width=width)
    return [*lines, *_estimates(advice["gpus"], width)] if advice["gpus"] else lines


def _estimates(gpus: Sequence[Mapping[str, Any]], width: int) -> list[Line]:
    """Return a table of GPUs by data sheet, what they cost, and how far such estimates are off."""
    rows, costs = [], list[Line]()
    for gpu in gpus:
        row = [gpu["name"], f"{gpu['memory_bytes'] / 1e9:.0f}", f"{gpu['bytes_per_s'] / 1e12:.3g}"]
        for name, one in gpu["problems"].items():
            row.append(_range(one["seconds"], duration) if one["fits"] else "too large")
            if one["fits"] and one["cost"]:
                text = f"{name} on {gpu['name']}: {_range(one['cost'], '{:.3g}'.format)} for 10⁶ answers"
                costs += field("" if costs else "cost", text, width=width)
        rows.append(row)
    titles = ("GPU", "GB", "TB/s", *gpus[0]["problems"])
    off = ", ".join(f"{low:g} to {high:g} ({name})" for name, (low, high) in OF_ESTIMATE.items())
    text = (
        "Estimated from bandwidth: by data sheets and an H200's rates on its slowest and fastest tenth of graphs. "
        f"Road networks are near the most. An H100 took {off} of its estimate for the same graph."
    )
    table = columns(titles, rows, right=range(1, len(titles)), width=width)
    return [[("", "")], *table, [("", "")], *costs, *indented(text, width=width)]


def _range(ends: Sequence[float] | None, text: Callable[[float], str]) -> str:
    return "-" if not ends else f"{text(ends[0])} to {text(ends[1])}" if ends[0] else f"below {text(ends[1])}"
