/** The table of all endpoints: what is not in it does not exist. */
import type { Route } from "../route.ts";
import { accessRoutes } from "./callers/access.ts";
import { agentRoutes } from "./agents/agents.ts";
import { ownKeyRoutes } from "./callers/api-keys.ts";
import { auditLogRoutes } from "./organizations/audit-log.ts";
import { batchRoutes } from "./documents/batches.ts";
import { batchDelete, batchMove } from "./documents/bulk.ts";
import { createEmbeddings } from "../openai/routes/embeddings.ts";
import { fileBatchRoutes } from "../openai/routes/file-batches.ts";
import { userFileRoutes } from "../openai/routes/files.ts";
import { storeFileRoutes } from "../openai/routes/store-files.ts";
import { searchVectorStore } from "../openai/routes/store-search.ts";
import { vectorStoreRoutes } from "../openai/routes/vector-stores.ts";
import { responseRoutes } from "../openai/routes/responses.ts";
import { createChatCompletion } from "../openai/routes/completions.ts";
import { decodePayloads } from "./service/codec.ts";
import { listDocuments } from "./documents/search.ts";
import { deletionRoutes } from "./documents/deletions.ts";
import { docsRoutes } from "./service/docs.ts";
import { consoleRoutes } from "./service/console.ts";
import { guideRoutes } from "./service/guide.ts";
import { landingRoute } from "./service/landing.ts";
import { downloadRawFile } from "./spaces/download.ts";
import { documentPartRoutes } from "./documents/parts.ts";
import { getDocument, patchDocument, removeDocument } from "./documents/documents.ts";
import { eventRoutes } from "./events/events.ts";
import { folderRoutes } from "./spaces/folders.ts";
import { health, ready } from "./service/health.ts";
import { compareSearches, searchDocuments } from "./documents/hybrid-search.ts";
import { getMe } from "./callers/me.ts";
import { checkDocument } from "./documents/integrity.ts";
import { leakedKeyRoutes } from "./callers/leaked-keys.ts";
import { getModel, listModels } from "../openai/routes/models.ts";
import { mcpRoutes } from "./mcp/mcp.ts";
import { memberRoutes } from "./organizations/members.ts";
import { organizationKeyRoutes } from "./organizations/keys.ts";
import { organizationRoutes } from "./organizations/organizations.ts";
import { makePathFolder } from "./spaces/path-folders.ts";
import { rawFileRoutes } from "./spaces/raw-files.ts";
import { operationRoutes } from "./operations/operations.ts";
import { pageRoutes } from "./documents/pages.ts";
import { postReprocess, postRestore } from "./documents/reprocess.ts";
import { runRoutes } from "./documents/runs.ts";
import { receiptRoutes } from "./receipts/receipts.ts";
import { spaceMemberRoutes } from "./spaces/members.ts";
import { spaceRoutes } from "./spaces/spaces.ts";
import { documentStatuses } from "./documents/status.ts";
import { uploadDocument } from "./documents/uploads.ts";
import { usageRoutes } from "./organizations/usage.ts";
import { webhookDeliveryRoutes } from "./webhooks/deliveries.ts";
import { webhookRoutes } from "./webhooks/webhooks.ts";

/** The endpoints of the contract, in the order of the OpenAPI document. */
export const API_ROUTES: readonly Route[] = [
  health,
  ready,
  listModels,
  getModel,
  createChatCompletion,
  ...spaceRoutes,
  ...spaceMemberRoutes,
  ...agentRoutes,
  uploadDocument,
  listDocuments,
  documentStatuses,
  getDocument,
  patchDocument,
  removeDocument,
  ...deletionRoutes,
  ...documentPartRoutes,
  ...pageRoutes,
  checkDocument,
  postReprocess,
  postRestore,
  ...runRoutes,
  ...batchRoutes,
  batchMove,
  batchDelete,
  searchDocuments,
  compareSearches,
  createEmbeddings,
  ...userFileRoutes,
  ...vectorStoreRoutes,
  searchVectorStore,
  ...storeFileRoutes,
  ...fileBatchRoutes,
  ...responseRoutes,
  ...receiptRoutes,
  ...rawFileRoutes,
  downloadRawFile,
  makePathFolder,
  ...folderRoutes,
  ...eventRoutes,
  getMe,
  ...accessRoutes,
  ...ownKeyRoutes,
  ...leakedKeyRoutes,
  ...organizationRoutes,
  ...organizationKeyRoutes,
  ...memberRoutes,
  ...auditLogRoutes,
  ...usageRoutes,
  ...webhookRoutes,
  ...webhookDeliveryRoutes,
  ...operationRoutes,
  ...mcpRoutes,
];

export const ROUTES: readonly Route[] = [
  ...API_ROUTES,
  decodePayloads,
  ...docsRoutes(API_ROUTES),
  landingRoute,
  ...guideRoutes(),
  ...consoleRoutes(),
];
