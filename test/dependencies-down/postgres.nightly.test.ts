/** What each part of the API does while Postgres is down, or takes connections and says nothing. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { ended } from "../support/clients/client.ts";
import type { DatabaseEnvironment } from "../support/servers/database.ts";
import {
  AT_MOST_MS,
  type DependencyCalls,
  dependencyCalls,
  expectAllUnavailable,
  expectWhole,
} from "../support/clients/dependency-calls.ts";
import { type Relay, relayTo, through } from "../support/servers/faulty-parts.ts";
import { startIssuer, type TestIssuer } from "../support/servers/issuer.ts";
import { type Stack, startStack } from "../support/stack/stack.ts";
import { KEYS } from "../support/tenants/tenants.ts";
import { until } from "../support/until.ts";

let stack: Stack;
let issuer: TestIssuer;
let database: Relay;
let calls: DependencyCalls;

const relayed = (urls: DatabaseEnvironment): Record<string, string> =>
  Object.fromEntries(Object.entries(urls).map(([name, url]) => [name, through(url, database)]));

beforeAll(async () => {
  issuer = await startIssuer();
  database = await relayTo(process.env["HOLDFAST_TEST_DATABASE_URL"] ?? "");
  stack = await startStack({
    env: (urls) => ({ ...relayed(urls), OIDC_ISSUER: issuer.url, OIDC_AUDIENCE: issuer.audience }),
  });
  calls = dependencyCalls(stack);
  await calls.chatIsReady();
});
afterAll(async () => {
  await database.restore();
  await stack.close();
  await Promise.all([database.close(), issuer.close()]);
});

test("everything is 503, a stream under way goes on, and all works again once it is back", async () => {
  const document = await calls.completed();
  const jwt = await issuer.token("ada");
  expect((await calls.send("GET", "/me", undefined, jwt)).status).toBe(200);
  stack.provider.reply({ pieces: ["one", "two", "three", "four"], delayMsBetweenPieces: 3_000 });
  const running = await calls.streaming();
  await database.cut();
  try {
    await expectAllUnavailable({
      upload: calls.put(),
      reprocess: calls.send("POST", `/data/${document.id}/reprocess`),
      batch: calls.send("POST", "/data/batch-reprocess", { document_ids: [document.id] }),
      delete: calls.send("DELETE", `/data/${document.id}`),
      read: calls.send("GET", `/data/${document.id}`),
      list: calls.send("POST", "/data/search", {}),
      search: calls.search(),
      download: calls.download(document),
      "a token": calls.send("GET", "/me", undefined, jwt),
      "a key that is not cached": calls.send("GET", `/data/${document.id}`, undefined, KEYS.rival),
    });
    // Lookups are cached for a few seconds.
    await until("chat is refused", async () => (await calls.chat()).status === 503, AT_MOST_MS);
    await expectAllUnavailable({ chat: calls.chat(), "streamed chat": calls.chat(true) });
    expect((await fetch(`${stack.url}/health`)).status).toBe(200);
    expectWhole(await running.rest);
  } finally {
    await database.restore();
  }
  await until(
    "reads work again",
    async () => (await calls.send("GET", `/data/${document.id}`)).status === 200,
  );
  await calls.chatIsReady();
  expect(
    (await ended(stack.url, KEYS.owner, (await calls.put()).body.id, 60_000)).processing_state
      .pipeline_status,
  ).toBe("completed");
}, 120_000);

test("a Postgres that takes connections and says nothing is down too", async () => {
  database.silence();
  try {
    await expectAllUnavailable({
      list: calls.send("POST", "/data/search", {}),
      search: calls.search(),
      upload: calls.put(),
    });
    await until("chat is refused", async () => (await calls.chat()).status === 503);
  } finally {
    await database.restore();
  }
  await until("reads work again", async () => (await calls.send("POST", "/data/search", {})).status === 200);
}, 90_000);
