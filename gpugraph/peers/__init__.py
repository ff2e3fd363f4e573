"""Peers: other people's programs beside gpugraph, on the same graph, interleaved, checked by the same verifier.

A peer is an ``Algorithm`` called ``peer:NAME``, so that ``run_cell`` times and verifies it as it does any other.  A
library of Python's is converted to in ``prepare``, outside the timed region; an external command is a table
``[peer.NAME]`` (see ``command.py``).  docs/peers.md says what is measured, and what counts as right.
"""

from gpugraph.peers.catalogue import describe_peers, load_peer, register_commands, registered_commands
from gpugraph.peers.command import CommandPeer, parse_commands, read_tables
from gpugraph.peers.errors import PeerError, PeerRefused, PeerThrew, PeerTimedOut

__all__ = [
    "CommandPeer",
    "PeerError",
    "PeerRefused",
    "PeerThrew",
    "PeerTimedOut",
    "describe_peers",
    "load_peer",
    "parse_commands",
    "read_tables",
    "register_commands",
    "registered_commands",
]
