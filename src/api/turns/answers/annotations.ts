/**
 * Says where an answer cites its sources, as OpenAI's clients read it.
 * @see https://platform.openai.com/docs/api-reference/chat/object
 */
import { type Mark, createCitationFilter } from "../../../agents/citations.ts";
import type { Evidence, ProvenMark } from "../../../agents/quotes/evidence.ts";
import type { Citation } from "../../../agents/sources.ts";
import type { Completed } from "../turn.ts";

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

export interface AnnotationFinder {
  /** The next piece of the answer, whose marks have been checked. */
  write(piece: string): void;
  /** One for each mark and source, in the order of the answer. */
  end(answer: Pick<Completed, "citations" | "marks">): UrlCitation[];
}

/** @param publicUrl the address of the service. */
export function createAnnotationFinder(publicUrl: string): AnnotationFinder {
  // The marks are those of an answer that was checked: each has a source, which is known at the end.
  const found = createCitationFilter({ wereSearched: true, get: (index) => ({ index }) as Citation });
  return {
    write: (piece) => void found.write(piece),
    end({ citations, marks }) {
      found.end();
      const byIndex = new Map(citations.map((citation) => [citation.index, citation]));
      // A stream that goes on behind its first pieces has not seen them; the answer's own marks are of all of
      // it.
      return (marks ?? markedIn(found.marks())).flatMap((mark) => {
        const citation = byIndex.get(mark.index);
        return citation === undefined ? [] : [annotation(citation, mark, publicUrl)];
      });
    },
  };
}

/** The marks of an answer that a version before 0.9.0 kept. */
function markedIn(marks: readonly Mark[]): ProvenMark[] {
  return marks.flatMap(({ indexes, start, end }) => indexes.map((index) => ({ index, start, end })));
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
