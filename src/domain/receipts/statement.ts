/** What a receipt vouches for: that a sentence rests on these words of this version of a document. */

import type { Location } from "../locations/location.ts";

export interface Statement {
  readonly spaceId: string;
  readonly documentId: string;
  readonly documentVersion: number;
  readonly chunkId: string;
  readonly chunkIndex: number;
  readonly chunkText: string;
  /** An exact part of `chunkText`, [quoteStart, quoteEnd) in UTF-16 code units. */
  readonly quote: string;
  readonly quoteStart: number;
  readonly quoteEnd: number;
  /** The quote's offsets in the document as Markdown; absent if unknown. */
  readonly start?: number | undefined;
  readonly end?: number | undefined;
  readonly locations: readonly Location[];
  /** The sentence of the answer before the mark. */
  readonly sentence: string;
  readonly turnId: string;
}

export interface IssuedReceipt {
  /** A compact JWS without any text. */
  readonly receipt: string;
  /** Base64url; with it whoever has the quote can check the receipt's hashes; without it nobody can guess. */
  readonly salt: string;
}

export interface ReceiptSigner {
  /** Signs a receipt for each statement with the organization's key. No connection once that is known. */
  issue(organizationId: string, statements: readonly Statement[]): Promise<IssuedReceipt[]>;
}
