"""The published schema of records: what passes and what does not; what tests write is held to it (conftest)."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest

from gpugraph.records.record import Record
from gpugraph.records.record_shape import SCHEMA, Amount, Positive, Shape
from tests.cli.runner import succeed
from tests.tiers import only

ROOT = Path(__file__).resolve().parents[2]
PUBLISHED = ROOT / "docs" / "record.schema.json"
STORED = [*sorted((ROOT / "docs" / "records").glob("*")), ROOT / "tests" / "report" / "real.jsonl"]
GOOD: dict[str, Any] = {"schema": 1, "problem": "mst", "algorithm": "kruskal"}


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of a record: ``docs/record.schema.json``, made of ``Shape``."""

    def amount(kind: type) -> dict[str, Any]:
        if not issubclass(kind, Amount):
            raise NotImplementedError(kind)
        return {"type": "number", "exclusiveMinimum" if kind is Positive else "minimum": 0, "maximum": 1e18}

    made = msgspec.json.schema(Shape, schema_hook=amount)
    shape = made["$defs"]["Shape"]
    for name, field in shape["properties"].items():
        if name not in shape["required"]:  # null there is as good as nothing
            shape["properties"][name] = {"anyOf": [field, {"type": "null"}]}
    shape["properties"] = {"schema": {"const": SCHEMA}, **shape["properties"]}
    for part in made["$defs"].values():
        part["description"] = " ".join(part.get("description", "").replace("``", "").split())
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "A record of gpugraph", **made}


def validate(data: Any) -> None:
    jsonschema.Draft202012Validator(json.loads(PUBLISHED.read_text("utf-8"))).validate(data)


@pytest.mark.skipif(msgspec.__version__ < "0.22", reason="earlier versions of msgspec word a schema differently")
def test_the_published_schema_is_that_of_the_program() -> None:
    own = json.dumps(json_schema(), indent=1, ensure_ascii=False) + "\n"
    assert PUBLISHED.read_text("utf-8") == own, (
        "run: python -c 'import json; from tests.measure.test_record_schema import json_schema; "
        "print(json.dumps(json_schema(), indent=1, ensure_ascii=False))' > docs/record.schema.json"
    )
    jsonschema.Draft202012Validator.check_schema(json.loads(own))


@pytest.mark.parametrize("file", only(STORED[::4], STORED), ids=lambda file: file.name)
def test_stored_records_fit(file: Path) -> None:
    content = gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()
    lines = [json.loads(line) for line in content.splitlines() if line.strip()]
    records = [data for data in lines if "problem" in data]
    assert records
    for data in records:
        validate(data)


def test_a_record_of_every_kind_of_cell_fits() -> None:
    for words in (("mst", "path:9"), ("sssp", "path:9", "--source", "random:2"), ("scan", "--size", "1KiB")):
        data = json.loads(succeed(*words, "--device", "cpu", "--format", "json").out)
        validate(data)
        assert data["outcome"] == "ok"


@pytest.mark.parametrize(
    "change",
    [
        {"problem": None},
        {"schema": 2},
        {"outcome": "splendid"},
        {"samples_s": {"kernel": [-1.0]}},
        {"samples_s": {"kernel": "fast"}},
        {"graph": {"vertices": 1.5}},
        {"confidence_s": {"kernel": [1.0]}},
        {"paper": {"scale": 0}},
        {"verification": {"status": 1}},
    ],
)
def test_what_the_program_refuses_the_schema_refuses(change: dict[str, Any]) -> None:
    validate(GOOD)
    validate(GOOD | {"verification": None, "anything": "else"})
    with pytest.raises(jsonschema.ValidationError):
        validate(GOOD | change)
    with pytest.raises(ValueError, match=r"schema|problem|outcome|kernel|vertices|scale|status"):
        Record.of(GOOD | change)
