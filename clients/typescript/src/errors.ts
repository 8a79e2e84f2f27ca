/** What the client throws. */
import type { components } from "./schema.d.ts";

type Document = components["schemas"]["Document"];

interface ErrorFacts {
  readonly status?: number;
  readonly code?: string;
  readonly document?: Document;
  readonly answer?: unknown;
}

/** A refusal of the service, or the failure of a document's processing. */
export class HoldfastError extends Error {
  /** The HTTP status; undefined if the upload was accepted and its processing failed. */
  readonly status: number | undefined;
  /** `encrypted`, `no_text` and the like, or the code of a refusal that has one, such as `cursor_expired`. */
  readonly code: string | undefined;
  readonly document: Document | undefined;
  /** The body of a refusal. */
  readonly answer: unknown;

  constructor(message: string, { status, code, document, answer }: ErrorFacts = {}) {
    super(message);
    this.name = "HoldfastError";
    this.status = status;
    this.code = code;
    this.document = document;
    this.answer = answer;
  }
}

/** The error that a refusal becomes. */
export function refusalOf(status: number, answer: unknown): HoldfastError {
  const body = typeof answer === "object" && answer !== null ? answer : { detail: answer };
  const detail = "detail" in body ? body.detail : body;
  const code = "code" in body && typeof body.code === "string" ? { code: body.code } : {};
  const message = typeof detail === "string" ? detail : JSON.stringify(detail);
  return new HoldfastError(message, { status, answer, ...code });
}
