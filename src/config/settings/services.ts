/** Settings of what Holdfast asks of others: models, the issuer of access tokens, and the tools of agents. */
import { z } from "zod";
import { TURN_BUDGET, TURN_SECONDS_MAX } from "../../domain/work/turn.ts";
import {
  chatFallbacks,
  hostPatterns,
  integer,
  issuer,
  mcpServers,
  originList,
  queryString,
  url,
} from "../setting-forms.ts";
import { ABOUT } from "./about.ts";

/** pgvector indexes half-precision vectors of at most this many dimensions. */
const MAX_EMBEDDING_DIMENSIONS = 4_000;

export const MODELS = {
  OPENAI_BASE_URL: url("https", "http").optional().register(ABOUT, {
    what: "a model provider that speaks OpenAI's API",
    unset: "OpenAI's own, if `OPENAI_API_KEY` is set",
  }),
  OPENAI_API_KEY: z.string().optional().register(ABOUT, {
    what: "the provider's key, if it takes one",
    isSecret: true,
  }),
  CHAT_MODEL: z.string().optional().register(ABOUT, {
    what: "the provider's model for agents whose model is `default`",
    unset: "answers quote the sentences that match best",
  }),
  CHAT_FALLBACKS: chatFallbacks.default([]).register(ABOUT, {
    what: "providers that are asked in this order if the first is down",
    isSecret: true,
  }),
  EMBEDDING_MODEL: z.string().optional().register(ABOUT, {
    what: "the provider's embedding model; after a change all documents are embedded again in the background",
    unset: "all-minilm-l6-v2-int8 in the process",
  }),
  EMBEDDING_DIMENSIONS: integer(1, MAX_EMBEDDING_DIMENSIONS).optional().register(ABOUT, {
    what: "the length of its vectors, if the model offers several",
    unset: "the model's own",
  }),
  RERANK_URL: url("https", "http").optional().register(ABOUT, {
    what: "the whole address of a `/rerank` endpoint like Jina's and Cohere's, for the best 50 hits of a search",
    unset: "no reranking",
  }),
  RERANK_MODEL: z.string().optional().register(ABOUT, { what: "the model that the endpoint is asked for" }),
  RERANK_API_KEY: z.string().optional().register(ABOUT, { what: "the endpoint's key", isSecret: true }),
} as const;

export const CHAT = {
  CHAT_CONTEXT_TOKENS: integer(1_000, 100_000_000)
    .default(128_000)
    .register(ABOUT, {
      what:
        "the chat model's context, question and answer together; the oldest turns of a longer conversation " +
        "are left out",
      readBy: ["API", "worker"],
    }),
  CHAT_TURN_SECONDS: integer(1, TURN_SECONDS_MAX)
    .default(TURN_BUDGET.seconds)
    .register(ABOUT, {
      what: "how long a chat turn may take, also while a provider is down",
      readBy: ["API", "worker"],
    }),
  CHAT_TURN_TOKENS: integer(1, Number.MAX_SAFE_INTEGER)
    .default(TURN_BUDGET.tokens)
    .register(ABOUT, {
      what: "tokens that a chat turn may use over all its model calls",
      readBy: ["API", "worker"],
    }),
  RESPONSE_RETENTION_HOURS: integer(1, 8_760)
    .default(24)
    .register(ABOUT, {
      what: "hours that a response of `/v1/responses` is kept, unless its request says not to",
      readBy: ["API"],
    }),
  RESPONSE_BYTES_PER_USER: integer(1, Number.MAX_SAFE_INTEGER)
    .default(256 * 1_024 * 1_024)
    .register(ABOUT, {
      what:
        "encrypted bytes of responses that are kept for a user; a request beyond it is answered 429, unless it " +
        "says `store: false`",
      readBy: ["API"],
    }),
  RESPONSE_BYTES_PER_ORGANIZATION: integer(1, Number.MAX_SAFE_INTEGER)
    .optional()
    .register(ABOUT, {
      what: "the same for an organization",
      unset: "no limit",
      readBy: ["API"],
    }),
  HTTP_FETCH_HOSTS: hostPatterns.default([]).register(ABOUT, {
    what: "hosts that the tool `http_fetch` may read, never at private addresses",
    readBy: ["API", "worker"],
  }),
  MCP_SERVERS: mcpServers.default({}).register(ABOUT, {
    what:
      "servers that agents may name in the tool `mcp`. `headers` has secrets; `tools` names those that only " +
      "read, if the server does not say so itself",
    readBy: ["API", "worker"],
    isSecret: true,
  }),
} as const;

export const WEBHOOKS = {
  WEBHOOK_ALLOW_HOSTS: hostPatterns.default([]).register(ABOUT, {
    what: "hosts that webhooks may deliver to although they are private or http",
    readBy: ["API", "worker"],
  }),
} as const;

const CONSOLE_SCOPE = "openid profile email offline_access";

export const CONSOLE = {
  CONSOLE_CLIENT_ID: z
    .string()
    .max(255)
    .optional()
    .register(ABOUT, {
      what: "the public client of `OIDC_ISSUER` that people sign in with ([how](console.md#sign-in))",
      unset: "the development issuer's own; otherwise nobody can sign in",
      readBy: ["API"],
    }),
  CONSOLE_SCOPE: z
    .string()
    .max(500)
    .default(CONSOLE_SCOPE)
    .register(ABOUT, { what: "the scope that the console asks the issuer for", readBy: ["API"] }),
  CONSOLE_AUTHORIZATION_PARAMETERS: queryString.optional().register(ABOUT, {
    what: "what the issuer needs besides to give tokens for `OIDC_AUDIENCE`",
    unset: "nothing",
    readBy: ["API"],
  }),
  CONSOLE_ISSUER_ORIGINS: originList.default([]).register(ABOUT, {
    what: "where the issuer's endpoints are, if not at its own origin",
    readBy: ["API"],
  }),
  CONSOLE_ORIGIN: z
    .string()
    .regex(/^https?:\/\/[^/\s*]+$/, "must be an origin like https://app.example.org")
    .optional()
    .describe("an origin like `https://app.example.org`")
    .register(ABOUT, {
      what: "where another host serves the console too, at `/console/`; its pages may call the API",
      unset: "nowhere else",
      readBy: ["API", "npm start"],
    }),
  TEMPORAL_UI_URL: url("https", "http")
    .optional()
    .register(ABOUT, {
      what: "Temporal's Web UI, to which the console leads operators",
      unset: "that of `npm start`, or no link",
      readBy: ["API", "npm start"],
    }),
  METRICS_URL: url("https", "http")
    .optional()
    .register(ABOUT, {
      what: "a page of metrics, to which the console leads operators",
      unset: "no link",
      readBy: ["API"],
    }),
} as const;

export const IDENTITY = {
  OIDC_ISSUER: issuer.optional().register(ABOUT, {
    what: "the OpenID issuer that signs access tokens",
    unset: "`npm start` runs one for development; otherwise only keys let callers in",
    readBy: ["API", "npm start", "holdfast"],
  }),
  OIDC_AUDIENCE: z
    .string()
    .optional()
    .register(ABOUT, {
      what: "the audience that a token must name",
      unset: "required with `OIDC_ISSUER`",
      readBy: ["API", "npm start", "holdfast"],
    }),
} as const;
