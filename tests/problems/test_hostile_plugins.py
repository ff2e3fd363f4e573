"""Plugins that misbehave end in one line and the right exit code, whatever they do (see ``hostile_plugins.py``)."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.runner import run
from tests.problems.hostile_plugins import GRAPHS, PLUGINS, HostilePlugin
from tests.tiers import first, only

pytestmark = pytest.mark.timeout(method="thread")
"""One of the plugins sets the timer that the test's own limit would use by default."""

TRIED = 6
"""Of those that need a process of their own so many are run."""

INSIDE = [plugin for plugin in PLUGINS if not plugin.alone]
ALONE = random.Random(1).sample([plugin for plugin in PLUGINS if plugin.alone], TRIED)


def words(plugin: HostilePlugin, folder: Path) -> list[str]:
    path = folder / "mine.py"
    path.write_text(plugin.text)
    how = ["--device", "cpu", "--repeat", "2", "--format", "json", "--quiet"]
    return [plugin.problem, GRAPHS[plugin.problem], *how, "--algo", str(path)]


def check(plugin: HostilePlugin, code: int, out: str, err: str) -> None:
    assert code == plugin.code, (out, err)
    assert plugin.said in err
    assert "Traceback" not in err
    assert sum(line.startswith("gpugraph: ") for line in err.splitlines()) == bool(code)
    if code == 0:
        assert json.loads(out)["verification"]["status"] == "passed"
    elif code != 1:
        assert out == ""


@pytest.mark.parametrize("plugin", only(INSIDE[::4], INSIDE), ids=lambda plugin: plugin.name)
def test_a_hostile_plugin_ends_in_one_line_and_leaves_the_process_as_it_was(
    plugin: HostilePlugin, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    outcome = run(*words(plugin, tmp_path))
    check(plugin, outcome.code, outcome.out, outcome.err)
    assert Path.cwd() == tmp_path


@pytest.mark.parametrize("plugin", first(1, ALONE), ids=lambda plugin: plugin.name)
def test_a_hostile_plugin_cannot_take_the_command_along(plugin: HostilePlugin, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "gpugraph", *words(plugin, tmp_path)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=300, stdin=subprocess.DEVNULL)
    check(plugin, ended.returncode, ended.stdout, ended.stderr)


def test_there_are_at_least_64_of_them_each_with_a_name_of_its_own() -> None:
    assert len({plugin.name for plugin in PLUGINS}) == len(PLUGINS) >= 64
    assert {plugin.outcome for plugin in PLUGINS} == {"ok", "wrong", "threw", "refused", "out of memory", "died"}


def test_ctrl_c_ends_a_plugin_that_ignores_it() -> None:
    script = (
        "import signal, sys, time\n"
        "import gpugraph.ext.plugins.supervised as supervised\n"
        "supervised.GRACE_S = 0.2\n"
        "def hang():\n"
        "    signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
        "    print('ready', flush=True)\n"
        "    time.sleep(1000)\n"
        "supervised.supervise(hang, 'mine.py')\n"
    )
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == b"ready\n"
        process.send_signal(signal.SIGINT)
        assert process.wait(300) == 130
        assert process.stderr.read() == b"gpugraph: interrupted\n"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_to_the_command_reaches_the_plugin_and_ends_both(number: signal.Signals) -> None:
    script = (
        "import os, time\n"
        "from gpugraph.ext.plugins.supervised import supervise\n"
        "def hang():\n"
        "    print(os.getpid(), flush=True)\n"
        "    time.sleep(1000)\n"
        "supervise(hang, 'mine.py')\n"
    )
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        child = int(process.stdout.readline())
        process.send_signal(number)
        assert process.wait(300) == 130
        with pytest.raises(ProcessLookupError):
            os.kill(child, 0)


def test_an_installed_package_that_ends_the_process_is_reported_like_a_file(tmp_path: Path) -> None:
    made = tmp_path / "fatal-1.dist-info"
    made.mkdir()
    (made / "METADATA").write_text("Metadata-Version: 2.1\nName: fatal\nVersion: 1\n")
    (made / "entry_points.txt").write_text("[gpugraph.algorithms]\nfatal = fatal:driver\n")
    (tmp_path / "fatal.py").write_text("import os\nos._exit(9)\n")
    paths = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", str(Path.cwd()))])
    command = [sys.executable, "-m", "gpugraph", "mst", "grid:5x5", "--device", "cpu", "--quiet", "--algo"]
    how = {"capture_output": True, "text": True, "timeout": 300, "env": {**os.environ, "PYTHONPATH": paths}}
    ended = subprocess.run([*command, "fatal"], **how)  # type: ignore[call-overload]
    assert ended.returncode == 2
    assert "gpugraph: error: fatal: it ended its process with code 9" in ended.stderr
    assert subprocess.run([*command, "kruskal"], **how).returncode == 0  # type: ignore[call-overload]
