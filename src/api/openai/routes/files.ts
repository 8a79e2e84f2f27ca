/** `/v1/files`: what users send for vector stores and responses, outside of every space. */
import { pipeline } from "node:stream/promises";
import { createUserFile } from "../../../commands/user-files/create-user-file.ts";
import { deleteUserFile } from "../../../commands/user-files/delete-user-file.ts";
import {
  authorizeUserFiles,
  presentDocumentAsFile,
  presentUserFile,
} from "../../../commands/user-files/user-file.ts";
import { findUserFile, listUserFiles } from "../../../db/stores/user-files.ts";
import { readTenant } from "../../../db/pool.ts";
import { findFile } from "../../../queries/user-files/find-file.ts";
import { knownDocument, openedDocument } from "../../../domain/tenancy/opened-content.ts";
import { notFound } from "../../../domain/not-found.ts";
import { FileIdInput } from "../../../schema/openai/ids.ts";
import { FilePart } from "../../../schema/fields.ts";
import { FileDeleted, FileList, FileObject, FilesQuery, FileUpload } from "../../../schema/openai/files.ts";
import { drillPoint } from "../../../telemetry/drill-point.ts";
import { readForm } from "../../body/form.ts";
import { discardFile, receiveFile } from "../../body/stored-upload.ts";
import type { ReceivedUpload } from "../../body/uploads.ts";
import { attachment } from "../../downloads.ts";
import type { Repeat } from "../../idempotency.ts";
import { stream } from "../../response.ts";
import { defineRoute } from "../../route.ts";
import { answerList, cursorsOf } from "./cursors.ts";

const createFile = defineRoute("POST /files", {
  operation: "files.create",
  form: "openai",
  access: "keys",
  capability: "write",
  audit: { action: "user_files:create", resource: "user_file" },
  summary: "Upload a file, to put it into vector stores or to use it in responses.",
  description:
    "It belongs to the user, and is in no space. Nothing is done with it until it is put into a vector store: " +
    "each store has it as a document of its own, and all of them share its stored bytes.",
  multipart: FileUpload,
  response: FileObject,
  errors: [404, 503, 507],
  idempotent: mayRepeat,
  async handle({ deps, principal, caller, request, reply }) {
    const upload = await receiveFile(deps, principal, request);
    await drillPoint("createFile: object stored, nothing accepted");
    try {
      const { file, fields } = readForm(
        withExpiry(upload),
        FileUpload,
        { json: ["expires_after"] },
        (warning) => reply.header("Warning", warning),
      );
      const made = await createUserFile(deps, caller, {
        filename: file.filename,
        purpose: fields.purpose,
        expiresAfterSeconds: fields.expires_after?.seconds ?? null,
        stored: file.value,
      });
      return presentUserFile(made);
    } catch (error) {
      if (upload.file !== null) await discardFile(deps, upload.file.value, error);
      throw error;
    }
  },
});

const ANCHOR = "expires_after[anchor]";
const SECONDS = "expires_after[seconds]";

/** OpenAI's libraries send the members of an object as fields of their own. */
function withExpiry<T>(upload: ReceivedUpload<T>): ReceivedUpload<T> {
  const { [ANCHOR]: anchor, [SECONDS]: seconds, ...fields } = upload.fields;
  if (anchor === undefined && seconds === undefined) return upload;
  const number = seconds !== undefined && /^\d{1,15}$/.test(seconds) ? Number(seconds) : seconds;
  return { ...upload, fields: { ...fields, expires_after: JSON.stringify({ anchor, seconds: number }) } };
}

/** The file must still be the caller's. */
async function mayRepeat({ deps, principal, answer }: Repeat): Promise<void> {
  authorizeUserFiles(principal, "user_files:create");
  if (answer === null) return;
  const id = FileIdInput.parse(answer["id"]);
  const file = await readTenant(deps.db, principal.organization, (sql) => findUserFile(sql, principal, id));
  if (file === undefined) throw notFound("file");
}

const listFiles = defineRoute("GET /files", {
  operation: "files.list_uploads",
  form: "openai",
  access: "keys",
  capability: "read",
  audit: { action: "user_files:read", resource: "user_file" },
  summary: "The files that the caller uploaded here.",
  description: "A key that is narrowed to spaces sees only the files that it uploaded itself.",
  query: FilesQuery,
  response: FileList,
  async handle({ principal, read, query }) {
    authorizeUserFiles(principal, "user_files:read");
    const page = await read(async (sql) =>
      listUserFiles(
        sql,
        principal,
        query.purpose ?? null,
        await cursorsOf(query, (id) => findUserFile(sql, principal, id)),
      ),
    );
    return answerList("file", page, page.items.map(presentUserFile));
  },
});

const getFile = defineRoute("GET /files/:file_id", {
  operation: "files.get_upload",
  form: "openai",
  access: "keys",
  capability: "read",
  audit: { action: "user_files:read", resource: "user_file", param: "file_id" },
  summary: "A file by its id.",
  description:
    "The caller's own, or one that is in a vector store which the caller reaches. The id of a document, with " +
    "`file-` before it, is the id of a file too.",
  response: FileObject,
  async handle({ deps, principal, params, request }) {
    const found = await findFile(deps.db, principal, params.file_id);
    if ("file" in found) return presentUserFile(found.file);
    request.opened(knownDocument(found.document));
    return presentDocumentAsFile(params.file_id, found.document);
  },
});

const removeFile = defineRoute("DELETE /files/:file_id", {
  operation: "files.delete_upload",
  form: "openai",
  access: "keys",
  capability: "write",
  audit: { action: "user_files:delete", resource: "user_file", param: "file_id" },
  summary: "Delete a file, and remove it from all vector stores that the caller may write to.",
  description:
    "Its documents are gone at once; the stored bytes are erased once nothing refers to them. A document's own " +
    "id deletes the document.",
  response: FileDeleted,
  async handle({ deps, caller, params }) {
    await deleteUserFile(deps, caller, params.file_id);
    return { id: params.file_id, object: "file" as const, deleted: true as const };
  },
});

/** Keeps a browser from running a file or showing it as a page of this origin, whatever its type. */
const CSP = "sandbox; default-src 'none'; frame-ancestors 'none'";

const getContent = defineRoute("GET /files/:file_id/content", {
  operation: "files.content",
  form: "openai",
  access: "keys",
  capability: "read",
  audit: { action: "user_files:read", resource: "user_file", param: "file_id" },
  summary: "The bytes of a file.",
  description: "Whatever its purpose. For everybody to whom `GET /v1/files/{file_id}` shows it.",
  replyHeaders: {
    "Content-Disposition": "`attachment` with the file's name",
    "Content-Length": "Bytes of the answer",
    "Cache-Control": "`private, no-cache`",
  },
  otherContent: {
    "*/*": { schema: FilePart, description: "Under the file's own type" },
  },
  async handle({ deps, principal, params, request, reply }) {
    const found = await findFile(deps.db, principal, params.file_id);
    const content = "file" in found ? found.file : found.document;
    const isHead = request.req.method === "HEAD";
    const body = isHead
      ? null
      : await deps.storage.get({
          organizationId: principal.organization.id,
          name: content.object_key,
          signal: request.signal,
        });
    if ("document" in found) request.opened((isHead ? knownDocument : openedDocument)(found.document));
    const headers = {
      "Cache-Control": "private, no-cache",
      "Content-Type": content.content_type,
      "Content-Disposition": attachment(content.name),
      "Content-Security-Policy": CSP,
      "Content-Length": String(content.size),
    };
    for (const [header, value] of Object.entries(headers)) reply.header(header, value);
    return stream(async (res) => {
      if (body !== null) await pipeline(body, res);
    });
  },
});

export const userFileRoutes = [createFile, listFiles, getFile, removeFile, getContent];
