/** Completes arguments: spaces, documents and agents by the beginning of their name or id. */
import { isUuid } from "../../domain/ids.ts";
import { searchForSpaces } from "../routes/spaces/spaces.ts";
import { callRoute, type McpCall } from "./call.ts";
import { ASK_PROMPT, pageOfAgents } from "./prompts.ts";
import { pageOfDocuments } from "./tools/reading.ts";
import { DOCUMENT_TEMPLATE, PART_TEMPLATE } from "./uris.ts";

/** The protocol's own bound. */
const MAX_VALUES = 100;
const MAX_CHARACTERS = 255;
const HALF_AT_THE_END = /[\uD800-\uDBFF]$/;

interface Asked {
  readonly ref: { readonly type: string; readonly name?: string; readonly uri?: string };
  readonly argument: { readonly name: string; readonly value: string };
  readonly context?: { readonly arguments?: Readonly<Record<string, string>> | undefined } | undefined;
}

interface Found {
  readonly values: readonly string[];
  readonly total: number;
}

const NOTHING: Found = { values: [], total: 0 };

export async function complete(call: McpCall, { ref, argument, context }: Asked) {
  const value = argument.value.slice(0, MAX_CHARACTERS).replace(HALF_AT_THE_END, "");
  const { values, total } = await find(call, { ref, argument: { ...argument, value }, context });
  return { completion: { values: [...values], total, hasMore: total > values.length } };
}

async function find(call: McpCall, { ref, argument: { name, value }, context }: Asked): Promise<Found> {
  if (ref.type === "ref/prompt") {
    const isAgent = ref.name === ASK_PROMPT && name === "agent_id";
    return isAgent ? agents(call, value) : NOTHING;
  }
  if (ref.uri !== DOCUMENT_TEMPLATE && ref.uri !== PART_TEMPLATE) return NOTHING;
  if (name === "space_id") return spaces(call, value);
  return name === "document_id" ? documents(call, value, context?.arguments?.["space_id"]) : NOTHING;
}

/** Hexadecimal digits and dashes may begin an id as well as a name. */
const mayBeId = (value: string): boolean => /^[0-9a-f-]{1,36}$/i.test(value);

async function spaces(call: McpCall, value: string): Promise<Found> {
  const ids = mayBeId(value)
    ? [...call.principal.reach.keys()].filter((id) => id.startsWith(value.toLowerCase()))
    : [];
  const { answer } = await callRoute(searchForSpaces, call, {
    query: { page: 1, limit: MAX_VALUES },
    body: { filters: startsWith("name", value) },
  });
  return together(ids, answer);
}

async function agents(call: McpCall, value: string): Promise<Found> {
  const filters = isUuid(value) ? { id__exact: value } : startsWith("name", value);
  const { items, total } = await pageOfAgents(call, { page: 1, limit: MAX_VALUES, filters });
  return { values: items.map(({ id }) => id), total };
}

async function documents(call: McpCall, value: string, spaceId: string | undefined): Promise<Found> {
  const named = isUuid(value) ? { id__exact: value } : startsWith("doc_metadata.original_filename", value);
  const filters = {
    ...named,
    ...(spaceId === undefined || !isUuid(spaceId) ? {} : { space_id__exact: spaceId }),
  };
  const page = await pageOfDocuments(call, { limit: MAX_VALUES, filters });
  return { values: page.documents.map(({ id }) => id), total: page.total };
}

const startsWith = (field: string, value: string): Record<string, string> =>
  value === "" ? {} : { [`${field}__istartswith`]: value };

interface Listed {
  readonly items: readonly { readonly id: string }[];
  readonly total_items: number;
}

function together(ids: readonly string[], { items, total_items: total }: Listed): Found {
  const values = new Set([...ids, ...items.map(({ id }) => id)]);
  return { values: [...values].slice(0, MAX_VALUES), total: Math.max(total, values.size) };
}
