/**
 * A typed client of Holdfast: every endpoint of its OpenAPI document, and an upload that waits until its
 * document is searchable.
 */
import createFetch, { type Client } from "openapi-fetch";
import type { components, paths } from "./schema.d.ts";

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

export interface UploadOptions {
  readonly file: Blob;
  readonly filename: string;
  readonly spaceId: string;
  readonly folderId?: string;
  /** Ends the wait; a document that was accepted is still processed. */
  readonly signal?: AbortSignal;
  /** Called with the document after each poll, at most every `pollMs`. */
  readonly onState?: (document: Document) => void;
  /** The pause before the second poll, in milliseconds; 250 by default. Pauses grow to 5 s. */
  readonly pollMs?: number;
}

export interface Holdfast {
  /**
   * One function for each method, typed by path: `api.GET("/v1/data/{document_id}", …)`. It returns
   * `{data}` or `{error}`, and never throws for a status.
   */
  readonly api: Client<paths>;
  /**
   * Uploads a file and resolves when its document is searchable. An upload that is repeated after a fault of
   * the connection has the same Idempotency-Key, so it makes only one document.
   * @throws HoldfastError with the answer's status and detail, or with the run's code if processing failed
   * @throws the signal's reason if it is aborted
   * @example
   * const holdfast = createHoldfast({ baseUrl: "https://holdfast.example", credential: key });
   * const document = await holdfast.uploadAndWait({ file, filename: "report.pdf", spaceId });
   */
  uploadAndWait(options: UploadOptions): Promise<Document>;
}

/** A refusal of the service, or the failure of a document's processing. */
export class HoldfastError extends Error {
  /** The HTTP status; undefined if the upload was accepted and its processing failed. */
  readonly status: number | undefined;
  /** `encrypted`, `no_text` and the like; undefined for a refusal. */
  readonly code: string | undefined;
  readonly document: Document | undefined;

  constructor(message: string, about: { status?: number; code?: string; document?: Document } = {}) {
    super(message);
    this.name = "HoldfastError";
    this.status = about.status;
    this.code = about.code;
    this.document = about.document;
  }
}

const POLL_MS = 250;
const POLL_MAX_MS = 5_000;
const RETRY_MS = 500;
/**
 * Statuses after which the same request may succeed: the service or what it depends on is not available, or
 * it asks the client to wait.
 */
const TRY_AGAIN = new Set([429, 502, 503, 504]);

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
  return {
    api,
    async uploadAndWait(options) {
      const accepted = await upload(api, options);
      return processed(api, accepted.id, options);
    },
  };
}

async function upload(
  api: Client<paths>,
  { file, filename, spaceId, folderId, signal }: UploadOptions,
): Promise<{ id: string }> {
  const form = (): FormData => {
    const fields = new FormData();
    fields.set("space_id", spaceId);
    if (folderId !== undefined) fields.set("folder_id", folderId);
    fields.set("file", file, filename);
    return fields;
  };
  const key = crypto.randomUUID();
  return persist(
    () =>
      api.POST("/v1/data/upload", {
        // The schema describes the fields of the form, but what is sent is a FormData.
        body: {} as never,
        bodySerializer: form,
        headers: { "Idempotency-Key": key },
        ...(signal === undefined ? {} : { signal }),
      }),
    signal,
  );
}

async function processed(
  api: Client<paths>,
  documentId: string,
  { signal, onState, pollMs = POLL_MS }: UploadOptions,
): Promise<Document> {
  for (let pause = pollMs; ; pause = Math.min(pause * 1.5, POLL_MAX_MS)) {
    const document = await persist(
      () =>
        api.GET("/v1/data/{document_id}", {
          params: { path: { document_id: documentId } },
          ...(signal === undefined ? {} : { signal }),
        }),
      signal,
    );
    onState?.(document);
    const { pipeline_status: status, error } = document.processing_state;
    if (status === "completed") return document;
    if (status === "failed" || status === "cancelled") {
      throw new HoldfastError(error?.message ?? `The run was ${status}.`, {
        code: error?.code ?? status,
        document,
      });
    }
    await wait(pause, signal);
  }
}

interface Answered<T> {
  readonly data?: T;
  readonly error?: unknown;
  readonly response: Response;
}

/** Repeats a request while the service is not available, as slowly as it asks for. */
async function persist<T>(ask: () => Promise<Answered<T>>, signal: AbortSignal | undefined): Promise<T> {
  for (;;) {
    signal?.throwIfAborted();
    const answer = await ask().catch((fault: unknown) => {
      // fetch throws a TypeError if the connection breaks; any other error is not temporary.
      if (signal?.aborted || !(fault instanceof TypeError)) throw fault;
      return undefined;
    });
    if (answer?.data !== undefined) return answer.data;
    if (answer !== undefined && !TRY_AGAIN.has(answer.response.status))
      throw new HoldfastError(detailOf(answer.error), { status: answer.response.status });
    const asked = Number(answer?.response.headers.get("retry-after") ?? 0) * 1_000;
    await wait(Math.max(asked, RETRY_MS), signal);
  }
}

function detailOf(error: unknown): string {
  const detail = typeof error === "object" && error !== null && "detail" in error ? error.detail : error;
  return typeof detail === "string" ? detail : JSON.stringify(detail);
}

async function wait(ms: number, signal: AbortSignal | undefined): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, ms);
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    signal?.addEventListener("abort", stop, { once: true });
  });
}
