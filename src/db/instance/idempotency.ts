/** All SQL of Idempotency-Keys: who works under one, and the answer that repeats get. */
import type pg from "pg";
import { type Sql, queryOnce } from "../pool.ts";

export interface IdempotencyKey {
  readonly organizationId: string;
  /** The API key, else the user. */
  readonly callerId: string;
  /** Method and path as the table of routes has them. */
  readonly route: string;
  readonly key: string;
}

export interface KeptAnswer {
  readonly status: number;
  /** JSON, as it was sent. */
  readonly response: string;
  readonly bodyHash: Buffer;
}

/** Where a key stands for somebody who wants it. */
export type KeyStanding =
  | { readonly is: "claimed" }
  | { readonly is: "kept"; readonly answer: KeptAnswer }
  /** Somebody else works under it; the hash is null where the body is not whole yet. */
  | { readonly is: "busy"; readonly bodyHash: Buffer | null };

/** How long a request that died holds its key. */
const LEASE = "interval '15 seconds'";
export const RENEW_LEASE_MS = 4_000;
const KEPT_FOR = "interval '24 hours'";

interface KeyRow {
  readonly body_hash: Buffer | null;
  readonly status: number | null;
  readonly response: string | null;
  readonly is_over: boolean;
}

const ENTRY = "caller_id = $1 and route = $2 and key = $3";
const entryOf = ({ callerId, route, key }: IdempotencyKey): unknown[] => [callerId, route, key];

/**
 * Takes the key for `token` where nobody holds it: it is new, older than 24 hours, or its holder died without an answer.
 * `bodyHash` is null for a body that is still to come.
 */
export async function claimKey(
  system: pg.Pool,
  key: IdempotencyKey,
  token: string,
  bodyHash: Buffer | null,
): Promise<KeyStanding> {
  const found = await readKey(system, key);
  if (found !== undefined && !found.is_over) return standingOf(found);
  const { rowCount } = await queryOnce(
    system,
    `insert into idempotency_keys (caller_id, route, key, organization_id, token, body_hash, leased_until)
     values ($1, $2, $3, $4, $5, $6, now() + ${LEASE})
     on conflict (caller_id, route, key) do update
       set token = excluded.token, body_hash = excluded.body_hash, status = null, response = null, claimed_at = now(), leased_until = excluded.leased_until
       where idempotency_keys.claimed_at < now() - ${KEPT_FOR} or (idempotency_keys.status is null and idempotency_keys.leased_until < now())`,
    [...entryOf(key), key.organizationId, token, bodyHash],
  );
  if (rowCount === 1) return { is: "claimed" };
  const taken = await readKey(system, key);
  return taken === undefined ? { is: "busy", bodyHash: null } : standingOf(taken);
}

async function readKey(system: pg.Pool, key: IdempotencyKey): Promise<KeyRow | undefined> {
  const { rows } = await queryOnce<KeyRow>(system, {
    name: "idempotency.read",
    text: `select body_hash, status, response, claimed_at < now() - ${KEPT_FOR} or (status is null and leased_until < now()) as is_over from idempotency_keys where ${ENTRY}`,
    values: entryOf(key),
  });
  return rows[0];
}

function standingOf({ body_hash, status, response }: KeyRow): KeyStanding {
  if (status === null || response === null || body_hash === null) return { is: "busy", bodyHash: body_hash };
  return { is: "kept", answer: { status, response, bodyHash: body_hash } };
}

export async function renewKey(system: pg.Pool, key: IdempotencyKey, token: string): Promise<void> {
  await queryOnce(
    system,
    `update idempotency_keys set leased_until = now() + ${LEASE} where ${ENTRY} and token = $4 and status is null`,
    [...entryOf(key), token],
  );
}

/**
 * Keeps the answer for repeats. In the transaction of the effect both come to be or neither.
 * @returns false where the key is not `token`'s any more: the caller's lease ended and another request took over.
 */
export async function keepAnswer(
  sql: Sql,
  key: IdempotencyKey,
  token: string,
  { status, response, bodyHash }: KeptAnswer,
): Promise<boolean> {
  const { rowCount } = await sql.query(
    `update idempotency_keys set status = $5, response = $6, body_hash = $7 where ${ENTRY} and token = $4 and status is null`,
    [...entryOf(key), token, status, response, bodyHash],
  );
  return rowCount === 1;
}

/** Gives the key up where no answer was kept, so that a repeat is tried at once. Waits for a transaction that is about to keep one. */
export async function releaseKey(system: pg.Pool, key: IdempotencyKey, token: string): Promise<void> {
  await queryOnce(system, `delete from idempotency_keys where ${ENTRY} and token = $4 and status is null`, [
    ...entryOf(key),
    token,
  ]);
}
