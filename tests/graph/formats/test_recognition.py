from __future__ import annotations

import gzip
import itertools
import sys
from pathlib import Path

import numpy as np
import pytest

from gpugraph.base.errors import GraphFormatError, InputError
from gpugraph.ext.formats import known as formats
from gpugraph.graph.input_file import Source
from gpugraph.graph.load import load_file
from tests.graph.formats.samples import ARCS, arcs, load_text
from tests.graph.formats.test_binary_formats import SAMPLES

NAMES = {
    "native.csr": "csr",
    "gunrock.csr": "gunrock",
    "narrow.egr": "ecl",
    "wide.egr": "ecl",
    "one.gr": "galois",
    "two.gr": "galois",
    "a.wsg": "gap",
    "a.npz": "npz",
}
TEXTS = {
    "a.gr": ("p sp 2 1\na 1 2 3\n", "dimacs"),
    "b.gr": ("a 1 2 3\n", "dimacs"),
    "c.txt": ("c c\np tw 2 1\n1 2\n", "dimacs"),
    "d": ("%%MatrixMarket matrix coordinate pattern general\n2 2 0\n", "mtx"),
    "e.dat": ("% c\n1 2 3\n", "edgelist"),
    "f.graph": ("2 1\n2\n1\n", "metis"),
    "g.wel": ("1 2 3\n", "edgelist"),
    "words.txt": ("a b 3\nb c 4\n", "table"),
    "more.txt": ("c d 3\np q 4\n", "table"),
    "i.dat": ("c one\r\nc\r\n\r\np sp 2 1\r\na 1 2 3\r\n", "dimacs"),
    "h.txt": ("\ufeffp sp 2 1\na 1 2 3\n", "dimacs"),
}


def _recognised(folder: Path, name: str, content: bytes) -> str:
    (folder / name).write_bytes(content)
    return formats.recognise(Source(folder / name)).name


@pytest.mark.parametrize("name", NAMES)
def test_a_binary_file_is_recognised_by_name_and_by_size(tmp_path: Path, name: str) -> None:
    assert _recognised(tmp_path, name, SAMPLES[name]) == NAMES[name]
    assert _recognised(tmp_path, "nameless", SAMPLES[name]) == NAMES[name]
    assert _recognised(tmp_path, name + ".gz", gzip.compress(SAMPLES[name])) == NAMES[name]


@pytest.mark.parametrize("name", TEXTS)
def test_a_text_file_is_recognised_by_content_or_by_name(tmp_path: Path, name: str) -> None:
    text, expected = TEXTS[name]
    assert _recognised(tmp_path, name, text.encode()) == expected


def test_content_goes_before_the_name(tmp_path: Path) -> None:
    assert _recognised(tmp_path, "a.mtx", SAMPLES["native.csr"]) == "csr"
    assert _recognised(tmp_path, "a.txt", SAMPLES["a.npz"]) == "npz"


def test_the_input_format_goes_before_both(tmp_path: Path) -> None:
    graph = load_text(tmp_path, "a.txt", "2 1\n2\n1\n", input_format="metis")
    assert arcs(graph) == [(0, 1, 1), (1, 0, 1)]


@pytest.mark.parametrize("alias", ["pace", "PACE", ".gr", "dimacs"])
def test_a_format_has_more_than_one_name(alias: str) -> None:
    if alias == ".gr":
        with pytest.raises(InputError, match="is the ending of several formats — name one of them: dimacs or galois"):
            formats.named(alias)
    else:
        assert formats.named(alias).name == "dimacs"


def test_an_unknown_format_suggests_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="did you mean 'metis'"):
        load_text(tmp_path, "a.txt", "0 1\n", input_format="metsi")


@pytest.mark.parametrize("content", [b"\0\1\2 no graph", b"{json}", b"\x89PNG\r\n\x1a\n"])
def test_an_unknown_file_is_refused_and_the_formats_are_named(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(GraphFormatError, match=r"not recognised.*--input-format.*METIS"):
        load_text(tmp_path, "a.bin", content)


@pytest.mark.parametrize("ending", ["txt", "csv", "el", "tsv"])
@pytest.mark.parametrize("name", NAMES)
def test_a_binary_file_under_the_name_of_a_list_is_no_table_of_words(tmp_path: Path, name: str, ending: str) -> None:
    (tmp_path / f"a.{ending}").write_bytes(SAMPLES[name])
    if SAMPLES[name].startswith((b"GPUGRAPH", b"PK", b"PAR1")):
        assert load_file(tmp_path / f"a.{ending}").vertices
        return
    with pytest.raises(GraphFormatError, match=r"line 1: holds a zero byte.*--input-format"):
        load_file(tmp_path / f"a.{ending}")


def test_a_binary_file_of_sixty_vertices_is_no_page_of_html(tmp_path: Path) -> None:
    content = np.array([60, 0] + 61 * [0], "<i4").tobytes()
    assert content[:1] == b"<"
    assert _recognised(tmp_path, "nameless", content) == "ecl"


def test_a_csr_of_nobody_says_what_was_tried(tmp_path: Path) -> None:
    with pytest.raises(GraphFormatError, match=r"neither gpugraph's .* nor Gunrock's"):
        load_text(tmp_path, "a.csr", b"-----BEGIN CERTIFICATE REQUEST-----\n")


def test_a_vertex_count_that_spells_the_magic_of_gzip_is_not_taken_for_gzip(tmp_path: Path) -> None:
    n = 0x00088B1F
    data = b"".join((n.to_bytes(4, "little"), (0).to_bytes(4, "little"), bytes(4 * (n + 1))))
    (tmp_path / "a.egr").write_bytes(data)
    assert load_file(tmp_path / "a.egr").vertices == n


@pytest.mark.parametrize("cut", [5, 40, -4])
@pytest.mark.parametrize("suffix", ["gz", "bz2", "xz", "zst"])
def test_compressed_data_cut_short_are_refused(tmp_path: Path, suffix: str, cut: int) -> None:
    from gpugraph.ext.formats.files import save_file
    from tests.zoo import zoo

    path = tmp_path / f"a.gr.{suffix}"
    save_file(zoo("random"), path)
    path.write_bytes(path.read_bytes()[:cut])
    with pytest.raises(GraphFormatError, match=f"a.gr.{suffix}"):
        load_file(path)


def test_a_damaged_gzip_is_refused(tmp_path: Path) -> None:
    data = bytearray(gzip.compress(b"p sp 4 4\n" + b"".join(b"a %d %d %d\n" % (u + 1, v + 1, w) for u, v, w in ARCS)))
    data[-6] ^= 255
    with pytest.raises(GraphFormatError, match="gzip data are damaged"):
        load_text(tmp_path, "a.gr.gz", bytes(data))


@pytest.mark.parametrize(
    ("name", "says"),
    [("a.graph", "METIS .graph is only read"), ("a.doc", "no graph format is called '.doc'"), ("a", "'a'")],
)
def test_an_output_name_that_cannot_be_written_says_what_can(name: str, says: str) -> None:
    with pytest.raises(InputError, match=says) as caught:
        formats.for_output(name)
    assert ".mtx" in str(caught.value)


def test_output_goes_to_the_writer_of_its_ending() -> None:
    assert formats.for_output("x/a.gr.gz").name == "dimacs"
    assert formats.for_output("a.csr").name == "csr"
    assert formats.for_output("a.b/c.el").name == "edgelist"


ATOMS = [
    *(" ", "\n", "#", '"', "c\n", "{", "}", "a ", "1 ", "/*", "//", "*/"),
    *("graph ", "p sp ", "Nodes: ", "[", ",", "c \r\n"),
]


@pytest.mark.parametrize("begin", ["", "a ", "#"])
def test_no_beginning_of_a_file_keeps_its_recognition_busy(begin: str) -> None:
    for one, other in itertools.product(ATOMS, repeat=2):  # a pattern that is tried in every way would take years
        head = f"{begin}{one}{other}".encode().ljust(6) + (one + other).encode() * 3000
        for form in formats.FORMATS:
            form.sniff(head)


@pytest.mark.parametrize(
    ("name", "data", "says"),
    [
        ("k.7z", b"7z\xbc\xaf\x27\x1c\0\4", "is a 7z archive"),
        ("k.h5", b"\x89HDF\r\n\x1a\n\0\0", "is an HDF5 file"),
        ("k.pickle", b"\x80\x04\x95\x1f\0\0\0", "is a pickle, which is never opened"),
        ("k.txt.Z", b"\x1f\x9d\x90\x30", "is compressed by compress"),
    ],
)
def test_containers_are_called_what_they_are(tmp_path: Path, name: str, data: bytes, says: str) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(GraphFormatError) as error:
        load_file(tmp_path / name)
    assert says in str(error.value)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            '<?xml version="1.0"?>\n<!-- x -->\n<gexf version="1.3"><graph/></gexf>',
            "first element is <gexf>, no GraphML",
        ),
        ('<graph label="x" xmlns="http://www.cs.rpi.edu/XGMML"/>', "first element is <graph>, no GraphML"),
        ("<!DOCTYPE html><html><body>404", "as a page of HTML does"),
    ],
)
def test_markup_that_is_no_graphml_is_called_what_it_is(tmp_path: Path, text: str, says: str) -> None:
    for name in ("a.txt", "a.gexf", "a.graph"):
        (tmp_path / name).write_text(text)
        with pytest.raises(InputError) as error:
            load_file(tmp_path / name)
        assert says in str(error.value)


MADE_UP = '''"""A list of edges behind the word EDGES."""

from gpugraph.graph.build import ArcList
from gpugraph.ext.formats.base import Format
import numpy as np


def read(source):
    ends = np.array(source.data.tobytes().split()[1:], int)
    return ArcList(ends[::2], ends[1::2], None, int(ends.max()) + 1, one_sided=True)


def write(graph, stream, extension):
    stream.write(b"EDGES")


FORMAT = Format(name="made-up", title="Made up", extensions=(".up",), read=read, write=write, hint=rb"\\AEDGES\\s")
'''


def test_a_new_format_is_one_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "more_formats"
    folder.mkdir()
    (folder / "made_up.py").write_text(MADE_UP)
    monkeypatch.syspath_prepend(tmp_path)
    found = tuple(formats.described(folder, "more_formats"))
    monkeypatch.setattr(formats, "FORMATS", (*formats.FORMATS, *found))
    assert "more_formats.made_up" not in sys.modules
    for name in ("a.up", "a.txt", "a"):
        assert arcs(load_text(tmp_path, name, "EDGES 0 1 1 2")) == [(0, 1, 1), (1, 0, 1), (1, 2, 1), (2, 1, 1)]
    assert load_text(tmp_path, "b.txt", "EDGES 0 1", input_format="made-up").edges == 1
    assert formats.for_output("b.up").write is not None


def test_what_a_module_says_of_its_format_is_what_its_format_is() -> None:
    for form in formats.FORMATS:
        loaded = form.load()
        same = ("name", "title", "extensions", "hint", "shared", "binary")
        assert [getattr(form, name) for name in same] == [getattr(loaded, name) for name in same]
        assert form.write == (loaded.write is not None)
