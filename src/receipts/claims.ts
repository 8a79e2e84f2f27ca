/** Makes the claims of a receipt, and checks a text against them. */
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { Box, Location } from "../domain/locations/location.ts";
import type { NumberedLocation, ReceiptClaims } from "../domain/receipts/claims.ts";
import type { Statement } from "../domain/receipts/statement.ts";

const SALT_BYTES = 16;
const ID_BYTES = 16;
/** These bound the length of a receipt: with all of them it has less than 4 KB. */
const MAX_BOXES = 32;
const MAX_LOCATIONS = 12;
/** A box is exact to a ten-thousandth of the page. */
const BOX_STEPS = 10_000;
const RANGE = /^[A-Z]{1,4}[0-9]{1,9}(?::[A-Z]{1,4}[0-9]{1,9})?$/;

/** Base64url, random. */
export function newSalt(): string {
  return randomBytes(SALT_BYTES).toString("base64url");
}

/** Base64url of the HMAC-SHA-256 of the text in UTF-8 under the bytes of the salt. */
function saltedHash(salt: string, text: string): string {
  return hmac(salt, text).toString("base64url");
}

export function hashMatches(salt: string, text: string, hash: string): boolean {
  const given = Buffer.from(hash, "base64url");
  const made = hmac(salt, text);
  return given.byteLength === made.byteLength && timingSafeEqual(given, made);
}

function hmac(salt: string, text: string): Buffer {
  return createHmac("sha256", Buffer.from(salt, "base64url")).update(text, "utf8").digest();
}

export function claimsOf(statement: Statement, salt: string, now: Date): ReceiptClaims {
  const locations = numberedLocations(statement.locations);
  return {
    jti: randomBytes(ID_BYTES).toString("base64url"),
    iat: Math.floor(now.getTime() / 1_000),
    space: statement.spaceId,
    document: statement.documentId,
    document_version: statement.documentVersion,
    chunk: statement.chunkId,
    chunk_index: statement.chunkIndex,
    turn: statement.turnId,
    quote_start: statement.quoteStart,
    quote_end: statement.quoteEnd,
    ...(statement.start === undefined ? {} : { start: statement.start }),
    ...(statement.end === undefined ? {} : { end: statement.end }),
    ...(locations.length === 0 ? {} : { locations }),
    quote_hash: saltedHash(salt, statement.quote),
    chunk_hash: saltedHash(salt, statement.chunkText),
    sentence_hash: saltedHash(salt, statement.sentence),
  };
}

/**
 * The numbers of locations. What a file calls its parts is left out: the names of sheets and shapes,
 * headings, elements and attachments are text of the document. At most 12 locations and 32 boxes.
 */
export function numberedLocations(locations: readonly Location[]): NumberedLocation[] {
  const numbered: NumberedLocation[] = [];
  let boxesLeft = MAX_BOXES;
  for (const { page, boxes = [], slide, range, lines } of locations) {
    const kept = boxes.slice(0, boxesLeft).map(roundedBox);
    boxesLeft -= kept.length;
    const location: NumberedLocation = {
      ...(page === undefined ? {} : { page }),
      ...(kept.length === 0 ? {} : { boxes: kept }),
      ...(slide === undefined ? {} : { slide }),
      ...(range === undefined || !RANGE.test(range) ? {} : { range }),
      ...(lines === undefined ? {} : { lines }),
    };
    const isNew = JSON.stringify(location) !== JSON.stringify(numbered.at(-1) ?? {});
    if (isNew && numbered.length < MAX_LOCATIONS) numbered.push(location);
  }
  return numbered;
}

function roundedBox([x0, y0, x1, y1]: Box): Box {
  const rounded = (fraction: number): number => Math.round(fraction * BOX_STEPS) / BOX_STEPS;
  return [rounded(x0), rounded(y0), rounded(x1), rounded(y1)];
}
