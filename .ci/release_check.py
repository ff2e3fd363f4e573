"""Is the tree ready to be released?  Builds sdist and wheel, installs each, and runs the README's commands.

Each archive goes into an empty environment, and its commands run in an empty folder outside of the tree:
``gpugraph`` from the first set-up command of the README, and a short part of the tests from the second (``--all-tests``
runs all).  The version, the citation and the changelog have to agree, and the wheel has a limit of size.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import zipfile
from datetime import date
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LARGEST_WHEEL = 2_000_000
"""Bytes.  The wheel is code, kernels, sweeps and pages; records and pictures stay out of it."""

LARGEST_PREBUILT = 10_000_000
"""Bytes of the compiled kernels and CPU code that `make prebuilt` adds."""


def run(*words: object, cwd: Path = ROOT) -> None:
    """Print a command and run it, outside of any path that the caller's Python was given."""
    print("+", *words, flush=True)
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    subprocess.run([str(word) for word in words], cwd=cwd, env=environment, check=True)


def check_versions() -> None:
    """Check that the citation and the changelog name the version of the package."""
    text = (ROOT / "gpugraph" / "__init__.py").read_text("utf-8")
    (version,) = re.findall(r'^__version__ = "([^"]+)"', text, re.MULTILINE)
    cited = re.search(r"^version: (.+)$", (ROOT / "CITATION.cff").read_text("utf-8"), re.MULTILINE)
    if cited is None or cited[1] != version:
        sys.exit(f"CITATION.cff names another version than {version}")
    headings = re.findall(r"^## (.+)$", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)
    if not headings or version not in headings[0]:
        sys.exit(f"the first section of CHANGELOG.md, '{headings[0] if headings else ''}', is not of {version}")
    if headings[0].startswith("Unreleased"):
        print(f"note: before the tag v{version}, call the first section of CHANGELOG.md '{version} ({date.today()})'")
    if re.search(r"^urls = ", (ROOT / "pyproject.toml").read_text("utf-8"), re.MULTILINE) is None:
        print("note: pyproject.toml has no 'urls': give it the public address of the project")


def check_size(wheel: Path) -> int:
    """Return the bytes of the wheel; its compiled code, of which a checkout has none, has a limit of its own."""
    with zipfile.ZipFile(wheel) as archive:
        compiled = sum(one.compress_size for one in archive.infolist() if "prebuilt" in one.filename)
    size = wheel.stat().st_size
    if size - compiled > LARGEST_WHEEL or compiled > LARGEST_PREBUILT:
        sys.exit(f"the wheel has {size:,} bytes, {compiled:,} of them compiled code: {LARGEST_WHEEL:,} beside it")
    return size


def install_and_try(archive: Path, scratch: Path, tests: list[str]) -> None:
    """Install an archive into an empty environment, run the README's first command, and tests of the sdist."""
    home = scratch / archive.suffix.lstrip(".")
    run(sys.executable, "-m", "venv", home / "venv")
    python = home / "venv" / "bin" / "python"
    run(python, "-m", "pip", "install", "-q", archive)
    gpugraph = home / "venv" / "bin" / "gpugraph"
    first = re.search(r"<!-- set-up: run -->\s*```sh\n.*&& gpugraph (.*)\n", (ROOT / "README.md").read_text("utf-8"))
    assert first is not None
    run(gpugraph, *first[1].split(), cwd=home)
    run(gpugraph, "sssp", "grid:64x64", "--source", "0", "--device", "cpu", cwd=home)
    if archive.name.endswith(".tar.gz"):  # the tests are in the sdist alone
        run("tar", "xzf", archive, "--strip-components=1", "-C", home)
        run(python, "-m", "pip", "install", "-q", "-U", "pip")  # one that knows groups
        run(python, "-m", "pip", "install", "-q", "--group", f"{home / 'pyproject.toml'}:test")
        run(python, "-m", "pytest", "-q", "-m", "not gpu and not thorough and not extended", *tests, cwd=home)


def main() -> None:
    """Build, measure, install and try."""
    check_versions()
    tests = [] if "--all-tests" in sys.argv else ["tests/test_api.py", "tests/test_readme.py"]
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        run(sys.executable, "-m", "venv", scratch / "build")
        python = scratch / "build" / "bin" / "python"
        run(python, "-m", "pip", "install", "-q", "build")
        both = ("--sdist", "--wheel")  # from the tree, for a wheel that is made from the sdist has no compiled code
        run(python, "-m", "build", *both, "-o", scratch / "dist", ROOT)
        (wheel,) = (scratch / "dist").glob("*.whl")
        (sdist,) = (scratch / "dist").glob("*.tar.gz")
        size = check_size(wheel)
        for archive in (wheel, sdist):
            install_and_try(archive, scratch, tests)
    print(f"ready: the wheel has {size:,} bytes; tag it, push the tag, and upload both")


if __name__ == "__main__":
    main()
