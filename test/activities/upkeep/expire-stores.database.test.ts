import { beforeEach, expect, it } from "vitest";
import { expireFiles, expireStores } from "../../../src/activities/upkeep/expire-stores.ts";
import type { Caller } from "../../../src/commands/caller.ts";
import { acceptUpload } from "../../../src/commands/documents/accept-upload.ts";
import { createUserFile } from "../../../src/commands/user-files/create-user-file.ts";
import { createStore } from "../../../src/commands/vector-stores/create-store.ts";
import { inTenant, type OrganizationRef } from "../../../src/db/pool.ts";
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

beforeEach(async () => {
  const shared = await makeSharedSpace(test.db, "editor");
  ({ organization, spaceId } = shared);
  parts = documentParts(test.db);
  editor = await loggedIn(test.db, organization, shared.editorId);
});

const file = async (expiresAfterSeconds: number | null = null): Promise<string> => {
  const asked = { filename: "note.md", purpose: "assistants", expiresAfterSeconds };
  return (await createUserFile(parts, editor, { ...asked, stored: storedMarkdown(organization) })).id;
};
const store = async (fileIds: readonly string[], expiresAfterDays: number | null): Promise<string> => {
  const files = fileIds.map((fileId) => ({
    fileId,
    attributes: undefined,
    chunking: undefined,
    param: "file_ids",
  }));
  const asked = { name: "Store", description: null, metadata: { space_id: spaceId }, chunking: null };
  return (await createStore(parts, editor, { ...asked, expiresAfterDays, files })).id;
};

async function untilNothing(step: typeof expireStores): Promise<number> {
  for (let steps = 0; ; steps += 1)
    if ((await inTenant(test.db, organization, (sql) => step(sql, organization))) === 0) return steps;
}

const liveIn = async (folderId: string): Promise<number> =>
  (await test.db.owner.query("select from documents where folder_id = $1 and deleted_at is null", [folderId]))
    .rowCount!;

it("an expired store loses what came in through its routes, and nothing that people put there", async () => {
  const [expired, lasting] = [await store([await file(), await file()], 1), await store([await file()], 30)];
  const own = await acceptUpload(parts, editor, {
    spaceId,
    folderId: expired,
    filename: "own.md",
    stored: storedMarkdown(organization),
  });
  expect(await untilNothing(expireStores)).toBe(0);
  await test.db.owner.query("update vector_stores set last_active_at = now() - interval '2 days'");

  expect(await untilNothing(expireStores)).toBe(1);

  const { rows } = await test.db.owner.query(
    "select id from documents where folder_id = $1 and deleted_at is null",
    [expired],
  );
  expect(rows).toEqual([{ id: own.id }]);
  expect(await liveIn(lasting)).toBe(1);
  const told = await test.db.owner.query(
    "select from events where organization_id = $1 and type = 'document.deleted'",
    [organization.id],
  );
  expect(told.rowCount).toBe(2);
  const files = await test.db.owner.query("select from openai_files where organization_id = $1", [
    organization.id,
  ]);
  expect(files.rowCount).toBe(3);
});

it("an expired file is deleted with all documents that were made of it", async () => {
  const [expiring, lasting] = [await file(3_600), await file()];
  const id = await store([expiring, lasting], null);
  expect(await untilNothing(expireFiles)).toBe(0);
  await test.db.owner.query(
    "update openai_files set expires_at = now() - interval '1 second' where id = $1",
    [expiring],
  );

  expect(await untilNothing(expireFiles)).toBe(1);

  expect(await liveIn(id)).toBe(1);
  const { rows } = await test.db.owner.query("select id from openai_files where organization_id = $1", [
    organization.id,
  ]);
  expect(rows).toEqual([{ id: lasting }]);
});

it("a file outlives the membership of its user by 30 days, and its documents in shared spaces stay", async () => {
  const id = await store([await file()], null);
  const remove = (ago: string) =>
    test.db.owner.query("update users set removed_at = now() - $2::interval where id = $1", [
      editor.principal.user.id,
      ago,
    ]);
  await remove("29 days");
  expect(await untilNothing(expireFiles)).toBe(0);
  await remove("31 days");

  expect(await untilNothing(expireFiles)).toBe(1);

  expect(await liveIn(id)).toBe(1);
});
