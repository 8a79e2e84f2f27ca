/** All SQL of sessions of the Model Context Protocol. A session is found by its own principal alone. */
import { callerIdOf } from "../../domain/tenancy/ownership.ts";
import type { Principal } from "../../domain/tenancy/principal.ts";
import { type Database, inTenant, type OrganizationRef } from "../pool.ts";
import type { Sql } from "../sql.ts";

export interface McpSession {
  readonly id: string;
  readonly protocol_version: string;
  /** Addresses of documents. */
  readonly subscriptions: readonly string[];
  /** How far in the log the client has been told. */
  readonly position: number;
  readonly stream_id: string | null;
}

/** A session that nobody has used for so long is over. */
const IDLE = "interval '24 hours'";
/** Of one key or user; the one that was used longest ago ends for a new one. */
const SESSIONS_OF_ONE = 100;
const MAX_SUBSCRIPTIONS = 100;

const COLUMNS = "id, protocol_version, subscriptions, position, stream_id";

/** A session is its principal's: of the same user, with the same key or with none. */
const OWN = "user_id = $1 and api_key_id is not distinct from $2";

const ownerOf = ({ user, apiKeyId }: Principal): (string | null)[] => [user.id, apiKeyId];

interface NewSession {
  readonly id: string;
  readonly protocolVersion: string;
  readonly clientCapabilities: Readonly<Record<string, unknown>>;
}

/** Begins a session, which hears of what happens from now on. */
export async function insertMcpSession(
  db: Database,
  principal: Principal,
  { id, protocolVersion, clientCapabilities }: NewSession,
): Promise<void> {
  await inTenant(db, principal.organization, async (sql) => {
    // One at a time, so that each sees the sessions of the others.
    await sql.query("select pg_advisory_xact_lock(hashtextextended('mcp sessions ' || $1::text, 0))", [
      callerIdOf(principal),
    ]);
    await sql.query(
      `delete from mcp_sessions
       where id in (
         select id
         from mcp_sessions
         where ${OWN}
         order by used_at desc
         offset $3
       )`,
      [...ownerOf(principal), SESSIONS_OF_ONE - 1],
    );
    await sql.query(
      `insert into mcp_sessions (
         id, organization_id, user_id, api_key_id, protocol_version, client_capabilities, position
       )
       select $1, $2, $3, $4, $5, $6,
              coalesce(
                (select last_position from event_positions where organization_id = $2),
                0
              )`,
      [
        id,
        principal.organization.id,
        ...ownerOf(principal),
        protocolVersion,
        JSON.stringify(clientCapabilities),
      ],
    );
  });
}

/** Undefined if there is none, it is somebody else's, or over. Notes, once a minute, that it is used. */
export async function useMcpSession(
  db: Database,
  principal: Principal,
  id: string,
): Promise<McpSession | undefined> {
  return inTenant(db, principal.organization, async (sql) => {
    const { rows } = await sql.query<McpSession & { is_due: boolean }>(
      `select ${COLUMNS}, used_at < now() - interval '1 minute' as is_due
       from mcp_sessions
       where ${OWN}
         and id = $3
         and used_at > now() - ${IDLE}`,
      [...ownerOf(principal), id],
    );
    const [session] = rows;
    if (session?.is_due === true)
      await sql.query("update mcp_sessions set used_at = now() where id = $1", [id]);
    return session;
  });
}

/** @returns whether there was one. */
export async function deleteMcpSession(db: Database, principal: Principal, id: string): Promise<boolean> {
  const { rowCount } = await inTenant(db, principal.organization, (sql) =>
    sql.query(`delete from mcp_sessions where ${OWN} and id = $3`, [...ownerOf(principal), id]),
  );
  return rowCount === 1;
}

/** Makes this stream the one that serves the session; the one before ends when it sees that. */
export async function takeMcpStream(
  db: Database,
  organization: OrganizationRef,
  sessionId: string,
  streamId: string,
): Promise<void> {
  await inTenant(db, organization, (sql) =>
    sql.query("update mcp_sessions set stream_id = $2, used_at = now() where id = $1", [sessionId, streamId]),
  );
}

/** Notes how far the stream has told its client, if it still serves the session. */
export async function noteMcpPosition(
  db: Database,
  organization: OrganizationRef,
  { sessionId, streamId, position }: { sessionId: string; streamId: string; position: number },
): Promise<void> {
  await inTenant(db, organization, (sql) =>
    sql.query(
      `update mcp_sessions
       set position = greatest(position, $3)
       where id = $1
         and stream_id = $2`,
      [sessionId, streamId, position],
    ),
  );
}

/** @returns false if it has too many already. */
export async function subscribeMcpSession(
  db: Database,
  organization: OrganizationRef,
  sessionId: string,
  uri: string,
): Promise<boolean> {
  const { rowCount } = await inTenant(db, organization, (sql) => addSubscription(sql, sessionId, uri));
  return rowCount === 1;
}

const addSubscription = (sql: Sql, sessionId: string, uri: string) =>
  sql.query(
    `update mcp_sessions
     set subscriptions = array_append(array_remove(subscriptions, $2), $2)
     where id = $1
       and cardinality(array_remove(subscriptions, $2)) < ${MAX_SUBSCRIPTIONS}`,
    [sessionId, uri],
  );

export async function unsubscribeMcpSession(
  db: Database,
  organization: OrganizationRef,
  sessionId: string,
  uri: string,
): Promise<void> {
  await inTenant(db, organization, (sql) =>
    sql.query("update mcp_sessions set subscriptions = array_remove(subscriptions, $2) where id = $1", [
      sessionId,
      uri,
    ]),
  );
}
