/**
 * A typed client of Holdfast: upload, search and ask by one call each, events and lists as iterators, the
 * check of a webhook's signature, and every endpoint of its OpenAPI document.
 */
import createFetch, { type Client } from "openapi-fetch";
import { type AnswerPiece, type AnswerStreamOptions, askInPieces } from "./answer-stream.ts";
import { createDocumentFeed } from "./events/document-feed.ts";
import { type EventsOptions, type ReceivedEvent, followEvents } from "./events/follow-events.ts";
import { type Lists, createLists } from "./pages.ts";
import { type Answer, type AskOptions, type SearchOptions, ask, search } from "./questions.ts";
import { createRepeatingFetch } from "./repeating-fetch.ts";
import type { components, paths } from "./schema.ts";
import { type UploadAndWaitOptions, type UploadOptions, upload, uploadAndWait } from "./uploads.ts";

export type { AnswerPiece, AnswerStreamOptions } from "./answer-stream.ts";
export {
  AuthenticationError,
  BadRequestError,
  ConflictError,
  ConnectionError,
  type ErrorCode,
  HoldfastError,
  NotFoundError,
  PermissionDeniedError,
  RateLimitError,
  ServerError,
  WaitTimeoutError,
  refusalOf,
} from "./errors.ts";
export type { EventsOptions, HoldfastEvent, ReceivedEvent } from "./events/follow-events.ts";
export type { FilteredListOptions, ListOptions, Lists } from "./pages.ts";
export type { Answer, AskOptions, SearchOptions } from "./questions.ts";
export { newKey } from "./requests.ts";
export type { components, operations, paths } from "./schema.ts";
export type { UploadAndWaitOptions, UploadOptions } from "./uploads.ts";
export { type VerifyOptions, WebhookRefused, verifyWebhook } from "./verify-webhook.ts";

export type Schemas = components["schemas"];
export type Document = Schemas["Document"];
export type SearchHit = Schemas["SearchHit"];
export type SearchResults = Schemas["SearchResults"];

export interface HoldfastOptions {
  /** The address of the service; the `/v1` that OpenAI's clients need may follow. */
  readonly baseUrl: string;
  /** An API key, or a function that gives an access token for each request. */
  readonly credential: string | (() => string | Promise<string>);
  /**
   * How often a request is repeated that can be repeated safely, after 408, 429, 502, 503, 504 and broken
   * connections. Default 3; 0 never repeats.
   */
  readonly maxRetries?: number;
  /** The global `fetch` by default. */
  readonly fetch?: typeof fetch;
}

export interface Holdfast extends Lists {
  /**
   * One function for each method, typed by path: `api.GET("/v1/data/{document_id}", …)`. It returns
   * `{data}` or `{error}`, and never throws for a status. What reads is repeated like all other requests, and
   * so is what has an `Idempotency-Key`.
   */
  readonly api: Client<paths>;
  /**
   * Uploads a file, and returns as soon as it is accepted.
   * @throws HoldfastError
   */
  upload(options: UploadOptions): Promise<Document>;
  /**
   * Uploads a file and resolves when its document is searchable. An upload that is repeated after a fault of
   * the connection has the same Idempotency-Key, so it makes only one document. Any number of uploads wait
   * over one stream of events, so waiting uses up no rate limit.
   * @throws HoldfastError with the answer's status and detail, with the run's code if processing failed, or
   * with the code `deleted`
   * @throws WaitTimeoutError after `timeoutMs`
   * @throws the signal's reason if it is aborted
   * @example
   * const holdfast = createHoldfast({ baseUrl: "https://holdfast.example", credential: key });
   * const document = await holdfast.uploadAndWait({ file, filename: "report.pdf", spaceId });
   */
  uploadAndWait(options: UploadAndWaitOptions): Promise<Document>;
  /**
   * Finds the passages that answer a query best.
   * @throws HoldfastError
   * @example
   * const filters = { file_type: "PDF" };
   * const { results } = await holdfast.search({ query: "gearbox oil", spaceId, filters });
   */
  search(options: SearchOptions): Promise<SearchResults>;
  /**
   * Asks an agent and resolves with the whole answer.
   * @throws HoldfastError
   * @example
   * const { text, citations } = await holdfast.ask({ agent, question: "What does the warranty cover?" });
   */
  ask(options: AskOptions): Promise<Answer>;
  /**
   * Asks an agent and gives the answer piece by piece. A connection that breaks is opened again behind the
   * last piece, so that none comes twice and the model is paid once.
   * @throws HoldfastError, also for an answer that fails on its way
   * @throws the signal's reason if it is aborted
   * @example
   * for await (const { text } of holdfast.askInPieces({ agent, question })) process.stdout.write(text);
   */
  askInPieces(options: AnswerStreamOptions): AsyncGenerator<AnswerPiece, void, undefined>;
  /**
   * What happens, as it happens: each event once and in its order, also over connections that break. It
   * reads no further while the loop's body runs, and it goes on until the signal or the loop ends it.
   * @throws HoldfastError if the service refuses: `cursor_expired` (410) if what comes after the cursor is
   * not kept any more, 401 if the credential has ended
   * @throws ConnectionError if nothing answers at the start
   * @throws the signal's reason if it is aborted
   * @example
   * const types = ["document.completed"];
   * for await (const { event, cursor } of holdfast.events({ types, after: stored })) {
   *   await handle(event);
   *   stored = cursor;
   * }
   */
  events(options?: EventsOptions): AsyncGenerator<ReceivedEvent, void, undefined>;
}

const MAX_RETRIES = 3;
/** What can stand in the header `Authorization`. */
const CREDENTIAL = /^[\x21-\x7e]+$/;

/**
 * @throws TypeError for a credential that no request could be sent with, such as one from an unset variable
 */
function requireCredential(credential: HoldfastOptions["credential"] | undefined): void {
  if (typeof credential === "function" || (typeof credential === "string" && CREDENTIAL.test(credential)))
    return;
  throw new TypeError(
    "credential must be an API key, or a function that gives an access token; this one is missing, empty or no key.",
  );
}

export function createHoldfast({
  baseUrl,
  credential,
  maxRetries = MAX_RETRIES,
  fetch: send = fetch,
}: HoldfastOptions): Holdfast {
  requireCredential(credential);
  const address = baseUrl.replace(/\/+$/, "").replace(/\/v1$/, "");
  const connect = (by: (request: Request) => Promise<Response>): Client<paths> => {
    const api = createFetch<paths>({ baseUrl: address, fetch: by });
    api.use({
      async onRequest({ request }) {
        const token = typeof credential === "string" ? credential : await credential();
        request.headers.set("authorization", `Bearer ${token}`);
        return request;
      },
    });
    return api;
  };
  // Repeated by whoever uses it, as often as its purpose asks for.
  const once = connect((request) => send(request));
  const feed = createDocumentFeed(once, maxRetries);
  return {
    api: connect(createRepeatingFetch(send, maxRetries)),
    upload: (options) => upload(once, options, { maxRetries }),
    uploadAndWait: (options) => uploadAndWait({ api: once, feed, maxRetries }, options),
    search: (options) => search(once, options, { maxRetries }),
    ask: (options) => ask(once, options, { maxRetries }),
    askInPieces: (options) => askInPieces(once, options, { maxRetries }),
    events: (options = {}) => followEvents(once, options, { maxRetries }),
    ...createLists(once, { maxRetries }),
  };
}
