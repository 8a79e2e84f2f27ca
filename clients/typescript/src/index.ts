/**
 * A typed client of Holdfast: every endpoint of its OpenAPI document, events as an iterator, an upload that
 * waits until its document is searchable, and the check of a webhook's signature.
 */
import createFetch, { type Client } from "openapi-fetch";
import { createDocumentFeed } from "./events/document-feed.ts";
import { type EventsOptions, type ReceivedEvent, followEvents } from "./events/follow-events.ts";
import type { components, paths } from "./schema.d.ts";
import { type UploadOptions, uploadAndWait } from "./uploads.ts";

export { HoldfastError } from "./errors.ts";
export type { EventsOptions, HoldfastEvent, ReceivedEvent } from "./events/follow-events.ts";
export type { UploadOptions } from "./uploads.ts";
export { type VerifyOptions, WebhookRefused, verifyWebhook } from "./verify-webhook.ts";

export type Schemas = components["schemas"];
export type Document = Schemas["Document"];

export interface HoldfastOptions {
  /** The address of the service, without `/v1`. */
  readonly baseUrl: string;
  /** An API key, or a function that gives an access token for each request. */
  readonly credential: string | (() => string | Promise<string>);
  /** The global `fetch` by default. */
  readonly fetch?: typeof fetch;
}

export interface Holdfast {
  /**
   * One function for each method, typed by path: `api.GET("/v1/data/{document_id}", …)`. It returns
   * `{data}` or `{error}`, and never throws for a status.
   */
  readonly api: Client<paths>;
  /**
   * What happens, as it happens: each event once and in its order, also over connections that break. It
   * reads no further while the loop's body runs, and it goes on until the signal or the loop ends it.
   * @throws HoldfastError if the service refuses: `cursor_expired` (410) if what comes after the cursor is not
   * kept any more, 401 if the credential has ended
   * @throws the signal's reason if it is aborted
   * @example
   * for await (const { event, cursor } of holdfast.events({ types: ["document.completed"], after: stored })) {
   *   await handle(event);
   *   stored = cursor;
   * }
   */
  events(options?: EventsOptions): AsyncGenerator<ReceivedEvent, void, undefined>;
  /**
   * Uploads a file and resolves when its document is searchable. An upload that is repeated after a fault of
   * the connection has the same Idempotency-Key, so it makes only one document. Any number of uploads wait
   * over one stream of events, so waiting uses up no rate limit.
   * @throws HoldfastError with the answer's status and detail, with the run's code if processing failed, or
   * with the code `deleted`
   * @throws the signal's reason if it is aborted
   * @example
   * const holdfast = createHoldfast({ baseUrl: "https://holdfast.example", credential: key });
   * const document = await holdfast.uploadAndWait({ file, filename: "report.pdf", spaceId });
   */
  uploadAndWait(options: UploadOptions): Promise<Document>;
}

export function createHoldfast({ baseUrl, credential, fetch: send = fetch }: HoldfastOptions): Holdfast {
  const api = createFetch<paths>({ baseUrl: baseUrl.replace(/\/+$/, ""), fetch: (request) => send(request) });
  api.use({
    async onRequest({ request }) {
      request.headers.set(
        "authorization",
        `Bearer ${typeof credential === "string" ? credential : await credential()}`,
      );
      return request;
    },
  });
  const feed = createDocumentFeed(api);
  return {
    api,
    events: (options = {}) => followEvents(api, options),
    uploadAndWait: (options) => uploadAndWait(api, feed, options),
  };
}
