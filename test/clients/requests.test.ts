/** Tests what the client repeats, and the errors that refusals become, against answers that a test gives. */
import { describe, expect, test } from "vitest";
import {
  AuthenticationError,
  BadRequestError,
  ConflictError,
  ConnectionError,
  HoldfastError,
  NotFoundError,
  PermissionDeniedError,
  RateLimitError,
  ServerError,
  WaitTimeoutError,
  createHoldfast,
} from "../../clients/typescript/src/index.ts";

const FOUND = { query: "q", space_id: "s", total_results: 0, results: [] };
const refusal = (status: number, code: string, headers: Record<string, string> = {}): Response =>
  Response.json(
    {
      detail: "No.",
      error: { message: "No.", type: "t", code, param: "body", doc_url: `/docs/errors/${code}` },
    },
    { status, headers: { "x-request-id": "request-1", ...headers } },
  );
const broken = (): never => {
  throw new TypeError("fetch failed", { cause: new Error("connect ECONNREFUSED") });
};

/** A client whose requests get these answers in turn, and the last one again and again. */
function clientOf(answers: readonly (() => Response)[], maxRetries = 3) {
  const asked: Request[] = [];
  const client = createHoldfast({
    baseUrl: "http://service",
    credential: "sk",
    maxRetries,
    async fetch(input) {
      asked.push(input as Request);
      return answers[Math.min(asked.length, answers.length) - 1]!();
    },
  });
  return { client, asked };
}
const question = { query: "q", spaceId: "s" };
const upload = { file: new Blob(["x"]), filename: "x.md", spaceId: "s" };
const keysOf = (asked: readonly Request[]) => asked.map(({ headers }) => headers.get("idempotency-key"));

describe("errors", () => {
  test.each([
    [400, BadRequestError],
    [401, AuthenticationError],
    [403, PermissionDeniedError],
    [404, NotFoundError],
    [409, ConflictError],
    [410, HoldfastError],
    [412, ConflictError],
    [422, BadRequestError],
    [429, RateLimitError],
    [500, ServerError],
    [503, ServerError],
  ])("%i has a class, and what the answer says", async (status, type) => {
    const { client } = clientOf([() => refusal(status, "some_code", { "retry-after": "7" })], 0);

    const error = await client.search(question).catch((thrown: unknown) => thrown);

    expect(error).toBeInstanceOf(type);
    expect(error).toBeInstanceOf(HoldfastError);
    expect(error).toMatchObject({
      name: type.name,
      status,
      message: "No.",
      code: "some_code",
      param: "body",
      docUrl: "/docs/errors/some_code",
      requestId: "request-1",
      ...(status === 429 ? { retryAfter: 7 } : {}),
    });
  });

  test("an answer that is not the service's is shown", async () => {
    const { client } = clientOf([() => new Response("<h1>Bad Gateway</h1>", { status: 502 })], 0);

    await expect(client.search(question)).rejects.toMatchObject({
      name: "ServerError",
      message: expect.stringContaining("<h1>Bad Gateway</h1>"),
    });
  });
});

describe("repeats", () => {
  test("a search that is refused for a while", async () => {
    const { client, asked } = clientOf([
      () => refusal(429, "rate_limited", { "retry-after": "1" }),
      () => Response.json(FOUND),
    ]);
    const startedAt = Date.now();

    expect(await client.search(question)).toEqual(FOUND);
    expect(asked).toHaveLength(2);
    expect(Date.now() - startedAt).toBeGreaterThanOrEqual(990);
  });

  test("an upload and a question have the same key, and the same body, each time", async () => {
    const answer = { choices: [{ message: { content: "Yes." } }], usage: {} };
    const uploading = clientOf([broken, () => refusal(503, "overloaded"), () => Response.json({ id: "d" })]);
    const asking = clientOf([broken, () => Response.json(answer)]);

    expect(await uploading.client.upload(upload)).toEqual({ id: "d" });
    expect(await asking.client.ask({ agent: "a", question: "Is it?" })).toMatchObject({
      text: "Yes.",
      citations: [],
    });

    expect(keysOf(uploading.asked)).toEqual(Array(3).fill(expect.stringMatching(/^[0-9a-f]{32}$/)));
    expect(new Set(keysOf(uploading.asked)).size).toBe(1);
    expect(new Set(keysOf(asking.asked)).size).toBe(1);
    expect(await asking.asked[1]!.json()).toMatchObject({ messages: [{ role: "user", content: "Is it?" }] });
  });

  test("end after maxRetries, with the last refusal or a ConnectionError", async () => {
    const refused = clientOf([() => refusal(503, "overloaded")], 1);
    const silent = clientOf([broken], 1);

    await expect(refused.client.search(question)).rejects.toMatchObject({ status: 503 });
    await expect(silent.client.search(question)).rejects.toMatchObject({
      name: "ConnectionError",
      message: expect.stringContaining("ECONNREFUSED"),
    });
    expect([refused.asked.length, silent.asked.length]).toEqual([2, 2]);
  });

  test("wait for no month's end: a budget that is used up is an error at once", async () => {
    const { client, asked } = clientOf([
      () => refusal(429, "token_budget_exceeded", { "retry-after": "864000" }),
    ]);

    await expect(client.ask({ agent: "a", question: "?" })).rejects.toMatchObject({ retryAfter: 864_000 });
    expect(asked).toHaveLength(1);
  });

  test("of api are of what reads or has a key, and of nothing else", async () => {
    const busy = (): Response => refusal(503, "overloaded");
    const reading = clientOf([busy, () => Response.json({ id: "me" })]);
    const making = clientOf([busy], 1);
    const keyed = clientOf([busy, () => Response.json({})]);

    expect((await reading.client.api.GET("/v1/me")).data).toEqual({ id: "me" });
    const made = await making.client.api.POST("/v1/spaces", { body: { name: "New" } });
    await keyed.client.api.POST("/v1/data/batch-reprocess", {
      body: { space_id: "s" } as never,
      headers: { "Idempotency-Key": "once" },
    });

    expect(made.response.status).toBe(503);
    expect([reading.asked.length, making.asked.length, keyed.asked.length]).toEqual([2, 1, 2]);
    await expect(clientOf([broken], 0).client.api.GET("/v1/me")).rejects.toBeInstanceOf(ConnectionError);
  });

  test("nothing that answers ends waits and events too", async () => {
    const waiting = clientOf([broken], 1);
    const following = clientOf([broken], 1);

    await expect(waiting.client.uploadAndWait(upload)).rejects.toBeInstanceOf(ConnectionError);
    await expect(following.client.events().next()).rejects.toBeInstanceOf(ConnectionError);
    expect([waiting.asked.length, following.asked.length]).toEqual([2, 2]);
  });
});

describe("lists", () => {
  /** Three pages, before whose second one an entry was added in front. */
  const pages = [["a", "b"], ["b", "c"], ["d"]].map(
    (ids) => () => Response.json({ items: ids.map((id) => ({ id })), total_pages: 3 }),
  );

  test("give each entry of all pages once, and ask for a page when the loop gets there", async () => {
    const { client, asked } = clientOf(pages);
    const seen: [string, number][] = [];

    for await (const { id } of client.documents({ filters: { file_type: "PDF" }, orderBy: ["-created_at"] }))
      seen.push([id, asked.length]);

    expect(seen).toEqual([
      ["a", 1],
      ["b", 1],
      ["c", 2],
      ["d", 3],
    ]);
    expect(asked.map(({ url }) => url.replace("http://service/v1", ""))).toEqual(
      [1, 2, 3].map((page) => `/data/search?page=${page}&limit=100`),
    );
    expect(await asked[0]!.json()).toEqual({ filters: { file_type: "PDF" }, order_by: ["-created_at"] });
  });

  test("name what they list in the path", async () => {
    const { client, asked } = clientOf([() => Response.json({ items: [], total_pages: 0 })]);

    for (const list of [
      client.spaces(),
      client.agents(),
      client.chunks("d"),
      client.versions("d"),
      client.folders("s", { parentFolderId: "f", pageSize: 5 }),
    ])
      expect((await list.next()).done).toBe(true);

    expect(asked.map(({ method, url }) => `${method} ${url.replace("http://service/v1", "")}`)).toEqual([
      "POST /spaces/search?page=1&limit=100",
      "POST /agents/search?page=1&limit=100",
      "GET /data/d/chunks?page=1&limit=100",
      "GET /data/d/versions?page=1&limit=100",
      "GET /folders/space/s?page=1&limit=5&parent_folder_id=f",
    ]);
  });
});

test("a wait that is too long says which document it gave up", async () => {
  const document = { id: "d", processing_state: { pipeline_status: "parsing" } };
  const { client } = clientOf([() => refusal(404, "route_not_found"), () => Response.json(document)]);

  const waiting = client.uploadAndWait({ ...upload, timeoutMs: 50, pollMs: 5 });

  await expect(waiting).rejects.toBeInstanceOf(WaitTimeoutError);
  await expect(waiting).rejects.toMatchObject({ document: { id: "d" } });
});

test("if events cannot be followed, the service holds the question until the state changes", async () => {
  const asked: string[] = [];
  const state = (pipeline_status: string) => ({ id: "d", processing_state: { pipeline_status } });
  const client = createHoldfast({
    baseUrl: "http://service",
    credential: "sk",
    async fetch(input) {
      const { method, url } = input as Request;
      asked.push(`${method} ${url.replace("http://service/v1", "")}`);
      if (url.includes("/events")) return refusal(404, "route_not_found");
      if (method === "POST") return Response.json(state("queued"));
      // All places in which a request may be held are taken.
      if (url.includes("wait") && asked.length < 5) return refusal(429, "too_many_open");
      return Response.json(state(url.includes("wait") ? "completed" : "parsing"));
    },
  });

  expect(await client.uploadAndWait({ ...upload, pollMs: 5 })).toEqual(state("completed"));
  expect(asked).toEqual([
    "GET /events?after=now&limit=1",
    "POST /data/upload",
    "GET /data/d?wait=25",
    "GET /data/d",
    "GET /data/d?wait=25",
  ]);
});

describe("a client", () => {
  test.each([undefined, "", " ", "sk-1\n", null])("is not made with the credential %j", (credential) => {
    expect(() => createHoldfast({ baseUrl: "http://service", credential: credential as never })).toThrow(
      /^credential must be an API key/,
    );
  });

  test.each(["http://service", "http://service/", "http://service/v1", "http://service/v1/"])(
    "asks the same addresses for %s",
    async (baseUrl) => {
      const asked: string[] = [];
      const client = createHoldfast({
        baseUrl,
        credential: "sk",
        fetch: async (input) => {
          asked.push((input as Request).url);
          return Response.json(FOUND);
        },
      });
      await client.search(question);
      expect(asked).toEqual(["http://service/v1/data/hybrid-search"]);
    },
  );
});
