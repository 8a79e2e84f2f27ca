"""Builds the package: types from docs/openapi.json, the sync client from the async one, then a wheel and an sdist.

Usage: build.py [--check] [FOLDER]

FOLDER gets them, `dist` beside this file by default. --check also looks at what a package index would refuse, and
needs no FOLDER. Its tools are installed once, into the folder HOLDFAST_TOOLS of the environment or `.tools` beside this file.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
TOOLS = ("hatchling==1.33.0", "unasync==0.6.0", "twine==7.0.0")
# Names that differ by more than "Async" in front.
RENAMED = {
    "_async": "_sync",
    "AsyncHoldfast": "Holdfast",
    "AsyncTransport": "Transport",
    "AsyncDocumentFeed": "DocumentFeed",
    "AsyncFollower": "Follower",
    "AsyncFlag": "Flag",
    "AsyncLock": "Lock",
    "AsyncTask": "Task",
    "AsyncClient": "Client",
    "AsyncIterator": "Iterator",
    "async_sleep": "sleep",
    "aclose": "close",
    "aread": "read",
    "aiter_bytes": "iter_bytes",
}


def main(arguments: list[str]) -> None:
    is_check = "--check" in arguments
    folders = [Path(argument) for argument in arguments if argument != "--check"]
    use_tools()
    with tempfile.TemporaryDirectory() as scratch:
        target = Path(scratch, "dist") if is_check and not folders else (folders or [HERE / "dist"])[0]
        shutil.rmtree(target, ignore_errors=True)
        build(Path(scratch, "source"), target.resolve())
        if is_check:
            files = sorted(str(path) for path in target.iterdir())
            run("-m", "twine", "check", "--strict", *files)


def build(source: Path, target: Path) -> None:
    import unasync

    from typed_dicts import typed_dicts

    shutil.copytree(HERE / "src", source / "src", ignore=shutil.ignore_patterns("__pycache__"))
    for path in (HERE / "pyproject.toml", HERE / "README.md", ROOT / "LICENSE"):
        shutil.copy(path, source)
    package = source / "src/holdfast_client"
    document = json.loads((ROOT / "docs/openapi.json").read_text())
    (package / "types.py").write_text(typed_dicts(document))
    rule = unasync.Rule(f"{package}/_async/", f"{package}/_sync/", RENAMED)
    unasync.unasync_files([str(path) for path in (package / "_async").iterdir()], [rule])
    # The tools are in a folder of their own, so the build needs no environment that a package index fills.
    run("-m", "hatchling", "build", "--directory", str(target), cwd=source)


def use_tools() -> None:
    """Installs the tools if they are not there, and lets this program and those that it starts import them."""
    version = "%d.%d" % sys.version_info[:2]
    name = "-".join(["tools", version, *(tool.replace("==", "-") for tool in TOOLS)])
    folder = Path(os.environ.get("HOLDFAST_TOOLS", HERE / ".tools"), name)
    if not folder.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        fresh = tempfile.mkdtemp(dir=folder.parent)
        pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--root-user-action=ignore"]
        # unasync is published as its source alone.
        run(*pip, "--target", fresh, *TOOLS)
        os.rename(fresh, folder)
    sys.path.insert(0, str(folder))
    os.environ["PYTHONPATH"] = str(folder)
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"


def run(*arguments: str, cwd: Path | None = None) -> None:
    done = subprocess.run([sys.executable, *arguments], cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(arguments)}\n{done.stdout}")


if __name__ == "__main__":
    main(sys.argv[1:])
