/** A `fetch` that repeats what can be repeated safely. */
import { repeat } from "./requests.ts";

/** POSTs that only read. */
const READS = /\/v1\/(?:data\/hybrid-search(?:\/compare)?|data\/status|(?:data|spaces|agents)\/search)$/;

/** @throws ConnectionError in place of the TypeError of `fetch` */
export function createRepeatingFetch(
  send: typeof fetch,
  maxRetries: number,
): (request: Request) => Promise<Response> {
  return async (request) => {
    const { response } = await repeat(async () => ({ response: await send(request.clone()) }), {
      signal: request.signal,
      maxRetries: isSafe(request) ? maxRetries : 0,
    });
    return response;
  };
}

function isSafe({ method, headers, url }: Request): boolean {
  if (method === "GET" || method === "HEAD" || headers.has("idempotency-key")) return true;
  return method === "POST" && READS.test(new URL(url).pathname);
}
