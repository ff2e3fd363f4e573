"""Files: written whole or not at all, and found where they travel with the package.

``cuda_kernels/``, ``configs/`` and of ``docs/`` what users read lie inside the package in a wheel; in an editable
install and in a plain source checkout they lie beside it.
"""

import atexit
import contextlib
import errno
import io
import os
import secrets
import stat
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import IO, Any

from gpugraph.base.compression import codec_of_name, open_writer
from gpugraph.base.errors import RAISE_FILES, GpuGraphError, InputError, reason_of, unknown_name, unreadable

_REMEDIES = {
    errno.ENOSPC: "free some space or write elsewhere",
    errno.EDQUOT: "free some of the quota or write elsewhere",
    errno.EFBIG: "write elsewhere: the file system or a limit of the shell forbids so large a file",
    errno.EACCES: "choose a folder that you may write to",
    errno.EPERM: "choose a folder that you may write to",
    errno.EROFS: "choose a folder that you may write to",
    errno.ENOENT: "make the folder first",
    errno.ENOTDIR: "name a file inside a folder",
    errno.EISDIR: "name a file inside the folder",
    errno.ENAMETOOLONG: "give it a shorter name",
    errno.EMFILE: RAISE_FILES,
    errno.ENFILE: RAISE_FILES,
}

_REASONS = {errno.EACCES: "no permission", errno.ENOENT: "its folder does not exist"}
"""Where the system's own words would mislead."""


@contextlib.contextmanager
def atomic_write(
    path: str | os.PathLike[str], mode: str = "wb", *, lasting: bool = True, packed: bool = True
) -> Iterator[IO[Any]]:
    """Open ``path`` for writing; it appears complete when the block ends well, and not at all otherwise.

    The bytes go to a temporary file in the same folder, which is renamed over ``path``, once the disk has it if it is
    to be ``lasting``; an error or a signal removes it.  If ``packed``, a name that ends in .gz, .bz2, .xz or .zst is
    compressed.  What is no regular file (a pipe, a terminal, ``-`` for standard output) is written straight away.  In
    mode ``"w"``, UTF-8 text, what UTF-8 does not hold becomes a question mark.

    Raises:
        InputError: the folder is missing or may not be written to, or the disk is full.
        BrokenPipeError: it is a pipe, and its reader has seen enough.
    """
    if mode not in ("w", "wb"):
        raise ValueError(f"mode {mode!r} is neither 'w' nor 'wb'")
    shown = os.fspath(path)
    with _in_words(shown):
        if _is_stream(shown):
            with open(1 if shown == "-" else shown, "wb", closefd=shown != "-") as raw:
                yield from _through(raw, codec_of_name(shown) if packed else None, mode)
        else:
            with replaced(shown, lasting=lasting) as raw:
                yield from _through(raw, codec_of_name(shown) if packed else None, mode)


def check_ends(path: str | os.PathLike[str]) -> None:
    """Raise InputError if what is to be read as a whole is a device: ``/dev/zero`` has no end."""
    mode = 0
    with contextlib.suppress(OSError, ValueError):  # reading it will tell
        mode = os.stat(path).st_mode
    if stat.S_ISCHR(mode) or stat.S_ISBLK(mode):
        raise InputError("is a device", where=path, remedy="name a file")


def file_state(path: str | os.PathLike[str]) -> tuple[int, int]:
    """Return when a file was changed last, in nanoseconds, and its bytes."""
    status = os.stat(path)
    return status.st_mtime_ns, status.st_size


def is_same_file(first: str, second: str) -> bool:
    """Tell whether two paths lead to one file, there or to be made; a pipe or a device, which takes all, is none."""
    try:
        return os.path.samefile(first, second) and os.path.isfile(first)
    except FileNotFoundError:
        return os.path.realpath(first) == os.path.realpath(second)
    except (OSError, ValueError):  # using it will tell
        return False


LONGEST_TEXT = 1 << 26
"""Bytes of a text that is read as a whole; sweeps and settings have some thousand, a template some million."""


def read_text(path: str | os.PathLike[str]) -> str:
    """Return the text of a file in UTF-8; an InputError names a file that cannot be read, or holds something else."""
    check_ends(path)
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read(LONGEST_TEXT + 1)
    except UnicodeDecodeError:
        raise InputError("is no text in UTF-8", where=path, remedy="name a text in UTF-8") from None
    except (OSError, ValueError) as error:
        raise unreadable(path, error) from None
    if len(text) > LONGEST_TEXT:
        raise InputError(f"has more than {LONGEST_TEXT:,} characters", where=path, remedy="name another file")
    return text


MOST_NESTED = 64
"""Tables and lists within one another that a TOML file may have; ours have six."""


def parse_toml(text: str) -> dict[str, Any]:
    """Return the tables of a TOML text; a ValueError says why it is none, or that it is nested too deeply."""
    import tomllib

    def check(value: object, deep: int) -> None:
        if deep > MOST_NESTED:
            raise RecursionError
        if isinstance(value, dict):
            value = [*value.values()]
        for part in value if isinstance(value, list) else ():
            check(part, deep + 1)

    try:
        tables = tomllib.loads(text)
        check(tables, 0)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    return tables


def ending_of(path: str | os.PathLike[str], kind: str, known: Collection[str]) -> str:
    """Return the ending of a file's name in small letters; InputError if a ``kind`` of file has no such ending."""
    ending = os.path.splitext(os.fspath(path))[1].lower()
    if ending not in known:
        raise unknown_name(f"ending of {kind}", ending or os.fspath(path), known)
    return ending


def check_writable(path: str | os.PathLike[str]) -> None:
    """Raise now what ``atomic_write`` would raise, as far as can be known before there is anything to write."""
    shown = os.fspath(path)
    with _in_words(shown):
        if not _is_stream(shown):
            with contextlib.suppress(_Discarded), replaced(shown):
                raise _Discarded
        elif shown != "-" and not os.access(shown, os.W_OK):
            raise PermissionError(errno.EACCES, "permission denied")


@contextlib.contextmanager
def replaced(path: str | os.PathLike[str], *, lasting: bool = True, private: bool = False) -> Iterator[IO[bytes]]:
    """Open a new file that takes the place, the permissions included, of ``path`` when the block ends well.

    A link stays a link: what it leads to is replaced.  A ``private`` file has mode 600, whatever the umask, and
    replaces the link itself.  The bare means of ``atomic_write``: it raises OSError as the system has it.
    """
    target = os.path.abspath(path) if private else os.path.realpath(path)
    folder = os.path.dirname(target)
    try:
        permissions = 0o600 if private else stat.S_IMODE(os.stat(target).st_mode)
    except FileNotFoundError:
        permissions = None
    temporary = os.path.join(folder, f".gpugraph-{secrets.token_hex(8)}.part")
    _unfinished[temporary] = os.getpid()
    try:
        with open(temporary, "xb") as raw:
            if permissions is not None:
                os.chmod(temporary, permissions)
            yield raw
            raw.flush()
            if lasting:
                os.fsync(raw.fileno())
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        del _unfinished[temporary]
        raise
    del _unfinished[temporary]
    if lasting:  # the new name itself is to survive a power cut, where the system can do that
        with contextlib.suppress(OSError):
            handle = os.open(folder, os.O_RDONLY)
            try:
                os.fsync(handle)
            finally:
                os.close(handle)


_unfinished: dict[str, int] = {}
"""Temporary files that are being written, with the process that writes them."""


@atexit.register
def remove_unfinished() -> None:
    """Remove what a signal left: one that strikes inside ``contextlib`` does not reach the block that would tidy up."""
    for temporary, process in list(_unfinished.items()):
        if process == os.getpid():  # a child of a fork ends without taking its parent's files along
            with contextlib.suppress(OSError):
                os.unlink(temporary)


def make_private_folder(path: Path) -> None:
    """Make a folder, and those above it that are missing, with mode 700, whatever the umask; raises OSError."""
    if path.is_dir():
        return
    make_private_folder(path.parent)
    with contextlib.suppress(FileExistsError):  # another process was first; what is no folder is met when it is used
        os.mkdir(path, 0o700)
        os.chmod(path, 0o700)


class _Discarded(Exception):
    """No error: it ends a block of which nothing shall stay."""


@contextlib.contextmanager
def _in_words(shown: str) -> Iterator[None]:
    """Turn what the system says about a file that is written into an InputError."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        reason = _REASONS.get(error.errno or 0) or reason_of(error)
        remedy = _REMEDIES.get(error.errno or 0, "write elsewhere")
        raise InputError(f"cannot be written: {reason}", where=shown, remedy=remedy) from error
    except ValueError as error:
        if "embedded null" not in str(error):
            raise
        what = "cannot be written: embedded null character in the path"
        raise InputError(what, where=shown, remedy="check the spelling of the path") from None


def _is_stream(shown: str) -> bool:
    """Tell whether ``shown`` is something that cannot be replaced: a pipe, a terminal, a device, or ``-``."""
    if shown == "-":
        return True
    try:
        # Of the name itself: what /dev/stdout leads to may have no path.
        mode = os.stat(shown).st_mode
    except FileNotFoundError:
        return False
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, "it is a folder")
    return not stat.S_ISREG(mode)


def _through(raw: IO[bytes], codec: str | None, mode: str) -> Iterator[IO[Any]]:
    packed = open_writer(raw, codec)
    stream: IO[Any] = io.TextIOWrapper(packed, "utf-8", "replace", newline="\n") if mode == "w" else packed
    try:
        yield stream
        stream.flush()
        if isinstance(stream, io.TextIOWrapper):
            stream.detach()
    except BaseException:
        if packed is not raw:
            with contextlib.suppress(Exception):  # left open, pyarrow's stream complains when it is collected
                packed.close()
        raise
    if packed is not raw:
        packed.close()


# ------------------------------------------------------------------ files that travel with the package

_PACKAGE = Path(__file__).resolve().parents[1]


def resource_dir(name: str) -> Path:
    """Return the directory "cuda_kernels", "configs" or "docs".  Raises GpuGraphError if it is missing."""
    for base in (_PACKAGE, _PACKAGE.parent):
        if (base / name).is_dir():
            return base / name
    raise GpuGraphError(f"the directory {name}/ is missing from the installation", remedy="reinstall gpugraph")
