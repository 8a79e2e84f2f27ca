"""What a generated Python client makes of a running Holdfast: an upload, a search, a list and a refusal, printed as one JSON object."""

import io
import json
import sys
import time
from uuid import UUID

from holdfast_client import AuthenticatedClient
from holdfast_client.api.chat import models_list
from holdfast_client.api.documents import documents_get, documents_upload
from holdfast_client.api.search import search_hybrid
from holdfast_client.models import DocumentUpload, HybridSearch
from holdfast_client.types import File

base_url, key, space = sys.argv[1:4]
client = AuthenticatedClient(base_url=base_url, token=key)

note = File(payload=io.BytesIO(b"# Puffins\n\nPuffins nest in burrows.\n"), file_name="puffins.md", mime_type="text/markdown")
document = documents_upload.sync(client=client, body=DocumentUpload(file=note, space_id=UUID(space)))
deadline = time.monotonic() + 40
while time.monotonic() < deadline:
    now = documents_get.sync(document.id, client=client)
    status = now.processing_state.pipeline_status
    if str(status) in ("completed", "failed", "cancelled"):
        break
    time.sleep(0.05)

found = search_hybrid.sync(client=client, body=HybridSearch(query="where do puffins nest", space_id=UUID(space)))
models = models_list.sync(client=client)
refused = documents_get.sync_detailed(document.id, client=AuthenticatedClient(base_url=base_url, token="sk-wrong"))
print(
    json.dumps(
        {
            "document": str(document.id),
            "status": str(status),
            "found": [str(hit.document_id) for hit in found.results],
            "models": [str(model.id) for model in models.data],
            "refused": int(refused.status_code),
        }
    )
)
