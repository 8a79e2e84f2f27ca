/** The activity of a deletion's workflow: each step removes a bounded part, and may be repeated. */
import {
  type Deletion,
  completeDeletion,
  deleteContainers,
  deleteDocumentRows,
  deleteFileRows,
  deleteText,
  findDeletion,
  objectsOf,
  runsOf,
} from "../db/deletions/purge.ts";
import { countLeft, looseFiles, takeDocuments } from "../db/deletions/target.ts";
import { type Database, inTenant } from "../db/pool.ts";
import { deleteEmbeddings } from "../db/search/write-embeddings.ts";
import { findSegmentsToPurge } from "../db/search/index/due-segments.ts";
import { purgeSegment } from "../search/index/segments.ts";
import type { DeletionInput, PurgeOutcome } from "../domain/work/deletion.ts";
import type { Storage } from "../storage/storage.ts";
import { drillPoint } from "../telemetry/drill-point.ts";
import { withHeartbeat } from "./heartbeat.ts";

interface DeletionDeps {
  readonly db: Database;
  readonly storage: Storage;
  /** Called when a deletion is complete, so that the organization's next one starts. */
  wakeDeletions(organizationId: string): void;
}

const DOCUMENTS_A_STEP = 50;
const FILES_A_STEP = 200;
const ROWS_A_STATEMENT = 5_000;

/**
 * Removes up to 50 documents of the target, or up to 200 files without a document, or the empty folder or
 * space. Idempotent.
 * @see test/workflows/delete-target.stack.test.ts
 */
export async function purgeStep(deps: DeletionDeps, input: DeletionInput): Promise<PurgeOutcome> {
  const outcome = await withHeartbeat(() => step(deps, input));
  if (outcome.done) deps.wakeDeletions(input.organization.id);
  return outcome;
}

async function step(deps: DeletionDeps, input: DeletionInput): Promise<PurgeOutcome> {
  const deletion = await inTenant(deps.db, input.organization, (sql) => findDeletion(sql, input.deletionId));
  if (!deletion) return { purged: 0, done: true };
  const documents = await inTenant(deps.db, input.organization, (sql) =>
    takeDocuments(sql, input.organization.num, deletion, DOCUMENTS_A_STEP),
  );
  for (const id of documents) {
    await purgeDocument(deps, input, id, deletion.kind !== "document");
    await drillPoint("deleteTarget: document gone, step not ended");
  }
  if (documents.length > 0) return { purged: documents.length, done: false };
  const files = await purgeLooseFiles(deps, input, deletion);
  if (files > 0) return { purged: 0, done: false };
  const isPurged = await purgePostings(deps, input);
  return isPurged ? finish(deps, input, deletion) : { purged: 0, done: false };
}

/**
 * Deletes objects first, then search entries, text and rows. What names a thing goes after it, so that a step
 * after a crash finds the rest.
 */
async function purgeDocument(
  deps: DeletionDeps,
  input: DeletionInput,
  documentId: string,
  withRawFile: boolean,
): Promise<void> {
  const { organization } = input;
  for (const name of await inTenant(deps.db, organization, (sql) => objectsOf(sql, documentId, withRawFile)))
    await deps.storage.delete(name);
  await drillPoint("deleteTarget: object gone, rows there");
  for (const run of await inTenant(deps.db, organization, (sql) => runsOf(sql, documentId))) {
    await untilNoneLeft(() =>
      inTenant(deps.db, organization, (sql) =>
        deleteEmbeddings(sql, { spaceNum: run.space_num, runNum: run.num, limit: ROWS_A_STATEMENT }),
      ),
    );
    await untilNoneLeft(() =>
      inTenant(deps.db, organization, (sql) => deleteText(sql, run.num, ROWS_A_STATEMENT)),
    );
  }
  await inTenant(deps.db, organization, (sql) =>
    deleteDocumentRows(sql, organization.id, documentId, withRawFile),
  );
}

async function untilNoneLeft(step: () => Promise<boolean>): Promise<void> {
  for (let isLeft = true; isLeft;) isLeft = await step();
}

async function purgeLooseFiles(
  deps: DeletionDeps,
  input: DeletionInput,
  deletion: Deletion,
): Promise<number> {
  const files = await inTenant(deps.db, input.organization, (sql) => looseFiles(sql, deletion, FILES_A_STEP));
  for (const file of files) if (file.object_key !== null) await deps.storage.delete(file.object_key);
  if (files.length > 0)
    await inTenant(deps.db, input.organization, (sql) =>
      deleteFileRows(
        sql,
        input.organization.id,
        files.map((file) => file.id),
      ),
    );
  return files.length;
}

/** Deletions share index segments: the first purges for all. @returns false if a segment is locked. */
async function purgePostings({ db }: DeletionDeps, { organization }: DeletionInput): Promise<boolean> {
  let isPurged = true;
  for (const segment of await inTenant(db, organization, (sql) => findSegmentsToPurge(sql, "deleted"))) {
    if (await inTenant(db, organization, (sql) => purgeSegment(sql, segment))) isPurged = false;
  }
  return isPurged;
}

async function finish(deps: DeletionDeps, input: DeletionInput, deletion: Deletion): Promise<PurgeOutcome> {
  return inTenant(deps.db, input.organization, async (sql) => {
    await deleteContainers(sql, deletion);
    await drillPoint("deleteTarget: container gone, not committed");
    const left = await countLeft(sql, deletion);
    if (left > 0) return { purged: 0, done: false };
    await completeDeletion(sql, deletion.id);
    return { purged: 0, done: true };
  });
}
