/** Batches of files that are put into a vector store together. */
import { presentBatch, presentStoreFile } from "../../../commands/vector-stores/presented.ts";
import { cancelFileBatch } from "../../../commands/vector-stores/cancel-file-batch.ts";
import { createFileBatch } from "../../../commands/vector-stores/create-file-batch.ts";
import type { WantedFile } from "../../../commands/vector-stores/file.ts";
import { requireStore } from "../../../commands/vector-stores/store.ts";
import { type BatchRow, findBatch, findStoreFile, listStoreFiles } from "../../../db/stores/files.ts";
import { type Sql } from "../../../db/pool.ts";
import { notFound } from "../../../domain/not-found.ts";
import type { Principal } from "../../../domain/tenancy/principal.ts";
import type { z } from "zod";
import {
  FileBatch,
  FileBatchCreate,
  StoreFileList,
  StoreFilesQuery,
} from "../../../schema/openai/store-files.ts";
import { chunkingOf } from "../../../schema/openai/vector-stores.ts";
import { drillPoint } from "../../../telemetry/drill-point.ts";
import { defineRoute } from "../../route.ts";
import { answerList, cursorsOf } from "./cursors.ts";
import { POLL_AFTER_MS, POLL_HEADER, POLL_HEADERS } from "./polling.ts";
import { cursorOf } from "./store-files.ts";
import { repeatsIn } from "./vector-stores.ts";

const PATH = "/vector_stores/:vector_store_id/file_batches";
const BATCH = `${PATH}/:file_batch_id` as const;
const RESOURCE = { resource: "vector_store_batch", param: "file_batch_id" } as const;

const createBatch = defineRoute(`POST ${PATH}`, {
  operation: "vector_stores.file_batches.create",
  form: "openai",
  access: "keys",
  capability: "write",
  audit: { action: "documents:create", ...RESOURCE },
  summary: "Put many files into a vector store: all of them or none.",
  description:
    "For editors and owners of its space. A file that the caller has not is refused with its field as `param`, " +
    "and nothing is changed.",
  body: FileBatchCreate,
  response: FileBatch,
  ignoresUnknown: true,
  errors: [503],
  idempotent: repeatsIn("documents:create"),
  async handle({ deps, caller, params, body }) {
    const batch = await createFileBatch(deps, caller, {
      storeId: params.vector_store_id,
      files: wantedOf(body),
    });
    await drillPoint("createFileBatch: committed, not answered");
    return batch;
  },
});

function wantedOf(body: z.output<typeof FileBatchCreate>): WantedFile[] {
  if (body.files)
    return body.files.map((file, index) => ({
      fileId: file.file_id,
      attributes: file.attributes ?? undefined,
      chunking: chunkingOf(file.chunking_strategy),
      param: `files[${index}].file_id`,
    }));
  const { file_ids: ids, attributes, chunking_strategy: strategy } = body;
  const shared = { attributes: attributes ?? undefined, chunking: chunkingOf(strategy) };
  return (ids ?? []).map((fileId, index) => ({ fileId, ...shared, param: `file_ids[${index}]` }));
}

interface BatchInStore {
  readonly vector_store_id: string;
  readonly file_batch_id: string;
}

/** @throws DomainError `not_found`, `permission_denied` */
async function readBatch(
  sql: Sql,
  principal: Principal,
  { vector_store_id: storeId, file_batch_id: batchId }: BatchInStore,
): Promise<BatchRow> {
  await requireStore(sql, principal, "documents:read", storeId);
  const batch = await findBatch(sql, storeId, batchId);
  if (batch === undefined) throw notFound("batch");
  return batch;
}

const getBatch = defineRoute(`GET ${BATCH}`, {
  operation: "vector_stores.file_batches.get",
  form: "openai",
  access: "keys",
  capability: "read",
  audit: { action: "documents:read", ...RESOURCE },
  summary: "A batch of files, and how many of them are in which state.",
  description: "For everybody with a role in its space. Files that were removed since do not count.",
  response: FileBatch,
  replyHeaders: POLL_HEADERS,
  async handle({ principal, read, params, reply }) {
    const batch = presentBatch(await read((sql) => readBatch(sql, principal, params)));
    if (batch.status === "in_progress") reply.header(POLL_HEADER, POLL_AFTER_MS);
    return batch;
  },
});

const cancelBatch = defineRoute(`POST ${BATCH}/cancel`, {
  operation: "vector_stores.file_batches.cancel",
  form: "openai",
  access: "keys",
  capability: "write",
  audit: { action: "documents:reprocess", ...RESOURCE },
  summary: "Cancel a batch of files: those that are still processed end.",
  description:
    "For editors and owners of its space. What has completed stays. A batch that has ended stays as it is.",
  response: FileBatch,
  idempotent: repeatsIn("documents:reprocess"),
  handle: async ({ deps, caller, params }) =>
    cancelFileBatch(deps, caller, { storeId: params.vector_store_id, batchId: params.file_batch_id }),
});

const listFilesOfBatch = defineRoute(`GET ${BATCH}/files`, {
  operation: "vector_stores.file_batches.files",
  form: "openai",
  access: "keys",
  capability: "read",
  audit: { action: "documents:read", ...RESOURCE },
  summary: "The files of a batch that are still in the vector store.",
  description: "For everybody with a role in its space.",
  query: StoreFilesQuery,
  response: StoreFileList,
  async handle({ principal, read, params, query }) {
    const { vector_store_id: folderId } = params;
    return read(async (sql) => {
      const batch = await readBatch(sql, principal, params);
      const page = await listStoreFiles(
        sql,
        { folderId, status: query.filter ?? null, documentIds: batch.document_ids },
        await cursorsOf(query, async (id) => cursorOf(await findStoreFile(sql, folderId, id))),
      );
      const files = page.items.map((file) => presentStoreFile(folderId, file));
      return answerList("file", page, files);
    });
  },
});

export const fileBatchRoutes = [createBatch, getBatch, cancelBatch, listFilesOfBatch];
