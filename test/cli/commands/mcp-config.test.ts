/** The configuration that `mcp-config` prints for each client. */
import { expect, test, vi } from "vitest";
import { runCommand } from "../../support/stack/command.ts";

const ENV = { NODE_ENV: "test", PUBLIC_URL: "https://holdfast.example.org/" };
const CLIENTS = [
  "claude-code",
  "claude-desktop",
  "vscode",
  "cursor",
  "openai-responses",
  "openai-agents",
  "json",
];
const print = (...args: string[]) => runCommand(["mcp-config", ...args], ENV);

test.each(CLIENTS)("the configuration of %s names the address, and a place for the key", async (client) => {
  const config = await print(client);

  expect(config).toContain("https://holdfast.example.org/mcp");
  expect(config).toMatch(/HOLDFAST_API_KEY|input:holdfast-key/);
  expect(config).not.toContain("sk-");
});

test("a key is printed where it is given, and nothing is sent where the user logs in", async () => {
  expect(JSON.parse(await print("cursor", "--key", "sk-given"))).toEqual({
    mcpServers: {
      holdfast: { url: "https://holdfast.example.org/mcp", headers: { Authorization: "Bearer sk-given" } },
    },
  });
  expect(JSON.parse(await print("cursor", "--login", "--url", "http://127.0.0.1:8080"))).toEqual({
    mcpServers: { holdfast: { url: "http://127.0.0.1:8080/mcp" } },
  });
  expect(await print("vscode", "--key", "sk-given")).not.toContain("inputs");
  await expect(print("cursor", "--login", "--key", "sk-given")).rejects.toThrow("not both");
});

async function headingOf(...args: string[]): Promise<string> {
  let heading = "";
  const output = vi.spyOn(process.stderr, "write").mockImplementation((text) => {
    heading += String(text);
    return true;
  });
  await print(...args).finally(() => output.mockRestore());
  return heading;
}

test("the heading says who asks for the key, and that a login asks for none", async () => {
  expect(await headingOf("vscode")).toBe("For `.vscode/mcp.json`, which asks for the key once:\n");
  expect(await headingOf("vscode", "--key", "sk-given")).toBe("For `.vscode/mcp.json`:\n");
  expect(await headingOf("vscode", "--login")).toBe("For `.vscode/mcp.json`, which signs its user in:\n");
  expect(await headingOf("claude-desktop", "--login")).not.toContain("key");
});

test("OpenAI's servers may call each tool that changes nothing, and ask agents", async () => {
  const [tool] = JSON.parse(await print("openai-responses")) as { allowed_tools: string[] }[];

  expect(tool!.allowed_tools).toEqual([
    "search",
    "read_document",
    "list_documents",
    "list_spaces",
    "list_agents",
    "ask_agent",
  ]);
});
