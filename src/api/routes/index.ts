/** The table of all endpoints: what is not in it does not exist. */
import type { Route } from "../route.ts";
import { agentRoutes } from "./agents.ts";
import { ownKeyRoutes } from "./api-keys.ts";
import { auditLogRoutes } from "./audit-log.ts";
import { batchRoutes } from "./batches.ts";
import { createChatCompletion } from "./chat.ts";
import { decodePayloads } from "./codec.ts";
import { listDocuments } from "./data-search.ts";
import { docsRoutes } from "./docs.ts";
import { downloadRawFile } from "./download.ts";
import { documentPartRoutes } from "./document-parts.ts";
import { deleteDocument, getDocument, patchDocument } from "./documents.ts";
import { folderRoutes } from "./folders.ts";
import { health, ready } from "./health.ts";
import { searchDocuments } from "./hybrid-search.ts";
import { getMe } from "./me.ts";
import { checkDocument } from "./integrity.ts";
import { leakedKeyRoutes } from "./leaked-keys.ts";
import { listModels } from "./models.ts";
import { memberRoutes } from "./members.ts";
import { organizationKeyRoutes } from "./organization-keys.ts";
import { organizationRoutes } from "./organizations.ts";
import { makePathFolder } from "./path-folders.ts";
import { rawFileRoutes } from "./raw-files.ts";
import { reprocessDocument, restoreVersion } from "./reprocess.ts";
import { runRoutes } from "./runs.ts";
import { spaceMemberRoutes } from "./space-members.ts";
import { spaceRoutes } from "./spaces.ts";
import { uploadDocument } from "./uploads.ts";
import { usageRoutes } from "./usage.ts";

/** The endpoints of the contract, in the order of the OpenAPI document. */
export const API_ROUTES: readonly Route[] = [
  health,
  ready,
  listModels,
  createChatCompletion,
  ...spaceRoutes,
  ...spaceMemberRoutes,
  ...agentRoutes,
  uploadDocument,
  listDocuments,
  getDocument,
  patchDocument,
  deleteDocument,
  ...documentPartRoutes,
  checkDocument,
  reprocessDocument,
  restoreVersion,
  ...runRoutes,
  ...batchRoutes,
  searchDocuments,
  ...rawFileRoutes,
  downloadRawFile,
  makePathFolder,
  ...folderRoutes,
  getMe,
  ...ownKeyRoutes,
  ...leakedKeyRoutes,
  ...organizationRoutes,
  ...organizationKeyRoutes,
  ...memberRoutes,
  ...auditLogRoutes,
  ...usageRoutes,
];

export const ROUTES: readonly Route[] = [...API_ROUTES, decodePayloads, ...docsRoutes(API_ROUTES)];
