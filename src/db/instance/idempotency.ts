/**
 * Stores Idempotency-Keys: which request works under one, and the answer that repeats of it get.
 * @see https://datatracker.ietf.org/doc/draft-ietf-httpapi-idempotency-key-header/
 */
import { DEADLINES } from "#timings";
import type pg from "pg";
import { type Sql, queryOnce } from "../pool.ts";

export interface IdempotencyKey {
  readonly organizationId: string;
  /** The id of the API key, else of the user. */
  readonly callerId: string;
  /** Method and path, as in the table of routes. */
  readonly route: string;
  readonly key: string;
}

export interface KeptAnswer {
  readonly status: number;
  /** JSON as it was sent. */
  readonly response: string;
  readonly bodyHash: Buffer;
}

/** What a request learns that wants to work under a key. */
export type KeyState =
  | { readonly is: "claimed" }
  | { readonly is: "kept"; readonly answer: KeptAnswer }
  /** Another request works under it. The hash is null while the body of that request is still coming. */
  | { readonly is: "busy"; readonly bodyHash: Buffer | null };

/** For so long, a request that died keeps its key. */
const LEASE = `interval '${DEADLINES.requestLease} milliseconds'`;
const KEPT_FOR = "interval '24 hours'";

interface KeyRow {
  readonly body_hash: Buffer | null;
  readonly status: number | null;
  readonly response: string | null;
  /** Whether another request may take the key. */
  readonly is_over: boolean;
}

/** The parameters $1 to $3 of every statement here, which name one row. */
const entryOf = ({ callerId, route, key }: IdempotencyKey): unknown[] => [callerId, route, key];

/**
 * Takes the key for `token` if no other request has it: it is new, older than 24 hours, or the request that
 * had it died without an answer.
 * @param token names this request, so that it can tell later whether the key is still its own.
 * @param bodyHash null if the body is still to come.
 */
export async function claimKey(
  system: pg.Pool,
  key: IdempotencyKey,
  token: string,
  bodyHash: Buffer | null,
): Promise<KeyState> {
  const found = await readKey(system, key);
  if (found !== undefined && !found.is_over) return stateOf(found);
  const { rowCount } = await queryOnce(
    system,
    `insert into idempotency_keys (caller_id, route, key, organization_id, token, body_hash, leased_until)
     values ($1, $2, $3, $4, $5, $6, now() + ${LEASE})
     on conflict (caller_id, route, key) do update
     set token = excluded.token,
         body_hash = excluded.body_hash,
         status = null,
         response = null,
         claimed_at = now(),
         leased_until = excluded.leased_until
     where idempotency_keys.claimed_at < now() - ${KEPT_FOR}
       or (idempotency_keys.status is null and idempotency_keys.leased_until < now())`,
    [...entryOf(key), key.organizationId, token, bodyHash],
  );
  if (rowCount === 1) return { is: "claimed" };
  const taken = await readKey(system, key);
  return taken === undefined ? { is: "busy", bodyHash: null } : stateOf(taken);
}

async function readKey(system: pg.Pool, key: IdempotencyKey): Promise<KeyRow | undefined> {
  const { rows } = await queryOnce<KeyRow>(system, {
    name: "idempotency.read",
    text: `
      select body_hash,
             status,
             response,
             claimed_at < now() - ${KEPT_FOR} or (status is null and leased_until < now()) as is_over
      from idempotency_keys
      where caller_id = $1
        and route = $2
        and key = $3`,
    values: entryOf(key),
  });
  return rows[0];
}

function stateOf({ body_hash, status, response }: KeyRow): KeyState {
  if (status === null || response === null || body_hash === null) return { is: "busy", bodyHash: body_hash };
  return { is: "kept", answer: { status, response, bodyHash: body_hash } };
}

/** The key of {@link entryOf}, if it is still of token `$4` and has no answer yet. */
const IS_OPEN = `caller_id = $1
  and route = $2
  and key = $3
  and token = $4
  and status is null`;

export async function renewKey(system: pg.Pool, key: IdempotencyKey, token: string): Promise<void> {
  await queryOnce(
    system,
    `update idempotency_keys
     set leased_until = now() + ${LEASE}
     where ${IS_OPEN}`,
    [...entryOf(key), token],
  );
}

/**
 * Keeps the answer for repeats, in the transaction of the request's effect: so both are stored or neither.
 * @returns false if the key is not of `token` any more: its lease ended and another request took it.
 */
export async function keepAnswer(
  sql: Sql,
  key: IdempotencyKey,
  token: string,
  { status, response, bodyHash }: KeptAnswer,
): Promise<boolean> {
  const { rowCount } = await sql.query(
    `update idempotency_keys
     set status = $5,
         response = $6,
         body_hash = $7
     where ${IS_OPEN}`,
    [...entryOf(key), token, status, response, bodyHash],
  );
  return rowCount === 1;
}

/** Gives the key up if no answer was kept: a repeat can start. Waits for one that is about to be kept. */
export async function releaseKey(system: pg.Pool, key: IdempotencyKey, token: string): Promise<void> {
  await queryOnce(
    system,
    `delete from idempotency_keys
     where ${IS_OPEN}`,
    [...entryOf(key), token],
  );
}
