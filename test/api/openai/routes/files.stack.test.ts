/** Files by OpenAI's client: uploaded once, in no space, and a document in each store. */
import { randomUUID } from "node:crypto";
import { type OpenAI, BadRequestError, NotFoundError, PermissionDeniedError } from "openai";
import { beforeAll, describe, expect, it } from "vitest";
import { call, ended, fileForm, upload } from "../../../support/clients/client.ts";
import { openAi, raised, textFile } from "../../../support/clients/openai.ts";
import { onSharedStack } from "../../../support/stack/shared-stack.ts";
import { until } from "../../../support/until.ts";

const { stack, tenants } = onSharedStack();
const UNKNOWN = `file-${"0".repeat(31)}1`;
const idOf = (uuid: string): string => `file-${uuid.replaceAll("-", "")}`;

let client: OpenAI;
beforeAll(() => {
  client = openAi(stack.url, tenants.keys.owner);
});

describe("a file", () => {
  it("is created, found, listed, downloaded and deleted by every method of the client", async () => {
    const made = await client.files.create({
      file: textFile("Otters sleep.", "otters.md"),
      purpose: "assistants",
    });
    expect(made).toEqual({
      id: expect.stringMatching(/^file-[0-9a-f]{32}$/),
      object: "file",
      bytes: 13,
      created_at: expect.any(Number),
      expires_at: null,
      filename: "otters.md",
      purpose: "assistants",
      status: "processed",
    });
    expect(await client.files.retrieve(made.id)).toEqual(made);
    expect(await client.files.waitForProcessing(made.id)).toEqual(made);
    expect(await (await client.files.content(made.id)).text()).toBe("Otters sleep.");
    const listed = await client.files.list({ purpose: "assistants" });
    expect(listed.data).toContainEqual(made);
    expect((await client.files.list({ purpose: "vision" })).data).toEqual([]);
    expect(await client.files.delete(made.id)).toEqual({ id: made.id, object: "file", deleted: true });
    for (const method of ["retrieve", "content", "delete"] as const)
      expect(await raised(client.files[method](made.id))).toBeInstanceOf(NotFoundError);
  });

  it("is listed page by page in either order", async () => {
    const mine = openAi(stack.url, tenants.keys.editor);
    const ids: string[] = [];
    for (const name of ["one", "two", "three"])
      ids.push((await mine.files.create({ file: textFile(name), purpose: "user_data" })).id);
    const seen: string[] = [];
    for await (const file of mine.files.list({ order: "asc", limit: 2 })) seen.push(file.id);
    expect(seen).toEqual(ids);
    const newest = await mine.files.list({ limit: 1 });
    expect(newest.data.map(({ id }) => id)).toEqual([ids[2]]);
    expect(newest.has_more).toBe(true);
    expect(await raised(mine.files.list({ after: UNKNOWN }))).toMatchObject({ status: 400, param: "after" });
  });

  it("keeps until when it lives", async () => {
    const made = await client.files.create({
      file: textFile("For a day."),
      purpose: "user_data",
      expires_after: { anchor: "created_at", seconds: 86_400 },
    });
    expect(made.expires_at! - made.created_at).toBe(86_400);
    for (const seconds of [3_599, 2_592_001]) {
      const wrong = { anchor: "created_at" as const, seconds };
      const error = await raised(
        client.files.create({ file: textFile("x"), purpose: "user_data", expires_after: wrong }),
      );
      expect(error).toBeInstanceOf(BadRequestError);
      expect(error).toMatchObject({ param: "expires_after.seconds" });
    }
  });

  it("is refused with OpenAI's error: without a purpose, with another one, without a file", async () => {
    const send = (form: FormData) => call(stack.url, tenants.keys.owner, "POST", "/files", form);
    const bare = new FormData();
    bare.set("purpose", "assistants");
    for (const [form, param] of [
      [fileForm("x", "x.md", {}), "purpose"],
      [fileForm("x", "x.md", { purpose: "fun" }), "purpose"],
      [bare, "file"],
    ] as const)
      expect(await send(form)).toMatchObject({
        status: 400,
        body: { detail: expect.any(Array), error: { type: "invalid_request_error", param } },
      });
    expect(await call(stack.url, tenants.keys.viewer, "GET", "/files/nonsense")).toMatchObject({
      status: 404,
      body: { detail: "File not found", error: { code: "file_not_found" } },
    });
  });

  it("is made once for repeats with one Idempotency-Key", async () => {
    const headers = { "idempotency-key": `file-${Date.now()}` };
    const send = () =>
      call(
        stack.url,
        tenants.keys.owner,
        "POST",
        "/files",
        fileForm("Once.", "once.md", { purpose: "assistants" }),
        headers,
      );
    const first = await send();
    expect(first.status).toBe(200);
    expect((await send()).body).toEqual(first.body);
  });
});

describe("somebody else's file", () => {
  it("does not exist for other users, other organizations and narrowed keys", async () => {
    const { id } = await client.files.create({ file: textFile("Mine."), purpose: "assistants" });
    for (const key of [tenants.keys.editor, tenants.keys.rival, tenants.keys.scoped]) {
      const other = openAi(stack.url, key);
      for (const method of ["retrieve", "content", "delete"] as const)
        expect(await raised(other.files[method](id))).toBeInstanceOf(NotFoundError);
      expect((await other.files.list()).data.map((file) => file.id)).not.toContain(id);
    }
    const narrowed = openAi(stack.url, tenants.keys.scoped);
    const own = await narrowed.files.create({ file: textFile("Narrow."), purpose: "assistants" });
    expect((await narrowed.files.list()).data.map((file) => file.id)).toEqual([own.id]);
    expect((await client.files.retrieve(own.id)).id).toBe(own.id);
  });

  it("is shown, not deletable, to whoever reaches a store that has it", async () => {
    const file = await client.files.create({ file: textFile("Shared."), purpose: "assistants" });
    const store = await client.vectorStores.create({
      metadata: { space_id: tenants.spaces.research },
      file_ids: [file.id],
    });
    const viewer = openAi(stack.url, tenants.keys.viewer);
    expect((await viewer.files.retrieve(file.id)).filename).toBe("note.md");
    expect(await (await viewer.files.content(file.id)).text()).toBe("Shared.");
    const editor = openAi(stack.url, tenants.keys.editor);
    for (const other of [viewer, editor])
      expect(await raised(other.files.delete(file.id))).toBeInstanceOf(PermissionDeniedError);
    await client.vectorStores.delete(store.id);
    expect(await raised(viewer.files.retrieve(file.id))).toBeInstanceOf(NotFoundError);
  });
});

it("in the audit log a file of a store is its document, and a file is its user's own for that user alone", async () => {
  const { viewer, owner } = tenants.keys;
  const space = tenants.spaces.research;
  const file = await client.files.create({ file: textFile("Noted."), purpose: "assistants" });
  const store = await client.vectorStores.create({ metadata: { space_id: space }, file_ids: [file.id] });
  const asked = randomUUID();
  const read = async (method: string, path: string, key: string = viewer) => {
    const headers = { authorization: `Bearer ${key}`, "x-request-id": asked };
    await (await fetch(`${stack.url}/v1${path}`, { method, headers })).arrayBuffer();
  };
  await read("GET", `/files/${file.id}`);
  await read("GET", `/files/${file.id}/content`);
  await read("HEAD", `/files/${file.id}/content`);
  await read("GET", `/vector_stores/${store.id}/files/${file.id}`);
  await read("GET", `/files/${file.id}/content`, owner);
  const rows = await until("the last one is in the log", async () => {
    const { rows: found } = await stack.database.db.owner.query<Record<string, string | null>>(
      `select action, resource_type as type, resource_id as id, space_id as space
       from audit_log
       where request_id = $1
       order by at, id`,
      [asked],
    );
    return found.some(({ type }) => type === "user_file") && found;
  });
  const { rows: documents } = await stack.database.db.owner.query<{ id: string }>(
    "select document_id as id from vector_store_files where replace(file_id::text, '-', '') = $1",
    [file.id.replace("file-", "")],
  );
  const known = { action: "documents:read", type: "document", id: documents[0]!.id, space: null };
  const own = { action: "user_files:read", type: "user_file", space: null };
  expect(rows).toEqual([known, { ...known, space }, known, known, { ...own, id: expect.any(String) }]);
});

describe("a document", () => {
  it("is a file under its own id", async () => {
    const document = await upload(
      stack.url,
      tenants.keys.owner,
      tenants.spaces.research,
      "People's own.",
      "own.md",
    );
    await ended(stack.url, tenants.keys.owner, document.id);
    const id = idOf(document.id);
    expect(await client.files.retrieve(id)).toMatchObject({ id, filename: "own.md", status: "processed" });
    expect(await (await client.files.content(id)).text()).toBe("People's own.");
    expect(await raised(openAi(stack.url, tenants.keys.rival).files.retrieve(id))).toBeInstanceOf(
      NotFoundError,
    );
    expect(await raised(openAi(stack.url, tenants.keys.viewer).files.delete(id))).toBeInstanceOf(
      PermissionDeniedError,
    );
    expect(await client.files.delete(id)).toMatchObject({ deleted: true });
    expect((await call(stack.url, tenants.keys.owner, "GET", `/data/${document.id}`)).status).toBe(404);
  });
});

it("deleting a file takes it out of every store that its user may write to", async () => {
  const file = await client.files.create({ file: textFile("In two stores."), purpose: "assistants" });
  const stores = [];
  for (const name of ["first", "second"])
    stores.push(await client.vectorStores.create({ name, file_ids: [file.id] }));
  await Promise.all(
    stores.map(({ id }) => client.vectorStores.files.poll(id, file.id, { pollIntervalMs: 50 })),
  );
  await client.files.delete(file.id);
  for (const { id } of stores) {
    expect((await client.vectorStores.files.list(id)).data).toEqual([]);
    expect((await client.vectorStores.search(id, { query: "two stores" })).data).toEqual([]);
  }
});
