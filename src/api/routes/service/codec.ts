/**
 * The codec endpoint for Temporal's Web UI: decrypts payloads for operators, and writes that into the audit
 * log of each organization concerned. Payloads whose key was destroyed, or that were changed, stay encrypted.
 * @see https://docs.temporal.io/codec-server
 */
import { METADATA_ENCODING_KEY, type Payload } from "@temporalio/common";
import { appendDecryption } from "../../../db/audit/append.ts";
import type { Deps } from "../../deps.ts";
import { DomainError } from "../../../domain/errors.ts";
import { Uuid } from "../../../schema/fields.ts";
import { CodedPayloads } from "../../../schema/codec.ts";
import { defineRoute } from "../../route.ts";

export const decodePayloads = defineRoute("POST /codec/decode", {
  isUnversioned: true,
  isDocumented: false,
  access: "operator",
  summary: "Decrypt payloads of workflows, for Temporal's Web UI.",
  body: CodedPayloads,
  response: CodedPayloads,
  async handle({ deps, operator, body, request }) {
    deps.log.info(
      { request_id: request.id, operator, payloads: body.payloads.length },
      "an operator is decrypting payloads",
    );
    const payloads = await Promise.all(body.payloads.map((payload) => decode(deps, payload)));
    const organizationIds = openedOrganizations(body.payloads, payloads);
    // Written before the answer is sent: a decryption that cannot be audited is not shown.
    await appendDecryption(deps.db, organizationIds, { operator, requestId: request.id });
    return { payloads };
  },
});

/** The organizations whose payloads were decrypted. A payload's id counts only if its key decrypts it. */
function openedOrganizations(sent: readonly Coded[], answered: readonly Coded[]): string[] {
  const opened = sent.filter(
    (payload, at) =>
      payload.metadata?.[METADATA_ENCODING_KEY] !== answered[at]?.metadata?.[METADATA_ENCODING_KEY],
  );
  return [...new Set(opened.map(namedOrganization))].filter((id) => id !== "");
}

/** Empty for payloads that are encrypted with the instance's key. */
function namedOrganization({ metadata }: Coded): string {
  return Buffer.from(metadata?.["organization"] ?? "", "base64").toString();
}

const UNREADABLE: ReadonlySet<string> = new Set(["not_found", "corrupt"]);

type Coded = (typeof CodedPayloads)["_output"]["payloads"][number];

/** False if the payload names an organization by something else than an id: Holdfast did not write it. */
function mayHaveKey(coded: Coded): boolean {
  const organization = namedOrganization(coded);
  return organization === "" || Uuid.safeParse(organization).success;
}

async function decode({ dataConverter }: Deps, coded: Coded): Promise<Coded> {
  if (!mayHaveKey(coded)) return coded;
  const payload: Payload = {
    metadata: fromText(coded.metadata ?? {}),
    data: Buffer.from(coded.data ?? "", "base64"),
  };
  try {
    const [plain = payload] = (await dataConverter.payloadCodecs?.[0]?.decode([payload])) ?? [];
    return shown(plain);
  } catch (error) {
    if (error instanceof DomainError && UNREADABLE.has(error.code)) return coded;
    throw error;
  }
}

function shown({ metadata, data }: Payload): Coded {
  return { metadata: toText(metadata ?? {}), data: Buffer.from(data ?? []).toString("base64") };
}

const fromText = (metadata: Readonly<Record<string, string>>): Record<string, Uint8Array> =>
  Object.fromEntries(Object.entries(metadata).map(([name, value]) => [name, Buffer.from(value, "base64")]));

const toText = (metadata: Readonly<Record<string, Uint8Array>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(metadata).map(([name, value]) => [name, Buffer.from(value).toString("base64")]),
  );
