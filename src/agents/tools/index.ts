/** The registry of tools: what is not in it does not exist. A new tool is one file and one line here. */
import type { Agent } from "../../db/agents.ts";
import { currentTime } from "./current-time.ts";
import { knowledgeSearch } from "./knowledge-search.ts";
import { listDocuments } from "./list-documents.ts";
import { readDocument } from "./read-document.ts";
import type { ToolDefinition } from "../../models/chat-model.ts";
import type { Tool } from "./tool.ts";

const TOOLS: ReadonlyMap<string, Tool> = new Map([knowledgeSearch, readDocument, listDocuments, currentTime].map((tool) => [tool.name, tool]));

/** The tool of that name, where it exists and is attached to the agent, with its configuration there. */
export function findTool(agent: Agent, name: string): { tool: Tool; config: Readonly<Record<string, unknown>> | null } | undefined {
  const attachment = agent.tool_attachments.find(({ tool_id }) => tool_id === name);
  const tool = TOOLS.get(name);
  return attachment && tool && { tool, config: attachment.config ?? null };
}

/** What a model is told of the tools of an agent. A `rag` agent searches first and uses none. */
export function toolDefinitions(agent: Agent): ToolDefinition[] {
  if (agent.agent_type === "rag") return [];
  return [...new Set(agent.tool_attachments.map(({ tool_id }) => tool_id))].flatMap((name) => {
    const tool = TOOLS.get(name);
    return tool ? [{ name: tool.name, description: tool.description, parameters: tool.parameters }] : [];
  });
}
