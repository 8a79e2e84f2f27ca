"""What the official Python client makes of a running Holdfast: does everything once, and prints what it saw as one JSON object."""

import json
import sys

import openai

base_url, key, agent = sys.argv[1:4]
client = openai.OpenAI(base_url=base_url, api_key=key, max_retries=0)


def ask(text, **options):
    return {"model": agent, "messages": [{"role": "user", "content": text}], **options}


def failure(call):
    try:
        call()
    except openai.APIError as error:
        return {"type": type(error).__name__, "status": getattr(error, "status_code", None), "body": error.body, "message": error.message}
    return None


def streamed(**options):
    chunks = list(client.chat.completions.create(**ask("one two", stream=True, **options)))
    return {
        "role": chunks[0].choices[0].delta.role,
        "content": "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices),
        "finish_reason": [chunk.choices[0].finish_reason for chunk in chunks if chunk.choices][-1],
        "usage": chunks[-1].usage.to_dict() if chunks[-1].usage else None,
    }


def broken_stream():
    for _chunk in client.chat.completions.create(**ask("break off", stream=True)):
        pass


raw = client.chat.completions.with_raw_response.create(**ask("one two"))
whole = client.chat.completions.create(**ask("one two", temperature=0.5, max_completion_tokens=9, top_p=0.1, seed=3, n=1))
print(
    json.dumps(
        {
            "models": [{"id": model.id, "object": model.object, "name": model.name} for model in client.models.list()],
            "whole": {"content": whole.choices[0].message.content, "finish_reason": whole.choices[0].finish_reason, "usage": whole.usage.to_dict(), "object": whole.object},
            "raw": {"request_id": raw.headers["x-request-id"], "limit": raw.headers["ratelimit-limit"], "content": raw.parse().choices[0].message.content},
            "streamed": streamed(),
            "streamed_with_usage": streamed(stream_options={"include_usage": True}),
            "failures": {
                "unknown model": failure(lambda: client.chat.completions.create(**{**ask("hi"), "model": "gpt-4o"})),
                "no messages": failure(lambda: client.chat.completions.create(model=agent, messages=[])),
                "wrong key": failure(lambda: client.with_options(api_key="sk-" + "x" * 49).models.list()),
                "rate limit": failure(lambda: client.chat.completions.create(**ask("rate limit"))),
                "refusal": failure(lambda: client.with_options(max_retries=2).chat.completions.create(**ask("refuse"))),
                "time-out": failure(lambda: client.chat.completions.create(**ask("time out"))),
                "broken stream": failure(broken_stream),
            },
        }
    )
)
