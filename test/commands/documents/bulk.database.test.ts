import { beforeEach, describe, expect, it } from "vitest";
import type { Caller } from "../../../src/commands/caller.ts";
import { acceptUpload } from "../../../src/commands/documents/accept-upload.ts";
import { deleteDocuments } from "../../../src/commands/documents/delete-documents.ts";
import { moveDocuments } from "../../../src/commands/documents/move-documents.ts";
import { newId } from "../../../src/domain/ids.ts";
import { createFolder } from "../../../src/commands/folders/create-folder.ts";
import type { OrganizationRef } from "../../../src/db/pool.ts";
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
let documentIds: string[];
let folderId: string;
let editor: Caller;
let viewer: Caller;
let parts: DocumentParts;

beforeEach(async () => {
  const shared = await makeSharedSpace(test.db, "editor");
  const { spaceId } = shared;
  ({ organization } = shared);
  parts = documentParts(test.db);
  const maker = await loggedIn(test.db, organization, shared.editorId);
  documentIds = [];
  for (const filename of ["first.md", "second.md"]) {
    const upload = { spaceId, folderId: null, filename, stored: storedMarkdown(organization) };
    documentIds.push((await acceptUpload(parts, maker, upload)).id);
  }
  folderId = (await createFolder(parts, maker, { spaceId, name: "Target", parentFolderId: null })).id;
  editor = await loggedIn(test.db, organization, shared.editorId);
  viewer = await loggedIn(test.db, organization, shared.viewerId);
  parts = documentParts(test.db);
});

const request = (dryRun = false) => ({ documentIds, filters: [], folderIds: null, dryRun });

async function written() {
  const { rows } = await test.db.owner.query(
    `select document.id, document.folder_id, document.deleted_at,
            (select count(*)::int from deletions where target_id = document.id) as deletions
     from documents document
     where document.organization_id = $1
     order by document.id`,
    [organization.id],
  );
  return rows;
}

const commands: [string, action: string, (caller: Caller, dryRun?: boolean) => Promise<unknown>][] = [
  [
    "a move of many",
    "documents:update",
    (caller, dryRun) => moveDocuments(parts, caller, { ...request(dryRun), folderId }),
  ],
  [
    "a deletion of many",
    "documents:delete",
    (caller, dryRun) => deleteDocuments(parts, caller, request(dryRun)),
  ],
];

describe.each(commands)("%s", (_, action, change) => {
  it("writes one audit row a document, with the request of the caller", async () => {
    await expect(change(editor)).resolves.toMatchObject({ total: 2, accepted: 2 });

    const rows = await auditOf(test.db, editor);
    expect(rows).toHaveLength(2);
    expect(rows).toMatchObject([{ action }, { action }]);
  });

  it("of a viewer is refused for each document, and nothing is written", async () => {
    const before = await written();

    await expect(change(viewer)).resolves.toMatchObject({ accepted: 0, rejected: 2 });

    expect(await written()).toEqual(before);
    expect(await auditOf(test.db, viewer)).toEqual([]);
  });

  it("that is dry says the same, and writes nothing", async () => {
    const before = await written();

    await expect(change(editor, true)).resolves.toMatchObject({ total: 2, accepted: 2 });

    expect(await written()).toEqual(before);
    expect(await auditOf(test.db, editor)).toEqual([]);
  });

  it("leaves neither itself nor an audit row if the transaction fails", async () => {
    const before = await written();
    const refused = refusedAtCommit(editor);

    await expect(change(refused)).rejects.toThrow("this commit is refused");

    expect(await written()).toEqual(before);
    expect(await auditOf(test.db, editor)).toEqual([]);
  });
});

describe("filters", () => {
  /** As if the first document had been uploaded so many times more. */
  const multiply = (times: number) =>
    test.db.owner.query(
      `insert into documents overriding system value
       select (jsonb_populate_record(document, jsonb_build_object(
         'id', copy.id,
         'num', nextval(pg_get_serial_sequence('documents', 'num'))
       ))).*
       from documents document, unnest($2::uuid[]) copy(id)
       where document.id = $1`,
      [documentIds[0], Array.from({ length: times }, () => newId())],
    );
  const everything = () => ({
    documentIds: null,
    filters: [
      {
        field: "organization_id",
        jsonKey: null,
        type: "uuid" as const,
        operator: "exact" as const,
        value: organization.id,
      },
    ],
    folderIds: null,
    dryRun: false,
  });

  it("choose up to 10,000 documents, and more are refused by name", async () => {
    await multiply(9_998);

    await expect(moveDocuments(parts, editor, { ...everything(), folderId })).resolves.toEqual({
      total: 10_000,
      accepted: 10_000,
      rejected: 0,
      results: [],
    });
    expect(await auditOf(test.db, editor)).toHaveLength(10_000);
    await multiply(1);
    await expect(deleteDocuments(parts, editor, everything())).rejects.toMatchObject({
      problems: [{ loc: ["body", "filters"] }],
    });
    expect((await written()).every((document) => document.deleted_at === null)).toBe(true);
  });
});
