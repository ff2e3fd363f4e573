"""Tables with named columns, and lists whose ids are words.

``--columns src,dst,weight`` picks the columns of a CSV, of a list of any width or of a Parquet file, by their names or
by their numbers from 1 on.  Ids are whole numbers or any text; vertices are numbered in the ascending order of their
ids, which stay their names, letter by letter unless all are plain whole numbers.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.base.compression import MOST_STREAMED, check_ratio
from gpugraph.base.errors import GraphFormatError, InputError, reading, shown
from gpugraph.base.quantities import counted
from gpugraph.ext.formats.base import Format
from gpugraph.ext.formats.checks import base_note, check_vertices, refuse_nan
from gpugraph.ext.formats.text.column_roles import Roles, roles, sense_of
from gpugraph.ext.formats.text.columns import rounded_weights, wide_weights
from gpugraph.ext.formats.text.fields import Shape, Words, split
from gpugraph.ext.formats.text.list_head import (
    WHOLE,
    ListHead,
    Statement,
    broken_promises,
    declared,
    form_of,
    look,
    no_edges,
    numbered_apart,
    on_times,
    on_titles,
    statement,
    title,
)
from gpugraph.ext.formats.text.rows import arrow_reader, plain_numbers, weight_of
from gpugraph.graph.build import ArcList, narrow_weights, narrowest
from gpugraph.graph.input_file import AGAIN, Source
from gpugraph.graph.read_options import ReadOptions

Column = Words | NDArray[Any]
"""Words, or, from a Parquet file, numbers."""


def read_table(source: Source) -> ArcList:
    """Read a table of text: the columns that ``--columns`` names, else those with usual names, or the first."""
    head, said = look(source), statement(source)
    if not head.rows and not head.titles:
        raise source.error("lists no edges")
    if not head.rows:
        raise no_edges(source, titled=True)
    chosen = roles(source, head, said)
    at = (*chosen.taken, *(() if chosen.kind is None else (chosen.kind,)))
    columns = split(source, Shape(head.delimiter, head.behind, head.width, head.named), at)
    if not len(columns[0].codes):
        raise source.error("lists no edges")
    if head.titles:
        _refuse_titles(source, columns, [head.titles[i] for i in at])
    weights = kinds = None
    if chosen.weight is not None:
        weights = columns[2]
        if head.delimiter == ";":  # as Excel writes where the decimal point is a comma
            few = [next((word for word in weights.words if mark in word), "") for mark in ",."]
            if all(few):
                what = f"weights have commas and points, as {few[0]!r} and {few[1]!r}"
                raise source.error(what, "write all of them with points, and thousands without a mark")
            weights = replace(weights, words=[word.replace(",", ".") for word in weights.words])
    if chosen.kind is not None:
        kinds = columns[-1]
    names = head.titles or tuple(str(i + 1) for i in range(head.width))
    arcs = _arcs_of_columns(source, columns[:2], weights, kinds, chosen, names, said)
    weighs = arcs.weighs if chosen.weight is None else f"column {title(head, chosen.weight)} weighs"
    return replace(arcs, weighs=weighs, notes=(*on_titles(head), *on_times(head, chosen.weight), *arcs.notes))


def _refuse_titles(source: Source, columns: Sequence[Words], titles: Sequence[str]) -> None:
    """Refuse a row that has the names of the columns again, as where one table was put behind another."""
    if not all(title in column.words for column, title in zip(columns, titles, strict=True)):
        return
    same = [column.codes == column.words.index(title) for column, title in zip(columns, titles, strict=True)]
    if (rows := np.flatnonzero(np.logical_and.reduce(same))).size:
        row, line = columns[0].place(int(rows[0]))
        raise source.error(f"{row} has the names of the columns again", "leave that line out", line=line)


def read_parquet(source: Source) -> ArcList:
    """Read a Parquet file: the columns that ``--columns`` names, else those with usual names, or the first."""
    from pyarrow import parquet

    with reading(source.path, AGAIN):
        schema = parquet.read_schema(_arrow_file(source))
        names, texts = schema.names, [field.name for field in schema if _is_text(field.type)]
        # A text that stands in a million rows is there once: as rows it may take any memory.
        file = parquet.ParquetFile(_arrow_file(source), read_dictionary=texts)
        _check_size(source, file.metadata, schema)
        first = next(file.iter_batches(batch_size=100), None) if names else None
        if first is not None:
            first.validate(full=True)  # of a damaged file positions in a dictionary may lie beyond it
        cells = [_head(first.column(i)) for i in range(len(names))] if first is not None else []
    chosen = _roles_of(source, names, cells)
    with reading(source.path, AGAIN):
        table = file.read(columns=[names[i] for i in (*chosen.taken, chosen.kind) if i is not None])
        table.validate(full=True)
    return _arcs_of_table(source, table, chosen, names)


class _Given(Source):
    """A table of Python's, as a source of columns."""

    def __init__(self, name: str, options: ReadOptions):
        self.path = self.name = name
        self.extension, self.top = "", None
        self.keep_ids, self.vertices = options.keep_ids, options.vertices
        self.directed, self.columns, self.weight = options.directed, options.columns, options.weight

    def error(self, what: str, remedy: str | None = AGAIN, line: int | None = None) -> GraphFormatError:
        return super().error(what, "give a row for each edge" if remedy == AGAIN else remedy, line)


def arcs_of_arrow(table: Any, name: str, options: ReadOptions) -> ArcList:
    """Return the arcs of a ``pyarrow.Table``, which messages call ``name``, as of the same table in a file."""
    source, names = _Given(name, options), table.column_names
    batches = table.slice(0, 100).combine_chunks().to_batches()
    cells = [_head(batches[0].column(i)) for i in range(len(names))] if batches else []
    chosen = _roles_of(source, names, cells)
    arcs = _arcs_of_table(source, table, chosen, names)
    if arcs.vertex_names is not None and arcs.vertex_names.dtype.kind == "U":
        arcs = replace(arcs, vertex_names=arcs.vertex_names.astype(object))  # nodes: a source is one of them, as it is
    if arcs.directed is None and source.directed is not None:
        return replace(arcs, directed=source.directed, one_sided=not source.directed)
    return arcs


def _arrow_file(source: Source) -> Any:
    """Return a file for Arrow: a mapping of one on the disk, else what was unpacked or piped."""
    import pyarrow

    with source.descriptor() as file:
        return arrow_reader(source.data.tobytes()) if file is None else pyarrow.memory_map(source.path)


def _roles_of(source: Source, names: list[str], cells: list[list[Any]]) -> Roles:
    """Return what the columns are for, by their names and first cells."""
    rows = [["" if cell is None else str(cell) for cell in row] for row in zip(*cells, strict=True)]
    if not rows:
        raise source.error("has no row")
    return roles(source, ListHead(" ", tuple(names), 0, rows, 0, whole=False, quoted=False), Statement())


def _arcs_of_table(source: Source, table: Any, chosen: Roles, names: list[str]) -> ArcList:
    def column(i: int | None) -> Column | None:
        return None if i is None else _of_arrow(source, table[names[i]], names[i])

    ends = [_of_arrow(source, table[names[i]], names[i]) for i in chosen.ends]
    kinds = None if source.directed is not None else column(chosen.kind)
    return _arcs_of_columns(source, ends, column(chosen.weight), kinds, chosen, names, Statement())


def _value_type(kind: Any) -> Any:
    """Return the type of a column's values, which Arrow may give as positions in a dictionary."""
    import pyarrow as pa

    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _is_text(kind: Any) -> bool:
    import pyarrow as pa

    tests = (pa.types.is_string, pa.types.is_large_string, pa.types.is_binary, pa.types.is_large_binary)
    return any(is_one(_value_type(kind)) for is_one in tests)


def _check_size(source: Source, metadata: Any, schema: Any) -> None:
    """Refuse a file whose rows would only fill the memory: a run of equal values is a few bytes in the file."""
    groups = [metadata.row_group(i) for i in range(metadata.num_row_groups)]
    encoded = sum(group.total_byte_size for group in groups)
    values = sum(max((group.column(i).num_values for i in range(group.num_columns)), default=0) for group in groups)
    kinds = [_value_type(field.type) for field in schema if not _is_text(field.type)]
    wide = sum(getattr(kind, "byte_width", 0) for kind in kinds if "fixed_size_binary" in str(kind))
    check_ratio(max(encoded, (16 + wide) * values), len(source.data), source.path, MOST_STREAMED)
    source.require(max(encoded, (24 + wide) * values))


def _head(column: Any) -> list[Any]:
    """Return the first cells of a column; of long texts their beginnings."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pa.types.is_dictionary(column.type) or not _is_text(column.type):
        cells: list[Any] = column.to_pylist()
        return cells
    cut = pc.binary_slice(column.dictionary.cast(pa.binary()), 0, _LONGEST_SHOWN).take(column.indices)
    return [cell if cell is None else cell.decode("utf-8", "replace") for cell in cut.to_pylist()]


_LONGEST_SHOWN = 200
"""Bytes of a text by which the first rows of a table are looked at."""


def _of_arrow(source: Source, column: Any, name: str) -> Column:
    """Return a column of Arrow's as numbers, or as words where it is of another type; every row has a value."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_dictionary(column.type) and not _is_text(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_duration(column.type):
        raise source.error(f"column '{name}' is of type {column.type}", "write its times as numbers of one unit")
    absent = column.is_null()
    if pc.any(absent).as_py():
        raise _missing(source, name, f"row {int(np.argmax(absent.to_numpy())) + 1}")
    if pa.types.is_integer(column.type) or pa.types.is_floating(column.type):
        return np.asarray(column.to_numpy())
    with reading(source.path, "write it as text or numbers", f"column '{name}' is of type {_value_type(column.type)}"):
        if not pa.types.is_dictionary(column.type):
            column = column.cast(pa.large_string()).dictionary_encode()
        coded = column.unify_dictionaries().combine_chunks()
        words = coded.dictionary.cast(pa.large_string()).to_pylist()
    codes = np.asarray(coded.indices.to_numpy(zero_copy_only=False), np.int64)
    return Words(words, codes, lambda row: (f"row {row + 1}", None))


def _missing(source: Source, name: str, row: str, line: int | None = None) -> GraphFormatError:
    return source.error(f"{row} has nothing in column '{name}'", "fill it in, or leave the row out", line=line)


def _arcs_of_columns(
    source: Source,
    ends: Sequence[Column],
    weights: Column | None,
    kinds: Words | Column | None,
    chosen: Roles,
    names: Sequence[str],
    said: Statement,
) -> ArcList:
    """Return the arcs of two columns of ids, and one each of weights and of Gephi's types where there are any."""
    ids, notes = _ids(source, ends, chosen, names, said)
    numbers = None if weights is None else _weights(source, weights, names[chosen.weight or 0])
    arcs = _arcs(source, ids, numbers, sum(said.vertices))
    rows = len(arcs.tails)
    weighs = (
        "no column weighs: every edge weighs 1" if chosen.weight is None else f"column '{names[chosen.weight]}' weighs"
    )
    kept = (*broken_promises(said, rows, arcs.vertices), *arcs.notes)
    arcs = replace(arcs, weighs=weighs, notes=(*kept, *notes, *chosen.left), listed=counted(rows, "row"))
    if kinds is not None and source.directed is None:
        return _directed_by_row(source, arcs, _as_words(kinds), names[chosen.kind or 0])
    return declared(arcs, said)


def _directed_by_row(source: Source, arcs: ArcList, kinds: Words, name: str) -> ArcList:
    """Return arcs of rows of which a column says which are directed; of the others it has both arcs if any is."""
    senses = {word: sense_of(name, word) for word in kinds.words}
    for word in [word for word, sense in senses.items() if sense is None][:1]:
        row, line = kinds.place(kinds.first_row(word))
        what = f"{row}: {word!r} in column '{name}' does not say whether the row is directed"
        raise source.error(what, "mend it, or say it of all rows: --directed or --undirected", line=line)
    directed = np.array([*senses.values()] or [True], bool)[kinds.codes]
    why = f"column '{name}' says so"
    if directed.all() or not directed.any():
        is_directed = bool(directed.any())
        return replace(arcs, directed=is_directed, one_sided=not is_directed, why=why)
    back = ~directed
    tails, heads = (np.concatenate([a, b[back]]) for a, b in ((arcs.tails, arcs.heads), (arcs.heads, arcs.tails)))
    weights = None if arcs.weights is None else np.concatenate([arcs.weights, arcs.weights[back]])
    note = f"{counted(int(back.sum()), 'row')} of column '{name}' undirected: taken as two arcs each"
    return replace(arcs, tails=tails, heads=heads, weights=weights, directed=True, why=why, notes=(*arcs.notes, note))


def _ids(
    source: Source, ends: Sequence[Column], chosen: Roles, names: Sequence[str], said: Statement
) -> tuple[NDArray[Any] | tuple[list[str], NDArray[np.int64]], tuple[str, ...]]:
    """Return ids, tails before heads, as (2k,) int64; of words those there are, ascending, and their (2k,) numbers.

    Also sentences on how they were taken.  Text stays text, unless all of it is plain whole numbers.
    """
    whole = [_whole_numbers(source, column) for column in ends]
    if whole[0] is not None and whole[1] is not None:
        if said.two_sides:
            tails, heads, note = numbered_apart(whole[0], whole[1], said)
            return np.concatenate([tails, heads]), (note,)
        return np.concatenate([whole[0], whole[1]]), ()
    if said.two_sides:
        raise source.error(
            "says that two sides number their vertices apart, but ids are no whole numbers", "number them"
        )
    words = [_as_words(column) for column in ends]
    forms = [{form_of(word) for word in column.words} for column in words]
    has_words = ["word" in form for form in forms]
    if not chosen.given and has_words[0] is not has_words[1]:
        few = [f"'{column.words[0]}'" for column in words]
        columns = ",".join(names[i] for i in chosen.ends)
        what = f"of the columns taken for the ends of edges one has words, the other numbers: {', '.join(few)}"
        raise source.error(what, f"say which are: --columns TAIL,HEAD,WEIGHT; --columns {columns} if it is these")
    notes = []
    for column, form, is_text, at, plain in zip(words, forms, has_words, chosen.ends, whole, strict=True):
        if plain is None:
            _refuse_no_ids(source, column, form, names[at], is_text=is_text)
        if is_text and (absent := [word for word in column.words if form_of(word) == "missing"]):
            notes.append(f"{absent[0]!r} is taken for the name of a vertex")
    distinct = sorted({*words[0].words, *words[1].words})
    for column, word in ((one, word) for one in words for word in one.words if "\0" in word):
        row, line = column.place(column.first_row(word))  # NumPy's text loses it at the end
        raise source.error(f"{row}: the id {shown(word)} holds a zero byte", "name the vertex without it", line=line)
    notes = [*dict.fromkeys(notes), *_on_names(distinct)]
    numbers = {word: i for i, word in enumerate(distinct)}
    places = [np.array([numbers[w] for w in column.words] or [0], np.int64)[column.codes] for column in words]
    return (distinct, np.concatenate(places)), tuple(notes)


def _on_names(distinct: list[str]) -> list[str]:
    """Return a sentence on numbers among the ids that are taken as names."""
    first_of = {form_of(word): word for word in distinct[::-1]}
    first_of.pop("missing", None)
    word = first_of.pop("word", None)
    if word is not None:
        also = f"ids are names, as {word!r}, and so are those that are numbers, as "
        return [f"{also}{first_of.get('whole', min(first_of.values()))!r}"] if first_of else []
    causes = {"digits": "have leading zeros or signs", "long": "reach 2^63"}
    form, number = min(first_of.items(), key=lambda one: (one[0] == "whole", one))
    return [f"ids {causes.get(form, 'are reals')}, as {number!r}: they are taken as names, letter by letter"]


def _refuse_no_ids(source: Source, column: Words, form: set[str], name: str, *, is_text: bool) -> None:
    """Refuse rows without an id, and, in a column of numbers, those that are below zero or no whole ones."""

    def first(kind: str) -> tuple[str, str, int | None]:
        word = next(word for word in column.words if form_of(word) == kind)
        return word, *column.place(column.first_row(word))

    if "" in column.words:
        raise _missing(source, name, *column.place(column.first_row("")))
    if is_text:
        if not source.columns and (absent := next((word for word in column.words if word in ("NaN", "nan")), None)):
            row, line = column.place(column.first_row(absent))
            remedy = "fill it in, or leave the row out; --columns takes it as a name"
            raise source.error(f"{row} has no id, but {absent!r}", remedy, line=line)
        return
    if "missing" in form:
        word, row, line = first("missing")
        raise source.error(f"{row} has no id, but {word!r}", "fill it in, or leave the row out", line=line)
    if "negative" in form:
        word, row, line = first("negative")
        raise source.error(f"a negative vertex id: {word}", "mend it", line=line)
    if not source.columns:
        for kind in {"real", "pointed"} & form:
            word, row, line = first(kind)
            remedy = "write whole numbers or names; --columns takes them as names"
            raise source.error(f"{row}: the id {word!r} is a real, as coordinates are", remedy, line=line)


def _whole_numbers(source: Source, column: Column) -> NDArray[np.int64] | None:
    """Return ids as (k,) int64 where all are plain whole numbers below 2^63; words may be such, or written as 1.0."""
    if isinstance(column, Words):
        if not all(WHOLE.fullmatch(word) for word in column.words):
            if not all(form_of(word) == "pointed" for word in column.words):
                return None
            column = replace(column, words=[word.partition(".")[0] for word in column.words])
        numbers = list(map(int, column.words))
        if max(numbers, default=0) >= 2**63:
            return None
        return np.array(numbers or [0], np.int64)[column.codes]
    if column.dtype.kind == "f":
        if len(column) and np.isnan(column).any():
            row = int(np.argmax(np.isnan(column))) + 1
            raise source.error(f"row {row} has no id, but NaN", "fill it in, or leave the row out")
        sizes = np.abs(column)
        beyond = np.isfinite(column) & (sizes > 2.0**53)
        if beyond.any() and not source.columns:
            row = int(np.argmax(beyond))
            what = f"row {row + 1}: the id {column[row].item()!r} is a real beyond 2^53, which may be rounded"
            raise source.error(what, "write whole numbers or names; --columns takes them as names")
        if not (sizes <= 2.0**53).all() or (np.floor(column) != column).any():
            return None
    if len(column) and (least := column.min()) < 0:
        raise source.error(f"a negative vertex id: {least}", "mend it")
    if len(column) and int(column.max()) >= 2**63:
        return None
    return column.astype(np.int64)


def _as_words(column: Column) -> Words:
    """Return a column as words; numbers as they are printed."""
    if isinstance(column, Words):
        return column
    numbers, codes = np.unique(column, return_inverse=True)
    words = [repr(number) for number in numbers.tolist()]
    return Words(words, codes.astype(np.int64), lambda row: (f"row {row + 1}", None))


def _weights(source: Source, column: Column, name: str) -> NDArray[Any]:
    """Return a column of weights: whole numbers in the narrowest type, reals as float64 (float32 as it is)."""
    if not isinstance(column, Words):
        if column.dtype.kind in "iu":
            return narrow_weights(column)
        weights: NDArray[Any] = column.astype(np.float32 if column.dtype == np.float32 else np.float64)
        refuse_nan(source, weights)
        return weights
    if (plain := plain_numbers(column.words)) is not None:
        return narrow_weights(plain[column.codes]) if plain.dtype.kind == "i" else plain[column.codes]
    values: list[int | float] = []
    for word in column.words:
        try:
            values.append(weight_of(word.strip().encode()))
        except ValueError as error:
            row, line = column.place(column.first_row(word))
            if not word:
                raise _missing(source, name, row, line) from None
            remedy = "mend it, or name another column with --columns"
            raise source.error(f"{row}: {error}", remedy, line=line) from None
    if any(isinstance(value, float) for value in values):
        if any(isinstance(value, int) and int(float(value)) != value for value in values):
            raise rounded_weights(source.path)
        return np.array(values, np.float64)[column.codes]
    if min(values, default=0) < 0 and max(values) >= 2**63:
        raise wide_weights(source.path)
    kind = narrowest(int(min(values, default=0)), int(max(values, default=0)))
    return np.array(values or [0], kind)[column.codes]


def _arcs(
    source: Source,
    ids: NDArray[Any] | tuple[list[str], NDArray[np.int64]],
    weights: NDArray[Any] | None,
    declared_vertices: int = 0,
) -> ArcList:
    """Return arcs of ids, tails before heads; those that are no numbers 0…n−1 stay the vertices' names."""
    names: NDArray[Any] | None
    given = source.vertices
    if given is None and not isinstance(ids, tuple) and 0 < int(ids.max(initial=0)) <= declared_vertices:
        given = declared_vertices
    if isinstance(ids, tuple):
        source.require(4 * max(map(len, ids[0]), default=0) * len(ids[0]))  # each takes as much as the longest
        names, numbers = np.array(ids[0], str), ids[1]
        if source.keep_ids or source.vertices is not None:
            what = "--keep-ids and --vertices are for ids that are numbers, these are words"
            raise InputError(what, where=source.path, remedy="leave the option out")
    elif source.keep_ids or given is not None:
        names, numbers = None, ids
    else:
        names, numbers = np.unique(ids, return_inverse=True)
        names = None if np.array_equal(names, np.arange(len(names))) else names
    largest = int(numbers.max(initial=-1)) + 1
    vertices, notes = largest if names is None else len(names), tuple[str, ...]()
    if names is None and given is not None:
        vertices, base = given, int(largest > given and int(numbers.min(initial=1)) > 0)
        if largest - base > vertices:
            what = f"has the id {largest - 1}, but --vertices is {vertices}"
            raise InputError(what, where=source.path, remedy="give a larger --vertices")
        notes = base_note(int(numbers.min(initial=largest)), largest - 1, vertices)
        numbers, names = numbers - base, np.arange(1, vertices + 1) if base else None
    check_vertices(source, vertices, remedy="check the ids, or use a machine with more")
    half = len(numbers) // 2
    return ArcList(numbers[:half], numbers[half:], weights, vertices, vertex_names=names, notes=notes)


TABLE = Format(name="table", title="table", extensions=(), read=read_table, ids="any", named="columns")
PARQUET = Format(
    name="parquet",
    title="Parquet table",
    extensions=(".parquet", ".pq"),
    read=read_parquet,
    named="columns",
    ids="any",
    hint=rb"\APAR1",
    binary=True,
)
