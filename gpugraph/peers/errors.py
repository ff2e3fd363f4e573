"""What becomes of a peer that gives no result: each class names the outcome that the bench records.

A peer that gives a wrong result raises nothing: its record's verification has failed, outcome ``"wrong"``.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from gpugraph.errors import GpuGraphError, in_one_line

_REFUSAL = re.compile(
    r"disconnected|(not|be) connected|not (yet |currently )?(supported|implemented|available)|unsupported",
    re.IGNORECASE,
)


class PeerError(GpuGraphError):
    """Base of what a peer can end in; ``outcome`` is the word for its row."""

    outcome = "threw"
    exit_code = 1


class PeerRefused(PeerError):
    """The peer cannot do this: it is not installed, lacks the feature, or does not take such a graph."""

    outcome = "refused"
    exit_code = 2


class PeerThrew(PeerError):
    """The peer failed of itself: an exception, a non-zero exit, or output that says nothing."""


class PeerTimedOut(PeerThrew):
    """The peer still ran at its time limit and was killed."""

    outcome = "timeout"


def guarded(function: Callable[..., Any], peer: str) -> Callable[..., Any]:
    """Return ``function`` with whatever a peer raises told as PeerRefused or PeerThrew, in one line."""

    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except (GpuGraphError, MemoryError):
            raise
        except (ImportError, NotImplementedError) as error:
            raise PeerRefused(in_one_line(error), where=peer) from error
        except (Exception, SystemExit) as error:
            raise _told(error, peer) from error
        except BaseException as error:
            if type(error).__name__ != "PanicException":  # what Rust code raises is no Exception
                raise
            raise _told(error, peer) from error

    return call


def _told(error: BaseException, peer: str) -> PeerError:
    text = in_one_line(error)
    return (PeerRefused if _REFUSAL.search(text) else PeerThrew)(text, where=peer)
