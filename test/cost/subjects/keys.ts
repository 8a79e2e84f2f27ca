/**
 * Readers of keys, addresses, sealed payloads, anchors and provisioning files as subjects of the cost test.
 */
import { createSecretKey, randomBytes } from "node:crypto";
import type { Payload } from "@temporalio/common";
import { isWellFormedKey, keysIn } from "../../../src/auth/api-keys.ts";
import { openAnchor } from "../../../src/auth/audit-anchor.ts";
import { canonicalCidr, isWithin, networksOf } from "../../../src/domain/tenancy/cidr.ts";
import { ProvisionError } from "../../../src/domain/tenancy/provision-error.ts";
import { AnchorStatementForm } from "../../../src/schema/files/anchor.ts";
import { parseProvisionFile } from "../../../src/schema/files/provision.ts";
import { createPayloadSealer } from "../../../src/storage/keys/payload-sealer.ts";
import { createWorkerDataConverter } from "../../../src/temporal/codec.ts";
import { named, numbered, repeat, repeated, type Shape } from "../shape.ts";
import type { Subject } from "./subject.ts";

const KEYS: readonly Shape[] = [
  ...["sk-hf-", "sk-", "\0", ",", "'\"", "a"].map((unit) => repeated(unit)),
  named("almost keys", (length) => repeat(`sk-hf-${"a".repeat(48)}-`, length)),
  named("keys with a wrong checksum", (length) => repeat(`sk-hf-${"a".repeat(49)},`, length)),
  repeated("a", "sk-hf-"),
  numbered("keys that all differ", (index) => `sk-${index.toString(36).padStart(60, "0")} `),
];

const ADDRESSES: readonly Shape[] = [
  ...["1.", ":", "f:", "9", "192.0.2.1, "].map((unit) => repeated(unit)),
  repeated("0", "::ffff:"),
  repeated("1", "192.0.2.0/"),
];
/** The maximum number of networks of a key. */
const NETWORKS = networksOf(Array.from({ length: 50 }, (_, index) => `2001:db8:${index.toString(16)}::/48`));

const key = { id: "01900000-0000-7000-8000-000000000020", secret: createSecretKey(randomBytes(32)) };
const sealer = createPayloadSealer(
  { current: async () => key, byId: async () => key, forget: () => undefined },
  randomBytes(32),
);
const [worker] = createWorkerDataConverter(sealer).payloadCodecs!;
const ORGANIZATION = "01900000-0000-7000-8000-000000000010";
const WORKFLOW = `delete/${ORGANIZATION}/01900000-0000-7000-8000-000000000011`;
const CLAIMS = {
  encoding: "binary/holdfast-aes256gcm-bound",
  organization: ORGANIZATION,
  "key-id": key.id,
  "workflow-id": WORKFLOW,
  kind: "input",
  name: "x",
  slot: "1/1",
};
const payloadOf = (metadata: Record<string, string>, data = "x"): Payload => ({
  metadata: Object.fromEntries(Object.entries(metadata).map(([name, value]) => [name, Buffer.from(value)])),
  data: Buffer.from(data),
});
/** The places in a payload where anybody who may call Temporal can put any text. */
const PAYLOADS: Readonly<Record<string, (text: string) => Payload[]>> = {
  data: (text) => [payloadOf(CLAIMS, text)],
  organization: (text) => [payloadOf({ ...CLAIMS, organization: text })],
  "workflow id": (text) => [payloadOf({ ...CLAIMS, "workflow-id": text })],
  "many fields": (text) => [
    payloadOf({
      ...CLAIMS,
      ...Object.fromEntries(Array.from({ length: Math.ceil(text.length / 8) }, (_, at) => [`k${at}`, ""])),
    }),
  ],
  number: (text) => Array.from({ length: Math.ceil(text.length / 64) }, () => payloadOf(CLAIMS)),
};
const ANCHOR_KEY = randomBytes(32);
const HEAD = `{"organization_id":"${ORGANIZATION}","seq":1},`;

const PROVISIONING: readonly Shape[] = [
  repeated('{"name":"A"},', '{"organizations":[', '{"name":"B"}]}'),
  numbered(
    "users",
    (at) => `{"email":"u${at}@a.example","api_keys":[{"name":"k","key":"sk-${at}","allowed_cidrs":["x"]}]},`,
    '{"organizations":[{"name":"A","users":[',
    '{"email":"z@a.example"}]}]}',
  ),
  repeated("${A}", '{"organizations":[{"name":"', '"}]}'),
  repeated("${", '{"organizations":[{"name":"', '"}]}'),
  repeated("\\u0000", '{"organizations":[{"name":"', '"}]}'),
];

export const keySubjects = async (): Promise<Subject[]> => [
  { name: "keys in what was found", shapes: KEYS, run: (text) => keysIn(text as string) },
  { name: "a network", shapes: ADDRESSES, run: (text) => canonicalCidr(text as string) },
  {
    name: "an address against a key's networks",
    shapes: ADDRESSES,
    maxLength: 16_384,
    run: (text) => isWithin(NETWORKS, text as string),
  },
  ...Object.entries(PAYLOADS).map(([name, prepare]): Subject => ({
    name: `payload for a worker, its ${name}`,
    shapes: [repeated("a"), repeated("0190-"), repeated("/")],
    prepare,
    run: (payloads) =>
      worker!.decode(payloads as Payload[], { type: "workflow", namespace: "default", workflowId: WORKFLOW }),
  })),
  {
    name: "an anchor",
    shapes: [repeated("."), repeated("a."), repeated("A", "eyJhbGciOiJFZERTQSJ9.", ".AA")],
    run: (text) => openAnchor(ANCHOR_KEY, text as string),
  },
  {
    name: "the statement of an anchor",
    shapes: [repeated("{},", "[", "{}]"), repeated(HEAD, "[", "{}]"), repeated("1,", "[", "1]")],
    run: (text) =>
      AnchorStatementForm.safeParse({
        type: "holdfast-audit-anchor",
        version: 1,
        made_at: "2026-01-01T00:00:00Z",
        heads: JSON.parse(text as string),
      }).success,
  },
  {
    name: "a provisioning file",
    shapes: PROVISIONING,
    run(text) {
      try {
        return parseProvisionFile(text as string, { environment: { A: "x" }, isKey: isWellFormedKey });
      } catch (error) {
        if (error instanceof ProvisionError) return error.message.length;
        throw error;
      }
    },
  },
];
