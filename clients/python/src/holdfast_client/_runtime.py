"""What the client needs of asyncio, and the same of threads."""

from __future__ import annotations

import asyncio
import threading
import time
from contextlib import suppress
from typing import Any, Callable, Coroutine

async_sleep = asyncio.sleep
sleep = time.sleep

AsyncLock = asyncio.Lock
Lock = threading.Lock


class AsyncFlag:
    def __init__(self) -> None:
        self._event = asyncio.Event()
        self.set = self._event.set
        self.clear = self._event.clear

    async def wait(self, seconds: float) -> bool:
        """False if it is not set in time."""
        with suppress(asyncio.TimeoutError):
            await asyncio.wait_for(self._event.wait(), seconds)
        return self._event.is_set()


class Flag:
    def __init__(self) -> None:
        self._event = threading.Event()
        self.set = self._event.set
        self.clear = self._event.clear

    def wait(self, seconds: float) -> bool:
        """False if it is not set in time."""
        return self._event.wait(seconds)


class AsyncTask:
    """Runs beside its caller."""

    def __init__(self, run: Callable[[], Coroutine[Any, Any, None]]) -> None:
        self._task = asyncio.get_running_loop().create_task(run())

    async def stop(self) -> None:
        self._task.cancel()
        with suppress(asyncio.CancelledError):
            await self._task


class Task:
    """Runs beside its caller. It keeps no program from ending."""

    def __init__(self, run: Callable[[], None]) -> None:
        threading.Thread(target=run, name="holdfast-events", daemon=True).start()

    def stop(self) -> None:
        """Nothing stops a thread from outside; it ends when its connection is closed."""
