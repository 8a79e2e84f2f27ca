/** API processes that serve events from one database, with a clock of events that the test moves itself. */
import { createEventHost, type EventHost } from "../../../src/api/events/host.ts";
import { eventRoutes } from "../../../src/api/routes/events/events.ts";
import { createAuthenticator } from "../../../src/auth/authenticate.ts";
import { appendAudit, type ToldEvent } from "../../../src/db/audit/append.ts";
import { placeEvents } from "../../../src/db/events/place.ts";
import { inTenant, type OrganizationRef } from "../../../src/db/pool.ts";
import { newId } from "../../../src/domain/ids.ts";
import type { OwnedDatabase } from "../servers/database.ts";
import { TEST_PEPPER } from "../tenants/callers.ts";
import { startTinyApp } from "./tiny-app.ts";

interface EventDatabase {
  readonly db: OwnedDatabase;
  readonly env: { readonly DATABASE_URL: string };
}

export interface EventApp {
  readonly url: string;
  readonly events: EventHost;
  close(): Promise<void>;
}

/** Serves the endpoints of events, with a pool of its own for nothing but its listening. */
export async function startEventApp(
  database: EventDatabase,
  { streamsPerProcess = 100 }: { streamsPerProcess?: number } = {},
): Promise<EventApp> {
  const { db } = database;
  const events = createEventHost({
    db,
    url: database.env.DATABASE_URL,
    log: { warn: () => undefined },
    streamsPerProcess,
    forgetAgents: () => {},
  });
  const authenticator = createAuthenticator({ db, pepper: TEST_PEPPER });
  const app = await startTinyApp(eventRoutes, { db, events, authenticator });
  return {
    url: app.url,
    events,
    async close() {
      events.hub.drain();
      await app.close();
      await events.hub.close();
    },
  };
}

/**
 * Writes an event as a command does, and places it.
 * @returns the id of its resource.
 */
export async function happen(
  { db }: Pick<EventDatabase, "db">,
  organization: OrganizationRef,
  { type, ...told }: Pick<ToldEvent, "type" | "data">,
  spaceId: string | null,
  resourceId: string = newId(),
): Promise<string> {
  const actor = { authMethod: "system", organization } as const;
  await inTenant(db, organization, (sql) =>
    appendAudit(sql, actor, {
      action: "test:happen",
      resource_type: type.split(".")[0]!,
      resource_id: resourceId,
      space_id: spaceId,
      request_id: null,
      outcome: "success",
      events: [{ type, ...told }],
    }),
  );
  await placeEvents(db, organization.id);
  return resourceId;
}
