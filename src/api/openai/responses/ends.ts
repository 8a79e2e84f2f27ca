/** What the end of a turn becomes in a response: its usage, its annotations, its error. */
import type { ProvenMark } from "../../../agents/quotes/evidence.ts";
import type { Citation } from "../../../agents/sources.ts";
import type { DomainError } from "../../../domain/errors.ts";
import type { Completed, TurnResult } from "../../turns/turn.ts";
import { type FileCitation, type ResponseUsage, fileIdOf } from "./items.ts";

export function usageOf({ usage }: Completed): ResponseUsage {
  return {
    input_tokens: usage.prompt_tokens,
    input_tokens_details: { cached_tokens: usage.cached_tokens ?? 0, cache_write_tokens: 0 },
    output_tokens: usage.completion_tokens,
    output_tokens_details: { reasoning_tokens: usage.reasoning_tokens ?? 0 },
    total_tokens: usage.prompt_tokens + usage.completion_tokens,
  };
}

interface MarkPlace {
  /** Where the message begins in the text of the turn. */
  readonly from: number;
  /** Ids of files by documents; others have the document's own. */
  readonly fileIds: ReadonlyMap<string, string>;
}

export function annotationOf(
  citation: Citation,
  mark: ProvenMark,
  { from, fileIds }: MarkPlace,
): FileCitation {
  const { index: number, start, end, ...evidence } = mark;
  const { index: _index, text: _text, document_name: filename, ...source } = citation;
  return {
    type: "file_citation",
    file_id: fileIds.get(citation.document_id) ?? fileIdOf(citation.document_id),
    filename,
    index: start - from,
    number,
    start_index: start - from,
    end_index: end - from,
    ...source,
    ...movedSentence(evidence, from),
  };
}

function movedSentence<E extends Omit<ProvenMark, "index" | "start" | "end">>(evidence: E, from: number): E {
  const { sentence_start: start, sentence_end: end } = evidence;
  if (start === undefined || end === undefined) return evidence;
  return { ...evidence, sentence_start: Math.max(0, start - from), sentence_end: Math.max(0, end - from) };
}

export function incompleteReason(result: TurnResult | undefined): string {
  return result?.status === "completed" && result.finishReason === "content_filter"
    ? "content_filter"
    : "max_output_tokens";
}

/** OpenAI has two codes that fit; the message says the rest. */
export function errorOf({ code, message }: DomainError): { readonly code: string; readonly message: string } {
  return {
    code:
      code === "provider_rate_limited" || code === "rate_limited" ? "rate_limit_exceeded" : "server_error",
    message: code === "internal" ? "Internal Server Error" : message,
  };
}
