/** The only list of search attributes. They are readable by everyone who sees the namespace: ids and states, never names. */
import type { Client } from "@temporalio/client";
import proto from "@temporalio/proto";
import { withDeadline } from "./connection.ts";

const { INDEXED_VALUE_TYPE_KEYWORD, INDEXED_VALUE_TYPE_KEYWORD_LIST } = proto.temporal.api.enums.v1.IndexedValueType;

const SEARCH_ATTRIBUTES = {
  OrganizationId: INDEXED_VALUE_TYPE_KEYWORD,
  SpaceId: INDEXED_VALUE_TYPE_KEYWORD_LIST,
  DocumentId: INDEXED_VALUE_TYPE_KEYWORD_LIST,
  AgentId: INDEXED_VALUE_TYPE_KEYWORD,
  Stage: INDEXED_VALUE_TYPE_KEYWORD,
  Outcome: INDEXED_VALUE_TYPE_KEYWORD,
  Trigger: INDEXED_VALUE_TYPE_KEYWORD,
};

/** Registers with the namespace those that it does not have yet. Idempotent. */
export async function registerSearchAttributes(client: Client, namespace: string): Promise<void> {
  const operator = client.connection.operatorService;
  const present = await withDeadline(client, () => operator.listSearchAttributes({ namespace }));
  const missing = Object.entries(SEARCH_ATTRIBUTES).filter(([name]) => !(name in (present.customAttributes ?? {})));
  if (missing.length === 0) return;
  await withDeadline(client, () => operator.addSearchAttributes({ namespace, searchAttributes: Object.fromEntries(missing) }));
}
