/** Answers whether the words that a receipt vouches for still stand where it says. */
import { decide } from "../auth/policy.ts";
import { type Database, readTenant, type Sql } from "../db/pool.ts";
import { findCitedChunk, findCitedDocument } from "../db/receipts/words.ts";
import type { ReceiptClaims } from "../domain/receipts/claims.ts";
import type { Principal } from "../domain/tenancy/principal.ts";
import { receiptsVerified } from "../telemetry/instruments.ts";
import { hashMatches } from "./claims.ts";
import { findWords, type FoundWords } from "./find-words.ts";
import { openSignedReceipt } from "./read-receipt.ts";

/** With the quote and its salt, the words are compared too. */
export interface ReceiptToVerify {
  readonly receipt: string;
  readonly words: { readonly quote: string; readonly salt: string } | undefined;
}

export type Verified =
  /** `signature`: no organization's key has signed it. `quote`: it does not vouch for these words. */
  | { readonly status: "invalid"; readonly reason: "signature" | "quote" }
  | { readonly status: "not_reachable" }
  | { readonly status: "deleted"; readonly claims: ReceiptClaims }
  | {
      readonly status: "same" | "superseded";
      readonly claims: ReceiptClaims;
      /** Null if no version is published. */
      readonly current_version: number | null;
      /** Of superseded words: null if they are gone; absent if nobody has looked. */
      readonly found?: FoundWords | null;
    };

/**
 * Writes nothing. Who does not reach the space that the receipt names learns nothing of it.
 * @see test/api/routes/receipts/receipts.stack.test.ts
 */
export async function verifyReceipt(
  { db }: { readonly db: Database },
  principal: Principal,
  given: ReceiptToVerify,
): Promise<Verified> {
  const verified = await verify(db, principal, given);
  receiptsVerified.inc({ status: verified.status });
  return verified;
}

async function verify(
  db: Database,
  principal: Principal,
  { receipt, words }: ReceiptToVerify,
): Promise<Verified> {
  const opened = await openSignedReceipt({ db }, receipt);
  if (opened === undefined) return { status: "invalid", reason: "signature" };
  const { organizationId, claims } = opened;
  if (organizationId !== principal.organization.id || !reaches(principal, claims.space))
    return { status: "not_reachable" };
  if (words !== undefined && !hashMatches(words.salt, words.quote, claims.quote_hash))
    return { status: "invalid", reason: "quote" };
  return readTenant(
    db,
    principal.organization,
    (sql) => compare(sql, principal, claims, words),
    "isolation level repeatable read",
  );
}

const reaches = (principal: Principal, spaceId: string): boolean =>
  decide(principal, "documents:read", { space_id: spaceId }) === "allow";

async function compare(
  sql: Sql,
  principal: Principal,
  claims: ReceiptClaims,
  words: ReceiptToVerify["words"],
): Promise<Verified> {
  const document = await findCitedDocument(sql, claims.document);
  if (document === undefined || document.is_deleted) return { status: "deleted", claims };
  if (!reaches(principal, document.space_id)) return { status: "not_reachable" };
  const { run_num: runNum, version, chunk_count: chunkCount } = document;
  const superseded = { status: "superseded", claims, current_version: version } as const;
  if (runNum === null) return superseded;
  if (await isUnchanged(sql, runNum, claims, words))
    return { status: "same", claims, current_version: version };
  if (words === undefined) return superseded;
  const found = await findWords(sql, { run_num: runNum, chunk_count: chunkCount }, words.quote);
  return found === undefined ? superseded : { ...superseded, found };
}

/**
 * Whether the published version has the chunk that was cited. A chunk's id stands for its text: only copies
 * of a version, as restoring and importing make them, have the same ids, under another number.
 */
async function isUnchanged(
  sql: Sql,
  runNum: number,
  claims: ReceiptClaims,
  words: ReceiptToVerify["words"],
): Promise<boolean> {
  const chunk = await findCitedChunk(sql, runNum, { id: claims.chunk, index: claims.chunk_index });
  if (chunk === undefined || words === undefined) return chunk !== undefined;
  return (
    chunk.text.slice(claims.quote_start, claims.quote_end) === words.quote &&
    hashMatches(words.salt, chunk.text, claims.chunk_hash)
  );
}
