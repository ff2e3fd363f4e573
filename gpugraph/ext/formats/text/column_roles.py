"""What the columns of a list or a table are: ends of edges, weights, or neither."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from gpugraph.base.errors import InputError, check_name, errors_at
from gpugraph.base.quantities import counted
from gpugraph.ext.formats.text.list_head import (
    ListHead,
    Statement,
    form_of,
    is_index,
    is_number,
    is_word,
    plain_title,
    usual_ends,
    words_of,
)
from gpugraph.graph.input_file import Source

_WEIGHTS = words_of("weight w wt length len distance dist cost km count value")
_NO_WEIGHTS = words_of(
    "timestamp time timeset date datetime year month day id edgeid eid key index label name type kind relation",
    "relationship interval created createdat since until ts epoch unixtime unixts osmid wayid linkid row rowid",
)
_SENSES = {
    "type": {"directed": True, "undirected": False, "mutual": False},
    "directed": dict.fromkeys(("true", "yes", "1"), True) | dict.fromkeys(("false", "no", "0"), False),
}
_SENSES["oneway"] = _SENSES["directed"]
"""Words of columns that say of each row whether it is an arc, by their titles: Gephi's, igraph's and OSM's."""
_PLACES = words_of("lat lon lng long latitude longitude easting northing")
_COORDINATES = _PLACES | words_of("x y z")


@dataclass(frozen=True)
class Roles:
    """What the columns of a table are, by their positions.

    Attributes:
        ends: tails and heads.
        weight: the weights, or None.
        kind: what says of each row whether it is directed, as Gephi's ``Type``, or None.
        given: the ends are named as such, by their titles or by the user.
        left: sentences on columns that are left out.
    """

    ends: tuple[int, int]
    weight: int | None
    kind: int | None
    given: bool
    left: tuple[str, ...] = ()

    @property
    def taken(self) -> tuple[int, ...]:
        """The columns of ends and weights."""
        return (*self.ends, *(() if self.weight is None else (self.weight,)))


def _kind_of(names: Sequence[str], rows: Sequence[Sequence[str]]) -> int | None:
    """Return the column that says of each row whether it is directed, by its title and its words."""
    senses = [_SENSES.get(plain_title(name), {}) for name in names]
    for i, sense in enumerate(senses):
        words = {row[i].strip().lower() for row in rows}
        if words & (set(sense) - {"mutual"}) or (
            sense and words == {"mutual"}
        ):  # which by itself is a kind of relation
            return i
    return None


def sense_of(title: str, word: str) -> bool | None:
    """Return whether a word of a column means that a row is directed; None for a word that means neither."""
    return _SENSES[plain_title(title)].get(word.strip().lower())


def roles(source: Source, head: ListHead, said: Statement) -> Roles:
    """Return what the columns of a table are, by ``--columns``, by their names, or in their order.

    Raises InputError, with what to ask for, where that is not clear.
    """
    width, titles = head.width, head.titles
    names = list(titles) or [str(i + 1) for i in range(width)]
    rows = [row for row in head.rows if len(row) == width]
    kind = _kind_of(titles, rows)
    if source.columns:
        return _by_request(source, names, kind)
    tail, other = usual_ends(titles)
    if tail and other:
        return _by_titles(source, names, rows, (names.index(tail), names.index(other)), kind)
    if said.konect and not titles and width in (3, 4):
        third = None if said.unweighted or source.weight == "" else 2
        out = (["column 3, as its first line says 'unweighted'"] if said.unweighted else []) + ["column 4, the times"][
            : width - 3
        ]
        return Roles((0, 1), third, None, given=True, left=tuple(f"left out: {one}" for one in out))
    columns = [i for i in range(width) if i != kind and not is_index(names[i], rows, i)]
    plain = [plain_title(name) for name in titles]
    points = [i for i in columns if titles and plain[i] in _COORDINATES]
    if set(points) & set(columns[:2]) or len(set(points) & set(columns[:3])) > 1:
        few = ", ".join(f"'{titles[i]}'" for i in points)
        remedy = "compute their distances and write these as edges; --columns takes columns as ids all the same"
        raise source.error(f"{few} are coordinates of points, and no edges", remedy)
    if len(columns) not in (2, 3):
        raise _too_wide(source, names, ",".join(names[:3]))
    if titles and any(plain[i] in _WEIGHTS | _NO_WEIGHTS for i in columns[:2]):
        what = f"the columns '{names[columns[0]]}' and '{names[columns[1]]}' are hardly the ends of edges"
        raise source.error(what, "say which columns are: --columns TAIL,HEAD or --columns TAIL,HEAD,WEIGHT")
    third = columns[2] if len(columns) == 3 else None
    return _weighed(source, names, rows, (columns[0], columns[1]), kind, third, given=False)


def _too_wide(source: Source, names: Sequence[str], proposal: str) -> InputError:
    few = ", ".join(names[:8]) + ("…" if len(names) > 8 else "")
    return source.error(f"has {counted(len(names), 'column')}: {few}", f"say which of them: --columns {proposal}")


def _by_request(source: Source, names: list[str], kind: int | None) -> Roles:
    """Return the columns that ``--columns`` names, and the one that ``--weight`` does."""
    wanted = [name.strip() for name in source.columns.split(",") if name.strip()]
    if all(name.isdecimal() for name in wanted) and not set(wanted) <= set(names):
        wanted = [names[int(name) - 1] if 0 < int(name) <= len(names) else name for name in wanted]
    if source.weight and len(wanted) == 2:
        wanted.append(source.weight)
    elif source.weight and len(wanted) == 3 and source.weight != wanted[2]:
        what = f"the weight is '{wanted[2]}' by --columns, and '{source.weight}' by --weight"
        raise InputError(what, where=source.path, remedy="leave one of them out")
    for name in wanted:
        with errors_at(source.path):
            check_name("column", name, names)
        if names.count(name) > 1:
            raise source.error(f"has two columns '{name}'", "give them different names")
    if len(wanted) not in (2, 3) or len(set(wanted)) < len(wanted):
        remedy = "give two or three columns: --columns src,dst,weight"
        raise InputError(f"--columns {','.join(wanted)} makes no edges", where=source.path, remedy=remedy)
    at = [names.index(name) for name in wanted]
    return Roles((at[0], at[1]), at[2] if len(at) == 3 else None, None if kind in at else kind, given=True)


def _by_titles(
    source: Source, names: list[str], rows: Sequence[Sequence[str]], ends: tuple[int, int], kind: int | None
) -> Roles:
    """Return the columns of a table whose ends have usual names; the one that weighs is looked for by its name."""
    plain = [plain_title(name) for name in names]
    others = [i for i in range(len(names)) if i not in ends and i != kind and not is_index(names[i], rows, i)]
    proposal = ",".join(names[i] for i in ends)
    weights = [i for i in others if plain[i] in _WEIGHTS]
    doubtful = [i for i in others if plain[i] not in _NO_WEIGHTS | _WEIGHTS and _all(is_number, rows, i)]
    candidates = weights or doubtful
    if len(candidates) > 1 and source.weight is None:
        raise _too_wide(source, names, f"{proposal},{names[candidates[0]]}")
    if len(weights) == 1 and any(plain[i].endswith("cost") for i in doubtful):  # pgRouting's cost of the way back
        raise _too_wide(source, names, f"{proposal},{names[weights[0]]}")
    only = others if len(others) == 1 and not _all(is_word, rows, others[0]) else []
    third = next(iter(candidates or only), None)
    return _weighed(source, names, rows, ends, kind, third, given=True)


def _all(kind: Callable[[str], bool], rows: Sequence[Sequence[str]], column: int) -> bool:
    """Tell whether a column has words, and all of them are of a kind."""
    words = [row[column] for row in rows if row[column]]
    return bool(words) and all(map(kind, words))


def _weighed(
    source: Source,
    names: list[str],
    rows: Sequence[Sequence[str]],
    ends: tuple[int, int],
    kind: int | None,
    third: int | None,
    *,
    given: bool,
) -> Roles:
    """Return the roles with the column that weighs: ``--weight``, else ``third`` unless its name is no weight's."""
    if source.weight is not None:
        if source.weight:
            with errors_at(source.path):
                check_name("column", source.weight, names)
        third = names.index(source.weight) if source.weight else None
        if third in ends:
            raise source.error(f"column '{source.weight}' holds ends of edges", "name another one with --weight")
    elif third is not None and plain_title(names[third]) in _NO_WEIGHTS | _PLACES:
        third = None
    for i in (*ends, *(() if third is None else (third,))):
        if names.count(names[i]) > 1:
            raise source.error(f"has two columns '{names[i]}'", "give them different names")
    out = [names[i] or "(untitled)" for i in range(len(names)) if i not in (*ends, third, kind)]
    columns = ",".join(names[i] for i in ends)
    remedy = (
        f"; --columns {columns},{out[0]} weighs by '{out[0]}'"
        if third is None and out[:1] not in ([], ["(untitled)"]) and not is_index(out[0], (), 0) and source.weight != ""
        else ""
    )
    left = (f"left out: {'column' if len(out) == 1 else 'columns'} {', '.join(map(repr, out))}{remedy}",) if out else ()
    return Roles(ends, third, None if kind == third else kind, given, left)


def is_table(source: Source, head: ListHead, said: Statement) -> bool:
    """Tell whether a list is no plain ``u v`` or ``u v weight`` of numbers, and for the reader of tables.

    Raises InputError where its columns are no ends of edges.
    """
    if source.columns or head.quoted or head.delimiter not in " \t," or (source.weight and head.titles):
        return True
    wide = head.width not in (2, 3)
    if head.rows and (head.titles or (said.konect and head.width in (3, 4))):
        chosen = roles(source, head, said)
        if wide or chosen.kind is not None or chosen.taken != tuple(range(head.width)):
            return True
    if wide or not head.rows:
        return False
    forms = [{form_of(word) for word in row[:2]} for row in head.rows if len(row) in (2, 3)]
    if not forms or len(forms) < len(head.rows):
        return False
    every = set().union(*forms)
    in_rows = (any(map(is_word, row[:2])) for row in head.rows)
    named = any(in_rows) if head.titles else all(in_rows)  # without titles, one word among numbers is a mistake
    points = all("real" in form for form in forms)  # which are refused there
    return named or points or (every != {"whole"} and every <= {"whole", "digits", "pointed"})
