/**
 * The stream of a session: tells of changes of the documents that it has subscribed to, and of lists, as the
 * log of events has them. The id of each notification is the place in the log to go on from.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { randomUUID } from "node:crypto";
import type { EventRow } from "../../db/events/event-row.ts";
import { readLogEnds } from "../../db/events/read.ts";
import { type McpSession, noteMcpPosition, takeMcpStream, useMcpSession } from "../../db/mcp/sessions.ts";
import { readTenant } from "../../db/pool.ts";
import { DomainError } from "../../domain/errors.ts";
import { cursorOf, positionIn } from "../../queries/events/cursor.ts";
import { stream, type StreamAnswer } from "../response.ts";
import { type EventStream, openEventStream } from "../sse.ts";
import type { McpContext } from "./answer-request.ts";
import { addressOf } from "./uris.ts";

const PING_MS = 15_000;
/** Sessions and rights are looked up at each event, and so often without one. */
const LOOK_EVERY_MS = 15_000;
const OUTAGE_PAUSE_MS = 1_000;
const EVENTS_A_READ = 100;
/** Since this version a stream begins with an empty event, from which it can be gone on with. */
const PRIMED_SINCE = "2025-11-25";

const OF_DOCUMENTS = [
  "document.uploaded",
  "document.completed",
  "document.failed",
  "document.cancelled",
  "document.updated",
  "document.moved",
  "document.deleted",
];
const OF_RESOURCE_LIST = [
  "document.uploaded",
  "document.deleted",
  "folder.deleted",
  "space.deleted",
  "space.member_added",
  "space.member_removed",
];
const OF_PROMPT_LIST = ["agent.created", "agent.updated", "agent.deleted"];
const TYPES = [...new Set([...OF_DOCUMENTS, ...OF_RESOURCE_LIST, ...OF_PROMPT_LIST])];

interface Following {
  readonly context: McpContext;
  readonly sessionId: string;
  readonly streamId: string;
  position: number;
}

/** @param lastEventId the last notification that the client has */
export async function followSession(
  context: McpContext,
  session: McpSession,
  lastEventId: string | undefined,
): Promise<StreamAnswer> {
  const { deps, principal, request } = context;
  const { organization } = principal;
  const ends = await readTenant(deps.db, organization, (sql) => readLogEnds(sql, organization.id));
  const wanted =
    (lastEventId === undefined ? null : positionIn(lastEventId, organization.num)) ?? session.position;
  // What is not kept any more was a hint to read again: whoever comes back so late reads again anyway.
  const position = wanted < ends.expired || wanted > ends.last ? ends.last : wanted;
  const leave = deps.events.seats.take(principal, "stream");
  request.res.once("close", leave);
  if (request.res.destroyed) leave();
  const streamId = randomUUID();
  await takeMcpStream(deps.db, organization, session.id, streamId);
  return stream(async (res) => {
    const events = openEventStream(res, { pingMs: PING_MS });
    if (session.protocol_version >= PRIMED_SINCE) await events.send("", cursorOf(organization.num, position));
    await follow(events, { context, sessionId: session.id, streamId, position });
    events.end();
  });
}

/** Until the client leaves, the process stops, a right is lost, or another stream serves the session. */
async function follow(events: EventStream, following: Following): Promise<void> {
  const { deps, request } = following.context;
  while (!deps.events.hub.isDraining && !events.closed.aborted) {
    try {
      if (!(await step(events, following))) return;
    } catch (error) {
      if (error instanceof DomainError && error.passes) {
        await sleep(OUTAGE_PAUSE_MS);
        continue;
      }
      if (!(error instanceof DomainError))
        deps.log.error({ request_id: request.id, err: error }, "a notification stream failed");
      return;
    }
  }
}

/** Waits for what comes after the place, tells it, and moves the place on. @returns whether to go on */
async function step(events: EventStream, following: Following): Promise<boolean> {
  const { context, sessionId, streamId, position } = following;
  const { deps, principal, request } = context;
  const { organization } = principal;
  const last = await deps.events.hub.later(organization.id, position, {
    timeoutMs: LOOK_EVERY_MS,
    signal: events.closed,
  });
  if (deps.events.hub.isDraining || events.closed.aborted) return false;
  // Looks the rights up again, also without an event.
  const { items, next } = await deps.events.read(
    {
      userId: principal.user.id,
      credentials: request.credentials,
      authenticateAgain: request.authenticateAgain,
    },
    { after: position, upTo: last ?? position, filter: { types: TYPES }, limit: EVENTS_A_READ },
  );
  const session = await useMcpSession(deps.db, principal, sessionId);
  if (session === undefined || session.stream_id !== streamId) return false;
  const told = notificationsOf(items, session.subscriptions);
  for (const { message, position: at } of told)
    if (!(await events.send(JSON.stringify(message), cursorOf(organization.num, at), "message")))
      return false;
  if (next > position) {
    if (told.length > 0)
      await noteMcpPosition(deps.db, organization, { sessionId, streamId, position: next });
    events.mark(cursorOf(organization.num, next));
  }
  following.position = next;
  return true;
}

interface Told {
  readonly message: {
    readonly jsonrpc: "2.0";
    readonly method: string;
    readonly params?: { readonly uri: string };
  };
  readonly position: number;
}

/** In the order of the log; a list that changed several times is told of once, and so is a document. */
export function notificationsOf(items: readonly EventRow[], subscriptions: readonly string[]): Told[] {
  const uris = new Map(subscriptions.map((uri) => [addressOf(uri)?.documentId, uri]));
  const told = new Map<string, Told>();
  const tell = (method: string, position: number, uri?: string): void => {
    const name = `${method} ${uri ?? ""}`;
    told.delete(name);
    const params = uri === undefined ? {} : { params: { uri } };
    told.set(name, { position, message: { jsonrpc: "2.0", method, ...params } });
  };
  for (const { type, resource, position } of items) {
    const uri = OF_DOCUMENTS.includes(type) ? uris.get(resource.id ?? undefined) : undefined;
    if (uri !== undefined) tell("notifications/resources/updated", position, uri);
    if (OF_RESOURCE_LIST.includes(type)) tell("notifications/resources/list_changed", position);
    if (OF_PROMPT_LIST.includes(type)) tell("notifications/prompts/list_changed", position);
  }
  return [...told.values()];
}
