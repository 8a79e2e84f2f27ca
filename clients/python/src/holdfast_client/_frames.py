"""Parses server-sent events, also frames that have only an `id`: these move the cursor on without an event."""

from __future__ import annotations

from dataclasses import dataclass
from typing import List, Optional

_MAX_FRAME_BYTES = 1_048_576
"""Far more than any event has."""


@dataclass
class Frame:
    id: Optional[str] = None
    data: Optional[str] = None


class FrameParser:
    """Lines end with LF or CRLF; what Holdfast sends has no single CR."""

    def __init__(self) -> None:
        self._line = b""
        self._frame = Frame()

    def take(self, piece: bytes) -> List[Frame]:
        """The frames that the next piece of the stream completes."""
        *lines, self._line = (self._line + piece).split(b"\n")
        frames: List[Frame] = []
        for line in lines:
            text = line.rstrip(b"\r").decode()
            if text:
                self._take_field(*_split(text))
            elif self._frame.id is not None or self._frame.data is not None:
                frames.append(self._frame)
                self._frame = Frame()
        if len(self._line) + len(self._frame.data or "") > _MAX_FRAME_BYTES:
            raise ValueError("An event of the stream is too long.")
        return frames

    def _take_field(self, name: str, value: str) -> None:
        if name == "id":
            self._frame.id = value
        if name == "data":
            self._frame.data = value if self._frame.data is None else f"{self._frame.data}\n{value}"


def _split(line: str) -> "tuple[str, str]":
    name, _, value = line.partition(":")
    return name, value[1:] if value.startswith(" ") else value
