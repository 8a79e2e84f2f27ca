/** The only reader of multipart forms: one file, streamed on while it arrives, and the fields before and after it. */
import { Dicer } from "@fastify/busboy";
import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import { DomainError } from "../../domain/errors.ts";
import { parseParameters, readPartHeader } from "./part-header.ts";
import type { PartHeader } from "./part-header.ts";

const HEAD_BYTES = 64 * 1024;
const BUFFER_BYTES = 256 * 1024;
const DEFAULT_MAX_FIELDS = 32;
const DEFAULT_MAX_FIELD_BYTES = 64 * 1024;
const MAX_PART_HEADERS = 32;
const MAX_PART_HEADER_BYTES = 16 * 1024;
/** Above 70, RFC 2046 allows none. */
const MAX_BOUNDARY_CHARACTERS = 70;
/** What is still read of a refused upload while its answer is on its way; a connection cut at once would lose the answer. */
const LINGER_BYTES = 512 * 1024 * 1024;
const LINGER_MS = 2_000;

export interface ArrivingFile {
  /** Cleaned by cleanFilename of part-header.ts. */
  readonly filename: string;
  /** As the client states it. */
  readonly contentType: string;
  /** The first bytes, at most 64 KiB; the whole of a smaller file. */
  readonly head: Buffer;
  /** The whole file, its head included. Fails where the upload fails. */
  readonly stream: Readable;
  /** Aborted where the upload fails, also after the file itself has come. */
  readonly signal: AbortSignal;
}

export interface UploadOptions<T> {
  /** Most bytes of the file. */
  readonly maxBytes: number;
  /** Most parts of the form, files included. */
  readonly maxFields?: number | undefined;
  readonly maxFieldBytes?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Called once, for the part `file`. What it leaves unread is dropped. Where the upload fails later, its caller undoes what it did. */
  readonly onFile: (file: ArrivingFile) => Promise<T>;
}

export interface ReceivedFile<T> {
  readonly value: T;
  readonly filename: string;
  readonly contentType: string;
  /** Bytes. */
  readonly size: number;
}

/** What a validation answer has to name beyond a missing field. */
type UploadProblem =
  | { readonly kind: "not_multipart" }
  /** The field `file` came as text, which is shown here. */
  | { readonly kind: "file_is_text"; readonly input: string };

export interface ReceivedUpload<T> {
  /** The last value of each text field. */
  readonly fields: Record<string, string>;
  readonly file: ReceivedFile<T> | null;
  readonly problems: readonly UploadProblem[];
}

interface Form<T> {
  readonly options: UploadOptions<T>;
  readonly declaredBytes: number | undefined;
  readonly fields: Map<string, string>;
  readonly problems: UploadProblem[];
  readonly abort: AbortController;
  /** Ends the upload with this error; later ones are passed over. */
  readonly fail: (error: unknown) => void;
  parts: number;
  file: Promise<ReceivedFile<T>> | undefined;
}

/**
 * Reads the whole form in constant memory, as fast as `onFile` takes the file. Throws `bad_request` for a file over
 * `maxBytes` and for a broken form, `cancelled` where the client went away, and what `onFile` throws — always after `onFile`
 * has ended. The rest of a refused request is read and dropped for at most 2 s, then its connection is cut.
 */
export async function receiveUpload<T>(
  req: IncomingMessage,
  options: UploadOptions<T>,
): Promise<ReceivedUpload<T>> {
  try {
    const boundary = boundaryOf(req.headers["content-type"]);
    if (boundary === undefined) {
      linger(req);
      return { fields: {}, file: null, problems: [{ kind: "not_multipart" }] };
    }
    const declaredBytes = declaredLength(req);
    if (declaredBytes !== undefined && declaredBytes > maxFormBytes(options)) throw tooLarge(declaredBytes);
    return await readForm(req, boundary, { options, declaredBytes });
  } catch (error) {
    linger(req);
    throw error;
  }
}

async function readForm<T>(
  req: IncomingMessage,
  boundary: string,
  given: Pick<Form<T>, "options" | "declaredBytes">,
): Promise<ReceivedUpload<T>> {
  const { promise: read, resolve, reject } = Promise.withResolvers<void>();
  const abort = new AbortController();
  const fail = (error: unknown): void => {
    if (abort.signal.aborted) return;
    abort.abort(error);
    reject(error);
  };
  const form: Form<T> = { ...given, fields: new Map(), problems: [], abort, fail, parts: 0, file: undefined };
  const parser = new Dicer({
    boundary,
    maxHeaderPairs: MAX_PART_HEADERS,
    maxHeaderSize: MAX_PART_HEADER_BYTES,
  } as Dicer.Config);
  parser.on(
    "part",
    (part) =>
      void part.on("error", () => {}).on("header", (header) => acceptPart(form, part, header as PartHeader)),
  );
  parser.on("finish", resolve);
  const stopWatching = watch(req, parser, form, resolve);
  req.pipe(parser);
  try {
    await read;
    const file = (await form.file) ?? null;
    return { fields: Object.fromEntries(form.fields), file, problems: form.problems };
  } catch (error) {
    fail(error);
    await form.file?.catch(() => {});
    throw error;
  } finally {
    req.unpipe(parser);
    stopWatching();
    // On a form that is whole, whatever stands behind its end is dropped.
    if (!abort.signal.aborted) req.resume();
  }
}

/** Ends the upload for what happens outside its parts. Returns what takes the listeners off again. */
function watch<T>(req: IncomingMessage, parser: Dicer, form: Form<T>, end: () => void): () => void {
  const { options, fail } = form;
  let bytes = 0;
  const count = (piece: Buffer): void => {
    bytes += piece.byteLength;
    if (bytes > maxFormBytes(options)) fail(tooLarge(form.declaredBytes ?? bytes));
  };
  const gone = (): void => {
    if (!req.complete) fail(new DomainError("cancelled", "The client went away during the upload."));
  };
  const aborted = (): void => fail(options.signal?.reason);
  // A form without a single byte has no fields, which says more than that it is broken.
  parser.on("error", () => (bytes === 0 && req.complete ? end() : fail(malformed())));
  req.on("data", count).on("close", gone).on("error", gone);
  options.signal?.addEventListener("abort", aborted, { once: true });
  if (options.signal?.aborted === true) aborted();
  if (req.destroyed) gone();
  return () => {
    req
      .off("data", count)
      .off("close", gone)
      .off("error", gone)
      .on("error", () => {});
    options.signal?.removeEventListener("abort", aborted);
  };
}

function acceptPart<T>(form: Form<T>, part: Readable, header: PartHeader): void {
  const { maxFields = DEFAULT_MAX_FIELDS } = form.options;
  form.parts += 1;
  if (form.parts > maxFields)
    return form.fail(
      new DomainError("bad_request", `Too many fields. Maximum number of fields is ${maxFields}.`),
    );
  const { name, filename, contentType } = readPartHeader(header);
  if (form.abort.signal.aborted || name === undefined) {
    part.resume();
  } else if (filename === undefined) {
    takeField(form, part, name);
  } else if (name === "file" && form.file === undefined) {
    form.file = takeFile(form, part, { filename, contentType });
    form.file.catch(form.fail);
  } else {
    part.resume();
  }
}

function takeField<T>(form: Form<T>, part: Readable, name: string): void {
  const { maxFieldBytes = DEFAULT_MAX_FIELD_BYTES } = form.options;
  const pieces: Buffer[] = [];
  let bytes = 0;
  part.on("data", (piece: Buffer) => {
    bytes += piece.byteLength;
    if (bytes > maxFieldBytes)
      form.fail(new DomainError("bad_request", `Field exceeded maximum size of ${maxFieldBytes} bytes.`));
    else pieces.push(piece);
  });
  part.on("end", () => {
    const value = Buffer.concat(pieces).toString("utf8");
    if (name === "file") form.problems.push({ kind: "file_is_text", input: value });
    else form.fields.set(name, value);
  });
}

/**
 * Hands the file on. `part` is never read by iteration: leaving a loop would destroy it, and a destroyed part stops the
 * parser, and with it the request, for good.
 */
async function takeFile<T>(
  form: Form<T>,
  part: Readable,
  name: Pick<ArrivingFile, "filename" | "contentType">,
): Promise<ReceivedFile<T>> {
  const { signal } = form.abort;
  const begun = Promise.withResolvers<Buffer>();
  const stream = new Readable({
    highWaterMark: BUFFER_BYTES,
    read: () => void part.resume(),
    destroy: (error, done) => {
      part.resume();
      done(error);
    },
  });
  stream.on("error", () => {});
  const stop = (): void => {
    begun.reject(signal.reason);
    stream.destroy(
      signal.reason instanceof Error
        ? signal.reason
        : new DomainError("cancelled", "The upload was cancelled."),
    );
  };
  signal.addEventListener("abort", stop, { once: true });
  let size = 0;
  let head: Buffer[] | undefined = [];
  const push = (piece: Buffer): void => {
    if (!stream.destroyed && !stream.push(piece)) part.pause();
  };
  const begin = (): void => {
    const first = Buffer.concat(head ?? []);
    head = undefined;
    if (first.byteLength > 0) push(first);
    begun.resolve(first.subarray(0, HEAD_BYTES));
  };
  part.on("data", (piece: Buffer) => {
    size += piece.byteLength;
    if (size > form.options.maxBytes) return form.fail(tooLarge(form.declaredBytes ?? size));
    if (head === undefined) return push(piece);
    head.push(piece);
    if (size >= HEAD_BYTES) begin();
  });
  part.on("end", () => {
    if (head !== undefined) begin();
    if (!stream.destroyed) stream.push(null);
  });
  try {
    const value = await form.options.onFile({ ...name, head: await begun.promise, stream, signal });
    return {
      ...name,
      value,
      get size() {
        return size;
      },
    };
  } finally {
    stream.destroy();
  }
}

/** `undefined` where the body is no multipart form at all. */
function boundaryOf(contentType = ""): string | undefined {
  if (!/^\s*multipart\/form-data\s*(?:;|$)/i.test(contentType)) return undefined;
  const boundary = parseParameters(contentType).get("boundary") ?? "";
  if (boundary === "" || boundary.length > MAX_BOUNDARY_CHARACTERS)
    throw new DomainError("bad_request", "Missing boundary in multipart.");
  return boundary;
}

function declaredLength(req: IncomingMessage): number | undefined {
  const length = req.headers["content-length"];
  return length === undefined ? undefined : Number(length);
}

/** A form is longer than its file: by its other fields and the lines between its parts. */
function maxFormBytes({
  maxBytes,
  maxFields = DEFAULT_MAX_FIELDS,
  maxFieldBytes = DEFAULT_MAX_FIELD_BYTES,
}: UploadOptions<unknown>): number {
  return maxBytes + maxFields * (maxFieldBytes + MAX_PART_HEADER_BYTES);
}

function tooLarge(bytes: number): DomainError {
  return new DomainError("bad_request", `File size ${bytes} bytes exceeds maximum allowed`);
}

function malformed(): DomainError {
  return new DomainError("bad_request", "There was an error parsing the body");
}

/** Lets a client that is still sending read its answer: goes on reading, within bounds, and cuts the connection behind them. */
function linger(req: IncomingMessage): void {
  if (req.complete || req.destroyed) return void req.resume();
  let left = LINGER_BYTES;
  const cut = (): void => void req.socket.destroy();
  const timer = setTimeout(cut, LINGER_MS).unref();
  req
    .on("error", () => {})
    .once("end", () => clearTimeout(timer))
    .once("close", () => clearTimeout(timer));
  req.on("data", (piece: Buffer) => {
    left -= piece.byteLength;
    if (left < 0) cut();
  });
  req.resume();
}
