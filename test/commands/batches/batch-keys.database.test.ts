/** Which key a batch belongs to, also if a process of the version before started it. */
import { beforeEach, expect, it } from "vitest";
import { readBatch } from "../../../src/commands/batches/batch.ts";
import { pauseBatch } from "../../../src/commands/batches/pause-batch.ts";
import { startBatch } from "../../../src/commands/batches/start-batch.ts";
import type { Caller } from "../../../src/commands/caller.ts";
import { acceptUpload } from "../../../src/commands/documents/accept-upload.ts";
import { appendAudit } from "../../../src/db/audit/append.ts";
import { inTenant, type OrganizationRef, readTenant } from "../../../src/db/pool.ts";
import { newId } from "../../../src/domain/ids.ts";
import {
  commandDatabase,
  documentParts,
  loggedIn,
  makeSharedSpace,
  storedMarkdown,
  withKey,
} from "../../support/tenants/commands.ts";

const test = commandDatabase();
let organization: OrganizationRef;
let login: Caller;
let documentId: string;

const madeByOther = (caller: Caller): Caller => {
  const { principal, ...rest } = withKey(caller);
  return { ...rest, principal: { ...principal, isMadeByOther: true } };
};

beforeEach(async () => {
  const shared = await makeSharedSpace(test.db, "editor");
  ({ organization } = shared);
  login = await loggedIn(test.db, organization, shared.editorId);
  const document = await acceptUpload(documentParts(test.db), login, {
    spaceId: shared.spaceId,
    folderId: null,
    filename: "first.md",
    stored: storedMarkdown(organization),
  });
  documentId = document.id;
});

const start = async (caller: Caller): Promise<string> => {
  const asked = { filters: [], folderIds: null, chunkerName: null, chunkerConfig: null };
  const batch = { ...asked, documentIds: [documentId] };
  return (await startBatch(documentParts(test.db), caller, batch)).batch_id;
};

/** Writes a batch and its audit row as the version before does. */
const startBefore = (caller: Caller): Promise<string> =>
  inTenant(test.db, organization, async (sql) => {
    const id = newId();
    await sql.query(
      `insert into batches (id, organization_id, created_by, space_ids, total, accepted)
       values ($1, $2, $3, '{}', 1, 1)`,
      [id, organization.id, caller.principal.user.id],
    );
    await appendAudit(sql, caller.principal, {
      action: "documents:reprocess",
      resource_type: "batch",
      resource_id: id,
      space_id: null,
      request_id: null,
      outcome: "success",
    });
    return id;
  });

const isFound = (caller: Caller, id: string): Promise<boolean> =>
  readTenant(test.db, organization, (sql) => readBatch(sql, caller.principal, "documents:read", id)).then(
    () => true,
    () => false,
  );

it.each([
  ["this version", start],
  ["the version before", startBefore],
])("a key that somebody else made finds its own batches alone, started by %s", async (_, begin) => {
  const [one, other] = [madeByOther(login), madeByOther(login)];
  const ids = { one: await begin(one), other: await begin(other), login: await begin(login) };

  expect(await isFound(one, ids.one)).toBe(true);
  expect(await isFound(one, ids.other)).toBe(false);
  expect(await isFound(one, ids.login)).toBe(false);
  for (const id of Object.values(ids)) expect(await isFound(login, id)).toBe(true);
});

it("a batch stays its starter's, whoever pauses it", async () => {
  const id = await start(login);
  const own = withKey(login);

  await pauseBatch(documentParts(test.db), own, id);

  expect(await isFound(madeByOther(own), id)).toBe(false);
  const { rows } = await test.db.owner.query("select api_key_id from batches where id = $1", [id]);
  expect(rows).toEqual([{ api_key_id: null }]);
});
