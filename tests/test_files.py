from __future__ import annotations

import errno
import gc
import gzip
import io
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from gpugraph.base.compression import codec_of_name, open_reader
from gpugraph.base.errors import InputError
from gpugraph.base.files import atomic_write, check_writable, ending_of, read_text


def test_bytes_and_text_are_written(tmp_path: Path) -> None:
    with atomic_write(tmp_path / "a") as stream:
        stream.write(b"1\n")
    with atomic_write(tmp_path / "b", "w") as stream:
        stream.write("ü\n")
    assert (tmp_path / "a").read_bytes() == b"1\n"
    assert (tmp_path / "b").read_bytes() == "ü\n".encode()
    assert sorted(os.listdir(tmp_path)) == ["a", "b"]


def test_the_name_says_how_to_compress(tmp_path: Path) -> None:
    with atomic_write(tmp_path / "a.gz", "w") as stream:
        stream.write("hello")
    assert gzip.decompress((tmp_path / "a.gz").read_bytes()) == b"hello"


@pytest.mark.parametrize("name", ["a", "a.gz", "a.bz2", "a.xz", "a.zst"])
@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_an_interrupted_write_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, name: str, error: type[BaseException]
) -> None:
    (tmp_path / name).write_bytes(b"old")

    def interrupted() -> None:
        with atomic_write(tmp_path / name) as stream:
            stream.write(b"new" * 1000)
            raise error

    with pytest.raises(error):
        interrupted()
    assert os.listdir(tmp_path) == [name]
    assert (tmp_path / name).read_bytes() == b"old"


@pytest.mark.parametrize("moment", ["fsync", "replace"])
def test_a_full_disk_is_reported_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, moment, full)
    with pytest.raises(InputError, match="no space left on device — free some space"), atomic_write(tmp_path / "a"):
        pass
    assert os.listdir(tmp_path) == []


def test_a_refused_write_is_silent_on_every_stream(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    def refused() -> None:
        with atomic_write(tmp_path / "a.zst") as stream:
            stream.write(b"something")
            raise InputError("will not fit")

    with pytest.raises(InputError, match="will not fit"):
        refused()
    gc.collect()
    assert capfd.readouterr() == ("", "")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="the system has no /dev/full")
@pytest.mark.parametrize("mode", ["w", "wb"])
def test_a_device_that_is_full_is_reported(mode: str) -> None:
    with pytest.raises(InputError, match="/dev/full: cannot be written"), atomic_write("/dev/full", mode) as stream:
        stream.write("x" if mode == "w" else b"x")


def test_a_missing_folder_and_a_folder_are_reported(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="make the folder first"), atomic_write(tmp_path / "no" / "a"):
        pass
    with pytest.raises(InputError, match="it is a folder"), atomic_write(tmp_path):
        pass
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="name a file inside a folder"), atomic_write(tmp_path / "file" / "a"):
        pass


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is forbidden to root")
def test_a_forbidden_folder_is_reported(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(InputError, match="may write to"), atomic_write(tmp_path / "a"):
        pass


def test_permissions_and_links_are_kept(tmp_path: Path) -> None:
    (tmp_path / "real").write_bytes(b"old")
    (tmp_path / "real").chmod(0o640)
    (tmp_path / "link").symlink_to("real")
    with atomic_write(tmp_path / "link") as stream:
        stream.write(b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_bytes() == b"new"
    assert (tmp_path / "real").stat().st_mode & 0o777 == 0o640


def test_a_new_file_has_the_permissions_of_any_other(tmp_path: Path) -> None:
    (tmp_path / "plain").touch()
    with atomic_write(tmp_path / "a"):
        pass
    assert (tmp_path / "a").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_a_long_name_is_written_and_one_that_is_too_long_is_reported(tmp_path: Path) -> None:
    with atomic_write(tmp_path / ("路" * 84)) as stream:
        stream.write(b"1")
    with pytest.raises(InputError, match="file name too long — give it a shorter name"):
        check_writable(tmp_path / ("路" * 86))
    assert len(os.listdir(tmp_path)) == 1


def test_what_can_be_written_is_found_out_without_a_trace(tmp_path: Path) -> None:
    (tmp_path / "old").write_bytes(b"old")
    check_writable(tmp_path / "new")
    check_writable(tmp_path / "old")
    with pytest.raises(InputError, match="make the folder first"):
        check_writable(tmp_path / "no" / "a")
    assert os.listdir(tmp_path) == ["old"]
    assert (tmp_path / "old").read_bytes() == b"old"


def test_text_that_utf_8_does_not_hold_is_written_as_a_question_mark(tmp_path: Path) -> None:
    with atomic_write(tmp_path / "a", "w") as stream:
        stream.write("name \udcff")
    assert (tmp_path / "a").read_bytes() == b"name ?"


@pytest.mark.parametrize("suffix", [".gz", ".bz2", ".xz", ".zst"])
def test_an_archive_goes_through_every_compressor(tmp_path: Path, suffix: str) -> None:
    with atomic_write(tmp_path / f"a.npz{suffix}") as stream:
        np.savez(stream, x=np.arange(9))
    with open(tmp_path / f"a.npz{suffix}", "rb") as raw:
        content = open_reader(raw, codec_of_name(f"a{suffix}")).read()
    assert np.load(io.BytesIO(content))["x"].tolist() == list(range(9))


def test_a_reader_that_stops_early_is_no_bad_file(tmp_path: Path) -> None:
    read, write = os.pipe()
    os.close(read)
    with pytest.raises(BrokenPipeError), atomic_write(f"/dev/fd/{write}") as stream:
        stream.write(b"x")
    os.close(write)


def test_a_name_with_an_unknown_ending_is_refused_and_the_nearest_suggested() -> None:
    assert ending_of("a/b.SVG", "a figure", (".svg", ".pdf")) == ".svg"
    with pytest.raises(InputError, match=r"unknown ending of a figure '\.svgg'.*did you mean '\.svg'"):
        ending_of("b.svgg", "a figure", (".svg", ".pdf"))
    with pytest.raises(InputError, match=r"unknown ending of a figure '\.svg'"):  # a name without an ending
        ending_of(".svg", "a figure", (".svg", ".pdf"))


def test_what_is_no_text_in_utf_8_or_not_there_is_named(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"\xff\xfe")
    with pytest.raises(InputError, match=r"a: is no text in UTF-8"):
        read_text(tmp_path / "a")
    with pytest.raises(InputError, match=r"b: cannot be read: no such file.*check the spelling"):
        read_text(tmp_path / "b")


def test_a_zero_byte_in_a_path_is_bad_input(tmp_path):
    with pytest.raises(InputError, match="embedded null character"), atomic_write(f"{tmp_path}/x\0.csr"):
        pass


@pytest.mark.parametrize("ending", ["end(130)", "sys.exit(130)"])
def test_a_file_whose_writing_no_block_could_end_does_not_outlive_its_process(tmp_path, ending):
    """A signal can strike where ``contextlib`` has not yet passed control on, and the error keeps the frames alive."""
    program = (
        "import os, sys\n"
        "from gpugraph.base.files import replaced\n"
        "from gpugraph.cli.process import end\n"
        "sys.unfinished = replaced('whole.csr')\n"
        "sys.unfinished.__enter__().write(b'half')\n"
        "assert len(os.listdir()) == 1\n"
        "if os.fork() == 0: sys.exit(0)\n"  # which leaves what its parent writes alone
        "os.wait()\n"
        "assert len(os.listdir()) == 1\n"
        f"{ending}\n"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stderr, os.listdir(tmp_path)) == (130, "", [])
