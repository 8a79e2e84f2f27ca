/** Settings of what Holdfast asks of others: models, the issuer of access tokens, and the tools of agents. */
import { z } from "zod";
import { TURN_BUDGET, TURN_SECONDS_MAX } from "../../domain/work/turn.ts";
import { chatFallbacks, hostPatterns, integer, issuer, mcpServers, url } from "../setting-forms.ts";

/** pgvector indexes half-precision vectors of at most this many dimensions. */
const MAX_EMBEDDING_DIMENSIONS = 4_000;

export const MODELS = {
  OPENAI_BASE_URL: url("https", "http").optional(),
  OPENAI_API_KEY: z.string().optional(),
  CHAT_MODEL: z.string().optional(),
  CHAT_FALLBACKS: chatFallbacks.default([]),
  EMBEDDING_MODEL: z.string().optional(),
  EMBEDDING_DIMENSIONS: integer(1, MAX_EMBEDDING_DIMENSIONS).optional(),
  RERANK_URL: url("https", "http").optional(),
  RERANK_MODEL: z.string().optional(),
  RERANK_API_KEY: z.string().optional(),
} as const;

export const CHAT = {
  CHAT_CONTEXT_TOKENS: integer(1_000, 100_000_000).default(128_000),
  CHAT_TURN_SECONDS: integer(1, TURN_SECONDS_MAX).default(TURN_BUDGET.seconds),
  CHAT_TURN_TOKENS: integer(1, Number.MAX_SAFE_INTEGER).default(TURN_BUDGET.tokens),
  HTTP_FETCH_HOSTS: hostPatterns.default([]),
  MCP_SERVERS: mcpServers.default({}),
} as const;

export const IDENTITY = {
  OIDC_ISSUER: issuer.optional(),
  OIDC_AUDIENCE: z.string().optional(),
} as const;
