#!/usr/bin/env python3
"""Releases files and has independent readers open what came out. Exit code 1 when anything does not hold:

 rescan   what was released is allowed for the same audience
 opens    a reader that opened the original opens the release
 same     pictures are equal pixel for pixel; texts and values are equal where nothing had to be taken out of the words
 browser  a released page or drawing runs nothing and asks nothing of anybody
 sanitize of labelled files whose only accepted decision is `sanitize`, at least 93 of 100 are released
"""
import argparse
import collections
import csv
import json
import pathlib
import subprocess
import sys
import tempfile

import browser
import openers

here = pathlib.Path(__file__).resolve().parent
root = here.parent.parent
arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
arguments.add_argument("--scanner", required=True)
arguments.add_argument("--files", help="a folder with labels.tsv")
arguments.add_argument("--no-browser", action="store_true")
asked = arguments.parse_args()
AT_ONCE = 60
# Words that were taken out make texts differ; a file inside that was cleaned makes pictures of a document differ.
OF_WORDS = ("redacted", "removed text", "removed hidden", "removed terminal", "neutralised", "removed a text", "defused")


def own_cases(folder):
    """The corpus: a case in hexadecimal is written out as the file it stands for."""
    for case in sorted((root / "corpus").glob("*/*")):
        if case.suffix == ".want" or not case.is_file():
            continue
        data = case.read_bytes()
        name = case.name
        if case.suffix == ".hex":
            digits = "".join(line.split("#")[0] for line in data.decode().splitlines())
            data, name = bytes.fromhex("".join(digits.split())), case.stem
        out = folder / case.parent.name / name
        out.parent.mkdir(exist_ok=True)
        out.write_bytes(data)
        yield out, None


def labelled(folder):
    folder = pathlib.Path(folder)
    for row in csv.DictReader((folder / "labels.tsv").open(), delimiter="\t"):
        path = folder / row["path"]
        if path.exists() and not row["group"].startswith("fuzz"):
            yield path, row["accepted_decisions"]


def scan(paths, audience, release=None):
    command = [asked.scanner, "scan", "--as", "file", "--format", "json", "--audience", audience]
    command += ["--release", f"{audience}={release}"] if release else []
    done = subprocess.run(command + [str(path) for path in paths], capture_output=True, check=False)
    return [json.loads(line) for line in done.stdout.splitlines()]


def compare(path, label, data, actions):
    """None, or what is wrong with a release in the eyes of an independent reader."""
    reader, must_be_same = openers.READERS[label]
    try:
        before = reader(path.read_bytes())
    except Exception:
        return None, False
    try:
        after = reader(data)
    except Exception as error:
        return f"does not open: {type(error).__name__}: {error}", True
    words = any(action["action"].startswith(OF_WORDS) for action in actions)
    return ("reads differently" if must_be_same and not words and before != after else None), True


def main():
    faults, count, pages = [], collections.Counter(), {}
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "cases").mkdir()
        inputs = list(own_cases(folder / "cases")) + (list(labelled(asked.files)) if asked.files else [])
        for audience in ("download", "page"):
            kept = []
            for start in range(0, len(inputs), AT_ONCE):
                some = inputs[start : start + AT_ONCE]
                out = folder / f"{audience}-{start}"
                verdicts = scan([path for path, _ in some], audience, out)
                manifests = json.loads((out / "manifest.json").read_text())
                assert len(verdicts) == len(some) == len(manifests["inputs"]), (len(verdicts), len(some))
                for (path, accepted), verdict, manifest in zip(some, verdicts, manifests["inputs"]):
                    release = verdict["audiences"][audience]["release"]
                    count[audience, verdict["decision"], release["state"]] += 1
                    if accepted == "sanitize":
                        count[audience, "only sanitize"] += 1
                        count[audience, "only sanitize, released"] += release["state"] == "cleaned"
                    if release["state"] != "cleaned":
                        continue
                    file = manifest["files"][0]
                    data = (out / file["path"]).read_bytes()
                    kept.append((path, out / file["path"]))
                    if file["type"] in openers.READERS:
                        wrong, opened = compare(path, file["type"], data, release["actions"])
                        count[audience, "opened"] += opened
                        faults += [f"{audience} {path.parent.name}/{path.name}: {wrong}"] if wrong else []
                    if file["type"] in ("html", "svg"):
                        pages[release["sha256"]] = (f"{path.parent.name}/{path.name}", file["mime"], data)
            for start in range(0, len(kept), AT_ONCE):
                some = kept[start : start + AT_ONCE]
                for (path, _), verdict in zip(some, scan([out for _, out in some], audience)):
                    count[audience, "scanned again"] += 1
                    if verdict["decision"] != "allow":
                        faults.append(f"{audience} {path.parent.name}/{path.name}: the release is {verdict['decision']}")
        if not asked.no_browser:
            count["browser"] = len(pages)
            faults += browser.faults(pages.values())
    for key, number in sorted(count.items(), key=str):
        print(f"{number:6}  {key if isinstance(key, str) else ' · '.join(key)}")
    for audience in ("download", "page"):
        wanted, released = count[audience, "only sanitize"], count[audience, "only sanitize, released"]
        if released * 100 < wanted * 93:
            faults.append(f"{audience}: {released} of {wanted} that may only be cleaned were released")
    print("\n".join(faults))
    print(f"{len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
