/** The search attributes as typed keys, and their registration with a namespace. */
import type { Client } from "@temporalio/client";
import { SearchAttributeType, defineSearchAttributeKey } from "@temporalio/common";
import proto from "@temporalio/proto";
import { SEARCH_ATTRIBUTES } from "../domain/work/search-attributes.ts";
import { withDeadline } from "./connection.ts";

const { INDEXED_VALUE_TYPE_KEYWORD, INDEXED_VALUE_TYPE_KEYWORD_LIST } =
  proto.temporal.api.enums.v1.IndexedValueType;

const keyword = (name: keyof typeof SEARCH_ATTRIBUTES) =>
  defineSearchAttributeKey(name, SearchAttributeType.KEYWORD);
const keywordList = (name: keyof typeof SEARCH_ATTRIBUTES) =>
  defineSearchAttributeKey(name, SearchAttributeType.KEYWORD_LIST);

export const ATTRIBUTES = {
  OrganizationId: keyword("OrganizationId"),
  SpaceId: keywordList("SpaceId"),
  DocumentId: keywordList("DocumentId"),
  AgentId: keyword("AgentId"),
  Stage: keyword("Stage"),
  Outcome: keyword("Outcome"),
  Trigger: keyword("Trigger"),
} satisfies Record<keyof typeof SEARCH_ATTRIBUTES, unknown>;

const INDEXED = { Keyword: INDEXED_VALUE_TYPE_KEYWORD, KeywordList: INDEXED_VALUE_TYPE_KEYWORD_LIST };

/** Registers the search attributes that the namespace lacks. Idempotent. */
export async function registerSearchAttributes(client: Client, namespace: string): Promise<void> {
  const operator = client.connection.operatorService;
  const present = await withDeadline(client, () => operator.listSearchAttributes({ namespace }));
  const missing = Object.entries(SEARCH_ATTRIBUTES).filter(
    ([name]) => !(name in (present.customAttributes ?? {})),
  );
  if (missing.length === 0) return;
  const searchAttributes = Object.fromEntries(missing.map(([name, type]) => [name, INDEXED[type]]));
  await withDeadline(client, () => operator.addSearchAttributes({ namespace, searchAttributes }));
}
