"""The section of the page that holds what papers published."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from gpugraph.report.published import COLUMNS, Published


def papers_section(papers: Sequence[Published]) -> str:
    """Return the section: of each paper the figures it states, beside ours, and its claims."""
    return (
        '<section id="papers" aria-labelledby="papers-title"><h2 id="papers-title">What papers published</h2>'
        '<p class="intro">Their figures as they state them, on their hardware, beside the best of our cells that did '
        f"the same work.</p>{''.join(_paper(number, paper) for number, paper in enumerate(papers))}</section>"
    )


def _paper(number: int, paper: Published) -> str:
    head = f'<h3 id="paper-{number}">{escape(paper.title)}</h3><p>{escape(paper.about)}</p>'
    claims = "".join(f"<li>{escape(claim)}</li>" for claim in paper.claims)
    return head + _figures(number, paper) + (f'<ul class="claims">{claims}</ul>' if claims else "")


def _figures(number: int, paper: Published) -> str:
    if not paper.figures:
        return ""
    names = "".join(f'<th scope="col">{name.capitalize()}</th>' for name in COLUMNS)
    lines = ""
    for figure in paper.figures:
        cells = (
            f'<td data-title="{name.capitalize()}">{escape(text)}</td>'
            for name, text in zip(COLUMNS, figure, strict=True)
        )
        lines += f"<tr>{''.join(cells)}</tr>"
    return (
        f'<div class="scroll" role="region" aria-labelledby="paper-{number}" tabindex="0"><table class="published">'
        f"<thead><tr>{names}</tr></thead><tbody>{lines}</tbody></table></div>"
    )
