/** Makes the client of an OpenAI-compatible provider. */
import OpenAI from "openai";
import { isTracing, traceHeaders } from "../../telemetry/span.ts";
import { boundedBody } from "./bounded-body.ts";
import type { ModelsConfig } from "../config.ts";
import { providerGarbage } from "./error.ts";

/** Milliseconds for an answer that is not streamed. */
export const PROVIDER_TIMEOUT_MS = 30_000;

export function providerOf(config: ModelsConfig): { baseUrl: string; apiKey: string } {
  // A server of one's own often wants no key, but the client does not go without one.
  return { baseUrl: config.baseUrl ?? "https://api.openai.com/v1", apiKey: config.apiKey ?? "none" };
}

/** Fits 256 vectors of 4,000 numbers, written as lists. */
const MAX_ANSWER_BYTES = 32 * 1_048_576;

/** Bounds the answer, and names the trace, so that a provider that traces its own work adds it there. */
const sendInTrace: typeof fetch = async (url, init) =>
  boundedBody(await sendTraced(url, init), MAX_ANSWER_BYTES, () => providerGarbage("it is too large"));

const sendTraced: typeof fetch = (url, init) => {
  if (!isTracing()) return fetch(url, init);
  const headers = new Headers(init?.headers);
  for (const [name, value] of Object.entries(traceHeaders())) headers.set(name, value);
  return fetch(url, { ...init, headers });
};

/** A client without retries: the caller decides by the class of a failure whether and when to try again. */
export function openAiClient(config: ModelsConfig): OpenAI {
  const { baseUrl, apiKey } = providerOf(config);
  return new OpenAI({
    baseURL: baseUrl,
    apiKey,
    // Null, because the client reads the environment for what is not given.
    organization: null,
    project: null,
    maxRetries: 0,
    timeout: PROVIDER_TIMEOUT_MS,
    fetch: sendInTrace,
    // The client's log would hold the texts that are sent.
    logLevel: "off",
  });
}
