/** Agents as prompts: each asks one of them; and one that asks whichever is named. */
import type { DomainError } from "../../domain/errors.ts";
import { isUuid } from "../../domain/ids.ts";
import { searchForAgents } from "../routes/agents/agents.ts";
import { callRoute, type McpCall, noteRefusal } from "./call.ts";
import { nextCursor, placeOf } from "./cursors.ts";
import { RPC_CODES, RpcError } from "./rpc-error.ts";
import { unknownAgent } from "./tools/list-agents.ts";

const PAGE = 50;
/** The prompt that takes an agent as an argument. */
export const ASK_PROMPT = "ask-agent";
const MAX_QUESTION_CHARACTERS = 100_000;

const QUESTION = { name: "question", description: "What the agent is asked", required: true };

/** Agents that the caller may use, by name. */
export async function pageOfAgents(
  call: McpCall,
  { page, limit, filters = {} }: { page: number; limit: number; filters?: Record<string, unknown> },
) {
  const { answer } = await callRoute(searchForAgents, call, {
    query: { page, limit },
    body: { filters, order_by: ["name"] },
  });
  return { items: answer.items, total: answer.total_items };
}

/** Only for who may chat: the others could do nothing with them. */
const mayChat = ({ principal }: McpCall): boolean =>
  principal.capabilities.has("chat") && principal.capabilities.has("read");

export async function listPrompts(call: McpCall, cursor: string | undefined) {
  const page = placeOf("prompts", cursor);
  if (!mayChat(call)) return { prompts: [] };
  const { items, total } = await pageOfAgents(call, { page, limit: PAGE });
  const ofAgents = items.map(({ id, name, description }) => ({
    name: id,
    title: name,
    description,
    arguments: [QUESTION],
  }));
  const general = {
    name: ASK_PROMPT,
    title: "Ask an agent",
    description: "Asks one of the agents of this service, with citations",
    arguments: [{ name: "agent_id", description: "Its id, as list_agents has it", required: true }, QUESTION],
  };
  return {
    prompts: page === 1 ? [general, ...ofAgents] : ofAgents,
    nextCursor: nextCursor("prompts", { page, limit: PAGE, total }),
  };
}

export async function getPrompt(call: McpCall, name: string, args: Readonly<Record<string, string>> = {}) {
  const isGeneral = name === ASK_PROMPT;
  const named = isGeneral ? undefined : await findShownAgent(call, name);
  if (!mayChat(call) || (!isGeneral && named === undefined)) {
    noteUnknown(call, name);
    throw new RpcError(RPC_CODES.invalidParams, "Unknown prompt");
  }
  const question = requireArguments(isGeneral ? ["agent_id", "question"] : ["question"], args);
  const agent = named ?? (await findShownAgent(call, args["agent_id"] ?? ""));
  if (agent === undefined) throw noteUnknown(call, args["agent_id"] ?? "");
  const text =
    `Use the tool ask_agent with agent_id "${agent.id}" (${agent.name}) to answer this question. Give its ` +
    `answer with its citations: the document's name, and the quote where there is one.\n\n${question}`;
  return {
    description: agent.description,
    messages: [{ role: "user" as const, content: { type: "text" as const, text } }],
  };
}

/** For the one who asks the prompt does not exist; for the audit log an id was tried. */
function noteUnknown(call: McpCall, id: string): DomainError {
  const error = unknownAgent();
  noteRefusal(call, { action: "agents:chat", resource: "agent", id }, error);
  return error;
}

/** @returns the question. @throws RpcError that names the arguments that are missing or too long */
function requireArguments(names: readonly string[], args: Readonly<Record<string, string>>): string {
  const missing = names.filter((name) => (args[name] ?? "").trim() === "");
  if (missing.length > 0)
    throw new RpcError(RPC_CODES.invalidParams, `Missing arguments of the prompt: ${missing.join(", ")}`);
  const { question = "" } = args;
  if (question.length > MAX_QUESTION_CHARACTERS)
    throw new RpcError(
      RPC_CODES.invalidParams,
      `The argument question is too long: it has at most ${MAX_QUESTION_CHARACTERS} characters`,
    );
  return question;
}

async function findShownAgent(call: McpCall, id: string) {
  if (!mayChat(call) || !isUuid(id)) return undefined;
  const { items } = await pageOfAgents(call, { page: 1, limit: 1, filters: { id__exact: id } });
  return items[0];
}
