import { beforeEach, describe, expect, it } from "vitest";
import type { Caller } from "../../../src/commands/caller.ts";
import { createUserFile } from "../../../src/commands/user-files/create-user-file.ts";
import { addFile } from "../../../src/commands/vector-stores/add-file.ts";
import { cancelFileBatch } from "../../../src/commands/vector-stores/cancel-file-batch.ts";
import { createFileBatch } from "../../../src/commands/vector-stores/create-file-batch.ts";
import { createStore } from "../../../src/commands/vector-stores/create-store.ts";
import { deleteStore } from "../../../src/commands/vector-stores/delete-store.ts";
import { noteUse } from "../../../src/commands/vector-stores/note-use.ts";
import { removeFile } from "../../../src/commands/vector-stores/remove-file.ts";
import { updateFile } from "../../../src/commands/vector-stores/update-file.ts";
import { updateStore } from "../../../src/commands/vector-stores/update-store.ts";
import { readTenant, type OrganizationRef } from "../../../src/db/pool.ts";
import { findStore } from "../../../src/db/stores/stores.ts";
import {
  auditOf,
  commandDatabase,
  documentParts,
  type DocumentParts,
  loggedIn,
  makeSharedSpace,
  refusedAtCommit,
  storedMarkdown,
} from "../../support/tenants/commands.ts";

const test = commandDatabase();
let organization: OrganizationRef;
let spaceId: string;
let editor: Caller;
let viewer: Caller;
let parts: DocumentParts;
/** Of the editor: one that is in the store and its batch, and one that is not. */
let fileId: string;
let otherId: string;
let storeId: string;
let batchId: string;

const wanted = (id: string) => ({
  fileId: id,
  attributes: undefined,
  chunking: undefined,
  param: "file_id",
});
const store = (id: string) => ({
  name: "Manuals",
  description: null,
  metadata: { space_id: id },
  chunking: null,
  expiresAfterDays: 1,
  files: [],
});

beforeEach(async () => {
  const shared = await makeSharedSpace(test.db, "editor");
  ({ organization, spaceId } = shared);
  parts = documentParts(test.db);
  const maker = await loggedIn(test.db, organization, shared.editorId);
  const file = () =>
    createUserFile(parts, maker, {
      filename: "note.md",
      purpose: "assistants",
      expiresAfterSeconds: null,
      stored: storedMarkdown(organization),
    });
  [fileId, otherId] = [(await file()).id, (await file()).id];
  storeId = (await createStore(parts, maker, store(spaceId))).id;
  batchId = (await createFileBatch(parts, maker, { storeId, files: [wanted(fileId)] })).id;
  editor = await loggedIn(test.db, organization, shared.editorId);
  viewer = await loggedIn(test.db, organization, shared.viewerId);
  parts = documentParts(test.db);
});

async function written() {
  const { rows } = await test.db.owner.query(
    `select to_jsonb(store) as row from vector_stores store where organization_id = $1
     union all
     select to_jsonb(file) from vector_store_files file where organization_id = $1
     union all
     select to_jsonb(batch) from vector_store_batches batch where organization_id = $1
     union all
     select to_jsonb(document) from documents document where organization_id = $1
     union all
     select to_jsonb(run) from pipeline_runs run where organization_id = $1
     union all
     select to_jsonb(folder) from folders folder where organization_id = $1
     order by 1`,
    [organization.id],
  );
  return rows;
}

const commands: [string, (caller: Caller) => Promise<unknown>][] = [
  ["a new store", (caller) => createStore(parts, caller, store(spaceId))],
  [
    "a new name",
    (caller) =>
      updateStore(parts, caller, {
        id: storeId,
        name: "New",
        metadata: undefined,
        expiresAfterDays: undefined,
      }),
  ],
  ["a deletion", (caller) => deleteStore(parts, caller, { id: storeId, ifMatch: undefined })],
  ["a file", (caller) => addFile(parts, caller, { storeId, file: wanted(otherId) })],
  ["a batch", (caller) => createFileBatch(parts, caller, { storeId, files: [wanted(otherId)] })],
  ["a batch that is cancelled", (caller) => cancelFileBatch(parts, caller, { storeId, batchId })],
  [
    "other attributes",
    (caller) => updateFile(parts, caller, { storeId, fileId, attributes: { year: 2026 } }),
  ],
  ["a file that is removed", (caller) => removeFile(parts, caller, { storeId, fileId })],
];

describe.each(commands)("%s", (_, change) => {
  it("is refused to a viewer of the space, and nothing is written", async () => {
    const before = await written();

    await expect(change(viewer)).rejects.toMatchObject({ code: "permission_denied" });

    expect(await written()).toEqual(before);
    expect(await auditOf(test.db, viewer)).toEqual([]);
  });

  it("leaves neither itself nor an audit row if the transaction fails", async () => {
    const before = await written();
    const refused = refusedAtCommit(editor);

    await expect(change(refused)).rejects.toThrow("this commit is refused");

    expect(await written()).toEqual(before);
    expect(await auditOf(test.db, refused)).toEqual([]);
    expect(parts.dispatcher.wake).not.toHaveBeenCalled();
    expect(parts.dispatcher.wakeDeletions).not.toHaveBeenCalled();
  });

  it("has one audit row of its space, beside that of the file that it copies", async () => {
    await change(editor);

    const rows = await auditOf(test.db, editor);
    const copied = rows.filter(({ action }) => action === "user_files:read");
    expect(rows.filter((row) => !copied.includes(row))).toMatchObject([{ space_id: spaceId }]);
    const isCopy = rows.some(({ action }) => action === "documents:create");
    expect(copied.map(({ resource_id: id }) => id)).toEqual(isCopy ? [otherId] : []);
  });
});

it("a file is in a store once, however often it is put there at the same time", async () => {
  const added = await Promise.all(
    [1, 2, 3].map(() => addFile(parts, editor, { storeId, file: wanted(otherId) })),
  );

  expect(new Set(added.map(({ document_id: id }) => id)).size).toBe(1);
});

it("a key that reads no documents puts none into a store, where others would read them", async () => {
  const { id: second } = await createStore(parts, editor, store(spaceId));
  const { document_id: documentId } = await addFile(parts, editor, { storeId, file: wanted(otherId) });
  const writer = { ...editor, principal: { ...editor.principal, capabilities: new Set(["write"] as const) } };
  const before = await written();
  const add = (id: string) => addFile(parts, writer, { storeId: second, file: wanted(id) });

  await expect(add(documentId)).rejects.toMatchObject({
    reason: "key_out_of_scope",
    message: expect.stringContaining("capability read"),
  });

  expect(await written()).toEqual(before);
  expect((await add(otherId)).id).toBe(otherId);
});

it("a batch with a file that is not the caller's changes nothing", async () => {
  const before = await written();
  const files = [wanted(otherId), { ...wanted(storeId), param: "file_ids[1]" }];

  await expect(createFileBatch(parts, editor, { storeId, files })).rejects.toMatchObject({
    reason: "file_not_found",
    param: "file_ids[1]",
  });

  expect(await written()).toEqual(before);
});

it("chunks are never larger than the model takes", async () => {
  const chunking = { max_chunk_size_tokens: 4_096, chunk_overlap_tokens: 2_048 };
  const file = await addFile(parts, editor, { storeId, file: { ...wanted(otherId), chunking } });

  expect(file.chunking_strategy).toEqual({ type: "static", static: chunking });
  const { rows } = await test.db.owner.query(
    "select chunker_name, chunker_config from pipeline_runs where document_id = $1",
    [file.document_id],
  );
  expect(rows).toEqual([
    { chunker_name: "fixed_tokens", chunker_config: { max_tokens: 256, overlap_tokens: 128 } },
  ]);
});

describe("an expired store", () => {
  const read = () =>
    readTenant(test.db, organization, (sql) => findStore(sql, editor.principal.reach, storeId));

  beforeEach(() =>
    test.db.owner.query(
      "update vector_stores set last_active_at = now() - interval '2 days' where folder_id = $1",
      [storeId],
    ),
  );

  it("takes no files, and is not made live by a search", async () => {
    const file = wanted(otherId);
    await expect(addFile(parts, editor, { storeId, file })).rejects.toMatchObject({ code: "bad_request" });

    await noteUse(parts, editor, (await read())!);

    expect(await read()).toMatchObject({ is_expired: true });
  });

  it("is live again once it is changed", async () => {
    const change = { id: storeId, name: undefined, metadata: undefined, expiresAfterDays: 3 };
    expect(await updateStore(parts, editor, change)).toMatchObject({ status: "in_progress" });

    expect(await read()).toMatchObject({ is_expired: false, expires_after_days: 3 });
  });
});

it("a search puts off the expiry, at most once a minute", async () => {
  const read = async () =>
    (await readTenant(test.db, organization, (sql) => findStore(sql, editor.principal.reach, storeId)))!;
  const before = await read();
  await noteUse(parts, editor, before);
  expect((await read()).last_active_at).toEqual(before.last_active_at);
  await test.db.owner.query(
    "update vector_stores set last_active_at = now() - interval '2 hours' where folder_id = $1",
    [storeId],
  );

  await noteUse(parts, editor, await read());

  expect((await read()).last_active_at.getTime()).toBeGreaterThanOrEqual(before.last_active_at.getTime());
});
