/**
 * What the console asked the service on the screen that is shown: each of it can be copied as a curl command.
 */

export interface LoggedRequest {
  readonly method: string;
  /** With its query, without the origin. */
  readonly path: string;
  readonly curl: string;
}

export interface RequestLog {
  record(request: Request): void;
  /** Forgets all: another screen is shown. */
  clear(): void;
  /** Newest first, each request once. */
  list(): Promise<readonly LoggedRequest[]>;
}

/** So many requests of a screen are kept; what is asked over and over is the same request. */
const KEPT = 20;
/** Bodies beyond this are files. */
const SHOWN_BODY = 10_000;

export function createRequestLog(): RequestLog {
  const kept = new Map<string, Promise<LoggedRequest>>();
  return {
    record(request) {
      const key = `${request.method} ${request.url}`;
      kept.delete(key);
      kept.set(key, describe(request.clone()));
      const oldest = kept.keys().next();
      if (kept.size > KEPT && oldest.value !== undefined) kept.delete(oldest.value);
    },
    clear: () => kept.clear(),
    async list() {
      const all = await Promise.all(kept.values());
      return all.toReversed();
    },
  };
}

async function describe(request: Request): Promise<LoggedRequest> {
  const { pathname, search } = new URL(request.url);
  const parts = ["curl -sS", ...(request.method === "GET" ? [] : [`-X ${request.method}`])];
  parts.push(quote(request.url), `-H "Authorization: Bearer $HOLDFAST_TOKEN"`);
  for (const name of ["if-match", "idempotency-key"]) {
    const value = request.headers.get(name);
    if (value !== null) parts.push(`-H ${quote(`${name}: ${value}`)}`);
  }
  parts.push(...(await bodyOf(request)));
  return { method: request.method, path: pathname + search, curl: parts.join(" \\\n  ") };
}

async function bodyOf(request: Request): Promise<string[]> {
  const type = request.headers.get("content-type") ?? "";
  // Not by `body`, which Firefox does not have.
  if (type === "") return [];
  if (!type.startsWith("application/json")) return ["-F file=@FILE"];
  const text = await request.text();
  return ["-H 'Content-Type: application/json'", `-d ${quote(text.length > SHOWN_BODY ? "…" : text)}`];
}

/** As one word of a POSIX shell. */
const quote = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;
