#!/usr/bin/env python3
"""Create `.venv` with the tested package versions.

    python3 packaging/prepare.py run|dev [--torch cpu|cuda]

Standard library only, for Python 3.11 or later. A stamp in `.venv` records what was installed from
which files, so a second call does nothing and needs no network. Called by `make setup`, `make run`
and `make test`.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
VENV = ROOT / ".venv"
STAMP = VENV / "glossbench-setup"
MIN_PYTHON = (3, 11)
TORCH_INDEX = "https://download.pytorch.org/whl/cpu"
TORCH_SIZE = "about 3 GB to download and 7 GB on disk"
TORCH_SMALL_SIZE = "about 0.2 GB to download"

# Debian/Ubuntu package → a file that it installs: a library by name, a font by path below
# /usr/share/fonts. Determined by loading Qt in a minimal Debian 12.
LIBRARIES = {
    "libgl1": "libGL.so.1",
    "libegl1": "libEGL.so.1",
    "libglib2.0-0": "libglib-2.0.so.0",
    "libxkbcommon0": "libxkbcommon.so.0",
    "libdbus-1-3": "libdbus-1.so.3",
    "libfontconfig1": "libfontconfig.so.1",
    "libgssapi-krb5-2": "libgssapi_krb5.so.2",
    "libxcb-cursor0": "libxcb-cursor.so.0",
    "libxcb-icccm4": "libxcb-icccm.so.4",
    "libxcb-keysyms1": "libxcb-keysyms.so.1",
    "libxcb-shape0": "libxcb-shape.so.0",
    "libxcb-xkb1": "libxcb-xkb.so.1",
    "libxkbcommon-x11-0": "libxkbcommon-x11.so.0",
}
FONTS = {
    "fontconfig": "/usr/bin/fc-cache",  # caches the list of fonts, so a window starts faster
    "fonts-dejavu-core": "truetype/dejavu/DejaVuSans.ttf",
    "fonts-noto-core": "truetype/noto/NotoSans-Regular.ttf",
    "fonts-noto-cjk": "opentype/noto/NotoSansCJK-Regular.ttc",
    "fonts-noto-color-emoji": "truetype/noto/NotoColorEmoji.ttf",
}


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Make .venv with the tested set of packages.")
    parser.add_argument(
        "set",
        choices=("run", "dev"),
        help="run: what the application needs; dev: the tools for tests as well",
    )
    parser.add_argument(
        "--torch", choices=("cpu", "cuda"), help="which PyTorch; without it, what pip finds first"
    )
    chosen = parser.parse_args(arguments)
    if sys.version_info < MIN_PYTHON:
        return _refuse(
            f"Python {sys.version.split()[0]} is too old: Glossbench needs 3.11 or later.",
            "Name another one: make setup PYTHON=python3.12",
        )
    if stands(chosen.set, chosen.torch):
        return 0
    missing = missing_packages()
    if missing and not provide(missing) and "python3-venv" in missing:
        return 1
    return install(chosen.set, chosen.torch)


# ---------------------------------------------------------------- the stamp


def fingerprint() -> str:
    """Hash of everything that determines the installation, and of the path of `.venv`, which its
    scripts contain.
    """
    digest = hashlib.sha256(f"{VENV} {sys.version_info[:2]}".encode())
    for name in ("pyproject.toml", "constraints.txt"):
        digest.update((ROOT / name).read_bytes())
    return digest.hexdigest()[:16]


def stands(wanted: str, torch: str | None) -> bool:
    """Whether this set is installed already; the dev set holds the run set."""
    try:
        mark, sets, build = STAMP.read_text(encoding="utf-8").split()
    except (OSError, ValueError):
        return False
    return mark == fingerprint() and (wanted == sets or sets == "dev") and torch in (None, build)


def _keep_stamp(wanted: str, torch: str | None) -> None:
    STAMP.write_text(f"{fingerprint()} {wanted} {torch or _present_torch()}\n", encoding="utf-8")


# ---------------------------------------------------------------- the system


def missing_packages() -> list[str]:
    """Debian packages whose libraries, fonts or venv module are missing.

    Empty on systems without apt, except for venv.
    """
    missing = [] if _has_venv() else ["python3-venv"]
    if sys.platform.startswith("linux") and shutil.which("apt-get"):
        known = _known_libraries()
        missing += [name for name, library in LIBRARIES.items() if library not in known]
        missing += [
            name for name, font in FONTS.items() if not (Path("/usr/share/fonts") / font).exists()
        ]
    return missing


def _has_venv() -> bool:
    """Debian ships venv without ensurepip; then `python3 -m venv` fails halfway."""
    return (
        subprocess.run(
            [sys.executable, "-P", "-c", "import ensurepip, venv"], capture_output=True
        ).returncode
        == 0
    )


def _known_libraries() -> str:
    for tool in ("ldconfig", "/sbin/ldconfig", "/usr/sbin/ldconfig"):
        try:
            return subprocess.run([tool, "-p"], capture_output=True, text=True).stdout
        except OSError:
            continue
    return ""


def provide(missing: list[str]) -> bool:
    """Install them as root; otherwise say the one line to type. Whether they are there now."""
    line = f"apt-get install -y --no-install-recommends {' '.join(missing)}"
    if not shutil.which("apt-get"):
        print(
            "This Python has no venv module; install it with your system's package manager.",
            file=sys.stderr,
        )
        return False
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        print(
            "\nSome system packages are missing. Run this command, then the same command again:\n\n"
            f"  sudo {line}\n",
            file=sys.stderr,
        )
        return False
    print(f"Installing system packages: {' '.join(missing)}", flush=True)
    env = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    if subprocess.run(shlex.split(line), env=env, capture_output=True).returncode == 0:
        return True
    subprocess.run(["apt-get", "update", "-qq"], env=env)  # the lists were missing or old
    return subprocess.run(shlex.split(line), env=env).returncode == 0


# ---------------------------------------------------------------- the packages


def install(wanted: str, torch: str | None) -> int:
    """Create the environment and install the packages. Returns an exit code.

    After an interruption the next call starts again.
    """
    STAMP.unlink(missing_ok=True)
    if not _python().exists() and _call([sys.executable, "-P", "-m", "venv", str(VENV)]) != 0:
        return _refuse(
            "The environment .venv could not be made.",
            f"What is there may be damaged; delete {VENV} and try again.",
        )
    _speak_of_torch(torch)
    extra = "[dev]" if wanted == "dev" else ""
    code = _install_torch(torch) or _pip("--editable", f"{ROOT}{extra}")
    if code != 0:
        return _refuse(
            "Packages could not be installed.",
            "Is there a network? What was done so far is kept; run the same command again.",
        )
    _keep_stamp(wanted, torch)
    print(f"Ready: {_python().parent / 'glossbench'}", flush=True)
    return 0


def _install_torch(build: str | None) -> int:
    """The build asked for; the constraint fixes the version, `+cpu` and `===` the kind."""
    version = _pinned("torch")
    if build == "cpu" and sys.platform != "darwin":
        local = _pip(f"torch=={version}+cpu", quiet=True)
        return local and _pip(f"torch=={version}+cpu", "--extra-index-url", TORCH_INDEX)
    if build == "cuda" and sys.platform.startswith("linux"):
        return _pip(f"torch==={version}")
    return _pip(f"torch=={version}")


def _speak_of_torch(build: str | None) -> None:
    """Print a hint if the default build on Linux is needlessly large: without an NVIDIA driver,
    unless pip finds a CPU build.
    """
    if (
        build
        or not sys.platform.startswith("linux")
        or Path("/proc/driver/nvidia/version").exists()
        or _present_torch() != "none"
    ):
        return
    if _pip(f"torch=={_pinned('torch')}", "--dry-run", "--no-deps", "--no-index", quiet=True) == 0:
        return
    print(
        f"\nNo NVIDIA driver here. PyTorch comes with CUDA by default: {TORCH_SIZE}.\n"
        f"For the small build ({TORCH_SMALL_SIZE}), press Ctrl+C and run: make setup TORCH=cpu\n",
        flush=True,
    )


def _present_torch() -> str:
    """cpu, cuda or none: the build that stands in .venv."""
    folder = next(
        VENV.glob("lib/python*/site-packages/torch/version.py"),
        VENV / "Lib/site-packages/torch/version.py",
    )
    try:
        text = folder.read_text(encoding="utf-8")
    except OSError:
        return "none"
    return "cuda" if "+cu" in text or "cuda: Optional[str] = '" in text else "cpu"


def _pinned(name: str) -> str:
    for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith(f"{name}=="):
            return line.partition("==")[2].strip()
    raise SystemExit(f"constraints.txt does not pin {name}")


def _python() -> Path:
    return VENV / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")


def _pip(*arguments: str, quiet: bool = False) -> int:
    # --use-pep517: older versions of pip build seqeval in a way that does not install its build
    # requirements
    command = [
        str(_python()),
        "-P",
        "-m",
        "pip",
        "install",
        "--disable-pip-version-check",
        "--use-pep517",
        "-c",
        str(ROOT / "constraints.txt"),
        *arguments,
    ]
    return _call(
        command if quiet else [*command, "--progress-bar", "on" if sys.stdout.isatty() else "off"],
        quiet=quiet,
    )


def _call(command: list[str], *, quiet: bool = False) -> int:
    if quiet:
        return subprocess.run(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        ).returncode
    print("+", shlex.join(command), flush=True)
    return subprocess.run(command).returncode


def _refuse(message: str, hint: str) -> int:
    print(f"{message} {hint}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
