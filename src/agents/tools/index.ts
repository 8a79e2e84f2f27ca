/** The registry of tools: what is not in it does not exist. A new tool is one file and one line here. */
import type { Agent } from "../../db/turns/agents-in-chat.ts";
import { calculator } from "./calculator.ts";
import { currentTime } from "./current-time.ts";
import { createHttpFetch } from "./http-fetch.ts";
import { knowledgeSearch } from "./knowledge-search.ts";
import { listDocuments } from "./list-documents.ts";
import { type McpServer, createMcpTools } from "./mcp.ts";
import { readDocument } from "./read-document.ts";
import type { ToolDefinition } from "../../models/chat/chat-model.ts";
import type { Tool } from "./tool.ts";

/** What the operator lets tools reach. */
export interface ToolSettings {
  readonly httpFetchHosts: readonly string[];
  readonly mcpServers: Readonly<Record<string, McpServer>>;
}

interface FoundTool {
  readonly tool: Tool;
  /** Of the agent. */
  readonly config: Readonly<Record<string, unknown>> | null;
}

export interface Toolbox {
  /** What a model is told of the tools of an agent. A `rag` agent searches first and uses none. */
  definitions(agent: Agent): Promise<ToolDefinition[]>;
  /** The tool of that name, where it exists and is attached to the agent. */
  find(agent: Agent, name: string): Promise<FoundTool | undefined>;
  /** True for a tool that asks this service's own data alone. */
  isNear(name: string): boolean;
}

export function createToolbox(
  settings: ToolSettings,
  onError: (error: unknown, server: string) => void,
): Toolbox {
  const own = [
    knowledgeSearch,
    readDocument,
    listDocuments,
    currentTime,
    calculator,
    createHttpFetch(settings.httpFetchHosts),
  ];
  const tools: ReadonlyMap<string, Tool> = new Map(own.map((tool) => [tool.name, tool]));
  const mcp = createMcpTools(settings.mcpServers, onError);
  return {
    isNear: (name) => tools.get(name)?.isNear === true,
    async definitions(agent) {
      if (agent.agent_type === "rag") return [];
      const attached = [...new Set(agent.tool_attachments.map(({ tool_id }) => tool_id))].flatMap(
        (name) => tools.get(name) ?? [],
      );
      return [
        ...attached.map(({ name, description, parameters }) => ({ name, description, parameters })),
        ...(await mcp.definitions(agent)),
      ];
    },
    async find(agent, name) {
      const attachment = agent.tool_attachments.find(({ tool_id }) => tool_id === name);
      const tool = tools.get(name);
      if (attachment && tool) return { tool, config: attachment.config ?? null };
      const ofServer = await mcp.find(agent, name);
      return ofServer && { tool: ofServer, config: null };
    },
  };
}
