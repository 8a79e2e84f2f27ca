/** Makes a turn of a request for a response: the agent, what the model reads, and what the answer repeats. */
import { authorizeListing, authorize, decide } from "../../../auth/policy.ts";
import { modelAgent } from "../../../agents/model-agent.ts";
import type { Agent } from "../../../db/turns/agents-in-chat.ts";
import { DomainError } from "../../../domain/errors.ts";
import type { Principal } from "../../../domain/tenancy/principal.ts";
import type { ClientMessage } from "../../../agents/turn.ts";
import type { ChatMessage } from "../../../models/chat/chat-model.ts";
import type { ResponseBody } from "../../../schema/openai/response-request.ts";
import { encodeId } from "../../../schema/openai/ids.ts";
import type { ResponseAsk } from "../../turns/response-ask.ts";
import type { TurnRequest } from "../../turns/turn.ts";
import { type KeptItem, isObject, refuse } from "./input.ts";
import type { ResponseEcho } from "./items.ts";
import type { ResponsesDeps } from "./deps.ts";
import { fileIdsOf, messagesOf, passagesOf } from "./messages.ts";
import { readChoice, readTools } from "./tools.ts";

/** What is asked, without the input, which is read into items. */
export type AskedBody = Omit<ResponseBody, "input">;

export interface PreparedResponse {
  readonly agent: Agent;
  readonly echo: ResponseEcho;
  readonly turn: TurnRequest;
  readonly showsResults: boolean;
  /** Ids of files by documents, of what searches before have found. */
  readonly fileIds: ReadonlyMap<string, string>;
}

export interface Conversation {
  readonly body: AskedBody;
  /** Items of the responses before, oldest first. */
  readonly before: readonly KeptItem[];
  readonly items: readonly KeptItem[];
}

const MISSING = ["conversation", "prompt", "context_management"] as const;

/** @throws DomainError `bad_request` with `param` for what is not there, before anything is read. */
export function refuseMissing(body: AskedBody): void {
  for (const name of MISSING)
    if (body[name] !== undefined && body[name] !== null) throw refuse(name, `\`${name}\` is not supported.`);
  if (body.background === true && body.store === false)
    throw refuse("background", "A response in the background needs `store`.");
  refuseFormat(body.text?.format);
}

function refuseFormat(format: NonNullable<AskedBody["text"]>["format"]): void {
  if (format?.type !== "json_schema") return;
  if (typeof format["name"] !== "string" || !/^[a-zA-Z0-9_-]{1,64}$/.test(format["name"]))
    throw refuse("text.format.name", "A name has 1 to 64 letters, digits, `_` and `-`.");
  if (!isObject(format["schema"])) throw refuse("text.format.schema", "The schema is an object.");
}

/**
 * The agent that the request names, or one that stands for the configured model.
 * @throws DomainError `model_not_found`, `permission_denied`.
 */
export async function findModel(deps: ResponsesDeps, principal: Principal, model: string): Promise<Agent> {
  if (deps.chat.modelNames.includes(model)) {
    authorizeListing(principal, "agents:chat");
    return modelAgent(principal.organization.id, model);
  }
  const agent = await deps.chat.findAgent(principal.organization, model);
  if (decide(principal, "agents:chat", agent) === "not_found")
    throw new DomainError("model_not_found", `Model '${model}' not found`, { param: "model" });
  authorize(principal, "agents:chat", agent);
  return agent;
}

/** @throws DomainError for tools that are not there. */
export async function prepare(
  deps: ResponsesDeps,
  principal: Principal,
  agent: Agent,
  { body, before, items }: Conversation,
): Promise<PreparedResponse> {
  if (deps.chat.isLocal && body.text?.format?.type === "json_schema")
    throw refuse("text.format", "The built-in model answers with quotations and has no JSON schemas.");
  const given = body.tools ?? [];
  const own = given.length === 0 ? [] : await deps.toolbox.definitions(agent);
  const tools = await readTools(deps, principal, given, new Set(own.map(({ name }) => name)));
  const choice = readChoice(body.tool_choice, tools);
  const history = messagesOf([...before, ...items]);
  const instructions: ChatMessage[] =
    typeof body.instructions === "string" && body.instructions !== ""
      ? [{ role: "system", content: body.instructions }]
      : [];
  const ask: ResponseAsk = {
    history: [...instructions, ...history],
    found: passagesOf([...before, ...items]),
    ...tools,
    ...choice,
    overrides: overridesOf(body, agent),
    mayTruncate: body.truncation === "auto",
    maxToolCalls: body.max_tool_calls ?? undefined,
  };
  return {
    agent,
    echo: echoOf(body, agent),
    turn: {
      principal,
      agent,
      messages: history.flatMap(clientMessage),
      options: {
        temperature: body.temperature ?? undefined,
        maxTokens: body.max_output_tokens ?? undefined,
        responseFormat: formatOf(body),
      },
      ask,
    },
    showsResults: includesResults(body.include),
    fileIds: fileIdsOf([...before, ...items]),
  };
}

export function includesResults(include: readonly string[] | null | undefined): boolean {
  return include?.includes("file_search_call.results") ?? false;
}

/** What the search ahead and the books of turns go by. */
function clientMessage({ role, content }: ChatMessage): ClientMessage[] {
  if (role === "tool") return [];
  const text =
    typeof content === "string"
      ? content
      : (content ?? []).flatMap((part) => (part.type === "text" ? part.text : [])).join("\n");
  return [{ role, content: text }];
}

function overridesOf(body: AskedBody, agent: Agent): ResponseAsk["overrides"] {
  const passed = {
    top_p: body.top_p,
    stop: body.stop,
    seed: body.seed,
    presence_penalty: body.presence_penalty,
    frequency_penalty: body.frequency_penalty,
    parallel_tool_calls: body.parallel_tool_calls,
    verbosity: body.text?.verbosity,
  };
  const given = Object.entries(passed).filter(([, value]) => value !== undefined && value !== null);
  const effort = body.reasoning?.effort;
  return {
    more: Object.fromEntries(given),
    ...(agent.isModel ? { isExact: true } : {}),
    ...(effort === undefined || effort === null ? {} : { reasoning: { effort } }),
  };
}

/** The format as chat completions take it. */
function formatOf({ text }: AskedBody): Readonly<Record<string, unknown>> | undefined {
  const format = text?.format;
  if (format === undefined || format === null || format.type === "text") return undefined;
  if (format.type === "json_object") return { type: "json_object" };
  const { type: _type, ...schema } = format;
  return { type: "json_schema", json_schema: schema };
}

const or = <T>(value: T | null | undefined, other: NoInfer<T>): T => value ?? other;
const orNull = <T>(value: T | null | undefined): T | null => value ?? null;

function echoOf(body: AskedBody, agent: Agent): ResponseEcho {
  const previous = orNull(body.previous_response_id);
  const format = orNull(body.text?.format);
  return {
    instructions: orNull(body.instructions),
    max_output_tokens: orNull(body.max_output_tokens),
    max_tool_calls: orNull(body.max_tool_calls),
    metadata: or(body.metadata, {}),
    model: body.model,
    parallel_tool_calls: or(body.parallel_tool_calls, true),
    previous_response_id: previous === null ? null : encodeId("response", previous),
    prompt_cache_key: orNull(body.prompt_cache_key),
    prompt_cache_retention: orNull(body.prompt_cache_retention),
    reasoning: { effort: orNull(body.reasoning?.effort), summary: orNull(body.reasoning?.summary) },
    safety_identifier: orNull(body.safety_identifier),
    service_tier: "default",
    store: or(body.store, true),
    temperature: or(body.temperature, or(agent.temperature, 1)),
    text: {
      format: format === null ? { type: "text" } : format,
      ...(body.text?.verbosity ? { verbosity: body.text.verbosity } : {}),
    },
    tool_choice: or<unknown>(body.tool_choice, "auto"),
    tools: or(body.tools, []).map(shownTool),
    top_logprobs: or(body.top_logprobs, 0),
    top_p: or(body.top_p, 1),
    truncation: or(body.truncation, "disabled"),
    user: orNull(body.user),
  };
}

/** With the defaults that OpenAI's interface shows. */
function shownTool(tool: Readonly<Record<string, unknown>>): unknown {
  if (tool["type"] !== "function") return tool;
  return { description: null, parameters: null, strict: true, ...tool };
}
