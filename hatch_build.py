"""What hatchling asks of gpugraph: the README as PyPI can show it, the commit that a package is built from, kernels.

Where a wheel is built on a machine with a GPU, as ``pip install .`` does, it brings kernels compiled for this GPU, so
that the first command need not compile them.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import re
import select
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

_PICTURE = re.compile(r"\n?<picture>.*?</picture>\n?|\n?<img [^>]*>\n?", re.DOTALL)
_LINK = re.compile(r"\[([^\]]+)\]\((?!https?:|#)([^)]+)\)")
_KERNELS = "gpugraph/devices/prebuilt.zip"
_COMPILER = ("cuda-toolkit[nvrtc]", "cuda-bindings")
_WHEELS = "platform_machine in 'x86_64 aarch64'"
_LONGEST_S = 1200.0
"""Seconds that the compilation of the kernels may take; it is a minute or two on eight cores."""

_LONGEST_START_S = 60.0
"""Seconds that the driver may take to start; without persistence mode it is some seconds for each GPU."""


def for_pypi(text: str, address: str) -> str:
    """Return the README with links to the files of ``address``; without one the words stay, and pictures go."""
    if not address:
        return _LINK.sub(r"\1", _PICTURE.sub("\n", text))
    raw = re.sub(r"//github\.com/([^/]+/[^/]+)", r"//raw.githubusercontent.com/\1/HEAD", address)
    text = re.sub(r'(src|srcset)="(?!https?:)', rf'\1="{raw}/', text)
    return _LINK.sub(rf"[\1]({address}/blob/HEAD/\2)", text)


class CustomMetadataHook(MetadataHookInterface):
    """Sets ``readme``, which pyproject.toml leaves open."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Write the text into the metadata."""
        address = metadata.get("urls", {}).get("Repository", "").rstrip("/")
        text = for_pypi((Path(self.root) / "README.md").read_text("utf-8"), address)
        metadata["readme"] = {"content-type": "text/markdown", "text": text}


def gpu_here() -> tuple[int, int] | None:
    """Return what ``gpu_of_driver`` does, in a child process: a driver that crashes or hangs must not end the build."""
    if not hasattr(os, "fork"):
        return None
    answer, written = os.pipe()
    child = os.fork()
    if child == 0:
        with contextlib.suppress(BaseException):
            os.write(written, bytes((0, *(gpu_of_driver() or ()))))
        os._exit(0)
    os.close(written)
    came = os.read(answer, 3) if select.select([answer], [], [], _LONGEST_START_S)[0] else b""
    os.close(answer)
    with contextlib.suppress(ProcessLookupError):
        os.kill(child, signal.SIGKILL)  # it is not waited for: inside a driver that hangs it may not end
    if not came:
        print("gpugraph: the first command compiles its kernels: the GPU's driver crashes or hangs", file=sys.stderr)
    return (came[1], came[2]) if came[1:] else None


def gpu_of_driver() -> tuple[int, int] | None:
    """Return the compute capability of the first GPU, 90 for 9.0, and the CUDA to compile for it with, 12 or 13."""
    device, major, minor, version = numbers = [ctypes.c_int() for _ in range(4)]
    device_at, major_at, minor_at, version_at = map(ctypes.byref, numbers)
    try:
        driver = ctypes.CDLL("libcuda.so.1")
        failed = driver.cuInit(0) or driver.cuDeviceGet(device_at, 0) or driver.cuDriverGetVersion(version_at)
        if failed or any(driver.cuDeviceGetAttribute(at, n, device) for at, n in ((major_at, 75), (minor_at, 76))):
            return None
    except (OSError, AttributeError):  # no driver, or a library that only has its name
        return None
    capability = 10 * major.value + minor.value
    return capability, 13 if capability >= 75 and version.value >= 13000 else 12


class CustomBuildHook(BuildHookInterface):
    """Adds to a wheel ``gpugraph/commit.txt``, which an sdist brings too, and kernels for the GPU of this machine."""

    def dependencies(self) -> list[str]:
        """Return what compiles the kernels; nothing without a GPU."""
        gpu = self._gpu()
        return [] if gpu is None else ["numpy>=1.26", *(f"{name}=={gpu[1]}.*; {_WHEELS}" for name in _COMPILER)]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Write the files and name them as a part of what is built; an editable install has its checkout."""
        if version == "editable":
            return
        self._folder = tempfile.TemporaryDirectory()
        folder = Path(self._folder.name)
        if (Path(self.root) / ".git").exists() and (commit := self._commit()):
            (folder / "commit.txt").write_text(f"{commit}\n", "utf-8")
            build_data["force_include"][str(folder / "commit.txt")] = "gpugraph/commit.txt"
        if (gpu := self._gpu()) is not None and self._compile(f"sm_{gpu[0]}", folder):
            build_data["force_include"][str(folder / "prebuilt.zip")] = _KERNELS

    def _gpu(self) -> tuple[int, int] | None:
        """Return the GPU to compile for; none for an sdist, nor where ``make prebuilt`` has compiled for many."""
        return None if self.target_name != "wheel" or (Path(self.root) / _KERNELS).exists() else gpu_here()

    def _compile(self, arch: str, folder: Path) -> bool:
        """Compile the kernels; if that fails or does not end, as without NVRTC, the first command will compile them.

        NVRTC is looked for where an environment has its packages, but pip builds with packages that lie elsewhere.
        """
        module = [sys.executable, "-m", "gpugraph.ext.builds.kernels"]
        words = [*module, "--uint32", "--arch", arch, "--output", str(folder / "prebuilt.zip")]
        libraries = [str(lib) for entry in sys.path for lib in Path(entry).glob("nvidia/*/lib")]
        searched = os.pathsep.join([*libraries, os.environ.get("LD_LIBRARY_PATH", "")])
        environment = os.environ | {"GPUGRAPH_CACHE_DIR": str(folder / "cache"), "LD_LIBRARY_PATH": searched}
        with subprocess.Popen(words, cwd=self.root, env=environment, start_new_session=True) as process:
            try:
                ended = f"exit code {process.wait(_LONGEST_S)}"
            except subprocess.TimeoutExpired:
                ended = f"no end after {_LONGEST_S:.0f} s"
            finally:
                if process.poll() is None:  # with the processes that it has started
                    os.killpg(process.pid, signal.SIGKILL)
        if process.returncode != 0:
            print(f"gpugraph: no kernels for {arch}, the first command compiles them: {ended}", file=sys.stderr)
        return process.returncode == 0

    def _commit(self) -> str:
        """Return the commit, with a ``+`` where files were changed; nothing where git is missing or refuses.

        A new file counts as a change, but for records.
        """
        # Named, a repository may be another user's, as in a container, and GIT_DIR of a hook of git is another one's.
        words = ["git", "-C", self.root, "--git-dir=.git", "--work-tree=.", "status", "--porcelain=v2", "--branch"]
        try:
            done = subprocess.run(words, capture_output=True, text=True, timeout=60)
        except (OSError, subprocess.TimeoutExpired) as error:
            print(f"gpugraph: the commit is not known: {error}", file=sys.stderr)
            return ""
        lines = done.stdout.splitlines()
        commit = next((line.split()[2] for line in lines if line.startswith("# branch.oid")), "(initial)")
        if commit == "(initial)":
            print(f"gpugraph: the commit is not known: {done.stderr.strip() or 'there is none'}", file=sys.stderr)
            return ""
        return commit[:12] + "+" * any(re.match(r'#|\? .*\.jsonl"?$', line) is None for line in lines)
