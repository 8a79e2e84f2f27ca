/** Checks receipts without a server: by a JWK set, and the quote by its salt. */
import type { ReceiptClaims } from "../domain/receipts/claims.ts";
import { hashMatches } from "./claims.ts";
import { keyIdOf, openReceipt } from "./signature.ts";

/** What a citation has of it. */
export interface GivenReceipt {
  readonly receipt: string;
  readonly quote?: string | undefined;
  readonly salt?: string | undefined;
}

export interface CheckedReceipt {
  /** `unknown_key`: the set has no key of that id. `forged`: it was changed or cut, or is no receipt. */
  readonly signature: "valid" | "forged" | "unknown_key";
  /** `unchecked` without the quote or its salt, and if the signature is not valid. */
  readonly quote: "same" | "other" | "unchecked";
  /** Null unless the signature is valid. */
  readonly claims: ReceiptClaims | null;
}

/** Public keys by their ids, each of 32 bytes. */
export type PublicKeys = ReadonlyMap<string, Buffer>;

/** @see test/cli/commands/receipt.test.ts */
export async function checkOffline(
  { receipt, quote, salt }: GivenReceipt,
  keys: PublicKeys,
): Promise<CheckedReceipt> {
  const kid = keyIdOf(receipt);
  if (kid === undefined) return unusable("forged");
  const key = keys.get(kid);
  if (key === undefined) return unusable("unknown_key");
  const claims = await openReceipt(receipt, key);
  if (claims === undefined) return unusable("forged");
  if (quote === undefined || salt === undefined) return { signature: "valid", quote: "unchecked", claims };
  const isSame = hashMatches(salt, quote, claims.quote_hash);
  return { signature: "valid", quote: isSame ? "same" : "other", claims };
}

function unusable(signature: "forged" | "unknown_key"): CheckedReceipt {
  return { signature, quote: "unchecked", claims: null };
}
