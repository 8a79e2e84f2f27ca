"""Calls every method of `files` and `vector_stores` with the official client."""

import time

import openai
from steps import given, step

args = given()
client = openai.OpenAI(base_url=args["base_url"], api_key=args["key"], max_retries=0)
stranger = client.with_options(api_key=args["other_key"])
scoped = client.with_options(api_key=args["scoped_key"])
stores = client.vector_stores
space = {"space_id": args["space"]}
quick = {"poll_interval_ms": 50}

FOX = "# Foxes\n\nThe fox digs her den under the roots of an old oak.\n"
OWL = "# Owls\n\nThe owl sleeps in the church tower until the bells ring.\n"
EEL = "# Eels\n\nThe eel swims to the Sargasso Sea to spawn.\n"


def note(name, text):
    return (f"{name}.md", text.encode(), "text/markdown")


def page(found):
    return {"data": found.data, "has_more": found.has_more}


def waiting():
    """The file whose embedding the provider refuses for now, when that is known."""
    for _ in range(600):
        (found,) = stores.file_batches.list_files(stopped.id, vector_store_id=store.id).data
        if found.to_dict().get("waiting_for"):
            return stores.files.retrieve(found.id, vector_store_id=store.id)
        time.sleep(0.05)
    raise TimeoutError("it does not wait")


# Files
fox = step("files.create", lambda: client.files.create(file=note("fox", FOX), purpose="assistants"))
expiring = step("files.create expires_after", lambda: client.files.create(file=note("short", EEL), purpose="user_data", expires_after={"anchor": "created_at", "seconds": 3600}))
owl = step("files.create another", lambda: client.files.create(file=note("owl", OWL), purpose="assistants"))
step("files.retrieve", lambda: client.files.retrieve(fox.id))
step("files.content", lambda: client.files.content(fox.id).read().decode())
step("files.wait_for_processing", lambda: client.files.wait_for_processing(fox.id, poll_interval=0.05, max_wait_seconds=30))
step("files.list", lambda: [one.id for one in client.files.list(limit=1)])
step("files.list asc", lambda: [one.id for one in client.files.list(order="asc", limit=100)])
step("files.list purpose", lambda: [one.id for one in client.files.list(purpose="user_data")])
step("files.list page", lambda: page(client.files.list(limit=2, after=owl.id)))
step("files.list of another", lambda: [one.id for one in stranger.files.list()])
step("files.retrieve of another", lambda: stranger.files.retrieve(fox.id))
step("files.content of another", lambda: stranger.files.content(fox.id))
step("files.retrieve unknown", lambda: client.files.retrieve("file-nothing"))
step("files.create wrong purpose", lambda: client.files.create(file=note("fox", FOX), purpose="nonsense"))
step("files.delete", lambda: client.files.delete(expiring.id))
step("files.retrieve deleted", lambda: client.files.retrieve(expiring.id))

# Stores
store = step("vector_stores.create", lambda: stores.create(name="Animals", file_ids=[fox.id], metadata={**space, "team": "zoo"}, expires_after={"anchor": "last_active_at", "days": 7}, chunking_strategy={"type": "static", "static": {"max_chunk_size_tokens": 400, "chunk_overlap_tokens": 100}}))
step("vector_stores.create private", lambda: stores.create(name="Mine"))
step("vector_stores.create without a space", lambda: scoped.vector_stores.create(name="Nowhere"))
step("vector_stores.create as a viewer", lambda: client.with_options(api_key=args["viewer_key"]).vector_stores.create(metadata=space))
step("vector_stores.files.poll", lambda: stores.files.poll(fox.id, vector_store_id=store.id, **quick))
step("vector_stores.retrieve", lambda: stores.retrieve(store.id))
step("vector_stores.update", lambda: stores.update(store.id, name="Beasts", metadata={**space, "team": "park"}, expires_after=None))
step("vector_stores.list", lambda: [one.id for one in stores.list(limit=1)])
step("vector_stores.list before", lambda: page(stores.list(limit=1, order="asc", before=store.id)))
step("vector_stores.retrieve of another", lambda: stranger.vector_stores.retrieve(store.id))
step("vector_stores.retrieve unknown", lambda: stores.retrieve("vs_nothing"))

# Files of a store
step("vector_stores.files.create", lambda: stores.files.create(store.id, file_id=owl.id, attributes={"kind": "bird", "legs": 2, "awake": False}))
step("vector_stores.files.poll added", lambda: stores.files.poll(owl.id, vector_store_id=store.id, **quick))
step("vector_stores.files.create again", lambda: stores.files.create(store.id, file_id=owl.id))
eel = step("vector_stores.files.upload_and_poll", lambda: stores.files.upload_and_poll(vector_store_id=store.id, file=note("eel", EEL), attributes={"kind": "fish", "legs": 0}, max_wait_seconds=60, **quick))
cat = step("vector_stores.files.upload", lambda: stores.files.upload(vector_store_id=store.id, file=note("cat", "The cat purrs on the warm sill.")))
step("vector_stores.files.poll uploaded", lambda: stores.files.poll(cat.id, vector_store_id=store.id, **quick))
step("vector_stores.files.create_and_poll", lambda: stores.files.create_and_poll(client.files.create(file=note("dog", "The dog guards the gate."), purpose="assistants").id, vector_store_id=store.id, chunking_strategy={"type": "auto"}, attributes={"kind": "dog"}, **quick))
broken = step("vector_stores.files.create_and_poll broken", lambda: stores.files.upload_and_poll(vector_store_id=store.id, file=("broken.pdf", b"%PDF-1.7 nothing that follows", "application/pdf"), **quick))
step("vector_stores.files.retrieve", lambda: stores.files.retrieve(owl.id, vector_store_id=store.id))
step("vector_stores.files.update", lambda: stores.files.update(owl.id, vector_store_id=store.id, attributes={"kind": "owl", "legs": 2}))
step("vector_stores.files.list", lambda: [one.id for one in stores.files.list(store.id, limit=2)])
step("vector_stores.files.list failed", lambda: [one.id for one in stores.files.list(store.id, filter="failed")])
step("vector_stores.files.list completed", lambda: [one.id for one in stores.files.list(store.id, filter="completed", order="asc")])
step("vector_stores.files.content", lambda: [one.to_dict() for one in stores.files.content(fox.id, vector_store_id=store.id)])
step("vector_stores.files.create too many attributes", lambda: stores.files.create(store.id, file_id=fox.id, attributes={f"key {number}": "x" for number in range(17)}))
step("vector_stores.files.update long attribute", lambda: stores.files.update(owl.id, vector_store_id=store.id, attributes={"kind": "x" * 513}))
step("vector_stores.files.create unknown", lambda: stores.files.create(store.id, file_id="file-" + "0" * 32))

# Search
step("vector_stores.search", lambda: [one.to_dict() for one in stores.search(store.id, query="Where does the fox dig her den?", max_num_results=3)])
step("vector_stores.search several", lambda: [one.filename for one in stores.search(store.id, query=["fox den", "eel sea"], max_num_results=10)])
step("vector_stores.search comparison", lambda: [one.filename for one in stores.search(store.id, query="the animal", filters={"type": "eq", "key": "kind", "value": "owl"})])
step("vector_stores.search compound", lambda: sorted(one.filename for one in stores.search(store.id, query="the animal", filters={"type": "or", "filters": [{"type": "eq", "key": "kind", "value": "fish"}, {"type": "and", "filters": [{"type": "gte", "key": "legs", "value": 2}, {"type": "ne", "key": "kind", "value": "dog"}]}]})))
step("vector_stores.search threshold", lambda: [one.score for one in stores.search(store.id, query="fox den oak roots", ranking_options={"ranker": "auto", "score_threshold": 0.2})])
step("vector_stores.search hybrid", lambda: [one.filename for one in stores.search(store.id, query="fox den", ranking_options={"ranker": "none"}, extra_body={"ranking_options": {"ranker": "none", "hybrid_search": {"embedding_weight": 0.2, "text_weight": 0.8}}})])
step("vector_stores.search too many", lambda: stores.search(store.id, query="fox", max_num_results=51))
step("vector_stores.search of another", lambda: stranger.vector_stores.search(store.id, query="fox"))

# Batches
batch = step("vector_stores.file_batches.create", lambda: stores.file_batches.create(store.id, files=[{"file_id": client.files.create(file=note(name, f"The {name} lives in the zoo."), purpose="assistants").id, "attributes": {"kind": name}} for name in ("lion", "lynx")]))
step("vector_stores.file_batches.poll", lambda: stores.file_batches.poll(batch.id, vector_store_id=store.id, **quick))
step("vector_stores.file_batches.retrieve", lambda: stores.file_batches.retrieve(batch.id, vector_store_id=store.id))
step("vector_stores.file_batches.list_files", lambda: [one.to_dict() for one in stores.file_batches.list_files(batch.id, vector_store_id=store.id, limit=1)])
step("vector_stores.file_batches.create_and_poll", lambda: stores.file_batches.create_and_poll(store.id, file_ids=[client.files.create(file=note("bear", "The bear sleeps through the winter."), purpose="assistants").id], attributes={"kind": "bear"}, **quick))
step("vector_stores.file_batches.upload_and_poll", lambda: stores.file_batches.upload_and_poll(store.id, files=[note(name, f"The {name} swims in the river.") for name in ("otter", "beaver", "perch")], **quick))
stopped = step("vector_stores.file_batches.create another", lambda: stores.file_batches.create(store.id, file_ids=[client.files.create(file=note("moth", "The moth flies to the lamp."), purpose="assistants").id]))
step("vector_stores.files.retrieve waiting", waiting)
step("vector_stores.file_batches.cancel", lambda: stores.file_batches.cancel(stopped.id, vector_store_id=store.id))
step("vector_stores.file_batches.poll cancelled", lambda: stores.file_batches.poll(stopped.id, vector_store_id=store.id, **quick))
step("vector_stores.file_batches.create unknown", lambda: stores.file_batches.create(store.id, file_ids=["file-" + "0" * 32]))
step("vector_stores.file_batches.retrieve of another", lambda: stranger.vector_stores.file_batches.retrieve(batch.id, vector_store_id=store.id))
step("vector_stores counts", lambda: stores.retrieve(store.id).file_counts)

# The ends
step("vector_stores.files.delete", lambda: stores.files.delete(owl.id, vector_store_id=store.id))
step("vector_stores.files.retrieve deleted", lambda: stores.files.retrieve(owl.id, vector_store_id=store.id))
step("files.retrieve after its removal from a store", lambda: client.files.retrieve(owl.id))
step("vector_stores.delete", lambda: stores.delete(store.id))
step("vector_stores.retrieve deleted", lambda: stores.retrieve(store.id))
step("vector_stores.files.create in a deleted one", lambda: stores.files.create(store.id, file_id=fox.id))
step("files.delete last", lambda: client.files.delete(fox.id))
step("vector_stores.list unauthorized", lambda: client.with_options(api_key="sk-" + "x" * 49).vector_stores.list())
