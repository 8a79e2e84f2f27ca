/**
 * Says where an answer cites its sources, as OpenAI's clients read it.
 * @see https://platform.openai.com/docs/api-reference/chat/object
 */
import { createCitationFilter } from "../../../agents/citations.ts";
import type { Citation } from "../../../agents/sources.ts";

export interface UrlCitation {
  readonly type: "url_citation";
  readonly url_citation: {
    /** UTF-16 offsets of the mark in the answer, [start, end). */
    readonly start_index: number;
    readonly end_index: number;
    readonly title: string;
    /** Where the cited chunk can be read. */
    readonly url: string;
  };
}

export interface AnnotationFinder {
  /** The next piece of the answer, whose marks have been checked. */
  write(piece: string): void;
  /** One for each mark and source, in the order of the answer. */
  end(citations: readonly Citation[]): UrlCitation[];
}

/** @param publicUrl the address of the service. */
export function createAnnotationFinder(publicUrl: string): AnnotationFinder {
  // The marks are those of an answer that was checked: each has a source, which is known at the end.
  const marks = createCitationFilter({ wereSearched: true, get: (index) => ({ index }) as Citation });
  return {
    write: (piece) => void marks.write(piece),
    end(citations) {
      marks.end();
      const byIndex = new Map(citations.map((citation) => [citation.index, citation]));
      return marks.marks().flatMap(({ indexes, start, end }) =>
        indexes.flatMap((index) => {
          const citation = byIndex.get(index);
          return citation === undefined ? [] : [annotation(citation, { start, end }, publicUrl)];
        }),
      );
    },
  };
}

function annotation(
  { document_id: documentId, document_name: title, chunk_index: chunkIndex }: Citation,
  { start, end }: { readonly start: number; readonly end: number },
  publicUrl: string,
): UrlCitation {
  const url = `${publicUrl}/v1/data/${documentId}/chunks?page=${chunkIndex + 1}&limit=1`;
  return { type: "url_citation", url_citation: { start_index: start, end_index: end, title, url } };
}
