"""Sends requests, and repeats them while the service is not available, with growing pauses."""

from __future__ import annotations

from typing import Any, Callable, Union

import httpx

from .._calls import LONGEST_ASKED, TRY_AGAIN, Call, Policy, address_of, backoff, is_credential
from .._errors import ConnectionError, asked_seconds, refusal_of
from .._runtime import async_sleep

Credential = Union[str, Callable[[], str]]


class AsyncTransport:
    def __init__(self, http: httpx.AsyncClient, base_url: str, credential: Credential, timeout: float) -> None:
        self.http = http
        if not callable(credential) and not is_credential(credential):
            raise ValueError(
                "credential must be an API key, or a function that gives an access token; "
                "this one is missing, empty or no key."
            )
        self._base_url = address_of(base_url)
        self._credential = credential
        self._timeout = timeout

    async def read(self, call: Call, policy: Policy) -> Any:
        """The body of the answer: JSON as objects, anything else as bytes, none as None."""
        response = await self.send(call, policy)
        if not response.content:
            return None
        is_json = "json" in response.headers.get("content-type", "")
        return response.json() if is_json else response.content

    async def send(self, call: Call, policy: Policy, is_stream: bool = False) -> httpx.Response:
        """The first answer that is no refusal. Raises a HoldfastError for any other. A stream is not read yet."""
        counted = 0
        failures = 0
        while True:
            asked = 0.0
            try:
                response = await self._attempt(call, policy, is_stream)
            except httpx.UnsupportedProtocol:
                raise
            except httpx.TransportError as fault:
                policy.deadline.clip(0)
                counted += 1
                if policy.is_over(counted, 0):
                    reason = str(fault) or type(fault).__name__
                    raise ConnectionError(f"The service does not answer ({reason}).") from fault
            else:
                status = response.status_code
                if response.is_success:
                    return response
                asked = asked_seconds(response)
                counted += 0 if policy.counts_silence_only else 1
                is_temporary = status in TRY_AGAIN and status not in policy.throws
                if not is_temporary or policy.is_over(counted, asked):
                    raise refusal_of(response)
            pause = max(min(asked, LONGEST_ASKED), backoff(failures))
            await async_sleep(policy.deadline.clip(pause))
            failures += 1

    async def _attempt(self, call: Call, policy: Policy, is_stream: bool) -> httpx.Response:
        seconds = policy.deadline.clip(self._timeout if call.timeout is None else call.timeout)
        token = self._credential if isinstance(self._credential, str) else self._credential()
        headers = {**call.headers, "authorization": f"Bearer {token}"}
        url = self._base_url + call.path
        timeout = httpx.Timeout(seconds, connect=min(seconds, 10.0))
        if call.form is None:
            request = self.http.build_request(
                call.method, url, params=call.params, json=call.json, headers=headers, timeout=timeout
            )
            response = await self.http.send(request, stream=True)
        else:
            with call.form.open() as file:
                request = self.http.build_request(
                    call.method,
                    url,
                    data=dict(call.form.fields),
                    files={"file": (call.form.name, file)},
                    headers=headers,
                    timeout=timeout,
                )
                response = await self.http.send(request, stream=True)
        if not (is_stream and response.is_success):
            try:
                await response.aread()
            finally:
                await response.aclose()
        return response
