"""The scanner's own command, many inputs at a time."""

import json
import pathlib
import subprocess
import tempfile
from dataclasses import dataclass

WORST = ["timed_out", "failed", "cancelled", "truncated", "unknown", "pending", "ok"]
AT_A_TIME = 150


@dataclass
class Answer:
    """What the scanner said of one input."""

    verdict: dict
    released: dict  # audience -> the bytes that may leave, or None

    def source(self):
        return self.verdict["source"]["provider"] or self.verdict["source"]["candidates"]

    def is_of(self, provider):
        """Whether it was recognised as that system's. Of a shape that several send each of them is named."""
        return self.source() == provider or isinstance(self.source(), list) and provider in self.source()

    def status(self):
        seen = [call["status"] for call in self.verdict["calls"]] + [self.verdict["source"]["status"]]
        return min((status for status in seen if status), key=WORST.index, default=None)

    def decision(self, audience):
        return self.verdict["audiences"][audience]["decision"]

    def why(self, audience):
        """Why nothing leaves."""
        release = self.verdict["audiences"][audience]["release"]
        return (release or {}).get("why") or f"decision {self.decision(audience)}"

    def finds(self, family):
        """Whether something of that family was found in an artifact of the verdict."""
        known = {artifact["id"] for artifact in self.verdict["artifacts"]}
        return any(f["category"].startswith(family) and f["artifact"] in known for f in self.verdict["findings"])

    def sealed(self, audience):
        """Whether it is held back for ciphertext that only its vendor can read."""
        reasons = {gap["reason"] for gap in self.verdict["gaps"]}
        return "encrypted_stdout" in reasons and self.decision(audience) == "review"

    def is_callers(self):
        """Whether all that was found stands in what the caller itself wrote: that stays as it is."""
        trust = {artifact["id"]: artifact["trust"] for artifact in self.verdict["artifacts"]}
        return {trust.get(f["artifact"]) for f in self.verdict["findings"]} == {"caller"}


class Scanner:
    def __init__(self, binary):
        self.binary = binary
        self.scans = 0

    def scan(self, inputs, audiences, release=()):
        """Answers for inputs, which are pairs of bytes and a suffix, in their order."""
        answers = []
        for start in range(0, len(inputs), AT_A_TIME):
            answers += self._some(inputs[start:start + AT_A_TIME], audiences, release)
        self.scans += len(inputs)
        return answers

    def _some(self, inputs, audiences, release):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            names = [f"{index:04}{suffix}" for index, (_, suffix) in enumerate(inputs)]
            # A second input, always: the releases of several are told apart by their digests.
            names.append("last.json")
            for name, (data, _) in zip(names, [*inputs, (b"{}", "")]):
                (folder / name).write_bytes(data)
            command = [self.binary, "scan", "--format", "json", "--audience", ",".join(audiences), "--fail-on", "never"]
            for audience in release:
                command += ["--release", f"{audience}={folder / audience}"]
            done = subprocess.run([*command, *names], cwd=folder, capture_output=True, timeout=1800)
            if done.returncode != 0:
                raise SystemExit(f"{' '.join(command)}: exit code {done.returncode}: {done.stderr[-500:]!r}")
            verdicts = [json.loads(line) for line in done.stdout.splitlines()]
            kept = {audience: releases(folder / audience) for audience in release}
        answers = []
        for name, verdict in zip(names[:-1], verdicts, strict=False):
            assert verdict["source"]["name"] == name, verdict["source"]["name"]
            answers.append(Answer(verdict, {audience: kept[audience].get(name) for audience in release}))
        return answers


def releases(folder):
    """The envelopes of a folder of releases, by the names of the inputs."""
    manifest = json.loads((folder / "manifest.json").read_text())
    found = {}
    for one in manifest["inputs"]:
        envelope = one["envelope"]
        if envelope and envelope["path"] and one["withheld"] is None:
            found[one["source"]["name"]] = (folder / envelope["path"]).read_bytes()
    return found
