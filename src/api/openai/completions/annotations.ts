/**
 * Says where an answer cites its sources, as OpenAI's clients read it.
 * @see https://platform.openai.com/docs/api-reference/chat/object
 */
import type { Evidence, ProvenMark } from "../../../agents/quotes/evidence.ts";
import type { Citation } from "../../../agents/sources.ts";
import type { Completed } from "../../turns/turn.ts";

export interface UrlCitation extends Evidence {
  readonly type: "url_citation";
  readonly url_citation: {
    /** UTF-16 offsets of the mark in the answer, [start, end). */
    readonly start_index: number;
    readonly end_index: number;
    readonly title: string;
    /** Where the cited chunk can be read. */
    readonly url: string;
  };
  /** UTF-16 offsets of the sentence before the mark, [start, end). */
  readonly sentence_start?: number;
  readonly sentence_end?: number;
}

/** One for each mark and source, in the order of the answer. @param publicUrl the address of the service. */
export function urlCitations(
  { citations, marks }: Pick<Completed, "citations" | "marks">,
  publicUrl: string,
): UrlCitation[] {
  const byIndex = new Map(citations.map((citation) => [citation.index, citation]));
  return marks.flatMap((mark) => {
    const citation = byIndex.get(mark.index);
    return citation === undefined ? [] : [annotation(citation, mark, publicUrl)];
  });
}

function annotation(
  { document_id: documentId, document_name: title, chunk_index: chunkIndex }: Citation,
  { index: _index, start, end, ...evidence }: ProvenMark,
  publicUrl: string,
): UrlCitation {
  const url = `${publicUrl}/v1/data/${documentId}/chunks?page=${chunkIndex + 1}&limit=1`;
  return {
    type: "url_citation",
    url_citation: { start_index: start, end_index: end, title, url },
    ...evidence,
  };
}
