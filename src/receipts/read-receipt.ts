/** Checks a receipt by the keys of the organizations of this instance. */
import { findReceiptKey } from "../db/receipts/keys.ts";
import type { Database } from "../db/pool.ts";
import type { ReceiptClaims } from "../domain/receipts/claims.ts";
import { keyIdOf, openReceipt } from "./signature.ts";

interface ReadDeps {
  readonly db: Database;
}

export interface OpenedReceipt {
  /** The organization whose key has signed it. */
  readonly organizationId: string;
  readonly claims: ReceiptClaims;
}

/**
 * Whoever reads it still has to check that the caller reaches the space that the claims name.
 * @returns undefined if no key of an organization that is not deleted has signed it.
 */
export async function openSignedReceipt(
  { db }: ReadDeps,
  receipt: string,
): Promise<OpenedReceipt | undefined> {
  const kid = keyIdOf(receipt);
  const key = kid === undefined ? undefined : await findReceiptKey(db, kid);
  if (key === undefined) return undefined;
  const claims = await openReceipt(receipt, key.public_key);
  return claims === undefined ? undefined : { organizationId: key.organization_id, claims };
}

/** The claims of a receipt signed by any key of the organization, even a retired one; else undefined. */
export async function readReceipt(
  deps: ReadDeps,
  organization: { readonly id: string },
  receipt: string,
): Promise<ReceiptClaims | undefined> {
  const opened = await openSignedReceipt(deps, receipt);
  return opened?.organizationId === organization.id ? opened.claims : undefined;
}
