/**
 * Tests the client in clients/typescript against a stack: typed requests, and uploads that survive faults of
 * their connection.
 */
import { expect, test } from "vitest";
import { HoldfastError, createHoldfast } from "../../clients/typescript/src/index.ts";
import { onSharedStack } from "../support/stack/shared-stack.ts";

const { stack, tenants } = onSharedStack();

const client = (send: typeof fetch = fetch, baseUrl = `${stack.url}/`) =>
  createHoldfast({ baseUrl, credential: tenants.keys.editor, fetch: send });
const note = (text: string) => new Blob([text], { type: "text/markdown" });

test("uploads, waits, and finds what was uploaded", async () => {
  const { api, uploadAndWait } = client();
  const states: string[] = [];
  const document = await uploadAndWait({
    file: note("# Otters\n\nOtters hold hands while they sleep."),
    filename: "otters.md",
    spaceId: tenants.spaces.research,
    onState: ({ processing_state }) => states.push(processing_state.pipeline_status ?? ""),
  });
  expect(document).toMatchObject({
    doc_metadata: { original_filename: "otters.md" },
    version: 1,
    processing_state: { pipeline_status: "completed" },
  });
  expect(states.at(-1)).toBe("completed");
  const { data } = await api.POST("/v1/data/hybrid-search", {
    body: { query: "sleeping otters", space_id: tenants.spaces.research },
  });
  expect(data?.results[0]?.document_id).toBe(document.id);
  const { error, response } = await api.GET("/v1/data/{document_id}", {
    params: { path: { document_id: "no-id" } },
  });
  expect([response.status, error]).toMatchObject([422, { detail: [{ type: "uuid_parsing" }] }]);
});

test("an upload whose answer is lost, and that is refused for a while, is one document", async () => {
  let attempts = 0;
  const flaky: typeof fetch = async (request, init) => {
    const answer = await fetch(request, init);
    if (!answer.url.endsWith("/data/upload")) return answer;
    attempts += 1;
    if (attempts === 1) throw new TypeError("fetch failed");
    if (attempts === 2)
      return new Response('{"detail":"busy"}', {
        status: 503,
        headers: { "content-type": "application/json", "retry-after": "0" },
      });
    return answer;
  };
  const document = await client(flaky).uploadAndWait({
    file: note("Once only."),
    filename: "once.md",
    spaceId: tenants.spaces.research,
  });
  expect(attempts).toBe(3);
  const { data } = await client().api.POST("/v1/data/search", {
    body: { filters: { "doc_metadata.original_filename": "once.md" } },
  });
  expect(data?.items.map(({ id }) => id)).toEqual([document.id]);
});

test("gives the status and detail of a refusal, and the code of a failed document", async () => {
  const { uploadAndWait } = client();
  const refused = uploadAndWait({
    file: note("x"),
    filename: "x.md",
    spaceId: "01900000-0000-7000-8000-00000000dead",
  });
  await expect(refused).rejects.toMatchObject({
    name: "NotFoundError",
    status: 404,
    code: "space_not_found",
    docUrl: expect.stringMatching(/\/docs\/errors\/space_not_found$/),
    requestId: expect.any(String),
    message: "Space not found",
  });
  const failed = uploadAndWait({
    file: new Blob(["%PDF-1.7 nothing of a PDF"]),
    filename: "broken.pdf",
    spaceId: tenants.spaces.research,
  });
  await expect(failed).rejects.toBeInstanceOf(HoldfastError);
  await expect(failed).rejects.toMatchObject({
    status: undefined,
    code: "corrupt",
    document: { doc_metadata: { original_filename: "broken.pdf" } },
  });
  const given = new AbortController();
  given.abort(new Error("enough"));
  await expect(
    uploadAndWait({
      file: note("y"),
      filename: "y.md",
      spaceId: tenants.spaces.research,
      signal: given.signal,
    }),
  ).rejects.toThrow("enough");
});

test("twenty documents at once use a tenth of the default rate limit", async () => {
  const asked: string[] = [];
  const counting: typeof fetch = (request, init) => {
    asked.push(new URL((request as Request).url).pathname);
    return fetch(request, init);
  };
  const { uploadAndWait } = client(counting);
  const documents = await Promise.all(
    Array.from({ length: 20 }, (_, number) =>
      uploadAndWait({
        file: note(`Note ${number}.`),
        filename: `${number}.md`,
        spaceId: tenants.spaces.research,
      }),
    ),
  );
  expect(new Set(documents.map(({ id }) => id)).size).toBe(20);
  expect(asked.filter((path) => path.endsWith("/events/stream"))).toHaveLength(1);
  expect(asked.length).toBeLessThanOrEqual(60);
});

test("an answer comes in pieces, once, over a stream that breaks off", async () => {
  stack.provider.reset();
  stack.provider.reply({ pieces: ["One", " two", " three"], delayMsBetweenPieces: 400 });
  let connections = 0;
  const cut: typeof fetch = async (request, init) => {
    const answer = await fetch(request, init);
    connections += 1;
    if (connections > 1 || answer.body === null) return answer;
    const reader = answer.body.getReader();
    const beginning = new ReadableStream<Uint8Array>({
      async pull(controller) {
        const { value } = await reader.read();
        if (value === undefined || new TextDecoder().decode(value).includes(" two")) {
          await reader.cancel();
          controller.error(new TypeError("terminated"));
        } else controller.enqueue(value);
      },
    });
    return new Response(beginning, answer);
  };
  const pieces = [];
  const agent = tenants.agents.librarian;
  for await (const piece of client(cut).askInPieces({ agent, question: "Count.", idempotencyKey: "count-1" }))
    pieces.push(piece);
  expect(connections).toBeGreaterThan(1);
  expect(pieces.map(({ text }) => text).join("")).toBe("One two three");
  expect(pieces.map(({ finishReason }) => finishReason)).toContain("stop");
  const cursor = pieces.find(({ text }) => text === "One")?.cursor ?? "";
  const again = client().askInPieces({ agent, question: "Count.", idempotencyKey: "count-1", after: cursor });
  let rest = "";
  for await (const { text } of again) rest += text;
  expect(rest).toBe(" two three");
  expect(stack.provider.requests.filter(({ route }) => route === "chat")).toHaveLength(1);
});
