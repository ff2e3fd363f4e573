"""Ranks on one machine that talk through pairs of sockets: what gpugraph's own ranks use, no MPI needed.

Every two ranks share a socket pair that their starter made.  In each of P − 1 turns (P even) all ranks are paired up
and every pair exchanges what it has for each other, the smaller rank sending first; the turns are the same for all, so
that nobody waits in a circle.  A rank that ends closes its sockets, which the others see at once.

Source: the turns are those of a round-robin tournament (the circle method).
"""

from __future__ import annotations

import socket
from collections.abc import Mapping, Sequence

import numpy as np

from gpugraph.errors import RankLost
from gpugraph.ranks.comm import COMBINE, Host, HostComm

_PIECE = 1 << 20


class SocketComm(HostComm):
    """Ranks joined by sockets.

    Args:
        rank: this one.
        size: how many there are.
        peers: by every other rank the file descriptor of the socket to it.
    """

    name = "sockets"

    def __init__(self, rank: int, size: int, peers: Mapping[int, int]):
        super().__init__()
        self.rank, self.size = rank, size
        self._sockets = {other: socket.socket(fileno=number) for other, number in peers.items()}
        self._turns = [turn[rank] for turn in _tournament(size)]

    def close(self) -> None:
        """Close the sockets."""
        for one in self._sockets.values():
            one.close()

    def _exchange(self, packed: Host, sent: Sequence[int], received: Sequence[int], into: Host | None = None) -> Host:
        packed = np.ascontiguousarray(packed)
        out = np.empty(sum(received), packed.dtype)
        to, from_ = np.cumsum([0, *sent]), np.cumsum([0, *received])
        me = self.rank
        out[from_[me] : from_[me + 1]] = packed[to[me] : to[me + 1]]
        for other in self._turns:
            if other >= self.size or other == me:
                continue
            give, take = packed[to[other] : to[other + 1]], out[from_[other] : from_[other + 1]]
            if me < other:
                self._send(other, give)
                self._receive(other, take)
            else:
                self._receive(other, take)
                self._send(other, give)
        return out

    def _reduce(self, array: Host, op: str) -> None:
        """Every rank reduces a stretch of its own, and hands it to all."""
        cuts = [len(array) * i // self.size for i in range(self.size + 1)]
        lengths = np.diff(cuts).tolist()
        own = lengths[self.rank]
        pieces = self._exchange(array, lengths, [own] * self.size).reshape(self.size, own)
        least = COMBINE[op].reduce(pieces, axis=0, dtype=array.dtype)
        array[:] = self._exchange(np.concatenate([least] * self.size), [own] * self.size, lengths)

    def _barrier(self) -> None:
        one = [1] * self.size
        self._exchange(np.zeros(self.size, np.uint8), one, one)

    def _send(self, other: int, array: Host) -> None:
        if len(array) == 0:
            return
        try:
            self._sockets[other].sendall(array.view(np.uint8).data)
        except OSError:
            raise RankLost(f"rank {other} has ended") from None

    def _receive(self, other: int, array: Host) -> None:
        if len(array) == 0:
            return
        room, got = array.view(np.uint8).data, 0
        while got < len(room):
            try:
                count = self._sockets[other].recv_into(room[got : got + _PIECE])
            except OSError:
                count = 0
            if count == 0:
                raise RankLost(f"rank {other} has ended")
            got += count


def _tournament(size: int) -> list[list[int]]:
    """Return the turns: each the partner of every rank; a partner of ``size`` is nobody, where that is odd."""
    players = size + size % 2
    turns = []
    for turn in range(players - 1):
        order = [0, *((i + turn) % (players - 1) + 1 for i in range(players - 1))]
        partner = [0] * players
        for one, other in zip(order[: players // 2], reversed(order[players // 2 :]), strict=True):
            partner[one], partner[other] = other, one
        turns.append(partner)
    return turns
