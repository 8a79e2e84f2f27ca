/** Adds and updates the keys that a provisioning file names. */
import { newId } from "../../domain/ids.ts";
import { CAPABILITIES } from "../../domain/tenancy/principal.ts";
import type { ProvisionApiKey } from "../../domain/tenancy/provision-file.ts";
import { insertApiKey, setKeySpaces } from "../keys/api-keys.ts";
import { supersedeKeyText } from "../keys/rolls.ts";
import type { OrganizationRef } from "../pool.ts";
import { noteChange, type Run, updateRow } from "./rows.ts";

/** How keys are made and what is stored of them. */
export interface KeyMaker {
  readonly create: () => string;
  readonly hash: (text: string) => Buffer;
  readonly prefix: (text: string) => string;
}

export interface NamedKey {
  readonly path: string;
  readonly organization: OrganizationRef;
  readonly userId: string;
  readonly key: ProvisionApiKey;
  /** Ids of the chosen spaces; null means all, undefined that the file does not say. */
  readonly spaces: readonly string[] | null | undefined;
  /**
   * All texts that the file gives to keys of this user. A key that has one of them belongs to the entry with
   * that text, so it is not looked up by name.
   */
  readonly texts: readonly string[];
}

interface KeyRow {
  readonly id: string;
  readonly user_id: string;
  readonly name: string;
  /** Whether a user made it, who may have its text. Such a key is never found by its name. */
  readonly is_users: boolean;
  /** Whether its present text is one of {@link NamedKey.texts}. */
  readonly is_named_by_text: boolean;
  readonly is_revoked: boolean;
  readonly is_leaked: boolean;
  /** Whether its present text is the one that the file gives this entry. */
  readonly same_hash: boolean;
  /** Whether it had that text before it was rolled. */
  readonly is_superseded: boolean;
}

/**
 * Finds the key by its text, else by its name among those that the operator made, and updates it; or makes
 * it.
 *
 * A revoked key stays revoked, and a key that was rolled keeps its new text while the file has an older one:
 * both give a warning. An entry without a text makes a key only if the operator never made one of that name
 * for the user.
 * @returns the text of a key that was made without one in the file, else undefined.
 */
export async function provisionKey(run: Run, maker: KeyMaker, named: NamedKey): Promise<string | undefined> {
  const hash = named.key.key === undefined ? null : maker.hash(named.key.key);
  const texts = { hash, hashes: named.texts.map((text) => maker.hash(text)) };
  // The first query may have waited for a roll; the second one sees what that wrote.
  await lockCandidates(run, named, texts);
  const rows = await lockCandidates(run, named, texts);
  const sameText = rows.find((row) => row.same_hash || row.is_superseded);
  if (sameText !== undefined && sameText.user_id !== named.userId) {
    run.mistakes.push(`${named.path}.key: is the key of somebody else`);
    return undefined;
  }
  const known = sameText ?? findByName(rows, hash !== null);
  if (known === undefined) {
    if (rows.some((row) => row.is_users && !row.is_revoked))
      run.warnings.push(`${named.path}.name: is also that of a key that a user made, which stays as it is`);
    return addKey(run, maker, named, hash);
  }
  run.warnings.push(...warningsOf(known, named.path));
  const isKept = known.is_revoked || (known.is_superseded && !fileStillDecides(known, named));
  const { isChanged, isRolled } = isKept
    ? { isChanged: false, isRolled: false }
    : await updateKey(run, { named, maker, id: known.id, hasText: !known.is_superseded });
  noteChange(
    run,
    { ...changeOfKey(named, known.id), outcome: isChanged ? "changed" : "unchanged" },
    isRolled ? { type: "key.rolled", resource_type: "api_key", resource_id: known.id } : undefined,
  );
  return undefined;
}

function changeOfKey({ path, key }: NamedKey, id: string): { path: string; id: string; what: string } {
  return { path, id, what: `key ${key.name}` };
}

/** A revoked key counts too if the file gives no text, because nothing says that another key is meant. */
function findByName(rows: readonly KeyRow[], hasText: boolean): KeyRow | undefined {
  const found = rows.filter((row) => !row.is_users && !row.is_named_by_text);
  return found.find((row) => !row.is_revoked) ?? (hasText ? undefined : found[0]);
}

/**
 * Whether the file still decides about a key that was rolled: not if a user made it and so has the new
 * text, nor if it has another name by now.
 */
function fileStillDecides(known: KeyRow, { key }: NamedKey): boolean {
  return !known.is_users && known.name === key.name;
}

function warningsOf(known: KeyRow, path: string): string[] {
  if (known.is_revoked) {
    const what = known.is_leaked ? "was revoked because its text was reported as leaked" : "was revoked";
    return [`${path}: ${what}, and stays so`];
  }
  return known.is_superseded ? [`${path}.key: was rolled since; the key keeps its new text`] : [];
}

async function lockCandidates(
  run: Run,
  { userId, key }: NamedKey,
  { hash, hashes }: { hash: Buffer | null; hashes: readonly Buffer[] },
): Promise<KeyRow[]> {
  const { rows } = await run.sql.query<KeyRow>(
    `select key.id,
            key.user_id,
            key.name,
            key.created_by is not null as is_users,
            key.hash = any ($4::bytea[]) as is_named_by_text,
            key.revoked_at is not null as is_revoked,
            key.revoked_reason is not distinct from 'leaked' as is_leaked,
            coalesce(key.hash = $3, false) as same_hash,
            key.hash is distinct from $3 and exists (
              select
              from superseded_keys superseded
              where superseded.api_key_id = key.id
                and superseded.hash = $3
            ) as is_superseded
     from api_keys key
     where (key.user_id = $1 and key.name = $2)
       or key.hash = $3
       or key.id in (select superseded.api_key_id from superseded_keys superseded where superseded.hash = $3)
     order by is_revoked, key.id
     for no key update of key`,
    [userId, key.name, hash, hashes],
  );
  return rows;
}

async function addKey(
  run: Run,
  maker: KeyMaker,
  named: NamedKey,
  hash: Buffer | null,
): Promise<string | undefined> {
  const { path, organization, userId, key, spaces } = named;
  const id = newId();
  const expiresAt = key.expires_at === undefined || key.expires_at === null ? null : new Date(key.expires_at);
  // A warning and no mistake: an old file must still be able to set up a new instance.
  if (expiresAt !== null && expiresAt.getTime() <= Date.now())
    run.warnings.push(`${path}.expires_at: is past, so that the new key can never be used`);
  const text = key.key ?? maker.create();
  await insertApiKey(run.sql, organization, {
    id,
    userId,
    name: key.name,
    prefix: maker.prefix(text),
    hash: hash ?? maker.hash(text),
    spaces: spaces ?? null,
    capabilities: key.capabilities ?? CAPABILITIES,
    expiresAt,
    createdBy: null,
    allowedCidrs: key.allowed_cidrs ?? null,
  });
  noteChange(
    run,
    { ...changeOfKey(named, id), outcome: "made" },
    { type: "key.created", resource_type: "api_key", resource_id: id },
  );
  return hash === null ? text : undefined;
}

interface Update {
  readonly named: NamedKey;
  readonly maker: KeyMaker;
  readonly id: string;
  /** Whether the key gets the file's text, if the file has one. */
  readonly hasText: boolean;
}

async function updateKey(
  run: Run,
  { named: { organization, key, spaces }, maker, id, hasText }: Update,
): Promise<{ readonly isChanged: boolean; readonly isRolled: boolean }> {
  const text = hasText ? key.key : undefined;
  const wanted = {
    name: key.name,
    hash: text === undefined ? undefined : maker.hash(text),
    prefix: text === undefined ? undefined : maker.prefix(text),
    capabilities: key.capabilities,
    // Postgres refuses offsets from UTC that ISO 8601 allows.
    expires_at: typeof key.expires_at === "string" ? new Date(key.expires_at) : key.expires_at,
    allowed_cidrs: key.allowed_cidrs,
    all_spaces: spaces === undefined ? undefined : spaces === null,
  };
  const isRolled = wanted.hash !== undefined && (await supersedeKeyText(run.sql, id, wanted.hash));
  const fields = Object.fromEntries(Object.entries(wanted).filter(([, value]) => value !== undefined));
  const isChanged = await updateRow(run.sql, "api_keys", id, fields);
  const isNarrowed = spaces !== undefined && (await setKeySpaces(run.sql, organization, id, spaces ?? []));
  return { isChanged: isChanged || isNarrowed, isRolled };
}
