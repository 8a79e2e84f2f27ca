/** Ends downloads, from stores that answer over HTTP, that nobody wants any more. */
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { setImmediate as turnOfLoop, setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createGcsStore } from "../../../src/storage/stores/gcs.ts";
import { createS3Store } from "../../../src/storage/stores/s3.ts";
import { newName } from "../../support/servers/object-store-promises.ts";
import { until } from "../../support/until.ts";

let server: Server;
let origin: string;
let asked = 0;
beforeEach(async () => {
  vi.stubEnv("AWS_ACCESS_KEY_ID", "key").stubEnv("AWS_SECRET_ACCESS_KEY", "secret");
  asked = 0;
  server = createServer((request, response) => {
    asked += 1;
    const range = request.headers.range === undefined ? {} : { "content-range": "bytes 100-999/1000" };
    response.writeHead(request.headers.range === undefined ? 200 : 206, {
      "content-length": 1_000,
      etag: '"x"',
      ...range,
    });
    // The rest never comes.
    response.write(Buffer.alloc(100));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(() => {
  vi.unstubAllEnvs();
  server.closeAllConnections();
  server.close();
});

const STORES = {
  gcs: () => createGcsStore({ bucket: "objects", emulatorHost: origin }),
  s3: () => createS3Store({ bucket: "objects", endpoint: origin, forcePathStyle: true }),
};

const connections = (): Promise<number> =>
  new Promise((resolve, reject) =>
    server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
  );

test.each(["gcs", "s3"] as const)(
  "a reader that leaves while %s is silent leaves no connection, and nothing is asked for again",
  async (kind) => {
    const stream = await STORES[kind]().get(newName());
    stream.resume();
    await once(stream, "data");
    await turnOfLoop();
    stream.destroy();
    await until("the connection is closed", async () => (await connections()) === 0);
    // Longer than the pause before the first retry, since only time shows that none comes.
    await sleep(500);
    expect(asked).toBe(1);
    expect(await connections()).toBe(0);
  },
);
