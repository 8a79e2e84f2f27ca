/**
 * Who reaches what belongs to a person and not to a space: files, batches, sessions, kept answers. Statements
 * take the values from here, and `test/db/ownership.database.test.ts` finds one that does not.
 */
import type { Principal } from "./principal.ts";

type Caller = Pick<Principal, "user" | "apiKeyId" | "isScoped" | "isMadeByOther">;

/**
 * Where the person's things are: in no space at all, or in spaces whose reach bounds them too. A key that is
 * narrowed to spaces reaches of the former only what it made itself.
 */
type Place = "in no space" | "in spaces";

/** The person, and the only key whose things are reached; null: everything of the person's. */
export type Ownership = readonly [userId: string, onlyOfKey: string | null];

/**
 * Whose things the caller reaches: all of its own person's. A key that somebody else made for that person
 * reaches only what it made itself, so that whoever made the key gains nothing by it.
 */
export function ownedBy({ user, apiKeyId, isScoped, isMadeByOther }: Caller, place: Place): Ownership {
  const isOnlyItsOwn = isMadeByOther || (isScoped && place === "in no space");
  return [user.id, isOnlyItsOwn ? apiKeyId : null];
}

/** The one caller to whom answers, responses and repeats belong: the API key, else the logged-in user. */
export function callerIdOf({ user, apiKeyId }: Pick<Principal, "user" | "apiKeyId">): string {
  return apiKeyId ?? user.id;
}
