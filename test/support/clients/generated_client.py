"""What a generated Python client makes of a running Holdfast: an upload, a search, a list and a refusal, printed as one JSON object."""

import io
import json
import sys
import time
from uuid import UUID

from holdfast_client import AuthenticatedClient
from holdfast_client.api.chat import get_models
from holdfast_client.api.documents import get_data_by_document_id, post_data_upload
from holdfast_client.api.search import post_data_hybrid_search
from holdfast_client.models import DocumentUpload, HybridSearch
from holdfast_client.types import File

base_url, key, space = sys.argv[1:4]
client = AuthenticatedClient(base_url=base_url, token=key)

note = File(payload=io.BytesIO(b"# Puffins\n\nPuffins nest in burrows.\n"), file_name="puffins.md", mime_type="text/markdown")
document = post_data_upload.sync(client=client, body=DocumentUpload(file=note, space_id=UUID(space)))
deadline = time.monotonic() + 40
while time.monotonic() < deadline:
    now = get_data_by_document_id.sync(document.id, client=client)
    status = now.processing_state.pipeline_status
    if str(status) in ("completed", "failed", "cancelled"):
        break
    time.sleep(0.05)

found = post_data_hybrid_search.sync(client=client, body=HybridSearch(query="where do puffins nest", space_id=UUID(space)))
models = get_models.sync(client=client)
refused = get_data_by_document_id.sync_detailed(document.id, client=AuthenticatedClient(base_url=base_url, token="sk-wrong"))
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
