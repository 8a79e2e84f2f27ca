/** The list of tools. A new tool is a file and a line here. */
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

/** The hosts and servers that the operator allows. */
export interface ToolSettings {
  readonly httpFetchHosts: readonly string[];
  readonly mcpServers: Readonly<Record<string, McpServer>>;
}

interface FoundTool {
  readonly tool: Tool;
  /** The agent's `config` for this tool. */
  readonly config: Readonly<Record<string, unknown>> | null;
}

export interface Toolbox {
  /** Describes the agent's tools for a model. A `rag` agent searches first, and has none. */
  definitions(agent: Agent): Promise<ToolDefinition[]>;
  find(agent: Agent, name: string): Promise<FoundTool | undefined>;
  /** True for a tool that asks only this service's own data; see {@link Tool.isNear}. */
  isNear(name: string): boolean;
}

/** @param onError is called if the tools of an MCP server cannot be listed; its tools are missing then. */
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
