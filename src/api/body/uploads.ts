/** Reads multipart forms: one file, passed on as a stream while it arrives, and the fields around it. */
import { Dicer } from "@fastify/busboy";
import type { IncomingMessage } from "node:http";
import type { Readable } from "node:stream";
import { DomainError } from "../../domain/errors.ts";
import { type ArrivingFile, openFile } from "./arriving-file.ts";
import { linger } from "./linger.ts";
import { type PartDescription, type PartHeader, parseParameters, readPartHeader } from "./part-header.ts";

const DEFAULT_MAX_FIELDS = 32;
const DEFAULT_MAX_FIELD_BYTES = 64 * 1024;
const MAX_PART_HEADERS = 32;
const MAX_PART_HEADER_BYTES = 16 * 1024;
/** @see https://www.rfc-editor.org/rfc/rfc2046#section-5.1.1 */
const MAX_BOUNDARY_CHARACTERS = 70;

export interface UploadOptions<T> {
  readonly maxBytes: number;
  /** The most parts of the form, files included. Default 32. */
  readonly maxFields?: number | undefined;
  /** The longest text field in bytes. Default 64 KiB. */
  readonly maxFieldBytes?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Called once, for the part `file`; what it leaves is dropped. The caller undoes it if an upload fails. */
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
  | { readonly kind: "file_is_text"; readonly input: string }
  /** A further file, which was dropped. */
  | { readonly kind: "another_file" };

export interface ReceivedUpload<T> {
  /** The last value of each text field. */
  readonly fields: Record<string, string>;
  /** All values of the text fields that came more than once. */
  readonly repeated: Record<string, string[]>;
  /** The names of parts that are files but not the field `file`; they were dropped. */
  readonly otherFiles: readonly string[];
  readonly file: ReceivedFile<T> | null;
  readonly problems: readonly UploadProblem[];
}

interface Form<T> {
  readonly options: UploadOptions<T>;
  /** Of the whole form. */
  readonly declaredBytes: number | undefined;
  readonly fields: Map<string, string[]>;
  readonly otherFiles: string[];
  readonly problems: UploadProblem[];
  readonly abort: AbortController;
  /** Ends the upload with this error; later errors are ignored. */
  readonly fail: (error: unknown) => void;
  parts: number;
  file: Promise<ReceivedFile<T>> | undefined;
}

/**
 * Reads the whole form in constant memory, as fast as `onFile` takes the file. The rest of a refused request
 * is read and dropped for at most 2 s, then its connection is cut.
 * @throws DomainError `bad_request` for a file over `maxBytes` and for a broken form, `cancelled` if the
 *   client went away; the error of `onFile`. Each of them only after `onFile` has ended.
 */
export async function receiveUpload<T>(
  req: IncomingMessage,
  options: UploadOptions<T>,
): Promise<ReceivedUpload<T>> {
  try {
    const boundary = boundaryOf(req.headers["content-type"]);
    if (boundary === undefined) {
      linger(req);
      const problems = [{ kind: "not_multipart" }] as const;
      return { fields: {}, repeated: {}, otherFiles: [], file: null, problems };
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
  const form: Form<T> = {
    ...given,
    fields: new Map(),
    otherFiles: [],
    problems: [],
    abort,
    fail,
    parts: 0,
    file: undefined,
  };
  const parser = new Dicer({
    boundary,
    maxHeaderPairs: MAX_PART_HEADERS,
    maxHeaderSize: MAX_PART_HEADER_BYTES,
  } as Dicer.Config);
  parser.on("part", (part) => {
    part.on("error", () => {}).on("header", (header) => acceptPart(form, part, header as PartHeader));
  });
  parser.on("finish", resolve);
  const stopWatching = watch(req, parser, form, resolve);
  req.pipe(parser);
  try {
    await read;
    const file = (await form.file) ?? null;
    const fields = [...form.fields];
    return {
      fields: Object.fromEntries(fields.map(([name, values]) => [name, values.at(-1)!])),
      repeated: Object.fromEntries(fields.filter(([, values]) => values.length > 1)),
      otherFiles: form.otherFiles,
      file,
      problems: form.problems,
    };
  } catch (error) {
    fail(error);
    await form.file?.catch(() => {});
    throw error;
  } finally {
    req.unpipe(parser);
    stopWatching();
    // Whatever follows the end of the form is dropped.
    if (!abort.signal.aborted) req.resume();
  }
}

/** Ends the upload for events outside its parts. @returns a function that removes the listeners. */
function watch<T>(req: IncomingMessage, parser: Dicer, form: Form<T>, end: () => void): () => void {
  const { options, fail } = form;
  let bytes = 0;
  const count = (piece: Buffer): void => {
    bytes += piece.byteLength;
    // The end of the file is not waited for, so its own size is not known.
    if (bytes > maxFormBytes(options)) fail(tooLarge(form.declaredBytes ?? bytes));
  };
  const gone = (): void => {
    if (!req.complete) fail(new DomainError("cancelled", "The client went away during the upload."));
  };
  const aborted = (): void => fail(options.signal?.reason);
  // A body without a single byte is read as a form without fields: the answer then names the missing field.
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
      new DomainError("malformed_body", `Too many fields. Maximum number of fields is ${maxFields}.`),
    );
  const { name, filename, contentType, statedBytes } = readPartHeader(header);
  if (form.abort.signal.aborted || name === undefined) {
    part.resume();
  } else if (filename === undefined) {
    takeField(form, part, name);
  } else if (name === "file" && form.file === undefined) {
    form.file = takeFile(form, part, { filename, contentType, statedBytes });
    form.file.catch(form.fail);
  } else {
    if (name === "file") form.problems.push({ kind: "another_file" });
    else form.otherFiles.push(name);
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
      form.fail(new DomainError("body_too_large", `Field exceeded maximum size of ${maxFieldBytes} bytes.`));
    else pieces.push(piece);
  });
  part.on("end", () => {
    const value = Buffer.concat(pieces).toString("utf8");
    if (name === "file") form.problems.push({ kind: "file_is_text", input: value });
    else form.fields.set(name, [...(form.fields.get(name) ?? []), value]);
  });
}

async function takeFile<T>(
  form: Form<T>,
  part: Readable,
  {
    statedBytes,
    ...name
  }: Pick<PartDescription, "contentType" | "statedBytes"> & { readonly filename: string },
): Promise<ReceivedFile<T>> {
  const { signal } = form.abort;
  const opened = openFile(part, {
    signal,
    maxBytes: form.options.maxBytes,
    statedBytes,
    tooLarge: (bytes) => form.fail(tooLarge(bytes)),
  });
  try {
    const head = await opened.head;
    const value = await form.options.onFile({ ...name, head, stream: opened.stream, signal });
    return {
      ...name,
      value,
      get size() {
        return opened.size();
      },
    };
  } finally {
    opened.stream.destroy();
  }
}

/** Undefined if the body is no multipart form at all. */
function boundaryOf(contentType = ""): string | undefined {
  if (!/^\s*multipart\/form-data\s*(?:;|$)/i.test(contentType)) return undefined;
  const boundary = parseParameters(contentType).get("boundary") ?? "";
  if (boundary === "" || boundary.length > MAX_BOUNDARY_CHARACTERS)
    throw new DomainError("malformed_body", "Missing boundary in multipart.");
  return boundary;
}

function declaredLength(req: IncomingMessage): number | undefined {
  const length = req.headers["content-length"];
  return length === undefined ? undefined : Number(length);
}

/** A form is longer than its file, by its other fields and the headers of its parts. */
function maxFormBytes({
  maxBytes,
  maxFields = DEFAULT_MAX_FIELDS,
  maxFieldBytes = DEFAULT_MAX_FIELD_BYTES,
}: UploadOptions<unknown>): number {
  return maxBytes + maxFields * (maxFieldBytes + MAX_PART_HEADER_BYTES);
}

function tooLarge(bytes: number): DomainError {
  return new DomainError("body_too_large", `File size ${bytes} bytes exceeds maximum allowed`);
}

function malformed(): DomainError {
  return new DomainError("malformed_body", "There was an error parsing the body");
}
