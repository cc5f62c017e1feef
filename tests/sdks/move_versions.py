#!/usr/bin/env python3
"""Moves requirements.txt to the newest versions and says what changed.

    tests/sdks/move_versions.py [NAME...]     all packages, or these

Installs into a folder of its own, with the ordinary package client. Run the suite afterwards: `.ci/long sdks`.
"""

import pathlib
import re
import subprocess
import sys
import tempfile
import venv

FILE = pathlib.Path(__file__).with_name("requirements.txt")
PIN = re.compile(r"^([A-Za-z0-9._-]+)==(\S+)$", re.MULTILINE)


def newest(names, held):
    """The versions that these packages and the held ones agree on."""
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        pip = [str(pathlib.Path(folder) / "bin" / "pip")]
        subprocess.run([*pip, "install", "--quiet", "--upgrade", *names, *held], check=True)
        frozen = subprocess.run([*pip, "list", "--format", "freeze"], check=True, capture_output=True, text=True).stdout
    return {name.lower().replace("_", "-"): version for name, version in PIN.findall(frozen)}


def main():
    text = FILE.read_text()
    pins = dict(PIN.findall(text))
    names = sys.argv[1:] or list(pins)
    if unknown := [name for name in names if name not in pins]:
        raise SystemExit(f"not in {FILE.name}: {', '.join(unknown)}")
    found = newest(names, [f"{name}=={version}" for name, version in pins.items() if name not in names])
    changes = [(name, pins[name], found[name]) for name in pins if found[name] != pins[name]]
    for name, before, after in changes:
        text = text.replace(f"{name}=={before}\n", f"{name}=={after}\n")
        print(f"{name}: {before} -> {after}")
    FILE.write_text(text)
    print(f"{len(changes)} of {len(pins)} packages moved")


if __name__ == "__main__":
    main()
