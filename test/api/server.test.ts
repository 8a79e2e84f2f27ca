import { connect } from "node:net";
import { once } from "node:events";
import { expect, test } from "vitest";
import { stream } from "../../src/api/response.ts";
import { defineRoute } from "../../src/api/route.ts";
import { createApp } from "../../src/api/app.ts";
import { listen } from "../../src/api/server.ts";
import { tinyDeps } from "../support/app/tiny-app.ts";

const open = { access: "public", status: 200, summary: "A test." } as const;
const quick = defineRoute("GET /quick", { ...open, handle: async () => undefined });

async function start(finish: Promise<void>) {
  const slow = defineRoute("GET /slow", {
    ...open,
    handle: async () =>
      stream(async (res) => {
        res.writeHead(200).write("begun");
        await finish;
        res.end(" and ended");
      }),
  });
  return listen(createApp(tinyDeps(), [slow]), { host: "127.0.0.1", port: 0 });
}

test("closing lets running requests end, and drops idle connections at once", async () => {
  let finish = (): void => {};
  const server = await start(new Promise((resolve) => (finish = resolve)));
  const idle = connect(server.port, "127.0.0.1");
  await once(idle, "connect");
  const response = await fetch(`http://127.0.0.1:${server.port}/v1/slow`);
  const text = response.text();
  const closed = server.close(50_000);
  await once(idle, "close");
  await expect(fetch(`http://127.0.0.1:${server.port}/v1/slow`)).rejects.toThrow("fetch failed");
  finish();
  expect(await text).toBe("begun and ended");
  await closed;
});

test("a request that outlasts the grace is cut off", async () => {
  const server = await start(new Promise(() => {}));
  const response = await fetch(`http://127.0.0.1:${server.port}/v1/slow`);
  const text = response.text();
  await Promise.all([expect(text).rejects.toThrow("terminated"), server.close(50)]);
});

test("a client that sends its headers byte by byte is cut off, and others are served meanwhile", async () => {
  const server = await listen(createApp(tinyDeps(), [quick]), {
    host: "127.0.0.1",
    port: 0,
    headersTimeoutMs: 400,
    checkEveryMs: 50,
  });
  const slow = Array.from({ length: 50 }, () => {
    const socket = connect(server.port, "127.0.0.1");
    let answer = "";
    socket.on("data", (data) => {
      answer += data.toString();
    });
    socket.on("error", () => undefined);
    socket.write("GET /quick HTTP/1.1\r\nHost: x\r\n");
    const drip = setInterval(() => socket.writable && socket.write("X-A: b\r\n"), 20);
    const gone = new Promise<string>((resolve) =>
      socket.once("close", () => (clearInterval(drip), resolve(answer))),
    );
    return { gone };
  });
  expect((await fetch(`http://127.0.0.1:${server.port}/v1/quick`)).status).toBe(200);
  for (const answer of await Promise.all(slow.map(({ gone }) => gone)))
    expect(answer === "" || answer.startsWith("HTTP/1.1 408 ")).toBe(true);
  expect((await fetch(`http://127.0.0.1:${server.port}/v1/quick`)).status).toBe(200);
  await server.close(100);
});
