/** Makes an API key in a transaction of the caller. Its text is returned once and not stored. */
import { createKeyText, hashKey, keyPrefix } from "../../auth/api-keys.ts";
import { type ApiKeyRow, insertApiKey } from "../../db/keys/api-keys.ts";
import type { OrganizationRef, Sql } from "../../db/pool.ts";
import { listSpacesOfUser } from "../../db/tenancy/spaces.ts";
import { notFound } from "../../domain/not-found.ts";
import { newId } from "../../domain/ids.ts";
import { CAPABILITIES, type Capability } from "../../domain/tenancy/principal.ts";

interface NewKey {
  readonly userId: string;
  /** The user who asks for it; null is the operator. */
  readonly createdBy: string | null;
  readonly name: string;
  /** Ids of spaces; null: all that its owner reaches, without the private one if another user asks. */
  readonly spaces: readonly string[] | null;
  /** Null: all. */
  readonly capabilities: readonly Capability[] | null;
  /** Null: it does not expire. */
  readonly expiresAt: Date | null;
  /** Canonical networks that it may be used from; null: everywhere. */
  readonly allowedCidrs: readonly string[] | null;
}

/** A key with its text, which nobody can read again. */
export type IssuedKey = ApiKeyRow & { readonly key: string };

/**
 * The caller's transaction also writes the audit row: `issueKey` for users, `holdfast keys create` for the
 * operator.
 * @throws DomainError `not_found` for a space that the owner has no role in, and for the owner's private one
 * if another user asks.
 */
export async function writeKey(
  sql: Sql,
  pepper: Uint8Array,
  organization: OrganizationRef,
  key: NewKey,
): Promise<IssuedKey> {
  const { userId, createdBy, name, spaces, expiresAt, allowedCidrs } = key;
  const isForAnother = createdBy !== null && createdBy !== userId;
  const reached = await listSpacesOfUser(sql, userId);
  const allowed = reached.filter((space) => !(space.is_private && isForAnother));
  const allowedIds = new Set(allowed.map((space) => space.id));
  if (spaces?.some((id) => !allowedIds.has(id))) throw notFound("space");
  const text = createKeyText();
  const row = await insertApiKey(sql, organization, {
    id: newId(),
    userId,
    createdBy,
    name,
    spaces,
    expiresAt,
    allowedCidrs,
    prefix: keyPrefix(text),
    hash: hashKey(pepper, text),
    capabilities: key.capabilities ?? CAPABILITIES,
  });
  return { ...row, key: text };
}
