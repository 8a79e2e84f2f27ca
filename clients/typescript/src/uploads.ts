/** Uploads a file and waits until its document is searchable. */
import type { Client } from "openapi-fetch";
import { HoldfastError, NotFoundError, RateLimitError, WaitTimeoutError } from "./errors.ts";
import type { DocumentFeed, Follower } from "./events/document-feed.ts";
import { type Persistence, newKey, persist } from "./requests.ts";
import type { components, paths } from "./schema.ts";

type Document = components["schemas"]["Document"];

export interface UploadOptions {
  readonly file: Blob;
  readonly filename: string;
  readonly spaceId: string;
  readonly folderId?: string;
  /** Becomes the document's `doc_metadata`, which filters find. */
  readonly metadata?: Readonly<Record<string, unknown>>;
  /** Become `doc_metadata.tags`. */
  readonly tags?: readonly string[];
  /** True refuses a file that no parser reads (`unsupported_file_type`) and an empty one. */
  readonly strict?: boolean;
  /**
   * Sending a file again with the same key, within 24 hours, makes no second document. A new one by default.
   */
  readonly idempotencyKey?: string;
  /** Ends the request. */
  readonly signal?: AbortSignal;
}

export interface UploadAndWaitOptions extends UploadOptions {
  /** Ends the wait; a document that was accepted is still processed. */
  readonly signal?: AbortSignal;
  /** How long to wait for the document, in milliseconds; without it as long as it takes. */
  readonly timeoutMs?: number;
  /** Called with the document whenever it was read: when something happened to it, and now and then. */
  readonly onState?: (document: Document) => void;
  /**
   * If events cannot be followed the document is polled: the pause before the second poll, in milliseconds;
   * 250 by default. Pauses grow to 5 s.
   */
  readonly pollMs?: number;
}

const POLL_MS = 250;
const POLL_MAX_MS = 5_000;
const READING_MS = 60_000;
/** How long the service may hold a poll until something changes. */
const HELD_SECONDS = 25;

/** What uploads of a client share. */
interface Uploader {
  readonly api: Client<paths>;
  readonly feed: DocumentFeed;
  readonly maxRetries: number;
}

type Accepted = (document: Document) => void;

export async function uploadAndWait(
  uploader: Uploader,
  { timeoutMs, ...options }: UploadAndWaitOptions,
): Promise<Document> {
  if (timeoutMs === undefined) return uploadAndFollow(uploader, options);
  const late = new AbortController();
  const { signal = late.signal } = options;
  const onAbort = (): void => late.abort(signal.reason);
  if (signal.aborted) onAbort();
  signal.addEventListener("abort", onAbort, { once: true });
  let last: Document | undefined;
  const timer = setTimeout(() => {
    const what = last === undefined ? "The upload was not accepted" : "The document is not ready";
    late.abort(new WaitTimeoutError(`${what} after ${timeoutMs} ms.`, { document: last }));
  }, timeoutMs);
  const remember: Accepted = (document) => {
    last = document;
  };
  const onState: Accepted = (document) => {
    remember(document);
    options.onState?.(document);
  };
  try {
    return await uploadAndFollow(uploader, { ...options, signal: late.signal, onState }, remember);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
  }
}

async function uploadAndFollow(
  { api, feed, maxRetries }: Uploader,
  options: UploadAndWaitOptions,
  onAccepted?: Accepted,
): Promise<Document> {
  const follower = await feed.join(options.signal);
  try {
    // Many uploads at once reach the rate limit, and then go on as slowly as it asks for.
    const accepted = await upload(api, options, { maxRetries, countsSilenceOnly: true });
    onAccepted?.(accepted);
    follower.follow(accepted.id);
    return await processed(api, accepted.id, follower, options).catch((fault: unknown) => {
      // With the right to see it, that to see the others may be gone.
      if (fault instanceof NotFoundError) follower.alarm();
      throw fault;
    });
  } finally {
    follower.leave();
  }
}

/** Sends an upload, and again after a fault with the same Idempotency-Key: it is one document. */
export async function upload(
  api: Client<paths>,
  options: UploadOptions,
  persistence: Pick<Persistence, "maxRetries" | "countsSilenceOnly">,
): Promise<Document> {
  const key = options.idempotencyKey ?? newKey();
  return persist(
    (ended) =>
      api.POST("/v1/data/upload", {
        // The schema describes the fields of the form, but what is sent is a FormData.
        body: {} as never,
        bodySerializer: () => formOf(options),
        headers: { "Idempotency-Key": key },
        signal: ended,
      }),
    { ...persistence, signal: options.signal },
  );
}

function formOf({ file, filename, spaceId, folderId, metadata, tags, strict }: UploadOptions): FormData {
  const fields = new FormData();
  fields.set("space_id", spaceId);
  if (folderId !== undefined) fields.set("folder_id", folderId);
  if (metadata !== undefined) fields.set("doc_metadata", JSON.stringify(metadata));
  if (tags !== undefined) fields.set("tags", JSON.stringify(tags));
  if (strict !== undefined) fields.set("strict", String(strict));
  fields.set("file", file, filename);
  return fields;
}

async function processed(
  api: Client<paths>,
  documentId: string,
  follower: Follower,
  { signal, onState, pollMs = POLL_MS }: UploadAndWaitOptions,
): Promise<Document> {
  for (let pause = pollMs; ; pause = Math.min(pause * 1.5, POLL_MAX_MS)) {
    // An event only says that there is something to see: a later run may have begun since.
    await follower.news(pause, signal);
    const document = follower.isTold()
      ? await readDocument(api, documentId, { signal })
      : await readHeld(api, documentId, signal);
    onState?.(document);
    const { pipeline_status: status, error } = document.processing_state;
    if (status === "completed") return document;
    if (status === "failed" || status === "cancelled") {
      throw new HoldfastError(error?.message ?? `The run was ${status}.`, {
        code: error?.code ?? status,
        document,
      });
    }
  }
}

/** Lets the service hold the request until something changes, or answer at once if too many are held. */
async function readHeld(
  api: Client<paths>,
  documentId: string,
  signal: AbortSignal | undefined,
): Promise<Document> {
  try {
    return await readDocument(api, documentId, { signal, wait: HELD_SECONDS, throws: [429] });
  } catch (fault) {
    if (!(fault instanceof RateLimitError)) throw fault;
    return readDocument(api, documentId, { signal });
  }
}

async function readDocument(
  api: Client<paths>,
  documentId: string,
  { wait = 0, ...persistence }: Pick<Persistence, "signal" | "throws"> & { readonly wait?: number },
): Promise<Document> {
  try {
    return await persist(
      (ended) =>
        api.GET("/v1/data/{document_id}", {
          params: { path: { document_id: documentId }, ...(wait > 0 ? { query: { wait } } : {}) },
          signal: ended,
        }),
      { ...persistence, timeoutMs: READING_MS },
    );
  } catch (fault) {
    if (!(fault instanceof NotFoundError)) throw fault;
    // It was there, and is deleted or out of the caller's reach.
    const { answer, requestId } = fault;
    throw new NotFoundError(fault.message, { status: 404, code: "deleted", answer, requestId });
  }
}
