/** The connection that hears of new events: it comes back by itself. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { listenForEvents } from "../../../src/db/events/listen.ts";
import { placeEvents } from "../../../src/db/events/place.ts";
import { inTenant } from "../../../src/db/pool.ts";
import { createTestDatabase, loginUrlsOf, type TestDatabase } from "../../support/servers/database.ts";
import { makeOrganization } from "../../support/tenants/callers.ts";
import { writeEvent } from "../../support/tenants/events.ts";
import { until } from "../../support/until.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

test("a connection that was lost, as when Postgres restarts, is made again and hears as before", async () => {
  const { db } = database;
  const organization = await makeOrganization(db);
  const heard: string[] = [];
  let connections = 0;
  let losses = 0;
  const stop = listenForEvents({
    url: loginUrlsOf(database.url).app,
    onEvents: (organizationId) => heard.push(organizationId),
    onAgents: () => {},
    onConnected: () => (connections += 1),
    onLost: () => (losses += 1),
  });
  await until("it listens", () => connections === 1);

  await db.owner.query(
    `select pg_terminate_backend(pid)
     from pg_stat_activity
     where application_name = 'holdfast events'
       and datname = current_database()`,
  );
  await until("it listens again", () => connections === 2);
  await inTenant(db, organization, (sql) => writeEvent(sql, organization));
  await placeEvents(db, organization.id);
  await until("it hears", () => heard.includes(organization.id));

  expect(losses).toBe(1);
  await stop();
});
