/** Reads the tools of a request, and how the model is to choose among them. */
import { findFolder } from "../../db/documents/folders.ts";
import { type Database, readTenant } from "../../db/pool.ts";
import { DomainError } from "../../domain/errors.ts";
import type { Principal } from "../../domain/tenancy/principal.ts";
import type { ToolDefinition } from "../../models/chat/chat-model.ts";
import { decodeId } from "../../schema/openai/ids.ts";
import { type SearchDeps, type SearchHit, searchSpaces } from "../../search/hybrid.ts";
import { FILE_SEARCH, type FileSearch } from "../turns/response-ask.ts";
import { refuse } from "./input.ts";

type Given = Readonly<Record<string, unknown>>;

export interface AskedTools {
  readonly functions: readonly ToolDefinition[];
  readonly fileSearch: FileSearch | undefined;
}

const NAME = /^[a-zA-Z0-9_-]{1,64}$/;
const STORES_MAX = 16;
const RESULTS_DEFAULT = 10;
const RESULTS_MAX = 50;

/**
 * @param own the names of the agent's own tools, which no function may have.
 * @throws DomainError `bad_request` with `param` for a tool that is not there, `not_found` for a store that the
 *   caller does not reach.
 */
export async function readTools(
  deps: SearchDeps,
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
  if (parameters !== undefined && parameters !== null && typeof parameters !== "object")
    throw refuse(`${at}.parameters`, "The parameters are a JSON schema.");
  return {
    name,
    description: typeof description === "string" ? description : "",
    parameters: (parameters ?? { type: "object", properties: {} }) as Given,
    ...(typeof strict === "boolean" ? { strict } : {}),
  };
}

async function readFileSearch(
  deps: SearchDeps,
  principal: Principal,
  tool: Given,
  at: string,
): Promise<FileSearch> {
  const folderIds = await readStores(deps.db, principal, tool["vector_store_ids"], `${at}.vector_store_ids`);
  const limit =
    numberWithin(tool["max_num_results"], `${at}.max_num_results`, [1, RESULTS_MAX]) ?? RESULTS_DEFAULT;
  const ranking = (tool["ranking_options"] ?? {}) as Given;
  const minScore = numberWithin(ranking["score_threshold"], `${at}.ranking_options.score_threshold`, [0, 1]);
  if (tool["filters"] !== undefined && tool["filters"] !== null)
    throw refuse(`${at}.filters`, "Filters are not supported yet.");
  const search = async (query: string, signal: AbortSignal): Promise<readonly SearchHit[]> => {
    const request = { query, limit, folder_ids: folderIds, min_score: minScore ?? null };
    const scope = { organization: principal.organization, spaces: [...principal.reach.values()] };
    return (await searchSpaces(deps, scope, request, signal)).results;
  };
  return {
    definition: FILE_SEARCH,
    async search(queries, signal) {
      const found = await Promise.all(queries.map((query) => search(query, signal)));
      return best(found.flat(), limit);
    },
  };
}

/** The best hits of all queries, each chunk once. */
function best(hits: readonly SearchHit[], limit: number): readonly SearchHit[] {
  const seen = new Set<string>();
  return hits
    .toSorted((one, other) => other.score - one.score)
    .filter(({ chunk_id: id }) => !seen.has(id) && seen.add(id))
    .slice(0, limit);
}

async function readStores(
  db: Database,
  principal: Principal,
  given: unknown,
  param: string,
): Promise<string[]> {
  if (!Array.isArray(given) || given.length === 0 || given.length > STORES_MAX)
    throw refuse(param, `\`vector_store_ids\` has 1 to ${STORES_MAX} ids of vector stores.`);
  const ids = given.map((id: unknown, index) => {
    const decoded = typeof id === "string" ? decodeId("vectorStore", id) : null;
    if (decoded === null) throw refuse(`${param}[${index}]`, "An id of a vector store begins with vs_.");
    return decoded;
  });
  const found = await readTenant(db, principal.organization, async (sql) => {
    const folders = [];
    for (const id of ids) folders.push(await findFolder(sql, principal.reach, id));
    return folders;
  });
  const missing = found.indexOf(undefined);
  if (missing >= 0)
    throw new DomainError("vector_store_not_found", "Vector store not found", {
      param: `${param}[${missing}]`,
    });
  return ids;
}

function numberWithin(
  value: unknown,
  param: string,
  [least, most]: readonly [number, number],
): number | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "number" || !(value >= least && value <= most))
    throw refuse(param, `It is a number from ${least} to ${most}.`);
  return value;
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
  const name = nameOf(choice);
  if (name === undefined || !names.has(name))
    throw refuse("tool_choice", "The choice names a tool that the request has not.");
  return { toolChoice: { type: "function", function: { name } }, allowed: undefined };
}

function allowedTools({ mode, tools }: Given, names: ReadonlySet<string>): Choice {
  const given: readonly unknown[] = Array.isArray(tools) ? tools : [];
  const allowed = given.map((tool) => nameOf(tool as Given));
  if (!allowed.every((name) => name !== undefined && names.has(name)))
    throw refuse("tool_choice.tools", "The choice names a tool that the request has not.");
  return {
    toolChoice: mode === "required" ? "required" : undefined,
    allowed: new Set(allowed.filter((name) => name !== undefined)),
  };
}

function nameOf(tool: Given): string | undefined {
  if (tool["type"] === "file_search") return FILE_SEARCH.name;
  return tool["type"] === "function" && typeof tool["name"] === "string" ? tool["name"] : undefined;
}
