"""What the client raises: one class for each kind of refusal, all of them a HoldfastError."""

from __future__ import annotations

import builtins
import json
from typing import Any, Optional, Type

import httpx

from .types import Document


class HoldfastError(Exception):
    """A refusal of the service, a request without an answer, or the failure of a document's processing."""

    def __init__(
        self,
        message: str,
        *,
        status: Optional[int] = None,
        code: Optional[str] = None,
        param: Optional[str] = None,
        doc_url: Optional[str] = None,
        request_id: Optional[str] = None,
        retry_after: Optional[float] = None,
        document: Optional[Document] = None,
        answer: Any = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.status = status
        """The HTTP status; None if there was no answer, or if a document was accepted and its run failed."""
        self.code = code
        """`document_not_found`, `rate_limited` and the like; of a document that failed `encrypted`, `no_text`, …"""
        self.param = param
        """The field of the request that is at fault."""
        self.doc_url = doc_url
        """The page that explains the code."""
        self.request_id = request_id
        """The `X-Request-Id` of the answer, which the service's log has too."""
        self.retry_after = retry_after
        """The seconds after which to ask again, if the service said so."""
        self.document = document
        """The document whose processing failed, or was waited for in vain."""
        self.answer = answer
        """The body of a refusal."""


class BadRequestError(HoldfastError):
    """400 and 422: the request is not valid, or cannot be served as it is."""


class AuthenticationError(HoldfastError):
    """401: the credential is missing, wrong, revoked or expired."""


class PermissionDeniedError(HoldfastError):
    """403: the caller may not do this."""


class NotFoundError(HoldfastError):
    """404: it does not exist, or is out of the caller's reach."""


class ConflictError(HoldfastError):
    """409 and 412: it was changed meanwhile, or its state does not allow this."""


class RateLimitError(HoldfastError):
    """429: too many requests, or a budget is used up."""


class ServerError(HoldfastError):
    """5xx: the service, or something that it needs, is out of order."""


class ConnectionError(HoldfastError, builtins.ConnectionError):
    """No answer: a wrong address, no network, or a connection that broke. `__cause__` has what httpx raised."""


class WaitTimeoutError(HoldfastError, TimeoutError):
    """`timeout` was over before the document was ready. It is still processed."""


_CLASSES: dict[int, Type[HoldfastError]] = {
    400: BadRequestError,
    401: AuthenticationError,
    403: PermissionDeniedError,
    404: NotFoundError,
    409: ConflictError,
    412: ConflictError,
    422: BadRequestError,
    429: RateLimitError,
}


def refusal_of(response: httpx.Response) -> HoldfastError:
    """The error that a refusal becomes. Its body must have been read."""
    answer: Any
    try:
        answer = response.json()
    except ValueError:
        # What a proxy in between answers is often no JSON.
        answer = response.text
    status = response.status_code
    body = answer if isinstance(answer, dict) else {}
    error = body["error"] if isinstance(body.get("error"), dict) else {}
    told = _text(error.get("message")) or _text(body.get("detail"))
    kind = _CLASSES.get(status, ServerError if status >= 500 else HoldfastError)
    return kind(
        told or f"{status}: {(answer if isinstance(answer, str) else json.dumps(answer))[:500]}",
        status=status,
        code=_text(error.get("code")) or _text(body.get("code")),
        param=_text(error.get("param")),
        doc_url=_text(error.get("doc_url")),
        request_id=response.headers.get("x-request-id"),
        retry_after=asked_seconds(response) or None,
        answer=answer,
    )


def asked_seconds(response: httpx.Response) -> float:
    """How long the service asks to wait; 0 if it does not say."""
    try:
        return max(0.0, float(response.headers.get("retry-after", "0")))
    except ValueError:
        return 0.0


def _text(value: Any) -> Optional[str]:
    return value if isinstance(value, str) else None
