/** The only place where a client of an OpenAI-compatible provider is made. */
import OpenAI from "openai";
import { isTracing, traceHeaders } from "../telemetry/span.ts";
import type { ModelsConfig } from "./embedding-model.ts";

/** For an answer that does not come in pieces. */
export const PROVIDER_TIMEOUT_MS = 30_000;

type Send = typeof fetch;

/** A provider that traces its own work adds it to the request's trace. */
function inTrace(send: Send): Send {
  return (url, init) => {
    if (!isTracing()) return send(url, init);
    const headers = new Headers(init?.headers);
    for (const [name, value] of Object.entries(traceHeaders())) headers.set(name, value);
    return send(url, { ...init, headers });
  };
}

/** Without retries: which failures are tried again, and when, is decided by their class where the work is. */
export function openAiClient(config: ModelsConfig, send: Send = fetch): OpenAI {
  return new OpenAI({
    baseURL: config.baseUrl ?? "https://api.openai.com/v1",
    // Servers of one's own often want none, but the client insists.
    apiKey: config.apiKey ?? "none",
    // Named, because the client would otherwise read the environment.
    organization: null,
    project: null,
    maxRetries: 0,
    timeout: PROVIDER_TIMEOUT_MS,
    fetch: inTrace(send),
    // Its log would hold what is sent.
    logLevel: "off",
  });
}
