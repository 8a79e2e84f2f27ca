"""Follows the log of events over connections that come and go: each event once, and none is left out."""

from __future__ import annotations

import json
import time
from typing import Any, AsyncIterator, Callable, Dict, Optional, Sequence, cast

import httpx

from .._calls import NEVER, Call, Deadline, Policy, backoff, given
from .._events import ReceivedEvent
from .._frames import FrameParser
from .._runtime import async_sleep
from .transport import AsyncTransport

SILENCE = 45.0
"""Three pings: a connection that brings nothing for so many seconds is dead, whatever the system says."""
STEADY = 10.0
"""A stream that lasted so long was not refused: its end is no reason to wait longer for the next one."""
POLL_SECONDS = 25
"""One long poll: below the 30 s after which some proxies cut a silent request."""
POLL_EVENTS = 100


async def end_of_log(transport: AsyncTransport, max_retries: int, deadline: Deadline = NEVER) -> str:
    """The cursor of the end of the log."""
    call = Call("GET", "/v1/events", params={"after": "now", "limit": 1})
    policy = Policy(max_retries, counts_silence_only=True, deadline=deadline)
    page = await transport.read(call, policy)
    return cast(str, page["next_cursor"])


def event_filter(
    types: Optional[Sequence[str]], space_id: Optional[str], resource_id: Optional[str]
) -> Dict[str, Any]:
    listed = None if types is None else list(types)
    return given(types=listed, space_id=space_id, resource_id=resource_id)


async def stream_events(
    transport: AsyncTransport,
    cursor: str,
    params: Dict[str, Any],
    policy: Policy,
    is_over: Callable[[], bool] = lambda: False,
) -> AsyncIterator[ReceivedEvent]:
    """The policy is that of the first connection; those after it are always tried again."""
    failures = 0
    while not is_over():
        headers = {"Last-Event-ID": cursor}
        call = Call("GET", "/v1/events/stream", params=params, headers=headers, timeout=SILENCE)
        response = await transport.send(call, policy, is_stream=True)
        policy = Policy(throws=policy.throws)
        opened_at = time.monotonic()
        parser = FrameParser()
        try:
            async for piece in response.aiter_bytes():
                if is_over():
                    return
                for frame in parser.take(piece):
                    # The last frame of a stream that lost its right has no id: the next request gets its error
                    # as an answer.
                    if frame.id is None:
                        continue
                    cursor = frame.id
                    failures = 0
                    if frame.data is not None:
                        yield cast(ReceivedEvent, {**json.loads(frame.data), "cursor": cursor})
        except httpx.TransportError:
            # Another connection goes on after what was read.
            pass
        finally:
            await response.aclose()
        if time.monotonic() - opened_at > STEADY:
            failures = 0
        await async_sleep(backoff(failures))
        failures += 1


async def poll_events(
    transport: AsyncTransport, cursor: str, params: Dict[str, Any], policy: Policy
) -> AsyncIterator[ReceivedEvent]:
    empties = 0
    while True:
        asked_at = time.monotonic()
        query = {**params, "after": cursor, "wait": POLL_SECONDS, "limit": POLL_EVENTS}
        page = await transport.read(Call("GET", "/v1/events", params=query, timeout=60), policy)
        policy = Policy()
        items = page["items"]
        for index, event in enumerate(items):
            # Only after the last one it is sure that going on leaves none out.
            after = page["next_cursor"] if index == len(items) - 1 else cursor
            yield cast(ReceivedEvent, {**event, "cursor": after})
        cursor = page["next_cursor"]
        # A process that stops answers at once and with nothing; it is not asked again and again.
        is_early = not items and not page["has_more"] and time.monotonic() - asked_at < 1
        empties = empties + 1 if is_early else 0
        if is_early:
            await async_sleep(backoff(empties - 1))
