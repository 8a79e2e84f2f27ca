/** The only place that adds and updates the keys that a provisioning file names. */
import { newId } from "../domain/ids.ts";
import { CAPABILITIES } from "../domain/principal.ts";
import type { ProvisionApiKey } from "../schema/provision.ts";
import { insertApiKey, setKeySpaces } from "./api-keys.ts";
import type { OrganizationKey } from "./pool.ts";
import { type Run, updateRow } from "./provision-rows.ts";

/** How keys are made and what is stored of them. */
export interface KeyMaker {
  readonly create: () => string;
  readonly hash: (text: string) => Buffer;
  readonly prefix: (text: string) => string;
}

export interface NamedKey {
  readonly path: string;
  readonly organization: OrganizationKey;
  readonly userId: string;
  readonly key: ProvisionApiKey;
  /** Ids of the chosen spaces; null is all, undefined is not named in the file. */
  readonly spaces: readonly string[] | null | undefined;
}

interface KeyRow {
  readonly id: string;
  readonly user_id: string;
  readonly is_revoked: boolean;
  readonly same_hash: boolean;
}

/**
 * A key that was revoked stays so, whatever the file says. One without a text in the file is made where its owner never had one
 * of that name. @returns the text of the key where it was made here.
 */
export async function provisionKey(run: Run, maker: KeyMaker, named: NamedKey): Promise<string | undefined> {
  const hash = named.key.key === undefined ? null : maker.hash(named.key.key);
  const { rows } = await run.sql.query<KeyRow>(
    `select id, user_id, revoked_at is not null as is_revoked, coalesce(hash = $3, false) as same_hash
     from api_keys where (user_id = $1 and name = $2) or hash = $3 order by is_revoked, id for no key update`,
    [named.userId, named.key.name, hash],
  );
  const sameText = rows.find((row) => row.same_hash);
  if (sameText !== undefined && sameText.user_id !== named.userId) {
    run.mistakes.push(`${named.path}.key: is the key of somebody else`);
    return undefined;
  }
  const known = sameText ?? rows.find((row) => !row.is_revoked) ?? (hash === null ? rows[0] : undefined);
  if (known === undefined) return addKey(run, maker, named, hash);
  if (!known.is_revoked && (await updateKey(run, maker, named, known.id))) run.updated += 1;
  return undefined;
}

async function addKey(run: Run, maker: KeyMaker, { organization, userId, key, spaces }: NamedKey, hash: Buffer | null): Promise<string | undefined> {
  const text = key.key ?? maker.create();
  await insertApiKey(run.sql, organization, {
    id: newId(),
    userId,
    name: key.name,
    prefix: maker.prefix(text),
    hash: hash ?? maker.hash(text),
    spaces: spaces ?? null,
    capabilities: key.capabilities ?? CAPABILITIES,
    expiresAt: key.expires_at === undefined || key.expires_at === null ? null : new Date(key.expires_at),
  });
  run.created += 1;
  return hash === null ? text : undefined;
}

async function updateKey(run: Run, maker: KeyMaker, { organization, key, spaces }: NamedKey, id: string): Promise<boolean> {
  const named = {
    name: key.name,
    hash: key.key === undefined ? undefined : maker.hash(key.key),
    prefix: key.key === undefined ? undefined : maker.prefix(key.key),
    capabilities: key.capabilities,
    expires_at: key.expires_at,
    all_spaces: spaces === undefined ? undefined : spaces === null,
  };
  const fields = Object.fromEntries(Object.entries(named).filter(([, value]) => value !== undefined));
  const isChanged = await updateRow(run.sql, "api_keys", id, fields);
  const isNarrowed = spaces !== undefined && (await setKeySpaces(run.sql, organization, id, spaces ?? []));
  return isChanged || isNarrowed;
}
