"""Peers: other people's programs beside gpugraph, on the same graph, interleaved, checked by the same verifier.

A peer is an ``Algorithm`` called ``peer:NAME``, so that ``run_cell`` times and verifies it as it does any other.  A
library of Python's is converted to in ``prepare``, outside the timed region; an external command is a table
``[peer.NAME]`` (see ``command.py``).  docs/peers.md says what is measured, and what counts as right.
"""

from collections.abc import Mapping
from typing import Any

from gpugraph.base.errors import unknown_name
from gpugraph.base.plugged import offered, plugged
from gpugraph.ext.peers.command import CommandPeer, parse_commands, read_tables
from gpugraph.ext.peers.libraries import LIBRARIES
from gpugraph.ext.peers.peer import Peer, PeerError, PeerRefused, PeerThrew, PeerTimedOut, library_algorithm, note_truth
from gpugraph.problems.algorithm import Algorithm

__all__ = ["LIBRARIES", "CommandPeer", "PeerError", "PeerRefused", "PeerThrew", "PeerTimedOut", "load_peer"]
__all__ += ["describe_peers", "parse_commands", "read_tables", "register_commands", "registered_commands"]

_COMMANDS: dict[str, CommandPeer] = {}


def register_commands(tables: Mapping[str, Any], where: str = "") -> None:
    """Let commands of tables ``[peer.NAME]`` replace those known; raise InputError, naming ``where``, for a bad one."""
    parsed = parse_commands(tables, where)
    _COMMANDS.clear()
    _COMMANDS.update(parsed)
    from gpugraph.measure.check import VERIFIED

    VERIFIED[:] = [note_truth] if parsed else []


def registered_commands() -> dict[str, CommandPeer]:
    """Return the commands known in this process."""
    return dict(_COMMANDS)


def load_peer(name: str, problem: str, device_kind: str) -> Algorithm:
    """Return ``"peer:NAME"`` as an algorithm; raise InputError for none or another device, PeerRefused if it cannot."""
    bare = name.removeprefix("peer:")
    if bare in _COMMANDS:
        from gpugraph.ext.peers.command_peer import command_algorithm

        return command_algorithm(_COMMANDS[bare], problem, device_kind)
    if bare not in LIBRARIES and bare not in offered("peers"):
        raise unknown_name("peer", bare, [*LIBRARIES, *_COMMANDS, *offered("peers")])
    return library_algorithm(LIBRARIES.get(bare) or plugged("peers", bare, Peer), problem, device_kind)


def describe_peers(problem: str | None = None) -> list[dict[str, Any]]:
    """Return a line for each peer, of one problem or of all: libraries, installed or not, then commands."""
    found = [library.describe() for library in LIBRARIES.values()]
    found += [plugged("peers", name, Peer).describe() for name in sorted(offered("peers") - LIBRARIES.keys())]
    found += [command.describe() for command in _COMMANDS.values()]
    if problem is None:
        return found
    return [{**peer, "problems": [problem]} for peer in found if problem in peer["problems"]]
