/**
 * The codec endpoint: shows operators what Temporal keeps encrypted, and tells each organization whose payloads were opened. Payloads
 * whose key is gone, or that somebody changed, stay as they are.
 */
import { METADATA_ENCODING_KEY, type Payload } from "@temporalio/common";
import { appendDecryption } from "../../../db/audit/append.ts";
import type { Deps } from "../../deps.ts";
import { DomainError } from "../../../domain/errors.ts";
import { Uuid } from "../../../schema/common.ts";
import { CodedPayloads } from "../../../schema/codec.ts";
import { defineRoute } from "../../route.ts";

export const decodePayloads = defineRoute({
  method: "POST",
  path: "/codec/decode",
  isUnversioned: true,
  isDocumented: false,
  access: "operator",
  status: 200,
  summary: "Decrypt payloads of workflows, for Temporal's Web UI.",
  tags: ["Operations"],
  body: CodedPayloads,
  response: CodedPayloads,
  async handle({ deps, operator, body, request }) {
    deps.log.info(
      { request_id: request.id, operator, payloads: body.payloads.length },
      "an operator decrypts payloads",
    );
    const payloads = await Promise.all(body.payloads.map((payload) => decode(deps, payload)));
    const organizationIds = openedOrganizations(body.payloads, payloads);
    // Before the answer leaves: what cannot be written down is not shown.
    await appendDecryption(deps.db, organizationIds, { operator, requestId: request.id });
    return { payloads };
  },
});

/** The organizations under whose keys a payload was opened, each once. What a payload says of itself proves nothing before it opens. */
function openedOrganizations(sent: readonly Coded[], answered: readonly Coded[]): string[] {
  const opened = sent.filter(
    (payload, at) =>
      payload.metadata?.[METADATA_ENCODING_KEY] !== answered[at]?.metadata?.[METADATA_ENCODING_KEY],
  );
  return [...new Set(opened.map(namedOrganization))].filter((id) => id !== "");
}

/** Empty for payloads under the instance's key. */
function namedOrganization({ metadata }: Coded): string {
  return Buffer.from(metadata?.["organization"] ?? "", "base64").toString();
}

const UNREADABLE: ReadonlySet<string> = new Set(["not_found", "corrupt"]);

type Coded = (typeof CodedPayloads)["_output"]["payloads"][number];

/** False where the payload names an organization by what is no id: nothing of ours. */
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
