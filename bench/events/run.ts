/**
 * Measures how long an event takes from the commit of its change to a listener on another API process, and
 * what streams at idle cost that process.
 */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { Command } from "commander";
import { appendAudit } from "../../src/db/audit/append.ts";
import { onNotedEvents } from "../../src/db/events/noted.ts";
import { migrate } from "../../src/db/migrate.ts";
import { inTenant, type OrganizationRef } from "../../src/db/pool.ts";
import { createEventPlacer } from "../../src/dispatch/place-events.ts";
import { newId } from "../../src/domain/ids.ts";
import { openStream } from "../../test/support/clients/event-stream.ts";
import type { OwnedDatabase } from "../../test/support/servers/database.ts";
import { makeKey, makeOrganization, makeSpace, makeUser } from "../../test/support/tenants/callers.ts";
import { machine, percentile, say } from "../report.ts";
import { openThrowaway, throwawayDatabase } from "../throwaway-database.ts";

interface Options {
  readonly events: string;
  readonly streams: string;
  readonly database?: string;
}

interface Tenant {
  readonly db: OwnedDatabase;
  readonly organization: OrganizationRef;
  readonly user: string;
  readonly space: string;
}

const STREAMS_A_KEY = 10;
const MEGABYTE = 1_048_576;

async function makeTenant(db: OwnedDatabase): Promise<Tenant> {
  const organization = await makeOrganization(db);
  const user = await makeUser(db, organization);
  return { db, organization, user, space: await makeSpace(db, organization, [[user, "owner"]]) };
}

async function commitEvent({ db, organization, space }: Tenant): Promise<void> {
  await inTenant(db, organization, (sql) =>
    appendAudit(
      sql,
      { authMethod: "system", organization },
      {
        action: "bench:happen",
        resource_type: "folder",
        resource_id: newId(),
        space_id: space,
        request_id: null,
        outcome: "success",
        events: [{ type: "folder.created" }],
      },
    ),
  );
}

async function measureLatency(tenant: Tenant, url: string, count: number): Promise<number[]> {
  const { text } = await makeKey(tenant.db, tenant.organization, tenant.user);
  const stream = await openStream(url, text);
  const times: number[] = [];
  for (let done = 0; done < count; done += 1) {
    await commitEvent(tenant);
    const committedAt = performance.now();
    await stream.next();
    times.push(performance.now() - committedAt);
    await sleep(40);
  }
  await stream.close();
  return times;
}

async function ask(child: ChildProcess): Promise<{ rss: number; open: number }> {
  const answer = once(child, "message");
  child.send("how much");
  return (await answer)[0] as { rss: number; open: number };
}

async function measureStreams(
  tenant: Tenant,
  child: ChildProcess,
  url: string,
  count: number,
): Promise<void> {
  const before = await ask(child);
  const { db, organization } = tenant;
  for (let made = 0; made < count; made += STREAMS_A_KEY) {
    const { text } = await makeKey(db, organization, await makeUser(db, organization));
    await Promise.all(Array.from({ length: STREAMS_A_KEY }, () => openStream(url, text)));
  }
  await sleep(5_000);
  const after = await ask(child);
  say(
    `${after.open} streams at idle: ${Math.round((after.rss - before.rss) / MEGABYTE)} MB more ` +
      `(${Math.round(before.rss / MEGABYTE)} MB before)`,
  );
}

async function main({ events, streams, database }: Options): Promise<void> {
  say(machine());
  const throwaway = await throwawayDatabase(database);
  const db = openThrowaway(throwaway.url, 10);
  await migrate(db);
  const placer = createEventPlacer({ db, log: { warn: () => undefined }, onDeliveries: () => undefined });
  onNotedEvents(db.pools.values(), (organizationId) => placer.wake(organizationId));
  const child = fork(new URL("serving.ts", import.meta.url), [throwaway.url], { execArgv: ["--expose-gc"] });
  const [{ url }] = (await once(child, "message")) as [{ url: string }];
  const tenant = await makeTenant(db);
  await measureLatency(tenant, url, 20);
  const times = await measureLatency(tenant, url, Number(events));
  const [middle, late] = [0.5, 0.95].map((share) => percentile(times, share).toFixed(1));
  say(`${times.length} events, commit to a listener on another process: p50 ${middle} ms, p95 ${late} ms`);
  await measureStreams(tenant, child, url, Number(streams));
  child.disconnect();
  await once(child, "exit");
  await placer.idle();
  await db.close();
  await throwaway.drop();
}

await new Command()
  .option("--events <count>", "events whose way is measured", "200")
  .option("--streams <count>", "streams at idle", "1000")
  .option("--database <url>", "a server whose role may create databases; by default one of its own")
  .action(main)
  .parseAsync();
process.exit();
