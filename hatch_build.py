"""What hatchling asks of gpugraph: the README as PyPI can show it, and the commit that a package is built from."""

from __future__ import annotations

import re
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

_PICTURE = re.compile(r"\n?<picture>.*?</picture>\n?|\n?<img [^>]*>\n?", re.DOTALL)
_LINK = re.compile(r"\[([^\]]+)\]\((?!https?:|#)([^)]+)\)")


def for_pypi(text: str, address: str) -> str:
    """Return the README with links to the files of ``address``; without one the words stay, and pictures go."""
    if not address:
        return _LINK.sub(r"\1", _PICTURE.sub("\n", text))
    raw = re.sub(r"//github\.com/([^/]+/[^/]+)", r"//raw.githubusercontent.com/\1/HEAD", address)
    text = re.sub(r'(src|srcset)="(?!https?:)', rf'\1="{raw}/', text)
    return _LINK.sub(rf"[\1]({address}/blob/HEAD/\2)", text)


class CustomMetadataHook(MetadataHookInterface):
    """Sets ``readme``, which pyproject.toml leaves open."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Write the text into the metadata."""
        address = metadata.get("urls", {}).get("Repository", "").rstrip("/")
        text = for_pypi((Path(self.root) / "README.md").read_text("utf-8"), address)
        metadata["readme"] = {"content-type": "text/markdown", "text": text}


class CustomBuildHook(BuildHookInterface):
    """Writes ``gpugraph/commit.txt``, so that records of an installed gpugraph name the commit; an sdist brings it."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Write the file and name it as a part of what is built; an editable install has its checkout."""
        if version == "editable" or not (Path(self.root) / ".git").exists():
            return
        commit, changed = self._git("rev-parse", "--short=12", "HEAD"), self._git("status", "--porcelain")
        unclean = any(not (line.startswith("??") and line.endswith(".jsonl")) for line in changed.splitlines())
        self._folder = tempfile.TemporaryDirectory()
        file = Path(self._folder.name) / "commit.txt"
        file.write_text(f"{commit}{'+' if unclean else ''}\n", "utf-8")
        build_data["force_include"][str(file)] = "gpugraph/commit.txt"

    def _git(self, *words: str) -> str:
        return subprocess.run(
            ["git", "-C", self.root, *words], capture_output=True, text=True, check=True
        ).stdout.strip()
