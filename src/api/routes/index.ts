/** The table of all endpoints: what is not in it does not exist. */
import type { Route } from "../route.ts";
import { createChatCompletion } from "./chat.ts";
import { docsRoutes } from "./docs.ts";
import { getDocument } from "./documents.ts";
import { health } from "./health.ts";
import { searchDocuments } from "./hybrid-search.ts";
import { listModels } from "./models.ts";
import { listSpaces } from "./spaces.ts";
import { uploadDocument } from "./uploads.ts";

/** The endpoints of the contract, in the order of the OpenAPI document. */
export const API_ROUTES: readonly Route[] = [health, listModels, createChatCompletion, listSpaces, uploadDocument, getDocument, searchDocuments];

export const ROUTES: readonly Route[] = [...API_ROUTES, ...docsRoutes(API_ROUTES)];
