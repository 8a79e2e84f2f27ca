/** Routes of raw files by their path in a space, except the download. */
import { authorize } from "../../../auth/policy.ts";
import { acceptFile } from "../../../commands/documents/accept-file.ts";
import { deleteFile } from "../../../commands/files/delete-file.ts";
import { fileNotFound } from "../../../commands/files/file.ts";
import { renameFile } from "../../../commands/files/rename-file.ts";
import { findRawFile, listRawFiles, type RawFileRow } from "../../../db/files/by-path.ts";
import { readTenant } from "../../../db/pool.ts";
import {
  folderOf,
  joinPath,
  MAX_PATH_BYTES,
  fileNameOf,
  objectNameOf,
  pathFault,
  pathPrefixOf,
  readAddress,
} from "../../../domain/paths.ts";
import { SpaceId } from "../../../schema/ids.ts";
import { pageOf } from "../../../schema/fields.ts";
import { valueError, ValidationProblems } from "../../../schema/requests/problem.ts";
import {
  RawFileAddress,
  RawFilePage,
  RawFileQuery,
  RawFileRename,
  RawFileUpload,
  RawFileUploaded,
} from "../../../schema/documents/raw-file.ts";
import { readForm } from "../../body/form.ts";
import { discardFile, receiveFile, requireReadable } from "../../body/stored-upload.ts";
import { defineRoute, type Route } from "../../route.ts";

const uploadRawFile = defineRoute("POST /spaces/:space_id/data/upload", {
  operation: "files.upload",
  access: "keys",
  capability: "write",
  audit: { action: "files:create", resource: "file" },
  status: 201,
  summary: "Upload a file to a path of a space; the pipeline makes it searchable.",
  description:
    "For editors and owners of the space. A file that is at the path already is replaced: its document " +
    "gets a next version, and search serves the one before until then. Folders of the path need not " +
    "exist. The file's name is the form's, without any path.",
  multipart: RawFileUpload,
  response: RawFileUploaded,
  errors: [507],
  async idempotent({ deps, principal, params, answer }) {
    const spaceId = SpaceId.parse(params["space_id"]);
    authorize(principal, "files:create", { space_id: spaceId });
    if (answer === null) return;
    const { object_name: name } = RawFileUploaded.parse(answer);
    const file = await readTenant(deps.db, principal.organization, (sql) =>
      findRawFile(sql, readAddress(spaceId, name)),
    );
    if (file === undefined) throw fileNotFound();
  },
  async handle({ deps, principal, caller, params, request, reply }) {
    authorize(principal, "files:create", { space_id: params.space_id });
    const upload = await receiveFile(deps, principal, request);
    try {
      const { file, fields } = readForm(upload, RawFileUpload, {}, (warning) =>
        reply.header("Warning", warning),
      );
      if (fields.strict === true) requireReadable(file.value);
      const path = joinPath(folderOf(params.space_id, fields.path), file.filename);
      if (pathFault(path) !== null)
        throw new ValidationProblems([
          valueError(
            ["body", "path"],
            `the path of the file has at most ${MAX_PATH_BYTES} bytes`,
            fields.path,
          ),
        ]);
      return await acceptFile(deps, caller, {
        spaceId: params.space_id,
        path,
        stored: file.value,
      });
    } catch (error) {
      if (upload.file !== null) await discardFile(deps, upload.file.value, error);
      throw error;
    }
  },
});

const listFiles = defineRoute("GET /spaces/:space_id/data/files", {
  operation: "files.list",
  access: "keys",
  capability: "read",
  audit: { action: "files:read", resource: "file" },
  summary: "List the files of a space whose path begins with a prefix.",
  description:
    "For everybody with a role in the space. Newest first. Path folders are listed while they are " +
    "empty, with `size` null.",
  query: RawFileQuery,
  response: RawFilePage,
  async handle({ principal, read, params, query }) {
    authorize(principal, "files:read", { space_id: params.space_id }, "space");
    const { items, total } = await read((sql) =>
      listRawFiles(sql, params.space_id, pathPrefixOf(params.space_id, query.prefix ?? ""), query),
    );
    return pageOf({ items: items.map(present), total }, query);
  },
});

function present(file: RawFileRow) {
  const { space_id: spaceId, path, document_id: documentId } = file;
  return { ...file, object_name: objectNameOf(spaceId, path, documentId), name: fileNameOf(path) };
}

const renameRawFile = defineRoute("PATCH /spaces/:space_id/data/rename", {
  operation: "files.rename",
  access: "keys",
  capability: "write",
  audit: { action: "files:rename", resource: "file" },
  status: 204,
  summary: "Rename or move a file, or everything below a prefix that ends with a slash.",
  description:
    "For editors and owners of the space. The document's name follows the file's. A path that is taken, " +
    "or where another document says that its file is, is 400, and then nothing is moved. Nothing is " +
    "processed again.",
  body: RawFileRename,
  async handle({ deps, caller, params, body }) {
    await renameFile(deps, caller, {
      spaceId: params.space_id,
      oldPath: body.old_path,
      newPath: body.new_path,
    });
  },
});

const deleteRawFile = defineRoute("DELETE /spaces/:space_id/data/files", {
  operation: "files.delete",
  access: "keys",
  capability: "write",
  audit: { action: "files:delete", resource: "file" },
  status: 204,
  summary: "Delete a file with its document, chunks and vectors, or an empty path folder.",
  description:
    "For editors and owners of the space. The file, its document, chunks and vectors are gone at once " +
    "for every request and search, and what they take in the stores is removed in the background. " +
    "`DELETE /v1/data/{document_id}` leaves the file. Asking again is 404.",
  query: RawFileAddress,
  headers: { "If-Match": "Delete only while the file has this ETag" },
  errors: [400, 412],
  async handle({ deps, caller, params, query, request }) {
    await deleteFile(deps, caller, {
      spaceId: params.space_id,
      path: query.path,
      ifMatch: request.headers["if-match"],
    });
  },
});

export const rawFileRoutes: readonly Route[] = [uploadRawFile, listFiles, renameRawFile, deleteRawFile];
