"""The one family of errors that gpugraph raises, each with its exit code.

A message says what is wrong, where, and what to do next.  The command line prints it as one line and
exits with ``exit_code``; nothing else turns an exception into an exit code.

=====  ====================================================
code   meaning
=====  ====================================================
0      fine
1      verification failed
2      bad input or usage
3      device unavailable or out of memory
4      regression found by ``compare``, or an expectation of a sweep that is not met
70     a defect of gpugraph's own
130    interrupted by Ctrl-C, SIGTERM, SIGHUP or a limit of CPU time
=====  ====================================================
"""

import contextlib
import errno
import os
import re
import reprlib
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

EXIT_OK = 0
EXIT_DEFECT = 70
EXIT_INTERRUPTED = 130

_LONGEST_WORD = 1000
"""Longer words of a message, such as an argument of 100,000 characters, are shortened; no usual path is so long."""

_REQUIRED = ("numpy", "scipy", "numba", "llvmlite", "click", "rich", "isal", "msgspec", "jinja2", "backports.zstd")
"""The packages that gpugraph needs, by the names under which they are imported and installed alike."""

_UNPRINTABLE = re.compile("[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069]")


def printable(text: str) -> str:
    """Return a text for a terminal, which obeys none of it: a control character becomes an escape sequence of JSON.

    Such are those of ASCII but line feed and tab, U+007F to U+009F, and those that turn the direction of writing.  JSON
    stays the same JSON.  Whatever is printed passes here: a server, a peer, a plug-in or a file's name may hold them.
    """
    return _UNPRINTABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def in_short_words(text: str) -> str:
    """Return a message as one line, with very long words shortened."""
    words = text.split()
    return " ".join(word if len(word) <= _LONGEST_WORD else f"{word[:200]}…{word[-50:]}" for word in words)


class GpuGraphError(Exception):
    """Base of all errors, with the attributes ``what`` (the cause), ``where`` and ``remedy``.

    Its subclasses are also subclasses of Python's errors: ``except ValueError`` catches an InputError.
    """

    exit_code = EXIT_DEFECT

    def __init__(self, what: str, *, where: str | os.PathLike[str] | None = None, remedy: str | None = None):
        self.what = what
        self.where = os.fspath(where) if where is not None else None
        self.remedy = remedy
        super().__init__(str(self))

    def __str__(self) -> str:
        head = f"{self.where}: " if self.where else ""
        tail = f" — {self.remedy}" if self.remedy else ""
        return in_short_words(f"{head}{self.what}{tail}")


class VerificationFailed(GpuGraphError, RuntimeError):
    """A result is wrong; the message names the first counter-example."""

    exit_code = 1


class InputError(GpuGraphError, ValueError):
    """Bad input or usage: a file, a spec, an option or an argument."""

    exit_code = 2


class GraphFormatError(InputError):
    """A graph file that cannot be read in its format; the line, if known, is 1-based."""

    def __init__(
        self,
        what: str,
        *,
        path: str | os.PathLike[str] | None = None,
        line: int | None = None,
        remedy: str | None = None,
    ):
        where = os.fspath(path) if path is not None else None
        if where is not None and line is not None:
            where = f"{where} line {line}"
        super().__init__(what, where=where, remedy=remedy or "mend the file, or fetch it again")
        self.path = path
        self.line = line


class DeviceUnavailable(GpuGraphError, RuntimeError):
    """The requested device cannot be used; the message names the missing part and the remedy."""

    exit_code = 3


class OutOfMemory(GpuGraphError, MemoryError):
    """The work does not fit; the message gives the need and what there is, both in bytes."""

    exit_code = 3


class RankLost(GpuGraphError, RuntimeError):
    """Another rank has ended, so that this one cannot go on; who started the ranks tells which and why."""

    exit_code = 3


class GpuGraphWarning(UserWarning):
    """Advice that needs no action; the command line prints it as one line."""


@contextlib.contextmanager
def warnings_to(show: Callable[[str], object]) -> Iterator[None]:
    """Have ``show`` take gpugraph's own warnings while the block runs; others stay as they are."""
    with warnings.catch_warnings():
        warnings.simplefilter("default", GpuGraphWarning)  # python -W error makes no notice a defect
        others = warnings.showwarning

        def show_warning(message: Warning | str, category: type[Warning], *place: Any, **more: Any) -> None:
            if issubclass(category, GpuGraphWarning):
                show(str(message))
            else:
                others(message, category, *place, **more)

        warnings.showwarning = show_warning
        yield


class Regression(GpuGraphError):
    """``compare`` found a regression beyond the threshold, or a sweep does not come out as it expects."""

    exit_code = 4


def missing_package(error: BaseException) -> InputError | None:
    """Return the error for a package that gpugraph needs and Python does not find; None for any other exception."""
    name = (error.name or "").partition(".")[0] if isinstance(error, ModuleNotFoundError) else ""
    if name == "pyarrow":
        what = "the Python package 'pyarrow' is missing: Parquet is read with it"
        return InputError(what, remedy="pip install 'gpugraph[tables]'")
    name = "backports.zstd" if name == "backports" else name
    if name not in _REQUIRED:
        return None
    return InputError(f"the Python package '{name}' is missing", remedy=f"python -m pip install {name}")


_NO_MEMORY = ("Cannot allocate memory", "failed to map segment from shared object")
_NO_THREADS = ("can't start new thread", os.strerror(errno.EAGAIN))
"""What Python says, and the loader of libraries, where memory or processes are used up."""

_NO_FILES = "Too many open files"
RAISE_FILES = "raise the limit: ulimit -n 1024"
"""The remedy where a process may open no more files."""


def used_up(error: BaseException) -> OutOfMemory | InputError | None:
    """Return the error for a resource of the process that ran out, memory or open files, in whatever words it is said.

    None for any other exception.  A library that cannot be loaded and a thread that cannot be started are among them,
    and so are a current folder that was removed, and code of Python's that a full disk has cut short.
    """
    seen: BaseException | None = error
    while seen is not None:
        number, text = getattr(seen, "errno", None), in_one_line(seen)  # a foreign one may not even have a text
        if number in (errno.EMFILE, errno.ENFILE) or _NO_FILES in text:
            return OutOfMemory("too many files are open", remedy=RAISE_FILES)
        if any(words in text for words in _NO_THREADS):
            return OutOfMemory("no other thread or process can be started", remedy="raise the limits: ulimit -u, -v")
        if isinstance(seen, FileNotFoundError) and seen.filename is None and number == errno.ENOENT:  # of os.getcwd
            if "temporary directory" in text:  # of tempfile, which tried to write to each that it knows
                return InputError("no folder takes temporary files", remedy="free some space, or set TMPDIR to another")
            return InputError("the current folder no longer exists", remedy="change to one that does")
        if isinstance(seen, EOFError) and "marshal data" in text:
            what, where = "a file of compiled Python is cut short", os.path.dirname(os.path.dirname(__file__))
            return InputError(what, where=where, remedy="remove the folders __pycache__ there, or install it again")
        if isinstance(seen, MemoryError) or number == errno.ENOMEM or any(words in text for words in _NO_MEMORY):
            detail = f" ({' '.join(str(error).split())})" if str(error) else ""
            return OutOfMemory(f"the machine's memory does not suffice{detail}", remedy="take a smaller graph")
        seen = seen.__cause__ or (None if seen.__suppress_context__ else seen.__context__)
    return None


@contextlib.contextmanager
def missing_packages_named() -> Iterator[None]:
    """Turn a package that is not installed into the ``InputError`` that says how to install it."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise missing_package(error) or error from None


def placed(error: InputError, where: str) -> InputError:
    """Return an error at another place; its own place goes before what it says."""
    what = f"{error.where}: {error.what}" if error.where not in (None, "", where) else error.what
    return InputError(what, where=where, remedy=error.remedy)


@contextlib.contextmanager
def errors_at(where: str | os.PathLike[str]) -> Iterator[None]:
    """Give input errors of the block a place, as ``placed`` does."""
    try:
        yield
    except InputError as error:
        raise placed(error, os.fspath(where)) from None


def check_name(kind: str, name: str, known: Iterable[str]) -> None:
    """Raise InputError for a name that is not known; see ``unknown_name``."""
    if name not in (names := list(known)):
        raise unknown_name(kind, name, names)


def shown(value: object) -> str:
    """Return a value as a message shows it: its repr, shortened, or its type where it has none."""
    try:
        return reprlib.repr(value)
    except Exception:  # an integer too long to be printed
        return f"a value of type {type(value).__name__}"


def reason_of(error: OSError | ValueError) -> str:
    """Return what the system says of a file, in small letters."""
    return (getattr(error, "strerror", None) or str(error)).lower()


def in_one_line(error: BaseException) -> str:
    """Return a foreign exception as one line of at most some 300 characters, even one that cannot say what it is."""
    try:
        text = f"{type(error).__name__}: {error}"
    except BaseException as second:  # its own __str__ raises, and may raise anything
        text = f"{type(error).__name__}, whose message cannot be shown: it raises {type(second).__name__}"
    text = " ".join(text.split())
    return text if len(text) <= 300 else f"{text[:299]}…"


_LEAST_SIMILAR = 0.7
"""Similarity (``difflib``) from which on a known name is suggested; below, 'latex' would become 'text'."""

_MEANT = {"gpu": "cuda", "nvidia": "cuda", "gpus": "cuda", "nx": "networkx", "cc": "components", "msf": "mst"}
"""Names that people write, by what they mean where there is such a name."""


def nearest(name: str, known: Sequence[str]) -> str | None:
    """Return the known name that somebody meant: by another word for it, by the same letters, or the most similar."""
    import difflib

    if (meant := _MEANT.get(name.lower())) in known:
        return meant
    letters = sorted(name.lower())
    same = [other for other in known if sorted(other.lower()) == letters]
    begun = [one for one in known if len(name) > 3 and one.startswith(name)]
    begun = begun if len(begun) == 1 else []
    return next(iter(same or begun or difflib.get_close_matches(name, known, n=1, cutoff=_LEAST_SIMILAR)), None)


def unknown_name(kind: str, name: str, known: Iterable[str]) -> InputError:
    """Return the error for a ``kind`` of name, e.g. ``"algorithm"``, that is not known, suggesting the nearest."""
    names = sorted(set(known))
    meant = nearest(name, names)
    remedy = f"did you mean '{meant}'?" if meant else f"known: {', '.join(names) or 'none'}"
    return InputError(f"unknown {kind} '{name}'", remedy=remedy)


def expect(kind: type, **given: Any) -> None:
    """Check that arguments are of a kind: str, bool or int, NumPy's among them.  Raises InputError if one is not."""
    import numpy as np

    kinds, described = {
        str: ((str,), "a text"),
        bool: ((bool, np.bool_), "True or False"),
        int: ((int, np.integer), "a whole number of up to 64 bits"),
    }[kind]
    for name, value in given.items():
        if type(value) is np.timedelta64 or not isinstance(value, kinds) or (kind is int and abs(int(value)) >= 2**64):
            raise InputError(f"{name} is {shown(value)}", remedy=f"give {described}")


_INSTALLS = re.compile(r"(?<!uv )(?:python -m )?pip install ('gpugraph\[[^']*\]'|[\w.-]+)")


def installable_here(message: str) -> str:
    """Return a message whose ``pip install`` is the command that installs where this process runs.

    That is one of ``uv tool`` or pipx where they installed gpugraph, and of uv where there is no pip.  The folder that
    gpugraph came from, if any, takes the place of its name.
    """
    if "pip install" not in message:
        return message
    # Slow to import, and for few messages.
    import importlib.util
    from pathlib import Path

    own = other = ""
    if (Path(sys.prefix) / "uv-receipt.toml").is_file():
        own, other = "uv tool install {}", "uv tool install gpugraph --with {}"
    elif (Path(sys.prefix) / "pipx_metadata.json").is_file():
        own, other = "pipx install --force {}", "pipx inject gpugraph {}"
    elif importlib.util.find_spec("pip") is None:
        own = other = "uv pip install {}"
    if own:
        message = _INSTALLS.sub(lambda found: (own if found[1][0] == "'" else other).format(found[1]), message)
    return message.replace("'gpugraph[", f"'{_installed_from()}[")


def _installed_from() -> str:
    """Return the folder that gpugraph was installed from, or else its name."""
    import json
    from importlib.metadata import PackageNotFoundError, distribution
    from pathlib import Path
    from urllib.parse import unquote

    try:
        url = json.loads(distribution("gpugraph").read_text("direct_url.json") or "{}").get("url", "")
    except (PackageNotFoundError, ValueError):
        return "gpugraph"
    folder = Path(unquote(url.removeprefix("file://")))
    if not url.startswith("file://") or not (folder / "pyproject.toml").is_file():
        return "gpugraph"
    return "." if folder.samefile(Path.cwd()) else str(folder)


@contextlib.contextmanager
def reading(path: str | os.PathLike[str], remedy: str, damage: str = "") -> Iterator[None]:
    """Turn whatever is thrown while a file is read into one error that names it: damage finds every gap of a library.

    It goes round calls of a library alone, so that a defect of our own stays one.  ``damage`` is what an error means,
    e.g. ``"the gzip data are damaged"``, else its own words are shown.

    Raises:
        GraphFormatError: the file is damaged.
        InputError: the system does not give it.
        GpuGraphError, MemoryError, ImportError: as they come.
    """
    try:
        yield
    except (GpuGraphError, MemoryError, ImportError):  # a package that is missing damages no file
        raise
    except Exception as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise unreadable(path, error) from error
        reason = next(iter(str(error).splitlines()), "") or type(error).__name__
        raise GraphFormatError(damage or f"is damaged: {reason[:200]}", path=path, remedy=remedy) from error


def unreadable(path: str | os.PathLike[str], error: OSError | ValueError) -> InputError:
    """Return the error for a file that the system does not give, or whose path can be none."""
    reason = reason_of(error)
    if "embedded null" in reason:  # the words differ between versions of Python
        reason = "embedded null character in the path"
    misspelt = isinstance(error, FileNotFoundError | NotADirectoryError | IsADirectoryError | ValueError)
    if getattr(error, "errno", None) in (errno.EMFILE, errno.ENFILE):
        return InputError(f"cannot be read: {reason}", where=path, remedy=RAISE_FILES)
    remedy = "check the spelling of the path" if misspelt else "check its permissions"
    remedy = "fetch the file, and name it here" if "://" in str(path) else remedy
    return InputError(f"cannot be read: {reason}", where=path, remedy=remedy)
