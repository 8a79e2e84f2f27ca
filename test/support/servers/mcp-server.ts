/** A Model Context Protocol server for tests, stateless, over streamable HTTP. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { z } from "zod";

export interface TestMcpServer {
  readonly url: string;
  /** The header `Authorization` of every request. */
  readonly authorizations: (string | undefined)[];
  close(): void;
}

function tools(): McpServer {
  const server = new McpServer({ name: "test", version: "1" });
  const text = (value: string) => ({ content: [{ type: "text" as const, text: value }] });
  server.registerTool(
    "weather",
    { description: "The weather.", inputSchema: { city: z.string() }, annotations: { readOnlyHint: true } },
    async ({ city }) => text(`Rain in ${city}.`),
  );
  server.registerTool("vouched", { description: "Reads, but does not say so." }, async () =>
    text("vouched for"),
  );
  server.registerTool("delete_all", { description: "Changes things." }, async () => text("gone"));
  server.registerTool("broken", { annotations: { readOnlyHint: true } }, async () => ({
    ...text("no such city"),
    isError: true,
  }));
  server.registerTool("huge", { annotations: { readOnlyHint: true } }, async () =>
    text("x".repeat(5_000_000)),
  );
  server.registerTool("endless", { annotations: { readOnlyHint: true } }, async () =>
    text("x".repeat(20_000_000)),
  );
  server.registerTool("slow", { annotations: { readOnlyHint: true } }, () => new Promise(() => undefined));
  return server;
}

export async function startMcpServer(): Promise<TestMcpServer> {
  const authorizations: (string | undefined)[] = [];
  const http = createServer((request, response) => {
    authorizations.push(request.headers.authorization);
    const transport = new StreamableHTTPServerTransport({});
    const server = tools();
    response.on("close", () => void server.close());
    void server
      .connect(transport as Parameters<McpServer["connect"]>[0])
      .then(() => transport.handleRequest(request, response));
  });
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`,
    authorizations,
    close() {
      http.closeAllConnections();
      http.close();
    },
  };
}
