"""The pages are written in short sentences, and their times and rates come from records."""

from __future__ import annotations

import re
from pathlib import Path
from statistics import median

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]

LONGEST = 35
MEDIAN = 18

NOT_PROSE = re.compile(r"^```.*?^```|<!--.*?-->|<picture>.*?</picture>|<[^>\n]+>", re.MULTILINE | re.DOTALL)
BLOCK_STARTS = re.compile(r"^(#+ |[-*] |\d+\. |> |- \[.\] )")
SENTENCE_ENDS = re.compile(r"(?<=[.!?])[*_)\"”]*\s+(?=[\w`\"“*\[(])")


def sentences(text: str) -> list[str]:
    """Return the sentences of a Markdown page, without code blocks, tables, headings and link targets."""
    blocks: list[str] = []
    for line in [*NOT_PROSE.sub("\n\n", text).splitlines(), ""]:
        indented_code = line.startswith("    ") and (not blocks or not blocks[-1])
        if not line.strip() or indented_code or line.lstrip().startswith(("|", "#", "<")):
            blocks.append("")
        elif not blocks or not blocks[-1] or BLOCK_STARTS.match(line.lstrip()):
            blocks.append(BLOCK_STARTS.sub("", line.strip()))
        else:
            blocks[-1] = f"{blocks[-1]} {line.strip()}"
    found = []
    for block in blocks:
        prose = re.sub(r"\]\([^)]*\)", "]", block)
        prose = re.sub(r"`[^`]*`", "`code`", prose)
        prose = re.sub(r"\b(e\.g|i\.e|et al|vs|cf|pp|No|Fig)\.", r"\1", prose)
        found += [one for one in SENTENCE_ENDS.split(prose) if len(words(one)) > 2]
    return found


def words(sentence: str) -> list[str]:
    return [word for word in sentence.split() if re.search(r"\w", word)]


def test_sentences_are_found_without_code_tables_and_headings() -> None:
    text = "# Title\n\nOne short sentence. `code in it` is another!\n\n```sh\ncode\n```\n| a | table |\n- a list item\n"
    assert sentences(text) == ["One short sentence.", "`code` is another!", "a list item"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_no_sentence_of_a_page_is_longer_than_35_words_and_half_have_at_most_18(page: Path) -> None:
    found = sentences(page.read_text("utf-8"))
    too_long = [f"{len(words(one))} words: {one}" for one in found if len(words(one)) > LONGEST]
    assert not too_long, "\n".join(too_long)
    assert median(len(words(one)) for one in found) <= MEDIAN


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_no_sentence_but_a_question_begins_with_what(page: Path) -> None:
    """Its subject would be a clause in the place of a noun."""
    found = [one for one in sentences(page.read_text("utf-8")) if re.match(r"\W*What(ever)?\b", one)]
    assert not [one for one in found if not re.search(r"\?\W*$", one)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_no_table_of_a_page_has_more_than_seven_columns(page: Path) -> None:
    rules = re.findall(r"^\|(?: *:?-+:? *\|)+$", page.read_text("utf-8"), re.MULTILINE)
    assert all(rule.count("|") - 1 <= 7 for rule in rules)


SOURCES = [*(page for page in PAGES if not Path(f"{page}.j2").exists()), *(ROOT / "docs").glob("*.md.j2")]
MEASUREMENT = re.compile(
    r"\d[\d.,]*\**\s?(?:(?:ns|µs|ms|s|seconds|[GT]B/s|[MG]?TEPS)\b|×(?! \d)|times (?:as fast|faster))"
)
NO_MEASUREMENTS = (
    "PATHPACK.jl reports",  # a claim of others, with its source, here on two lines
    "distances in 0.139 s on a B200",
    "states two projected rates: 3000 MTEPS",  # a paper's
    "cell has had 15 seconds",  # limits and settings
    "(default 120 s) bounds the cell",
    "where a run takes less than 20 ms",
    "Differences below 1 µs, the resolution",
    "is allowed 100 GB/s for each thread",
)


def typed_measurements(text: str) -> list[str]:
    """Return the paragraphs and rows, code aside, that state a time, a rate or a speed-up."""
    code = r"^```.*?^```|^    .*?$|`[^`\n]*`|\"[^\"\n]*\"|\{\{.*?\}\}|\{%.*?%\}"
    prose = re.sub(code, "", text, flags=re.MULTILINE | re.DOTALL)
    return [line for line in prose.splitlines() if MEASUREMENT.search(line)]


def test_typed_measurements_are_found_in_sentences_and_tables_but_not_in_code() -> None:
    prose = "It takes 13 ms.\n| a | 3 | 1.5× |\nTwo are **7.0** times as fast.\n"
    others = "`--time 3s`\n{{ 1 }} ms\n```\n4 ms\n```\n2 cores\n"
    assert len(typed_measurements(prose + others)) == 3


@pytest.mark.parametrize("page", SOURCES, ids=lambda page: page.stem)
def test_times_and_rates_on_a_page_come_from_records(page: Path) -> None:
    """A template fills them in.  The logs in docs/performance are history."""
    found = typed_measurements(page.read_text("utf-8"))
    assert not [line for line in found if not any(known in line for known in NO_MEASUREMENTS)]


RESULTS = {"results", "papers", "when", "hostile"}
"""Pages whose tables are what their commands give, and the one whose command takes an hour."""


@pytest.mark.parametrize("page", [page for page in PAGES if page.parent.name == "docs"], ids=lambda page: page.stem)
def test_a_page_with_commands_shows_what_one_of_them_prints(page: Path) -> None:
    text = page.read_text("utf-8")
    assert "```sh" not in text or "```text" in text or page.stem in RESULTS
