"""The lists of data sets, the names they take, and the command that shows them."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import click
import pytest

from gpugraph.base.errors import InputError
from gpugraph.cli.group import cli
from gpugraph.ext.datasets import registry
from gpugraph.ext.datasets.fetch import sources
from gpugraph.ext.formats.edge_list import PLAIN
from gpugraph.ext.formats.known import FORMATS
from gpugraph.graph.sources import is_dataset
from tests.cli.runner import refuse, succeed
from tests.graph.datasets.server import Server

ROOT = Path(__file__).resolve().parents[3]
PAGE = (ROOT / "docs" / "datasets.md").read_text("utf-8")
Lists = Callable[..., None]


@pytest.mark.parametrize("dataset", registry.listed(), ids=str)
def test_every_listed_data_set_says_all_that_is_needed(dataset: registry.Dataset) -> None:
    assert registry.find(str(dataset)) == dataset
    assert is_dataset(str(dataset))
    assert dataset.title
    assert dataset.licence
    assert dataset.citation
    assert dataset.vertices
    assert dataset.lines
    assert all(re.fullmatch(r"https?://[\w.-]+/\S+", url) and "{" not in url for url in dataset.urls)
    if dataset.shipped:
        content = (registry.SHIPPED / dataset.file).read_bytes()
        assert (sha256(content).hexdigest(), len(content), dataset.urls) == (dataset.sha256, dataset.bytes, ())
    else:
        assert {url.rpartition("/")[2] for url in dataset.urls} == {dataset.file}
    assert dataset.digest is None or re.fullmatch("[0-9a-f]{32}", dataset.digest)
    assert dataset.format in (None, PLAIN.name, *(form.name for form in FORMATS))


def test_the_collections_that_are_promised_are_there() -> None:
    known = registry.registry()
    assert list(known) == ["example", "dimacs9", "suitesparse", "snap", "graphalytics", "gap", "konect"]
    assert {f"`{one}:" for one in known} <= set(re.findall(r"`[a-z0-9]+:", PAGE))
    assert [str(one) for one in registry.listed() if one.collection == "gap"] == [
        f"gap:{name}" for name in ("road", "twitter", "web", "kron", "urand")
    ]


@pytest.mark.parametrize(
    ("name", "url"),
    [
        ("dimacs9:USA-road-t.CAL", "https://www.diag.uniroma1.it/challenge9/data/USA-road-t/USA-road-t.CAL.gr.gz"),
        ("dimacs9:rome99", "https://www.diag.uniroma1.it/challenge9/data/rome/rome99.gr"),
        ("suitesparse:HB/494_bus", "https://sparse.tamu.edu/MM/HB/494_bus.tar.gz"),
        ("snap:soc-sign-bitcoin.x", "https://snap.stanford.edu/data/soc-sign-bitcoin.x.txt.gz"),
        ("graphalytics:kgs", "https://datasets.ldbcouncil.org/graphalytics/kgs.tar.zst"),
        ("gap:road", "https://sparse.tamu.edu/MM/GAP/GAP-road.tar.gz"),
    ],
)
def test_a_name_leads_to_its_file(name: str, url: str) -> None:
    assert sources(registry.find(name))[0] == url


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("dimacs9:USA-road-d.NZ", "unknown data set of dimacs9 'USA-road-d.NZ' — did you mean"),
        ("graphalytics:datagen-7_5", "did you mean 'datagen-7_5-fb'?"),
        ("suitesparse:com-Orkut", "give GROUP/NAME, e.g. suitesparse:HB/jagmesh7"),
        ("suitesparse:a/b/c", "give GROUP/NAME"),
        ("snap:../../etc/passwd", "is no name of a data set"),
        ("snap:", "is no name of a data set — give the name of a file less .txt.gz"),
        ("snap:a/b", "no data set of snap is called 'a/b'"),
        ("gap:rode", "did you mean 'road'?"),
        ("konect:orkut-links", "konect.cc is down for good, says its author, and its files with it — the same"),
        ("konect:cit-HepPhys", "— perhaps snap:cit-HepPh will do"),
        ("konect:zzz", "— many of its networks are in snap: and in suitesparse:; see gpugraph datasets"),
    ],
)  # fmt: skip
def test_a_name_that_cannot_be_is_reported_with_the_nearest(name: str, says: str) -> None:
    for words in (("mst", name), ("info", name), ("sssp", name, "--offline")):
        assert says in refuse(2, *words)


def test_the_twins_of_what_is_gone_are_there() -> None:
    for twin in registry.registry()["konect"].table["twins"].values():
        assert registry.find(twin)


def test_a_file_of_that_name_goes_before_a_data_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("snap:a").write_text("0 1 5\n1 0 5\n")
    assert not is_dataset("snap:a")
    assert succeed("info", "snap:a").code == 0


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[own", "cannot be read"),
        ("own = 3", "is no table"),
        ("[own]\ntitel = 'x'", "unknown key of [own] 'titel' — did you mean 'title'?"),
        ("[own]\nurls = ['file:///x']", "is no URL of a file"),
        ("[own]\nurls = ['http://x/']", "is no URL of a file"),
        ("[own]\nurls = ['http://x/{nmae}.gz']", "'http://x/{nmae}.gz' may have {name}, {last} and {family}"),
        ("[own]\nurls = ['http://x/a']\nmember = '{'", "'{' may have {name}, {last} and {family}"),
        ("[own]\nurls = ['http://x/a']\nnames = '['", "names is no regular expression"),
        ("[own.graphs.a]\nvertices = 3", "[own] has no urls"),
        ("[own.graphs.a]\nvertices = '3'", "vertices is '3', no int"),
        ("[own.graphs.a]\nsha256 = 'abc'", "sha256 is not of 64 hexadecimal digits"),
        ("[own.graphs.'..']\nvertices = 3", "'..' is no name"),
        ("['O W N']\ntitle = 'x'", "is no name of a collection"),
    ],
)
def test_a_list_of_ones_own_that_is_none_is_refused(
    text: str, says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "own.toml"
    path.write_text(text)
    monkeypatch.setenv("GPUGRAPH_DATASETS", str(path))
    with pytest.raises(InputError, match=re.escape(says)):
        registry.registry()
    assert refuse(2, "datasets").startswith(f"gpugraph: error: {path}: ")


def test_a_list_of_ones_own_may_add_to_a_collection_and_replace_a_graph(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "own.toml").write_text("[dimacs9.graphs]\n'USA-road-d.MARS' = {}\nrome99 = { vertices = 5 }\n")
    monkeypatch.setenv("GPUGRAPH_DATASETS", str(tmp_path / "own.toml"))
    assert registry.find("dimacs9:USA-road-d.MARS").urls[0].endswith("/USA-road-d/USA-road-d.MARS.gr.gz")
    assert registry.find("dimacs9:rome99").vertices == 5
    assert registry.find("dimacs9:USA-road-d.NY").vertices == 264346


def test_the_list_of_the_page_is_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = re.search(r"```toml\n(.*?)```", PAGE, re.DOTALL)[1]
    assert tomllib.loads(text)
    (tmp_path / "own.toml").write_text(text)
    monkeypatch.setenv("GPUGRAPH_DATASETS", str(tmp_path / "own.toml"))
    assert registry.find("ours:ulm-2024").lines == 130000
    assert registry.find("ours:aue-2024").directed


def test_every_command_of_the_page_has_the_options_that_it_is_given() -> None:
    lines = re.findall(r"^(?:\| `)?gpugraph ([a-z]+)([^`\n#]*)", PAGE, re.MULTILINE)
    assert len(lines) >= 8
    for name, words in lines:
        command = cli.get_command(click.Context(cli), name)
        known = {option for parameter in command.params for option in parameter.opts}
        assert {word for word in words.split() if word.startswith("-")} <= known


def test_the_command_lists_sizes_licences_citations_and_the_cache(lists: Lists, server: Server) -> None:
    out = succeed("datasets").out
    assert re.search(r"^dimacs9:USA-road-d.COL +435,666 +1,057,066 +first download$", out, re.MULTILINE)
    assert re.search(r"^dimacs9:rome99 .* 132 KiB +SHA-256$", out, re.MULTILINE)
    assert "licence: CC-BY 4.0" in out
    assert "cite: J. Leskovec" in out
    assert succeed("datasets", "--cached").out == "none of these is in the cache\n"
    assert "own:roads: " in succeed("datasets", "own:roads", "--fetch").err
    assert re.search(r"^own:roads .*KiB +pin$|^own:roads .* B +pin$", succeed("datasets", "--cached").out, re.MULTILINE)
    assert succeed("datasets", "own:").out.startswith("own  own\n")
    assert len(server.asked) == 1


def test_the_command_tells_all_of_one_in_words_and_as_json(lists: Lists, folder: Path) -> None:
    before = succeed("datasets", "own:roads").out
    assert re.search(r"^cached +no$", before, re.MULTILINE)
    succeed("datasets", "own:roads", "--fetch")
    after = succeed("datasets", "own:roads").out
    assert re.search(rf"^cached +\S+ \S+ in {folder}", after.replace("\n            ", ""), re.MULTILINE)
    (told,) = json.loads(succeed("datasets", "own:roads", "--format", "json").out)
    assert (told["name"], told["checked_by"], told["cached"]["graphs"]) == ("own:roads", "pin", ["graph.csr"])
    assert told["cached"]["pin"]["sha256"] in after.replace("\n            ", "")


def test_the_command_refuses_what_makes_no_sense(lists: Lists) -> None:
    assert "exclude each other" in refuse(2, "datasets", "own:roads", "--fetch", "--remove")
    for option in ("--fetch", "--remove", "--forget"):
        assert f"e.g. gpugraph datasets dimacs9:rome99 {option}" in refuse(2, "datasets", option)
    assert "unknown collection of data sets 'snapp' — did you mean 'snap'?" in refuse(2, "datasets", "snapp:x")


def test_a_shell_completes_collections_and_names() -> None:
    def offered(words: str) -> list[str]:
        told = {"_GPUGRAPH_COMPLETE": "bash_complete", "COMP_WORDS": f"gpugraph mst {words}", "COMP_CWORD": "2"}
        done = subprocess.run(
            [sys.executable, "-m", "gpugraph"], env={**os.environ, **told}, capture_output=True, text=True, check=True
        )
        return [line.partition(",")[2] for line in done.stdout.splitlines()]

    assert "snap:" in offered("sn")
    assert "konect:" not in offered("ko")
    assert "dimacs9:USA-road-d.NY" in offered("dimacs9:USA-road-d.N")


def test_names_cost_nothing_where_there_are_none() -> None:
    program = "import sys, gpugraph.cli.options, gpugraph.graph.load; print({'pooch', 'requests'} & sys.modules.keys())"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"
