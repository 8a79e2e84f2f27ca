import { beforeEach, describe, expect, it } from "vitest";
import { cancelBatch } from "../../../src/commands/batches/cancel-batch.ts";
import { pauseBatch } from "../../../src/commands/batches/pause-batch.ts";
import { resumeBatch } from "../../../src/commands/batches/resume-batch.ts";
import { startBatch } from "../../../src/commands/batches/start-batch.ts";
import type { Caller } from "../../../src/commands/caller.ts";
import { acceptUpload } from "../../../src/commands/documents/accept-upload.ts";
import type { OrganizationRef } from "../../../src/db/pool.ts";
import { DomainError } from "../../../src/domain/errors.ts";
import { newId } from "../../../src/domain/ids.ts";
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
import { underKey } from "../../support/tenants/repeats.ts";

const test = commandDatabase();
let organization: OrganizationRef;
let spaceId: string;
let documentId: string;
let batchId: string;
let editorId: string;
let editor: Caller;
let viewer: Caller;
let parts: DocumentParts;

beforeEach(async () => {
  const shared = await makeSharedSpace(test.db, "editor");
  ({ organization, spaceId, editorId } = shared);
  const maker = await loggedIn(test.db, organization, editorId);
  documentId = (await makeDocument(maker)).id;
  batchId = (await startBatch(documentParts(test.db), maker, batchOf([documentId]))).batch_id;
  editor = await loggedIn(test.db, organization, editorId);
  viewer = await loggedIn(test.db, organization, shared.viewerId);
  parts = documentParts(test.db);
});

const makeDocument = (maker: Caller) =>
  acceptUpload(documentParts(test.db), maker, {
    spaceId,
    folderId: null,
    filename: "first.md",
    stored: storedMarkdown(organization),
  });

const batchOf = (documentIds: readonly unknown[]) => ({
  documentIds,
  filters: [],
  folderIds: null,
  chunkerName: null,
  chunkerConfig: null,
});

async function written() {
  const { rows } = await test.db.owner.query(
    `select (select jsonb_agg(to_jsonb(batch) order by batch.id) from batches as batch
             where batch.organization_id = $1) as batches,
            (select jsonb_agg(to_jsonb(run) order by run.num) from pipeline_runs as run
             where run.organization_id = $1) as runs`,
    [organization.id],
  );
  return rows[0];
}

/** Makes the editor a viewer of the space, and logs in again. */
async function demoteEditor(): Promise<Caller> {
  await test.db.owner.query("update space_members set role = 'viewer' where user_id = $1", [editorId]);
  return loggedIn(test.db, organization, editorId);
}

const changes: [string, (caller: Caller) => Promise<unknown>][] = [
  ["a pause", (caller) => pauseBatch(parts, caller, batchId)],
  ["a batch that is resumed", (caller) => resumeBatch(parts, caller, batchId)],
  ["a cancellation", (caller) => cancelBatch(parts, caller, batchId)],
];
const commands: typeof changes = [
  ["a new batch", (caller) => startBatch(parts, caller, batchOf([documentId]))],
  ...changes,
];

describe.each(commands)("%s", (_, change) => {
  it("writes one audit row, with the request of the caller", async () => {
    await change(editor);

    expect(await auditOf(test.db, editor)).toMatchObject([{ action: "documents:reprocess" }]);
  });

  it("leaves neither itself nor an audit row if the transaction fails, and wakes nobody", async () => {
    const before = await written();
    const refused = refusedAtCommit(editor);

    await expect(change(refused)).rejects.toThrow("this commit is refused");

    expect(await written()).toEqual(before);
    expect(await auditOf(test.db, refused)).toEqual([]);
    expect(parts.dispatcher.wakeBatches).not.toHaveBeenCalled();
  });
});

describe.each(changes)("%s", (_, change) => {
  it("is refused to a maker who may no longer write, and nothing is written", async () => {
    const before = await written();
    const caller = await demoteEditor();

    await expect(change(caller)).rejects.toMatchObject({ code: "permission_denied" });

    expect(await written()).toEqual(before);
    expect(await auditOf(test.db, caller)).toEqual([]);
  });

  it("does not exist for another user", async () => {
    const before = await written();

    await expect(change(viewer)).rejects.toMatchObject({ code: "not_found" });

    expect(await written()).toEqual(before);
  });
});

describe("a new batch", () => {
  it("queues no run of a document that the caller may only read, and says so", async () => {
    const { runs } = await written();

    const batch = await startBatch(parts, viewer, batchOf([documentId, newId(), "no id"]));

    expect(batch).toMatchObject({ total: 3, accepted: 0, rejected: 3 });
    expect(batch.results.map(({ error }) => error?.code)).toEqual(["forbidden", "not_found", "invalid_id"]);
    expect((await written()).runs).toEqual(runs);
  });

  it("takes a repeated id once", async () => {
    const batch = await startBatch(parts, editor, batchOf([documentId, documentId.toUpperCase()]));

    expect(batch).toMatchObject({ total: 1, accepted: 1 });
    expect(parts.dispatcher.wakeBatches).toHaveBeenCalledExactlyOnceWith(organization.id);
  });

  it("keeps its answer with the change, so that a repeat gets the same", async () => {
    const { caller, repeat } = await underKey(test.db, editor);

    const batch = await startBatch(parts, caller, batchOf([documentId]));

    expect(await repeat()).toMatchObject({ is: "kept", answer: { response: JSON.stringify(batch) } });
  });

  it("writes nothing if another request took the key over meanwhile", async () => {
    const before = await written();
    const keepAnswer = () => Promise.reject(new DomainError("overloaded", "took over"));

    const batch = startBatch(parts, { ...editor, keepAnswer }, batchOf([documentId]));

    await expect(batch).rejects.toMatchObject({ code: "overloaded" });
    expect(await written()).toEqual(before);
  });
});

it("a batch that was cancelled can be cancelled again, and not resumed", async () => {
  await cancelBatch(parts, editor, batchId);

  expect(await cancelBatch(parts, editor, batchId)).toMatchObject({ status: "cancelled" });
  await expect(resumeBatch(parts, editor, batchId)).rejects.toMatchObject({ code: "bad_request" });
});
