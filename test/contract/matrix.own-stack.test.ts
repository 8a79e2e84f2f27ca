/** Callers × spaces × routes over HTTP, held to the rules as the specification states them; and each statement that ran, tried by another tenant. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { API_ROUTES } from "../../src/api/routes/index.ts";
import type { OrganizationKey } from "../../src/db/pool.ts";
import { makeOrganization } from "../support/tenants/callers.ts";
import type { Answer } from "../support/clients/client.ts";
import { type TestIssuer, startIssuer } from "../support/servers/issuer.ts";
import { faultOf, inParallel, ruleOf, sendAs } from "../support/matrix/judge.ts";
import { liveOn } from "../support/matrix/life.ts";
import { type MatrixRequest, UNKNOWN_ID, matrixRequest } from "../support/matrix/requests.ts";
import {
  type MatrixCaller,
  RULES_OF_BATCHES,
  RULES_OF_ROUTES,
  type SpaceName,
  hasCapability,
  roleIn,
} from "../support/matrix/rules.ts";
import {
  SPACE_NAMES,
  type Things,
  WITH_PRIVATE,
  canary,
  makeCallers,
  makePrivateThings,
  makeThings,
} from "../support/matrix/world.ts";
import { queryFunctions, recordedFunctions, replayAs } from "../support/matrix/tenant-replay.ts";
import { readRecords, recordingSettings } from "../support/matrix/sql-records.ts";
import { type Stack, startStack } from "../support/stack/stack.ts";
import { ACME, SPACES } from "../support/tenants/tenants.ts";

/**
 * They find something only by age, by an outage or by chance, for tools, where an organization moves in, or as the owner. What their statements touch is walled by the
 * catalogue's test alone (test/db/tenancy.database.test.ts); a function that is not named here must have found something.
 */
const NEEDS_MORE = new Set([
  "access/access.ensureRoles",
  "access/access.findAccessFaults",
  "access/access.mendAccess",
  "access/catalogue.readFacts",
  "agents/records.reachesFolders",
  "turns/agents-in-chat.findAgentAndReach",
  "keys/api-keys.hasExpired",
  "audit/append.appendAuditRowsIn",
  "transfer/backup-rows.countAllRows",
  "runs/chunks.writeImported",
  "runs/claim.setClaimWaiting",
  "documents/folders.isWithinFolder",
  "documents/folders.lockLiveFolder",
  "transfer/import.insertDirectory",
  "transfer/import.insertDocument",
  "transfer/import.insertRawFile",
  "transfer/import.isThere",
  "transfer/import.keepVectors",
  "upkeep/document-integrity.listLiveDocuments",
  "keys/rolls.secondsUntilRoll",
  "keys/rolls.supersedeKeyText",
  "documents/passages.listKnownDocuments",
  "documents/passages.readKnownDocument",
  "upkeep/abandoned-uploads.deleteIntents",
  "upkeep/unneeded.deleteOldRuns",
  "upkeep/unneeded.findHiddenRuns",
  "upkeep/unneeded.findSpentObjects",
  "upkeep/unneeded.findSpentRuns",
  "upkeep/abandoned-uploads.lockExpiredIntents",
  "upkeep/unneeded.markObjectsPurged",
  "upkeep/unneeded.purgeHiddenRun",
  "upkeep/unneeded.purgeSpentRun",
  "files/object-names.findNamed",
  "files/object-names.findOwnersOfObjects",
  "files/object-names.findUnnamed",
  "provisioning/rows.updateRow",
  "provisioning/unnamed.findUnnamedParts",
  "provisioning/apply.lockProvisioning",
  "provisioning/apply.provisionWithin",
  "runs/attempt.clearSuspicion",
  "runs/publish.noteModel",
  "files/by-path.retireHidden",
  "encryption/reencrypt.countKeyUsers",
  "runs/attempt.membersOfAttempt",
  "runs/attempt.recordFailures",
  "runs/attempt.recordWaiting",
  "runs/attempt.releaseAttempt",
  "runs/requests.endActiveRun",
  "search/write-embeddings.deleteOtherVectors",
  "search/embeddings.denseScores",
  "search/hidden.hideRun",
  "search/hidden.unhideRun",
  "search/hits.readTexts",
  "search/index/outdated-models.queueOutdated",
  "search/index/reindex.findOutdatedSegment",
  "search/index/reindex.readSegmentTexts",
  "search/index/reindex.rewriteSegment",
  "search/index/due-segments.findSegmentsToPurge",
  "search/index/segments.mergeSegments",
  "search/index/segments.purgeSegment",
  "search/index/statistics.addStatistics",
  "tenancy/space-members.settleOwners",
  "tenancy/spaces.ensurePrivateSpace",
  "tenancy/storage-quotas.requireWithinQuotas",
  "turns/ledger.cancelTurnsOfUser",
  "turns/usage.tokensOfMonth",
]);

let stack: Stack;
let issuer: TestIssuer;
let folder: string;
let callers: MatrixCaller[];
let things: Record<SpaceName, Things>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "holdfast-sql-"));
  issuer = await startIssuer();
  stack = await startStack({
    env: { OIDC_ISSUER: issuer.url, OIDC_AUDIENCE: issuer.audience, ...recordingSettings(folder) },
  });
  callers = await makeCallers(stack, issuer);
  const viewer = callers.find(({ name }) => name === "token of viewer")!.token!;
  const [diary, ...made] = await Promise.all([
    makePrivateThings(stack, viewer),
    ...SPACE_NAMES.map((space) => makeThings(stack, space, SPACES[space])),
  ]);
  things = {
    ...(Object.fromEntries(SPACE_NAMES.map((space, at) => [space, made[at]!])) as Record<
      (typeof SPACE_NAMES)[number],
      Things
    >),
    diary,
  };
}, 180_000);

afterAll(async () => {
  await stack.close();
  await issuer.close();
  await rm(folder, { recursive: true, force: true });
});

const send = (caller: MatrixCaller, request: MatrixRequest, id?: string): Promise<Answer> =>
  sendAs(stack.url, caller, request, id);

test("the rules are stated for every route that is not public", () => {
  const routes = API_ROUTES.filter(({ access }) => access !== "public").map(
    ({ method, fullPath }) => `${method} ${fullPath}`,
  );
  expect([...Object.keys(RULES_OF_ROUTES), ...Object.keys(RULES_OF_BATCHES)].toSorted()).toEqual(
    routes.toSorted(),
  );
});

test("every caller gets of every route in every space what the rules say", async () => {
  const cells = Object.entries(RULES_OF_ROUTES).flatMap(([route, { on }]) =>
    callers.flatMap((caller) => {
      // Where no thing is named, or nobody is let in, one space stands for all.
      const spaces = on === "nothing" || caller.standing !== "good" ? SPACE_NAMES.slice(0, 1) : SPACE_NAMES;
      return spaces.map((space) => ({ route, space, caller }));
    }),
  );
  const wrong: string[] = [];
  await inParallel(cells, async ({ route, space, caller }) => {
    const answer = await send(caller, matrixRequest(route, things[space]));
    const fault = faultOf(answer, caller, ruleOf(route, space), space);
    if (fault !== undefined) wrong.push(`${route} in ${space} by ${caller.name} ${fault}`);
  });
  expect(cells.length).toBeGreaterThan(2_000);
  expect(wrong.toSorted()).toEqual([]);
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
      callers.filter(({ name }) => some.includes(name)).map((caller) => ({ route, caller })),
    );
  const wrong: string[] = [];
  await inParallel(cells, async ({ route, caller }) => {
    const fault = faultOf(
      await send(caller, matrixRequest(route, things.diary)),
      caller,
      ruleOf(route, "diary"),
      "diary",
    );
    if (fault !== undefined) wrong.push(`${route} by ${caller.name} ${fault}`);
  });
  expect(cells.length).toBeGreaterThan(150);
  expect(wrong.toSorted()).toEqual([]);
}, 60_000);

const standing = (): MatrixCaller[] => callers.filter((caller) => caller.standing === "good");

test("a batch is its starter's alone", async () => {
  const wrong: string[] = [];
  // Ada's key started those of Research and Archive, and Rob's that of Rival; the keys beside it are other callers of the same person.
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
    for (const [route] of named) {
      for (const caller of outsiders) {
        const what = `${route} by ${caller.name}`;
        const ids = { exists: `exists-${asked.length}`, missing: `missing-${asked.length}` };
        const exists = await send(caller, matrixRequest(route, things.research), ids.exists);
        const unknown = Object.fromEntries(
          Object.entries(things.research).map(([name, value]) => [
            name,
            name.endsWith("_id") ? UNKNOWN_ID : value,
          ]),
        );
        const missing = await send(caller, matrixRequest(route, unknown), ids.missing);
        expect({ what, status: exists.status, body: exists.body }).toEqual({
          what,
          status: missing.status,
          body: missing.body,
        });
        asked.push({ what, ...ids });
      }
    }
    const records = await readRecords(folder);
    const pathOf = (request: string): string[] =>
      records
        .filter(
          (one) =>
            one.request === request &&
            !/authenticate_|touch_caller_keys|append_audit_rows|rate_limits/.test(one.text),
        )
        .map((one) => one.text.replaceAll(/'[0-9a-f-]{36}'|'\d+'/g, "?"));
    for (const { what, exists, missing } of asked)
      expect({ what, statements: pathOf(exists) }).toEqual({ what, statements: pathOf(missing) });
  }, 60_000);
});

describe("a query function in another tenant's transaction", () => {
  test("reads nothing and changes nothing, whatever ids it is given", async () => {
    const admin = callers.find(({ name }) => name === "token of owner")!;
    await liveOn(stack, admin.token!);
    const { db } = stack.database;
    const records = await readRecords(folder);
    const ofTenants = records.filter(({ organization }) => organization !== null);
    const { rows } = await db.owner.query<OrganizationKey>(
      "select id, num from organizations where id = $1",
      [ACME],
    );
    // As the tenant itself they find and change plenty, so that silence elsewhere says something.
    expect((await replayAs(db, rows[0]!, ofTenants)).leaks.length).toBeGreaterThan(50);
    const outcome = await replayAs(db, await makeOrganization(db), ofTenants);
    expect(outcome.leaks).toEqual([]);
    expect(outcome.replayed).toBeGreaterThan(150);
    const effective = recordedFunctions(records);
    expect((await queryFunctions()).filter((name) => !effective.has(name) && !NEEDS_MORE.has(name))).toEqual(
      [],
    );
  }, 120_000);
});
