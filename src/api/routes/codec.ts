/** The codec endpoint: shows operators what Temporal keeps encrypted. Payloads whose key is gone, or that somebody changed, stay as they are. */
import type { Payload } from "@temporalio/common";
import type { Deps } from "../../deps.ts";
import { DomainError } from "../../domain/errors.ts";
import { CodedPayloads } from "../../schema/codec.ts";
import { defineRoute } from "../route.ts";

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
    deps.log.info({ request_id: request.id, operator, payloads: body.payloads.length }, "an operator decrypts payloads");
    return { payloads: await Promise.all(body.payloads.map((payload) => decode(deps, payload))) };
  },
});

const UNREADABLE: ReadonlySet<string> = new Set(["not_found", "corrupt"]);

type Coded = (typeof CodedPayloads)["_output"]["payloads"][number];

async function decode({ dataConverter }: Deps, coded: Coded): Promise<Coded> {
  const payload: Payload = { metadata: fromText(coded.metadata ?? {}), data: Buffer.from(coded.data ?? "", "base64") };
  try {
    const [plain = payload] = (await dataConverter.payloadCodecs?.[0]?.decode([payload])) ?? [];
    return { metadata: toText(plain.metadata ?? {}), data: Buffer.from(plain.data ?? []).toString("base64") };
  } catch (error) {
    if (error instanceof DomainError && UNREADABLE.has(error.code)) return coded;
    throw error;
  }
}

const fromText = (metadata: Readonly<Record<string, string>>): Record<string, Uint8Array> =>
  Object.fromEntries(Object.entries(metadata).map(([name, value]) => [name, Buffer.from(value, "base64")]));

const toText = (metadata: Readonly<Record<string, Uint8Array>>): Record<string, string> =>
  Object.fromEntries(Object.entries(metadata).map(([name, value]) => [name, Buffer.from(value).toString("base64")]));
