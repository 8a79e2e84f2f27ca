"""An event as the client gives it."""

from __future__ import annotations

from .types import Event


class ReceivedEvent(Event):
    """An event with the place after it in the log."""

    cursor: str
    "Going on after it gives what comes after this event."
