/** Checks of services that others run: the OpenID issuer and the model providers, each by a tiny request. */
import type { Config } from "../../config/config.ts";
import { lookAtIssuer } from "../../auth/jwt.ts";
import type { ModelsConfig } from "../../models/config.ts";
import { createEmbeddingModel } from "../../models/embedding/embedding-model.ts";
import { createOpenAiChat } from "../../models/chat/openai.ts";
import { createReranker } from "../../models/rerank/reranker.ts";
import { type Check, type Finding, fail, ok, warn } from "./check.ts";
import { clock } from "./postgres.ts";

const PROVIDER_TIMEOUT_MS = 20_000;
const PROVIDER =
  "check OPENAI_BASE_URL, OPENAI_API_KEY and the model name; " +
  "until it responds, documents wait and searches match by words only";

/** @param issuer of the settings, or an embedded start's development issuer; undefined if there is none. */
export function issuerChecks(issuer: string | undefined): Check[] {
  if (issuer === undefined)
    return [
      {
        name: "issuer",
        remedy: "",
        run: async () => ok("not configured: only API keys are accepted (OIDC_ISSUER, OIDC_AUDIENCE)"),
      },
    ];
  const remedy =
    "check that this machine can reach OIDC_ISSUER, " +
    "and that it matches the issuer in its discovery document exactly";
  const look = lookAtIssuer(issuer);
  // Both checks await it, so an error is always reported.
  look.catch(() => undefined);
  return [
    { name: "issuer", remedy, run: async () => keysFound((await look).keys) },
    {
      name: "clock of the issuer",
      needs: "issuer",
      remedy,
      run: async () => issuerClock((await look).aheadSeconds),
    },
  ];
}

function keysFound(keys: number): Finding {
  return keys > 0
    ? ok(`${keys} signing keys`)
    : fail("it publishes no signing key", "tokens cannot be verified until it does: check its JWKS");
}

function issuerClock(aheadSeconds: number | null): Finding {
  return aheadSeconds === null
    ? ok("it sends no Date header")
    : clock(aheadSeconds, "tokens are accepted 30 s before and after");
}

export function providerChecks({ models, rerank }: Config): Check[] {
  const chats =
    models.chatModel === undefined
      ? []
      : [
          { provider: models as ModelsConfig, model: models.chatModel },
          ...models.chatFallbacks.map((one) => ({ provider: one as ModelsConfig, model: one.model })),
        ];
  const shared = { remedy: PROVIDER, timeoutMs: PROVIDER_TIMEOUT_MS };
  return [
    { ...shared, name: "embedding model", run: (signal) => embed(models, signal) },
    ...(chats.length === 0
      ? [
          {
            ...shared,
            name: "chat model",
            run: async () => ok("not configured: answers quote the best-matching sentences (CHAT_MODEL)"),
          },
        ]
      : []),
    ...chats.map(({ provider, model }, at): Check => ({
      ...shared,
      name: at === 0 ? "chat model" : `chat model, fallback ${at}`,
      run: (signal) => chat(provider, model, signal),
    })),
    ...(rerank === undefined
      ? []
      : [
          {
            ...shared,
            name: "reranker",
            remedy: "check RERANK_URL, RERANK_MODEL and RERANK_API_KEY; searches work without it",
            run: async (signal: AbortSignal) => rank(rerank, signal),
          },
        ]),
  ];
}

async function embed(models: ModelsConfig, signal: AbortSignal): Promise<Finding> {
  const model = await createEmbeddingModel(models);
  try {
    const [vector] = await model.embed(["ping"], "query", signal);
    if (!vector) return fail(`${model.name} returns no usable vector`, PROVIDER);
    return ok(`${model.name}, ${vector.length} dimensions`);
  } finally {
    await model.close();
  }
}

async function chat(provider: ModelsConfig, name: string, signal: AbortSignal): Promise<Finding> {
  const model = await createOpenAiChat(provider, name);
  for await (const event of model.stream(
    { model: name, messages: [{ role: "user", content: "ping" }], max_tokens: 16 },
    signal,
  ))
    if (event.type === "finish") return ok(`${name} answers`);
  return warn(`${name} ends its answer without a finish reason`, PROVIDER);
}

async function rank(rerank: NonNullable<Config["rerank"]>, signal: AbortSignal): Promise<Finding> {
  const [score] = await createReranker(rerank).rank("ping", ["ping"], signal);
  return score === null || score === undefined
    ? fail("it returns no score", "check RERANK_MODEL")
    : ok(`${rerank.model ?? "the reranker"} answers`);
}
