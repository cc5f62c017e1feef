"""Values of a package's own types with every field filled, so that a field that a new version brings is tried too.

`variants` gives one value for each alternative of each union in a type: each block kind, each result kind. A value is
what JSON can hold; the package's own model then makes its instance of it.
"""

import base64
import dataclasses
import datetime
import enum
import inspect
import types
import typing
import zlib

import typing_extensions

DEPTH = 9


def png() -> bytes:
    """Two grey pixels."""
    def chunk(kind, data):
        return len(data).to_bytes(4) + kind + data + zlib.crc32(kind + data).to_bytes(4)

    header = (2).to_bytes(4) + (1).to_bytes(4) + bytes([8, 0, 0, 0, 0])
    pixels = zlib.compress(b"\x00\x80\x90")
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")


def pdf() -> bytes:
    """One empty page."""
    bodies = [
        b"<< /Type /Catalog /Pages 2 0 R >>", b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 99 99] >>",
    ]
    out, starts = b"%PDF-1.4\n", []
    for number, body in enumerate(bodies, 1):
        starts.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    rows = b"".join(b"%010d 00000 n \n" % start for start in starts)
    table = b"xref\n0 4\n0000000000 65535 f \n" + rows
    return out + table + b"trailer\n<< /Size 4 /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % len(out)


PNG = base64.b64encode(png()).decode()
# What only its vendor can read.
OPAQUE = base64.b64encode(bytes(range(48))).decode()
# What stands in `data` beside a media type that is the only one allowed there.
BYTES = {"application/pdf": base64.b64encode(pdf()).decode(), "text/plain": "the plain text of it"}


def few(values, most=6):
    """At most so many values of each kind of block: of a few kinds there are hundreds."""
    counts = {}
    for value in values:
        kind = value.get("type")
        counts[kind] = counts.get(kind, 0) + 1
        if counts[kind] <= most:
            yield value


def plain(field: str) -> str:
    """A harmless text for a field of that name, valid where the name says what is valid."""
    lowered = field.lower()
    if lowered in ("data", "blob", "png") or "b64" in lowered:
        return PNG
    if lowered in ("image_url", "file_data"):
        return f"data:image/png;base64,{PNG}"
    if lowered.endswith(("url", "uri")):
        return "https://example.com/page"
    if lowered.endswith(("mime_type", "mimetype", "media_type")):
        return "image/png"
    if lowered.endswith("_at"):
        return "2026-11-29T12:00:00Z"
    if lowered == "id" or lowered.endswith(("_id", "ids")):
        return "id_0123456789"
    if lowered.startswith("encrypted") or "signature" in lowered:
        return OPAQUE
    return f"the {field.replace('_', ' ')} of it"


class Filler:
    def __init__(self, fixed=None, skip=()):
        # Values of fields by their names, where a package checks them by rules that no type shows.
        self.fixed = fixed or {}
        self.skip = set(skip)

    def variants(self, kind, field="text", seen=()):
        """Values of a type: the first has every field; each other one takes another alternative of one union."""
        if field in self.fixed:
            return [self.fixed[field]]
        if isinstance(kind, typing_extensions.TypeAliasType) or type(kind).__name__ == "TypeAliasType":
            return self.variants(kind.__value__, field, seen)
        if isinstance(kind, typing.TypeVar):
            return self.variants(kind.__bound__ or str, field, seen)
        origin, args = typing.get_origin(kind), typing.get_args(kind)
        if origin in (typing.Annotated, typing_extensions.Required, typing_extensions.NotRequired, typing_extensions.ReadOnly):
            return self.variants(args[0], field, seen)
        if origin in (typing.Literal, typing_extensions.Literal):
            return ["image/png" if "image/png" in args else args[0]]
        if origin in (typing.Union, types.UnionType):
            found = [value for arg in args if arg is not type(None) for value in self.variants(arg, field, seen)]
            return found or [None]
        is_map = inspect.isclass(origin) and issubclass(origin, typing.Mapping)
        if inspect.isclass(origin) and issubclass(origin, typing.Iterable) and not is_map:
            return [[value] for value in self.variants(args[0], field, seen)] or [[]]
        if is_map:
            return [{"key": value} for value in self.variants(args[1], field, seen)]
        return self.of_class(kind, field, seen)

    def of_class(self, kind, field, seen):
        if kind in (typing.Any, object):
            return [{"note": "a note of any kind"}]
        if kind is type(None):
            return [None]
        if not inspect.isclass(kind):
            return [plain(field)]
        if issubclass(kind, enum.Enum):
            # The first that says something: zero means unspecified.
            values = [member.value for member in kind]
            return [next((v for v in values if "UNSPECIFIED" not in str(v)), values[0])]
        if issubclass(kind, bool):
            return [False]
        if issubclass(kind, int):
            return [0]
        if issubclass(kind, float):
            return [0.5]
        if issubclass(kind, bytes):
            return [PNG if field in ("data", "bytes", "image_bytes", "imageBytes") else OPAQUE]
        if issubclass(kind, str):
            return [plain(field)]
        if issubclass(kind, (datetime.datetime, datetime.date)):
            return ["2026-11-29T12:00:00Z"]
        if kind is dict:
            return [{"note": "a note of any kind"}]
        if kind is list:
            return [["an item"]]
        fields = self.fields(kind)
        if fields is None:
            return [plain(field)]
        if seen.count(kind) > 0 or len(seen) > DEPTH or "is_unknown" in fields:
            # Nor what a package makes of a block of a later version.
            return []
        return self.of_fields(fields, (*seen, kind))

    def of_fields(self, fields, seen):
        """One value with all fields, and one more for each further alternative of each field."""
        choices = {}
        for name, (kind, required) in fields.items():
            if name in self.skip and not required:
                continue
            values = self.variants(kind, name, seen)
            if values:
                choices[name] = values
            elif required:
                return []
        first = {name: values[0] for name, values in choices.items()}
        media = next((name for name in ("media_type", "mime_type", "mimeType") if name in first), None)
        declared = first.get(media)
        if media and {"data", "text", "blob"} & set(first):
            # What is declared and what is there go together: other pairs would be lies.
            declared = first[media] = "text/plain" if "text" in first and declared == "image/png" else declared
            choices[media] = [declared]
        if declared in BYTES and "data" in first:
            choices["data"] = [BYTES[declared]]
            first["data"] = BYTES[declared]
        elif declared not in (None, "image/png") and "data" in first and not fields["data"][1]:
            # Sound and moving pictures are only referred to.
            del choices["data"], first["data"]
        return [first] + [{**first, name: value} for name, values in choices.items() for value in values[1:]]

    def fields(self, kind):
        """Names and types of the fields of a model, dataclass or typed dictionary; None for anything else."""
        if hasattr(kind, "model_fields"):
            own = {name: field for name, field in kind.model_fields.items() if not field.exclude}
            return {f.serialization_alias or f.alias or name: (f.annotation, f.is_required()) for name, f in own.items()}
        if typing_extensions.is_typeddict(kind):
            hints = typing_extensions.get_type_hints(kind, include_extras=True)
            return {name: (hint, name in kind.__required_keys__) for name, hint in hints.items()}
        if dataclasses.is_dataclass(kind):
            hints = typing.get_type_hints(kind, include_extras=True)
            return {
                f.name: (hints[f.name], f.default is dataclasses.MISSING and f.default_factory is dataclasses.MISSING)
                for f in dataclasses.fields(kind) if f.init
            }
        return None
