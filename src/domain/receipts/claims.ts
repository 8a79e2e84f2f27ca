/** What a receipt says. It has ids, numbers, times and salted hashes: no text, and no names. */

import type { Box } from "../locations/location.ts";

/** Where the quote stands in the file, without what a file calls its parts. */
export interface NumberedLocation {
  /** From 1. */
  readonly page?: number;
  readonly boxes?: readonly Box[];
  /** From 1. */
  readonly slide?: number;
  /** Of cells, as spreadsheets write it: `B2:D5`. */
  readonly range?: string;
  readonly lines?: readonly [number, number];
}

export interface ReceiptClaims {
  /** The receipt's own id; random. */
  readonly jti: string;
  /** When it was signed, in seconds since 1970. */
  readonly iat: number;
  readonly space: string;
  readonly document: string;
  readonly document_version: number;
  readonly chunk: string;
  /** From 0. */
  readonly chunk_index: number;
  readonly turn: string;
  /** The quote's UTF-16 offsets in the chunk. */
  readonly quote_start: number;
  readonly quote_end: number;
  /** The quote's UTF-16 offsets in the document as Markdown; absent if unknown. */
  readonly start?: number;
  readonly end?: number;
  /** Absent if unknown. */
  readonly locations?: readonly NumberedLocation[];
  /** Each is the base64url of an HMAC-SHA-256 of the UTF-8 text under the salt. */
  readonly quote_hash: string;
  readonly chunk_hash: string;
  readonly sentence_hash: string;
}

export const RECEIPT_TYPE = "holdfast-receipt+jwt";
/** The `alg` of a receipt's header: Ed25519. */
export const RECEIPT_ALGORITHM = "EdDSA";
export const MAX_RECEIPT_CHARACTERS = 4_096;
