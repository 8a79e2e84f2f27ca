/**
 * Every route with every kind of caller and invalid request; the tests are generated from the table of
 * routes.
 */
import { describe, expect, test } from "vitest";
import type { Route } from "../../src/api/route.ts";
import {
  cases,
  contractClient,
  expectDeclared,
  idParamsOf,
  operations,
  paramsOf,
  UNKNOWN_ID,
} from "../support/clients/contract-client.ts";
import type { Operation } from "../support/clients/samples.ts";
import { RULES_OF_ROUTES } from "../support/matrix/rules.ts";
import { contractStack, type Credentials } from "../support/stack/contract-stack.ts";

const KEY_REFUSED = "API key not accepted on this endpoint, use an identity-provider access token";
/** These routes decide about each document separately, and answer 200 with the refusals. */
const DECIDES_FOR_EACH = new Set(["/v1/data/batch-reprocess"]);

const stack = contractStack();
const send = contractClient(stack);

/** The status of a request that fails its checks: where OpenAI's clients are expected, theirs. */
const unchecked = ({ form, presentError }: Route): number =>
  form === "openai" || presentError !== undefined ? 400 : 422;
/** Checked by the rules of its protocol, which have tests of their own in test/api/mcp. */
const isMcp = ({ tokenResource }: Route): boolean => tokenResource !== undefined;

/** Returns the token of a caller whom the route lets in. */
const letIn = ({ access }: Route): string =>
  stack.credentials[access === "operator" ? "operator" : access === "jwt" ? "jwt" : "owner"];

test("every route of a member says what the audit log is told of it", () => {
  expect(
    cases
      .filter(({ route }) => !["public", "operator"].includes(route.access) && route.audit === undefined)
      .map(({ name }) => name),
  ).toEqual([]);
});

/** What `WWW-Authenticate` is like; only a 401 has one, but for the resources of tokens. */
function challengeOf({ tokenResource }: Route, status: number): RegExp {
  if (tokenResource !== undefined) return /^Bearer resource_metadata="/;
  return status === 401 ? /^Bearer$/ : /^null$/;
}

const closed = cases.filter(({ route }) => route.access !== "public");

describe.each(closed)("$name", (one) => {
  const refusal = one.route.unauthenticatedStatus ?? 401;
  // Operators need not be members of anything, so that a subject whom nobody knows lacks the role alone.
  const ofStranger = one.route.access === "operator" ? 403 : refusal;

  const strangers: (keyof Credentials)[] = ["revoked", "expired", "jwtOfStranger"];
  test.each(["none", "garbage", "malformed", ...strangers] as const)(
    "refuses credentials that are %s",
    async (kind) => {
      const tokens: Record<string, string | undefined> = {
        none: undefined,
        garbage: `sk-${"x".repeat(49)}`,
        malformed: "a b",
      };
      const token = kind in tokens ? tokens[kind] : stack.credentials[kind as keyof Credentials];
      const answer = await send(one, token === undefined ? {} : { token });
      const status = kind === "jwtOfStranger" ? ofStranger : refusal;
      expect(answer).toMatchObject({ status, body: { detail: expect.any(String) } });
      expect(String(answer.headers.get("www-authenticate"))).toMatch(challengeOf(one.route, status));
      expectDeclared(one, answer);
    },
  );

  test("says who it is before it says what is wrong", async () => {
    const ids = Object.fromEntries(paramsOf(one.route).map((name) => [name, "no-id"]));
    expect((await send(one, { ids })).status).toBe(refusal);
  });
});

// Operators belong to no organization, so that the header means nothing.
describe.each(closed.filter(({ route }) => route.access !== "operator"))("$name", (one) => {
  test("refuses who names another organization", async () => {
    expect(
      (await send(one, { token: letIn(one.route), headers: { "x-organization-id": UNKNOWN_ID } })).status,
    ).toBe(403);
  });
});

describe.each(cases.filter(({ route }) => route.access === "jwt"))("$name", (one) => {
  test("lets no key in, in the words of the specification", async () => {
    expect(await send(one, { token: stack.credentials.owner })).toMatchObject({
      status: 401,
      body: { detail: KEY_REFUSED },
    });
  });
});

describe.each(cases)("$name", (one) => {
  test("works the same with a slash at its end", async () => {
    expect((await send(one, { slash: true })).status).toBe((await send(one)).status);
  });

  test("answers another method with 405 and those that it has", async () => {
    const known = operations
      .filter((other) => other.path === one.operation.path)
      .map((other) => other.method);
    const answer = await send(one, {
      method: ["PUT", "PATCH", "DELETE", "POST"].find((method) => !known.includes(method))!,
      body: null,
    });
    expect(answer).toMatchObject({ status: 405, body: { detail: "Method Not Allowed" } });
    expect(answer.headers.get("allow")?.split(", ")).toEqual(expect.arrayContaining(known));
  });
});

const withIds = closed.filter(({ route }) => idParamsOf(route).length > 0);

/** What the clients of the route expect of an id of the wrong form. */
function wrongId({ form }: Route, name: string): object {
  if (form === "openai") return { status: 404, body: { error: { type: "invalid_request_error" } } };
  const problem = expect.objectContaining({ type: "uuid_parsing", loc: ["path", name] });
  return { status: 422, body: { detail: expect.arrayContaining([problem]) } };
}

describe.each(withIds)("$name", (one) => {
  test.each(idParamsOf(one.route))("answers a wrong %s with what its clients expect", async (name) => {
    const answer = await send(one, { token: letIn(one.route), ids: { [name]: "not-a-uuid" } });
    expect(answer).toMatchObject(wrongId(one.route, name));
    expectDeclared(one, answer);
  });

  test("answers unknown ids with 404", async () => {
    const ids = Object.fromEntries(idParamsOf(one.route).map((name) => [name, UNKNOWN_ID]));
    const answer = await send(one, { token: letIn(one.route), ids });
    expect(answer).toMatchObject({ status: 404, body: { detail: expect.any(String) } });
    expectDeclared(one, answer);
  });
});

const reachable = withIds.filter(({ route }) => route.access === "keys");

describe.each(reachable)("$name", (one) => {
  test("answers a key that does not reach the thing as if it did not exist", async () => {
    const outside = await send(one, { token: stack.credentials.scopedElsewhere });
    const unknown = await send(one, {
      token: stack.credentials.scopedElsewhere,
      ids: Object.fromEntries(idParamsOf(one.route).map((name) => [name, UNKNOWN_ID])),
    });
    expect(outside).toMatchObject({ status: 404, body: unknown.body });
  });
});

/** A batch exists only for the caller who started it; others get 404. */
const OF_ONE_CALLER = new Set(["batch_id"]);

const written = cases.filter(({ route, operation }) => {
  const space = (operation.body?.["required"] ?? []).includes("space_id") as boolean;
  return (
    route.access === "keys" &&
    route.capability === "write" &&
    (space || idParamsOf(route).length > 0) &&
    !DECIDES_FOR_EACH.has(route.fullPath)
  );
});

describe.each(written)("$name", (one) => {
  test("is not open to a viewer of the space", async () => {
    const isKnown = idParamsOf(one.route).every((name) => name in stack.ids && !OF_ONE_CALLER.has(name));
    const answer = await send(one, { token: stack.credentials.viewer });
    expect(answer.status).toBe(isKnown ? 403 : 404);
    expect(answer.body.detail).toMatch(isKnown ? /^Permission denied: / : /./);
  });
});

/** What a deletion takes along is for those who may delete. */
const reads = cases.filter(
  ({ route }) =>
    route.method === "GET" && route.access === "keys" && route.capability !== "write" && !isMcp(route),
);

describe.each(reads)("$name", (one) => {
  test.each(["owner", "editor", "viewer"] as const)("may be read by the space's %s", async (role) => {
    const isKnown = idParamsOf(one.route).every((name) => name in stack.ids);
    const answer = await send(one, { token: stack.credentials[role] });
    // The stack's document is a text: what takes other formats says so.
    const unfit = RULES_OF_ROUTES[`${one.route.method} ${one.route.fullPath}`]?.unfit;
    const isUnfit = unfit !== undefined && answer.body.error?.code === unfit;
    expect(isKnown ? [200, 404, ...(isUnfit ? [422] : [])] : [404]).toContain(answer.status);
    expectDeclared(one, answer);
  });
});

function emptyForm(): FormData {
  const form = new FormData();
  form.set("nothing", "");
  return form;
}

const requiredOf = (operation: Operation): string[] => (operation.body?.["required"] ?? []) as string[];
const bodied = closed.filter(({ operation }) => operation.bodyIsRequired && requiredOf(operation).length > 0);

describe.each(bodied)("$name", (one) => {
  test.each(requiredOf(one.operation))(
    "names the missing field %s, and all others with it",
    async (field) => {
      const answer = await send(one, {
        token: letIn(one.route),
        body: one.operation.isForm ? emptyForm() : "{}",
      });
      expect(answer.status).toBe(unchecked(one.route));
      expect(answer.body.detail).toContainEqual(
        expect.objectContaining({ type: "missing", loc: ["body", field], msg: "Field required" }),
      );
      expectDeclared(one, answer);
    },
  );
});

describe.each(closed.filter(({ operation }) => operation.body !== undefined && !operation.isForm))(
  "$name",
  (one) => {
    test.each(['{"a":', "nonsense", "[1,]"])("calls %s no JSON", async (body) => {
      const answer = await send(one, { token: letIn(one.route), body });
      expect(answer.status).toBe(unchecked(one.route));
      expect(answer.body.detail).toContainEqual(
        expect.objectContaining({ type: "json_invalid", msg: "JSON decode error" }),
      );
    });

    test.each([
      [
        "nested deeper than 64 levels",
        `${'{"a":'.repeat(65)}1${"}".repeat(65)}`,
        "JSON body is nested deeper than the allowed 64 levels",
      ],
      [
        "more than 100,000 values",
        `[${"1,".repeat(100_000)}1]`,
        "JSON body holds more than the allowed 100000 values",
      ],
    ])("refuses a body with %s before it is parsed", async (_name, body, detail) => {
      const answer = await send(one, { token: letIn(one.route), body });
      expect(answer).toMatchObject({ status: 400, body: { detail } });
      expectDeclared(one, answer);
    });

    const noObjects = isMcp(one.route) ? [] : ["[]", '"text"', "5"];
    test.each(noObjects)("takes %s for no object", async (body) => {
      const answer = await send(one, { token: letIn(one.route), body });
      expect(answer.status).toBe(unchecked(one.route));
      expect(answer.body.detail).toContainEqual(
        expect.objectContaining({ type: "model_attributes_type", loc: ["body"] }),
      );
    });
  },
);
