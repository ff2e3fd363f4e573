"""The peers there are: the libraries known, and the external commands registered in this process."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from gpugraph.errors import unknown_name
from gpugraph.peers.command import CommandPeer, parse_commands
from gpugraph.peers.libraries import LIBRARIES
from gpugraph.peers.peer import Peer, library_algorithm
from gpugraph.problems.algorithm import Algorithm

_COMMANDS: dict[str, CommandPeer] = {}


def library(name: str) -> Peer:
    """Return a library's description; the library itself is not imported."""
    peer: Peer = import_module(f"gpugraph.peers.{name}_peer").PEER
    return peer


def register_commands(tables: Mapping[str, Any], where: str = "") -> None:
    """Make the commands of tables ``[peer.NAME]`` known in this process, in the place of those known before.

    Args:
        tables: name → table, as TOML gives them, or → CommandPeer.
        where: the file, for messages.

    Raises:
        InputError: a bad table.
    """
    ready = {name: table for name, table in tables.items() if isinstance(table, CommandPeer)}
    parsed = parse_commands({name: table for name, table in tables.items() if name not in ready}, where)
    _COMMANDS.clear()
    _COMMANDS.update(ready | parsed)


def registered_commands() -> dict[str, CommandPeer]:
    """Return the commands known in this process."""
    return dict(_COMMANDS)


def load_peer(
    name: str, problem: str, device_kind: str, commands: Mapping[str, CommandPeer] | None = None
) -> Algorithm:
    """Return a peer as an algorithm.

    Args:
        name: ``"peer:NAME"`` or ``"NAME"``.
        problem: ``"mst"`` or ``"sssp"``.
        device_kind: the kind of device of the cell.
        commands: the external commands; default: those registered.

    Raises:
        InputError: there is no such peer, or it runs on another kind of device.
        PeerRefused: it is not installed, or has no function for the problem.
    """
    bare = name.removeprefix("peer:")
    commands = registered_commands() if commands is None else commands
    if bare in commands:
        from gpugraph.peers.command_peer import command_algorithm

        return command_algorithm(commands[bare], problem, device_kind)
    if bare not in LIBRARIES:
        raise unknown_name("peer", bare, [*LIBRARIES, *commands])
    return library_algorithm(library(bare), problem, device_kind)


def describe_peers(problem: str | None = None) -> list[dict[str, Any]]:
    """Return a line for each peer, of one problem or of all: libraries, installed or not, then commands."""
    found = [library(name).describe() for name in LIBRARIES]
    found += [command.describe() for command in _COMMANDS.values()]
    return [peer for peer in found if problem in (None, *peer["problems"])]
