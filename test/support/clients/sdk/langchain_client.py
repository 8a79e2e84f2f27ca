"""Asks through LangChain: chat over responses, embeddings, and the tools of the MCP server."""

import asyncio

from langchain_core.messages import HumanMessage, SystemMessage, ToolMessage
from langchain_core.tools import tool
from langchain_mcp_adapters.client import MultiServerMCPClient
from langchain_mcp_adapters.resources import load_mcp_resources
from langchain_openai import ChatOpenAI, OpenAIEmbeddings
from pydantic import BaseModel
from steps import async_step, given, step

args = given()
common = {"base_url": args["base_url"], "api_key": args["key"], "max_retries": 0}
chat = ChatOpenAI(model=args["agent"], use_responses_api=True, **common)


@tool
def get_weather(city: str) -> str:
    """The weather of a city."""
    return f"sunny in {city}"


class Animal(BaseModel):
    """An animal."""

    name: str
    legs: int


def with_tool():
    model = chat.bind_tools([get_weather])
    messages = [HumanMessage("What is the weather in Paris?")]
    called = model.invoke(messages)
    messages += [called, *[ToolMessage(get_weather.invoke(call["args"]), tool_call_id=call["id"]) for call in called.tool_calls]]
    return {"calls": called.tool_calls, "answer": model.invoke(messages).text}


def streamed():
    text = ""
    for chunk in chat.stream("Hello stream"):
        text += chunk.text
    return text


def continued():
    model = ChatOpenAI(model=args["agent"], use_responses_api=True, use_previous_response_id=True, **common)
    first = model.invoke([HumanMessage("Hello first")])
    return model.invoke([HumanMessage("Hello first"), first, HumanMessage("Hello second")]).text


def searched():
    model = ChatOpenAI(model=args["chat_model"], use_responses_api=True, **common).bind_tools([{"type": "file_search", "vector_store_ids": [args["store"]]}])
    answer = model.invoke("Where does the fox dig her den?")
    return {"text": answer.text, "content": answer.content}


step("ChatOpenAI.invoke", lambda: chat.invoke([SystemMessage("Be kind."), HumanMessage("Hello there")]))
step("ChatOpenAI.invoke text", lambda: chat.invoke("Hello there").text)
step("ChatOpenAI.stream", streamed)
step("ChatOpenAI with a tool", with_tool)
step("ChatOpenAI.with_structured_output", lambda: chat.with_structured_output(Animal, method="json_schema").invoke("Name an animal"))
step("ChatOpenAI use_previous_response_id", continued)
step("ChatOpenAI with file_search", searched)

embeddings = OpenAIEmbeddings(model=args["embedding_model"], check_embedding_ctx_length=False, **common)
step("OpenAIEmbeddings.embed_query", lambda: embeddings.embed_query("one fox"))
step("OpenAIEmbeddings.embed_documents", lambda: embeddings.embed_documents(["one fox", "two owls"]))


async def adapters():
    connection = {"transport": "streamable_http", "url": args["mcp_url"], "headers": {"Authorization": f"Bearer {args['key']}"}}
    servers = MultiServerMCPClient({"holdfast": connection})
    named = {}

    async def tools():
        named.update({one.name: one for one in await servers.get_tools()})
        return sorted(named)

    await async_step("MultiServerMCPClient.get_tools", tools)
    await async_step("search as a tool", lambda: named["search"].ainvoke({"query": "Where does the fox dig her den?", "space_ids": [args["space"]]}))

    async def resources():
        async with servers.session("holdfast") as session:
            return [str(blob.metadata["uri"]) for blob in await load_mcp_resources(session)]

    await async_step("load_mcp_resources", resources)


asyncio.run(adapters())
