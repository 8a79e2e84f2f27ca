/**
 * A key that an administrator made for somebody × what that person's login has × every route that takes or
 * lists such things.
 */
import { beforeAll, describe, expect, it, test } from "vitest";
import { API_ROUTES } from "../../src/api/routes/index.ts";
import { type Answer, call, ended, fileForm } from "../support/clients/client.ts";
import { signedIn } from "../support/clients/signed-in.ts";
import { UNKNOWN_ID } from "../support/matrix/requests.ts";
import { RULES_OF_BATCHES, RULES_OF_ROUTES } from "../support/matrix/rules.ts";
import { encodeId } from "../../src/schema/openai/ids.ts";
import { until } from "../support/until.ts";

const CANARY = "canaryofthelogin";
const people = signedIn();
const { stack, tenants } = people;

/** Ids as they are in addresses and bodies: of things that exist, or of ones that do not. */
interface Ids {
  readonly file: string;
  readonly batch: string;
  readonly response: string;
}

const UNKNOWN: Ids = {
  file: encodeId("file", UNKNOWN_ID),
  batch: UNKNOWN_ID,
  response: encodeId("response", UNKNOWN_ID),
};

type Request = (ids: Ids) => { readonly path: string; readonly body?: unknown };

let storeId: string;
let folderId: string;
const inputFile = (id: string) => ({ role: "user", content: [{ type: "input_file", file_id: id }] });

/**
 * One request for each way in which a route takes the id of a thing that belongs to a person; those that
 * would remove it are the last.
 */
const TAKING: Readonly<Record<string, Request>> = {
  "GET /v1/files/:file_id": ({ file }) => ({ path: `/files/${file}` }),
  "GET /v1/files/:file_id/content": ({ file }) => ({ path: `/files/${file}/content` }),
  "POST /v1/vector_stores": ({ file }) => ({
    path: "/vector_stores",
    body: { name: "Taken", file_ids: [file], metadata: { space_id: tenants.spaces.research } },
  }),
  "POST /v1/vector_stores/:vector_store_id/files": ({ file }) => ({
    path: `/vector_stores/${storeId}/files`,
    body: { file_id: file },
  }),
  "POST /v1/vector_stores/:vector_store_id/file_batches": ({ file }) => ({
    path: `/vector_stores/${storeId}/file_batches`,
    body: { file_ids: [file] },
  }),
  "POST /v1/vector_stores/:vector_store_id/file_batches by files": ({ file }) => ({
    path: `/vector_stores/${storeId}/file_batches`,
    body: { files: [{ file_id: file }] },
  }),
  "POST /v1/responses by input_file": ({ file }) => ({
    path: "/responses",
    body: { model: tenants.agents.librarian, input: [inputFile(file)] },
  }),
  "POST /v1/responses by previous_response_id": ({ response }) => ({
    path: "/responses",
    body: { model: tenants.agents.librarian, input: "And?", previous_response_id: response },
  }),
  "GET /v1/responses/:response_id": ({ response }) => ({ path: `/responses/${response}` }),
  "GET /v1/responses/:response_id/input_items": ({ response }) => ({
    path: `/responses/${response}/input_items`,
  }),
  "POST /v1/responses/:response_id/cancel": ({ response }) => ({ path: `/responses/${response}/cancel` }),
  "GET /v1/data/batches/:batch_id": ({ batch }) => ({ path: `/data/batches/${batch}` }),
  "GET /v1/data/batches/:batch_id/results": ({ batch }) => ({ path: `/data/batches/${batch}/results` }),
  "POST /v1/data/batches/:batch_id/pause": ({ batch }) => ({ path: `/data/batches/${batch}/pause` }),
  "POST /v1/data/batches/:batch_id/resume": ({ batch }) => ({ path: `/data/batches/${batch}/resume` }),
  "POST /v1/data/batches/:batch_id/cancel": ({ batch }) => ({ path: `/data/batches/${batch}/cancel` }),
  "DELETE /v1/responses/:response_id": ({ response }) => ({ path: `/responses/${response}` }),
  "DELETE /v1/files/:file_id": ({ file }) => ({ path: `/files/${file}` }),
};

/** Lists whose rows belong to a person. */
const LISTING = ["GET /v1/files", "GET /v1/events", "GET /v1/events/stream"];

/** Routes that are bound to no space, and whose answers have nothing that belongs to a person. */
const OF_NOBODY: Readonly<Record<string, string>> = {
  "POST /mcp": "a session is found by its exact caller; its tools ask the other routes",
  "GET /mcp": "a session is found by its exact caller",
  "DELETE /mcp": "a session is found by its exact caller",
  "GET /v1/models": "agents, in reach",
  "POST /v1/embeddings": "computes",
  "POST /v1/files": "makes the key's own",
  "GET /v1/vector_stores": "folders, in reach",
  "POST /v1/spaces/search": "spaces, in reach",
  "POST /v1/agents/search": "agents, in reach",
  "POST /v1/data/search": "documents, in reach",
  "POST /v1/data/batch-reprocess": "makes the key's own, of documents in reach",
  "POST /v1/data/batch-move": "documents, in reach",
  "POST /v1/data/batch-delete": "documents, in reach",
  "POST /v1/data/hybrid-search": "documents, in reach",
  "POST /v1/data/hybrid-search/compare": "documents, in reach",
  "POST /v1/data/status": "documents, in reach",
  "GET /v1/receipts/jwks": "public keys",
  "POST /v1/receipts/verify": "documents, in reach",
};

const routeOf = (name: string): string => name.replace(/ by .*/, "");

let login: Ids;
let issued: string;

const as = (token: string, name: string, ids: Ids): Promise<Answer> => {
  const { path, body } = TAKING[name]!(ids);
  return call(stack.url, token, name.slice(0, name.indexOf(" ")), path, body);
};

async function madeByLogin(documentId: string): Promise<Ids> {
  const eve = async (method: string, path: string, body?: unknown) => {
    const answer = await people.as("eve", method, path, body);
    expect(answer.status).toBeLessThan(300);
    return answer.body;
  };
  const file = await eve(
    "POST",
    "/files",
    fileForm(`The ${CANARY} sleeps.`, `${CANARY}.md`, { purpose: "user_data" }),
  );
  const batch = await eve("POST", "/data/batch-reprocess", { document_ids: [documentId] });
  const response = await eve("POST", "/responses", { model: tenants.agents.librarian, input: CANARY });
  await until("the batch has ended", async () => {
    const { status } = await eve("GET", `/data/batches/${batch.batch_id}`);
    return status === "completed";
  });
  return { file: file.id, batch: batch.batch_id, response: response.id };
}

beforeAll(async () => {
  const { editor } = tenants.keys;
  const research = { space_id: tenants.spaces.research };
  const uploaded = await call(
    stack.url,
    editor,
    "POST",
    "/data/upload",
    fileForm("Shared.", "s.md", research),
  );
  await ended(stack.url, editor, uploaded.body.id);
  const folder = await call(stack.url, editor, "POST", "/folders", { name: "Store", ...research });
  folderId = folder.body.id;
  storeId = encodeId("vectorStore", folderId);
  login = await madeByLogin(uploaded.body.id);
  const made = await people.as("ada", "POST", `/organizations/${tenants.acme}/api-keys`, {
    name: "issued",
    user_id: people.ids.eve,
  });
  issued = made.body.key;
});

test("every route that a key may ask and that no space bounds is judged here", () => {
  const unbound = Object.entries(RULES_OF_ROUTES)
    .filter(([, { on, key }]) => on === "nothing" && key !== "no key")
    .map(([route]) => route);
  const judged = new Set([...Object.keys(TAKING).map(routeOf), ...LISTING, ...Object.keys(OF_NOBODY)]);
  expect([...unbound, ...Object.keys(RULES_OF_BATCHES)].filter((route) => !judged.has(route))).toEqual([]);
  const known = new Set(
    API_ROUTES.flatMap(({ method, path }) => [`${method} ${path}`, `${method} /v1${path}`]),
  );
  expect([...judged].filter((route) => !known.has(route))).toEqual([]);
});

describe("a key that an administrator made for somebody", () => {
  test.each(Object.keys(TAKING))("finds nothing of the login's by %s", async (name) => {
    const exists = await as(issued, name, login);
    const missing = await as(issued, name, UNKNOWN);

    expect(exists.status).toBeGreaterThanOrEqual(400);
    const shown = Object.values(login).reduce(
      (text, id, at) => text.replaceAll(id, Object.values(UNKNOWN)[at]!),
      JSON.stringify([exists.status, exists.body]),
    );
    expect(shown).toBe(JSON.stringify([missing.status, missing.body]));
  });

  it("left all of it as it was, and the login reaches it", async () => {
    expect((await people.as("eve", "GET", `/files/${login.file}/content`)).status).toBe(200);
    expect((await people.as("eve", "GET", `/responses/${login.response}`)).body.status).toBe("completed");
    expect((await people.as("eve", "GET", `/data/batches/${login.batch}`)).body.status).toBe("completed");
    const contents = await people.as("eve", "GET", `/folders/${folderId}/contents`);
    expect(contents.body.document_count).toBe(0);
  });

  it("lists nothing of the login's", async () => {
    const files = await call(stack.url, issued, "GET", "/files");
    expect(files.body.data).toEqual([]);
    const own = await people.as("eve", "GET", "/files");
    expect(own.body.data.map(({ id }: { id: string }) => id)).toContain(login.file);
    const typesOf = ({ body }: Answer): string[] => body.items.map(({ type }: { type: string }) => type);
    const path = `/events?types=batch.completed&types=turn.completed`;
    await until("the login is told of both", async () => {
      const types = typesOf(await people.as("eve", "GET", path));
      return types.includes("batch.completed") && types.includes("turn.completed");
    });
    expect(typesOf(await call(stack.url, issued, "GET", path))).toEqual([]);
  });

  it("reaches what it made itself, and so does the person's login", async () => {
    const ask = (method: string, path: string, body?: unknown) => call(stack.url, issued, method, path, body);
    const file = await ask("POST", "/files", fileForm("Its own.", "own.md", { purpose: "user_data" }));
    expect((await ask("GET", "/files")).body.data).toEqual([file.body]);
    expect((await ask("GET", `/files/${file.body.id}/content`)).status).toBe(200);
    const stored = await ask("POST", `/vector_stores/${storeId}/files`, { file_id: file.body.id });
    expect(stored.status).toBe(200);
    await ended(stack.url, issued, (await ask("GET", `/folders/${folderId}/contents`)).body.documents[0].id);
    const [document] = (await ask("GET", `/folders/${folderId}/contents`)).body.documents;
    const batch = await ask("POST", "/data/batch-reprocess", { document_ids: [document.id] });
    await until("its batch has ended", async () => {
      const { body } = await ask("GET", `/data/batches/${batch.body.batch_id}`);
      return body.status === "completed";
    });
    await until("it is told of it", async () => {
      const { body } = await ask("GET", "/events?types=batch.completed");
      return body.items.length === 1 && body.items[0].resource.id === batch.body.batch_id;
    });
    expect((await people.as("eve", "GET", `/data/batches/${batch.body.batch_id}`)).status).toBe(200);
    expect((await people.as("eve", "GET", `/files/${file.body.id}`)).status).toBe(200);
    expect((await ask("DELETE", `/files/${file.body.id}`)).status).toBe(200);
  });

  it("reaches them also after its maker is gone, and still nothing else", async () => {
    const { owner } = stack.database.db;
    await owner.query("update users set removed_at = now() where id = $1", [people.ids.ada]);
    try {
      expect((await call(stack.url, issued, "GET", "/files")).body.data).toEqual([]);
    } finally {
      await owner.query("update users set removed_at = null where id = $1", [people.ids.ada]);
    }
  });
});

it("a key that a provisioning file made is the owner's, and reaches what the login has", async () => {
  const listed = await call(stack.url, tenants.keys.editor, "GET", "/files");
  expect(listed.body.data.map(({ id }: { id: string }) => id)).toContain(login.file);
});
