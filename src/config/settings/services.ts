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
    what: "the provider's key; leave it out for a provider that takes none",
    isSecret: true,
  }),
  CHAT_MODEL: z.string().optional().register(ABOUT, {
    what: "the provider's model for agents whose model is `default`",
    unset: "answers quote the sentences that match best",
  }),
  CHAT_FALLBACKS: chatFallbacks.default([]).register(ABOUT, {
    what: "providers that are asked in this order if the first is down before the first token",
    isSecret: true,
  }),
  EMBEDDING_MODEL: z
    .string()
    .optional()
    .register(ABOUT, {
      what:
        "the provider's embedding model; after a change all documents are embedded again while search " +
        "continues",
      unset: "all-minilm-l6-v2-int8 in the process",
    }),
  EMBEDDING_DIMENSIONS: integer(1, MAX_EMBEDDING_DIMENSIONS).optional().register(ABOUT, {
    what: "the length of its vectors, if the model offers several",
    unset: "the model's own",
  }),
  RERANK_URL: url("https", "http")
    .optional()
    .register(ABOUT, {
      what:
        "the whole address of a `/rerank` endpoint as Jina and Cohere have it; it orders the best 50 " +
        "hits of a search",
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
        "are left out, and `X-Dropped-Messages` counts their messages",
      readBy: ["API", "worker"],
    }),
  CHAT_TURN_SECONDS: integer(1, TURN_SECONDS_MAX)
    .default(TURN_BUDGET.seconds)
    .register(ABOUT, {
      what:
        "how long a chat turn may take: a provider that is down is asked again for that long, and a turn " +
        "that calls tools ends in an answer that says so",
      readBy: ["API", "worker"],
    }),
  CHAT_TURN_TOKENS: integer(1, Number.MAX_SAFE_INTEGER)
    .default(TURN_BUDGET.tokens)
    .register(ABOUT, {
      what: "how many tokens a chat turn may use over all its model calls",
      readBy: ["API", "worker"],
    }),
  RESPONSE_RETENTION_HOURS: integer(1, 8_760)
    .default(24)
    .register(ABOUT, {
      what: "how many hours a response of `/v1/responses` is kept, encrypted, unless its request says not to",
      readBy: ["API"],
    }),
  RESPONSE_BYTES_PER_USER: integer(1, Number.MAX_SAFE_INTEGER)
    .default(256 * 1_024 * 1_024)
    .register(ABOUT, {
      what:
        "how many bytes of responses are kept for a user, as they are encrypted; a request whose response would " +
        "exceed it is answered 429, unless it says `store: false`",
      readBy: ["API"],
    }),
  RESPONSE_BYTES_PER_ORGANIZATION: integer(1, Number.MAX_SAFE_INTEGER)
    .optional()
    .register(ABOUT, {
      what: "how many bytes of responses are kept for an organization, all users together",
      unset: "no limit",
      readBy: ["API"],
    }),
  HTTP_FETCH_HOSTS: hostPatterns.default([]).register(ABOUT, {
    what: "hosts that the tool `http_fetch` may read; private addresses are refused always",
    readBy: ["API", "worker"],
  }),
  MCP_SERVERS: mcpServers.default({}).register(ABOUT, {
    what:
      "Model Context Protocol servers that agents may name in the tool `mcp`. `headers` has its secrets; " +
      "`tools` names those that only read, if the server does not say so itself",
    readBy: ["API", "worker"],
    isSecret: true,
  }),
} as const;

export const WEBHOOKS = {
  WEBHOOK_ALLOW_HOSTS: hostPatterns.default([]).register(ABOUT, {
    what:
      "hosts that webhooks may deliver to although their address is private or their URL is http; every " +
      "other host must be public and https",
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
      what:
        "the client of `OIDC_ISSUER` that people sign in with: a public one, with PKCE and the redirect URI " +
        "`PUBLIC_URL/console/callback`",
      unset: "the development issuer's own; with another issuer nobody can sign in to the console",
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
    what: "where the issuer's endpoints are, if not at its own origin: the console may talk to these too",
    readBy: ["API"],
  }),
  CONSOLE_ORIGIN: z
    .string()
    .regex(/^https?:\/\/[^/\s*]+$/, "must be an origin like https://app.example.org")
    .optional()
    .describe("an origin like `https://app.example.org`")
    .register(ABOUT, {
      what: "where a host of its own serves the console at `/console/` besides; its pages may call the API",
      unset: "nowhere else",
      readBy: ["API", "npm start"],
    }),
  TEMPORAL_UI_URL: url("https", "http")
    .optional()
    .register(ABOUT, {
      what: "Temporal's Web UI, to which the console leads operators",
      unset: "that of `npm start`; without one there are no links",
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
    unset:
      "`npm start` runs one for development, which production refuses; otherwise only keys let callers in",
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
