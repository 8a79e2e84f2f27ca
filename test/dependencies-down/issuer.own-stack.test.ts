/** What each part of the API does while the OpenID issuer is down. */
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  type DependencyCalls,
  dependencyCalls,
  expectUnavailable,
} from "../support/clients/dependency-calls.ts";
import { startIssuer, type TestIssuer } from "../support/servers/issuer.ts";
import { type Stack, startStack } from "../support/stack/stack.ts";

let stack: Stack;
let issuer: TestIssuer;
let calls: DependencyCalls;

beforeAll(async () => {
  issuer = await startIssuer();
  stack = await startStack({
    withoutWorker: true,
    env: { OIDC_ISSUER: issuer.url, OIDC_AUDIENCE: issuer.audience },
  });
  calls = dependencyCalls(stack);
});
afterAll(() => stack.close());

test("keys work, and so do tokens whose signing key is known; other tokens are 503", async () => {
  const jwt = await issuer.token("ada");
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
