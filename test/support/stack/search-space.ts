/**
 * Makes spaces with published documents for tests of search, by the functions of the pipeline but without its
 * workflows.
 */
import { embeddingModelNum, keepEmbeddings } from "../../../src/db/runs/chunks.ts";
import { type OrganizationRef, type Sql, inTenant } from "../../../src/db/pool.ts";
import type { OwnedDatabase } from "../servers/database.ts";
import { deleteEmbeddings, insertEmbeddingsFromCache } from "../../../src/db/search/write-embeddings.ts";
import { hideRun } from "../../../src/db/search/hidden.ts";
import { insertPostings } from "../../../src/search/index/postings.ts";
import { newId } from "../../../src/domain/ids.ts";
import { ANALYZER_VERSION } from "../../../src/search/text/analyzer.ts";
import { chunkTerms } from "../../../src/search/text/chunk-terms.ts";
import { contentHash } from "../../../src/activities/pipeline/content-hash.ts";
import { addStatistics } from "./statistics.ts";

export interface SearchSpace {
  readonly organization: OrganizationRef;
  readonly space: { readonly id: string; readonly num: number };
  readonly userId: string;
}

export interface SearchDocument {
  readonly name?: string;
  readonly folderId?: string | null;
  readonly chunks: readonly {
    readonly text: string;
    /** Null by default, as in what versions before 0.10.0 wrote. */
    readonly header?: string | null;
    readonly vector?: Float32Array | undefined;
    readonly terms?: readonly string[];
  }[];
}

export interface WrittenDocument {
  readonly id: string;
  readonly runNum: number;
  readonly chunkIds: readonly string[];
}

/** Makes an organization with a user. */
export async function createOrganization(
  db: OwnedDatabase,
): Promise<OrganizationRef & { readonly userId: string }> {
  const [id, userId] = [newId(), newId()];
  const { rows } = await db.owner.query<{ num: number }>(
    "insert into organizations (id, name) values ($1, $2) returning num",
    [id, id],
  );
  await db.owner.query(
    "insert into users (id, organization_id, email, name, role) values ($1, $2, $3, 'Somebody', 'member')",
    [userId, id, `${userId}@example.com`],
  );
  return { id, num: rows[0]!.num, userId };
}

export async function createSpace(
  db: OwnedDatabase,
  organization: OrganizationRef & { readonly userId: string },
): Promise<SearchSpace> {
  const id = newId();
  const { rows } = await db.owner.query<{ num: number }>(
    "insert into spaces (id, organization_id, name, owner_id) values ($1, $2, $3, $4) returning num",
    [id, organization.id, id, organization.userId],
  );
  return {
    organization: { id: organization.id, num: organization.num },
    space: { id, num: rows[0]!.num },
    userId: organization.userId,
  };
}

export async function createFolder(
  db: OwnedDatabase,
  { organization, space }: SearchSpace,
  name: string,
  parentId: string | null = null,
): Promise<string> {
  const id = newId();
  await inTenant(db, organization, (sql) =>
    sql.query(
      `insert into folders (id, organization_id, space_id, parent_folder_id, name)
       values ($1, $2, $3, $4, $5)`,
      [id, organization.id, space.id, parentId, name],
    ),
  );
  return id;
}

/** Publishes documents in one transaction. Chunks without a vector are found by words only. */
export async function publishDocuments(
  db: OwnedDatabase,
  target: SearchSpace,
  documents: readonly SearchDocument[],
  modelName = "test-model",
): Promise<WrittenDocument[]> {
  return inTenant(db, target.organization, async (sql) => {
    const written: WrittenDocument[] = [];
    for (const document of documents) written.push(await insertDocument(sql, target, document));
    await indexChunks(
      sql,
      target,
      documents.map((document, at) => ({ ...written[at]!, chunks: document.chunks })),
      modelName,
    );
    return written;
  });
}

/**
 * Publishes a new run of a document in one transaction, and deletes the entries of the run before.
 * @returns the new run's number.
 */
export async function republishDocument(
  db: OwnedDatabase,
  target: SearchSpace,
  old: { readonly id: string; readonly runNum: number },
  { chunks, modelName = "test-model" }: Pick<SearchDocument, "chunks"> & { modelName?: string },
): Promise<number> {
  const runNum = old.runNum + 1_000_000;
  await inTenant(db, target.organization, async (sql) => {
    await sql.query(
      "update documents set published_run_num = $2, published_version = published_version + 1 where id = $1",
      [old.id, runNum],
    );
    await insertChunks(sql, target, { id: old.id, runNum, chunkIds: chunks.map(() => newId()) }, chunks);
    await indexChunks(sql, target, [{ runNum, chunks }], modelName);
    const gone = { organizationNum: target.organization.num, spaceNum: target.space.num, runNum: old.runNum };
    await hideRun(sql, { ...gone, reason: "superseded" });
    await deleteEmbeddings(sql, { ...gone, limit: 1_000_000 });
  });
  return runNum;
}

async function insertDocument(
  sql: Sql,
  { organization, space, userId }: SearchSpace,
  { name = "document.txt", folderId = null, chunks }: SearchDocument,
): Promise<WrittenDocument> {
  const id = newId();
  const { rows } = await sql.query<{ num: number }>(
    `insert into documents (
       id, organization_id, space_id, space_num, folder_id, name,
       file_type, file_size, content_type, created_by)
     values ($1, $2, $3, $4, $5, $6, 'TEXT', 1, 'text/plain', $7)
     returning num`,
    [id, organization.id, space.id, space.num, folderId, name, userId],
  );
  // Any unique number will do for a run.
  const runNum = rows[0]!.num + 1_000;
  const chunkIds = chunks.map(() => newId());
  await sql.query("update documents set published_run_num = $2, published_version = 1 where id = $1", [
    id,
    runNum,
  ]);
  await insertChunks(sql, { organization, space, userId }, { id, runNum, chunkIds }, chunks);
  return { id, runNum, chunkIds };
}

async function insertChunks(
  sql: Sql,
  { organization }: SearchSpace,
  { id, runNum, chunkIds }: WrittenDocument,
  chunks: SearchDocument["chunks"],
): Promise<void> {
  await sql.query(
    `insert into chunks (
       organization_id, run_num, chunk_index, id, document_id, text, token_count, metadata, content_hash,
       header)
     select $1, $2, chunk.position - 1, chunk.id, $3, chunk.text, 1, '{"format": "text"}', chunk.hash,
            chunk.header
     from unnest($4::uuid[], $5::text[], $6::bytea[], $7::text[])
            with ordinality chunk(id, text, hash, header, position)`,
    [
      organization.id,
      runNum,
      id,
      chunkIds,
      chunks.map((chunk) => chunk.text),
      chunks.map(hashOf),
      chunks.map((chunk) => chunk.header ?? null),
    ],
  );
}

const hashOf = ({ header, text }: SearchDocument["chunks"][number]): Buffer =>
  contentHash(Buffer.of(), text, header);

async function indexChunks(
  sql: Sql,
  { organization, space }: SearchSpace,
  runs: readonly { runNum: number; chunks: SearchDocument["chunks"] }[],
  modelName: string,
): Promise<void> {
  const indexed = runs.flatMap(({ runNum, chunks }) =>
    chunks.map((chunk, chunkIndex) => ({
      runNum,
      chunkIndex,
      ...chunkTerms({ header: chunk.header ?? null, text: chunk.text }),
      ...(chunk.terms === undefined ? {} : { terms: chunk.terms }),
    })),
  );
  await insertPostings(
    sql,
    { organizationNum: organization.num, spaceNum: space.num },
    indexed,
    ANALYZER_VERSION,
  );
  await addStatistics(sql, {
    organizationNum: organization.num,
    spaceNum: space.num,
    chunks: indexed.length,
    terms: indexed.reduce((sum, chunk) => sum + chunk.terms.length, 0),
    embeddingModel: modelName,
  });
  const embedded = runs.flatMap(({ chunks }) =>
    chunks.flatMap(({ vector, ...chunk }) => (vector === undefined ? [] : [{ hash: hashOf(chunk), vector }])),
  );
  if (embedded.length === 0) return;
  const modelNum = await embeddingModelNum(sql, modelName, embedded[0]!.vector.length);
  await keepEmbeddings(sql, organization.id, modelNum, embedded);
  await insertEmbeddingsFromCache(sql, {
    organization,
    spaceNum: space.num,
    modelNum,
    runNums: runs.map((run) => run.runNum),
  });
}
