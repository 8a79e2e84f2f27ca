/** Raw files by their path in a space: upload, list, rename and move, delete. Their download is in download.ts. */
import { authorize } from "../../../auth/policy.ts";
import { appendAudit } from "../../../db/audit/append.ts";
import { markRawFileDeleted } from "../../../db/deletions/accept.ts";
import { deleteEmptyPathFolder } from "../../../db/files/folders.ts";
import { moveFile, movePrefix } from "../../../db/files/moves.ts";
import { inTenant, type Sql } from "../../../db/pool.ts";
import {
  findRawFile,
  listRawFiles,
  lockAllPaths,
  lockDocumentOf,
  type RawFileRow,
} from "../../../db/files/by-path.ts";
import { DomainError } from "../../../domain/errors.ts";
import {
  type FileAddress,
  joinPath,
  MAX_PATH_BYTES,
  nameOf,
  objectNameOf,
  pathFault,
  readAddress,
} from "../../../domain/paths.ts";
import { pageOf, SpaceParams } from "../../../schema/common.ts";
import { valueError, ValidationProblems } from "../../../schema/requests/problem.ts";
import {
  RawFileAddress,
  RawFilePage,
  RawFileQuery,
  RawFileRename,
  RawFileUpload,
  RawFileUploaded,
} from "../../../schema/documents/raw-file.ts";
import { acceptFile } from "../../../commands/documents/accept-file.ts";
import { discardFile, receiveFile } from "../../body/stored-upload.ts";
import { fileEtag } from "../../downloads.ts";
import { readForm } from "../../body/form.ts";
import { requireUnchanged } from "../../../commands/etag.ts";
import { defineRoute, type Route } from "../../route.ts";

const NO_SPACE = "Space not found";
const NO_FILE = "File not found";

const uploadRawFile = defineRoute({
  method: "POST",
  path: "/spaces/:space_id/data/upload",
  access: "keys",
  capability: "write",
  audit: { action: "files:create", resource: "file" },
  status: 201,
  summary: "Upload a file to a path of a space; the pipeline makes it searchable.",
  description:
    "A file that is at the path already is replaced: its document gets a next version, and search serves the one before until then.",
  tags: ["Raw files"],
  params: SpaceParams,
  multipart: RawFileUpload,
  response: RawFileUploaded,
  errors: [507],
  async idempotent({ deps, principal, params, answer }) {
    const { space_id: spaceId } = SpaceParams.parse(params);
    authorize(principal, "files:create", { space_id: spaceId });
    if (answer === null) return;
    const { object_name: name } = RawFileUploaded.parse(answer);
    const file = await inTenant(deps.db, principal.organization, (sql) =>
      findRawFile(sql, readAddress(spaceId, name)),
    );
    if (file === undefined) throw new DomainError("not_found", NO_FILE);
  },
  async handle({ deps, principal, caller, params, request }) {
    authorize(principal, "files:create", { space_id: params.space_id });
    const upload = await receiveFile(deps, principal, request);
    try {
      const { file, fields } = readForm(upload, RawFileUpload);
      const path = joinPath(fields.path, file.filename);
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

const listFiles = defineRoute({
  method: "GET",
  path: "/spaces/:space_id/data/files",
  access: "keys",
  capability: "read",
  audit: { action: "files:read", resource: "file" },
  status: 200,
  summary: "List the files of a space whose path begins with a prefix.",
  description: "Newest first. Path folders are listed while they are empty, with `size` null.",
  tags: ["Raw files"],
  params: SpaceParams,
  query: RawFileQuery,
  response: RawFilePage,
  async handle({ deps, principal, params, query }) {
    authorize(principal, "files:read", { space_id: params.space_id }, NO_SPACE);
    const { items, total } = await inTenant(deps.db, principal.organization, (sql) =>
      listRawFiles(sql, params.space_id, query.prefix ?? "", query),
    );
    return pageOf(items.map(present), total, query);
  },
});

function present(file: RawFileRow) {
  return { ...file, object_name: objectNameOf(file.space_id, file.path), name: nameOf(file.path) };
}

const renameRawFile = defineRoute({
  method: "PATCH",
  path: "/spaces/:space_id/data/rename",
  access: "keys",
  capability: "write",
  audit: { action: "files:rename", resource: "file" },
  status: 204,
  summary: "Rename or move a file, or all that lies below a prefix that ends with a slash.",
  description:
    "The document's name follows the file's. A path that is taken is 400, and then nothing is moved.",
  tags: ["Raw files"],
  params: SpaceParams,
  body: RawFileRename,
  async handle({ deps, principal, params, body, request }) {
    authorize(principal, "files:rename", { space_id: params.space_id }, NO_SPACE);
    await inTenant(deps.db, principal.organization, async (sql) => {
      await lockAllPaths(sql, params.space_id);
      const id = await move(sql, params.space_id, body.old_path, body.new_path);
      await appendAudit(sql, principal, {
        action: "files:rename",
        resource_type: "file",
        resource_id: id,
        space_id: params.space_id,
        request_id: request.id,
        outcome: "success",
      });
    });
  },
});

/** @returns the id of the one file that was moved, null for all below a prefix. */
async function move(sql: Sql, spaceId: string, oldPath: string, newPath: string): Promise<string | null> {
  if (oldPath.endsWith("/")) return moveBelow(sql, spaceId, oldPath, newPath);
  const file = await findRawFile(sql, readAddress(spaceId, oldPath));
  if (file === undefined) throw new DomainError("not_found", NO_FILE);
  if (file.path === newPath) return file.id;
  if (file.object_key === null) return moveBelow(sql, spaceId, `${file.path}/`, `${newPath}/`);
  if (!(await moveFile(sql, file, newPath))) throw new DomainError("not_found", NO_FILE);
  return file.id;
}

async function moveBelow(sql: Sql, spaceId: string, oldPrefix: string, newPrefix: string): Promise<null> {
  if (newPrefix !== oldPrefix && newPrefix.startsWith(oldPrefix))
    throw new DomainError("bad_request", "A folder cannot be moved below itself.");
  if ((await movePrefix(sql, spaceId, oldPrefix, newPrefix)) === 0)
    throw new DomainError("not_found", NO_FILE);
  return null;
}

const deleteRawFile = defineRoute({
  method: "DELETE",
  path: "/spaces/:space_id/data/files",
  access: "keys",
  capability: "write",
  audit: { action: "files:delete", resource: "file" },
  status: 204,
  summary: "Delete a file with its document, chunks and vectors, or an empty path folder.",
  tags: ["Raw files"],
  params: SpaceParams,
  query: RawFileAddress,
  headers: { "If-Match": "Delete only while the file has this ETag" },
  errors: [400, 412],
  async handle({ deps, principal, params, query, request }) {
    authorize(principal, "files:delete", { space_id: params.space_id }, NO_SPACE);
    const { organization, user } = principal;
    await inTenant(deps.db, organization, async (sql) => {
      const file = await lockFile(sql, readAddress(params.space_id, query.path));
      requireUnchanged(request.headers["if-match"], fileEtag(file));
      if (file.object_key === null) {
        if (!(await deleteEmptyPathFolder(sql, file.id)))
          throw new DomainError("bad_request", "The folder is not empty.");
      } else if (!(await markRawFileDeleted(sql, { organization, userId: user.id, targetId: file.id }))) {
        throw new DomainError("not_found", NO_FILE);
      }
      await appendAudit(sql, principal, {
        action: "files:delete",
        resource_type: "file",
        resource_id: file.id,
        space_id: params.space_id,
        request_id: request.id,
        outcome: "success",
      });
    });
    deps.dispatcher.wakeDeletions(organization.id);
  },
});

/** The file as it is once a replacement or deletion that is under way has ended. */
async function lockFile(sql: Sql, address: FileAddress): Promise<RawFileRow> {
  const seen = await findRawFile(sql, address);
  if (seen !== undefined) await lockDocumentOf(sql, seen);
  const file = await findRawFile(sql, address);
  if (file === undefined) throw new DomainError("not_found", NO_FILE);
  return file;
}

export const rawFileRoutes: readonly Route[] = [uploadRawFile, listFiles, renameRawFile, deleteRawFile];
