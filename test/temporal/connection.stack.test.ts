/** A process that starts before Temporal reports what it waits for. */
import { once } from "node:events";
import { connect, createServer } from "node:net";
import { expect, test } from "vitest";
import { freePort } from "../../src/embedded/ports.ts";
import { createLog } from "../../src/process/log.ts";
import { connectWorkers } from "../../src/temporal/connection.ts";
import { quietRuntime } from "../support/workflows/temporal-runtime.ts";
import { until } from "../support/until.ts";

test("one line that Temporal is waited for, and one when it is there", async () => {
  quietRuntime();
  const [host, port] = (process.env["HOLDFAST_TEST_TEMPORAL_ADDRESS"] ?? "").split(":");
  const lines: string[] = [];
  const log = createLog({
    level: "info",
    name: "worker",
    destination: { write: (line) => void lines.push(line) },
  });
  const address = `127.0.0.1:${await freePort()}`;
  const settings = { address, namespace: "default" };
  const stop = new AbortController();
  const connecting = connectWorkers(settings, stop.signal, log);
  const front = createServer((socket) => {
    const onward = connect({ host: host!, port: Number(port) });
    const end = (): void => {
      socket.destroy();
      onward.destroy();
    };
    for (const side of [socket, onward]) side.on("error", end);
    socket.pipe(onward).pipe(socket);
  });
  try {
    await until("it says that it waits", async () => lines.length > 0);
    front.listen(Number(address.split(":")[1]), "127.0.0.1");
    await once(front, "listening");
    await (await connecting).close();
  } finally {
    stop.abort(new Error("over"));
    front.close();
  }
  expect(lines.map((line) => JSON.parse(line) as unknown)).toMatchObject([
    {
      level: "warn",
      address,
      reason: expect.any(String),
      msg: expect.stringContaining("cannot reach Temporal"),
    },
    { level: "info", address, msg: "Temporal is there" },
  ]);
});
