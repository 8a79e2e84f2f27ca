/** A sealed payload that was moved, changed or used outside its time is refused, whoever asks. */
import { createSecretKey, randomBytes, randomUUID } from "node:crypto";
import {
  ApplicationFailure,
  type Payload,
  type SerializationContext,
  defaultPayloadConverter,
} from "@temporalio/common";
import {
  encodeErrorToFailure,
  encodeToPayload,
  loadDataConverter,
} from "@temporalio/common/lib/internal-non-workflow/index.js";
import { expect, test } from "vitest";
import { type Place, openedOf, placed } from "../../src/domain/payloads/places.ts";
import { deletionWorkflowId, scheduledWorkflowOf } from "../../src/domain/work/workflow-ids.ts";
import { createPayloadSealer } from "../../src/storage/keys/payload-sealer.ts";
import { createDataConverter, createWorkerDataConverter } from "../../src/temporal/codec.ts";
import { processIdentity, processOf } from "../../src/temporal/seals/identity.ts";

const secret = createSecretKey(randomBytes(32));
const current = { id: randomUUID(), secret };
const keyring = { current: async () => current, byId: async () => current, forget: () => undefined };
const sealer = createPayloadSealer(keyring, randomBytes(32));
const [client] = createDataConverter(sealer).payloadCodecs!;
const [worker] = createWorkerDataConverter(sealer).payloadCodecs!;

const place: Place = { kind: "input", name: "deleteTarget", slot: "1/1" };
const workflow = (workflowId: string): SerializationContext => ({
  type: "workflow",
  namespace: "default",
  workflowId,
});
const activity = (workflowId: string, activityId: string): SerializationContext => ({
  type: "activity",
  namespace: "default",
  workflowId,
  activityId,
  isLocal: false,
});
const plain = defaultPayloadConverter.toPayload({ deletionId: "secret-text" });
const own = deletionWorkflowId(randomUUID(), randomUUID());

async function seal(context: SerializationContext, given: Place = place): Promise<Payload> {
  return (await client!.encode([placed(plain, given)], context))[0]!;
}

/** Decodes a payload as a worker does. */
async function found(payload: Payload, context: SerializationContext | undefined) {
  const [decoded] = await worker!.decode([payload], context);
  return { found: openedOf(decoded), text: Buffer.from(decoded!.data!).toString() };
}

const refusedAs = (refusal: string) => ({ found: { form: "refused", refusal }, text: "null" });
const as = (payload: Payload, metadata: Record<string, string>): Payload => ({
  ...payload,
  metadata: {
    ...payload.metadata,
    ...Object.fromEntries(Object.entries(metadata).map(([name, value]) => [name, Buffer.from(value)])),
  },
});

test("a worker opens what was sealed for the workflow, and learns for which place", async () => {
  expect(await found(await seal(workflow(own)), workflow(own))).toEqual({
    found: { form: "bound", place },
    text: '{"deletionId":"secret-text"}',
  });
});

test("a payload opens in no other workflow, organization or activity, nor without a context", async () => {
  const sealed = await seal(workflow(own));
  const [kind, organization] = own.split("/");
  for (const other of [
    `${kind}/${organization}/${randomUUID()}`,
    deletionWorkflowId(randomUUID(), own.split("/")[2]!),
    `${own}-2026-01-01T00:00:00Z`,
  ])
    expect(await found(sealed, workflow(other))).toEqual(refusedAs("moved"));
  expect(await found(sealed, activity(own, "1"))).toEqual(refusedAs("moved"));
  expect(await found(await seal(activity(own, "1")), activity(own, "2"))).toEqual(refusedAs("moved"));
  expect(await found(sealed, undefined)).toEqual(refusedAs("moved"));
});

test("whatever is changed of what a payload says of itself, it does not open", async () => {
  const sealed = await seal(workflow(own));
  const other = deletionWorkflowId(own.split("/")[1]!, randomUUID());
  expect(await found(as(sealed, { "workflow-id": other }), workflow(other))).toEqual(refusedAs("damaged"));
  for (const change of [
    { kind: "signal" },
    { name: "operation" },
    { slot: "1/2" },
    { "key-id": randomUUID() },
  ])
    expect(await found(as(sealed, change), workflow(own))).toEqual(refusedAs("damaged"));
  const ofOne = await seal(activity(own, "1"));
  expect(await found(as(ofOne, { "activity-id": "2" }), activity(own, "2"))).toEqual(refusedAs("damaged"));
  // This payload names the instance's key but was not sealed with it.
  expect(await found(as(sealed, { organization: "" }), workflow(own))).toEqual(refusedAs("damaged"));
  expect(await found(as(sealed, { organization: randomUUID() }), workflow(own))).toEqual(refusedAs("moved"));
});

test("a plain payload, and one whose metadata is too long, is not looked into", async () => {
  expect(await found(plain, workflow(own))).toEqual(refusedAs("unsealed"));
  const unknown = as(await seal(workflow(own)), { encoding: "binary/holdfast-aes256gcm" });
  expect(await found(unknown, workflow(own))).toEqual(refusedAs("unsealed"));
  // Notes that the codec itself writes for the sandbox are not accepted from outside.
  expect(await found(placed(plain, place), workflow(own))).toEqual(refusedAs("unsealed"));
  expect(await found(as(await seal(workflow(own)), { more: "x".repeat(4_000) }), workflow(own))).toEqual(
    refusedAs("unsealed"),
  );
});

test("the input of a schedule opens in the workflows that it starts, and nowhere else", async () => {
  const sealed = await seal(workflow("maintenance"), { ...place, name: "maintenance" });
  const started = "maintenance-2026-11-22T21:10:00Z";
  expect(scheduledWorkflowOf(started)).toBe("maintenance");
  expect(await found(sealed, workflow(started))).toMatchObject({ found: { form: "bound" } });
  for (const other of [
    "maintenance-thorough-2026-11-22T21:10:00Z",
    "maintenance-x",
    `${own}-2026-11-22T21:10:00Z`,
  ])
    expect(await found(sealed, workflow(other))).toEqual(refusedAs("moved"));
  const signal = await seal(workflow("maintenance"), { ...place, kind: "signal" });
  expect(await found(signal, workflow(started))).toEqual(refusedAs("moved"));
});

test("a client reads the workflow that it asks about; an operator's view reads any", async () => {
  const sealed = await seal(workflow(own));
  const read = async (payloads: Payload[], context?: SerializationContext) =>
    (await client!.decode(payloads, context)).map((payload) => defaultPayloadConverter.fromPayload(payload));
  expect(await read([sealed], workflow(own))).toEqual([{ deletionId: "secret-text" }]);
  expect(await read([sealed, plain])).toEqual([{ deletionId: "secret-text" }, { deletionId: "secret-text" }]);
  await expect(client!.decode([plain], workflow(own))).rejects.toMatchObject({ code: "corrupt" });
  await expect(client!.decode([sealed], workflow(`${own}0`))).rejects.toMatchObject({ code: "corrupt" });
  await expect(client!.decode([as(sealed, { kind: "signal" })])).rejects.toMatchObject({ code: "corrupt" });
});

test("failures, heartbeats and notes are each sealed as what they are", async () => {
  const converter = loadDataConverter(createDataConverter(sealer));
  const kindOf = (payload: Payload | null | undefined): string =>
    Buffer.from(payload!.metadata!["kind"]!).toString();
  const failure = await encodeErrorToFailure(
    converter,
    ApplicationFailure.create({ message: "text", details: ["more"], cause: new Error("why") }),
    activity(own, "1"),
  );
  const { encodedAttributes, applicationFailureInfo, cause } = failure;
  expect(
    [encodedAttributes, applicationFailureInfo?.details?.payloads?.[0], cause?.encodedAttributes].map(kindOf),
  ).toEqual(["failure", "failure", "failure"]);
  expect(kindOf(await encodeToPayload(converter, { text: "alive" }, activity(own, "1")))).toBe("heartbeat");
  expect(kindOf(await encodeToPayload(converter, "a summary", workflow(own)))).toBe("note");
});

test("the process of a worker is known by its identity, also that of a worker of 0.10", () => {
  expect(processOf(processIdentity())).toBe(processIdentity());
  expect(processOf("4711@a-machine/bound-payloads")).toBe("4711@a-machine");
});
