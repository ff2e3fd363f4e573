"""Fetching one file of a data set into the cache, from the first of its sources that has it, whole and checked.

pooch checks the SHA-256 and puts the file in its place; how the bytes come is here.  A transfer that breaks off is gone
on with from where it broke, also by a later command, where the server can tell that its file is still the same
(RFC 9110, sections 13.1.5 and 14.2).  What is busy is asked again after a while; what has no such file is not.
"""

import contextlib
import json
import os
import re
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

from gpugraph.base.errors import InputError
from gpugraph.base.quantities import exactly, in_units
from gpugraph.cli.process import Interruption
from gpugraph.ext.datasets.registry import Dataset
from gpugraph.graph.read_options import MIRROR

WAITS_S = (0.5, 1.0, 2.0, 4.0)
"""Seconds before the next try, for as many tries as bring nothing new; then the next source has its turn."""
MOST_WAIT_S = 30.0
"""A server that asks for more patience than that is passed over."""
_TIMEOUT_S = (15.0, 60.0)
"""To be connected with, and between two pieces."""
_BLOCK = 1 << 20
_MOST_TRIES = 100
_NO_NAME = "its name is not known: is there a network?"
ROOM = "free some space there, or set GPUGRAPH_DATA_DIR to a folder with room that you may write to"

Tell = Callable[[str], None]


class _Refused(Exception):
    """A source does not give the file; the text says why, ``missing`` that it has none of that name."""

    def __init__(self, why: str, *, missing: bool = False, remedy: str = ""):
        super().__init__(why)
        self.missing, self.remedy = missing, remedy


def changed(dataset: Dataset, vouched_by: str) -> str:
    """Return what to do about a file or a graph that is another than who vouches for it says."""
    if "pin" in vouched_by:
        return f"if that is well, gpugraph datasets {dataset} --forget drops the pin; see docs/datasets.md"
    return "it is damaged, or its source has changed it: see docs/datasets.md"


def sources(dataset: Dataset) -> list[str]:
    """Return the URLs in the order in which they are asked: the user's mirror, then those of the registry."""
    mirror = os.environ.get(MIRROR, "").rstrip("/")
    own = [f"{mirror}/{dataset.collection}/{quote(dataset.name)}/{dataset.file}"] if mirror else []
    return [*own, *dataset.urls]


def fetch(dataset: Dataset, folder: Path, sha256: str | None, vouched_by: str, tell: Tell) -> str:
    """Fetch the file of a data set into its folder, which nobody else writes to meanwhile; return the URL.

    Raises:
        InputError: no source gives it, its SHA-256 is not the one that ``vouched_by`` says, there is no room for it, or
            pooch is missing.
    """
    try:
        import pooch
    except ImportError:
        remedy = f"pip install 'gpugraph[data]', or put {dataset.urls[0]} into {folder} by hand"
        what = "data sets are fetched by pooch, which is not installed"
        if (folder / dataset.file).is_file():  # put there by hand, perhaps
            what = f"{folder / dataset.file} is not the file that {vouched_by} knows, and {what}"
        raise InputError(what, where=str(dataset), remedy=remedy) from None
    pooch.get_logger().setLevel("ERROR")
    troubles: list[tuple[str, _Refused]] = []
    for url in sources(dataset):
        host = url.partition("://")[2].partition("/")[0].rpartition("@")[2] or url
        transfer = _Transfer(folder / f"{dataset.file}.part", dataset, tell)
        try:
            pooch.retrieve(url, known_hash=sha256, fname=dataset.file, path=folder, downloader=transfer)
            return url
        except _Refused as refused:
            troubles.append((host, refused))
        except ValueError as error:
            found = re.search(r"got ([0-9a-f]{64})", str(error))
            if found is None:
                raise
            why = f"its SHA-256 is {found[1]}, {vouched_by} says {sha256}"
            troubles.append((host, _Refused(why, remedy=changed(dataset, vouched_by))))
        except OSError:
            transfer.forget()
            raise
    what = "cannot be fetched: " + "; ".join(dict.fromkeys(f"{host}: {why}" for host, why in troubles))
    remedy = next((why.remedy for _, why in troubles if why.remedy), "")
    if all(why.missing for _, why in troubles):
        remedy = "check the name: gpugraph datasets lists some; or name a mirror in GPUGRAPH_MIRROR"
    elif not remedy:
        remedy = f"try again later, what has come is kept; or put the file into {folder} by hand"
    raise InputError(what, where=str(dataset), remedy=remedy)


def require_room(dataset: Dataset, folder: Path, needed: int, what: str) -> None:
    """Raise InputError if ``needed`` bytes are not free in a folder, before any of them is written."""
    free = shutil.disk_usage(folder).free
    if needed > free:
        needs = f"{what} {exactly(needed)}, and {in_units(free)} are free in {folder}"
        raise InputError(needs, where=str(dataset), remedy=ROOM)


class _Transfer:
    """What pooch calls to get the bytes of a URL: into a part beside the file, gone on with where it broke off."""

    def __init__(self, part: Path, dataset: Dataset, tell: Tell):
        self._part = part
        self._state = part.with_name(f"{part.name}.json")
        self._dataset = dataset
        self._tell = tell

    def __call__(self, url: str, output_file: Any, pooch: Any, check_only: bool = False) -> None:
        """Fetch ``url`` to the path ``output_file``.  Raises _Refused if the source does not give it."""
        import requests
        import urllib3

        tries, farthest, why = 0, self._have(), ""
        for _ in range(_MOST_TRIES):
            asked_s = 0.0
            try:
                self._try(url)
                os.replace(self._part, output_file)
                self.forget()
                return
            except requests.exceptions.SSLError:
                raise _Refused("its certificate is not valid") from None
            except InputError:  # which is a ValueError, as what is wrong with an address
                raise
            except (ValueError, requests.exceptions.TooManyRedirects):
                raise _Refused("its address leads nowhere") from None
            except _Again as again:
                why, asked_s = str(again), again.wait_s
            except (requests.exceptions.RequestException, urllib3.exceptions.HTTPError) as error:
                why = _in_words(error)
            if Interruption.latest is not None:  # of which a library made one of its own errors
                raise Interruption.latest
            at = self._have()
            tries, farthest = (0 if at > farthest else tries + 1), max(at, farthest)
            unknown_host = why == _NO_NAME and tries > 1  # of every source: there is no use in waiting long
            if tries > len(WAITS_S) or asked_s > MOST_WAIT_S or unknown_host:
                break
            self._tell(f"{self._dataset.file}: {why}; trying again")
            time.sleep(max(asked_s, WAITS_S[max(tries - 1, 0)]))
        raise _Refused(why)

    def _try(self, url: str) -> None:
        """Ask once, and write what comes; raise _Refused, _Again, or requests' errors if that is not all."""
        import requests

        held, mark = self._begun(url)
        headers = {"Accept-Encoding": "identity", "User-Agent": "gpugraph"}
        if held:
            headers |= {"Range": f"bytes={held}-", "If-Range": mark}
        with requests.get(url, stream=True, timeout=_TIMEOUT_S, headers=headers) as response:
            status = response.status_code
            if status == 416:
                self.forget()
                raise _Again("another length than before")
            if status == 429 or status >= 500:
                asked = response.headers.get("Retry-After", "")
                seconds = float(asked) if asked.isascii() and asked.isdigit() else 0.0
                raise _Again(f"{status} {response.reason or 'busy'}".lower(), seconds)
            if status not in (200, 206):
                raise _Refused(f"{status} {response.reason or ''}".strip().lower(), missing=status in (404, 410))
            goes_on = status == 206 and response.headers.get("Content-Range", "").startswith(f"bytes {held}-")
            if status == 206 and not goes_on:
                self.forget()
                raise _Again("a part that was not asked for")
            self._receive(response, url, held if goes_on else 0)

    def _receive(self, response: Any, url: str, held: int) -> None:
        """Write what comes behind the ``held`` bytes that are there."""
        length = response.headers.get("Content-Length", "")
        whole = held + int(length) if length.isascii() and length.isdigit() else None
        if whole is not None:
            require_room(self._dataset, self._part.parent, whole - held, "fetching it needs")
        if not held:
            strong = response.headers.get("ETag", "")
            mark = strong if strong.startswith('"') else response.headers.get("Last-Modified", "")
            self.forget()
            self._state.write_text(json.dumps({"url": url, "mark": mark}))
        with open(self._part, "ab" if held else "wb") as file:
            # The bytes as they are served: some servers call a .gz file's own compression one of the transfer.
            for block in response.raw.stream(_BLOCK, decode_content=False):
                file.write(block)
                held += len(block)
                part = "" if whole is None else f" of {in_units(whole)}, {held / max(whole, 1):.0%}"
                self._tell(f"fetching {self._dataset.file}: {in_units(held)}{part}")
        if whole is not None and held < whole:
            raise _Again(f"broke off after {held:,} of {whole:,} bytes")

    def _begun(self, url: str) -> tuple[int, str]:
        """Return how many bytes are there of this URL's file, and what tells that it is the same."""
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            state = json.loads(self._state.read_text())
            if state["url"] == url and state["mark"]:
                return self._have(), str(state["mark"])
        return 0, ""

    def _have(self) -> int:
        try:
            return self._part.stat().st_size
        except OSError:
            return 0

    def forget(self) -> None:
        """Remove what has come."""
        for path in (self._part, self._state):
            path.unlink(missing_ok=True)


class _Again(Exception):
    """The source is worth another try, after ``wait_s`` seconds where the server asks for that."""

    def __init__(self, why: str, wait_s: float = 0.0):
        super().__init__(why)
        self.wait_s = wait_s


def _in_words(error: Exception) -> str:
    """Return what went wrong on the way, in a few words."""
    import requests

    text = str(error)
    if isinstance(error, requests.exceptions.Timeout) or "timed out" in text:
        return "no answer in time"
    if broken := re.search(r"IncompleteRead\((\d+) bytes read, (\d+) more expected", text):
        return f"broke off with {int(broken[2]):,} bytes to come"
    if "resolve" in text or "Name or service" in text:
        return _NO_NAME
    return "cannot be reached" if "Connection" in type(error).__name__ else "the connection broke"
