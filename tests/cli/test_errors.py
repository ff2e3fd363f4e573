from __future__ import annotations

import errno
import io
import json
import marshal
import os
import tempfile
import warnings

import pytest

from gpugraph.base.errors import GpuGraphWarning, InputError, installable_here
from gpugraph.cli.group import explain, guard
from gpugraph.cli.output import Progress, warnings_as_notices
from tests.cli.runner import refuse, run
from tests.report.sweep import cell, write

GRID = "grid:3x3"


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["ssp"], "did you mean 'sssp'?"),
        (["mst", GRID, "--alog", "prim"], "did you mean '--algo'?"),
        (["-v", "mst", GRID], "options follow the command: gpugraph COMMAND … -v"),
        (["--json", "info", GRID], "unknown option '--json' — options follow the command"),
        (["info", GRID, "--undirectd"], "did you mean '--undirected'?"),
        (["completion", "--shell", "bash"], "did you mean '--help'?"),
        (["devices", "--noprobe"], "did you mean '--no-probe'?"),
        (["sssp", GRID, "--from", "3"], "write --source VERTEX"),
        (["convert", GRID, "g.gr", "--format", "gr"], "write --output-format FORMAT"),
        (["bench", GRID, "-o", "page.html"], "write --export FILE"),
        (["bench", GRID, "--verify", "none"], "unknown option '--verify' — see 'gpugraph bench --help'"),
        (["--device", "cpu", "mst", GRID], "options follow the command"),
        (["--verison"], "did you mean '--version'?"),
        (["mst", GRID, "--device", "cpu", "--save", "-"], "-: records are appended to a file — name it"),
        (["mst", GRID, "--device", "cpu", "--save", "r.jsonl.gz"], "r.jsonl.gz: records are appended to a file, and a"),
        (["bench", GRID, "--algo", "kruskal", "--processes", 5000], "gpugraph: error: at most 1000 samples"),
        (["mst", GRID, "--algo", "kruskall"], "did you mean 'kruskal'?"),
        (["sssp", GRID, "--algo", "dikstra"], "did you mean 'dijkstra'?"),
        (["mst", GRID, "--device", "cpuu"], "did you mean 'cpu'?"),
        (["mst", GRID, "--format", "jsn"], "did you mean 'json'?"),
        (["mst", GRID, "--verify", "certifcate"], "did you mean 'certificate'?"),
        (["mst", GRID, "-o", "forest.nzp"], "did you mean '.npz'?"),
        (["mst", "gird:3x3"], "did you mean 'grid'?"),
        (["mst", "x.gr", "--input-format", "dimcas"], "did you mean 'dimacs'?"),
        (["algos", "--problem", "ssp"], "did you mean 'sssp'?"),
        (["convert", GRID, "out.csr", "--reweight", "hsah:1..9"], "did you mean 'hash'?"),
        (["sssp", GRID, "--algo", "delta-stepping", "--set", "dleta=3"], "did you mean 'delta'?"),
        (["mst", GRID, "--runs", "3"], "write --repeat N"),
        (["bench", GRID, "--parameter-scan", "n", "1", "8"], "write --set NAME=MIN..MAX"),
        (
            ["bench", GRID, "--price", "-1"],
            "error: a price of -1 an hour is none — give 0 or more, e.g. --price 2.50",
        ),
        (["bench", GRID, "--prepare", "sync"], "write --peer-command 'NAME = {before = …}'"),
    ],
)
def test_an_unknown_name_meets_the_nearest(words, hint, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x.gr").write_text("a 1 2 3\n")
    assert hint in refuse(2, *words)


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["mst", GRID, "--algo"], "option '--algo' requires an argument — see 'gpugraph mst --help'"),
        (["mst", GRID, "--save", "-q"], "--save has no value: -q is an option — give one; see 'gpugraph mst --help'"),
        (["bench", GRID, "--title", "--list"], "--title has no value: --list is an option"),
        (["generate", GRID, "-o", "--help"], "-o has no value: --help is an option"),
    ],
)
def test_an_option_is_not_taken_for_the_value_of_the_one_before_it(words, line, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert line in refuse(2, *words)
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize(
    ("words", "axis"),
    [
        (["bench", GRID, "--axis", "graph=path:9"], "graph"),
        (["bench", GRID, "--algo", "prim", "--axis", "algorithm=kruskal"], "algorithm"),
        (["bench", "--sweep", "smoke", "--device", "cpu", "--axis", "device=emulated"], "device"),
    ],
)
def test_values_of_an_axis_that_are_given_in_two_ways_are_refused(words, axis):
    line = refuse(2, *words, "--list")
    assert f"the values of the axis {axis} are given twice" in line
    assert f"leave out --axis {axis}" in line


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["mst", "nowhere.gr"], "nowhere.gr"),
        (["mst", "words.gr/x"], "words.gr/x: cannot be read: not a directory — check the spelling of the path"),
        (["mst", "https://example.org/x.gr"], "fetch the file, and name it here"),
        (["history", "words.gr"], "words.gr: is a file — name the folder"),
        (["mst", "empty.gr"], "empty.gr"),
        (["mst", "folder"], "folder"),
        (["mst", "words.gr"], "words.gr line 3"),
        (["sssp", GRID, "--source", "9"], "source 9"),
        (["sssp", GRID, "--source", "-1"], "source -1"),
        (["sssp", GRID, "--source", "name:3"], "names"),
        (["sssp", "negative.gr"], "negative weight"),
        (["mst", GRID, "--set", "threads"], "NAME=VALUE"),
        (["sssp", GRID, "--set", "delta=1", "--set", "delta=2"], "twice"),
        (["mst", GRID, "--prepare", "nothing"], "nothing"),
        (["mst", GRID, "--repeat", "-2"], "--repeat -2"),
        (["mst", GRID, "--repeat", "many"], "many"),
        (["mst", GRID, "--warmup", "-1"], "--warmup -1"),
        (["mst", GRID, "second"], "second"),
        (["mst", "rmat:99"], "rmat:99"),
        (["generate", GRID], "--output"),
        (["generate", "x.gr", "-o", "out.csr"], "x.gr"),
        (["generate", GRID, "-o", "out.xyz"], "out.xyz"),
        (["info"], "GRAPH"),
        (["verify", GRID, "nothing.npz"], "nothing.npz"),
        (["verify", GRID, "words.gr"], "words.gr"),
        (["convert", GRID, "out.csr", "--reweight", "hash:9..1"], "9..1"),
    ],
)
def test_bad_input_ends_in_one_line_that_names_the_matter(words, reason, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty.gr").touch()
    (tmp_path / "folder").mkdir()
    (tmp_path / "words.gr").write_text("p sp 2 2\na 1 2 3\na 1 two 3\n")
    (tmp_path / "negative.gr").write_text("p sp 2 2\na 1 2 -3\na 2 1 -3\n")
    before = sorted(tmp_path.iterdir())
    assert reason in refuse(2, *words)
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize("option", ["-o", "--save"])
@pytest.mark.parametrize("command", ["mst", "sssp"])
def test_an_output_that_cannot_be_written_is_refused_before_the_work(command, option, tmp_path, monkeypatch):
    def never(*_args: object) -> None:
        raise AssertionError("the work was begun")

    monkeypatch.setattr("gpugraph.measure.run_cell.run_cell", never)
    assert "make the folder first" in refuse(2, command, GRID, option, tmp_path / "none" / "r.npz")
    assert "it is a folder" in refuse(2, command, GRID, option, tmp_path)
    if os.geteuid() != 0:
        tmp_path.chmod(0o500)
        assert "no permission" in refuse(2, command, GRID, option, tmp_path / "r.npz")
        tmp_path.chmod(0o700)


@pytest.mark.parametrize(("command", "work"), [("generate -o", "generate.generate"), ("convert", "open.open_graph")])
@pytest.mark.parametrize("name", ["g.xyz", "g.graph", "g"])
def test_a_graph_in_a_format_that_is_not_written_is_refused_before_the_work(command, work, name, tmp_path, monkeypatch):
    def never(*_args: object, **_kw: object) -> None:
        raise AssertionError("the work was begun")

    monkeypatch.setattr(f"gpugraph.graph.{work}", never)
    first, *option = command.split()
    assert "end it in .adj" in refuse(2, first, GRID, *option, tmp_path / name)


def test_result_and_record_do_not_go_into_one_file(tmp_path):
    assert "for the result and for the record" in refuse(
        2, "mst", GRID, "-o", tmp_path / "r.csv", "--save", tmp_path / "r.csv"
    )


@pytest.mark.parametrize(
    "words",
    [
        "matrix g.csv --from v.csv --to v.txt -o v.csv",
        "matrix g.csv --from v.txt --to v.csv -o v.csv",
        "matrix g.csv --from v.txt --to v.txt -o g.csv",
        "matrix g.csv --from v.txt --to v.txt -o link.csv",
        "mst g.csv -o g.csv",
        "mst g.csv --export g.csv",
        "bench g.csv --save r.jsonl --export g.csv",
        "compare r.json --by algorithm --export r.json",
        "plot r.json -o r.json",
        "plot r.jsonl r.json -o r.json",
        "report r.json -o r.json",
        "report r.jsonl --template t.md -o t.md",
        "graph500 --scale 6 --reuse g.csv --keep link.csv",
    ],
)
def test_no_output_overwrites_what_the_command_reads(words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in {"g.csv": "0,1\n1,2\n", "v.csv": "0\n", "v.txt": "1\n", "t.md": "hi"}.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "link.csv").symlink_to("g.csv")
    for name in ("r.json", "r.jsonl"):
        write([cell("mst", "kruskal", "cpu", 16)], tmp_path / name)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert "would be overwritten — name another file" in refuse(2, *words.split())
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


@pytest.mark.parametrize(
    "words",
    ["bench grid:3x3 --save r.json --export r.json", "mst grid:3x3 --save r.csv --export r.csv"],
)
def test_no_output_overwrites_another(words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "for the table and for the record" in refuse(2, *words.split())
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("words", "name"),
    [
        (["mst", GRID, "--save", ""], "--save"),
        (["bench", GRID, "--save", ""], "--save"),
        (["bench", GRID, "--runs", "2", "--save", ""], "--save"),
        (["graph500", "--scale", "6", "--results", ""], "--results"),
        (["bench", "--sweep", ""], "--sweep"),
        (["bench", GRID, "--peer", ""], "--peer"),
        (["mst", GRID, "--algo", ""], "--algo"),
        (["history", ""], "folder"),
        (["report", "r.jsonl", "--template", ""], "--template"),
    ],
)
def test_a_word_that_an_unset_variable_left_empty_is_refused(words, name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert f"{name} is empty" in refuse(2, *words)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("number", [errno.ENAMETOOLONG, errno.EACCES, errno.ELOOP, errno.EIO])
def test_a_path_that_the_system_refuses_is_no_defect(number):
    code, line = explain(OSError(number, os.strerror(number), "given"))
    assert (code, "given: cannot be used" in line) == (2, True)


def test_a_current_folder_that_was_removed_is_no_defect(tmp_path, monkeypatch):
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    with pytest.raises(FileNotFoundError) as caught:
        os.getcwd()
    code, line = explain(caught.value)
    assert (code, "the current folder no longer exists" in line) == (2, True)


def test_where_no_folder_takes_temporary_files_the_current_one_is_not_blamed(monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.setattr(tempfile, "_candidate_tempdir_list", lambda: ["/dev/null/a"])
    with pytest.raises(FileNotFoundError) as caught:
        tempfile.gettempdir()
    code, line = explain(caught.value)
    assert (code, "no folder takes temporary files" in line) == (2, True)


def test_code_of_python_that_a_full_disk_cut_short_is_no_defect():
    with pytest.raises(EOFError) as caught:
        marshal.loads(marshal.dumps(compile("a = 1", "a", "exec"))[:-1])
    code, line = explain(caught.value)
    assert (code, "remove the folders __pycache__" in line) == (2, True)


@pytest.mark.parametrize("words", [["history"], ["graph500", "--scale", "6", "--results"]])
def test_a_folder_whose_name_is_too_long_is_refused_in_words(words):
    assert "x: " in refuse(2, *words, "x" * 300)


def test_an_output_whose_name_is_too_long_is_refused_before_the_work(tmp_path):
    assert "give it a shorter name" in refuse(2, "mst", GRID, "-o", tmp_path / ("a" * 255 + ".npz"))
    assert "give it a shorter name" in refuse(2, "mst", GRID, "--save", tmp_path / ("a" * 300))


@pytest.mark.parametrize("words", [["generate", GRID, "-o"], ["convert", GRID]])
def test_a_graph_is_not_written_into_a_missing_folder(words, tmp_path):
    assert "make the folder first" in refuse(2, *words, tmp_path / "none" / "g.csr")


def test_a_result_never_overwrites_its_graph(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run("generate", GRID, "-o", "g.mtx").code == 0
    before = (tmp_path / "g.mtx").read_bytes()
    assert "is the graph itself" in refuse(2, "mst", "g.mtx", "-o", "./g.mtx")
    assert "is the graph itself" in refuse(2, "mst", "g.mtx", "--save", "g.mtx")
    assert (tmp_path / "g.mtx").read_bytes() == before


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_an_unreadable_file_is_refused(tmp_path):
    path = tmp_path / "g.gr"
    path.write_text("a 1 2 3\n")
    path.chmod(0)
    assert "g.gr" in refuse(2, "mst", path)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")
def test_a_full_disk_ends_in_one_line():
    assert "/dev/full" in refuse(2, "mst", GRID, "--save", "/dev/full")
    assert "/dev/full" in refuse(2, "generate", GRID, "-o", "/dev/full", "--output-format", "csr")


def test_a_defect_is_one_line_and_debug_shows_the_trace(monkeypatch):
    def broken(*_args: object) -> None:
        raise ZeroDivisionError("division\nby zero")

    monkeypatch.setattr("gpugraph.measure.run_cell.run_cell", broken)
    line = refuse(70, "mst", GRID)
    assert "a defect of gpugraph (ZeroDivisionError: division by zero) — please report it" in line
    for words in (["--debug", "mst", GRID], ["mst", GRID, "--debug"]):
        outcome = run(*words)
        assert outcome.code == 70
        assert "in broken" in outcome.err


def caused_by(error: Exception) -> ImportError:
    found = ImportError("cannot\nload")
    found.__cause__ = error
    return found


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (KeyboardInterrupt(), 130, "interrupted"),
        (MemoryError("Unable to allocate 8 GiB"), 3, "memory does not suffice (Unable to allocate 8 GiB)"),
        (OSError(errno.ENOMEM, "Cannot allocate memory"), 3, "memory does not suffice"),
        (OSError(errno.EMFILE, "Too many open files"), 3, "too many files are open — raise the limit: ulimit -n"),
        (OSError(errno.ENFILE, "Too many open files in system"), 3, "too many files are open"),
        (ImportError("libx.so: cannot open shared object file: Too many open files"), 3, "too many files are open"),
        (RuntimeError("can't start new thread"), 3, "no other thread or process can be started — raise the limits"),
        (BlockingIOError(11, "Resource temporarily unavailable"), 3, "no other thread or process can be started"),
        (caused_by(OSError("lib.so: failed to map segment from shared object")), 3, "does not suffice (cannot load)"),
        (InputError("is bad", where="x line 3", remedy="mend it"), 2, "error: x line 3: is bad — mend it"),
        (RecursionError("deep"), 70, "a defect of gpugraph (RecursionError: deep)"),
    ],
)
def test_every_exception_has_its_code_and_its_line(error, code, line, capsys):
    def fail() -> None:
        raise error

    assert guard(fail) == explain(error)[0] == code
    err = capsys.readouterr().err
    assert line in err
    assert err.count("\n") == 1


@pytest.mark.parametrize("quiet", [False, True])
def test_warnings_of_gpugraphs_own_are_notices_and_others_stay(capsys, quiet):
    def warn() -> None:
        with warnings_as_notices(quiet=quiet):
            warnings.warn("no room\nthere", GpuGraphWarning, stacklevel=1)
            warnings.warn("from a library", FutureWarning, stacklevel=1)

    with pytest.warns(FutureWarning, match="from a library"):
        warn()
    assert capsys.readouterr().err == ("" if quiet else "gpugraph: no room there\n")


@pytest.mark.parametrize(("words", "heard"), [("-qn1", True), ("-vq", True), ("--quiet", True), ("-n1 -oq.csv", False)])
def test_quiet_is_heard_among_other_letters(words, heard, monkeypatch):
    def caught(*, quiet: bool) -> None:
        raise InputError(f"quiet is {quiet}")

    monkeypatch.setattr("gpugraph.cli.group.warnings_as_notices", caught)
    assert refuse(2, "mst", "path:3", *words.split()) == f"gpugraph: error: quiet is {heard}"


def test_a_notice_is_no_defect_where_python_makes_warnings_errors(capsys):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with warnings_as_notices():
            warnings.warn("no room", GpuGraphWarning, stacklevel=1)
    assert capsys.readouterr().err == "gpugraph: no room\n"


def test_a_very_long_argument_is_shortened_in_the_error():
    assert len(refuse(2, "mst", "x" * 100_000)) < 2000


def test_a_very_long_argument_is_shortened_in_what_is_said_of_progress():
    stream = io.StringIO()
    with Progress(quiet=True, verbose=True, stream=stream) as progress:
        progress("loading rmat:" + "x" * 100_000)
    assert len(stream.getvalue()) < 2000


@pytest.mark.parametrize(
    "words", [["report"], ["compare", "/dev/null"], ["plot"], ["verify", "path:4"], ["scan"], ["info"], ["mst"]]
)
def test_a_device_is_not_read(words):
    """One such as /dev/zero has no end; /dev/null, which has one, must not fill the memory here."""
    assert "/dev/null: is a device" in refuse(2, *words, "/dev/null")


def test_a_package_that_is_missing_is_named_with_the_way_to_install_it():
    code, line = explain(ModuleNotFoundError("No module named 'msgspec'", name="msgspec"))
    assert (code, line) == (2, "error: the Python package 'msgspec' is missing — python -m pip install msgspec")


@pytest.mark.parametrize(
    ("words", "remedy"),
    [
        (("mst", GRID, "--device", "gpu"), "did you mean 'cuda'?"),
        (("mst", GRID, "--json"), "write --format json"),
        (("bench", GRID, "--cpu"), "write --device cpu"),
        (("mst", GRID, GRID), "several are compared by: gpugraph bench GRAPH GRAPH"),
        (("mst", GRID, "--algoo", "x"), "did you mean '--algo'?"),
        (("mst", GRID, "--nonsense"), "see 'gpugraph mst --help'"),
    ],
)
def test_what_people_write_for_another_name_is_understood(words, remedy):
    assert remedy in refuse(2, *words)


@pytest.mark.parametrize("words", [("mst", GRID, "--format", "wordstar"), ("help", "nosuch")])
def test_a_name_that_is_not_similar_is_not_suggested(words):
    line = refuse(2, *words)
    assert "did you mean" not in line
    assert "known: " in line


def test_a_remedy_installs_from_the_folder_that_gpugraph_came_from(tmp_path, monkeypatch):
    class Installed:
        def read_text(self, name: str) -> str:
            return json.dumps({"url": tmp_path.as_uri()}) if name == "direct_url.json" else ""

    monkeypatch.setattr("importlib.metadata.distribution", lambda name: Installed())
    remedy = "pip install 'gpugraph[report]'"
    assert installable_here(remedy) == remedy  # the folder has no project any more
    (tmp_path / "pyproject.toml").touch()
    assert installable_here(remedy) == f"pip install '{tmp_path}[report]'"
    monkeypatch.chdir(tmp_path)
    assert installable_here(remedy) == "pip install '.[report]'"
