"""Tells many waits at once that their document may have ended, over one stream: a wait costs no requests while
nothing happens."""

from __future__ import annotations

import threading
import time
from typing import Any, Dict, List, Optional, Set

import httpx

from .._calls import Deadline, Policy
from .._errors import ConnectionError, HoldfastError
from .._runtime import AsyncFlag, AsyncLock, AsyncTask, async_sleep
from .events import end_of_log, event_filter, stream_events
from .transport import AsyncTransport

TYPES = (
    "document.completed",
    "document.failed",
    "document.cancelled",
    "document.deleted",
    "document.waiting",
)
LINGER = 1.0
"""How many seconds the stream stays open for the next wait, so that uploads one after another share it."""
MAX_RECENT = 10_000
"""How many ids are remembered for uploads that have no answer yet; beyond it all of them look once."""
LOOK = 60.0
"""The document that has waited longest is looked at this often whatever the stream brings: a right that is lost
meanwhile is an event that nobody is sent. If it is out of reach, all others are looked at too."""
GIVES_UP_ON = frozenset({429})
"""A key's streams are all in use, for instance: waits then ask for their document."""


class _Stream:
    def __init__(self) -> None:
        self.is_open = True
        self.task: Optional[AsyncTask] = None


class AsyncFollower:
    """One wait."""

    def __init__(self, feed: "AsyncDocumentFeed", stream: Optional[_Stream]) -> None:
        self._feed = feed
        self.stream = stream
        self.flag = AsyncFlag()
        self.document_id: Optional[str] = None
        self.looked_at = time.monotonic()
        self._is_looking = False

    def is_told(self) -> bool:
        """False if events cannot be followed."""
        return self.stream is not None and self.stream.is_open

    async def news(self, pause: float, deadline: Deadline) -> None:
        """Returns when something has happened to the document, or after the pause if nobody tells."""
        if not self.is_told():
            await async_sleep(deadline.clip(pause))
            return
        self._is_looking = False
        while not await self.flag.wait(deadline.clip(LOOK)):
            self._is_looking = self.is_told() and self._feed.may_look(self)
            if not self.is_told() or self._is_looking:
                break
        self.flag.clear()
        self.looked_at = time.monotonic()

    def alarm(self) -> None:
        """Says that the document is out of reach. If nobody told so, all others look at theirs."""
        if self._is_looking:
            self._feed.tell_all()


class AsyncDocumentFeed:
    def __init__(self, transport: AsyncTransport, max_retries: int) -> None:
        self._transport = transport
        self._max_retries = max_retries
        self._joining = AsyncLock()
        # Held for moments, and never while something is awaited.
        self._state = threading.Lock()
        self._followers: List[AsyncFollower] = []
        self._recent: Set[str] = set()
        self._stream: Optional[_Stream] = None
        self._idle_since = 0.0
        self._next_look = 0.0

    async def join(self, deadline: Deadline) -> AsyncFollower:
        """What happens from now on is not missed. Raises a ConnectionError if the service does not answer at all."""
        async with self._joining:
            with self._state:
                stream = self._stream
                if stream is not None and stream.is_open:
                    return self._add(stream)
            try:
                cursor = await end_of_log(self._transport, self._max_retries, deadline)
            except (ConnectionError, TimeoutError):
                raise
            except HoldfastError:
                # Events may be refused alone: asking for the document works, or says what is wrong.
                return AsyncFollower(self, None)
            stream = _Stream()
            with self._state:
                self._stream = stream
                follower = self._add(stream)
            stream.task = AsyncTask(lambda: self._run(stream, cursor))
            return follower

    def follow(self, follower: AsyncFollower, document_id: str) -> None:
        """What happened to this document since the follower joined counts."""
        with self._state:
            follower.document_id = document_id
            if document_id in self._recent or len(self._recent) >= MAX_RECENT:
                follower.flag.set()

    def leave(self, follower: AsyncFollower) -> None:
        with self._state:
            if follower in self._followers:
                self._followers.remove(follower)
            if not self._followers:
                self._recent.clear()
                self._idle_since = time.monotonic()

    def may_look(self, follower: AsyncFollower) -> bool:
        """Whether it is this one's turn to read its document without having been told to."""
        with self._state:
            now = time.monotonic()
            following = [other for other in self._followers if other.document_id is not None]
            is_next = follower is min(following, key=lambda other: other.looked_at, default=None)
            if now < self._next_look or not is_next:
                return False
            self._next_look = now + LOOK
            return True

    def tell_all(self) -> None:
        with self._state:
            for follower in self._followers:
                follower.flag.set()

    async def close(self) -> None:
        stream = self._stream
        if stream is not None:
            stream.is_open = False
            if stream.task is not None:
                await stream.task.stop()

    def _add(self, stream: _Stream) -> AsyncFollower:
        follower = AsyncFollower(self, stream)
        self._followers.append(follower)
        return follower

    async def _run(self, stream: _Stream, cursor: str) -> None:
        params: Dict[str, Any] = event_filter(TYPES, None, None)
        policy = Policy(throws=GIVES_UP_ON)
        try:
            async for event in stream_events(
                self._transport, cursor, params, policy, lambda: self._is_idle(stream)
            ):
                self._tell(event["resource"]["id"])
        except (HoldfastError, httpx.HTTPError, httpx.StreamError, ValueError, RuntimeError, OSError):
            # Whatever keeps events from being followed: asking for the document works, or says what is wrong.
            pass
        with self._state:
            stream.is_open = False
            for follower in self._followers:
                if follower.stream is stream:
                    follower.flag.set()

    def _is_idle(self, stream: _Stream) -> bool:
        """Whether the stream ends. A client that is closed has ended it, and so has nobody's waiting for a while."""
        with self._state:
            if not self._followers and time.monotonic() - self._idle_since > LINGER:
                stream.is_open = False
            return not stream.is_open

    def _tell(self, document_id: Optional[str]) -> None:
        if document_id is None:
            return
        with self._state:
            if len(self._recent) < MAX_RECENT:
                self._recent.add(document_id)
            for follower in self._followers:
                if follower.document_id == document_id:
                    follower.flag.set()
