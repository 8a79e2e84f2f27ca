/**
 * Callers × spaces × routes, compared with the rules of the specification; each statement is then run again
 * as another tenant.
 */
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { OrganizationRef } from "../../src/db/pool.ts";
import { makeOrganization } from "../support/tenants/callers.ts";
import type { Answer } from "../support/clients/client.ts";
import { faultOf, inParallel, ruleOf, sendAs } from "../support/matrix/judge.ts";
import { liveOn } from "../support/matrix/life.ts";
import { type MatrixRequest, matrixRequest } from "../support/matrix/requests.ts";
import {
  type MatrixCaller,
  RULES_OF_BATCHES,
  RULES_OF_ROUTES,
  type SpaceName,
  hasCapability,
  roleIn,
} from "../support/matrix/rules.ts";
import { SPACE_NAMES, type Things, WITH_PRIVATE, canary, unknownThings } from "../support/matrix/world.ts";
import { queryFunctions, recordedFunctions, replayAs } from "../support/matrix/tenant-replay.ts";
import { readRecords, statementsOf } from "../support/matrix/sql-records.ts";
import { NEEDS_MORE } from "../support/matrix/needs-more.ts";
import { type Matrix, startMatrix } from "../support/matrix/start-matrix.ts";
import type { Stack } from "../support/stack/stack.ts";
import { ACME } from "../support/tenants/tenants.ts";

let matrix: Matrix;
let stack: Stack;
let callers: readonly MatrixCaller[];
let things: Matrix["things"];

beforeAll(async () => {
  matrix = await startMatrix();
  ({ stack, callers, things } = matrix);
}, 180_000);
afterAll(() => matrix.close());

const send = (caller: MatrixCaller, request: MatrixRequest, id?: string): Promise<Answer> =>
  sendAs(stack.url, caller, request, id);

interface Cell {
  readonly route: string;
  readonly space: SpaceName;
  readonly caller: MatrixCaller;
}

async function faultsOf(cells: readonly Cell[]): Promise<string[]> {
  const faults: string[] = [];
  await inParallel(cells, async ({ route, space, caller }) => {
    const answer = await send(caller, matrixRequest(route, things[space]));
    const fault = faultOf(answer, caller, ruleOf(route, space), space);
    if (fault !== undefined) faults.push(`${route} in ${space} by ${caller.name} ${fault}`);
  });
  return faults.toSorted();
}

test("every caller gets of every route in every space what the rules say", async () => {
  const cells = Object.entries(RULES_OF_ROUTES).flatMap(([route, { on }]) =>
    callers.flatMap((caller) => {
      // If the path names no resource, or the caller is not let in at all, one space is as good as all.
      const spaces = on === "nothing" || caller.standing !== "good" ? SPACE_NAMES.slice(0, 1) : SPACE_NAMES;
      return spaces.map((space) => ({ route, space, caller }));
    }),
  );
  expect(cells.length).toBeGreaterThan(2_000);
  expect(await faultsOf(cells)).toEqual([]);
}, 180_000);

test("a private space is its owner's, and no key's that an administrator made", async () => {
  const some = [
    "token of viewer",
    "key of viewer",
    "key issued by an administrator",
    "key rolled, by its text of before",
    "token of owner",
    "key from a wrong address",
  ];
  const cells = Object.entries(RULES_OF_ROUTES)
    .filter(([, { on, needs }]) => on === "space" && needs !== "owner")
    .flatMap(([route]) =>
      callers
        .filter(({ name }) => some.includes(name))
        .map((caller): Cell => ({ route, space: "diary", caller })),
    );
  expect(cells.length).toBeGreaterThan(150);
  expect(await faultsOf(cells)).toEqual([]);
}, 60_000);

const standing = (): MatrixCaller[] => callers.filter((caller) => caller.standing === "good");

test("a batch is its starter's alone", async () => {
  const wrong: string[] = [];
  // Ada's key started the batches of Research and Archive, and Rob's that of Rival; Ada's other keys started
  // none.
  const others = standing().filter(({ roles }) => roles.archive !== "owner" && roles.rival !== "owner");
  await inParallel(others, async (caller) => {
    for (const route of Object.keys(RULES_OF_BATCHES)) {
      for (const space of SPACE_NAMES) {
        const { status } = await send(caller, matrixRequest(route, things[space]));
        if (status !== 404) wrong.push(`${route} in ${space} by ${caller.name} answered ${status}`);
      }
    }
  });
  expect(others.length).toBeGreaterThan(5);
  expect(wrong).toEqual([]);
});

test("each document of a batch is decided by itself", async () => {
  const wrong: string[] = [];
  await inParallel(
    standing().filter((caller) => hasCapability(caller, "write")),
    async (caller) => {
      for (const space of SPACE_NAMES) {
        const { body } = await send(caller, matrixRequest("POST /v1/data/batch-reprocess", things[space]));
        const has = roleIn(caller, space);
        const code = has === undefined ? "not_found" : has === "viewer" ? "forbidden" : undefined;
        if (body.results[0].error?.code !== code)
          wrong.push(
            `a document of ${space} in a batch by ${caller.name}: ${JSON.stringify(body.results[0])}`,
          );
      }
    },
  );
  expect(wrong).toEqual([]);
});

test("search finds something exactly where the caller reaches the space and may search", async () => {
  const wrong: string[] = [];
  await inParallel(
    standing().filter((caller) => hasCapability(caller, "search")),
    async (caller) => {
      for (const space of WITH_PRIVATE) {
        const { body } = await send(caller, matrixRequest("POST /v1/data/hybrid-search", things[space]));
        if (body.total_results > 0 !== (roleIn(caller, space) !== undefined))
          wrong.push(`${caller.name} in ${space}: ${body.total_results}`);
      }
    },
  );
  expect(wrong).toEqual([]);
});

test("logs hold no credential and nothing of what is stored", () => {
  const logged = stack.api.output() + stack.worker.output();
  expect(logged).toContain("request_id");
  const secrets = [
    ...callers.flatMap(({ token }) => token ?? []),
    ...WITH_PRIVATE.map(canary),
    stack.env["MASTER_KEY"]!,
    stack.env["OPENAI_API_KEY"]!,
    new URL(stack.database.url).password,
  ];
  expect(secrets.filter((secret) => secret !== "" && logged.includes(secret))).toEqual([]);
});

describe("what is not the caller's", () => {
  const named = Object.entries(RULES_OF_ROUTES).filter(
    ([route, { on }]) => on === "space" && /:\w+/.test(route),
  );

  test("is answered like what does not exist, by the same statements", async () => {
    const outsiders = callers.filter(({ name }) =>
      ["key of rival", "key for one space", "token of rival"].includes(name),
    );
    const asked: { what: string; exists: string; missing: string }[] = [];
    // A repetition of this test must not count the statements of the one before.
    const attempt = randomUUID();
    for (const [route] of named) {
      for (const caller of outsiders) {
        const what = `${route} by ${caller.name}`;
        const ids = {
          exists: `exists-${asked.length}-${attempt}`,
          missing: `missing-${asked.length}-${attempt}`,
        };
        const exists = await send(caller, matrixRequest(route, things.research), ids.exists);
        const unknown = unknownThings(things.research);
        const missing = await send(caller, matrixRequest(route, unknown), ids.missing);
        // Some answers repeat the id that was asked for.
        const bodyOf = (answer: Answer, { agent_id: id }: Things): string =>
          JSON.stringify(answer.body).replaceAll(id ?? "no id", "the agent's id");
        expect({ what, status: exists.status, body: bodyOf(exists, things.research) }).toEqual({
          what,
          status: missing.status,
          body: bodyOf(missing, unknown),
        });
        asked.push({ what, ...ids });
      }
    }
    const records = await readRecords(matrix.records);
    for (const { what, exists, missing } of asked) {
      const statements = statementsOf(records, exists);
      expect({ what, statements }).toEqual({ what, statements: statementsOf(records, missing) });
    }
  }, 60_000);
});

describe("a query function in another tenant's transaction", () => {
  test("reads nothing and changes nothing, whatever ids it is given", async () => {
    const admin = callers.find(({ name }) => name === "token of owner")!;
    await liveOn(stack, admin.token!);
    const { db } = stack.database;
    const records = await readRecords(matrix.records);
    const ofTenants = records.filter(({ organization }) => organization !== null);
    const { rows } = await db.owner.query<OrganizationRef>(
      "select id, num from organizations where id = $1",
      [ACME],
    );
    // The tenant itself finds and changes rows, so finding none as another tenant proves something.
    expect((await replayAs(db, rows[0]!, ofTenants)).leaks.length).toBeGreaterThan(50);
    const outcome = await replayAs(db, await makeOrganization(db), ofTenants);
    expect(outcome.leaks).toEqual([]);
    expect(outcome.replayed).toBeGreaterThan(150);
    const effective = recordedFunctions(records);
    expect((await queryFunctions()).filter((name) => !effective.has(name) && !NEEDS_MORE.has(name))).toEqual(
      [],
    );
  }, 240_000);
});
