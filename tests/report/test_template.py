"""Pages of documentation made of records, those of our own among them."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpugraph.errors import InputError
from gpugraph.measure.record_file import read_records
from gpugraph.report.template import fill

DOCS = Path(__file__).resolve().parents[2] / "docs"
STORED = sorted(str(path) for path in (DOCS / "records").glob("*.jsonl"))


@pytest.mark.parametrize("template", sorted(DOCS.glob("*.md.j2")), ids=lambda path: path.name)
def test_a_page_is_what_its_template_makes_of_the_stored_records(template):
    page = template.with_suffix("").read_text("utf-8")
    command = f"gpugraph report docs/records/*.jsonl --template docs/{template.name} -o docs/{template.stem}"
    assert fill(str(template), read_records(STORED)[0]) + "\n" == page, f"they differ; run {command}"
    assert command in " ".join(page.split())


def test_the_command_of_a_file_is_the_one_in_its_records(tmp_path):
    (tmp_path / "p.j2").write_text("{{ command('scales-cpu16') }}; {{ origin('scales-cpu16') }}")
    told = fill(str(tmp_path / "p.j2"), read_records([str(DOCS / "records" / "scales-cpu16.jsonl")])[0])
    assert told.startswith("gpugraph bench --sweep scales --set scale=16..20 --set device=cpu")
    assert told.endswith("; 20 cells, Intel(R) Xeon(R) Processor, 16 threads, 2026-11-22")


def test_figures_that_were_kept_give_way_to_records(tmp_path):
    (tmp_path / "k.toml").write_text('[["s.toml"]]\ntext = "is so"\nours = "long ago"\nvalues = [0.5]\n')
    sweep = tmp_path / "s.toml"
    sweep.write_text(
        'axes.graph = "path:4"\n[[expect]]\ntext = "is so"\neach = { algorithm = "ALGORITHM" }\n'
        'value = "vertices"\nleast = 1\n'
    )
    template = tmp_path / "p.md.j2"
    template.write_text(f'{{{{ verdicts("{sweep}", "scales-cpu16", kept="k.toml") }}}}')
    (tmp_path / "k.toml").write_text(f'[["{sweep}"]]\ntext = "is so"\nours = "long ago"\nvalues = [0.5]\n')
    records = read_records([str(DOCS / "records" / "scales-cpu16.jsonl")])[0]
    assert "| is so | at least 1 | long ago | no |" in fill(str(template), records)
    sweep.write_text(sweep.read_text().replace("ALGORITHM", "kruskal"))
    assert "| is so | at least 1 | from rmat:16: 65,536 to" in fill(str(template), records)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{{ table('scales', 'forests on a GPV') }}", "did you mean 'forests on a GPU'?"),
        ("{{ table('scals', 'x') }}", "did you mean 'scales'?"),
        ("{{ origin('scales-h20') }}", "unknown file of records 'scales-h20'"),
        ("{{ table('cliffs/mst', 'sparse') }}", "no record is in the table 'sparse'"),
        ("{{ verdicts('cliffs/mst', kept='none.toml') }}", "none.toml"),
        ("\n{% if %}", "p.md.j2 line 2"),
        ("{{ tabel('scales') }}", "'tabel' is undefined"),
        ("{{ table('scales') }}", "missing 1 required positional argument"),
        ("{{ ''.__class__.__mro__ }}", "unsafe"),
    ],
)
def test_a_template_that_asks_for_what_is_not_there_is_refused(tmp_path, text, said):
    template = tmp_path / "p.md.j2"
    template.write_text(text)
    with pytest.raises(InputError) as error:
        fill(str(template), read_records([str(DOCS / "records" / "scales-h200.jsonl")])[0])
    assert said in str(error.value)
    assert "p.md.j2" in str(error.value)
