"""What the vendors' own packages write is understood completely, and what the scanner releases they take back.

    run.py --scanner PATH [--samples DIR] [--only PACKAGE,...]

For every payload, made by a package's own models and written by its own serializer:
  understood   the provider and the status are right; an order planted into each string in turn that the package lets
               through (ids, names and text inside JSON in strings too) is reported as an injection
  released     what needs no change comes back byte for byte; what was planted - orders, secrets, invisible characters,
               markup, bytes behind a picture's end - is gone in every form, everything else is the same byte for byte
  accepted     the package takes the release wherever it took the input, and a second scan allows it
Exit code 1 when anything fails.
"""

import argparse
import csv
import importlib
import pathlib
import sys
from collections import Counter, defaultdict

import compare
import plant
from cases import with_everything, with_keys, with_order, with_trailers
from payload import Payload, takes
from scanner import Scanner

MODULES = [
    "with_anthropic", "with_openai", "with_google_genai", "with_mcp", "with_nbformat", "with_xai_sdk", "with_e2b",
    "with_daytona", "with_botocore", "with_langchain_core", "with_openai_agents", "with_pydantic_ai",
]
# An order is sanitized for a model only: for people it goes to review.
FOR = {"model": [plant.ORDER, plant.SECRET, plant.INVISIBLE], "page": [plant.SECRET, plant.INVISIBLE, plant.MARKUP]}


class Tally:
    def __init__(self):
        self.rows = defaultdict(Counter)
        self.failures = []

    def count(self, package, what, ok, note):
        self.rows[package][what] += 1
        if not ok:
            self.rows[package][what + " failed"] += 1
            self.failures.append(f"{package}: {what}: {note}")
        return ok

    def table(self):
        columns = ["payloads", "understood", "planted", "unchanged", "released", "accepted"]
        rows = [["", *columns]]
        for package in sorted(self.rows):
            row = self.rows[package]
            good = [f"{row[c] - row[c + ' failed']} of {row[c]}" for c in columns[1:]]
            rows.append([package, str(row["payloads"]), *good])
        widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
        return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows)


def judge(tally, scanner, audience, cases):
    """Releases of planted payloads: clean, of the same shape, taken back, allowed."""
    answers = scanner.scan([(case.data, case.payload.suffix) for case in cases], [audience], [audience])
    again, callers = [], set()
    for case, answer in zip(cases, answers):
        payload, note = case.payload, f"{case.payload.name}: {case.where}, for {audience}"
        if case.attacks == [plant.ORDER] and case.where.startswith("#"):
            known = answer.is_of(payload.provider)
            ok = answer.finds("injection.") and known
            tally.count(payload.package, "planted", ok, f"{note}: {'not found' if known else f'is of {answer.source()}'}")
        released = answer.released[audience]
        if not tally.count(payload.package, "released", released is not None, f"{note}: {answer.why(audience)}"):
            continue
        if case.where.startswith("#") and answer.is_callers():
            callers.add((id(payload), case.where))
            tally.count(payload.package, "unchanged", released == case.data, f"{note}: the caller's own text")
            continue
        before, after = case.data.decode("utf-8", "surrogatepass"), released.decode("utf-8", "surrogatepass")
        problems = list(compare.differences(before, after, case.attacks))
        if remains := compare.all_left(after, case.attacks):
            problems.append(f"{remains!r} is left")
        tally.count(payload.package, "released", not problems, f"{note}: {'; '.join(problems[:3])}")
        if takes(payload.accept, case.data):
            tally.count(payload.package, "accepted", takes(payload.accept, released), note)
        again.append((case, released))
    rescans = scanner.scan([(released, case.payload.suffix) for case, released in again], [audience])
    for (case, _), answer in zip(again, rescans):
        decision = answer.decision(audience)
        note = f"{case.payload.name}: {case.where}, for {audience}: the second scan says {decision}"
        tally.count(case.payload.package, "released", decision == "allow", note)
    return callers


def run_package(tally, scanner, payloads):
    answers = scanner.scan([(p.data, p.suffix) for p in payloads], list(FOR), list(FOR))
    singles, fields, sealed = [], {}, set()
    for payload, answer in zip(payloads, answers):
        tally.rows[payload.package]["payloads"] += 1
        tally.count(payload.package, "accepted", takes(payload.accept, payload.data), f"{payload.name}: as it is made")
        ok = answer.is_of(payload.provider) and payload.status in (None, answer.status())
        wanted = f"{payload.provider} {payload.status}"
        tally.count(payload.package, "understood", ok, f"{payload.name}: {answer.source()} {answer.status()}, not {wanted}")
        for audience in FOR:
            if answer.sealed(audience):
                sealed.add((id(payload), audience))
                continue
            same = answer.released[audience] == payload.data
            found = [f["rule"] for f in answer.verdict["findings"]]
            note = f"{payload.name}, for {audience}: {answer.why(audience)}, found {found[:4]}"
            tally.count(payload.package, "unchanged", same, note)
        own = list(with_order(payload))
        fields[id(payload)] = {case.where for case in own}
        singles += own
    for key, where in judge(tally, scanner, "model", singles):
        fields[key].discard(where)
    for audience, attacks in FOR.items():
        own = [p for p in payloads if (id(p), audience) not in sealed]
        cases = [case for p in own for case in with_everything(p, attacks, fields[id(p)])]
        judge(tally, scanner, audience, cases)
    # What stands behind the end of a picture reaches people only.
    judge(tally, scanner, "page", [case for p in payloads for case in with_trailers(p)])
    own = [p for p in payloads if (id(p), "model") not in sealed]
    judge(tally, scanner, "model", [case for p in own for case in with_keys(p, fields[id(p)])])


def run_samples(tally, scanner, folder, readers):
    """Recorded payloads: unchanged where nothing is to change; planted ones are taken back by whoever took the input."""
    payloads = []
    for row in csv.DictReader((folder / "INDEX.tsv").open(), delimiter="\t"):
        path = folder / row["file"]
        if row["system"] == "edge" or path.suffix not in (".json", ".jsonl", ".sse"):
            continue
        data = path.read_bytes()
        own = [r for r in readers if r.system == row["system"] and r.suffix == path.suffix and takes(r.accept, data)]
        name = f"{row['file']} ({', '.join(r.name for r in own) or 'no reader'})"
        tally.rows["samples"]["read"] += bool(own)

        def accept(data, own=own):
            for reader in own:
                reader.accept(data)

        payloads.append(Payload("samples", name, data, row["system"], None, accept, path.suffix))
    answers = scanner.scan([(p.data, p.suffix) for p in payloads], ["model"], ["model"])
    clean = []
    for payload, answer in zip(payloads, answers):
        tally.rows["samples"]["payloads"] += 1
        if answer.decision("model") == "allow":
            tally.count("samples", "unchanged", answer.released["model"] == payload.data, payload.name)
            if not answer.verdict["findings"]:
                clean.append(payload)
    # Where no model says which strings are text, those are in which an order leaves the payload what it is.
    singles, fields = [case for payload in clean for case in with_order(payload)], defaultdict(set)
    answers = scanner.scan([(case.data, case.payload.suffix) for case in singles], ["model"])
    for case, answer in zip(singles, answers):
        if answer.is_of(case.payload.provider):
            found = answer.finds("injection.")
            tally.count("samples", "planted", found, f"{case.payload.name}: {case.where}: not found")
            # Without any of its types it is nobody's.
            is_mark = case.where.endswith(("/type", "/object", "/event_type"))
            if found and not is_mark and not answer.is_callers():
                fields[id(case.payload)].add(case.where)
    cases = [case for payload in clean for case in with_everything(payload, FOR["model"], fields[id(payload)])]
    judge(tally, scanner, "model", cases)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scanner", required=True)
    parser.add_argument("--samples", type=pathlib.Path)
    parser.add_argument("--only", default="", help="anthropic, openai, …, samples; comma separated")
    parser.add_argument("--show", type=int, default=40, help="failures to print")
    args = parser.parse_args()
    scanner, tally, readers = Scanner(str(pathlib.Path(args.scanner).resolve())), Tally(), []
    only = set(filter(None, args.only.split(",")))
    for name in MODULES:
        module = importlib.import_module(name)
        readers += module.readers()
        if only and name.removeprefix("with_") not in only:
            continue
        run_package(tally, scanner, list(module.payloads()))
    if args.samples and (not only or "samples" in only):
        run_samples(tally, scanner, args.samples, readers)
    print(tally.table())
    if "samples" in tally.rows:
        print(f"a package reads {tally.rows['samples']['read']} of the samples")
    print(f"{scanner.scans} scans, {len(tally.failures)} failures")
    for failure in tally.failures[:args.show]:
        print(failure)
    return 1 if tally.failures else 0


if __name__ == "__main__":
    sys.exit(main())
