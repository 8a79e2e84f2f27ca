/** All SQL on `instance_secrets`: secrets of the whole instance, stored only as wrapped by the master key. */
import { randomBytes } from "node:crypto";
import { DomainError } from "../../domain/errors.ts";
import { ExpectedFailure } from "../../domain/expected-failure.ts";
import type { MasterKey } from "../../domain/wrapped-keys.ts";
import { type Database, inTransaction, queryOnce } from "../pool.ts";

const SECRET_BYTES = 32;

interface SecretRow {
  readonly wrapped: Buffer;
  readonly master_key_id: string;
}

/**
 * The secret called `name`: 256 random bits, made on first use. Processes that ask at the same time get the same one.
 * @throws ExpectedFailure where it was wrapped by another master key: made again, every hash under it would be worthless.
 */
export async function loadInstanceSecret(db: Database, name: string, master: MasterKey): Promise<Buffer> {
  return openSecret((await findSecret(db, name)) ?? (await createSecret(db, name, master)), name, master);
}

/** As {@link loadInstanceSecret}, and undefined where it was never used: for what must change nothing. */
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
      `The master key is not this database's: the instance's secret "${name}" is wrapped by the master key ${master_key_id}, and the one configured is ${master.id}. Set the former as MASTER_KEY, or as MASTER_KEY_PREVIOUS while it is changed.`,
    );
  }
  return master.unwrap(wrapped, aadOf(name));
}

const MOST_SECRETS = 100;

/** Opens every secret that there is and makes none. @returns names of those that the master key opens, and of those that it does not. */
export async function tryInstanceSecrets(
  db: Database,
  master: MasterKey,
): Promise<{ opened: string[]; closed: string[] }> {
  const { rows } = await queryOnce<SecretRow & { name: string }>(
    db.app,
    `select name, wrapped, master_key_id from instance_secrets order by name limit ${MOST_SECRETS}`,
  );
  const found = { opened: [] as string[], closed: [] as string[] };
  for (const { name, wrapped, master_key_id: keyId } of rows) {
    const isOpen =
      master.opens(keyId) && (await master.unwrap(wrapped, aadOf(name)).then(() => true, wasRefused));
    found[isOpen ? "opened" : "closed"].push(name);
  }
  return found;
}

/** False for a key that does not fit; a key service that is away is no answer. */
function wasRefused(error: unknown): boolean {
  if (error instanceof DomainError && error.class === "outage") throw error;
  return false;
}

/** Wraps every secret that another master key wraps anew, by `master`, in one transaction; the secrets themselves stay. Idempotent. @returns how many. */
export async function rewrapInstanceSecrets(db: Database, master: MasterKey): Promise<number> {
  return inTransaction(db.maintenance, async (sql) => {
    const { rows } = await sql.query<SecretRow & { name: string }>(
      "select name, wrapped, master_key_id from instance_secrets where master_key_id <> $1 order by name for update",
      [master.id],
    );
    for (const row of rows) {
      const wrapped = await master.wrap(await master.unwrap(row.wrapped, aadOf(row.name)), aadOf(row.name));
      await sql.query("update instance_secrets set wrapped = $2, master_key_id = $3 where name = $1", [
        row.name,
        wrapped,
        master.id,
      ]);
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
    "insert into instance_secrets (name, wrapped, master_key_id) values ($1, $2, $3) on conflict (name) do nothing",
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
