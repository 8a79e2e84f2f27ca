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

const LONGEST_MS = 120_000;
const WARMING_ENDPOINTS = 50;

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
async function latencies(world: World, sink: Sink, endpoints: number, rounds: number): Promise<number[]> {
  const times: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    sink.arrivals.length = 0;
    const startedAt = performance.now();
    await happen(world, 1);
    await sink.reached(endpoints);
    times.push(...sink.arrivals.map((at) => at - startedAt));
  }
  return times;
}

async function measureHanging(world: World, endpoints: number, rounds: number): Promise<void> {
  const sink = await startSink();
  const makeUntil = async (count: number, made = 0): Promise<void> => {
    for (let next = made; next < count; next += 1) await endpointAt(world, `${sink.url}/${next}`);
  };
  const warming = Math.min(WARMING_ENDPOINTS, endpoints - 1);
  await makeUntil(warming);
  await latencies(world, sink, warming, 1);
  await makeUntil(endpoints - 1, warming);
  const tell = (name: string, times: readonly number[]): void =>
    say(
      `${name}: p50 ${Math.round(percentile(times, 0.5))} ms, p95 ${Math.round(percentile(times, 0.95))} ms ` +
        `over ${times.length} deliveries (${Math.round((1_000 * times.length) / rounds / Math.max(...times))}/s)`,
    );
  tell(`${endpoints - 1} endpoints, none hangs`, await latencies(world, sink, endpoints - 1, rounds));
  await endpointAt(world, `${sink.url}/hangs`);
  tell(`the same, and one that hangs`, await latencies(world, sink, endpoints - 1, rounds));
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
  .option("--rounds <count>", "events for each of them, with and without it", "1");
await main(program.parse().opts<Options>());
