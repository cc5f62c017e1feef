"""What a release may change: strings that held an attack, and nothing else."""

import base64
import binascii
import json
import re
import urllib.parse

from plant import NEEDLES, TRAILER, inner

# A JSON string with its quotes (RFC 8259, section 7). Everything between strings is structure.
STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
BASE64_RUN = re.compile(r"[A-Za-z0-9+/_-]{24,}={0,2}")


def forms(text, depth=4):
    """A text and what it turns into when somebody decodes it: JSON in strings, base64, percent signs, escapes."""
    yield text
    if depth == 0:
        return
    document = inner(text)
    if document is not None:
        for part in strings(document):
            yield from forms(part, depth - 1)
        return
    for run in BASE64_RUN.findall(text):
        body = run.replace("-", "+").replace("_", "/").rstrip("=")
        try:
            decoded = base64.b64decode(body + "=" * (-len(body) % 4))
        except (binascii.Error, ValueError):
            continue
        yield from forms(decoded.decode("latin-1"), depth - 1)
    if "%" in text:
        plain = urllib.parse.unquote(text)
        if plain != text:
            yield from forms(plain, depth - 1)


def strings(node):
    """Every string of a document, keys too."""
    if isinstance(node, dict):
        for key, value in node.items():
            yield key
            yield from strings(value)
    elif isinstance(node, list):
        for value in node:
            yield from strings(value)
    elif isinstance(node, str):
        yield node


def needles(attacks):
    found = [needle for attack in attacks for needle in NEEDLES.get(attack, [])]
    return found + ([TRAILER[:24].decode("latin-1").lower()] if TRAILER in attacks else [])


def left(text: str, attacks) -> str:
    """What is left of attacks in a text, in whatever form; empty when nothing is."""
    wanted = needles(attacks)
    for form in forms(text):
        lowered = form.lower()
        # Taken apart by invisible characters it is still there for a model.
        bare = re.sub("[\u200b-\u200f\u2060-\u2064\ufeff\U000e0000-\U000e007f]", "", lowered)
        for needle in wanted:
            if needle in lowered or needle in bare:
                return needle.encode("unicode_escape").decode()
    return ""


def all_left(data: str, attacks) -> str:
    """The same for every string of a payload, and for its bytes as they are."""
    for token in STRING.findall(data):
        found = left(decoded(token), attacks)
        if found:
            return found
    return left(data, attacks)


def decoded(token: str) -> str:
    try:
        return json.loads(token, strict=False)
    except ValueError:
        return token[1:-1]


def differences(before: str, after: str, attacks, strict=True, path=""):
    """Where two payloads differ and must not. Between strings every byte is the same; a string differs only where it
    held an attack; JSON in a string is JSON again."""
    structure, was = STRING.split(before), STRING.findall(before)
    structure_after, became = STRING.split(after), STRING.findall(after)
    if structure != structure_after:
        at = next((i for i, (a, b) in enumerate(zip(structure, structure_after)) if a != b), min(len(structure), len(structure_after)))
        yield f"{path}: another structure behind string {at}: {structure[at:at + 1]} became {structure_after[at:at + 1]}"
        return
    key = ""
    for index, (one, two) in enumerate(zip(was, became)):
        is_key = structure[index + 1].lstrip().startswith(":")
        here = f"{path}/{key}" if not is_key else path
        if is_key:
            key = one[1:-1]
        if one == two:
            continue
        if is_key and not left(decoded(one), attacks):
            yield f"{here}: the key {one} became {two}"
            continue
        plain, changed = decoded(one), decoded(two)
        if strict and not left(plain, attacks):
            yield f"{here}: nothing was planted in {one[:80]}, it became {two[:80]}"
        elif inner(plain) is not None:
            if inner(changed) is None:
                yield f"{here}: JSON in a string is no JSON any more: {two[:80]}"
            else:
                yield from differences(plain, changed, attacks, strict, here)
