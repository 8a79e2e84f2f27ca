/** Items of stored responses: each response is opened once, and what was asked is not read for them. */
import { createSecretKey } from "node:crypto";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import type { ResponsesDeps } from "../../../src/api/responses/deps.ts";
import type { ResponseObject } from "../../../src/api/responses/items.ts";
import { itemId } from "../../../src/api/responses/items.ts";
import { InputReading } from "../../../src/api/responses/reading.ts";
import { sealRequest, sealResponse } from "../../../src/api/responses/sealed.ts";
import { type ResponseStore, createResponseStore, itemIdsOf } from "../../../src/api/responses/store.ts";
import type { OrganizationKey } from "../../../src/db/pool.ts";
import { putResponse } from "../../../src/db/responses/responses.ts";
import { newId } from "../../../src/domain/ids.ts";
import type { Principal } from "../../../src/domain/tenancy/principal.ts";
import { type TestDatabase, createTestDatabase } from "../../support/servers/database.ts";
import { makeOrganization } from "../../support/tenants/callers.ts";

let database: TestDatabase;
let organization: OrganizationKey;
let principal: Principal;
let deps: ResponsesDeps;
let store: ResponseStore;
let opened: string[] = [];

beforeAll(async () => {
  database = await createTestDatabase();
  organization = await makeOrganization(database.db);
  principal = {
    organization,
    user: { id: newId() },
    apiKeyId: null,
    reach: new Map(),
  } as unknown as Principal;
  const key = { id: newId(), secret: createSecretKey(Buffer.alloc(32, 1)) };
  const keyring = {
    current: async () => key,
    async byId(_organization: string, id: string) {
      opened.push(id);
      return key;
    },
  };
  deps = { db: database.db, keyring, log: console } as unknown as ResponsesDeps;
  store = createResponseStore(deps);
});
afterAll(() => database.drop());
beforeEach(() => {
  opened = [];
});

/** @returns the ids of the messages of a response that is kept. */
async function keep(texts: readonly string[], documentIds: readonly string[] = []): Promise<string[]> {
  const id = newId();
  const output = texts.map((text) => ({
    id: itemId("msg", newId()),
    type: "message",
    role: "assistant",
    status: "completed",
    content: [{ type: "output_text", text, annotations: [], logprobs: [] }],
  }));
  const ended = { id, status: "completed", output } as unknown as ResponseObject;
  const response = {
    id,
    organization,
    callerId: principal.user.id,
    userId: principal.user.id,
    apiKeyId: null,
    isBackground: false,
    apiProcessId: newId(),
    documentIds,
    createdAt: new Date(),
    keptHours: 24,
  };
  const request = await sealRequest(deps, organization.id, id, {} as never);
  const sealed = await sealResponse(deps, organization.id, id, ended);
  const end = { ...sealed, status: "completed" as const, itemIds: itemIdsOf(ended) };
  await putResponse(database.db, response, request, end);
  return output.map(({ id: one }) => one);
}

const readingOf = (referredIds: readonly string[], signal = new AbortController().signal) =>
  new InputReading(
    { deps, store, files: {} as never },
    { principal, signal, lookUp: async () => principal, referredIds },
  );

it("opens a response once for all of its items, however often they are referred to", async () => {
  const ids = [...(await keep(["a", "b"])), ...(await keep(["c"]))];
  const reading = readingOf(ids);
  const found = [];
  for (const id of [...ids, ...ids, ...ids]) found.push(await reading.reference(id, "input"));
  expect(found.map((item) => item?.id)).toEqual([...ids, ...ids, ...ids]);
  expect(opened).toHaveLength(2);
});

it("bounds the characters that they bring, each as often as it is referred to", async () => {
  const ids = await keep(["x".repeat(1_024 * 1_024)]);
  const reading = readingOf(ids);
  await reading.reference(ids[0]!, "input[0].id");
  await expect(reading.reference(ids[0]!, "input[1].id")).rejects.toMatchObject({
    code: "bad_request",
    param: "input[1].id",
  });
});

it("finds none whose documents are out of reach, and asks for them once", async () => {
  const ids = await keep(["a", "b"], [newId()]);
  const reading = readingOf(ids);
  for (const id of ids) expect(await reading.reference(id, "input")).toBeUndefined();
  expect([...reading.documentIds]).toEqual([]);
  expect(opened).toEqual([]);
});

it("finds none of other callers, and none that is no id of ours", async () => {
  const [id = ""] = await keep(["a"]);
  principal = { ...principal, user: { ...principal.user, id: newId() } };
  const reading = readingOf([id, "msg_1"]);
  expect(await reading.reference(id, "input")).toBeUndefined();
  expect(await reading.reference("msg_1", "input")).toBeUndefined();
});

it("opens nothing more for a client that has left", async () => {
  const [id = ""] = await keep(["a"]);
  await expect(readingOf([id], AbortSignal.abort()).reference(id, "input")).rejects.toMatchObject({
    name: "AbortError",
  });
  expect(opened).toEqual([]);
});
