"""Uses `/mcp` with the official Python client: the one before version 2 that opens sessions, and the newest."""

import asyncio
import contextlib

import mcp
from mcp.client.streamable_http import streamable_http_client
from steps import async_step, given

IS_NEWEST = hasattr(mcp, "Client")
if IS_NEWEST:
    import httpx2 as http
    import mcp_types as types
else:
    import httpx as http
    from mcp import types

args = given()
NOTE = "# Herons\n\nThe heron stands still in the shallow water for hours.\n"


@contextlib.asynccontextmanager
async def opened(key, **options):
    headers = {} if key is None else {"Authorization": f"Bearer {key}"}
    async with http.AsyncClient(headers=headers, timeout=60) as client:
        transport = streamable_http_client(args["mcp_url"], http_client=client)
        if IS_NEWEST:
            async with mcp.Client(transport, **options) as session:
                yield session
        else:
            async with transport as (read, write, _), mcp.ClientSession(read, write, **options) as session:
                session.opened = await session.initialize()
                yield session


async def pages(method, field):
    """All pages of a list."""
    found, cursor = [], None
    while True:
        if IS_NEWEST:
            page = await method(cursor=cursor)
        else:
            page = await method(params=types.PaginatedRequestParams(cursor=cursor))
        found += getattr(page, field)
        cursor = page.next_cursor if IS_NEWEST else page.nextCursor
        if cursor is None:
            return found


async def refused(key):
    async with opened(key) as session:
        return await session.list_tools()


async def tool_names(key):
    async with opened(key) as session:
        return [tool.name for tool in await pages(session.list_tools, "tools")]


async def value(one):
    return one


async def main():
    changed = asyncio.Event()
    heard = []

    async def hear(message):
        root = getattr(message, "root", message)
        heard.append(type(root).__name__)
        if isinstance(root, types.ResourceUpdatedNotification):
            changed.set()

    async with opened(args["key"], message_handler=hear) as session:
        about = (lambda: {"protocol": session.protocol_version, "server": session.server_info, "instructions": session.instructions}) if IS_NEWEST else (lambda: {"protocol": session.opened.protocolVersion, "server": session.opened.serverInfo, "instructions": session.opened.instructions})
        await async_step("initialize", lambda: value(about()))
        await async_step("ping", session.send_ping)
        await async_step("list_tools", lambda: pages(session.list_tools, "tools"))
        await async_step("list_resource_templates", lambda: pages(session.list_resource_templates, "resource_templates" if IS_NEWEST else "resourceTemplates"))
        await async_step("list_prompts", lambda: pages(session.list_prompts, "prompts"))
        await async_step("list_spaces", lambda: session.call_tool("list_spaces", {}))
        await async_step("list_agents", lambda: session.call_tool("list_agents", {}))
        uploaded = await async_step("upload_document", lambda: session.call_tool("upload_document", {"space_id": args["space"], "name": args["name"], "content": NOTE, "wait_seconds": 60}))
        document = ((uploaded.structured_content if IS_NEWEST else uploaded.structuredContent) or {}).get("document", {}) if uploaded else {}
        await async_step("search", lambda: session.call_tool("search", {"query": "Where does the heron stand?", "space_ids": [args["space"]], "limit": 3}))
        await async_step("list_documents", lambda: session.call_tool("list_documents", {"space_id": args["space"], "name_contains": args["name"]}))
        await async_step("read_document", lambda: session.call_tool("read_document", {"document_id": document["id"]}))
        await async_step("list_resources", lambda: pages(session.list_resources, "resources"))
        await async_step("read_resource", lambda: session.read_resource(document["uri"]))
        await async_step("get_prompt", lambda: session.get_prompt("ask-agent", {"agent_id": args["agent"], "question": "Hello prompt"}))
        await async_step("complete", lambda: session.complete(types.PromptReference(type="ref/prompt", name="ask-agent"), {"name": "agent_id", "value": "pub"}))
        progress = []

        async def on_progress(done, total, message):
            progress.append([done, total, message])

        await async_step("ask_agent", lambda: session.call_tool("ask_agent", {"agent_id": args["agent"], "question": "Hello agent"}, progress_callback=on_progress))
        await async_step("progress", lambda: value(progress))

        async def follow():
            await session.subscribe_resource(document["uri"])
            again = await session.call_tool("reprocess_document", {"document_id": document["id"], "wait_seconds": 60})
            await asyncio.wait_for(changed.wait(), 30)
            await session.unsubscribe_resource(document["uri"])
            return again

        await async_step("subscribe_resource and reprocess_document", follow)
        await async_step("call_tool unknown document", lambda: session.call_tool("read_document", {"document_id": "01900000-0000-7000-8000-00000000ffff"}))
        await async_step("call_tool without its arguments", lambda: session.call_tool("search", {}))
        await async_step("call_tool unknown", lambda: session.call_tool("nothing", {}))
        await async_step("delete_document", lambda: session.call_tool("delete_document", {"document_id": document["id"]}))
        await async_step("read_resource deleted", lambda: session.read_resource(document["uri"]))

    await async_step("tools of a key that only reads", lambda: tool_names(args["reading_key"]))
    await async_step("wrong key", lambda: refused("sk-" + "x" * 49))
    await async_step("no key", lambda: refused(None))


asyncio.run(main())
