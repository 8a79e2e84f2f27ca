/** All SQL of answers that are streams: sealed messages, who reads them, and their cancellation. */
import { IS_HELD } from "../instance/process-leases.ts";
import { type Database, inTenant, type OrganizationRef, readTenant } from "../pool.ts";

export interface McpAnswerKey {
  readonly organization: OrganizationRef;
  readonly sessionId: string;
  readonly streamId: string;
}

export interface SealedMessage {
  readonly no: number;
  readonly keyId: string;
  readonly sealed: Buffer;
}

interface McpAnswer {
  readonly requestId: string;
  /** What the caller reached when it began. */
  readonly spaceIds: readonly string[];
  /** The documents that the messages may tell of. */
  readonly documentIds: readonly string[];
  readonly isEnded: boolean;
  /** Whether the process that ran it is gone. */
  readonly isOrphan: boolean;
  /** Those after the number that was asked for, in order. */
  readonly messages: readonly SealedMessage[];
}

/** One read of an answer that goes on. */
const MESSAGES_A_READ = 100;

export async function beginMcpAnswer(
  db: Database,
  { organization, sessionId, streamId }: McpAnswerKey,
  begun: { requestId: string; apiProcessId: string; spaceIds: readonly string[] },
): Promise<void> {
  await inTenant(db, organization, (sql) =>
    sql.query(
      `insert into mcp_answers (stream_id, organization_id, session_id, request_id, api_process_id, space_ids)
       values ($1, $2, $3, $4, $5, $6)`,
      [streamId, organization.id, sessionId, begun.requestId, begun.apiProcessId, begun.spaceIds],
    ),
  );
}

/** Adds a message, and the documents that it may tell of. Idempotent. */
export async function writeMcpMessage(
  db: Database,
  { organization, streamId }: McpAnswerKey,
  { no, keyId, sealed }: SealedMessage,
  documentIds: readonly string[],
): Promise<void> {
  await inTenant(db, organization, async (sql) => {
    if (documentIds.length > 0)
      await sql.query("update mcp_answers set document_ids = $2 where stream_id = $1", [
        streamId,
        documentIds,
      ]);
    await sql.query(
      `insert into mcp_answer_messages (stream_id, organization_id, no, key_id, sealed)
       values ($1, $2, $3, $4, $5)
       on conflict (stream_id, no) do nothing`,
      [streamId, organization.id, no, keyId, sealed],
    );
  });
}

export async function endMcpAnswer(
  db: Database,
  { organization, streamId }: Omit<McpAnswerKey, "sessionId">,
): Promise<void> {
  await inTenant(db, organization, (sql) =>
    sql.query("update mcp_answers set ended_at = now() where stream_id = $1 and ended_at is null", [
      streamId,
    ]),
  );
}

/** Asks the process that runs the request to give it up. @returns whether it runs. */
export async function cancelMcpAnswer(
  db: Database,
  { organization, sessionId }: Omit<McpAnswerKey, "streamId">,
  requestId: string,
): Promise<boolean> {
  const { rowCount } = await inTenant(db, organization, (sql) =>
    sql.query(
      `update mcp_answers
       set cancelled_at = now()
       where session_id = $1
         and request_id = $2
         and ended_at is null`,
      [sessionId, requestId],
    ),
  );
  return (rowCount ?? 0) > 0;
}

/** Whether the answer is still wanted: neither cancelled nor of a session that is over; and its readers. */
export async function readMcpDemand(
  db: Database,
  { organization, streamId }: Omit<McpAnswerKey, "sessionId">,
): Promise<{ readonly isWanted: boolean; readonly unreadSeconds: number }> {
  const { rows } = await readTenant(db, organization, (sql) =>
    sql.query<{ is_wanted: boolean; unread_seconds: number }>(
      `select cancelled_at is null as is_wanted,
              extract(epoch from now() - read_at)::float as unread_seconds
       from mcp_answers
       where stream_id = $1`,
      [streamId],
    ),
  );
  const [row] = rows;
  return { isWanted: row?.is_wanted ?? false, unreadSeconds: row?.unread_seconds ?? 0 };
}

/**
 * Reads what follows message `afterNo` of an answer of the session, and notes that somebody does.
 * @returns undefined if there is no such answer, or it is not kept any more.
 */
export async function readMcpAnswer(
  db: Database,
  { organization, sessionId, streamId }: McpAnswerKey,
  afterNo: number,
): Promise<McpAnswer | undefined> {
  return inTenant(db, organization, async (sql) => {
    const { rows } = await sql.query<{
      request_id: string;
      space_ids: string[];
      document_ids: string[];
      is_ended: boolean;
      is_orphan: boolean;
    }>(
      `update mcp_answers answer
       set read_at = now()
       where answer.stream_id = $1
         and answer.session_id = $2
       returning request_id,
                 space_ids,
                 document_ids,
                 ended_at is not null as is_ended,
                 ended_at is null and not ${IS_HELD} as is_orphan`,
      [streamId, sessionId],
    );
    const [answer] = rows;
    if (answer === undefined) return undefined;
    // After the state: what was written before the end is then among them.
    const { rows: messages } = await sql.query<SealedMessage>(
      `select no, key_id as "keyId", sealed
       from mcp_answer_messages
       where stream_id = $1
         and no > $2
       order by no
       limit ${MESSAGES_A_READ}`,
      [streamId, afterNo],
    );
    return {
      requestId: answer.request_id,
      spaceIds: answer.space_ids,
      documentIds: answer.document_ids,
      isEnded: answer.is_ended && messages.length < MESSAGES_A_READ,
      isOrphan: answer.is_orphan && messages.length < MESSAGES_A_READ,
      messages,
    };
  });
}
