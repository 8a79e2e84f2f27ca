/** Uploads a file and waits until its document is searchable. */
import type { Client } from "openapi-fetch";
import { HoldfastError } from "./errors.ts";
import type { DocumentFeed, Follower } from "./events/document-feed.ts";
import { persist } from "./requests.ts";
import type { components, paths } from "./schema.d.ts";

type Document = components["schemas"]["Document"];

export interface UploadOptions {
  readonly file: Blob;
  readonly filename: string;
  readonly spaceId: string;
  readonly folderId?: string;
  /** Ends the wait; a document that was accepted is still processed. */
  readonly signal?: AbortSignal;
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

export async function uploadAndWait(
  api: Client<paths>,
  feed: DocumentFeed,
  options: UploadOptions,
): Promise<Document> {
  const follower = await feed.join(options.signal);
  try {
    const { id } = await upload(api, options);
    follower.follow(id);
    return await processed(api, id, follower, options);
  } finally {
    follower.leave();
  }
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
    (ended) =>
      api.POST("/v1/data/upload", {
        // The schema describes the fields of the form, but what is sent is a FormData.
        body: {} as never,
        bodySerializer: form,
        headers: { "Idempotency-Key": key },
        signal: ended,
      }),
    { signal },
  );
}

async function processed(
  api: Client<paths>,
  documentId: string,
  follower: Follower,
  { signal, onState, pollMs = POLL_MS }: UploadOptions,
): Promise<Document> {
  for (let pause = pollMs; ; pause = Math.min(pause * 1.5, POLL_MAX_MS)) {
    // An event only says that there is something to see: a later run may have begun since.
    await follower.news(pause, signal);
    const document = await readDocument(api, documentId, signal);
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

async function readDocument(
  api: Client<paths>,
  documentId: string,
  signal: AbortSignal | undefined,
): Promise<Document> {
  try {
    return await persist(
      (ended) =>
        api.GET("/v1/data/{document_id}", {
          params: { path: { document_id: documentId } },
          signal: ended,
        }),
      { signal, timeoutMs: READING_MS },
    );
  } catch (fault) {
    if (!(fault instanceof HoldfastError) || fault.status !== 404) throw fault;
    // It was there, and is deleted or out of the caller's reach.
    throw new HoldfastError(fault.message, { status: 404, code: "deleted", answer: fault.answer });
  }
}
