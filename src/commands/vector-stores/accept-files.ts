/** Makes documents of files in a vector store, in the transaction of the command that was asked to. */
import { authorize, authorizeListing, reachFor } from "../../auth/policy.ts";
import { writeOwnMetadata } from "../../db/documents/change.ts";
import { lockLiveFolder } from "../../db/documents/folders.ts";
import { queueRun } from "../../db/runs/requests.ts";
import { insertStoreFiles, type NewStoreFile, writeChunking } from "../../db/stores/accept.ts";
import { lockFilesInFolder, type StoreFileRow } from "../../db/stores/files.ts";
import { lockStoreFiles, type StaticChunking, type StoreRow, touchStore } from "../../db/stores/stores.ts";
import { lockSources, type SourceRow } from "../../db/stores/user-files.ts";
import type { Sql } from "../../db/pool.ts";
import { requireWithinQuotas } from "../../db/tenancy/storage-quotas.ts";
import { DomainError } from "../../domain/errors.ts";
import { newId } from "../../domain/ids.ts";
import { missingMessage, notFound } from "../../domain/not-found.ts";
import { OPENING } from "../../domain/tenancy/opened-content.ts";
import { PRIORITY } from "../../domain/work/processing.ts";
import type { Caller, CommandDeps } from "../caller.ts";
import { uploadedEvent } from "../documents/stored-file.ts";
import { recordChanges } from "../record-change.ts";
import type { Attributes, WantedFile } from "./file.ts";
import { attributesOf } from "./presented.ts";
import { requireLiveStore, runChunking } from "./store.ts";

export type AcceptDeps = Pick<CommandDeps, "db" | "dispatcher" | "config" | "embedding">;

/** What is accepted into a store at once. */
interface Acceptance {
  readonly deps: AcceptDeps;
  readonly caller: Caller;
  readonly store: StoreRow;
}

/**
 * A file that is in the store already stays there: it gets the attributes that are named, and is processed
 * again if it had failed or its chunking changes.
 * @returns the ids of the documents, in the order of the files, each once.
 * @throws DomainError `not_found` for a file that the caller has not, with its field as `param`;
 * `permission_denied`; `bad_request` for a store that has expired, and over the organization's quotas
 */
export async function acceptFiles(
  sql: Sql,
  acceptance: Acceptance,
  wanted: readonly WantedFile[],
): Promise<string[]> {
  const { deps, caller, store } = acceptance;
  const { principal } = caller;
  authorize(principal, "documents:create", store, "vector_store");
  requireLiveStore(store);
  await lockLiveFolder(sql, store.id);
  await lockStoreFiles(sql, store.id);
  const files = [...new Map(wanted.map((file) => [file.fileId, file])).values()];
  const ids = files.map(({ fileId }) => fileId);
  // Whoever reads the store may read what comes into it, so the caller must be able to read it here.
  const readable = reachFor(principal, "documents:read");
  const locked = await lockSources(sql, principal, readable, ids);
  const sources = new Map(locked.map((source) => [source.id, source]));
  // A document that was made of a file is known by both ids.
  const there = new Map(
    (await lockFilesInFolder(sql, store.id, ids)).flatMap((file) => [
      [file.id, file],
      [file.document_id, file],
    ]),
  );
  const unknown = files.find(({ fileId }) => !sources.has(fileId) && !there.has(fileId));
  if (unknown !== undefined) {
    authorizeListing(principal, "documents:read");
    throw new DomainError("file_not_found", missingMessage("file"), { param: unknown.param });
  }
  const made = files
    .filter(({ fileId }) => !there.has(fileId))
    .map((file) => newFile(acceptance, sources.get(file.fileId)!, file));
  if (made.length > 0) await insertNew(sql, acceptance, made);
  for (const file of files) {
    const known = there.get(file.fileId);
    if (known !== undefined) await putAgain(sql, acceptance, { known, file });
  }
  await touchStore(sql, store.id);
  await requireWithinQuotas(sql, principal.organization.id, deps.config.limits);
  const documents = new Map([
    ...[...there].map(([id, file]) => [id, file.document_id] as const),
    ...made.map((file) => [file.fileId, file.documentId] as const),
  ]);
  return [...new Set(ids.map((id) => documents.get(id)!))];
}

function newFile(
  { deps, store }: Acceptance,
  content: SourceRow,
  { fileId, attributes = {}, chunking = store.chunking }: WantedFile,
): NewStoreFile {
  return {
    documentId: newId(),
    rawFileId: newId(),
    runId: newId(),
    fileId,
    content,
    attributes,
    chunking,
    ...runChunking(chunking, deps.embedding.maxTokens),
  };
}

async function insertNew(
  sql: Sql,
  { caller, store }: Acceptance,
  made: readonly NewStoreFile[],
): Promise<void> {
  const { organization, user } = caller.principal;
  const written = await insertStoreFiles(
    sql,
    {
      organizationId: organization.id,
      spaceId: store.space_id,
      folderId: store.id,
      userId: user.id,
      priority: made.length === 1 ? PRIORITY.interactive : PRIORITY.batch,
    },
    made,
  );
  if (written < made.length) throw notFound("vector_store");
  await recordSources(sql, caller, store.space_id, made);
  await recordChanges(
    sql,
    caller,
    "documents:create",
    made.map(({ documentId, rawFileId, content }) => ({
      type: "document",
      id: documentId,
      spaceId: store.space_id,
      events: [
        uploadedEvent({
          rawFileId,
          folderId: store.id,
          version: 1,
          fileType: content.file_type,
          size: content.size,
        }),
      ],
    })),
  );
}

/** Whoever reads the store's space reads from now on what came from elsewhere. */
async function recordSources(
  sql: Sql,
  caller: Caller,
  targetSpaceId: string,
  made: readonly NewStoreFile[],
): Promise<void> {
  const sources = made.map(({ documentId, content, fileId }) => ({
    type: content.space_id === undefined ? ("user_file" as const) : ("document" as const),
    id: fileId,
    spaceId: content.space_id,
    target: { type: "document", id: documentId, space_id: targetSpaceId },
    events: [],
  }));
  for (const type of ["document", "user_file"] as const)
    await recordChanges(
      sql,
      caller,
      OPENING[type],
      sources.filter((source) => source.type === type),
    );
}

async function putAgain(
  sql: Sql,
  { deps, caller, store }: Acceptance,
  { known, file }: { readonly known: StoreFileRow; readonly file: WantedFile },
): Promise<void> {
  const { attributes, chunking } = file;
  const at = { type: "document", id: known.document_id, spaceId: store.space_id };
  if (attributes !== undefined) {
    authorize(caller.principal, "documents:update", store);
    await writeAttributes(sql, known, attributes);
    await recordChanges(sql, caller, "documents:update", [{ ...at, events: [{ type: "document.updated" }] }]);
  }
  const isOther = chunking !== undefined && known.came_through && !isSame(chunking, known.chunking);
  const hasEnded = known.status === "failed" || known.status === "cancelled";
  if (!isOther && !hasEnded) return;
  authorize(caller.principal, "documents:reprocess", store);
  const asked = isOther ? chunking : known.chunking;
  if (isOther) await writeChunking(sql, known.document_id, chunking);
  await queueRun(sql, {
    runId: newId(),
    documentId: known.document_id,
    trigger: "reprocess",
    priority: PRIORITY.interactive,
    ...(known.came_through
      ? runChunking(asked, deps.embedding.maxTokens)
      : { chunkerName: null, chunkerConfig: null }),
    createdBy: caller.principal.user.id,
    batchId: null,
    held: false,
  });
  await recordChanges(sql, caller, "documents:reprocess", [{ ...at, events: [] }]);
}

const isSame = (one: StaticChunking | null, other: StaticChunking | null): boolean =>
  one?.max_chunk_size_tokens === other?.max_chunk_size_tokens &&
  one?.chunk_overlap_tokens === other?.chunk_overlap_tokens;

/** Replaces what is shown as attributes; lists and objects of a document's metadata stay. */
export async function writeAttributes(
  sql: Sql,
  { document_id: documentId, metadata }: Pick<StoreFileRow, "document_id" | "metadata">,
  attributes: Attributes,
): Promise<void> {
  const shown = attributesOf(metadata);
  const rest = Object.fromEntries(Object.entries(metadata).filter(([key]) => !Object.hasOwn(shown, key)));
  await writeOwnMetadata(sql, documentId, { ...rest, ...attributes });
}
