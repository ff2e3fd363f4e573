"""The parts of the hostile test."""

from __future__ import annotations

from tests.hostile import (
    bombs,
    caches,
    disks,
    exits,
    graphs,
    handles,
    lengths,
    limits,
    modules,
    peers,
    plugins,
    programs,
    records,
    results,
    sentinels,
    settings,
    signals,
    streams,
    sweeps,
    together,
)
from tests.hostile.trials import Part

PARTS: dict[str, Part] = {
    part.name: part
    for part in (
        graphs.PART,
        programs.PART,
        results.PART,
        lengths.PART,
        sentinels.PART,
        modules.PART,
        handles.PART,
        records.PART,
        peers.PART,
        signals.PART,
        plugins.PART,
        caches.PART,
        disks.PART,
        sweeps.PART,
        limits.PART,
        bombs.PART,
        *streams.PARTS,
        exits.PART,
        *together.PARTS,
        *settings.PARTS,
    )
}
