/** A service of a few documents behind `fetch`, whose runs and events a test plays itself. */

type Status = "queued" | "completed" | "failed" | "cancelled";

export interface ScriptedService {
  readonly fetch: typeof fetch;
  /** Paths that were asked for, with their method. */
  readonly asked: readonly string[];
  /** Changes a document without telling it. */
  set(documentId: string, status: Status | "deleted", code?: string): void;
  /** Sends an event to the stream that is open. */
  tell(type: string, documentId: string): void;
  /** Answers the next uploads only when the returned function is called. */
  holdUploads(): () => void;
  /** Refuses requests whose path begins so; null stops it. */
  refuse(refusal: { readonly path: string; readonly status: number } | null): void;
  /** Breaks the stream that is open. */
  cut(): void;
}

const json = (status: number, body: unknown): Response => Response.json(body, { status });
const encode = (text: string): Uint8Array => new TextEncoder().encode(text);

export function createScriptedService(): ScriptedService {
  const documents = new Map<string, unknown>();
  const asked: string[] = [];
  let refused: { path: string; status: number } | null = null;
  let stream: ReadableStreamDefaultController<Uint8Array> | undefined;
  let uploads = Promise.resolve();
  let position = 0;

  const set = (id: string, status: Status | "deleted", code?: string): void => {
    const error = code === undefined ? {} : { error: { stage: "parse", code, message: `It is ${code}.` } };
    if (status === "deleted") documents.delete(id);
    else documents.set(id, { id, processing_state: { pipeline_status: status, ...error } });
  };
  const upload = async (): Promise<Response> => {
    const id = `document-${documents.size + 1}`;
    set(id, "queued");
    await uploads;
    return json(201, documents.get(id));
  };
  const openStream = (): Response =>
    new Response(new ReadableStream<Uint8Array>({ start: (controller) => void (stream = controller) }));
  const answer = async (method: string, path: string): Promise<Response> => {
    if (refused !== null && path.startsWith(refused.path)) return json(refused.status, { detail: "Refused" });
    if (method === "POST") return upload();
    if (path === "/v1/events/stream") return openStream();
    if (path === "/v1/events") return json(200, { items: [], next_cursor: `c${position}`, has_more: false });
    const document = documents.get(path.replace("/v1/data/", ""));
    return document === undefined ? json(404, { detail: "Document not found" }) : json(200, document);
  };

  return {
    asked,
    set,
    async fetch(input) {
      const { method, url } = input as Request;
      const path = new URL(url).pathname;
      asked.push(`${method} ${path}`);
      return answer(method, path);
    },
    tell(type, documentId) {
      position += 1;
      const event = { id: `event-${position}`, type, resource: { type: "document", id: documentId } };
      stream?.enqueue(encode(`id: c${position}\ndata: ${JSON.stringify(event)}\n\n`));
    },
    holdUploads() {
      const held = Promise.withResolvers<void>();
      uploads = held.promise;
      return held.resolve;
    },
    refuse(refusal) {
      refused = refusal;
    },
    cut() {
      stream?.error(new TypeError("terminated"));
    },
  };
}
