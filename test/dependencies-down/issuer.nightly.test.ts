/** What each part of the API does while the OpenID issuer is down. */
import { beforeAll, expect, test } from "vitest";
import {
  type DependencyCalls,
  dependencyCalls,
  expectUnavailable,
} from "../support/clients/dependency-calls.ts";
import { startIssuer, type TestIssuer } from "../support/servers/issuer.ts";
import { onKillableStack } from "../support/stack/shared-stack.ts";

let issuer: TestIssuer;
const { stack, tenants } = onKillableStack({
  withoutWorker: true,
  env: async () => {
    issuer = await startIssuer();
    return { OIDC_ISSUER: issuer.url, OIDC_AUDIENCE: issuer.audience };
  },
});
let calls: DependencyCalls;

beforeAll(() => {
  calls = dependencyCalls(stack, tenants);
});

test("keys work, and so do tokens whose signing key is known; other tokens are 503", async () => {
  const jwt = await issuer.token(tenants.subject("ada"));
  expect((await calls.send("GET", "/me", undefined, jwt)).status).toBe(200);
  await issuer.close();
  expect((await calls.send("GET", "/me", undefined, jwt)).status).toBe(200);
  expect((await calls.send("POST", "/data/search", {}, jwt)).status).toBe(200);

  await stack.api.kill("SIGTERM");
  await stack.restartApi();
  expectUnavailable(await calls.send("GET", "/me", undefined, jwt), "a token");
  expectUnavailable(await calls.send("POST", "/data/search", {}, jwt), "a token on an endpoint for keys");
  expect((await calls.send("POST", "/data/search", {})).status).toBe(200);
});
