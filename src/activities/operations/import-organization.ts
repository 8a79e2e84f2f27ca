/** The steps that read an archive. Its vectors go into the embedding cache: publishing asks no provider. */
import type { Archive } from "../../storage/archive.ts";
import { embeddingModelNum, writeImported } from "../../db/runs/chunks.ts";
import type { NewChunk } from "../../db/runs/insert-chunks.ts";
import {
  insertDirectory,
  insertDocument,
  insertOrganization,
  insertRawFile,
  isThere,
  keepVectors,
} from "../../db/transfer/import.ts";
import { insertStoreFile, insertUserFile } from "../../db/transfer/user-files.ts";
import { type Database, type OrganizationRef, type Sql, inTenant } from "../../db/pool.ts";
import { declareUpload } from "../../db/documents/accept.ts";
import type {
  ArchivedBlock,
  ArchivedChunk,
  ArchivedDocument,
  ArchivedFile,
  ArchivedRun,
  ArchivedUserFile,
  Directory,
  Manifest,
  Page,
} from "../../domain/archive.ts";
import { DomainError } from "../../domain/errors.ts";
import { newId } from "../../domain/ids.ts";
import type { TextUnit } from "../../domain/text-unit.ts";
import { objectName } from "../../storage/object-store.ts";
import type { Storage } from "../../storage/storage.ts";
import { contentHash } from "../pipeline/content-hash.ts";

export interface ImportDeps {
  readonly db: Database;
  readonly storage: Storage;
  contentSecret(organizationId: string): Promise<Buffer>;
}

export interface ImportProgress {
  readonly organization_num?: number;
  readonly has_directory?: boolean;
  /** The next page; null after the last. */
  readonly next_page?: string | null;
  readonly documents: number;
  readonly files: number;
}

interface ImportWork {
  readonly deps: ImportDeps;
  readonly operationId: string;
  readonly manifest: Manifest;
  readonly archive: Archive;
}

/**
 * Imports the organization, then its directory, then one page a step.
 * @throws DomainError `conflict` if the organization or one of its users exists here already, `corrupt` if
 * the archive was changed or is older than 0.10
 * @see test/workflows/operations/transfer-between-instances.nightly.test.ts
 */
export async function importStep(
  work: ImportWork,
  progress: ImportProgress,
): Promise<{ progress: ImportProgress; done: boolean }> {
  const { deps, manifest, archive } = work;
  if (progress.organization_num === undefined) {
    const { organization, vector_stores: stores } = await readPart<Partial<Directory>>(
      archive,
      manifest.directory,
    );
    if (organization === undefined || stores === undefined)
      throw new DomainError(
        "corrupt",
        "The archive is older than version 0.10: import it with 0.10 and export it again.",
      );
    const made = await insertOrganization(deps.db, {
      id: manifest.organization_id,
      archived: organization,
      operationId: work.operationId,
    });
    if (made === undefined)
      throw new DomainError("conflict", "An organization with the archive's id or name already exists here.");
    return { progress: { ...progress, organization_num: made.num }, done: false };
  }
  const organization = { id: manifest.organization_id, num: progress.organization_num };
  if (progress.has_directory !== true) {
    const directory = await readPart<Directory>(archive, manifest.directory);
    await inTenant(deps.db, organization, (sql) => insertDirectory(sql, organization.id, directory));
    return {
      progress: { ...progress, has_directory: true, next_page: manifest.last_page },
      done: manifest.last_page === null,
    };
  }
  if (typeof progress.next_page !== "string") return { progress, done: true };
  const page = await readPart<Page>(archive, progress.next_page);
  for (const document of page.documents) await importDocument(work, organization, document);
  for (const file of page.files) await importFile(work, organization, file);
  const userFiles = page.user_files;
  for (const file of userFiles) await importUserFile(work, organization, file);
  const next = {
    ...progress,
    next_page: page.before,
    documents: progress.documents + page.documents.length,
    files: progress.files + page.files.length + userFiles.length,
  };
  return { progress: next, done: page.before === null };
}

async function readPart<T>(archive: Archive, name: string): Promise<T> {
  return JSON.parse((await archive.get(name)).toString("utf8")) as T;
}

async function importFile(
  { deps, archive }: ImportWork,
  organization: OrganizationRef,
  file: ArchivedFile,
): Promise<void> {
  const { raw_file: rawFile, content } = file;
  if (await inTenant(deps.db, organization, (sql) => isThere(sql, organization.id, "raw_files", rawFile.id)))
    return;
  const objectKey =
    content === null ? null : await storeContent(deps, archive, organization, { ...rawFile, content });
  await inTenant(deps.db, organization, (sql) =>
    insertRawFile(sql, {
      organizationId: organization.id,
      rawFile,
      objectKey,
      documentId: null,
    }),
  );
}

/** It gets an object of its own, also where it shared one with documents. */
async function importUserFile(
  { deps, archive }: ImportWork,
  organization: OrganizationRef,
  { user_file: userFile, content }: ArchivedUserFile,
): Promise<void> {
  if (
    await inTenant(deps.db, organization, (sql) => isThere(sql, organization.id, "openai_files", userFile.id))
  )
    return;
  const objectKey = await storeContent(deps, archive, organization, { ...userFile, content });
  await inTenant(deps.db, organization, (sql) => insertUserFile(sql, organization.id, userFile, objectKey));
}

/** @throws DomainError `corrupt` if the content does not have the recorded checksum */
async function storeContent(
  deps: ImportDeps,
  archive: Archive,
  organization: OrganizationRef,
  { sha256, content }: { readonly sha256: string | null; readonly content: readonly string[] },
): Promise<string> {
  const name = objectName(organization.id, newId());
  await declareUpload(deps.db.system, organization.id, name);
  const stored = await deps.storage.put({
    organizationId: organization.id,
    name,
    body: pieces(archive, content),
  });
  if (sha256 !== null && sha256 !== stored.sha256)
    throw new DomainError("corrupt", "A file in the archive does not match its checksum.");
  return name;
}

async function* pieces(archive: Archive, parts: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const part of parts) yield await archive.get(part);
}

async function importDocument(
  work: ImportWork,
  organization: OrganizationRef,
  archived: ArchivedDocument,
): Promise<void> {
  const { deps, archive } = work;
  const { document, raw_file: rawFile, published, store_file: storeFile, content } = archived;
  if (await inTenant(deps.db, organization, (sql) => isThere(sql, organization.id, "raw_files", rawFile.id)))
    return;
  const objectKey = await storeContent(deps, archive, organization, { ...rawFile, content: content ?? [] });
  const secret = await deps.contentSecret(organization.id);
  await inTenant(deps.db, organization, async (sql) => {
    const embeddingModel = published?.model.name ?? "";
    const runNum = await insertDocument(sql, {
      organizationId: organization.id,
      document,
      run: published?.run ?? null,
      objectKey,
      embeddingModel,
    });
    await insertRawFile(sql, {
      organizationId: organization.id,
      rawFile,
      objectKey,
      documentId: document.id,
    });
    if (storeFile !== null) await insertStoreFile(sql, organization.id, document.id, storeFile);
    if (published !== null)
      await importRun({ sql, organization, archive, secret }, published, { runNum, documentId: document.id });
  });
}

interface RunWork {
  readonly sql: Sql;
  readonly organization: OrganizationRef;
  readonly archive: Archive;
  readonly secret: Buffer;
}

function newChunk(chunk: ArchivedChunk & { readonly hash: Buffer }, modelNum: number): NewChunk {
  return {
    id: chunk.id,
    text: chunk.text,
    header: chunk.header,
    tokenCount: chunk.token_count,
    pageStart: chunk.page_start,
    pageEnd: chunk.page_end,
    metadata: chunk.metadata,
    start: chunk.start_offset ?? undefined,
    end: chunk.end_offset ?? undefined,
    places: chunk.places ?? undefined,
    contentHash: chunk.hash,
    refusedBy: chunk.vector === null ? modelNum : null,
  };
}

async function importRun(
  { sql, organization, archive, secret }: RunWork,
  { model, chunks, text }: ArchivedRun,
  run: { runNum: number; documentId: string },
): Promise<void> {
  const modelNum = await embeddingModelNum(sql, model.name, model.dimensions);
  for (const part of text) {
    const blocks = await readPart<ArchivedBlock[]>(archive, part);
    const units = blocks.flatMap((block) => block.units) as TextUnit[];
    await writeImported(sql, organization.id, {
      ...run,
      units,
      chunks: [],
      unitsBefore: blocks[0]?.first_index ?? 0,
      chunksBefore: 0,
    });
  }
  for (const part of chunks) {
    const archived = await readPart<ArchivedChunk[]>(archive, part);
    const named = archived.map((chunk) => ({
      ...chunk,
      hash: contentHash(secret, chunk.text, chunk.header),
    }));
    const rows = named.map((chunk) => newChunk(chunk, modelNum));
    await keepVectors(
      sql,
      organization.id,
      modelNum,
      named.flatMap(({ hash, vector }) => (vector === null ? [] : [{ hash, vector }])),
    );
    await writeImported(sql, organization.id, {
      ...run,
      units: [],
      chunks: rows,
      unitsBefore: 0,
      chunksBefore: archived[0]?.chunk_index ?? 0,
    });
  }
}
