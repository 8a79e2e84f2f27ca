"""Runs agents of the OpenAI Agents SDK that search a vector store and have a function."""

import asyncio

import openai
from agents import Agent, FileSearchTool, ModelSettings, OpenAIResponsesModel, Runner, function_tool, set_tracing_disabled
from steps import async_step, given

args = given()
client = openai.AsyncOpenAI(base_url=args["base_url"], api_key=args["key"], max_retries=0)
model = OpenAIResponsesModel(model=args["chat_model"], openai_client=client)
set_tracing_disabled(True)
asked = []


@function_tool
def get_weather(city: str) -> str:
    """The weather of a city."""
    asked.append(city)
    return f"sunny in {city}"


def cited(result):
    """The annotations of the last message, and what the searches found."""
    items = [item.raw_item for item in result.new_items]
    messages = [item for item in items if getattr(item, "type", None) == "message"]
    searches = [item for item in items if getattr(item, "type", None) == "file_search_call"]
    return {
        "output": result.final_output,
        "annotations": [one.to_dict() for message in messages for part in message.content for one in (part.annotations or [])],
        "searches": [search.to_dict() for search in searches],
        "types": [item.type for item in result.new_items],
    }


async def main():
    store = await async_step("vector_stores.create", lambda: client.vector_stores.create(name="For agents", metadata={"space_id": args["space"]}))
    await async_step("upload_and_poll", lambda: client.vector_stores.files.upload_and_poll(vector_store_id=store.id, file=("fox.md", b"# Foxes\n\nThe fox digs her den under the roots of an old oak.\n", "text/markdown"), poll_interval_ms=50))
    search = FileSearchTool(vector_store_ids=[store.id], max_num_results=3, include_search_results=True)
    agent = Agent(name="Ranger", instructions="Answer from the store.", model=model, tools=[search, get_weather])

    async def run(question):
        return cited(await Runner.run(agent, question))

    async def run_streamed(question):
        result = Runner.run_streamed(agent, question)
        types = []
        async for event in result.stream_events():
            types.append(event.data.type if event.type == "raw_response_event" else event.name if event.type == "run_item_stream_event" else event.type)
        return {**cited(result), "events": types}

    async def follow_up():
        first = await Runner.run(agent, "Hello agent")
        second = await Runner.run(agent, "And again", previous_response_id=first.last_response_id)
        return {"output": second.final_output, "sent": len(second.input) if isinstance(second.input, list) else 1}

    await async_step("run with FileSearchTool", lambda: run("Where does the fox dig her den?"))
    await async_step("run with a function", lambda: run("What is the weather in Paris?"))
    await async_step("run_streamed with FileSearchTool", lambda: run_streamed("Where does the fox dig her den?"))
    await async_step("run_streamed with a function", lambda: run_streamed("What is the weather in Paris?"))
    await async_step("run after a response", follow_up)
    holdfast = Agent(name="Holdfast's", model=OpenAIResponsesModel(model=args["agent"], openai_client=client), model_settings=ModelSettings(temperature=0.2))
    await async_step("run by an agent of Holdfast", lambda: _final(holdfast, "Hello agent"))

    async def calls():
        return asked

    await async_step("calls of the function", calls)


async def _final(agent, question):
    return (await Runner.run(agent, question)).final_output


asyncio.run(main())
