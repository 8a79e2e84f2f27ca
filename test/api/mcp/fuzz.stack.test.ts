/** Generated messages to `/mcp`: each is answered by what the protocol has, and none by an internal error. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { beginMcp, postMcp } from "../../support/clients/mcp-client.ts";
import { onSharedStack } from "../../support/stack/shared-stack.ts";

const shared = onSharedStack();
const RUNS = Number(process.env["FUZZ_RUNS"] ?? 60);
const METHODS = [
  "initialize",
  "ping",
  "tools/list",
  "tools/call",
  "resources/list",
  "resources/templates/list",
  "resources/read",
  "resources/subscribe",
  "resources/unsubscribe",
  "prompts/list",
  "prompts/get",
  "completion/complete",
  "logging/setLevel",
  "notifications/cancelled",
  "notifications/initialized",
  "__proto__",
];
const TOOLS = [
  "search",
  "read_document",
  "list_documents",
  "list_spaces",
  "list_agents",
  "ask_agent",
  "upload_document",
  "reprocess_document",
  "delete_document",
  "constructor",
];
const FIELDS = [
  "query",
  "space_id",
  "space_ids",
  "document_id",
  "cursor",
  "limit",
  "filters",
  "content",
  "name",
  "question",
  "agent_id",
  "metadata",
  "tags",
  "value",
];
const HOSTILE = ["", "\0", "\ud800", "../..", "' or 1=1", "__proto__", "x".repeat(5_000), "MToxOjE"];
const text = fc.oneof(fc.constantFrom(...HOSTILE), fc.string({ unit: "binary", maxLength: 30 }), fc.uuid());
const value = fc.oneof(
  text,
  fc.integer(),
  fc.boolean(),
  fc.constant(null),
  fc.array(text, { maxLength: 2 }),
  fc.dictionary(text, text, { maxKeys: 2 }),
);
const args = fc.dictionary(fc.oneof(fc.constantFrom(...FIELDS), text), value, { maxKeys: 4 });
const uri = fc.oneof(
  text,
  fc.tuple(fc.uuid(), fc.uuid()).map(([a, b]) => `holdfast://spaces/${a}/documents/${b}?cursor=abc`),
);
const params = fc.oneof(
  fc.record({ name: fc.oneof(fc.constantFrom(...TOOLS), text), arguments: args }, { requiredKeys: [] }),
  fc.record({ uri }),
  fc.record({ cursor: text }),
  fc.record({
    ref: fc.oneof(
      fc.record({ type: fc.constant("ref/prompt"), name: fc.constantFrom("ask-agent", "x") }),
      fc.record({
        type: fc.constant("ref/resource"),
        uri: fc.constant("holdfast://spaces/{space_id}/documents/{document_id}"),
      }),
    ),
    argument: fc.record({ name: fc.constantFrom("space_id", "document_id", "agent_id"), value: text }),
  }),
  value,
);
const message = fc.record(
  {
    jsonrpc: fc.constantFrom("2.0", "2.0", "2.0", "1.0"),
    id: fc.oneof(fc.integer(), text, fc.constant(null)),
    method: fc.oneof({ weight: 5, arbitrary: fc.constantFrom(...METHODS) }, { weight: 1, arbitrary: text }),
    params,
  },
  { requiredKeys: ["jsonrpc", "method"] },
);

test("whatever a session is sent is answered in JSON-RPC, and nothing fails inside", async () => {
  const { url } = shared.stack;
  const key = shared.tenants.keys.owner;
  const sessionId = await beginMcp(url, key);
  let inJson = 0;
  await fc.assert(
    fc.asyncProperty(fc.oneof(message, fc.jsonValue({ maxDepth: 3 })), async (body) => {
      const response = await postMcp(url, key, body, { sessionId });
      const answer = await response.text();
      expect([200, 202, 400]).toContain(response.status);
      expect(answer).not.toContain("-32603");
      expect(answer).not.toContain("Internal error");
      const isJson = response.headers.get("content-type")?.includes("json") === true;
      inJson += isJson ? 1 : 0;
      expect(isJson ? JSON.parse(answer).jsonrpc : "2.0").toBe("2.0");
    }),
    { numRuns: RUNS, endOnFailure: true },
  );
  expect(inJson).toBeGreaterThan(0);
}, 120_000);
