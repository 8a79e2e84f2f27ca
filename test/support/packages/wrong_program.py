"""Each line with `wrong` is one that a type checker refuses, and no other is."""

from holdfast_client import AsyncHoldfast, Holdfast


def main(holdfast: Holdfast) -> None:
    hit = holdfast.search("herons", space_id="01900000-0000-7000-8000-000000000010")["results"][0]
    text: str = hit["text"]
    wrong_type: int = hit["text"]
    wrong_key = hit["txt"]
    holdfast.search(wrong="herons")
    for document in holdfast.documents():
        version: "int | None" = document["version"]
        wrong_version: str = document["version"]
        print(text, wrong_type, wrong_key, version, wrong_version)


async def asynchronous(holdfast: AsyncHoldfast) -> None:
    answer = await holdfast.ask("Where?", agent="01900000-0000-7000-8000-000000000020")
    citations: "list[str]" = [citation["document_name"] for citation in answer.citations]
    wrong_answer: bytes = answer.text
    print(citations, wrong_answer)
