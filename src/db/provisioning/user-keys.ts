/** Goes through the users of a provisioning file for their keys, after all users and spaces are known. */
import {
  PRIVATE_SPACE,
  type ProvisionApiKey,
  type ProvisionUser,
} from "../../domain/tenancy/provision-file.ts";
import { type KeyMaker, provisionKey } from "./keys.ts";
import type { Run } from "./rows.ts";
import type { Scope } from "./scope.ts";

/** A key that was made now; its text is stored nowhere. */
export interface MadeKey {
  readonly email: string;
  readonly name: string;
  readonly key: string;
}

/** @param named the organization's users, and where they are in the file. */
export async function provisionKeysOfUsers(
  run: Run,
  maker: KeyMaker,
  scope: Scope,
  named: { readonly path: string; readonly users: readonly ProvisionUser[] },
): Promise<MadeKey[]> {
  const made: MadeKey[] = [];
  for (const [userIndex, { email, api_keys: keys = [] }] of named.users.entries()) {
    const userId = scope.userIds.get(email);
    // The user has a mistake, which was noted already.
    if (userId === undefined) continue;
    const texts = keys.flatMap((key) => key.key ?? []);
    for (const [index, key] of keys.entries()) {
      const text = await provisionKey(run, maker, {
        path: `${named.path}.users[${userIndex}].api_keys[${index}]`,
        organization: scope.organization,
        userId,
        key,
        spaces: await chosenSpaces(run, scope, userId, key),
        texts,
      });
      if (text !== undefined) made.push({ email, name: key.name, key: text });
    }
  }
  return made;
}

/** @returns ids; null for all spaces, undefined if the file does not say. */
async function chosenSpaces(
  run: Run,
  scope: Scope,
  userId: string,
  { spaces }: ProvisionApiKey,
): Promise<string[] | null | undefined> {
  if (spaces === undefined) return undefined;
  if (spaces === "all") return null;
  // A name without an id belongs to a space whose mistake was noted already.
  const shared = spaces.flatMap((name) => scope.spaceIds.get(name.toLowerCase()) ?? []);
  if (!spaces.some((name) => name.toLowerCase() === PRIVATE_SPACE)) return shared;
  const { rows } = await run.sql.query<{ id: string }>(
    `select id
     from spaces
     where owner_id = $1
       and is_private
       and deleted_at is null`,
    [userId],
  );
  return [...shared, ...rows.map((row) => row.id)];
}
