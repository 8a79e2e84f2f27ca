/** The only list of search attributes. They are readable by everyone who sees the namespace: ids and states, never names. */
import type { Client } from "@temporalio/client";
import { SearchAttributeType, defineSearchAttributeKey } from "@temporalio/common";
import proto from "@temporalio/proto";
import { withDeadline } from "./connection.ts";

const { INDEXED_VALUE_TYPE_KEYWORD, INDEXED_VALUE_TYPE_KEYWORD_LIST } = proto.temporal.api.enums.v1.IndexedValueType;

/** Ids of what the workflow works on, what started it, where it is, and how it ended. */
export const ATTRIBUTES = {
  OrganizationId: defineSearchAttributeKey("OrganizationId", SearchAttributeType.KEYWORD),
  SpaceId: defineSearchAttributeKey("SpaceId", SearchAttributeType.KEYWORD_LIST),
  DocumentId: defineSearchAttributeKey("DocumentId", SearchAttributeType.KEYWORD_LIST),
  AgentId: defineSearchAttributeKey("AgentId", SearchAttributeType.KEYWORD),
  Stage: defineSearchAttributeKey("Stage", SearchAttributeType.KEYWORD),
  Outcome: defineSearchAttributeKey("Outcome", SearchAttributeType.KEYWORD),
  Trigger: defineSearchAttributeKey("Trigger", SearchAttributeType.KEYWORD),
};

const INDEXED = { KEYWORD: INDEXED_VALUE_TYPE_KEYWORD, KEYWORD_LIST: INDEXED_VALUE_TYPE_KEYWORD_LIST };

/** Registers with the namespace those that it does not have yet. Idempotent. */
export async function registerSearchAttributes(client: Client, namespace: string): Promise<void> {
  const operator = client.connection.operatorService;
  const present = await withDeadline(client, () => operator.listSearchAttributes({ namespace }));
  const missing = Object.values(ATTRIBUTES).filter(({ name }) => !(name in (present.customAttributes ?? {})));
  if (missing.length === 0) return;
  const searchAttributes = Object.fromEntries(missing.map(({ name, type }) => [name, INDEXED[type as keyof typeof INDEXED]]));
  await withDeadline(client, () => operator.addSearchAttributes({ namespace, searchAttributes }));
}
