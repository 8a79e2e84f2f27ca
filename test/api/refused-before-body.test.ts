/**
 * On every route, credentials are checked before the body: a refusal comes while nothing of a body has been
 * sent.
 */
import { once } from "node:events";
import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Route } from "../../src/api/route.ts";
import { createSharedCounter } from "../../src/api/limits/shared-counter.ts";
import { ROUTES } from "../../src/api/routes/index.ts";
import { startTinyApp, type TinyApp } from "../support/app/tiny-app.ts";

const REFUSALS_A_MINUTE = 2;
const LARGEST_BODY_BYTES = 4 * 1_024 * 1_024;
const closed = ROUTES.filter((route) => route.access !== "public");
const withBody = closed.filter((route) => route.body !== undefined || route.multipart !== undefined);

let app: TinyApp;
beforeAll(async () => {
  app = await startTinyApp(ROUTES);
});
afterAll(() => app.close());

/** Announces a body, sends none of it, and resolves with the status of the answer. */
async function statusWithoutBody(port: number, route: Route): Promise<number> {
  const socket = connect(port, "127.0.0.1");
  await once(socket, "connect");
  const path = route.fullPath.replaceAll(/:\w+/g, "01900000-0000-7000-8000-000000000010");
  const type = route.multipart === undefined ? "application/json" : "multipart/form-data; boundary=x";
  const head = [
    `${route.method} ${path} HTTP/1.1`,
    "Host: x",
    `Content-Type: ${type}`,
    `Content-Length: ${LARGEST_BODY_BYTES}`,
  ];
  socket.write(`${head.join("\r\n")}\r\n\r\n`);
  const [answer] = (await once(socket, "data")) as [Buffer];
  socket.destroy();
  return Number(answer.toString("latin1").slice(9, 12));
}

describe.each(withBody.map((route) => ({ name: `${route.method} ${route.fullPath}`, route })))(
  "$name",
  ({ route }) => {
    test("refuses a stranger whose body has not come", async () => {
      expect(await statusWithoutBody(app.port, route)).toBe(route.unauthenticatedStatus ?? 401);
    });
  },
);

describe.each(closed.map((route) => ({ name: `${route.method} ${route.fullPath}`, route })))(
  "$name",
  ({ route }) => {
    test("counts its refusals, and answers 429 when an address has had its share", async () => {
      const limited = await startTinyApp(ROUTES, {
        settings: { REFUSAL_RATE_LIMIT_RPM: String(REFUSALS_A_MINUTE) },
        // The clock stands still, so that the minute never ends.
        callerCounts: createSharedCounter({ add: async () => [], now: () => 0 }),
      });
      const statuses: number[] = [];
      for (let request = 0; request <= REFUSALS_A_MINUTE; request += 1)
        statuses.push(await statusWithoutBody(limited.port, route));
      const refusal = route.unauthenticatedStatus ?? 401;
      expect(statuses).toEqual([refusal, refusal, 429]);
      await limited.close();
    });
  },
);
