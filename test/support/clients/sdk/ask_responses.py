"""Calls every method of `responses`, `embeddings` and `models` with the official client."""

import base64
import time

import openai
from pydantic import BaseModel
from steps import given, step

args = given()
client = openai.OpenAI(base_url=args["base_url"], api_key=args["key"], max_retries=0)
stranger = client.with_options(api_key=args["other_key"])
agent = args["agent"]
responses = client.responses

PIXEL = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
WEATHER = {"type": "function", "name": "get_weather", "description": "The weather of a city", "strict": True, "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"], "additionalProperties": False}}


class Animal(BaseModel):
    name: str
    legs: int


class GetWeather(BaseModel):
    city: str


def shown(response):
    return {**response.to_dict(), "output_text": response.output_text}


def until_ended(response):
    for _ in range(600):
        response = responses.retrieve(response.id)
        if response.status not in ("queued", "in_progress"):
            return shown(response)
        time.sleep(0.05)
    raise TimeoutError("it did not end")


def events(stream):
    return [event.to_dict() for event in stream]


# Models
step("models.list", lambda: [one.id for one in client.models.list()])
step("models.retrieve", lambda: client.models.retrieve(agent))
step("models.retrieve unknown", lambda: client.models.retrieve("gpt-4o"))

# Embeddings
step("embeddings.create", lambda: client.embeddings.create(model=args["embedding_model"], input="one fox"))
step("embeddings.create several", lambda: [one.embedding for one in client.embeddings.create(model=args["embedding_model"], input=["one fox", "two owls"], encoding_format="float").data])
step("embeddings.create base64", lambda: client.embeddings.with_raw_response.create(model=args["embedding_model"], input="one fox", encoding_format="base64").http_response.json()["data"][0]["embedding"])
step("embeddings.create unknown model", lambda: client.embeddings.create(model="text-of-nobody", input="one fox"))
step("embeddings.create nothing", lambda: client.embeddings.create(model=args["embedding_model"], input=[]))
step("embeddings.create tokens", lambda: client.embeddings.create(model=args["embedding_model"], input=[[1, 2, 3]]))

# Plain
plain = step("responses.create", lambda: responses.create(model=agent, input="Hello there"))
step("responses.create output_text", lambda: plain.output_text)
step("responses.create items", lambda: shown(responses.create(model=agent, instructions="Be kind.", input=[{"role": "developer", "content": "Be short."}, {"role": "user", "content": [{"type": "input_text", "text": "Hello items"}]}], temperature=0.5, top_p=0.9, max_output_tokens=200, truncation="disabled", metadata={"topic": "greeting"})))
step("responses.create by the configured model", lambda: shown(responses.create(model=args["chat_model"], input="Hello model")))
step("responses.create image", lambda: shown(responses.create(model=args["chat_model"], input=[{"role": "user", "content": [{"type": "input_text", "text": "Hello picture"}, {"type": "input_image", "image_url": PIXEL, "detail": "low"}]}])))
step("responses.create file", lambda: shown(responses.create(model=args["chat_model"], input=[{"role": "user", "content": [{"type": "input_text", "text": "Hello file"}, {"type": "input_file", "filename": "note.txt", "file_data": "data:text/plain;base64," + base64.b64encode(b"A note.").decode()}]}])))
step("responses.retrieve", lambda: responses.retrieve(plain.id))
step("responses.input_items.list", lambda: [one.to_dict() for one in responses.input_items.list(plain.id)])
follow = step("responses.create previous_response_id", lambda: shown(responses.create(model=agent, input="And again", previous_response_id=plain.id)))
step("responses.input_items.list of a follow-up", lambda: [one.to_dict() for one in responses.input_items.list(follow["id"], order="asc", limit=1)])
step("responses.create store false", lambda: responses.retrieve(responses.create(model=agent, input="Forget me", store=False).id))

# Streams
step("responses.create stream", lambda: events(responses.create(model=agent, input="Hello stream", stream=True)))


def streamed():
    with responses.stream(model=agent, input="Hello helper") as stream:
        types = [event.type for event in stream]
        return {"types": types, "final": shown(stream.get_final_response())}


step("responses.stream", streamed)

# Structure
step("responses.parse", lambda: responses.parse(model=agent, input="Name an animal", text_format=Animal).output_parsed.model_dump())
step("responses.create text.format", lambda: shown(responses.create(model=agent, input="Name an animal", text={"format": {"type": "json_schema", "name": "animal", "strict": True, "schema": {"type": "object", "properties": {"name": {"type": "string"}, "legs": {"type": "integer"}}, "required": ["name", "legs"], "additionalProperties": False}}})))
step("responses.create refused schema", lambda: responses.create(model=agent, input="Refuse the schema", text={"format": {"type": "json_schema", "name": "animal", "schema": {"type": "object", "properties": {}}}}))

# Functions
called = step("responses.create function", lambda: responses.create(model=agent, input="What is the weather in Paris?", tools=[WEATHER], parallel_tool_calls=False))
step("responses.create function_call_output", lambda: shown(responses.create(model=agent, previous_response_id=called.id, tools=[WEATHER], input=[{"type": "function_call_output", "call_id": called.output[-1].call_id, "output": "sunny in Paris"}])))
step("responses.create function_call_output stateless", lambda: shown(responses.create(model=agent, tools=[WEATHER], store=False, input=[{"role": "user", "content": "What is the weather in Paris?"}, called.output[-1].to_dict(), {"type": "function_call_output", "call_id": called.output[-1].call_id, "output": "rainy in Paris"}])))
step("responses.create function streamed", lambda: events(responses.create(model=agent, input="What is the weather in Paris?", tools=[WEATHER], stream=True)))
step("responses.create tool_choice", lambda: shown(responses.create(model=agent, input="What is the weather in Paris?", tools=[WEATHER], tool_choice={"type": "function", "name": "get_weather"})))
step("responses.parse function", lambda: responses.parse(model=agent, input="What is the weather in Paris?", tools=[openai.pydantic_function_tool(GetWeather, name="get_weather")]).output[-1].parsed_arguments.model_dump())
step("responses.create output of no call", lambda: responses.create(model=agent, input=[{"type": "function_call_output", "call_id": "call_never", "output": "x"}]))
step("responses.create output of no call after a response", lambda: responses.create(model=agent, previous_response_id=plain.id, input=[{"type": "function_call_output", "call_id": "call_never", "output": "x"}]))

# Search
store = step("vector_stores.create", lambda: client.vector_stores.create(name="For responses", metadata={"space_id": args["space"]}))
step("vector_stores.files.upload_and_poll", lambda: client.vector_stores.files.upload_and_poll(vector_store_id=store.id, file=("fox.md", b"# Foxes\n\nThe fox digs her den under the roots of an old oak.\n", "text/markdown"), attributes={"kind": "fox"}, poll_interval_ms=50))
search = {"type": "file_search", "vector_store_ids": [store.id] if store else [], "max_num_results": 5, "filters": {"type": "eq", "key": "kind", "value": "fox"}}
step("responses.create file_search", lambda: shown(responses.create(model=args["chat_model"], input="Where does the fox dig her den?", tools=[search], include=["file_search_call.results"])))
step("responses.create file_search without results", lambda: shown(responses.create(model=args["chat_model"], input="Where does the fox dig her den?", tools=[search])))
step("responses.create file_search streamed", lambda: events(responses.create(model=args["chat_model"], input="Where does the fox dig her den?", tools=[search], stream=True)))
step("responses.create file_search of another", lambda: stranger.responses.create(model=args["chat_model"], input="Where does the fox dig her den?", tools=[search]))

# Background
begun = step("responses.create background", lambda: responses.create(model=agent, input="Hello background", background=True))
step("responses.retrieve background", lambda: until_ended(begun))


def resumed():
    first, rest = [], []
    for event in responses.create(model=agent, input="Count slowly", background=True, stream=True):
        first.append(event.to_dict())
        if event.type == "response.output_text.delta":
            break
    for event in responses.retrieve(first[0]["response"]["id"], stream=True, starting_after=first[-1]["sequence_number"]):
        rest.append(event.to_dict())
    return {"first": first, "rest": rest}


step("responses.retrieve stream", resumed)
slow = step("responses.create background slow", lambda: responses.create(model=agent, input="Count very slowly", background=True))
step("responses.cancel", lambda: responses.cancel(slow.id))
step("responses.cancel again", lambda: responses.cancel(slow.id))
step("responses.retrieve cancelled", lambda: until_ended(slow))
step("responses.cancel of no background", lambda: responses.cancel(plain.id))

# What is refused
step("responses.create unknown model", lambda: responses.create(model="gpt-of-nobody", input="hi"))
step("responses.create conversation", lambda: responses.create(model=agent, input="hi", conversation="conv_1"))
step("responses.create web_search", lambda: responses.create(model=agent, input="hi", tools=[{"type": "web_search"}]))
step("responses.create previous_response_id of another", lambda: stranger.responses.create(model=args["chat_model"], input="hi", previous_response_id=plain.id))
step("responses.create previous_response_id unknown", lambda: responses.create(model=agent, input="hi", previous_response_id="resp_" + "0" * 32))
step("responses.retrieve of another", lambda: stranger.responses.retrieve(plain.id))
step("responses.create wrong key", lambda: client.with_options(api_key="sk-" + "x" * 49).responses.create(model=agent, input="hi"))
step("responses.create rate limit", lambda: responses.create(model=agent, input="Rate limit"))
step("responses.create bad field", lambda: responses.create(model=agent, input="hi", temperature=9))
step("responses.create refused while streaming", lambda: events(responses.create(model=agent, input="Break off", stream=True)))

# The end
step("responses.delete", lambda: responses.delete(plain.id))
step("responses.retrieve deleted", lambda: responses.retrieve(plain.id))
