"""What hatchling asks of gpugraph: the README as PyPI can show it, whose relative links would lead nowhere."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

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
