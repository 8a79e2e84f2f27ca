/** The only place that encrypts what Temporal keeps: every payload under the key of the organization that the workflow belongs to. */
import { METADATA_ENCODING_KEY, type Payload, type PayloadCodec } from "@temporalio/common";
import proto from "@temporalio/proto";
import type { DataConverter } from "@temporalio/worker";
import { organizationOfWorkflow } from "../domain/workflow-ids.ts";

const ENCODING = "binary/holdfast-aes256gcm";

/** Seals payloads with AES-256-GCM; a null organization stands for workflows that serve several. */
export interface PayloadSealer {
  seal(organizationId: string | null, bytes: Uint8Array): Promise<{ organizationId: string | null; keyId: string; sealed: Uint8Array }>;
  /** @throws DomainError `not_found` where the key was deleted with its organization, `corrupt` where a bit was changed. */
  open(organizationId: string | null, keyId: string, sealed: Uint8Array): Promise<Uint8Array>;
}

const { Payload: PayloadMessage } = proto.temporal.api.common.v1;
const fromBytes = (bytes: Uint8Array | null | undefined): string => Buffer.from(bytes ?? []).toString("utf8");

async function encrypt(payload: Payload, organizationId: string | null, sealer: PayloadSealer): Promise<Payload> {
  const { organizationId: owner, keyId, sealed } = await sealer.seal(organizationId, PayloadMessage.encode(payload).finish());
  const metadata = { [METADATA_ENCODING_KEY]: ENCODING, "key-id": keyId, organization: owner ?? "" };
  return { metadata: Object.fromEntries(Object.entries(metadata).map(([name, value]) => [name, Buffer.from(value)])), data: sealed };
}

async function decrypt(payload: Payload, sealer: PayloadSealer): Promise<Payload> {
  const metadata = payload.metadata ?? {};
  if (fromBytes(metadata[METADATA_ENCODING_KEY]) !== ENCODING) return payload;
  const organizationId = fromBytes(metadata["organization"]) || null;
  return PayloadMessage.decode(await sealer.open(organizationId, fromBytes(metadata["key-id"]), payload.data ?? new Uint8Array()));
}

function createPayloadCodec(sealer: PayloadSealer): PayloadCodec {
  return {
    encode: (payloads, context) => {
      const workflowId = context && "workflowId" in context ? context.workflowId : undefined;
      const organizationId = workflowId === undefined ? null : organizationOfWorkflow(workflowId);
      return Promise.all(payloads.map((payload) => encrypt(payload, organizationId, sealer)));
    },
    decode: (payloads) => Promise.all(payloads.map((payload) => decrypt(payload, sealer))),
  };
}

/** The module that makes failure messages and stacks payloads too, so that they are encrypted; given to bundles as well. */
export const FAILURE_CONVERTER_PATH = new URL("failure-converter.cjs", import.meta.url).pathname;

/** Encrypts every argument, result and failure. Workflow ids, search attributes and type names stay readable. */
export function createDataConverter(sealer: PayloadSealer): DataConverter {
  return { payloadCodecs: [createPayloadCodec(sealer)], failureConverterPath: FAILURE_CONVERTER_PATH };
}
