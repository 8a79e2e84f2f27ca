/** The table of all endpoints: what is not in it does not exist. */
import type { Route } from "../route.ts";
import { agentRoutes } from "./agents.ts";
import { ownKeyRoutes } from "./api-keys.ts";
import { auditLogRoutes } from "./audit-log.ts";
import { createChatCompletion } from "./chat.ts";
import { docsRoutes } from "./docs.ts";
import { getDocument } from "./documents.ts";
import { health } from "./health.ts";
import { searchDocuments } from "./hybrid-search.ts";
import { getMe } from "./me.ts";
import { listModels } from "./models.ts";
import { memberRoutes } from "./members.ts";
import { organizationKeyRoutes } from "./organization-keys.ts";
import { spaceMemberRoutes } from "./space-members.ts";
import { spaceRoutes } from "./spaces.ts";
import { uploadDocument } from "./uploads.ts";
import { usageRoutes } from "./usage.ts";

/** The endpoints of the contract, in the order of the OpenAPI document. */
export const API_ROUTES: readonly Route[] = [health, listModels, createChatCompletion, ...spaceRoutes, ...spaceMemberRoutes, ...agentRoutes, uploadDocument, getDocument, searchDocuments, getMe, ...ownKeyRoutes, ...organizationKeyRoutes, ...memberRoutes, ...auditLogRoutes, ...usageRoutes];

export const ROUTES: readonly Route[] = [...API_ROUTES, ...docsRoutes(API_ROUTES)];
