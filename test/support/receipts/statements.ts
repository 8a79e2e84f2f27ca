/** A statement of an answer, for tests that need no answer. */
import type { Statement } from "../../../src/domain/receipts/statement.ts";
import { newId } from "../../../src/domain/ids.ts";

export const CHUNK_TEXT = "The notice period is 30 days. It begins with the letter.";
const QUOTE = "The notice period is 30 days.";

export function statement(more: Partial<Statement> = {}): Statement {
  return {
    spaceId: newId(),
    documentId: newId(),
    documentVersion: 1,
    chunkId: newId(),
    chunkIndex: 0,
    chunkText: CHUNK_TEXT,
    quote: QUOTE,
    quoteStart: 0,
    quoteEnd: QUOTE.length,
    start: 100,
    end: 100 + QUOTE.length,
    locations: [{ page: 4, boxes: [[0.1, 0.2, 0.5, 0.25]] }],
    sentence: "You can cancel within thirty days.",
    turnId: newId(),
    ...more,
  };
}
