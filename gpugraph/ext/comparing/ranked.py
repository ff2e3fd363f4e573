"""Rankings for people: a sorted table, a chart, what the samples say in sentences, what to beware of."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence

from gpugraph.base.errors import unknown_name
from gpugraph.base.quantities import counted, percent
from gpugraph.ext.comparing.cells import label, of_several_runs
from gpugraph.ext.comparing.claims import Claim
from gpugraph.ext.comparing.compare import sampled_otherwise
from gpugraph.ext.comparing.comparison import describe_cell
from gpugraph.ext.comparing.ranking import Ranking, with_transfers
from gpugraph.ext.comparing.ranking import rank as rank_all
from gpugraph.ext.comparing.sheet import Note, Sheet, Table
from gpugraph.ext.comparing.versions import explanation
from gpugraph.problems import RANKING
from gpugraph.records.columns import columns_of
from gpugraph.records.record import Record
from gpugraph.report.table import COLD_START, NOISY, THROTTLED, describe_graph, first_stands_out, throttled_samples
from gpugraph.report.terminal import BAR_WIDTH, Line, bar, can_draw, field

CLOSE = 1.1
"""Two times nearer than this may differ from process to process by as much."""


class Named:
    """A ranking whose records have names, as short as they can be while all differ."""

    def __init__(self, ranking: Ranking):
        self.ranking, self.cells = ranking, label(ranking.records)
        self._several = len({cell.device for cell in self.cells}) > 1
        self._cells = dict(zip(map(id, ranking.records), self.cells, strict=True))

    def __call__(self, record: Record, *, mark: bool = True) -> str:
        """Return the name of a record."""
        cell = self._cells[id(record)]
        return (cell.variant if mark else cell.name) + (f" on {cell.device}" if self._several else "")


def rank(
    records: Sequence[Record], by: str | None = None, reference: str = ""
) -> tuple[list[Ranking], list[tuple[Record, str]]]:
    """Return what ``ranking.rank`` does, each row compared with that of ``reference`` where a ranking has it.

    Raises:
        InputError: no ranking has a row of that name; or as ``ranking.rank``.
    """
    found, alone = rank_all(records, by)
    if not reference:
        return found, alone
    rows = [{named(row, mark=False): row for row in named.ranking.rows} for named in map(Named, found)]
    # A name without its options or its device is that of its fastest row, which comes first.
    longer = (f"{reference},", f"{reference} on ")
    wanted = [
        next((row for name, row in names.items() if name == reference or name.startswith(longer)), None)
        for names in rows
    ]
    if not any(wanted):
        raise unknown_name("row for --reference", reference, [name for names in rows for name in names])
    compared = zip(found, wanted, strict=True)
    return [one if row is None else one.against(row) for one, row in compared], alone


def _table(named: Named, marked: Mapping[int, str] | None = None) -> Table:
    """Return the sorted table of a ranking, without the columns that are empty; the marks of rows are its last one."""
    shown = columns_of(RANKING, named.cells)
    marks = [[marked.get(id(record), "")] if marked else [] for record in named.ranking.records]
    rows = [[column.show(cell) for column in shown] + mark for cell, mark in zip(named.cells, marks, strict=True)]
    header = [column.title for column in shown] + (["note"] if marked else [])
    return Table(header, rows, [i for i, column in enumerate(shown) if column.number])


def exported_sheet(ranking: Ranking) -> Sheet:
    """Return a ranking as a README or a paper takes it: the graph, the claims in sentences, one sorted table."""
    named = Named(ranking)
    said = [Note("", one) for one in (*sentences(named), explanation(ranking.records)) if one]
    return Sheet([_heading(ranking), *said, _table(named)])


def ranking_sheet(ranking: Ranking, *, width: int = 80) -> Sheet:
    """Return a ranking for a terminal: its table, its chart (``width`` columns), its claims and cautions."""
    named = Named(ranking)
    marked = {id(row): mark for row in ranking.rows if (mark := _mark(row))}
    sheet = Sheet([_heading(ranking), _table(named, marked)])
    sheet.parts += [_chart(named, width)] if len(ranking.rows) > 1 else []
    for sentence in sentences(named):
        sheet.parts.append(
            Note("", sentence, "bold green" if " times as fast as " in sentence and "‡" not in sentence else "bold")
        )
    if explained := "; ".join(f"{mark}: {text}" for mark, _, text in _MARKS if mark in marked.values()):
        sheet.parts.append(Note("note", explained, "yellow"))
    further = [one for one in _cautions_of_all(named) if not marked or one[0] != "one process"]  # first mend the marked
    sheet.parts += [Note(title, text, "yellow") for title, text in further]
    if reached := target_reached(named):
        sheet.parts.append(Note("target", reached))
    return sheet


def alone_lines(alone: Sequence[tuple[Record, str]], *, width: int = 80) -> list[Line]:
    """Return the records that cannot be compared with any other, and why."""
    lines: list[Line] = []
    for record, why in alone:
        text = f"{describe_cell(record)}: {why}"
        lines += field("" if lines else "left out", text, width=width, style="yellow")
    return lines


def ranking_json(ranking: Ranking) -> dict[str, object]:
    """Return a ranking as a JSON object; its records are named as in its sentences."""
    named = Named(ranking)
    claims = [
        {
            "faster": named(claim.first, mark=False),
            "slower": named(claim.second, mark=False),
            "ratio": claim.ratio,
            "interval": claim.interval,
            "told_apart": claim.proven,
            "reason": claim.doubt,
            "with_transfers": with_transfers(claim),
        }
        for claim in (*ranking.against_best, *ranking.neighbours)
    ]
    return {
        "problem": ranking.records[0].problem,
        "graph": ranking.records[0].graph_name,
        "order": [named(record, mark=False) for record in ranking.rows],
        "claims": claims,
        "sentences": sentences(named),
        "cautions": [f"{title}: {text}" for title, text in cautions(named)],
        "target": target_reached(named),
    }


def _heading(ranking: Ranking) -> str:
    record = next((record for record in ranking.records if record.ok), ranking.records[0])
    if not record.ok:
        return f"{record.problem} on {record.graph_name}"
    asked = record.asked_source if isinstance(record.asked_source, list) else [record.asked_source]
    source = f", from source {asked[0]}" if len(asked) == 1 else f", from {counted(len(asked), 'source')}"
    source = "" if record.asked_source is None else source
    if not source and (several := record.shape.result.get("sources")):
        source = f", from {several} sources, the time of one"
    return f"{record.problem} on {describe_graph(record.graph_facts)}{source}"


def _chart(named: Named, width: int) -> list[Line]:
    """Return a bar of each time, and how many times that of the fastest it is."""
    ranking, blocks = named.ranking, can_draw()
    base, ratios = ranking.reference or ranking.rows[0], [(row, "1") for row in ranking.rows]
    for claim in ranking.against_best:
        other = claim.second if claim.first is base else claim.first
        ratios[ranking.rows.index(other)] = (other, _ratio(claim, inverse=other is claim.first))
    names = max(len(named(row)) for row in ranking.rows)
    room = max(8, min(BAR_WIDTH, width - names - max(len(text) for _, text in ratios) - 4))
    most = max(row.kernel_s or 0.0 for row in ranking.rows)
    whose = "the fastest" if ranking.reference is None else named(base)
    lines: list[Line] = [[(f"{'time':<{names}}  {'':<{room}}  times {whose}'s", "bold")]]
    for row, text in ratios:
        drawn = bar((row.kernel_s or 0.0) / most * room, blocks)
        lines.append([(f"{named(row):<{names}}  ", ""), (f"{drawn:<{room}}", "cyan"), (f"  {text}", "")])
    return lines


def _ratio(claim: Claim, *, inverse: bool = False) -> str:
    """Return a ratio with its own interval, or that of the times the other way round."""
    if claim.single:
        return "-"
    ratio, interval = claim.ratio or 0.0, claim.interval
    if inverse and ratio:
        ratio, interval = 1 / ratio, interval and (1 / interval[1], 1 / max(interval[0], 1e-9))
    return _rounded(ratio, 2) if interval is None else with_interval(ratio, *interval)


def _rounded(ratio: float, digits: int) -> str:
    """Return a ratio to so many digits, never with a power of ten."""
    text = f"{ratio:.{digits}g}"
    return f"{float(text):,.0f}" if ratio >= 100 else text if ratio >= 1e-4 else "0"


# ------------------------------------------------------------------ sentences


def sentences(named: Named) -> list[str]:
    """Return what can be said of the records of a ranking, and no more."""
    ranking, said = named.ranking, list[str]()
    for claim in ranking.against_best:
        said.append(_sentence(named, claim))
    said += [_sentence(named, claim) for claim in ranking.neighbours if not claim.proven]
    if len(ranking.rows) == 1 and len(ranking.records) > 1:
        said.append(f"{named(ranking.rows[0])} alone has a time that counts")
    unranked: dict[str, list[str]] = {}
    for record, why in ranking.others:
        unranked.setdefault(why, []).append(named(record))
    return said + [
        f"{' and '.join(names)} {'are' if len(names) > 1 else 'is'} not ranked: {why}"
        for why, names in unranked.items()
    ]


def _sentence(named: Named, claim: Claim) -> str:
    faster, slower = named(claim.first), named(claim.second)
    if not claim.proven:
        return f"{faster} is not clearly faster than {slower}" + (f": {claim.doubt}" if claim.doubt else "")
    mark = " ‡" if of_several_runs([claim.first, claim.second]) else ""
    text = f"{faster} is {_ratio(claim)} times as fast as {slower}{mark}"
    if (transferred := with_transfers(claim)) is not None:
        text += f" in the kernel, {transferred:.3g} times including transfers"
    return text


# ------------------------------------------------------------------ what to beware of


def cautions(named: Named) -> Iterator[tuple[str, str]]:
    """Yield what speaks against relying on the times, each with a title, and what to do about it."""
    rows = named.ranking.rows
    more = "" if any(row.shape.sampling.target for row in rows) else ", or take more samples: --target 2%"
    kinds: tuple[tuple[str, Callable[[Record], str], str], ...] = (
        ("few", lambda row: row.few, "too few samples to prove much; give them more time with --max-seconds"),
        ("noisy", _noisy, f"the times scatter; close other programs{more}"),
        ("first run", first_stands_out, COLD_START),
        ("outliers", _outliers, "something else ran now and then; close other programs"),
        ("throttled", throttled_samples, THROTTLED),
        ("busy", lambda row: row.busy, "close other programs"),
    )
    for title, how, remedy in kinds:
        if which := ", ".join(f"{named(row)} ({said})" for row in rows if (said := how(row))):
            yield title, f"{which}: {remedy}"
    yield from _cautions_of_all(named)


def _mark(row: Record) -> str:
    """Return one word on the samples of a row that should not be relied on, that of the cause before its effects."""
    return next((mark for mark, how, _ in _MARKS if how(row)), "")


def _cautions_of_all(named: Named) -> Iterator[tuple[str, str]]:
    """Yield the cautions that concern the comparison as a whole."""
    rows = named.ranking.rows
    if of_several_runs(rows) or len({row.file for row in rows}) > 1:
        mark = "‡ " if of_several_runs(rows) else ""
        drifts = f"{mark}they were measured in separate runs, so a drift between these counts too"
        yield "not at once", f"{drifts}; bench them together"
    if len(rows) > 1 and (otherwise := sorted({sampled_otherwise(rows[0], row) for row in rows[1:]} - {""})):
        text = otherwise[0].replace(" in BASE", " here").replace(" in NEW", " there")
        yield "sampling", f"not all were sampled alike: {text}; bench them together"
    claims = (*named.ranking.against_best, *named.ranking.neighbours)
    close = [row for c in claims if c.proven and (c.ratio or 0.0) < CLOSE for row in (c.first, c.second)]
    if any(len(row.processes) == 1 for row in close):
        yield "one process", "small differences vary by process: gpugraph bench --processes 5"


def _noisy(row: Record) -> str:
    half, target = row.measured_half_width, row.shape.sampling.target or 0.0
    if row.scattered and half is not None:
        return row.scattered
    return f"± {percent(half)}" if half is not None and half > max(NOISY, target) else ""


def _outliers(row: Record) -> str:
    further = [place for place in row.shape.sampling.outliers or () if place]
    many = not _noisy(row) and len(further) > max(1, len(row.samples) // 10)
    return f"{len(further)} of {counted(len(row.samples), 'sample')} are far from the median" if many else ""


_MARKS: tuple[tuple[str, Callable[[Record], str], str], ...] = (
    ("few", lambda row: row.few, "too few samples, take more: -n or --max-seconds"),
    ("cold", first_stands_out, "the first run was slow: --warmup 3 (bench: --axis sampling.warmup=3)"),
    ("hot", throttled_samples, "the GPU was held down, let it cool"),
    ("busy", lambda row: row.busy, "other programs ran, close them"),
    ("noisy", _noisy, "the times scatter: --target 2%"),
    ("outliers", _outliers, "some runs took much longer, close other programs"),
)
"""The marks of rows, why a row has one, and their explanation with the remedy."""


_LATE = {"budget": "--budget", "time": "--max-seconds"}


def target_reached(named: Named) -> str:
    """Return whether each record's median is known as well as was asked for; nothing where nothing was asked."""
    timed = [row for row in named.ranking.records if row.ok and row.device_kind != "emulated"]
    asked = [row for row in timed if row.shape.sampling.target]
    if not asked:
        return ""
    missed = [
        row for row in asked if (half := row.measured_half_width) is None or half > (row.shape.sampling.target or 0)
    ]
    ended = {row.shape.sampling.stopped_by for row in missed}
    late = next((f"give more time: {option}" for by, option in _LATE.items() if by in ended), "")
    differ = any(len(row.processes) > 1 for row in missed) and "the processes differ: take more of them, --processes"
    remedy = late or differ or "all samples were taken, make the machine quieter"
    target = " or ".join(dict.fromkeys(f"± {percent(row.shape.sampling.target or 0.0)}" for row in asked))
    if not missed:
        return f"{target} reached by all"
    which = named(missed[0]) if len(missed) == 1 else f"{len(missed)} of {len(asked)} rows"
    return f"{target} not reached by {which}; {remedy}"


def with_interval(value: float, low: float, high: float) -> str:
    """Return a ratio with its interval, all to the same digits: ``"1.42 ± 0.05"``, lopsided ``"2.88 (2.72 to 3.06)"``.

    It is at least 0 and inside.  Half the interval is rounded to one digit, to two where the first is a 1, and to no
    less than 0.001.  ``±`` is written where both sides are as wide, to the last digit printed.
    """
    half = (high - low) / 2
    if not half > 0:
        return f"{value:.3f}"
    first = math.floor(math.log10(half))
    decimals = min(-first + (half / 10**first < 1.95), 3)
    decimals = max(decimals, 1) if value < 10 else decimals
    if abs((high - value) - (value - low)) <= 10.0**-decimals:
        return " ± ".join(f"{round(one, decimals):,.{max(decimals, 0)}f}" for one in (value, max(half, 0.001)))
    if low > 0:  # an end near 0 keeps a digit
        decimals = max(decimals, min(-math.floor(math.log10(low)), 3))
    texts = [f"{round(one, decimals):,.{max(decimals, 0)}f}" for one in (value, low, high)]
    return "{} ({} to {})".format(*texts)
