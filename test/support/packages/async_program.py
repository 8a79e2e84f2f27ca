"""A day with the client with asyncio, printed as one JSON object."""

import asyncio
import json
import sys

from holdfast_client import AsyncHoldfast, AuthenticationError, BadRequestError, HoldfastError, NotFoundError
from holdfast_client.types import Document

base_url, key, space, agent, folder = sys.argv[1:6]


async def main() -> None:
    seen: "dict[str, object]" = {}
    async with AsyncHoldfast(base_url=base_url, credential=key) as holdfast:
        start = (await holdfast.request("GET", "/v1/events", params={"after": "now", "limit": 1}))["next_cursor"]
        states: "list[str]" = []
        document = await holdfast.upload_and_wait(
            ("herons-async.md", b"# Herons\n\nHerons stand in shallow water and wait for fish.\n"),
            space_id=space,
            metadata={"project": "async"},
            tags=["birds"],
            strict=True,
            timeout=60,
            on_state=lambda state: states.append(state["processing_state"].get("pipeline_status", "")),
        )
        seen["document"] = [document["id"], document["doc_metadata"]["project"], states[-1]]

        found = await holdfast.search("where do herons wait", space_id=space, filters={"doc_metadata.project": "async"}, limit=5)
        seen["found"] = sorted({hit["document_id"] for hit in found["results"]})
        answer = await holdfast.ask("Where do herons wait?", agent=agent)
        seen["answer"] = [answer.text, len(answer.citations) > 0, answer.usage["completion_tokens"] > 0]

        async for event in holdfast.events(after=start, types=["document.completed"]):
            seen["event"] = [event["resource"]["id"], event["cursor"] != start]
            break
        async for event in holdfast.events(after=start, types=["document.completed"], transport="poll"):
            seen["polled"] = event["resource"]["id"]
            break

        with open(f"{folder}/async.txt", "w") as file:
            file.write("One of many.")

        async def upload() -> Document:
            return await holdfast.upload_and_wait(f"{folder}/async.txt", space_id=space, tags=["many-async"], timeout=60)

        many = {document["id"] for document in await asyncio.gather(*(upload() for _ in range(12)))}
        listed = {document["id"] async for document in holdfast.documents(filters={"doc_metadata.tags__contains": "many-async"})}
        seen["many"] = [len(many), listed == many]
        seen["chunks"] = [chunk["text"] async for chunk in holdfast.chunks(document["id"])]
        seen["spaces"] = [one["name"] async for one in holdfast.spaces(order_by=["name"])]

        try:
            await holdfast.request("GET", f"/v1/data/{space}")
        except NotFoundError as error:
            seen["not found"] = [error.status, error.code, error.request_id is not None]
        try:
            await holdfast.search("anything")
        except BadRequestError as error:
            seen["bad request"] = [error.status, error.param]
        try:
            await holdfast.upload_and_wait(("broken.pdf", b"%PDF-1.7 nothing of a PDF"), space_id=space, timeout=60)
        except HoldfastError as error:
            seen["failed"] = [error.status, error.code, error.document is not None]
        try:
            await AsyncHoldfast(base_url=base_url, credential="sk-wrong").request("GET", "/v1/me")
        except AuthenticationError as error:
            seen["not signed in"] = [error.status, error.code]
    print(json.dumps(seen))


asyncio.run(main())
