"""The client: upload, search and ask by one call each, events and lists as iterators."""

from __future__ import annotations

from types import TracebackType
from typing import Any, AsyncIterator, Callable, Literal, Mapping, Optional, Sequence, Type, Union, cast

import httpx

from .._answers import Answer, answer_of, conversation
from .._calls import Call, Deadline, FileInput, Form, Policy, given, new_key, upload_fields
from .._errors import HoldfastError, NotFoundError, RateLimitError, WaitTimeoutError
from .._events import ReceivedEvent
from ..types import Agent, ChatMessage, Chunk, Document, Folder, SearchResults, Space, Version
from .events import end_of_log, event_filter, poll_events, stream_events
from .feed import AsyncDocumentFeed, AsyncFollower
from .transport import AsyncTransport, Credential

PAGE_SIZE = 100
HELD_SECONDS = 25
"""How long the service may hold a question for a document until its state changes."""
FIRST_POLL = 0.25
LONGEST_POLL = 5.0


class AsyncHoldfast:
    """A client of Holdfast.

    Requests that can be repeated safely are, after 408, 429, 502, 503, 504 and broken connections: up to
    `max_retries` times, with growing pauses, and no sooner than the service asks for. Whatever is refused raises a
    HoldfastError, of a class for each kind.

    base_url: the address of the service; the `/v1` that OpenAI's clients need may follow
    credential: an API key, or a function that gives an access token for each request; a ValueError without one
    timeout: seconds without a byte after which an attempt is given up
    http_client: replaces the httpx client; whoever gives it closes it
    """

    def __init__(
        self,
        *,
        base_url: str,
        credential: Credential,
        max_retries: int = 3,
        timeout: float = 60.0,
        http_client: Optional[httpx.AsyncClient] = None,
    ) -> None:
        self._owns_http = http_client is None
        # Each wait and each upload takes a connection while it lasts.
        http = http_client or httpx.AsyncClient(limits=httpx.Limits(max_connections=None))
        self._transport = AsyncTransport(http, base_url, credential, timeout)
        self._max_retries = max_retries
        self._policy = Policy(max_retries)
        self._feed = AsyncDocumentFeed(self._transport, max_retries)

    async def __aenter__(self) -> "AsyncHoldfast":
        return self

    async def __aexit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Ends all connections."""
        await self._feed.close()
        if self._owns_http:
            await self._transport.http.aclose()

    async def upload(
        self,
        file: FileInput,
        *,
        space_id: str,
        folder_id: Optional[str] = None,
        metadata: Optional[Mapping[str, Any]] = None,
        tags: Optional[Sequence[str]] = None,
        strict: bool = False,
    ) -> Document:
        """Uploads a file, and returns as soon as it is accepted.

        An upload that is repeated after a fault has the same Idempotency-Key, so it makes only one document.

        file: a path, or a name with bytes or a file that is open for reading bytes
        metadata, tags: become the document's `doc_metadata`, which filters find
        strict: refuses a file that no parser reads (`unsupported_file_type`), and an empty one
        """
        form = Form.of(file, upload_fields(space_id, folder_id, metadata, tags, strict))
        return await self._upload(form, self._policy)

    async def upload_and_wait(
        self,
        file: FileInput,
        *,
        space_id: str,
        folder_id: Optional[str] = None,
        metadata: Optional[Mapping[str, Any]] = None,
        tags: Optional[Sequence[str]] = None,
        strict: bool = False,
        timeout: Optional[float] = None,
        on_state: Optional[Callable[[Document], None]] = None,
    ) -> Document:
        """Uploads a file, and returns when its document is searchable.

        Any number of uploads of a client wait over one stream of events, so waiting uses up no rate limit. If
        processing fails, the HoldfastError has the run's `code` and the `document`; its code is `deleted` if the
        document is deleted meanwhile.

        timeout: seconds after which a WaitTimeoutError is raised; the document is still processed
        on_state: called with the document whenever it was read
        """
        form = Form.of(file, upload_fields(space_id, folder_id, metadata, tags, strict))
        deadline = Deadline(timeout)
        last: Optional[Document] = None
        follower = await self._feed.join(deadline)
        try:
            # Many uploads at once reach the rate limit, and then go on as slowly as it asks for.
            patient = Policy(self._max_retries, counts_silence_only=True, deadline=deadline)
            last = await self._upload(form, patient)
            self._feed.follow(follower, last["id"])
            pause = FIRST_POLL
            while True:
                # An event only says that there is something to see: a later run may have begun since.
                await follower.news(pause, deadline)
                last = await self._read_followed(last["id"], follower, deadline)
                if on_state is not None:
                    on_state(last)
                if _is_ready(last):
                    return last
                pause = min(pause * 1.5, LONGEST_POLL)
        except WaitTimeoutError as error:
            error.document = last
            raise
        finally:
            self._feed.leave(follower)

    async def search(
        self,
        query: str,
        *,
        space_id: Optional[str] = None,
        space_ids: Optional[Sequence[str]] = None,
        filters: Optional[Mapping[str, Any]] = None,
        document_id: Optional[str] = None,
        document_ids: Optional[Sequence[str]] = None,
        folder_id: Optional[str] = None,
        folder_ids: Optional[Sequence[str]] = None,
        limit: Optional[int] = None,
        min_score: Optional[float] = None,
        max_chunks_per_document: Optional[int] = None,
        rerank: Union[bool, Literal["model"], None] = None,
        context: Optional[int] = None,
    ) -> SearchResults:
        """Finds the passages that answer a query best, in one space or in up to 20 (`space_ids`).

        filters: `{"file_type": "PDF", "doc_metadata.year__gte": 2024}`: keys are `field__operator`
        limit: 1 to 100; 10 by default
        rerank: `False` leaves the service's reranker out; `"model"` has its chat model rerank, which costs tokens
        context: 0 to 3: chunks on either side that each result brings as its `context`
        """
        body = given(
            query=query,
            space_id=space_id,
            space_ids=space_ids,
            filters=filters,
            document_id=document_id,
            document_ids=document_ids,
            folder_id=folder_id,
            folder_ids=folder_ids,
            limit=limit,
            min_score=min_score,
            max_chunks_per_document=max_chunks_per_document,
            rerank=rerank,
            context=context,
        )
        found = await self._transport.read(Call("POST", "/v1/data/hybrid-search", json=body), self._policy)
        return cast(SearchResults, found)

    async def ask(
        self,
        question: Optional[str] = None,
        *,
        agent: str,
        messages: Optional[Sequence[ChatMessage]] = None,
        temperature: Optional[float] = None,
        max_tokens: Optional[int] = None,
        timeout: float = 600.0,
    ) -> Answer:
        """Asks an agent, and returns its whole answer. For answers that come in pieces use an OpenAI client.

        A question that is repeated after a fault has the same Idempotency-Key: it is answered and paid once.

        agent: the id of an agent
        messages: the whole conversation, whose last message is the question, in place of `question`
        """
        body = given(
            model=agent,
            messages=conversation(question, messages),
            temperature=temperature,
            max_tokens=max_tokens,
        )
        headers = {"Idempotency-Key": new_key()}
        call = Call("POST", "/v1/chat/completions", json=body, headers=headers, timeout=timeout)
        return answer_of(await self._transport.read(call, self._policy))

    async def events(
        self,
        *,
        after: str = "now",
        types: Optional[Sequence[str]] = None,
        space_id: Optional[str] = None,
        resource_id: Optional[str] = None,
        transport: Literal["stream", "poll"] = "stream",
    ) -> AsyncIterator[ReceivedEvent]:
        """What happens, as it happens: each event once and in its order, also over connections that break.

        It goes on until the loop ends it. A HoldfastError ends it with `cursor_expired` (410) if what comes after
        the cursor is not kept any more, or with 401 if the credential has ended.

        after: the `cursor` of the event to go on after, or `now`
        transport: `poll` asks again and again, for networks in which streams do not get through; it may give some
            events before a cursor once more, with the same ids
        """
        params = event_filter(types, space_id, resource_id)
        # Without a cursor of its own a stream that breaks before its first event could not be gone on with.
        cursor = await end_of_log(self._transport, self._max_retries) if after == "now" else after
        policy = Policy(self._max_retries, counts_silence_only=True)
        follow = poll_events if transport == "poll" else stream_events
        async for event in follow(self._transport, cursor, params, policy):
            yield event

    def documents(
        self, *, filters: Optional[Mapping[str, Any]] = None, order_by: Optional[Sequence[str]] = None
    ) -> AsyncIterator[Document]:
        """All documents that the caller reaches, newest first by default."""
        return self._pages("POST", "/v1/data/search", body=given(filters=filters, order_by=order_by))

    def spaces(
        self, *, filters: Optional[Mapping[str, Any]] = None, order_by: Optional[Sequence[str]] = None
    ) -> AsyncIterator[Space]:
        """All spaces of the caller, newest first by default."""
        return self._pages("POST", "/v1/spaces/search", body=given(filters=filters, order_by=order_by))

    def agents(
        self, *, filters: Optional[Mapping[str, Any]] = None, order_by: Optional[Sequence[str]] = None
    ) -> AsyncIterator[Agent]:
        """All agents that the caller may use, newest first by default."""
        return self._pages("POST", "/v1/agents/search", body=given(filters=filters, order_by=order_by))

    def chunks(self, document_id: str) -> AsyncIterator[Chunk]:
        """The chunks of a document, in its order."""
        return self._pages("GET", f"/v1/data/{document_id}/chunks")

    def versions(self, document_id: str) -> AsyncIterator[Version]:
        """The versions of a document, newest first."""
        return self._pages("GET", f"/v1/data/{document_id}/versions")

    def folders(self, space_id: str, *, parent_folder_id: Optional[str] = None) -> AsyncIterator[Folder]:
        """The folders of a space at the root, or of `parent_folder_id`."""
        params = given(parent_folder_id=parent_folder_id)
        return self._pages("GET", f"/v1/folders/space/{space_id}", params=params)

    async def request(
        self,
        method: str,
        path: str,
        *,
        params: Optional[Mapping[str, Any]] = None,
        json: Any = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> Any:
        """Any other request: `request("GET", "/v1/models")`. It returns JSON as objects, and anything else as bytes.

        What reads is repeated like all other requests, and so is what has an `Idempotency-Key`.
        """
        call = Call(method.upper(), path, params=params or {}, json=json, headers=headers or {})
        return await self._transport.read(call, Policy(self._max_retries if call.is_safe() else 0))

    async def _pages(
        self, method: str, path: str, *, body: Any = None, params: Optional[Mapping[str, Any]] = None
    ) -> AsyncIterator[Any]:
        """Asks for the next page when the loop gets there. Entries that are added meanwhile move others to the
        next page; those are given once."""
        page = 1
        before: "set[Any]" = set()
        while True:
            query = {**(params or {}), "page": page, "limit": PAGE_SIZE}
            found = await self._transport.read(Call(method, path, params=query, json=body), self._policy)
            for item in found["items"]:
                if item.get("id") is None or item["id"] not in before:
                    yield item
            if page >= found["total_pages"]:
                return
            before = {item.get("id") for item in found["items"]}
            page += 1

    async def _upload(self, form: Form, policy: Policy) -> Document:
        headers = {"Idempotency-Key": new_key()}
        call = Call("POST", "/v1/data/upload", form=form, headers=headers)
        return cast(Document, await self._transport.read(call, policy))

    async def _read_followed(self, document_id: str, follower: AsyncFollower, deadline: Deadline) -> Document:
        try:
            if not follower.is_told():
                # The service holds the question until something changes, or answers at once if too many are held.
                try:
                    return await self._read_document(document_id, deadline, wait=HELD_SECONDS)
                except RateLimitError:
                    pass
            return await self._read_document(document_id, deadline)
        except NotFoundError as error:
            # It was there, and is deleted or out of the caller's reach.
            error.code = "deleted"
            follower.alarm()
            raise

    async def _read_document(self, document_id: str, deadline: Deadline, wait: int = 0) -> Document:
        params = {"wait": wait} if wait else {}
        throws = frozenset({429} if wait else ())
        call = Call("GET", f"/v1/data/{document_id}", params=params)
        return cast(Document, await self._transport.read(call, Policy(throws=throws, deadline=deadline)))


def _is_ready(document: Document) -> bool:
    """Raises a HoldfastError with the run's code if processing has failed."""
    state = document["processing_state"]
    status = state.get("pipeline_status")
    if status == "failed" or status == "cancelled":
        error = state.get("error")
        raise HoldfastError(
            error["message"] if error else f"The run was {status}.",
            code=error["code"] if error else status,
            document=document,
        )
    return status == "completed"
