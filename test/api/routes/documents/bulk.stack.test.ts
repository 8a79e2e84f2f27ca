/** Moving and deleting many documents in one request. */
import { expect, test } from "vitest";
import { newId } from "../../../../src/domain/ids.ts";
import { call, ended, upload } from "../../../support/clients/client.ts";
import { signedIn } from "../../../support/clients/signed-in.ts";

const people = signedIn();
const { stack, tenants } = people;

async function makeSpace(): Promise<string> {
  return (await people.as("ada", "POST", "/spaces", { name: newId() })).body.id;
}

async function makeFolder(spaceId: string, parent: string | null = null): Promise<string> {
  const body = { name: newId(), space_id: spaceId, parent_folder_id: parent };
  return (await people.as("ada", "POST", "/folders", body)).body.id;
}

/** Uploads a document and waits for it, so that its version counts. */
async function put(spaceId: string, folderId: string | null = null): Promise<string> {
  const name = `${newId()}.md`;
  const { id } = await upload(stack.url, tenants.keys.owner, spaceId, `# ${name}\n\nSome words.\n`, name);
  await ended(stack.url, tenants.keys.owner, id);
  if (folderId !== null) await people.as("ada", "PATCH", `/data/${id}`, { folder_id: folderId });
  return id;
}

const folderOf = async (id: string): Promise<string | null> =>
  (await people.as("ada", "GET", `/data/${id}`)).body.folder_id;
const move = (body: object, headers?: Record<string, string>) =>
  people.as("ada", "POST", "/data/batch-move", body, headers);
const remove = (body: object, headers?: Record<string, string>) =>
  people.as("ada", "POST", "/data/batch-delete", body, headers);

/** The types and data of the document's events, oldest first. */
async function eventsOf(id: string): Promise<[string, unknown][]> {
  const { rows } = await stack.database.db.owner.query<{ type: string; data: unknown }>(
    "select type, data from events where resource_id = $1 and type in ('document.moved', 'document.deleted') order by id",
    [id],
  );
  return rows.map(({ type, data }) => [type, data]);
}

test("documents are moved to a folder, each with its event and its audit row", async () => {
  const space = await makeSpace();
  const folder = await makeFolder(space);
  const [first, second, there] = [await put(space), await put(space), await put(space, folder)];
  const before = (await eventsOf(there)).length;
  const { status, body } = await move({ document_ids: [first, second, there], folder_id: folder });
  expect([status, body.total, body.accepted, body.rejected]).toEqual([200, 3, 3, 0]);
  expect(await Promise.all([first, second, there].map(folderOf))).toEqual([folder, folder, folder]);
  expect(await eventsOf(first)).toEqual([
    ["document.moved", { folder_id: folder, previous_folder_id: null }],
  ]);
  expect(await people.audited("documents:update", second)).toMatchObject([{ space_id: space }]);
  expect(await eventsOf(there)).toHaveLength(before);
  await move({ document_ids: [first], folder_id: null });
  expect(await folderOf(first)).toBeNull();
});

test("what cannot be moved is answered with its reason, and stops no other", async () => {
  const [space, other] = [await makeSpace(), await makeSpace()];
  const folder = await makeFolder(space);
  const [mine, elsewhere, unknown] = [await put(space), await put(other), newId()];
  const { body } = await move({
    document_ids: [mine, elsewhere, unknown, "no id", 7, mine],
    folder_id: folder,
  });
  expect(body.results.map((one: { error: { code: string } | null }) => one.error?.code ?? null)).toEqual([
    null,
    "wrong_space",
    "not_found",
    "invalid_id",
    "invalid_id",
  ]);
  expect([body.total, body.accepted, body.rejected]).toEqual([5, 1, 4]);
  expect([await folderOf(mine), await folderOf(elsewhere)]).toEqual([folder, null]);
  expect((await move({ document_ids: [mine], folder_id: newId() })).body.error.code).toBe("folder_not_found");
});

/** Both routes, each with what its body has besides the choice. */
const BOTH = [
  ["/data/batch-move", { folder_id: null }],
  ["/data/batch-delete", {}],
] as const;

test("a viewer moves and deletes nothing, and a stranger does not see that it exists", async () => {
  const space = await makeSpace();
  const id = await put(space);
  await people.as("ada", "PUT", `/spaces/${space}/members/${people.ids.vic}`, { role: "viewer" });
  for (const [path, to] of BOTH) {
    const codeFor = async (who: "vic" | "eve", choice: object): Promise<string | number> => {
      const { body } = await people.as(who, "POST", path, { ...choice, ...to });
      return body.results[0]?.error.code ?? body.total;
    };
    expect(await codeFor("vic", { document_ids: [id] })).toBe("forbidden");
    expect(await codeFor("eve", { document_ids: [id] })).toBe("not_found");
    expect(await codeFor("vic", { filters: { space_id__exact: space } })).toBe(0);
  }
  expect(await folderOf(id)).toBeNull();
});

test("folders stand for all that is below them, narrowed by filters", async () => {
  const space = await makeSpace();
  const outer = await makeFolder(space);
  const inner = await makeFolder(space, outer);
  const target = await makeFolder(space);
  const [beside, above, below] = [await put(space), await put(space, outer), await put(space, inner)];
  const { body: dry } = await move({ folder_ids: [outer], folder_id: target, dry_run: true });
  expect(dry).toEqual({ total: 2, accepted: 2, rejected: 0, results: [] });
  expect(await folderOf(below)).toBe(inner);
  await move({ folder_ids: [outer], filters: { id__exact: below }, folder_id: target });
  expect(await Promise.all([beside, above, below].map(folderOf))).toEqual([null, outer, target]);
  const { body: batch } = await people.as("ada", "POST", "/data/batch-reprocess", { folder_ids: [outer] });
  expect(batch).toMatchObject({ total: 1, accepted: 1 });
});

test("a deletion takes along what its dry run said", async () => {
  const space = await makeSpace();
  const folder = await makeFolder(space);
  const [first, second, kept] = [await put(space), await put(space, folder), await put(space)];
  const choice = { document_ids: [first, second] };
  const dry = await remove({ ...choice, dry_run: true });
  expect(dry.status).toBe(200);
  expect(dry.body).toMatchObject({
    accepted: 2,
    deletion: { documents: 2, versions: 2, chunks: 2, files: 0, folders: 0, agents: 0 },
  });
  expect(await folderOf(first)).toBeNull();
  const { status, body } = await remove(choice);
  expect([status, body]).toEqual([202, dry.body]);
  for (const id of [first, second])
    expect((await people.as("ada", "GET", `/data/${id}`)).body.error.code).toBe("document_not_found");
  expect((await people.as("ada", "GET", `/data/${kept}`)).status).toBe(200);
  expect((await eventsOf(second)).at(-1)).toEqual(["document.deleted", { folder_id: folder }]);
  expect(await people.audited("documents:delete", first)).toMatchObject([{ space_id: space }]);
  const { rows } = await stack.database.db.owner.query(
    "select kind from deletions where target_id = any($1::uuid[])",
    [[first, second]],
  );
  expect(rows).toEqual([{ kind: "document" }, { kind: "document" }]);
  expect((await remove(choice)).body).toMatchObject({ accepted: 0, rejected: 2, deletion: { documents: 0 } });
});

test("a repeat with the same Idempotency-Key gets the first answer", async () => {
  const space = await makeSpace();
  const id = await put(space);
  const headers = { "idempotency-key": newId() };
  const first = await remove({ document_ids: [id] }, headers);
  expect(first.body.accepted).toBe(1);
  expect(await remove({ document_ids: [id] }, headers)).toMatchObject({ status: 202, body: first.body });
});

test("a repeated dry run says again that nothing was deleted", async () => {
  const choice = { document_ids: [await put(await makeSpace())], dry_run: true };
  const headers = { "idempotency-key": newId() };
  const first = await remove(choice, headers);
  expect(first.status).toBe(200);
  expect(await remove(choice, headers)).toMatchObject({ status: 200, body: first.body });
});

test("a key without the capability to write is refused, and so is a request that names nothing", async () => {
  const { body: made } = await people.as("ada", "POST", "/me/api-keys", {
    name: newId(),
    capabilities: ["read"],
  });
  for (const [path, to] of BOTH) {
    const body = { document_ids: [newId()], ...to };
    expect((await call(stack.url, made.key, "POST", path, body)).body.error.code).toBe("key_out_of_scope");
    for (const [wrong, field] of [
      [{}, "document_ids"],
      [{ document_ids: [newId()], filters: { name: "a" } }, "filters"],
      [{ document_ids: [newId()], folder_ids: [newId()] }, "folder_ids"],
      [{ folder_ids: [] }, "folder_ids"],
    ] as const) {
      const answer = await people.as("ada", "POST", path, { ...wrong, ...to });
      expect([answer.status, answer.body.detail[0].loc[1]]).toEqual([422, field]);
    }
  }
});
