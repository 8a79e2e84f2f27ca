"""The client of Holdfast: upload, search and ask, typed, with and without asyncio."""

from . import types
from ._answers import Answer
from ._async.client import AsyncHoldfast
from ._calls import FileInput
from ._errors import (
    AuthenticationError,
    BadRequestError,
    ConflictError,
    ConnectionError,
    HoldfastError,
    NotFoundError,
    PermissionDeniedError,
    RateLimitError,
    ServerError,
    WaitTimeoutError,
)
from ._events import ReceivedEvent
from ._sync.client import Holdfast

__all__ = [
    "Answer",
    "AsyncHoldfast",
    "AuthenticationError",
    "BadRequestError",
    "ConflictError",
    "ConnectionError",
    "FileInput",
    "Holdfast",
    "HoldfastError",
    "NotFoundError",
    "PermissionDeniedError",
    "RateLimitError",
    "ReceivedEvent",
    "ServerError",
    "WaitTimeoutError",
    "types",
]
