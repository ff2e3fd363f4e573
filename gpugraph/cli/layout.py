"""How help looks: an example first, then what is to be known, then options in groups."""

from __future__ import annotations

import click

from gpugraph.problems.contract import PROBLEMS

GROUPS = {
    "Graph": "input_format columns directed vertices keep_ids symmetrize weights seed size dtype exclusive segments",
    "Algorithm": "algos device commands peer peers source predecessors settings prepare index_bits",
    "Measurement": "repeat warmup target max_seconds cold energy verify phases profile processes budget",
    "Output": "style output output_format save exports verbose quiet debug help",
}
"""Title → the parameters under it; those of a command's own come first, under Options."""

_SECTIONS = {
    "Solve and measure": " ".join(PROBLEMS),
    "Many at once": "bench compare report plot",
    "Graphs": "generate convert info verify",
    "What there is": "algos devices demo help",
    "Your own": "new races config completion",
}
"""Title → the commands under it."""


class GroupedCommand(click.Command):
    """A command whose help is laid out so."""

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the first sentence, the example, and the rest."""
        text, _, example = (self.help or "").partition("\n\b\nExample:")
        first, _, rest = text.partition("\n\n")
        write_example(formatter, first, example)
        if rest.strip():
            formatter.write_paragraph()
            with formatter.indentation():
                formatter.write_text(rest.strip())

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, by groups where there are many."""
        rows: dict[str, list[tuple[str, str]]] = {"Options": [], **{title: [] for title in GROUPS}}
        own = {name: title for title, names in GROUPS.items() for name in names.split()}
        for parameter in self.get_params(ctx):
            row = parameter.get_help_record(ctx)
            if row is not None and isinstance(parameter, click.Option):
                title = "Output" if "--help" in parameter.opts else own.get(parameter.name or "", "Options")
                rows[title].append(row)
        if sum(map(len, rows.values())) <= 12:
            rows = {"Options": [row for part in rows.values() for row in part]}
        for title, part in rows.items():
            if part:
                with formatter.section(title):
                    formatter.write_dl(part)


def write_example(formatter: click.HelpFormatter, first: str, example: str) -> None:
    """Write a paragraph, and under it the lines of an example."""
    formatter.write_paragraph()
    with formatter.indentation():
        formatter.write_text(first)
    if example.strip():
        with formatter.section("Example"):
            for line in example.strip().splitlines():
                formatter.write(f"{'':>{formatter.current_indent}}{line.strip()}\n")


def sections(names: list[str]) -> dict[str, list[str]]:
    """Return titles and the commands under them; one that is in no list goes to the last."""
    placed = {title: [name for name in listed.split() if name in names] for title, listed in _SECTIONS.items()}
    known = {name for part in placed.values() for name in part}
    placed[next(reversed(placed))] += [name for name in names if name not in known]
    return placed
