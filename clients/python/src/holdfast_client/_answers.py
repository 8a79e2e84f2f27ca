"""The answer of an agent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import List, Optional, Sequence

from .types import Annotation, ChatCompletion, ChatMessage, Citation, Usage


@dataclass(frozen=True)
class Answer:
    text: str
    citations: List[Citation]
    """The sources that the answer cites, each with the number of its mark `[n]`."""
    annotations: List[Annotation]
    """The places of the marks in the text."""
    usage: Usage


def answer_of(completion: ChatCompletion) -> Answer:
    message = completion["choices"][0]["message"]
    return Answer(
        text=message["content"],
        citations=completion.get("citations", []),
        annotations=message.get("annotations", []),
        usage=completion["usage"],
    )


def conversation(question: Optional[str], messages: Optional[Sequence[ChatMessage]]) -> List[ChatMessage]:
    if (question is None) == (messages is None):
        raise TypeError("ask() takes a question or messages, and not both.")
    if question is None:
        return list(messages or ())
    return [{"role": "user", "content": question}]
