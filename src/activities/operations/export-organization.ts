/** The steps that write an organization with its vectors into an archive. A repeated step writes the same. */
import type { Archive } from "../../storage/archive.ts";
import {
  type ExportedDocument,
  type ExportedFile,
  countDocuments,
  readDirectory,
  readDocuments,
  readLooseFiles,
} from "../../db/transfer/export.ts";
import { readChunks, readModel, readTextBlocks } from "../../db/transfer/export-runs.ts";
import { type ExportedUserFile, readUserFiles } from "../../db/transfer/user-files.ts";
import { type Database, type OrganizationRef, type Sql, inTenant } from "../../db/pool.ts";
import {
  ARCHIVE_VERSION,
  type ArchivedDocument,
  type ArchivedFile,
  type ArchivedRun,
  type ArchivedUserFile,
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

export interface ExportProgress {
  readonly directory?: string;
  readonly last_page?: string | null;
  readonly after_document?: number;
  readonly after_file?: string | null;
  readonly after_user_file?: string | null;
  readonly documents: number;
  /** How many there were when the export began. */
  readonly documents_total?: number;
  readonly files: number;
}

interface ExportWork {
  readonly deps: ExportDeps;
  readonly organization: OrganizationRef;
  readonly archive: Archive;
}

/** Writes the directory, then a page a step, then the manifest. @returns the progress, and if it is done. */
export async function exportStep(
  work: ExportWork,
  progress: ExportProgress,
): Promise<{ progress: ExportProgress; done: boolean }> {
  const { deps, organization, archive } = work;
  const { directory } = progress;
  if (directory === undefined) return { progress: await begin(work, progress), done: false };
  const rows = await inTenant(deps.db, organization, (sql) => readRows(sql, organization.id, progress));
  const { documents, files, userFiles } = rows;
  if (documents.length + files.length + userFiles.length === 0) {
    const manifest: Manifest = {
      version: ARCHIVE_VERSION,
      organization_id: organization.id,
      created_at: new Date().toISOString(),
      directory,
      last_page: progress.last_page ?? null,
    };
    await archive.writeManifest(manifest);
    return { progress, done: true };
  }
  const page: Page = {
    before: progress.last_page ?? null,
    documents: await inOrder(documents, (one) => archiveDocument(work, one)),
    files: await inOrder(files, (one) => archiveFile(work, one)),
    user_files: await inOrder(userFiles, (one) => archiveUserFile(work, one)),
  };
  const lastPage = await archive.put(jsonBytes(page));
  return { progress: { ...behind(progress, rows), last_page: lastPage }, done: false };
}

async function begin(
  { deps, organization, archive }: ExportWork,
  progress: ExportProgress,
): Promise<ExportProgress> {
  const [directory, total] = await inTenant(deps.db, organization, async (sql) => [
    await readDirectory(sql, organization.id),
    await countDocuments(sql, organization.id),
  ]);
  return {
    ...progress,
    directory: await archive.put(jsonBytes(directory)),
    documents_total: total,
    last_page: null,
    after_document: 0,
    after_file: null,
    after_user_file: null,
  };
}

interface Rows {
  readonly documents: readonly ExportedDocument[];
  readonly files: readonly ExportedFile[];
  readonly userFiles: readonly ExportedUserFile[];
}

/** The next rows: documents first, then files of no document, then users' files. */
async function readRows(sql: Sql, organizationId: string, progress: ExportProgress): Promise<Rows> {
  const none: Rows = { documents: [], files: [], userFiles: [] };
  const limit = ROWS_A_PAGE;
  const documents = await readDocuments(sql, organizationId, { after: progress.after_document ?? 0, limit });
  if (documents.length > 0) return { ...none, documents };
  const files = await readLooseFiles(sql, organizationId, { after: progress.after_file ?? null, limit });
  if (files.length > 0) return { ...none, files };
  const after = progress.after_user_file ?? null;
  return { ...none, userFiles: await readUserFiles(sql, organizationId, { after, limit }) };
}

/** The progress once these rows are in the archive. */
function behind(progress: ExportProgress, { documents, files, userFiles }: Rows): ExportProgress {
  return {
    ...progress,
    after_document: documents.at(-1)?.num ?? progress.after_document ?? 0,
    after_file: files.at(-1)?.raw_file.id ?? progress.after_file ?? null,
    after_user_file: userFiles.at(-1)?.user_file.id ?? progress.after_user_file ?? null,
    documents: progress.documents + documents.length,
    files: progress.files + files.length + userFiles.length,
  };
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

async function archiveUserFile(
  work: ExportWork,
  { user_file, object_key: name }: ExportedUserFile,
): Promise<ArchivedUserFile> {
  return { user_file, content: await archiveContent(work, name) };
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
    store_file: exported.store_file,
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
