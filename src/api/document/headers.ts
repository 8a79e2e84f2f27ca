/** The headers of answers in the OpenAPI document. */
import type { Route } from "../route.ts";

type Header = {
  readonly description: string;
  readonly schema: { readonly type: "string" | "integer"; readonly minimum?: number };
  readonly example: string | number;
  /** True if no answer that lists it comes without it. */
  readonly required?: true;
};

const text = (description: string, example: string): Header => ({
  description,
  schema: { type: "string" },
  example,
});
const count = (description: string, example: number): Header => ({
  description,
  schema: { type: "integer", minimum: 0 },
  example,
});

const BUDGET = "Absent if the request was refused before it was counted";

/** Headers by the name of their component, which differs from the header's own name only for the last one. */
export const COMPONENT_HEADERS = {
  "X-Request-Id": {
    ...text(
      "The id of the request, also in the log and the audit log: the one that was sent, if it has at " +
        "most 128 letters, digits and `._:@/-`, otherwise a new one",
      "01900000-0000-7000-8000-0000000000aa",
    ),
    required: true,
  },
  "Retry-After": { ...count("Seconds to wait before retrying, 1 or more", 5), required: true },
  "RateLimit-Policy": text(
    "The most exhausted budget of the key, the user or the organization: `q` requests in `w` seconds. " +
      `For a 429, the budget that is used up. ${BUDGET}`,
    '"user-requests";q=600;w=60',
  ),
  "RateLimit-Limit": count(`Requests per minute of this budget. ${BUDGET}`, 600),
  "RateLimit-Remaining": count(`Requests left in this minute. ${BUDGET}`, 598),
  "RateLimit-Reset": count(`Seconds until the minute ends. ${BUDGET}`, 42),
  "WWW-Authenticate": { ...text("Always `Bearer`", "Bearer"), required: true },
  Warning: text(
    'Parts of the request that were ignored, as `199 holdfast "…"`: fields that the operation does not know ' +
      "(at most five are named, the rest counted), and incomplete results. May occur more than once",
    '199 holdfast "unknown field document_idd; did you mean document_id?"',
  ),
  "X-Should-Retry": text(
    "`false` if retrying cannot help although the status suggests it; read by OpenAI's clients",
    "false",
  ),
  "Retry-After-If-Known": count("Seconds to wait before retrying, 1 or more; absent if unknown", 5),
} as const satisfies Record<string, Header>;

type Component = keyof typeof COMPONENT_HEADERS;

const headerOf = (component: Component): string =>
  component === "Retry-After-If-Known" ? "Retry-After" : component;

const references = (...components: Component[]) =>
  Object.fromEntries(
    components.map((one) => [headerOf(one), { $ref: `#/components/headers/${one}` as const }]),
  );

/** Statuses that are answered before the request's id is known. */
const BEFORE_REQUEST = new Set([431]);
/** Statuses that are answered before the request is counted. */
const BEFORE_COUNT = new Set([414, 431]);
/** Statuses that are answered before the request is read. */
const BEFORE_READING = new Set([401, 414, 431]);

const OF_STATUS: Readonly<Record<number, readonly Component[]>> = {
  401: ["WWW-Authenticate"],
  409: ["X-Should-Retry"],
  429: ["Retry-After"],
  502: ["Retry-After-If-Known", "X-Should-Retry"],
  503: ["Retry-After"],
  504: ["Retry-After-If-Known"],
  507: ["Retry-After"],
};

export function errorHeaders(route: Route, status: number): Record<string, unknown> {
  const own = status === 416 ? ownHeaders(route, ["Content-Range"]) : {};
  return { ...commonHeaders(route, status), ...references(...(OF_STATUS[status] ?? [])), ...own };
}

export function successHeaders(route: Route): Record<string, unknown> {
  return { ...commonHeaders(route, route.status), ...ownHeaders(route) };
}

function commonHeaders(route: Route, status: number): Record<string, unknown> {
  const isCounted = route.access !== "public" || route.budget === "address";
  return references(
    ...(BEFORE_REQUEST.has(status) ? [] : (["X-Request-Id"] as const)),
    ...(isCounted && !BEFORE_COUNT.has(status)
      ? (["RateLimit-Policy", "RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset"] as const)
      : []),
    ...(route.ignoresUnknown === true || BEFORE_READING.has(status) ? [] : (["Warning"] as const)),
  );
}

const EXAMPLES: Readonly<Record<string, string>> = {
  "Accept-Ranges": "bytes",
  "Cache-Control": "no-store",
  "Content-Disposition": 'attachment; filename="q1.pdf"',
  "Content-Length": "48213",
  "Content-Range": "bytes 0-1023/48213",
  ETag: '"wJ8kq0Y3mZ1f5pXcR7tVbA"',
  "X-Accel-Buffering": "no",
  "X-Dropped-Messages": "2",
};

function ownHeaders(route: Route, only?: readonly string[]): Record<string, unknown> {
  const own = Object.entries(route.replyHeaders ?? {}).filter(([name]) => only?.includes(name) ?? true);
  return Object.fromEntries(
    own.map(([name, description]) => [name, text(description, EXAMPLES[name] ?? "")]),
  );
}
