/** Watches events as those do whom they are promised to: a reader that follows the log, and a webhook. */
import type pg from "pg";
import { call } from "../../support/clients/client.ts";
import type { Stack } from "../../support/stack/stack.ts";
import { ACME } from "../../support/tenants/tenants.ts";
import { follow } from "./follower.ts";
import type { Receiver } from "./receiver.ts";

export interface EventWatch {
  /** Describes what the reader or the receiver lacks, or has seen twice; empty if both have seen all. */
  findFaults(): Promise<string[]>;
  /** How many deliveries came, and how many of them more than once. */
  counts(): { delivered: number; again: number };
  close(): Promise<void>;
}

/** Makes a webhook of the organization for `receiver`, and begins to follow its log. */
export async function watchEvents(
  { url, database }: Pick<Stack, "url" | "database">,
  { receiver, token }: { readonly receiver: Receiver; readonly token: string },
): Promise<EventWatch> {
  const { owner } = database.db;
  const follower = await follow(url);
  const made = await call(url, token, "POST", "/webhooks", { url: receiver.url });
  if (made.status !== 201) throw new Error(`the webhook was answered ${made.status}: ${made.body.detail}`);
  receiver.trust(made.body.secret as string);
  return {
    async findFaults() {
      const expected = await eventsSince(owner, made.body.id as string);
      const positions = await positionsOf(owner, [...follower.ids, ...receiver.seen.keys()]);
      return [
        ...follower.faults,
        ...receiver.faults,
        ...lacks("the reader lacks", idsOf(expected), new Set(follower.ids)),
        ...lacks("the receiver lacks", idsOf(expected.filter(isDelivered)), receiver.seen),
        ...disorder(follower.ids, positions),
        ...lacks("what came is in no log:", [...receiver.seen.keys()], positions),
      ];
    },
    counts: () => ({
      delivered: receiver.seen.size,
      again: [...receiver.seen.values()].reduce((sum, times) => sum + times - 1, 0),
    }),
    close: () => follower.close(),
  };
}

interface Expected {
  readonly id: string;
  readonly type: string;
}

const idsOf = (events: readonly Expected[]): string[] => events.map(({ id }) => id);

/** A webhook that names no types gets all but the steps of runs. */
const isDelivered = ({ type }: Expected): boolean => type !== "document.progressed";

function lacks(what: string, expected: readonly string[], seen: Pick<ReadonlySet<string>, "has">): string[] {
  const missing = expected.filter((id) => !seen.has(id));
  return missing.length === 0 ? [] : [`${what} ${missing.length} events, such as ${missing[0]}`];
}

/** Finds an event that the reader was given twice, or before one that stands before it in the log. */
function disorder(ids: readonly string[], positions: ReadonlyMap<string, number>): string[] {
  const at = ids.findIndex((id, index) => index > 0 && positions.get(id)! <= positions.get(ids[index - 1]!)!);
  return at < 0 ? [] : [`the reader was given ${ids[at]} again, or too late`];
}

/** The events in shared spaces since the webhook was made: all members of such a space see them. */
async function eventsSince(owner: pg.Pool, webhookId: string): Promise<Expected[]> {
  const { rows } = await owner.query<Expected>(
    `select event.id, event.type
     from events event
     join spaces space on space.id = event.space_id and not space.is_private
     where event.organization_id = $1
       and event.audience = 'space'
       and event.position > (
         select made.position
         from events made
         where made.type = 'webhook.created'
           and made.resource_id = $2
       )`,
    [ACME, webhookId],
  );
  return rows;
}

async function positionsOf(owner: pg.Pool, ids: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const { rows } = await owner.query<{ id: string; position: number }>(
    "select id, position from events where id = any($1::uuid[])",
    [ids],
  );
  return new Map(rows.map(({ id, position }) => [id, position]));
}
