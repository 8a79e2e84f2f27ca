/** Keeps the instance's secrets, wrapped by the master key: the database has no plain bytes. */
import { randomBytes } from "node:crypto";
import { DomainError } from "../../domain/errors.ts";
import { ExpectedFailure } from "../../domain/expected-failure.ts";
import type { MasterKey } from "../../domain/tenancy/wrapped-keys.ts";
import { type Database, inTransaction, queryOnce } from "../pool.ts";

const SECRET_BYTES = 32;

interface SecretRow {
  readonly wrapped: Buffer;
  readonly master_key_id: string;
}

/**
 * Loads the secret called `name`, 256 random bits that are made on first use. Processes that ask at the same
 * time get the same one.
 * @throws ExpectedFailure if another master key wrapped it. A new secret would make every hash that uses it
 *   worthless.
 */
export async function loadInstanceSecret(db: Database, name: string, master: MasterKey): Promise<Buffer> {
  return openSecret((await findSecret(db, name)) ?? (await createSecret(db, name, master)), name, master);
}

/** Like {@link loadInstanceSecret}, but changes nothing. @returns undefined if it was never used. */
export async function findInstanceSecret(
  db: Database,
  name: string,
  master: MasterKey,
): Promise<Buffer | undefined> {
  const found = await findSecret(db, name);
  return found === undefined ? undefined : openSecret(found, name, master);
}

async function openSecret(
  { wrapped, master_key_id }: SecretRow,
  name: string,
  master: MasterKey,
): Promise<Buffer> {
  if (!master.opens(master_key_id)) {
    throw new ExpectedFailure(
      `The master key is not this database's: the instance's secret "${name}" is wrapped by ` +
        `the master key ${master_key_id}, and the one configured is ${master.id}. ` +
        "Set the former as MASTER_KEY, or as MASTER_KEY_PREVIOUS while it is changed.",
    );
  }
  return master.unwrap(wrapped, aadOf(name));
}

/** More than there will ever be. */
const MOST_SECRETS = 100;

/** Opens every stored secret, makes none. @returns names of those that the master key opens, and others. */
export async function tryInstanceSecrets(
  db: Database,
  master: MasterKey,
): Promise<{ opened: string[]; closed: string[] }> {
  const { rows } = await queryOnce<SecretRow & { name: string }>(
    db.app,
    `select name, wrapped, master_key_id
     from instance_secrets
     order by name
     limit ${MOST_SECRETS}`,
  );
  const opened: string[] = [];
  const closed: string[] = [];
  for (const { name, wrapped, master_key_id: keyId } of rows) {
    const isOpen =
      master.opens(keyId) && (await master.unwrap(wrapped, aadOf(name)).then(() => true, wasRefused));
    (isOpen ? opened : closed).push(name);
  }
  return { opened, closed };
}

/** @returns false for a key that does not fit. @throws if the key service is away: the key may be right. */
function wasRefused(error: unknown): boolean {
  if (error instanceof DomainError && error.passes) throw error;
  return false;
}

/** Wraps again by `master` what another key wraps, in one transaction. Idempotent. @returns how many. */
export async function rewrapInstanceSecrets(db: Database, master: MasterKey): Promise<number> {
  return inTransaction(db.maintenance, async (sql) => {
    const { rows } = await sql.query<SecretRow & { name: string }>(
      `select name, wrapped, master_key_id
       from instance_secrets
       where master_key_id <> $1
       order by name
       for update`,
      [master.id],
    );
    for (const row of rows) {
      const wrapped = await master.wrap(await master.unwrap(row.wrapped, aadOf(row.name)), aadOf(row.name));
      await sql.query(
        `update instance_secrets
         set wrapped = $2,
             master_key_id = $3
         where name = $1`,
        [row.name, wrapped, master.id],
      );
    }
    return rows.length;
  });
}

async function findSecret(db: Database, name: string): Promise<SecretRow | undefined> {
  const { rows } = await queryOnce<SecretRow>(
    db.app,
    "select wrapped, master_key_id from instance_secrets where name = $1",
    [name],
  );
  return rows[0];
}

async function createSecret(db: Database, name: string, master: MasterKey): Promise<SecretRow> {
  const wrapped = await master.wrap(randomBytes(SECRET_BYTES), aadOf(name));
  await queryOnce(
    db.app,
    `insert into instance_secrets (name, wrapped, master_key_id)
     values ($1, $2, $3)
     on conflict (name) do nothing`,
    [name, wrapped, master.id],
  );
  const kept = await findSecret(db, name);
  if (kept === undefined)
    throw new Error(`the instance's secret "${name}" is gone right after it was stored`);
  return kept;
}

function aadOf(name: string): Buffer {
  return Buffer.from(`holdfast instance secret ${name}`);
}
