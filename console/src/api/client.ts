/**
 * The console's way to the service: the public client with the session's token. A token that the service
 * refuses is renewed once, and the request is sent again.
 */
import { type Holdfast, HoldfastError, createHoldfast, refusalOf } from "@holdfast/client";
import type { Session } from "../auth/session.ts";
import type { RequestLog } from "./request-log.ts";

interface Options {
  readonly session: Session;
  /** Gets what was asked, for "copy as curl". */
  readonly log?: RequestLog;
  /** How the requests of one purpose are sent; the browser's `fetch` by default. */
  readonly send?: (request: Request) => Promise<Response>;
}

export function createApi(
  baseUrl: string,
  { session, log, send = (request) => fetch(request) }: Options,
): Holdfast {
  const sendOrRenew = async (request: Request): Promise<Response> => {
    log?.record(request);
    // The body of a request can be read once only.
    const again = request.clone();
    const response = await send(request);
    if (response.status !== 401) return response;
    again.headers.set("authorization", `Bearer ${await session.renew()}`);
    return send(again);
  };
  return createHoldfast({
    baseUrl,
    credential: () => session.accessToken(),
    fetch: (input, init) => sendOrRenew(new Request(input, init)),
  });
}

/**
 * The answer of a request.
 * @throws HoldfastError if the service refuses it
 * @example const space = await answerOf(api.GET("/v1/spaces/{space_id}", { params: { path } }));
 */
export async function answerOf<T>(
  request: Promise<{ readonly data?: T; readonly error?: unknown; readonly response: Response }>,
): Promise<T> {
  const { data, error, response } = await request;
  if (!response.ok) throw refusalOf(response, error);
  return data as T;
}

/** As {@link answerOf}, with the ETag that a change has to name in `If-Match`. */
export async function taggedAnswerOf<T>(
  request: Promise<{ readonly data?: T; readonly error?: unknown; readonly response: Response }>,
): Promise<{ readonly value: T; readonly etag: string | null }> {
  const answer = await request;
  if (!answer.response.ok) throw refusalOf(answer.response, answer.error);
  return { value: answer.data as T, etag: answer.response.headers.get("etag") };
}

export const isNotFound = (error: unknown): boolean => error instanceof HoldfastError && error.status === 404;
export const isForbidden = (error: unknown): boolean =>
  error instanceof HoldfastError && error.status === 403;
/**
 * What the service says of each field of a form, by the field's name: `name`, `filters.file_type`. Empty for
 * refusals that are of no field.
 */
export function fieldErrorsOf(error: unknown): Readonly<Record<string, string>> {
  if (!(error instanceof HoldfastError)) return {};
  const { detail } = (error.answer ?? {}) as { readonly detail?: unknown };
  if (!Array.isArray(detail)) return error.param === undefined ? {} : { [error.param]: error.message };
  const problems = detail as ReadonlyArray<{ readonly loc: readonly unknown[]; readonly msg: string }>;
  return Object.fromEntries(problems.map(({ loc, msg }) => [loc.slice(1).join("."), msg]));
}
