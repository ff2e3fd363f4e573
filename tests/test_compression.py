from __future__ import annotations

import bz2
import gzip
import importlib
import io
import lzma
import struct
import sys

import numpy as np
import pyarrow as pa
import pytest

from gpugraph.base.compression import codec_of_content, open_reader, open_writer

NOISE = np.random.default_rng(1).bytes(200_000)
ZSTD = importlib.import_module("compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd")


def with_checksum(data: bytes) -> bytes:
    """Return a frame of zstd in which all damage can be detected."""
    return bytes(ZSTD.compress(data, options={ZSTD.CompressionParameter.checksum_flag: 1}))


PACKERS = {"bzip2": bz2.compress, "xz": lzma.compress, "zstd": with_checksum}


def unpacked(data: bytes, codec: str) -> bytes:
    return open_reader(io.BytesIO(data), codec).read()


@pytest.mark.parametrize("codec", PACKERS)
def test_streams_one_after_another_are_one_file(codec: str) -> None:
    pack = PACKERS[codec]
    assert unpacked(pack(NOISE) + pack(b"") + pack(b"end"), codec) == NOISE + b"end"
    assert codec_of_content(pack(NOISE)[:16]) == codec


@pytest.mark.parametrize("codec", PACKERS)
@pytest.mark.parametrize("byte", range(12))
def test_damage_to_a_later_header_is_no_end_of_the_file(codec: str, byte: int) -> None:
    first = PACKERS[codec](b"0 1\n")
    data = bytearray(first + PACKERS[codec](b"1 2\n"))
    data[len(first) + byte] ^= 255
    with pytest.raises((OSError, EOFError, lzma.LZMAError, ZSTD.ZstdError)):
        unpacked(bytes(data), codec)


@pytest.mark.parametrize("codec", PACKERS)
@pytest.mark.parametrize("cut", [1, 4, 20, 190_000])
def test_a_last_stream_cut_short_is_reported(codec: str, cut: int) -> None:
    data = PACKERS[codec](b"0 1\n") + PACKERS[codec](NOISE)
    with pytest.raises((OSError, EOFError, lzma.LZMAError, ZSTD.ZstdError)):
        unpacked(data[:-cut], codec)


def test_padding_of_xz_is_passed_over_if_it_is_whole_words() -> None:
    one, two = lzma.compress(b"0 1\n"), lzma.compress(b"1 2\n")
    assert unpacked(one + bytes(8) + two + bytes(100_000), "xz") == b"0 1\n1 2\n"
    with pytest.raises(OSError, match="3 bytes of padding"):
        unpacked(one + bytes(3), "xz")
    with pytest.raises(OSError, match="Invalid data"):
        unpacked(bz2.compress(b"0 1\n") + bytes(4), "bzip2")


def test_the_frames_that_pzstd_begins_with_are_passed_over() -> None:
    frame = pa.compress(b"0 1\n", codec="zstd", asbytes=True)
    data = (struct.pack("<III", 0x184D2A50, 4, len(frame)) + frame) * 2
    assert codec_of_content(data[:16]) == "zstd"
    assert unpacked(data, "zstd") == b"0 1\n0 1\n"
    far = struct.pack("<II", 0x184D2A5F, 100) + bytes(100) + frame
    assert (codec_of_content(far[:50]), codec_of_content(far[:50], "a.zst")) == (None, "zstd")
    assert codec_of_content(far) == "zstd"
    assert codec_of_content(struct.pack("<II", 0x184D2A50, 4) + b"no frame") is None


@pytest.mark.parametrize("library", ["isal", "zlib"])
def test_both_readers_of_gzip_refuse_the_same_damage(library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if library == "zlib":
        monkeypatch.setitem(sys.modules, "isal", None)
    one, two = gzip.compress(NOISE), gzip.compress(b"1 2\n" * 1000)
    for whole in (one + two, one + bytes(20) + two, one + two + bytes(3)):
        assert unpacked(whole, "gzip") == NOISE + b"1 2\n" * 1000
    wrong_sum = two[:-8] + bytes(4) + two[-4:]
    wrong_size = two[:-4] + bytes(4)
    for damaged in (one[:-3], one + two[:5], two + b"no gzip", wrong_sum, wrong_size, two[:12] + b"\xff" + two[13:]):
        with pytest.raises(Exception, match=r"gzip|CRC|length|ended|decompressing|deflate") as caught:
            unpacked(damaged, "gzip")
        assert type(caught.value).__name__ in ("BadGzipFile", "EOFError", "error", "IsalError")


def test_gzip_is_written_by_isal_and_the_same_bytes_each_time() -> None:
    from isal import igzip

    content = b"a line of a graph\n" * 5000
    packed = []
    for _ in range(2):
        stream = io.BytesIO()
        with open_writer(stream, "gzip") as writer:
            assert isinstance(writer, igzip.IGzipFile)
            assert not writer.seekable()
            writer.write(content)
        packed.append(stream.getvalue())
    assert packed[0] == packed[1]
    assert gzip.decompress(packed[0]) == content
