"""A day with the client without asyncio, printed as one JSON object."""

import json
import sys
from concurrent.futures import ThreadPoolExecutor

from holdfast_client import AuthenticationError, BadRequestError, Holdfast, HoldfastError, NotFoundError
from holdfast_client.types import Document

base_url, key, space, agent, folder = sys.argv[1:6]
seen: "dict[str, object]" = {}

try:
    Holdfast(base_url=base_url, credential="")
    raise AssertionError("a client was made without a credential")
except ValueError as error:
    assert "credential must be an API key" in str(error)

with Holdfast(base_url=f"{base_url}/v1", credential=key) as holdfast:
    start = holdfast.request("GET", "/v1/events", params={"after": "now", "limit": 1})["next_cursor"]
    states: "list[str]" = []
    document = holdfast.upload_and_wait(
        ("herons-sync.md", b"# Herons\n\nHerons stand in shallow water and wait for fish.\n"),
        space_id=space,
        metadata={"project": "sync"},
        tags=["birds"],
        strict=True,
        timeout=60,
        on_state=lambda state: states.append(state["processing_state"].get("pipeline_status", "")),
    )
    seen["document"] = [document["id"], document["doc_metadata"]["project"], states[-1]]

    found = holdfast.search("where do herons wait", space_id=space, filters={"doc_metadata.project": "sync"}, limit=5)
    seen["found"] = sorted({hit["document_id"] for hit in found["results"]})
    answer = holdfast.ask("Where do herons wait?", agent=agent)
    seen["answer"] = [answer.text, len(answer.citations) > 0, answer.usage["completion_tokens"] > 0]

    for event in holdfast.events(after=start, types=["document.completed"]):
        seen["event"] = [event["resource"]["id"], event["cursor"] != start]
        break
    for event in holdfast.events(after=start, types=["document.completed"], transport="poll"):
        seen["polled"] = event["resource"]["id"]
        break

    with open(f"{folder}/sync.txt", "w") as file:
        file.write("One of many.")

    def upload(number: int) -> Document:
        return holdfast.upload_and_wait(f"{folder}/sync.txt", space_id=space, tags=["many-sync"], timeout=60)

    with ThreadPoolExecutor(12) as pool:
        many = {document["id"] for document in pool.map(upload, range(12))}
    listed = {document["id"] for document in holdfast.documents(filters={"doc_metadata.tags__contains": "many-sync"})}
    seen["many"] = [len(many), listed == many]
    seen["chunks"] = [chunk["text"] for chunk in holdfast.chunks(document["id"])]
    seen["spaces"] = [one["name"] for one in holdfast.spaces(order_by=["name"])]

    try:
        holdfast.request("GET", f"/v1/data/{space}")
    except NotFoundError as error:
        seen["not found"] = [error.status, error.code, error.request_id is not None]
    try:
        holdfast.search("anything")
    except BadRequestError as error:
        seen["bad request"] = [error.status, error.param]
    try:
        holdfast.upload_and_wait(("broken.pdf", b"%PDF-1.7 nothing of a PDF"), space_id=space, timeout=60)
    except HoldfastError as error:
        seen["failed"] = [error.status, error.code, error.document is not None]
    try:
        Holdfast(base_url=base_url, credential="sk-wrong").request("GET", "/v1/me")
    except AuthenticationError as error:
        seen["not signed in"] = [error.status, error.code]

print(json.dumps(seen))
