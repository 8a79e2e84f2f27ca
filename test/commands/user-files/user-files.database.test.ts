import { beforeEach, describe, expect, it } from "vitest";
import type { Caller } from "../../../src/commands/caller.ts";
import { createUserFile } from "../../../src/commands/user-files/create-user-file.ts";
import { deleteUserFile } from "../../../src/commands/user-files/delete-user-file.ts";
import { createStore } from "../../../src/commands/vector-stores/create-store.ts";
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
let spaceId: string;
let editor: Caller;
let viewer: Caller;
let parts: DocumentParts;
let fileId: string;

const asked = () => ({
  filename: "note.md",
  purpose: "assistants",
  expiresAfterSeconds: null,
  stored: storedMarkdown(organization),
});

beforeEach(async () => {
  const shared = await makeSharedSpace(test.db, "editor");
  ({ organization, spaceId } = shared);
  parts = documentParts(test.db);
  const maker = await loggedIn(test.db, organization, shared.editorId);
  fileId = (await createUserFile(parts, maker, asked())).id;
  editor = await loggedIn(test.db, organization, shared.editorId);
  viewer = await loggedIn(test.db, organization, shared.viewerId);
});

async function written() {
  const { rows } = await test.db.owner.query(
    `select id, object_key from openai_files where organization_id = $1
     union all
     select id, object_key from raw_files where organization_id = $1 and deleted_at is null
     order by 1`,
    [organization.id],
  );
  return rows;
}

const without = (caller: Caller): Caller => ({
  ...caller,
  principal: { ...caller.principal, capabilities: new Set(["read", "search"]) },
});

const commands: [string, (caller: Caller) => Promise<unknown>][] = [
  ["a new file", (caller) => createUserFile(parts, caller, asked())],
  ["a deletion", (caller) => deleteUserFile(parts, caller, fileId)],
];

describe.each(commands)("%s", (_, change) => {
  it("is refused to a key that may not write, and nothing is written", async () => {
    const before = await written();

    await expect(change(without(editor))).rejects.toMatchObject({ code: "permission_denied" });

    expect(await written()).toEqual(before);
    expect(await auditOf(test.db, editor)).toEqual([]);
  });

  it("leaves neither itself nor an audit row if the transaction fails", async () => {
    const before = await written();
    const refused = refusedAtCommit(editor);

    await expect(change(refused)).rejects.toThrow("this commit is refused");

    expect(await written()).toEqual(before);
    expect(await auditOf(test.db, refused)).toEqual([]);
  });

  it("has one audit row", async () => {
    await change(editor);

    expect(await auditOf(test.db, editor)).toHaveLength(1);
  });
});

it("another user's file does not exist", async () => {
  await expect(deleteUserFile(parts, viewer, fileId)).rejects.toMatchObject({ reason: "file_not_found" });
});

it("a deletion leaves the object to maintenance, which keeps it while a document has it", async () => {
  await createStore(parts, editor, {
    name: "Kept",
    description: null,
    metadata: { space_id: spaceId },
    chunking: null,
    expiresAfterDays: null,
    files: [{ fileId, attributes: undefined, chunking: undefined, param: "file_ids[0]" }],
  });
  // The editor is a viewer now: the document is not theirs to delete any more.
  const before = await written();
  const reach = new Map(editor.principal.reach);
  reach.set(spaceId, { ...reach.get(spaceId)!, role: "viewer" });
  await deleteUserFile(parts, { ...editor, principal: { ...editor.principal, reach } }, fileId);

  const left = await written();
  expect(before).toHaveLength(2);
  expect(left).toHaveLength(1);
  const { rows } = await test.db.owner.query(
    `select leased_until < now() - interval '22 hours' as due
     from upload_intents
     where object_key = $1`,
    [left[0]!.object_key],
  );
  expect(rows).toEqual([{ due: true }]);
});
