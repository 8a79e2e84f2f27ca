/** Routes of folders, which are a tree in each space. */
import { authorize } from "../../../auth/policy.ts";
import { createFolder } from "../../../commands/folders/create-folder.ts";
import { ensureFolders } from "../../../commands/folders/ensure-folders.ts";
import { deleteFolder } from "../../../commands/folders/delete-folder.ts";
import { authorizeFolder, folderEtag } from "../../../commands/folders/folder.ts";
import { updateFolder } from "../../../commands/folders/update-folder.ts";
import {
  findFolder,
  listFolderDocuments,
  listFolders,
  listSubFolders,
} from "../../../db/documents/folders.ts";
import { pageOf } from "../../../schema/fields.ts";
import {
  EnsuredFolders,
  Folder,
  FolderContents,
  FolderContentsQuery,
  FolderCreate,
  FolderListQuery,
  FolderPage,
  FolderPatch,
  FoldersEnsure,
} from "../../../schema/documents/folder.ts";
import { defineRoute, type Route } from "../../route.ts";

const ETAG = { ETag: "Changes with the folder; for If-Match" };

const postFolder = defineRoute("POST /folders", {
  operation: "folders.create",
  access: "keys",
  capability: "write",
  audit: { action: "folders:create", resource: "folder" },
  status: 201,
  summary: "Make a folder in a space, at its root or in another folder.",
  description: "For editors and owners of the space. Sending it twice makes two of the same name.",
  body: FolderCreate,
  response: Folder,
  replyHeaders: ETAG,
  errors: [404],
  async handle({ deps, caller, body, reply }) {
    const folder = await createFolder(deps, caller, {
      spaceId: body.space_id,
      name: body.name,
      parentFolderId: body.parent_folder_id ?? null,
    });
    reply.header("ETag", folderEtag(folder));
    return folder;
  },
});

const postEnsureFolders = defineRoute("POST /folders/ensure", {
  operation: "folders.ensure",
  access: "keys",
  capability: "write",
  audit: { action: "folders:create", resource: "folder" },
  summary: "Make the folders of paths, as far as they do not exist.",
  description:
    "For editors and owners of the space. Sending it again, or twice at once, makes nothing " +
    "twice. Folders on the way are made too. Of several folders with one name in one place the " +
    "oldest is meant.",
  body: FoldersEnsure,
  response: EnsuredFolders,
  errors: [404],
  handle: async ({ deps, caller, body }) => ({
    folders: await ensureFolders(deps, caller, {
      spaceId: body.space_id,
      parentFolderId: body.parent_id ?? null,
      paths: body.paths,
    }),
  }),
});

const listSpaceFolders = defineRoute("GET /folders/space/:space_id", {
  operation: "folders.list",
  access: "keys",
  capability: "read",
  audit: { action: "folders:read", resource: "folder" },
  summary: "List the folders of a space, or the children of one of them.",
  description:
    "For everybody with a role in the space. All folders of all levels in one list, unless " +
    "`parent_folder_id` asks for the children of one.",
  query: FolderListQuery,
  response: FolderPage,
  async handle({ principal, read, params, query }) {
    authorize(principal, "folders:read", { space_id: params.space_id }, "space");
    return pageOf(
      await read((sql) => listFolders(sql, params.space_id, query.parent_folder_id, query)),
      query,
    );
  },
});

const getFolder = defineRoute("GET /folders/:folder_id", {
  operation: "folders.get",
  access: "keys",
  capability: "read",
  audit: { action: "folders:read", resource: "folder" },
  summary: "One folder.",
  description: "For everybody with a role in its space. The `ETag` is for `If-Match` of a change.",
  response: Folder,
  replyHeaders: ETAG,
  async handle({ principal, read, params, reply }) {
    const folder = await read((sql) => findFolder(sql, principal.reach, params.folder_id));
    authorizeFolder(principal, "folders:read", folder);
    reply.header("ETag", folderEtag(folder));
    return folder;
  },
});

const getFolderContents = defineRoute("GET /folders/:folder_id/contents", {
  operation: "folders.contents",
  access: "keys",
  capability: "read",
  audit: { action: "folders:read", resource: "folder" },
  summary: "The direct contents of a folder: its subfolders, and a page of its documents.",
  description:
    "For everybody with a role in its space. All direct sub-folders come with each page; " +
    "documents of folders below are not among them.",
  query: FolderContentsQuery,
  response: FolderContents,
  handle: async ({ principal, read, params, query }) =>
    read(async (sql) => {
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
    }),
});

const patchFolder = defineRoute("PATCH /folders/:folder_id", {
  operation: "folders.update",
  access: "keys",
  capability: "write",
  audit: { action: "folders:update", resource: "folder" },
  summary: "Rename a folder, or move it with everything in it.",
  description:
    "For editors and owners of its space. A folder stays in its space, and cannot be moved below " +
    "itself (400). Documents in it are found by their new `folder_path` at once.",
  body: FolderPatch,
  response: Folder,
  headers: { "If-Match": "Change only while the folder has this ETag" },
  replyHeaders: ETAG,
  errors: [412],
  async handle({ deps, caller, params, body, request, reply }) {
    const folder = await updateFolder(deps, caller, {
      id: params.folder_id,
      ifMatch: request.headers["if-match"],
      name: body.name,
      parentFolderId: body.parent_folder_id,
    });
    reply.header("ETag", folderEtag(folder));
    return folder;
  },
});

const removeFolder = defineRoute("DELETE /folders/:folder_id", {
  operation: "folders.delete",
  access: "keys",
  capability: "write",
  audit: { action: "folders:delete", resource: "folder" },
  status: 204,
  summary: "Delete a folder with everything below it: folders, documents and their files.",
  description:
    "For editors and owners of its space. All of it is gone for every later request and search; " +
    "what it takes on disk is freed in the background.",
  headers: { "If-Match": "Delete only while the folder has this ETag" },
  errors: [412],
  async handle({ deps, caller, params, request }) {
    await deleteFolder(deps, caller, { id: params.folder_id, ifMatch: request.headers["if-match"] });
  },
});

export const folderRoutes: readonly Route[] = [
  postFolder,
  postEnsureFolders,
  listSpaceFolders,
  getFolder,
  getFolderContents,
  patchFolder,
  removeFolder,
];
