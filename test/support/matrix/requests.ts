/**
 * Makes one request for each route of the matrix test. It changes as little as possible if the caller is let
 * through.
 */
import { newId } from "../../../src/domain/ids.ts";
import { fileForm } from "../clients/client.ts";
import { encodeId } from "../../../src/schema/openai/ids.ts";
import type { Things } from "./world.ts";

export const UNKNOWN_ID = "01999999-9999-7999-8999-999999999999";

export interface MatrixRequest {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
}

/** Paths are sent below `/v1`, which this leaves. */
const BESIDE_V1 = "/..";
const MCP_HEADERS = { accept: "application/json, text/event-stream" };

/** An ETag that no resource has: a caller who may change the resource gets 412, and nothing changes. */
const STALE = { "if-match": '"stale"' };
const SPACE_FIELD = (things: Things) => ({ space_id: things["space_id"] });
const text = (spaceId: string | undefined, more: Record<string, string> = {}) =>
  fileForm("A file.", `${newId()}.txt`, { ...(spaceId === undefined ? {} : { space_id: spaceId }), ...more });

const fileIdOf = (things: Things): string => encodeId("file", things["document_id"] ?? UNKNOWN_ID);

const BODIES: Readonly<Record<string, (things: Things) => unknown>> = {
  "POST /v1/files": () => fileForm("A file.", `${newId()}.txt`, { purpose: "assistants" }),
  "POST /v1/vector_stores": (things) => ({ name: newId(), metadata: SPACE_FIELD(things) }),
  "POST /v1/vector_stores/:vector_store_id": () => ({}),
  "POST /v1/vector_stores/:vector_store_id/search": () => ({ query: "stands in the text" }),
  "POST /v1/vector_stores/:vector_store_id/files": (things) => ({ file_id: fileIdOf(things) }),
  "POST /v1/vector_stores/:vector_store_id/files/:file_id": () => ({ attributes: { seen: true } }),
  "POST /v1/vector_stores/:vector_store_id/file_batches": (things) => ({ file_ids: [fileIdOf(things)] }),
  "POST /mcp": () => ({
    jsonrpc: "2.0",
    id: 1,
    method: "initialize",
    params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "matrix", version: "1" } },
  }),
  "POST /v1/embeddings": () => ({ model: "scripted-embedding", input: "A text" }),
  "POST /v1/responses": ({ agent_id: model }) => ({ model, input: "Hello" }),
  "POST /v1/chat/completions": ({ agent_id: model }) => ({
    model,
    messages: [{ role: "user", content: "Hello" }],
  }),
  "POST /v1/spaces/search": () => ({}),
  "POST /v1/spaces": () => ({ name: newId() }),
  "PATCH /v1/spaces/:space_id": () => ({ name: newId() }),
  "PUT /v1/spaces/:space_id/members/:user_id": () => ({ role: "viewer" }),
  "POST /v1/agents/search": () => ({}),
  "POST /v1/agents": (things) => ({ name: newId(), ...SPACE_FIELD(things) }),
  "PATCH /v1/agents/:agent_id": () => ({ description: newId() }),
  "POST /v1/data/upload": ({ space_id: spaceId }) => text(spaceId),
  "POST /v1/data/search": () => ({}),
  "PATCH /v1/data/:document_id": () => ({ doc_metadata: {} }),
  "POST /v1/data/batch-reprocess": ({ document_id: id }) => ({ document_ids: [id] }),
  "POST /v1/data/batch-move": ({ document_id: id }) => ({
    document_ids: [id],
    folder_id: null,
    dry_run: true,
  }),
  "POST /v1/data/batch-delete": ({ document_id: id }) => ({ document_ids: [id], dry_run: true }),
  "POST /v1/data/hybrid-search": (things) => ({
    query: "stands in the text",
    context: 3,
    ...SPACE_FIELD(things),
  }),
  "POST /v1/data/hybrid-search/compare": (things) => ({
    left: { query: "stands in the text", ...SPACE_FIELD(things) },
    right: { query: "stands", rerank: "model", context: 1, ...SPACE_FIELD(things) },
  }),
  "POST /v1/data/status": ({ document_id: id }) => ({ ids: [id] }),
  "POST /v1/receipts/verify": () => ({ receipt: "none" }),
  "POST /v1/spaces/:space_id/data/upload": () => text(undefined, { path: "" }),
  "PATCH /v1/spaces/:space_id/data/rename": () => ({ old_path: "absent.txt", new_path: "gone.txt" }),
  "POST /v1/spaces/:space_id/data/folders": () => ({ path: "made" }),
  "POST /v1/folders": (things) => ({ name: newId(), ...SPACE_FIELD(things) }),
  "POST /v1/folders/ensure": (things) => ({ paths: ["made/once"], ...SPACE_FIELD(things) }),
  "PATCH /v1/folders/:folder_id": () => ({ name: newId() }),
  "POST /v1/me/api-keys": () => ({ name: newId() }),
  "POST /v1/organizations/:organization_id/api-keys": () => ({ name: newId(), user_id: UNKNOWN_ID }),
  "PATCH /v1/organizations/:organization_id": () => ({}),
  "POST /v1/webhooks": (things) => ({ url: "https://receiver.invalid/", ...SPACE_FIELD(things) }),
  "PATCH /v1/webhooks/:webhook_id": () => ({ description: newId() }),
  "POST /v1/webhooks/:webhook_id/replay": () => ({ from: new Date(Date.now() - 60_000).toISOString() }),
  "PUT /v1/organizations/:organization_id/members/:user_id": () => ({
    email: `${newId()}@made.example`,
    name: "Made",
    role: "member",
  }),
};

const QUERIES: Readonly<Record<string, (things: Things) => Record<string, string>>> = {
  "DELETE /v1/spaces/:space_id/data/files": () => ({ path: "absent.txt" }),
  "GET /v1/spaces/:space_id/data/download": (things) => ({ path: things["file_path"] ?? "" }),
};

/** Ids that do not exist, so that the request ends in 404 after authorization. */
const ABSENT: Readonly<Record<string, Things>> = {
  "PUT /v1/spaces/:space_id/members/:user_id": { user_id: UNKNOWN_ID },
  "DELETE /v1/spaces/:space_id/members/:user_id": { user_id: UNKNOWN_ID },
  "POST /v1/data/:document_id/versions/:version/restore": { version: "99" },
  "GET /v1/data/:document_id/pages/:page_number": { page_number: "1" },
  "DELETE /v1/files/:file_id": { file_id: encodeId("file", UNKNOWN_ID) },
  "DELETE /v1/vector_stores/:vector_store_id/files/:file_id": { file_id: encodeId("file", UNKNOWN_ID) },
  "DELETE /v1/me/api-keys/:api_key_id": { api_key_id: UNKNOWN_ID },
  "POST /v1/me/api-keys/:api_key_id/roll": { api_key_id: UNKNOWN_ID },
  "POST /v1/organizations/:organization_id/api-keys/:api_key_id/roll": { api_key_id: UNKNOWN_ID },
  "DELETE /v1/organizations/:organization_id/api-keys/:api_key_id": { api_key_id: UNKNOWN_ID },
  "GET /v1/me/api-keys/:api_key_id/access": { api_key_id: UNKNOWN_ID },
  "GET /v1/organizations/:organization_id/api-keys/:api_key_id/access": { api_key_id: UNKNOWN_ID },
  "GET /v1/organizations/:organization_id/members/:user_id/access": { user_id: UNKNOWN_ID },
  "GET /v1/organizations/:organization_id/members/:user_id/deletion": { user_id: UNKNOWN_ID },
  "DELETE /v1/organizations/:organization_id/members/:user_id": { user_id: UNKNOWN_ID },
  "POST /v1/webhooks/:webhook_id/deliveries/:delivery_id/redeliver": { delivery_id: UNKNOWN_ID },
};

function valuesOf(route: string, things: Things): Things {
  return {
    user_id: newId(),
    model: things["agent_id"] ?? UNKNOWN_ID,
    response_id: encodeId("response", UNKNOWN_ID),
    ...things,
    vector_store_id: encodeId("vectorStore", things["folder_id"] ?? UNKNOWN_ID),
    file_id: fileIdOf(things),
    ...ABSENT[route],
    file_batch_id: encodeId("fileBatch", things["file_batch_id"] ?? UNKNOWN_ID),
  };
}

/** `route` is `METHOD /v1/path/:parameter`. */
export function matrixRequest(route: string, things: Things): MatrixRequest {
  const [method = "", template = ""] = route.split(" ");
  const values = valuesOf(route, things);
  const query = new URLSearchParams(QUERIES[route]?.(things)).toString();
  const path = (template.startsWith("/v1/") ? template.slice(3) : BESIDE_V1 + template).replaceAll(
    /:(\w+)/g,
    (_whole, name: string) => values[name] ?? UNKNOWN_ID,
  );
  const body = BODIES[route]?.(things);
  return {
    method,
    path: query === "" ? path : `${path}?${query}`,
    ...(body === undefined ? {} : { body }),
    headers: {
      ...(["PATCH", "DELETE"].includes(method) && !path.endsWith("/rename") ? STALE : {}),
      ...(path.endsWith("/mcp") ? MCP_HEADERS : {}),
    },
  };
}
