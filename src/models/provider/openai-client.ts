/** The only place that says how an OpenAI-compatible provider is reached, and makes its client. */
import OpenAI from "openai";
import { isTracing, traceHeaders } from "../../telemetry/span.ts";
import { boundedBody } from "./bounded-body.ts";
import type { ModelsConfig } from "../embedding/embedding-model.ts";
import { providerGarbage } from "./error.ts";

/** For an answer that does not come in pieces. */
export const PROVIDER_TIMEOUT_MS = 30_000;

export function providerOf(config: ModelsConfig): { baseUrl: string; apiKey: string } {
  // Servers of one's own often want no key, but the client insists.
  return { baseUrl: config.baseUrl ?? "https://api.openai.com/v1", apiKey: config.apiKey ?? "none" };
}

/** 256 vectors of 4,000 numbers as a list, with some to spare. */
const MAX_ANSWER_BYTES = 32 * 1_048_576;

/** A provider that traces its own work adds it to the request's trace. */
const sendInTrace: typeof fetch = async (url, init) =>
  boundedBody(await sendTraced(url, init), MAX_ANSWER_BYTES, () => providerGarbage("it is too large"));

const sendTraced: typeof fetch = (url, init) => {
  if (!isTracing()) return fetch(url, init);
  const headers = new Headers(init?.headers);
  for (const [name, value] of Object.entries(traceHeaders())) headers.set(name, value);
  return fetch(url, { ...init, headers });
};

/** Without retries: which failures are tried again, and when, is decided by their class where the work is. */
export function openAiClient(config: ModelsConfig): OpenAI {
  const { baseUrl, apiKey } = providerOf(config);
  return new OpenAI({
    baseURL: baseUrl,
    apiKey,
    // Named, because the client would otherwise read the environment.
    organization: null,
    project: null,
    maxRetries: 0,
    timeout: PROVIDER_TIMEOUT_MS,
    fetch: sendInTrace,
    // Its log would hold what is sent.
    logLevel: "off",
  });
}
