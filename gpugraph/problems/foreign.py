"""Algorithms that are not gpugraph's own: the form of a name says which extension gives them.

======================  =========================================================================
``peer:NAME``           another program: a library, or an external command
``FILE.py[:OBJECT]``    a user's own
any other               of an installed package, by an entry point, where gpugraph has none such
======================  =========================================================================

An extension is imported when such a name is used.
"""

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any, Protocol, cast

from gpugraph.base.plugged import offered
from gpugraph.problems.algorithm import Algorithm

PEER = "peer:"

EXTENSIONS = {"peers": "gpugraph.ext.peers", "plugins": "gpugraph.ext.plugins.plugin"}
"""Who gives algorithms → the module, which is imported when a name needs it."""


class Peers(Protocol):
    """Other people's programs."""

    LIBRARIES: Mapping[str, Any]
    """Libraries by name, installed or not."""

    def load_peer(self, name: str, problem: str, device_kind: str) -> Algorithm:
        """Return ``"peer:NAME"`` as an algorithm; raise an error whose ``outcome`` says why it cannot be."""

    def describe_peers(self, problem: str | None = None) -> list[dict[str, Any]]:
        """Return what there is to say of each: ``name``, ``title``, ``problems``, ``device`` and more."""

    def read_tables(self, text: str) -> dict[str, Any]:
        """Return the tables of commands in what ``--peer-command`` gives: a file, or TOML itself."""

    def register_commands(self, tables: Mapping[str, Any], where: str = "") -> None:
        """Let the commands of tables ``[peer.NAME]`` replace those known; raise InputError for a bad one."""


class Described(Protocol):
    """Users' own algorithms as ones that cannot run: their options etc.; InputError for one that cannot be used."""

    def find(self, name: str, problem: str) -> Algorithm:
        """Return one for a problem."""

    def any_problem(self, name: str) -> Algorithm:
        """Return one for the problem that it solves, which an installed one says itself."""


class Plugins(Protocol):
    """Algorithms of users and of installed packages."""

    def installed(self) -> Mapping[str, Any]:
        """Return what installed packages offer, by name; nothing of it is imported."""

    def load_plugin(self, name: str, problem: str, device_kind: str) -> Algorithm:
        """Return the algorithm of a file or of a package; raise InputError if it does not fit."""

    def described(self, limit_s: float = 0.0) -> Described:
        """Return what they say of themselves; each is asked once, in a process that may take so long."""

    def describe_plugin(self, name: str) -> dict[str, dict[str, Any]]:
        """Import one and return by problem what ``Algorithm.described`` takes, or its ``error``."""


def peers() -> Peers:
    """Return the extension of peers."""
    return cast(Peers, import_module(EXTENSIONS["peers"]))


def programs(tables: Sequence[str], names: Sequence[str]) -> list[str]:
    """Return the programs of ``--peer-command``: all are measured unless one of ``names`` is a peer's."""
    others = () if any(name.startswith(PEER) for name in names) else tables
    return [name for text in others for name in peers().read_tables(text)]


def plugins() -> Plugins:
    """Return the extension of users' own algorithms."""
    return cast(Plugins, import_module(EXTENSIONS["plugins"]))


def is_file(name: str) -> bool:
    """True for ``./file.py:driver``, False for a registered name and for ``peer:NAME``."""
    return (":" in name or name.endswith(".py")) and not name.startswith(PEER)


def name_and_device(text: str) -> tuple[str, str]:
    """Split ``NAME[@DEVICE]``, the device "" where there is none: behind an ``@`` in a path comes ``.py``."""
    name, _, device = text.rpartition("@")
    return (name, device) if name and ".py" not in device else (text, "")


def is_foreign(name: str) -> bool:
    """Tell whether an algorithm's name is not one of gpugraph's own: a user's file, a peer, or a package's."""
    return name != "auto" and (name.startswith(PEER) or is_file(name) or name in offered("algorithms"))
