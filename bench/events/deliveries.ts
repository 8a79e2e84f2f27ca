/**
 * Measures deliveries on a whole stack: how many a second one fast receiver gets, and what one endpoint that
 * hangs costs many others.
 */
import { type Server, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Command } from "commander";
import { loadConfig, requireReal } from "../../src/config/config.ts";
import { placeEvents } from "../../src/db/events/place.ts";
import { openSharedDeps, type SharedDeps } from "../../src/deps.ts";
import { makeEndpoint } from "../../test/support/events/endpoints.ts";
import setup from "../../test/support/run/global-setup.ts";
import { type Stack, startStack } from "../../test/support/stack/stack.ts";
import { ACME } from "../../test/support/tenants/tenants.ts";
import { machine, percentile, say } from "../report.ts";

interface Options {
  readonly deliveries: string;
  readonly endpoints: string;
  readonly rounds: string;
}

interface World {
  readonly stack: Stack;
  readonly deps: SharedDeps;
  readonly admin: string;
}

/** A receiver in this process that keeps when each message came. The path `/hangs` is never answered. */
interface Sink {
  readonly url: string;
  readonly arrivals: number[];
  /** Resolves when so many have arrived. */
  reached(count: number): Promise<void>;
  close(): void;
}

const LONGEST_MS = 300_000;

async function startSink(): Promise<Sink> {
  const arrivals: number[] = [];
  let wanted = Infinity;
  let resolve = (): void => undefined;
  const server: Server = createServer((request, response) => {
    request.resume();
    if (request.url === "/hangs") return;
    request.on("end", () => {
      arrivals.push(performance.now());
      response.writeHead(204).end();
      if (arrivals.length >= wanted) resolve();
    });
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    arrivals,
    async reached(count) {
      wanted = count;
      if (arrivals.length >= count) return;
      await new Promise<void>((done, fail) => {
        resolve = done;
        setTimeout(() => fail(new Error(`only ${arrivals.length} of ${count} arrived`)), LONGEST_MS).unref();
      });
    },
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** Writes events, each of a resource of its own, gives them positions, and wakes the endpoints. */
async function happen({ stack, deps }: World, count: number): Promise<void> {
  await stack.database.db.owner.query(
    `insert into events (organization_id, type, resource_type, resource_id, audience)
     select $1, 'organization.updated', 'organization', gen_random_uuid(), 'organization'
     from generate_series(1, $2)`,
    [ACME, count],
  );
  await placeEvents(deps.db, ACME);
  deps.dispatcher.wakeWebhooks(ACME);
}

const endpointAt = ({ stack, deps, admin }: World, url: string): Promise<string> =>
  makeEndpoint(stack.database.db, deps.keyring, { organizationId: ACME, createdBy: admin, url });

async function removeEndpoints({ stack }: World): Promise<void> {
  await stack.database.db.owner.query("update webhooks set status = 'paused'");
}

async function measureRate(world: World, count: number): Promise<void> {
  const sink = await startSink();
  await endpointAt(world, `${sink.url}/fast`);
  const startedAt = performance.now();
  await happen(world, count);
  await sink.reached(count);
  const { arrivals } = sink;
  const seconds = (arrivals.at(-1)! - arrivals[0]!) / 1_000;
  const whole = (arrivals.at(-1)! - startedAt) / 1_000;
  say(
    `${count} events to one receiver: ${Math.round(count / seconds)} deliveries/s ` +
      `(${whole.toFixed(1)} s with the start of its workflow)`,
  );
  sink.close();
  await removeEndpoints(world);
}

/** @returns milliseconds from the position of an event to each of its deliveries. */
async function latencies(world: World, sink: Sink, endpoints: number): Promise<number[]> {
  sink.arrivals.length = 0;
  const startedAt = performance.now();
  await happen(world, 1);
  await sink.reached(endpoints);
  return sink.arrivals.map((at) => at - startedAt);
}

/** Whether the endpoint takes part in the next round. It has never failed, and begins at the log's end. */
async function setActive({ stack }: World, id: string, isActive: boolean): Promise<void> {
  const { owner } = stack.database.db;
  await owner.query("delete from webhook_deliveries where webhook_id = $1", [id]);
  await owner.query(
    `update webhooks
     set status = $2,
         status_reason = $3,
         position = (select last_position from event_positions log where log.organization_id = $4),
         failures = 0,
         failing_since = null,
         next_attempt_at = null,
         is_resting = true,
         leased_until = null
     where id = $1`,
    [id, isActive ? "active" : "paused", isActive ? null : "by_user", ACME],
  );
}

/**
 * Compares rounds with and without the endpoint that hangs. They take turns, and each of them is the first of
 * a pair as often as the other, because the speed of a machine that others use changes by the minute.
 */
async function measureHanging(world: World, endpoints: number, rounds: number): Promise<void> {
  const sink = await startSink();
  const others = endpoints - 1;
  for (let next = 0; next < others; next += 1) await endpointAt(world, `${sink.url}/${next}`);
  const hanging = await endpointAt(world, `${sink.url}/hangs`);
  const round = async (hangs: boolean): Promise<number[]> => {
    await setActive(world, hanging, hangs);
    return latencies(world, sink, others);
  };
  await round(false);
  const pairs: { without: number[]; with_: number[] }[] = [];
  for (let pair = 0; pair < rounds; pair += 1) {
    const isFirst = pair % 2 === 1;
    const first = await round(isFirst);
    const second = await round(!isFirst);
    pairs.push(isFirst ? { without: second, with_: first } : { without: first, with_: second });
    const p95 = pairs.at(-1)!;
    say(
      `pair ${pair + 1}: p95 without ${Math.round(percentile(p95.without, 0.95))} ms, ` +
        `with ${Math.round(percentile(p95.with_, 0.95))} ms`,
    );
  }
  const tell = (name: string, times: readonly number[]): void =>
    say(
      `${others} endpoints, ${name}: p50 ${Math.round(percentile(times, 0.5))} ms, ` +
        `p95 ${Math.round(percentile(times, 0.95))} ms over ${times.length} deliveries`,
    );
  tell(
    "none hangs",
    pairs.flatMap(({ without }) => without),
  );
  tell(
    "and one that hangs",
    pairs.flatMap(({ with_ }) => with_),
  );
  const logs = pairs.map(({ without, with_ }) =>
    Math.log(percentile(with_, 0.95) / percentile(without, 0.95)),
  );
  const mean = Math.exp(logs.reduce((sum, log) => sum + log, 0) / logs.length);
  say(`p95 with : without, geometric mean of ${rounds} pairs: ${mean.toFixed(2)}`);
  sink.close();
  await removeEndpoints(world);
}

async function main({ deliveries, endpoints, rounds }: Options): Promise<void> {
  const stop = await setup();
  const stack = await startStack();
  const deps = await openSharedDeps(requireReal(loadConfig(stack.env)), "bench");
  try {
    const { rows } = await stack.database.db.owner.query<{ id: string }>(
      "select id from users where organization_id = $1 and role = 'admin'",
      [ACME],
    );
    const world = { stack, deps, admin: rows[0]!.id };
    say(`${machine()}; receiver, service, Temporal and Postgres on this machine`);
    await measureRate(world, Number(deliveries));
    await measureHanging(world, Number(endpoints), Number(rounds));
  } finally {
    await deps.close();
    await stack.close();
    await stop();
  }
}

const program = new Command("deliveries")
  .description("Measures deliveries to webhooks on a whole stack.")
  .option("--deliveries <count>", "events for the one fast receiver", "6000")
  .option("--endpoints <count>", "endpoints of which one hangs", "1000")
  .option("--rounds <count>", "pairs of an event with and one without it; best even", "6");
await main(program.parse().opts<Options>());
