/**
 * Starts a chat with an agent that has tools: those of a Model Context Protocol server and the project's own.
 */
import { type ChatHarness, type ChatOptions, startChat } from "./chat-harness.ts";
import { startMcpServer } from "../servers/mcp-server.ts";

export interface ChatWithTools extends ChatHarness {
  readonly agent: string;
  /** Bodies of the requests for completions since {@link forget}. */
  requests(): Array<Record<string, any>>;
  /** Resets the provider: it answers as it likes, and has no recorded requests. */
  forget(): void;
}

export async function startChatWithTools(
  toolIds: readonly string[],
  options: ChatOptions = {},
): Promise<ChatWithTools> {
  const server = await startMcpServer();
  const chat = await startChat({
    ...options,
    env: { MCP_SERVERS: JSON.stringify({ city: { url: server.url } }), ...options.env },
  });
  const agent = await chat.addAgent({
    tool_attachments: [
      { tool_id: "mcp", config: { server: "city" } },
      ...toolIds.map((id) => ({ tool_id: id, config: null })),
    ],
  });
  return {
    ...chat,
    agent,
    requests: () =>
      chat.provider.requests.filter((request) => request.route === "chat").map((request) => request.body),
    forget() {
      chat.provider.clearFaults();
      chat.provider.replyAlways();
      chat.provider.requests.length = 0;
    },
    async close() {
      await chat.close();
      server.close();
    },
  };
}
