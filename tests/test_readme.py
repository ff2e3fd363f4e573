from __future__ import annotations

import re
import shlex
from pathlib import Path
from xml.etree import ElementTree

import pytest

import gpugraph
from gpugraph.base import errors
from gpugraph.ext.formats.known import FORMATS
from gpugraph.graph.families import FAMILIES, find_family
from tests.cli.runner import run, succeed
from tests.readme_table import table
from tests.test_docs import sampled_briefly
from tests.tiers import first

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text("utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


def document(name: str) -> str:
    return (ROOT / "docs" / name).read_text("utf-8")


def test_there_is_one_command_to_run_and_one_to_test():
    found = dict(re.findall(r"<!-- set-up: (\w+) -->\n```sh\n(.*)\n```", README))
    assert list(found) == ["run", "test"]
    assert "gpugraph mst" in found["run"]
    assert "pip install . --group test" in found["test"]
    assert found["test"].endswith("make test PYTHON=python")


def test_the_readme_is_one_screen():
    assert len(README.splitlines()) <= 80


def masked(line: str) -> str:
    return re.sub(r"\d+", "0", line)


@pytest.mark.parametrize("left_out", first(1, ["bench", "none"]))
def test_the_examples_for_the_shell_run_one_after_the_other_and_print_the_lines_below_them(
    tmp_path, monkeypatch, left_out
):
    """A sweep takes many seconds."""
    monkeypatch.chdir(tmp_path)
    lines = [line for block in blocks("sh") for line in block.splitlines()]
    checked = 0
    for i, line in enumerate(lines):
        for part in line.split(" && "):
            if not part.startswith("gpugraph ") or part.startswith(f"gpugraph {left_out}"):
                continue
            words = shlex.split(sampled_briefly(part))[1:]
            shown = lines[i + 1].removeprefix("# ").strip() if lines[i + 1 : i + 2] and lines[i + 1][0] == "#" else ""
            out = succeed(*words).out
            if "times as fast" in shown:  # who is the fastest, and whether clearly, depends on the machine
                assert "boruvka" in out
                assert re.search(r"^\w+ is (.* as|not clearly faster than) \w+", out, re.MULTILINE), out
            else:
                assert not shown or masked(shown) in {masked(line.strip()) for line in out.splitlines()}
            checked += bool(shown)
    assert checked == 5


def test_the_table_in_the_readme_has_the_lines_that_the_program_prints():
    shown = succeed("mst", "rmat:16", "--device", "cpu", "--algo", "boruvka", "--repeat", 1).out.splitlines()
    (table,) = blocks("text")
    stable = [line for line in table.splitlines() if re.match(r"graph|phase|result|verdict|.* other edges", line)]
    assert stable
    assert [line for line in stable if line not in shown] == []


def test_exit_codes_are_those_of_the_program():
    codes = {int(code) for code in re.findall(r"^\| (\d+) \|", document("install.md"), re.MULTILINE)}
    family = errors.GpuGraphError.__subclasses__()
    known = {error.exit_code for error in family} | {0, errors.EXIT_DEFECT, errors.EXIT_INTERRUPTED}
    assert codes == known


def test_links_lead_somewhere():
    for link in re.findall(r"\]\(([^)]+)\)", README):
        assert (ROOT / link.partition("#")[0]).is_file(), link


def test_the_pictures_are_made_here_and_ask_for_nothing_else():
    shown = re.findall(r' (?:src|srcset)="([^"]+)"', README)
    assert len(shown) == 3
    rules = (ROOT / "Makefile").read_text("utf-8")
    for name in shown:
        drawing = ElementTree.parse(ROOT / name)
        assert name in rules
        assert {element.tag.split("}")[1] for element in drawing.iter()}.isdisjoint(
            {"image", "script", "foreignObject"}
        )
        assert "@font-face" not in (ROOT / name).read_text("utf-8")


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_of_specs_is_described_with_all_its_keys(family):
    (row,) = [line for line in document("specs.md").splitlines() if line.startswith(f"| `{family}` |")]
    assert f"`{find_family(family).example}`" in row
    for parameter in find_family(family).parameters:
        assert f"`{parameter.key}`" in row, parameter.key


@pytest.mark.parametrize("form", FORMATS, ids=lambda form: form.name)
def test_every_format_is_described_with_its_endings(form):
    (row,) = [line for line in document("formats.md").splitlines() if line.startswith(f"| `{form.name}` |")]
    assert row.endswith("| yes |" if form.write else "| no |")
    for extension in form.extensions:
        assert f"`{extension}`" in row


def test_the_list_of_algorithms_is_up_to_date():
    assert document("algorithms.md") == run("algos", "--format", "markdown").out, (
        "run: gpugraph algos --format markdown > docs/algorithms.md"
    )


def test_the_interface_for_python_has_a_docstring_everywhere():
    for name in gpugraph.__all__:
        assert name == "__version__" or getattr(gpugraph, name).__doc__


def test_the_speeds_in_the_readme_are_those_of_the_records_with_the_worst_row_first():
    shown = table()
    assert f"\n\n{shown}\n\n" in README, "run: python -m tests.readme_table"
    means = [float(row.split("|")[2].split()[0].strip("*")) for row in shown.splitlines()[2:]]
    published = re.findall(r"^\| [^|]* \| (?:\*\*)?([\d.]+)(?:\*\*| ‡)", document("results.md"), re.MULTILINE)
    assert means == sorted(means)
    assert len(means) <= 6
    assert means[0] == min(map(float, published))


def test_no_paragraph_of_the_readme_has_more_than_three_numbers():
    for paragraph in re.sub(r"```.*?```", "", README, flags=re.DOTALL).split("\n\n"):
        if not paragraph.startswith(("|", "<")):
            prose = re.sub(r"`[^`]*`|\([^)]*\)", "", paragraph)
            assert len(re.findall(r"(?<![\w.])\d[\d.,]*", prose)) <= 3, paragraph
