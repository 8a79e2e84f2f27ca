import { beforeEach, describe, expect, it } from "vitest";
import type { Caller } from "../../../src/commands/caller.ts";
import { acceptFile } from "../../../src/commands/documents/accept-file.ts";
import { acceptUpload } from "../../../src/commands/documents/accept-upload.ts";
import { cancelRun } from "../../../src/commands/documents/cancel-run.ts";
import { deleteDocument } from "../../../src/commands/documents/delete-document.ts";
import { reprocessDocument } from "../../../src/commands/documents/reprocess-document.ts";
import { restoreVersion } from "../../../src/commands/documents/restore-version.ts";
import { updateDocument } from "../../../src/commands/documents/update-document.ts";
import type { OrganizationRef } from "../../../src/db/pool.ts";
import { DomainError } from "../../../src/domain/errors.ts";
import { newId } from "../../../src/domain/ids.ts";
import { makeOrganization, makeUser } from "../../support/tenants/callers.ts";
import {
  auditOf,
  commandDatabase,
  documentParts,
  type DocumentParts,
  loggedIn,
  makeSharedSpace,
  refusedAtCommit,
  storedMarkdown,
  UNLIMITED,
} from "../../support/tenants/commands.ts";
import { underKey } from "../../support/tenants/repeats.ts";

const test = commandDatabase();
let organization: OrganizationRef;
let spaceId: string;
let documentId: string;
let runId: string;
let editor: Caller;
let viewer: Caller;
let parts: DocumentParts;

beforeEach(async () => {
  const shared = await makeSharedSpace(test.db, "editor");
  ({ organization, spaceId } = shared);
  const maker = await loggedIn(test.db, organization, shared.editorId);
  documentId = (await acceptUpload(documentParts(test.db), maker, upload("first.md"))).id;
  await publishFirstVersion();
  ({ pipeline_run_id: runId } = await reprocessDocument(documentParts(test.db), maker, reprocessing()));
  editor = await loggedIn(test.db, organization, shared.editorId);
  viewer = await loggedIn(test.db, organization, shared.viewerId);
  parts = documentParts(test.db);
});

const stored = () => storedMarkdown(organization);
const upload = (filename: string) => ({ spaceId, folderId: null, filename, stored: stored() });
const reprocessing = () => ({ id: documentId, chunkerName: null, chunkerConfig: null });

/** As if the first run had published one chunk, and a second version had taken its place since. */
async function publishFirstVersion(): Promise<void> {
  await test.db.owner.query(
    `with completed as (
       update pipeline_runs
       set status = 'completed', parsed = true, chunked = true, chunk_count = 1, parser_name = 'markdown'
       where document_id = $1
       returning num, organization_id, document_id)
     insert into chunks
       (organization_id, run_num, chunk_index, id, document_id, text, token_count, content_hash)
     select organization_id, num, 0, $2, document_id, 'text', 1, '\\x00'
     from completed`,
    [documentId, newId()],
  );
}

async function written() {
  const { rows } = await test.db.owner.query(
    `select (select jsonb_agg(to_jsonb(document) order by document.id) from documents as document
             where document.organization_id = $1) as documents,
            (select jsonb_agg(to_jsonb(run) order by run.num) from pipeline_runs as run
             where run.organization_id = $1) as runs,
            (select jsonb_agg(to_jsonb(file) order by file.id) from raw_files as file
             where file.organization_id = $1) as files,
            (select count(*)::int from chunks where organization_id = $1) as chunks,
            (select count(*)::int from deletions where organization_id = $1) as deletions`,
    [organization.id],
  );
  return rows[0];
}

const update = (caller: Caller, change: { metadata?: Record<string, unknown>; folderId?: string | null }) =>
  updateDocument(parts, caller, {
    id: documentId,
    ifMatch: undefined,
    metadata: change.metadata,
    folderId: change.folderId,
  });

const commands: [string, action: string, (caller: Caller) => Promise<unknown>][] = [
  ["an upload", "documents:create", (caller) => acceptUpload(parts, caller, upload("second.md"))],
  [
    "a file at a path",
    "files:create",
    (caller) => acceptFile(parts, caller, { spaceId, path: "reports/2026.md", stored: stored() }),
  ],
  ["a change", "documents:update", (caller) => update(caller, { metadata: { project: "apollo" } })],
  [
    "a deletion",
    "documents:delete",
    (caller) => deleteDocument(parts, caller, { id: documentId, ifMatch: undefined }),
  ],
  ["another run", "documents:reprocess", (caller) => reprocessDocument(parts, caller, reprocessing())],
  [
    "a version that is restored",
    "documents:reprocess",
    (caller) => restoreVersion(parts, caller, { documentId, version: 1 }),
  ],
  ["a run that is cancelled", "documents:reprocess", (caller) => cancelRun(parts, caller, runId)],
];

describe.each(commands)("%s", (_, action, change) => {
  it("writes one audit row, with the request of the caller", async () => {
    await change(editor);

    expect(await auditOf(test.db, editor)).toMatchObject([{ action, space_id: spaceId }]);
  });

  it("is refused to a viewer of the space, and nothing is written", async () => {
    const before = await written();

    await expect(change(viewer)).rejects.toMatchObject({ code: "permission_denied" });

    expect(await written()).toEqual(before);
    expect(await auditOf(test.db, viewer)).toEqual([]);
  });

  it("leaves neither itself nor an audit row if the transaction fails, and wakes nobody", async () => {
    const before = await written();
    const refused = refusedAtCommit(editor);

    await expect(change(refused)).rejects.toThrow("this commit is refused");

    expect(await written()).toEqual(before);
    expect(await auditOf(test.db, refused)).toEqual([]);
    expect(parts.dispatcher.wake).not.toHaveBeenCalled();
    expect(parts.dispatcher.wakeDeletions).not.toHaveBeenCalled();
  });
});

const repeatable = commands.filter(([name]) =>
  ["an upload", "a file at a path", "another run", "a version that is restored"].includes(name),
);

describe.each(repeatable)("%s with an Idempotency-Key", (_, _action, change) => {
  it("keeps its answer with the change, so that a repeat gets the same", async () => {
    const { caller, repeat } = await underKey(test.db, editor);

    const answer = await change(caller);

    expect(await repeat()).toMatchObject({ is: "kept", answer: { response: JSON.stringify(answer) } });
  });

  it("writes nothing if another request took the key over meanwhile", async () => {
    const before = await written();
    const keepAnswer = () => Promise.reject(new DomainError("overloaded", "took over"));

    await expect(change({ ...editor, keepAnswer })).rejects.toMatchObject({ code: "overloaded" });

    expect(await written()).toEqual(before);
    expect(await auditOf(test.db, editor)).toEqual([]);
  });
});

it("an upload and another run wake the dispatcher, and a deletion that of deletions", async () => {
  await acceptUpload(parts, editor, upload("second.md"));
  await reprocessDocument(parts, editor, reprocessing());
  await deleteDocument(parts, editor, { id: documentId, ifMatch: undefined });

  expect(parts.dispatcher.wake.mock.calls).toEqual([[organization], [organization]]);
  expect(parts.dispatcher.wakeDeletions).toHaveBeenCalledExactlyOnceWith(organization.id);
});

it("a document of another organization does not exist for the caller", async () => {
  const other = await makeOrganization(test.db);
  const userId = await makeUser(test.db, other);
  const stranger = await loggedIn(test.db, other, userId);
  const before = await written();

  for (const [, , change] of commands)
    await expect(change(stranger)).rejects.toMatchObject({ code: "not_found" });

  expect(await written()).toEqual(before);
});

it("a change that was read too long ago is refused", async () => {
  const change = updateDocument(parts, editor, {
    id: documentId,
    ifMatch: '"of before"',
    metadata: { project: "apollo" },
    folderId: undefined,
  });

  await expect(change).rejects.toMatchObject({ code: "precondition_failed" });
});

it("a file at a path is replaced: its document gets the next version", async () => {
  const path = "reports/2026.md";
  await acceptFile(parts, editor, { spaceId, path, stored: stored() });
  await acceptFile(parts, editor, { spaceId, path, stored: stored() });

  const { rows } = await test.db.owner.query(
    `select document.run_count
     from raw_files as file
     join documents as document on document.id = file.document_id
     where file.space_id = $1 and file.path = $2`,
    [spaceId, path],
  );

  expect(rows).toEqual([{ run_count: 2 }]);
});

it("an upload over the organization's quota is refused, and nothing is written", async () => {
  const before = await written();
  const full = { ...parts, config: { limits: { ...UNLIMITED, documentsPerOrganization: 1 } } };

  await expect(acceptUpload(full, editor, upload("second.md"))).rejects.toMatchObject({
    code: "bad_request",
  });

  expect(await written()).toEqual(before);
});

it("chunks that are larger than the model takes are refused before anything is read", async () => {
  const config = { max_tokens: parts.embedding.maxTokens + 1, overlap_tokens: 0 };

  const run = reprocessDocument(parts, editor, { ...reprocessing(), chunkerConfig: config });

  await expect(run).rejects.toMatchObject({
    problems: [{ type: "less_than_equal", ctx: { le: parts.embedding.maxTokens } }],
  });
});
