/**
 * The steps that write an organization into an archive, with its vectors. A repeated step writes the same
 * parts.
 */
import type { Archive } from "../../storage/archive.ts";
import {
  type ExportedDocument,
  type ExportedFile,
  countDocuments,
  readChunks,
  readDirectory,
  readDocuments,
  readLooseFiles,
  readModel,
  readTextBlocks,
} from "../../db/transfer/export.ts";
import { type Database, type OrganizationKey, type Sql, inTenant } from "../../db/pool.ts";
import {
  ARCHIVE_VERSION,
  type ArchivedDocument,
  type ArchivedFile,
  type ArchivedRun,
  type Manifest,
  type Page,
} from "../../domain/archive.ts";
import type { Storage } from "../../storage/storage.ts";

const ROWS_A_PAGE = 20;
const CHUNKS_A_PART = 500;
const BLOCKS_A_PART = 20;
const CONTENT_PART_BYTES = 4 * 1024 * 1024;

interface ExportDeps {
  readonly db: Database;
  readonly storage: Storage;
}

/** Stored between steps. */
export interface ExportProgress {
  readonly directory?: string;
  readonly last_page?: string | null;
  readonly after_document?: number;
  readonly after_file?: string | null;
  readonly documents: number;
  /** How many there were when the export began. */
  readonly documents_total?: number;
  readonly files: number;
}

interface ExportWork {
  readonly deps: ExportDeps;
  readonly organization: OrganizationKey;
  readonly archive: Archive;
}

/**
 * Writes the directory, then one page a step, then the manifest.
 * @returns the progress to store, and whether it was the last step.
 */
export async function exportStep(
  work: ExportWork,
  progress: ExportProgress,
): Promise<{ progress: ExportProgress; done: boolean }> {
  const { deps, organization, archive } = work;
  if (progress.directory === undefined) {
    const directory = await archive.put(
      jsonBytes(await inTenant(deps.db, organization, (sql) => readDirectory(sql, organization.id))),
    );
    const total = await inTenant(deps.db, organization, (sql) => countDocuments(sql, organization.id));
    return {
      progress: {
        ...progress,
        directory,
        documents_total: total,
        last_page: null,
        after_document: 0,
        after_file: null,
      },
      done: false,
    };
  }
  const documents = await inTenant(deps.db, organization, (sql) =>
    readDocuments(sql, organization.id, { after: progress.after_document ?? 0, limit: ROWS_A_PAGE }),
  );
  const files =
    documents.length > 0
      ? []
      : await inTenant(deps.db, organization, (sql) =>
          readLooseFiles(sql, organization.id, { after: progress.after_file ?? null, limit: ROWS_A_PAGE }),
        );
  if (documents.length + files.length === 0) {
    const manifest: Manifest = {
      version: ARCHIVE_VERSION,
      organization_id: organization.id,
      created_at: new Date().toISOString(),
      directory: progress.directory,
      last_page: progress.last_page ?? null,
    };
    await archive.writeManifest(manifest);
    return { progress, done: true };
  }
  const page: Page = {
    before: progress.last_page ?? null,
    documents: await inOrder(documents, (one) => archiveDocument(work, one)),
    files: await inOrder(files, (one) => archiveFile(work, one)),
  };
  const next = {
    ...progress,
    last_page: await archive.put(jsonBytes(page)),
    after_document: documents.at(-1)?.num ?? progress.after_document ?? 0,
    after_file: files.at(-1)?.raw_file.id ?? progress.after_file ?? null,
    documents: progress.documents + documents.length,
    files: progress.files + files.length,
  };
  return { progress: next, done: false };
}

const jsonBytes = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));

/** One after the other, because each may be large. */
async function inOrder<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const done: R[] = [];
  for (const item of items) done.push(await work(item));
  return done;
}

async function archiveFile(
  work: ExportWork,
  { raw_file, object_key: name }: ExportedFile,
): Promise<ArchivedFile> {
  return { raw_file, content: name === null ? null : await archiveContent(work, name) };
}

async function archiveContent({ deps, organization, archive }: ExportWork, name: string): Promise<string[]> {
  const parts: string[] = [];
  let pieces: Buffer[] = [];
  let size = 0;
  const flush = async (): Promise<void> => {
    if (size > 0) parts.push(await archive.put(Buffer.concat(pieces)));
    pieces = [];
    size = 0;
  };
  for await (const piece of (await deps.storage.get({
    organizationId: organization.id,
    name,
  })) as AsyncIterable<Buffer>) {
    pieces.push(piece);
    size += piece.length;
    if (size >= CONTENT_PART_BYTES) await flush();
  }
  await flush();
  return parts;
}

async function archiveDocument(work: ExportWork, exported: ExportedDocument): Promise<ArchivedDocument> {
  return {
    ...(await archiveFile(work, exported)),
    document: exported.document,
    published: await archiveRun(work, exported),
  };
}

async function archiveRun(
  { deps, organization, archive }: ExportWork,
  { run, run_num, space_num }: ExportedDocument,
): Promise<ArchivedRun | null> {
  if (run === null || run_num === null) return null;
  const model = await inTenant(deps.db, organization, (sql) => readModel(sql, { run_num, space_num }));
  if (model === undefined) return null;
  const inParts = async <T>(
    read: (sql: Sql, from: number) => Promise<T[]>,
    next: (last: T) => number,
  ): Promise<string[]> => {
    const parts: string[] = [];
    for (let from = 0; ;) {
      const rows = await inTenant(deps.db, organization, (sql) => read(sql, from));
      if (rows.length === 0) return parts;
      parts.push(await archive.put(jsonBytes(rows)));
      from = next(rows.at(-1)!);
    }
  };
  const chunks = await inParts(
    (sql, from) => readChunks(sql, { run_num, space_num }, from, CHUNKS_A_PART),
    (last) => last.chunk_index + 1,
  );
  const text = await inParts(
    (sql, from) => readTextBlocks(sql, run_num, from, BLOCKS_A_PART),
    (last) => last.first_index + 1,
  );
  return { run, model, chunks, text };
}
