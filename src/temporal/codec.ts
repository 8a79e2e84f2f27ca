/** Encrypts what Temporal stores: each payload under its organization's key, bound to one place. */
import {
  METADATA_ENCODING_KEY,
  type Payload,
  type PayloadCodec,
  type SerializationContext,
} from "@temporalio/common";
import proto from "@temporalio/proto";
import type { DataConverter } from "@temporalio/worker";
import { DomainError } from "../domain/errors.ts";
import {
  FORGED_MESSAGE,
  ONLY,
  type Place,
  type Refusal,
  opened,
  refused,
  takePlace,
} from "../domain/payloads/places.ts";
import { organizationOfWorkflow, scheduledWorkflowOf } from "../domain/work/workflow-ids.ts";
import type { PayloadSealer, Sealed } from "../domain/payloads/sealer.ts";
import { FAILURE_CONVERTER_PATH } from "./workflow-bundle.ts";

const ENCODING = "binary/holdfast-aes256gcm-bound";
/** Longer metadata was not written by us: Temporal's ids have at most 1,000 characters. */
const METADATA_BYTES_MAX = 4_000;

const { Payload: PayloadMessage } = proto.temporal.api.common.v1;

/** What a seal is bound to besides its organization and key. `activityId` is empty outside of activities. */
interface Binding {
  readonly place: Place;
  readonly workflowId: string;
  readonly activityId: string;
}

async function encrypt(
  payload: Payload,
  context: SerializationContext | undefined,
  sealer: PayloadSealer,
): Promise<Payload> {
  const { place, payload: plain } = takePlace(payload);
  const workflowId = context?.workflowId ?? "";
  // Nothing marks heartbeats of activities, nor notes for people.
  const unmarked: Place = { kind: context?.type === "activity" ? "heartbeat" : "note", name: "", slot: ONLY };
  const binding: Binding = { place: place ?? unmarked, workflowId, activityId: activityOf(context) };
  const { organizationId, keyId, sealed } = await sealer.seal(
    organizationOfWorkflow(workflowId),
    PayloadMessage.encode(plain).finish(),
    authenticatedData(binding),
  );
  return {
    metadata: toBytes({
      [METADATA_ENCODING_KEY]: ENCODING,
      ...fieldsOf(binding),
      "key-id": keyId,
      organization: organizationId ?? "",
    }),
    data: sealed,
  };
}

const activityOf = (context: SerializationContext | undefined): string =>
  context?.type === "activity" ? (context.activityId ?? "") : "";

/** The additional authenticated data. Its last member says nothing, but seals of 0.10 have it. */
function authenticatedData({ workflowId, activityId, place }: Binding): string {
  return JSON.stringify([workflowId, activityId, place.kind, place.name, place.slot, null]);
}

/** The same as readable metadata, for operators. */
function fieldsOf({ workflowId, activityId, place: { kind, name, slot } }: Binding): Record<string, string> {
  return {
    "workflow-id": workflowId,
    "activity-id": activityId,
    kind,
    name,
    slot,
  };
}

/** What a payload says about itself. None of it may be trusted before the payload has been decrypted. */
interface Claimed extends Sealed {
  readonly binding: Binding;
}

/** @returns null if it is not a payload of ours. */
function readClaims({ metadata, data }: Payload): Claimed | null {
  const field = (name: string): string => Buffer.from(metadata?.[name] ?? []).toString("utf8");
  if (Object.values(metadata ?? {}).reduce((sum, value) => sum + value.byteLength, 0) > METADATA_BYTES_MAX)
    return null;
  if (field(METADATA_ENCODING_KEY) !== ENCODING) return null;
  const place = { kind: field("kind") as Place["kind"], name: field("name"), slot: field("slot") };
  return {
    organizationId: field("organization") || null,
    keyId: field("key-id"),
    sealed: data ?? new Uint8Array(),
    binding: { place, workflowId: field("workflow-id"), activityId: field("activity-id") },
  };
}

/** @returns why a payload with these claims must not be opened in this context; null if it may be. */
function refusalOfClaims(
  { organizationId, binding }: Claimed,
  context: SerializationContext,
): Refusal | null {
  const workflowId = context.workflowId ?? "";
  // For an organization whose key is gone the instance's key is used.
  if (organizationId !== null && organizationId !== organizationOfWorkflow(workflowId)) return "moved";
  const isScheduled =
    binding.place.kind === "input" && binding.workflowId === scheduledWorkflowOf(workflowId);
  if (binding.workflowId !== workflowId && !isScheduled) return "moved";
  return binding.activityId === activityOf(context) ? null : "moved";
}

async function openClaimed(claimed: Claimed, sealer: PayloadSealer): Promise<Payload> {
  return PayloadMessage.decode(await sealer.open(claimed, authenticatedData(claimed.binding)));
}

/** Replaces a refused payload: only its own workflow or activity fails. @throws only for an outage. */
async function decodeForWorker(
  payload: Payload,
  context: SerializationContext | undefined,
  sealer: PayloadSealer,
): Promise<Payload> {
  const claimed = readClaims(payload);
  if (claimed === null) return refused("unsealed");
  if (context?.workflowId === undefined) return refused("moved");
  const refusal = refusalOfClaims(claimed, context);
  if (refusal !== null) return refused(refusal);
  try {
    return opened(await openClaimed(claimed, sealer), { form: "bound", place: claimed.binding.place });
  } catch (error) {
    return refused(refusalOfError(error));
  }
}

/** @throws the error, unless the payload is to blame for it: a retry may help then. */
function refusalOfError(error: unknown): Refusal {
  if (error instanceof DomainError && error.code === "not_found") return "key_gone";
  if (error instanceof DomainError && error.code === "corrupt") return "damaged";
  throw error;
}

/** Without a context, as for an operator, a payload is opened as what it claims, or returned as it is. */
async function decodeForClient(
  payload: Payload,
  context: SerializationContext | undefined,
  sealer: PayloadSealer,
): Promise<Payload> {
  const claimed = readClaims(payload);
  if (claimed === null && context === undefined) return payload;
  if (claimed === null || (context !== undefined && refusalOfClaims(claimed, context) !== null))
    throw new DomainError("corrupt", FORGED_MESSAGE);
  return openClaimed(claimed, sealer);
}

function toBytes(fields: Readonly<Record<string, string>>): Record<string, Uint8Array> {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, Buffer.from(value)]));
}

const PAYLOAD_CONVERTER_PATH = new URL("seals/payload-converter.ts", import.meta.url).pathname;

/**
 * For clients: encrypts every argument, result and failure. Workflow ids, search attributes and type names
 * stay readable. Its decoding throws an outage if keys cannot be read, and `corrupt` for a payload that was
 * not sealed for the workflow it is read from.
 */
export function createDataConverter(sealer: PayloadSealer): DataConverter {
  return converterOf({
    encode: (payloads, context) => encodeAll(payloads, context, sealer),
    decode: (payloads, context) =>
      Promise.all(payloads.map((payload) => decodeForClient(payload, context, sealer))),
  });
}

/** For workers: passes on what each payload was sealed for, for its user to check; replaces refused ones. */
export function createWorkerDataConverter(sealer: PayloadSealer): DataConverter {
  return converterOf({
    encode: (payloads, context) => encodeAll(payloads, context, sealer),
    decode: (payloads, context) =>
      Promise.all(payloads.map((payload) => decodeForWorker(payload, context, sealer))),
  });
}

async function encodeAll(
  payloads: Payload[],
  context: SerializationContext | undefined,
  sealer: PayloadSealer,
): Promise<Payload[]> {
  return Promise.all(payloads.map((payload) => encrypt(payload, context, sealer)));
}

function converterOf(codec: PayloadCodec): DataConverter {
  return {
    payloadCodecs: [codec],
    failureConverterPath: FAILURE_CONVERTER_PATH,
    payloadConverterPath: PAYLOAD_CONVERTER_PATH,
  };
}
