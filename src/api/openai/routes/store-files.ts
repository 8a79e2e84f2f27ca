/** The files of a vector store: documents, as OpenAI's clients know them. */
import { type Action } from "../../../auth/policy.ts";
import { addFile } from "../../../commands/vector-stores/add-file.ts";
import { presentStoreFile } from "../../../commands/vector-stores/presented.ts";
import { removeFile } from "../../../commands/vector-stores/remove-file.ts";
import { requireStore } from "../../../commands/vector-stores/store.ts";
import { updateFile } from "../../../commands/vector-stores/update-file.ts";
import { countUnits, readUnits } from "../../../db/documents/text.ts";
import { findStoreFile, listStoreFiles, type StoreFileRow } from "../../../db/stores/files.ts";
import { readTenant } from "../../../db/pool.ts";
import { knownDocument } from "../../../domain/tenancy/opened-content.ts";
import { notFound } from "../../../domain/not-found.ts";
import type { Principal } from "../../../domain/tenancy/principal.ts";
import type { TextUnit } from "../../../domain/text-unit.ts";
import { readParts } from "../../../queries/documents/read-parts.ts";
import {
  StoreFile,
  StoreFileCreate,
  StoreFileDeleted,
  StoreFileList,
  StoreFilesQuery,
  StoreFileUpdate,
} from "../../../schema/openai/store-files.ts";
import { chunkingOf, FileContentPage } from "../../../schema/openai/vector-stores.ts";
import type { Deps } from "../../deps.ts";
import type { Parts } from "../../json-answer.ts";
import { defineRoute } from "../../route.ts";
import { POLL_AFTER_MS, POLL_HEADER, POLL_HEADERS } from "./polling.ts";
import { answerList, cursorsOf } from "./cursors.ts";
import { repeatsIn } from "./vector-stores.ts";

const PATH = "/vector_stores/:vector_store_id/files";
const FILE = `${PATH}/:file_id` as const;
/** Refusals are audited as of a document, by the id that the caller named; reads by the document's own. */
const audited = (action: Action) => ({ action, resource: "document", param: "file_id" }) as const;

const addStoreFile = defineRoute(`POST ${PATH}`, {
  operation: "vector_stores.files.create",
  form: "openai",
  access: "keys",
  capability: "write",
  audit: { action: "documents:create", resource: "document", idField: "file_id" },
  summary: "Put a file into a vector store.",
  description:
    "For editors and owners of its space. The file becomes a document there, which is processed in the " +
    "background; its stored bytes are not copied. One that is in the store already stays, and is processed again " +
    "if it had failed or its chunking changes.",
  body: StoreFileCreate,
  response: StoreFile,
  ignoresUnknown: true,
  errors: [503],
  idempotent: repeatsIn("documents:create"),
  handle: async ({ deps, caller, params, body }) =>
    addFile(deps, caller, {
      storeId: params.vector_store_id,
      file: {
        fileId: body.file_id,
        attributes: body.attributes ?? undefined,
        chunking: chunkingOf(body.chunking_strategy),
        param: "file_id",
      },
    }),
});

const listFilesOfStore = defineRoute(`GET ${PATH}`, {
  operation: "vector_stores.files.list",
  form: "openai",
  access: "keys",
  capability: "read",
  audit: { action: "documents:read", resource: "folder", param: "vector_store_id" },
  summary: "The files of a vector store: all documents in its folder and below.",
  description: "For everybody with a role in its space.",
  query: StoreFilesQuery,
  response: StoreFileList,
  async handle({ principal, read, params, query }) {
    const { vector_store_id: folderId } = params;
    return read(async (sql) => {
      await requireStore(sql, principal, "documents:read", folderId);
      const page = await listStoreFiles(
        sql,
        { folderId, status: query.filter ?? null, documentIds: null },
        await cursorsOf(query, async (id) => cursorOf(await findStoreFile(sql, folderId, id))),
      );
      const files = page.items.map((file) => presentStoreFile(folderId, file));
      return answerList("file", page, files);
    });
  },
});

/** Files are listed by their documents. */
export const cursorOf = (file: StoreFileRow | undefined) => file && { ...file, id: file.document_id };

interface FileInStore {
  readonly vector_store_id: string;
  readonly file_id: string;
}

/** @throws DomainError `not_found`, `permission_denied` */
async function readStoreFile(
  { db }: Pick<Deps, "db">,
  principal: Principal,
  { vector_store_id: storeId, file_id: fileId }: FileInStore,
): Promise<StoreFileRow> {
  return readTenant(db, principal.organization, async (sql) => {
    await requireStore(sql, principal, "documents:read", storeId);
    const file = await findStoreFile(sql, storeId, fileId);
    if (file === undefined) throw notFound("file");
    return file;
  });
}

const getStoreFile = defineRoute(`GET ${FILE}`, {
  operation: "vector_stores.files.get",
  form: "openai",
  access: "keys",
  capability: "read",
  audit: audited("documents:read"),
  summary: "A file of a vector store, and where it is in the pipeline.",
  description:
    "For everybody with a role in its space. It always ends: `completed`, `failed` with its `last_error`, or " +
    "`cancelled`. While it waits for an outage to end it is `in_progress`, and `waiting_for` says so.",
  response: StoreFile,
  replyHeaders: POLL_HEADERS,
  async handle({ deps, principal, params, request, reply }) {
    const file = await readStoreFile(deps, principal, params);
    request.opened(knownDocument({ id: file.document_id }));
    const shown = presentStoreFile(params.vector_store_id, file);
    if (shown.status === "in_progress") reply.header(POLL_HEADER, POLL_AFTER_MS);
    return shown;
  },
});

const changeStoreFile = defineRoute(`POST ${FILE}`, {
  operation: "vector_stores.files.update",
  form: "openai",
  access: "keys",
  capability: "write",
  audit: audited("documents:update"),
  summary: "Replace the attributes of a file in a vector store.",
  description: "For editors and owners of its space. Nothing is processed again.",
  body: StoreFileUpdate,
  response: StoreFile,
  ignoresUnknown: true,
  idempotent: repeatsIn("documents:update"),
  handle: async ({ deps, caller, params, body }) =>
    updateFile(deps, caller, {
      storeId: params.vector_store_id,
      fileId: params.file_id,
      attributes: body.attributes ?? {},
    }),
});

const removeStoreFile = defineRoute(`DELETE ${FILE}`, {
  operation: "vector_stores.files.delete",
  form: "openai",
  access: "keys",
  capability: "write",
  audit: audited("documents:delete"),
  summary: "Remove a file from a vector store.",
  description:
    "For editors and owners of its space. Deletes that document alone: the uploaded file stays, and so do " +
    "documents that were made of it elsewhere.",
  response: StoreFileDeleted,
  async handle({ deps, caller, params }) {
    await removeFile(deps, caller, { storeId: params.vector_store_id, fileId: params.file_id });
    return { id: params.file_id, object: "vector_store.file.deleted" as const, deleted: true as const };
  },
});

const getStoreFileContent = defineRoute(`GET ${FILE}/content`, {
  operation: "vector_stores.files.content",
  form: "openai",
  access: "keys",
  capability: "read",
  audit: audited("documents:read"),
  summary: "The text that was read from a file.",
  description:
    "For everybody with a role in its space: the units of the published version or, before the first one is " +
    "published, of the run under way as soon as it is parsed.",
  response: FileContentPage,
  async handle({ deps, principal, params, request: { opened } }) {
    const file = await readStoreFile(deps, principal, params);
    const { parts } = await readParts(
      { db: deps.db, principal, documentId: file.document_id, page: null, opened },
      { count: countUnits, read: readUnits },
    );
    return {
      object: "vector_store.file_content.page" as const,
      data: contentOf(parts),
      has_more: false as const,
      next_page: null,
    };
  },
});

async function* contentOf(parts: Parts<TextUnit>): AsyncGenerator<{ type: "text"; text: string }[]> {
  for await (const units of parts) yield units.map(({ text }) => ({ type: "text" as const, text }));
}

export const storeFileRoutes = [
  addStoreFile,
  listFilesOfStore,
  getStoreFile,
  changeStoreFile,
  removeStoreFile,
  getStoreFileContent,
];
