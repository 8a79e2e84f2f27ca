/** Reads the tools of a request, and how the model is to choose among them. */
import { z } from "zod";
import { noteUse } from "../../../commands/vector-stores/note-use.ts";
import { attributesOf } from "../../../commands/vector-stores/presented.ts";
import { requireStore } from "../../../commands/vector-stores/store.ts";
import { type Database, readTenant } from "../../../db/pool.ts";
import { findCallerNow } from "../../../db/responses/callers.ts";
import { readFoundFiles } from "../../../db/stores/files.ts";
import type { StoreRow } from "../../../db/stores/stores.ts";
import { DomainError } from "../../../domain/errors.ts";
import { newId } from "../../../domain/ids.ts";
import type { Principal } from "../../../domain/tenancy/principal.ts";
import type { ToolDefinition } from "../../../models/chat/chat-model.ts";
import type { Log } from "../../../process/log.ts";
import { decodeId, idFault } from "../../../schema/openai/ids.ts";
import { VectorStoreSearch } from "../../../schema/openai/vector-stores.ts";
import { type SearchDeps, type SearchHit, type SpacesScope, searchSpaces } from "../../../search/hybrid.ts";
import { FILE_SEARCH, type FileSearch, type FoundHit } from "../../turns/response-ask.ts";
import { tellUnknownKeys } from "../../validation/suggestion.ts";
import { isObject, refuse } from "./input.ts";

type Given = Readonly<Record<string, unknown>>;

interface StoreDeps extends SearchDeps {
  readonly log: Log;
}

export interface AskedTools {
  readonly functions: readonly ToolDefinition[];
  readonly fileSearch: FileSearch | undefined;
}

const NAME = /^[a-zA-Z0-9_-]{1,64}$/;
const STORES_MAX = 16;
/** The options are those of a search of a vector store. A misspelled one is refused: it would not narrow. */
const FileSearchTool = VectorStoreSearch.pick({
  filters: true,
  max_num_results: true,
  ranking_options: true,
}).extend({ type: z.unknown(), vector_store_ids: z.unknown() });

/**
 * @param own the names of the agent's own tools, which no function may have.
 * @throws DomainError `bad_request` with `param` for a tool that is not there, `not_found` for a store that
 *   the caller does not reach.
 */
export async function readTools(
  deps: StoreDeps,
  principal: Principal,
  tools: readonly Given[],
  own: ReadonlySet<string>,
): Promise<AskedTools> {
  const functions: ToolDefinition[] = [];
  let fileSearch: FileSearch | undefined;
  const taken = new Set(own);
  for (const [index, tool] of tools.entries()) {
    const at = `tools[${index}]`;
    if (tool["type"] === "function") functions.push(readFunction(tool, at, taken));
    else if (tool["type"] === "file_search") {
      if (fileSearch !== undefined) throw refuse(at, "A request has one `file_search`, over several stores.");
      fileSearch = await readFileSearch(deps, principal, tool, at);
      if (taken.has(FILE_SEARCH.name)) throw refuse(at, "A tool has the name file_search already.");
      taken.add(FILE_SEARCH.name);
    } else throw refuse(`${at}.type`, `The tool '${String(tool["type"]).slice(0, 64)}' is not there.`);
  }
  return { functions, fileSearch };
}

function readFunction(tool: Given, at: string, taken: Set<string>): ToolDefinition {
  const { name, description, parameters, strict } = tool;
  if (typeof name !== "string" || !NAME.test(name))
    throw refuse(`${at}.name`, "A name has 1 to 64 letters, digits, `_` and `-`.");
  if (taken.has(name)) throw refuse(`${at}.name`, `Another tool has the name '${name}'.`);
  taken.add(name);
  if (parameters !== undefined && parameters !== null && !isObject(parameters))
    throw refuse(`${at}.parameters`, "The parameters are a JSON schema.");
  return {
    name,
    description: typeof description === "string" ? description : "",
    parameters: (parameters ?? { type: "object", properties: {} }) as Given,
    ...(typeof strict === "boolean" ? { strict } : {}),
  };
}

async function readFileSearch(
  deps: StoreDeps,
  principal: Principal,
  tool: Given,
  at: string,
): Promise<FileSearch> {
  const stores = await readStores(deps.db, principal, tool["vector_store_ids"], `${at}.vector_store_ids`);
  const read = FileSearchTool.safeParse(tool, { error: tellUnknownKeys });
  if (!read.success) {
    const [issue] = read.error.issues;
    throw refuse(at + pathOf(issue?.path ?? []), issue?.message ?? "It cannot be read.");
  }
  const options = searchOptions(
    read.data,
    stores.map(({ id }) => id),
  );
  const spaceIds = new Set(stores.map(({ space_id: id }) => id));
  return {
    definition: FILE_SEARCH,
    async search(queries, signal) {
      noteUses(deps, principal, stores);
      const scope = await scopeNow(deps.db, principal, spaceIds);
      const found: SearchHit[] = [];
      // One after the other: each search takes two connections.
      for (const query of queries)
        found.push(...(await searchSpaces(deps, scope, { ...options, query }, signal)).results);
      return withFiles(deps.db, principal, best(found, options.limit));
    },
  };
}

/** Those of the spaces that the caller still reaches: a turn may take minutes. */
async function scopeNow(
  db: Database,
  { organization, user, apiKeyId }: Principal,
  spaceIds: ReadonlySet<string>,
): Promise<SpacesScope> {
  const now = await readTenant(db, organization, (sql) => findCallerNow(sql, user.id, apiKeyId));
  return { organization, spaces: (now?.spaces ?? []).filter(({ id }) => spaceIds.has(id)) };
}

/** `["filters", 0, "type"]` is `.filters[0].type`. */
const pathOf = (path: readonly PropertyKey[]): string =>
  path.map((part) => (typeof part === "number" ? `[${part}]` : `.${String(part)}`)).join("");

/** As a search of a vector store has them. */
function searchOptions(
  { filters, max_num_results: limit, ranking_options }: z.output<typeof FileSearchTool>,
  folderIds: string[],
) {
  const weights = ranking_options?.hybrid_search ?? undefined;
  return {
    folder_ids: folderIds,
    filters: filters === undefined || filters === null ? undefined : [filters],
    limit,
    min_score: ranking_options?.score_threshold,
    rerank: ranking_options?.ranker === "none" ? false : undefined,
    alpha: weights && weights.embedding_weight / (weights.embedding_weight + weights.text_weight),
  };
}

/** Puts the expiry of the stores off, behind the search. */
function noteUses({ db, log }: StoreDeps, principal: Principal, stores: readonly StoreRow[]): void {
  for (const store of stores)
    noteUse({ db }, { principal, requestId: newId() }, store).catch((error: unknown) =>
      log.warn({ err: error }, "the use of a vector store could not be recorded"),
    );
}

/** The hits with the ids and attributes that their files have in the stores. */
async function withFiles(
  db: Database,
  { organization }: Principal,
  hits: readonly SearchHit[],
): Promise<FoundHit[]> {
  const bySpace = Map.groupBy(hits, (hit) => hit.space_id);
  const files = await readTenant(db, organization, async (sql) => {
    const found = [];
    for (const [spaceId, ofSpace] of bySpace)
      found.push(
        ...(await readFoundFiles(sql, spaceId, [...new Set(ofSpace.map((hit) => hit.document_id))])),
      );
    return new Map(found.map((file) => [file.document_id, file]));
  });
  return hits.map((hit) => {
    const file = files.get(hit.document_id);
    return { ...hit, fileId: file?.id ?? hit.document_id, attributes: attributesOf(file?.metadata ?? {}) };
  });
}

/** The best hits of all queries, each chunk once. */
function best(hits: readonly SearchHit[], limit: number): readonly SearchHit[] {
  const seen = new Set<string>();
  return hits
    .toSorted((one, other) => other.score - one.score)
    .filter(({ chunk_id: id }) => !seen.has(id) && seen.add(id))
    .slice(0, limit);
}

/** @throws DomainError `vector_store_not_found`, `permission_denied`; `bad_request` if it has expired. */
async function readStores(
  db: Database,
  principal: Principal,
  given: unknown,
  param: string,
): Promise<StoreRow[]> {
  if (!Array.isArray(given) || given.length === 0 || given.length > STORES_MAX)
    throw refuse(param, `\`vector_store_ids\` has 1 to ${STORES_MAX} ids of vector stores.`);
  const ids = given.map((id: unknown, index) => {
    const decoded = typeof id === "string" ? decodeId("vectorStore", id) : null;
    if (decoded === null)
      throw refuse(`${param}[${index}]`, `An id of a vector store ${idFault("vectorStore")}.`);
    return decoded;
  });
  return readTenant(db, principal.organization, async (sql) => {
    const stores: StoreRow[] = [];
    for (const [index, id] of ids.entries())
      stores.push(
        await requireStore(sql, principal, "documents:search", id).catch((error: unknown) => {
          throw named(error, `${param}[${index}]`);
        }),
      );
    return stores;
  });
}

function named(error: unknown, param: string): unknown {
  return error instanceof DomainError && error.code === "not_found"
    ? new DomainError(error.reason, error.message, { param })
    : error;
}

export interface Choice {
  /** As the provider takes it. */
  readonly toolChoice: unknown;
  readonly allowed: ReadonlySet<string> | undefined;
}

/** @throws DomainError `bad_request` for a choice of a tool that the request has not. */
export function readChoice(given: unknown, { functions, fileSearch }: AskedTools): Choice {
  if (given === undefined || given === null || given === "auto")
    return { toolChoice: undefined, allowed: undefined };
  if (typeof given === "string") return { toolChoice: given, allowed: undefined };
  const choice = given as Given;
  const names = new Set([
    ...functions.map(({ name }) => name),
    ...(fileSearch === undefined ? [] : [FILE_SEARCH.name]),
  ]);
  if (choice["type"] === "allowed_tools") return allowedTools(choice, names);
  const name = toolName(choice);
  if (name === undefined || !names.has(name))
    throw refuse("tool_choice", "The choice names a tool that the request has not.");
  return { toolChoice: { type: "function", function: { name } }, allowed: undefined };
}

function allowedTools({ mode, tools }: Given, names: ReadonlySet<string>): Choice {
  if (!Array.isArray(tools)) throw refuse("tool_choice.tools", "The tools that are allowed are a list.");
  const allowed = tools.map(toolName);
  if (!allowed.every((name) => name !== undefined && names.has(name)))
    throw refuse("tool_choice.tools", "The choice names a tool that the request has not.");
  return {
    toolChoice: mode === "required" ? "required" : undefined,
    allowed: new Set(allowed.filter((name) => name !== undefined)),
  };
}

function toolName(tool: unknown): string | undefined {
  if (!isObject(tool)) return undefined;
  const { type, name } = tool;
  if (type === "file_search") return FILE_SEARCH.name;
  return type === "function" && typeof name === "string" ? name : undefined;
}
