"""One payload as a vendor's own package makes it, and who takes it back."""

from dataclasses import dataclass, field
from typing import Callable


@dataclass
class Payload:
    """Bytes that a package wrote, and what the scanner is to make of them."""

    package: str
    name: str
    data: bytes
    provider: str
    status: str | None
    # Raises when the package does not take these bytes.
    accept: Callable[[bytes], object] = field(repr=False)
    suffix: str = ".json"
    # Where attacks are planted: the rest of the wrapping is tried once for all payloads that share it.
    inside: tuple = ()
    # Where it says what the payload is, and the package lets any string through.
    marks: frozenset = frozenset()


@dataclass
class Reader:
    """A way in which a package reads payloads of a system: for samples that others recorded."""

    name: str
    system: str
    accept: Callable[[bytes], object] = field(repr=False)
    suffix: str = ".json"


def takes(accept, data: bytes) -> bool:
    """Whether a package takes these bytes. What it raises is its own affair."""
    try:
        accept(data)
    except Exception:  # noqa: BLE001
        return False
    return True
