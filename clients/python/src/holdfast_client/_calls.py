"""Requests as data, and the rules by which they are repeated."""

from __future__ import annotations

import io
import json
import math
import os
import random
import re
import time
import uuid
from dataclasses import dataclass, field
from typing import IO, Any, Dict, FrozenSet, Mapping, Optional, Sequence, Tuple, Union

from ._errors import WaitTimeoutError

FileInput = Union[str, "os.PathLike[str]", Tuple[str, Union[bytes, IO[bytes]]]]
"""A path, or a name with bytes or with a file that is open for reading bytes."""

TRY_AGAIN = frozenset({408, 429, 502, 503, 504})
FIRST_PAUSE = 0.5
LONGEST_PAUSE = 30.0
LONGEST_ASKED = 60.0
"""A service that asks for more is not waited for: a budget that is used up says when the month ends."""

_READS = re.compile(r"/v1/(?:data/hybrid-search|data/status|(?:data|spaces|agents)/search)$")


def new_key() -> str:
    """An Idempotency-Key."""
    return uuid.uuid4().hex


def backoff(failures: int) -> float:
    """The pause after so many failures in a row: it doubles up to 30 s, of which a random part is left out."""
    return float(min(FIRST_PAUSE * 2 ** min(failures, 16), LONGEST_PAUSE) * random.uniform(0.5, 1))


class Deadline:
    """When a wait is given up. Nothing is, without `seconds`."""

    def __init__(self, seconds: Optional[float] = None) -> None:
        self._seconds = seconds
        self._end = math.inf if seconds is None else time.monotonic() + seconds

    def clip(self, seconds: float) -> float:
        """At most what is left. Raises a WaitTimeoutError if nothing is."""
        left = self._end - time.monotonic()
        if left <= 0:
            raise WaitTimeoutError(f"The document is not ready after {self._seconds:g} s.")
        return min(seconds, left)


NEVER = Deadline()


@dataclass(frozen=True)
class Form:
    """A file with the fields that go with it. It can be sent again."""

    fields: Mapping[str, str]
    name: str
    source: Union[str, "os.PathLike[str]", bytes]

    @classmethod
    def of(cls, file: FileInput, fields: Mapping[str, str]) -> "Form":
        if not isinstance(file, tuple):
            return cls(fields, os.path.basename(os.fspath(file)), file)
        name, content = file
        return cls(fields, name, content if isinstance(content, bytes) else content.read())

    def open(self) -> IO[bytes]:
        return io.BytesIO(self.source) if isinstance(self.source, bytes) else open(self.source, "rb")


@dataclass(frozen=True)
class Call:
    method: str
    path: str
    params: Mapping[str, Any] = field(default_factory=dict)
    json: Any = None
    form: Optional[Form] = None
    headers: Mapping[str, str] = field(default_factory=dict)
    timeout: Optional[float] = None
    """Seconds without a byte after which an attempt is given up; the client's by default."""

    def is_safe(self) -> bool:
        """Whether sending it twice does no more than sending it once."""
        if self.method in ("GET", "HEAD") or "idempotency-key" in {name.lower() for name in self.headers}:
            return True
        return self.method == "POST" and _READS.search(self.path) is not None


@dataclass(frozen=True)
class Policy:
    max_retries: Optional[int] = None
    """How often a request is repeated; None: as often as it takes."""
    counts_silence_only: bool = False
    """Of max_retries, those count after which there was no answer; a service that asks to wait is waited for."""
    throws: FrozenSet[int] = frozenset()
    """Statuses that are raised although a later attempt may succeed."""
    deadline: Deadline = NEVER

    def is_over(self, counted: int, asked: float) -> bool:
        return self.max_retries is not None and (counted > self.max_retries or asked > LONGEST_ASKED)


def upload_fields(
    space_id: str,
    folder_id: Optional[str],
    metadata: Optional[Mapping[str, Any]],
    tags: Optional[Sequence[str]],
    strict: bool,
) -> Dict[str, str]:
    return given(
        space_id=space_id,
        folder_id=folder_id,
        doc_metadata=None if metadata is None else json.dumps(metadata),
        tags=None if tags is None else json.dumps(list(tags)),
        strict="true" if strict else None,
    )


def given(**fields: Any) -> Dict[str, Any]:
    """Those that are not None."""
    return {name: value for name, value in fields.items() if value is not None}


def is_credential(value: object) -> bool:
    """Whether it can stand in the header `Authorization`: what an unset variable gives cannot."""
    return isinstance(value, str) and value != "" and all("!" <= character <= "~" for character in value)


def address_of(base_url: str) -> str:
    """The address without the `/v1` that OpenAI's clients need."""
    address = base_url.rstrip("/")
    return address[: -len("/v1")] if address.endswith("/v1") else address
