/** Who deletes an object that several rows name: the last of them, and never an earlier one. */
import { beforeEach, describe, expect, it } from "vitest";
import type { Caller } from "../../../src/commands/caller.ts";
import { acceptUpload } from "../../../src/commands/documents/accept-upload.ts";
import { createUserFile } from "../../../src/commands/user-files/create-user-file.ts";
import { deleteUserFile } from "../../../src/commands/user-files/delete-user-file.ts";
import { addFile } from "../../../src/commands/vector-stores/add-file.ts";
import { createStore } from "../../../src/commands/vector-stores/create-store.ts";
import { hideDocuments } from "../../../src/db/deletions/accept.ts";
import { deleteDocumentRows, objectsOf } from "../../../src/db/deletions/purge.ts";
import { looseFiles } from "../../../src/db/deletions/target.ts";
import { exchangeObject, listNamedObjects } from "../../../src/db/encryption/reencrypt.ts";
import { findUnnamed } from "../../../src/db/files/object-names.ts";
import { inTenant, type OrganizationRef, type Sql } from "../../../src/db/pool.ts";
import { requireWithinQuotas } from "../../../src/db/tenancy/storage-quotas.ts";
import { lockExpiredIntents } from "../../../src/db/upkeep/abandoned-uploads.ts";
import { newId } from "../../../src/domain/ids.ts";
import {
  commandDatabase,
  documentParts,
  type DocumentParts,
  loggedIn,
  makeSharedSpace,
  storedMarkdown,
} from "../../support/tenants/commands.ts";

const test = commandDatabase();
let organization: OrganizationRef;
let spaceId: string;
let editor: Caller;
let parts: DocumentParts;
let storeId: string;

const tenant = <T>(work: (sql: Sql) => Promise<T>): Promise<T> => inTenant(test.db, organization, work);
const store = async (): Promise<string> => {
  const asked = { description: null, metadata: { space_id: spaceId }, chunking: null };
  return (await createStore(parts, editor, { ...asked, name: "Store", expiresAfterDays: null, files: [] }))
    .id;
};
const add = async (fileId: string, to = storeId): Promise<string> => {
  const file = { fileId, attributes: undefined, chunking: undefined, param: "file_id" };
  return (await addFile(parts, editor, { storeId: to, file })).document_id;
};
const upload = async () => {
  const stored = storedMarkdown(organization);
  const asked = { filename: "note.md", purpose: "assistants", expiresAfterSeconds: null, stored };
  return { id: (await createUserFile(parts, editor, asked)).id, object: stored.objectKey };
};
/** Deletes the document as its workflow does, and says which objects go with it. */
const purge = async (documentId: string, withRawFile = true): Promise<string[]> => {
  await tenant((sql) => hideDocuments(sql, organization.num, [documentId]));
  const objects = await tenant((sql) => objectsOf(sql, documentId, withRawFile));
  await tenant((sql) => deleteDocumentRows(sql, organization.id, documentId, withRawFile));
  return objects;
};

beforeEach(async () => {
  const shared = await makeSharedSpace(test.db, "editor");
  ({ organization, spaceId } = shared);
  parts = documentParts(test.db);
  editor = await loggedIn(test.db, organization, shared.editorId);
  storeId = await store();
});

describe("the object of a user's file", () => {
  it("stays with the file, however many documents of it are deleted", async () => {
    const { id } = await upload();
    const documents = [await add(id), await add(id, await store())];

    expect(await purge(documents[0]!)).toEqual([]);
    expect(await purge(documents[1]!)).toEqual([]);
  });

  it("goes with the last document once the file is gone", async () => {
    const { id, object } = await upload();
    const documents = [await add(id), await add(id, await store())];
    await tenant((sql) => sql.query("delete from openai_files where id = $1", [id]));

    expect(await purge(documents[0]!)).toEqual([]);
    expect(await purge(documents[1]!)).toEqual([object]);
  });

  it("is deleted by the sweep after the file, unless a document has it", async () => {
    const [alone, used] = [await upload(), await upload()];
    const documentId = await add(used.id);
    await deleteUserFile(parts, editor, alone.id);
    await tenant((sql) =>
      sql.query(
        `with gone as (delete from openai_files where id = $1 returning object_key)
         insert into upload_intents (object_key, organization_id, leased_until)
         select object_key, $2, now() - interval '23 hours' from gone`,
        [used.id, organization.id],
      ),
    );

    const due = await tenant((sql) => lockExpiredIntents(sql, 10));

    expect(documentId).toBeTruthy();
    expect(due.toSorted((one, other) => (one.object_key < other.object_key ? -1 : 1))).toEqual(
      [
        { object_key: alone.object, is_stored: false },
        { object_key: used.object, is_stored: true },
      ].toSorted((one, other) => (one.object_key < other.object_key ? -1 : 1)),
    );
  });

  it("is named for all comparisons of rows with objects, and counts once against the quota", async () => {
    const { id, object } = await upload();
    await add(id);
    await add(id, await store());
    const none = `${organization.id}/none`;

    expect(await tenant((sql) => findUnnamed(sql, [object, none]))).toEqual([none]);
    const bytes = (most: number) =>
      tenant((sql) =>
        requireWithinQuotas(sql, organization.id, {
          documentsPerOrganization: undefined,
          bytesPerOrganization: most,
        }),
      );
    await bytes(5);
    await expect(bytes(4)).rejects.toMatchObject({ reason: "storage_quota_exceeded" });
  });

  it("has one new name everywhere after it was encrypted again", async () => {
    const { id, object } = await upload();
    await add(id);
    await add(id, await store());
    const to = `${organization.id}/${newId()}`;

    expect(await tenant((sql) => exchangeObject(sql, organization.id, { from: object, to }))).toBe(true);

    const page = { after: null, limit: 10 };
    expect(await tenant((sql) => listNamedObjects(sql, organization.id, page))).toEqual([to]);
    const { rows } = await test.db.owner.query(
      `select object_key from raw_files where organization_id = $1
       union select object_key from pipeline_runs where organization_id = $1
       union select object_key from openai_files where organization_id = $1`,
      [organization.id],
    );
    expect(rows).toEqual([{ object_key: to }]);
  });
});

it("the object of a document outlives its raw file while a store has it", async () => {
  const stored = storedMarkdown(organization);
  const document = await acceptUpload(parts, editor, { spaceId, folderId: null, filename: "own.md", stored });
  const borrowed = await add(document.id);
  const { rows } = await test.db.owner.query<{ id: string }>(
    "update raw_files set document_id = null where document_id = $1 returning id",
    [document.id],
  );
  expect(await purge(document.id, false)).toEqual([]);

  const deletion = { id: newId(), kind: "raw_file", target_id: rows[0]!.id } as const;
  expect(await tenant((sql) => looseFiles(sql, deletion, 10))).toEqual([
    { id: rows[0]!.id, object_key: null },
  ]);
  await test.db.owner.query("delete from raw_files where id = $1", [rows[0]!.id]);

  expect(await purge(borrowed)).toEqual([stored.objectKey]);
});
