/** Resource folders: a tree in each space, changed by one request at a time, so that it always stays a tree. */
import { authorize } from "../../../auth/policy.ts";
import { appendAudit } from "../../../db/audit/append.ts";
import { markFolderDeleted } from "../../../db/deletions/accept.ts";
import {
  findFolder,
  type FolderChange,
  type FolderRow,
  insertFolder,
  isWithinFolder,
  listFolderDocuments,
  listFolders,
  listSubFolders,
  lockFolderTree,
  updateFolder,
} from "../../../db/documents/folders.ts";
import { inTenant, type Sql } from "../../../db/pool.ts";
import { DomainError } from "../../../domain/errors.ts";
import { newId } from "../../../domain/ids.ts";
import type { Principal } from "../../../domain/tenancy/principal.ts";
import { FolderParams, pageOf, SpaceParams } from "../../../schema/common.ts";
import {
  Folder,
  FolderContents,
  FolderContentsQuery,
  FolderCreate,
  FolderListQuery,
  FolderPage,
  FolderPatch,
} from "../../../schema/documents/folder.ts";
import { etagOf, requireMatch } from "../../response.ts";
import { defineRoute, type Route } from "../../route.ts";

const etag = (folder: FolderRow): string => etagOf(folder.id, folder.updated_at);
const ETAG = { ETag: "Changes with the folder; for If-Match" };

const createFolder = defineRoute({
  method: "POST",
  path: "/folders",
  access: "keys",
  capability: "write",
  audit: { action: "folders:create", resource: "folder" },
  status: 201,
  summary: "Make a folder in a space, at its root or in another folder.",
  tags: ["Folders"],
  body: FolderCreate,
  response: Folder,
  replyHeaders: ETAG,
  errors: [404],
  async handle({ deps, principal, body, request, reply }) {
    authorize(principal, "folders:create", { space_id: body.space_id });
    const { organization, user } = principal;
    const id = newId();
    const folder = await inTenant(deps.db, organization, async (sql) => {
      await lockFolderTree(sql, body.space_id);
      const parentFolderId = body.parent_folder_id ?? null;
      if (parentFolderId !== null) await requireParent(sql, principal, body.space_id, parentFolderId);
      await insertFolder(sql, {
        id,
        organizationId: organization.id,
        spaceId: body.space_id,
        parentFolderId,
        name: body.name,
        createdBy: user.id,
      });
      await appendAudit(sql, principal, {
        action: "folders:create",
        resource_type: "folder",
        resource_id: id,
        space_id: body.space_id,
        request_id: request.id,
        outcome: "success",
      });
      return findFolder(sql, principal.reach, id);
    });
    authorizeFolder(principal, "folders:write", folder);
    reply.header("ETag", etag(folder));
    return folder;
  },
});

const listSpaceFolders = defineRoute({
  method: "GET",
  path: "/folders/space/:space_id",
  access: "keys",
  capability: "read",
  audit: { action: "folders:read", resource: "folder" },
  status: 200,
  summary: "List the folders of a space, or the children of one of them.",
  tags: ["Folders"],
  params: SpaceParams,
  query: FolderListQuery,
  response: FolderPage,
  async handle({ deps, principal, params, query }) {
    authorize(principal, "folders:read", { space_id: params.space_id }, "Space not found");
    const { items, total } = await inTenant(deps.db, principal.organization, (sql) =>
      listFolders(sql, params.space_id, query.parent_folder_id, query),
    );
    return pageOf(items, total, query);
  },
});

const getFolder = defineRoute({
  method: "GET",
  path: "/folders/:folder_id",
  access: "keys",
  capability: "read",
  audit: { action: "folders:read", resource: "folder" },
  status: 200,
  summary: "One folder.",
  tags: ["Folders"],
  params: FolderParams,
  response: Folder,
  replyHeaders: ETAG,
  async handle({ deps, principal, params, reply }) {
    const folder = await inTenant(deps.db, principal.organization, (sql) =>
      findFolder(sql, principal.reach, params.folder_id),
    );
    authorizeFolder(principal, "folders:read", folder);
    reply.header("ETag", etag(folder));
    return folder;
  },
});

const getFolderContents = defineRoute({
  method: "GET",
  path: "/folders/:folder_id/contents",
  access: "keys",
  capability: "read",
  audit: { action: "folders:read", resource: "folder" },
  status: 200,
  summary: "What lies directly in a folder: its sub-folders, and a page of its documents.",
  tags: ["Folders"],
  params: FolderParams,
  query: FolderContentsQuery,
  response: FolderContents,
  async handle({ deps, principal, params, query }) {
    return inTenant(deps.db, principal.organization, async (sql) => {
      const folder = await findFolder(sql, principal.reach, params.folder_id);
      authorizeFolder(principal, "folders:read", folder);
      const subFolders = await listSubFolders(sql, folder.id);
      const documents = await listFolderDocuments(sql, principal.reach, folder.id, query);
      return {
        folder_id: folder.id,
        folder,
        sub_folders: subFolders,
        documents: documents.items,
        sub_folder_count: subFolders.length,
        document_count: documents.total,
        page: query.page,
        page_size: query.limit,
      };
    });
  },
});

const patchFolder = defineRoute({
  method: "PATCH",
  path: "/folders/:folder_id",
  access: "keys",
  capability: "write",
  audit: { action: "folders:update", resource: "folder" },
  status: 200,
  summary: "Rename a folder, or move it with all that is in it.",
  description: "A folder stays in its space, and cannot be moved below itself (400).",
  tags: ["Folders"],
  params: FolderParams,
  body: FolderPatch,
  response: Folder,
  headers: { "If-Match": "Change only while the folder has this ETag" },
  replyHeaders: ETAG,
  errors: [412],
  async handle({ deps, principal, params, body, request, reply }) {
    const folder = await inTenant(deps.db, principal.organization, async (sql) => {
      const found = await lockFolder(sql, principal, params.folder_id);
      requireMatch(request.headers, etag(found));
      await requireMovable(sql, principal, found, body);
      await updateFolder(sql, found.id, body);
      await appendAudit(sql, principal, {
        action: "folders:update",
        resource_type: "folder",
        resource_id: found.id,
        space_id: found.home_space_id,
        request_id: request.id,
        outcome: "success",
      });
      return findFolder(sql, principal.reach, found.id);
    });
    authorizeFolder(principal, "folders:write", folder);
    reply.header("ETag", etag(folder));
    return folder;
  },
});

const deleteFolder = defineRoute({
  method: "DELETE",
  path: "/folders/:folder_id",
  access: "keys",
  capability: "write",
  audit: { action: "folders:delete", resource: "folder" },
  status: 204,
  summary: "Delete a folder with everything below it: folders, documents and their files.",
  description:
    "All of it is gone for every later request and search; what it takes on disk is freed in the background.",
  tags: ["Folders"],
  params: FolderParams,
  headers: { "If-Match": "Delete only while the folder has this ETag" },
  errors: [412],
  async handle({ deps, principal, params, request }) {
    const { organization, user } = principal;
    await inTenant(deps.db, organization, async (sql) => {
      const found = await lockFolder(sql, principal, params.folder_id);
      requireMatch(request.headers, etag(found));
      await markFolderDeleted(sql, { organization, userId: user.id, targetId: found.id });
      await appendAudit(sql, principal, {
        action: "folders:delete",
        resource_type: "folder",
        resource_id: found.id,
        space_id: found.home_space_id,
        request_id: request.id,
        outcome: "success",
      });
    });
    deps.dispatcher.wakeDeletions(organization.id);
  },
});

function authorizeFolder(
  principal: Principal,
  action: "folders:read" | "folders:write",
  folder: FolderRow | undefined,
): asserts folder is FolderRow {
  authorize(principal, action, folder === undefined ? undefined : { space_id: folder.home_space_id });
}

/**
 * The folder as it is once nobody else changes the tree of its space.
 * @throws DomainError `not_found`, `permission_denied`
 */
async function lockFolder(sql: Sql, principal: Principal, id: string): Promise<FolderRow> {
  const found = await findFolder(sql, principal.reach, id);
  authorizeFolder(principal, "folders:write", found);
  await lockFolderTree(sql, found.home_space_id);
  const locked = await findFolder(sql, principal.reach, id);
  authorizeFolder(principal, "folders:write", locked);
  return locked;
}

async function requireMovable(
  sql: Sql,
  principal: Principal,
  folder: FolderRow,
  { parent_folder_id: parentId }: FolderChange,
): Promise<void> {
  if (parentId === undefined || parentId === null) return;
  await requireParent(sql, principal, folder.home_space_id, parentId);
  if (await isWithinFolder(sql, parentId, folder.id))
    throw new DomainError("bad_request", "A folder cannot be moved below itself.");
}

/** @throws DomainError `not_found` for a folder that is not reached, `bad_request` for one of another space. */
async function requireParent(sql: Sql, principal: Principal, spaceId: string, id: string): Promise<void> {
  const parent = await findFolder(sql, principal.reach, id);
  authorizeFolder(principal, "folders:read", parent);
  if (parent.home_space_id !== spaceId)
    throw new DomainError("bad_request", "The folder belongs to another space.");
}

export const folderRoutes: readonly Route[] = [
  createFolder,
  listSpaceFolders,
  getFolder,
  getFolderContents,
  patchFolder,
  deleteFolder,
];
