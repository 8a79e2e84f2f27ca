/** What MCP clients make of `/mcp`: the official ones for Python, and the inspector's command line. */
import { beforeAll, describe, expect, it } from "vitest";
import { call, ended, upload } from "../../support/clients/client.ts";
import { chatIsReady } from "../../support/clients/sdk/chat-is-ready.ts";
import { inspect, missingNode } from "../../support/clients/sdk/inspector.ts";
import { scriptedModel } from "../../support/clients/sdk/model.ts";
import { SET_UP_MS, missingPython, runProgram } from "../../support/clients/sdk/python.ts";
import type { Steps } from "../../support/clients/sdk/steps.ts";
import { unless } from "../../support/run/unless.ts";
import { onSharedStack } from "../../support/stack/shared-stack.ts";

const READING = ["ask_agent", "list_agents", "list_documents", "list_spaces", "read_document", "search"];
const WRITING = ["delete_document", "reprocess_document", "upload_document"];
const ALL = [...READING, ...WRITING].toSorted();

const { stack, tenants } = onSharedStack();
const server = (key = tenants.keys.owner) => ({ url: `${stack.url}/mcp`, key });
let readingKey: string;

beforeAll(async () => {
  await chatIsReady(stack.url, tenants);
  stack.provider.replyAlways(scriptedModel);
  const body = { name: "only reads", capabilities: ["read", "search"] };
  const token = await stack.issuer.token(tenants.subject("ada"));
  const made = await call(stack.url, token, "POST", "/me/api-keys", body);
  readingKey = made.body.key;
});

const VERSIONS = [
  { version: "1", before: [] },
  { version: "2", before: ["requirements-mcp.txt"] },
];

describe.each(VERSIONS)("the official client for Python, version $version", ({ version, before }) => {
  describe("at /mcp", unless(missingPython), () => {
    let seen: Steps;
    const contentOf = (name: string) => {
      const { structuredContent, isError } = seen.value(name);
      expect(isError ?? false).toBe(false);
      return structuredContent;
    };
    beforeAll(async () => {
      const given = {
        mcp_url: `${stack.url}/mcp`,
        key: tenants.keys.owner,
        reading_key: readingKey,
        space: tenants.spaces.research,
        agent: tenants.agents.public,
        name: `herons-${version}.md`,
      };
      seen = await runProgram({ file: "mcp_client.py", given, before });
    }, SET_UP_MS);

    it("agrees on a protocol, and learns what the server is", () => {
      expect(seen.value("initialize")).toMatchObject({
        protocol: "2025-11-25",
        server: { name: expect.any(String) },
      });
      seen.value("ping");
    });

    it("finds each tool with its title, its schemas and what it may do", () => {
      const tools = seen.value("list_tools");
      expect(tools.map(({ name }: { name: string }) => name).toSorted()).toEqual(ALL);
      for (const tool of tools)
        expect(tool).toMatchObject({
          title: expect.any(String),
          inputSchema: { type: "object" },
          outputSchema: { type: "object" },
          // An answer costs tokens, so asking an agent is more than reading.
          annotations: { readOnlyHint: READING.includes(tool.name) && tool.name !== "ask_agent" },
        });
    });

    it("uploads, searches, lists, reads, processes again and deletes a document by tools", () => {
      const name = `herons-${version}.md`;
      const { document } = contentOf("upload_document");
      expect(document).toMatchObject({ name, status: "completed" });
      expect(contentOf("search").results).toEqual(
        expect.arrayContaining([expect.objectContaining({ document_id: document.id })]),
      );
      expect(contentOf("list_documents").documents).toMatchObject([{ id: document.id, name }]);
      expect(contentOf("read_document").text).toContain("stands still in the shallow water");
      expect(contentOf("list_spaces").spaces).toEqual(
        expect.arrayContaining([expect.objectContaining({ id: tenants.spaces.research })]),
      );
      expect(contentOf("list_agents").agents.map(({ id }: { id: string }) => id)).toContain(
        tenants.agents.public,
      );
      expect(contentOf("delete_document")).toMatchObject({ document_id: document.id, deleted: true });
    });

    it("reads documents as resources, and hears when one changes", () => {
      const { document } = contentOf("upload_document");
      expect(seen.value("list_resource_templates").length).toBeGreaterThan(0);
      expect(seen.value("list_resources").map(({ uri }: { uri: string }) => uri)).toContain(document.uri);
      expect(seen.value("read_resource").contents[0].text).toContain("heron");
      expect(() => seen.error("read_resource deleted")).not.toThrow();
      expect(contentOf("subscribe_resource and reprocess_document").status).toBe("completed");
    });

    it("asks an agent by its tool and by its prompt", () => {
      expect(contentOf("ask_agent")).toMatchObject({
        answer: "You said: Hello agent",
        finish_reason: "stop",
      });
      expect(seen.value("progress")).not.toEqual([]);
      expect(seen.value("list_prompts").map(({ name }: { name: string }) => name)).toContain("ask-agent");
      expect(seen.value("complete").completion.values).toContain(tenants.agents.public);
      expect(JSON.stringify(seen.value("get_prompt").messages)).toContain("Hello prompt");
    });

    it("is told what was wrong with a call", () => {
      expect(seen.value("call_tool unknown document").isError).toBe(true);
      for (const name of ["call_tool without its arguments", "call_tool unknown"])
        expect(failed(seen, name)).toBe(true);
    });

    it("is offered tools that write by its key alone, and nothing without a key", () => {
      expect(seen.value("tools of a key that only reads").toSorted()).toEqual(
        READING.filter((name) => !["ask_agent", "list_agents"].includes(name)),
      );
      for (const name of ["wrong key", "no key"]) expect(() => seen.error(name)).not.toThrow();
    });
  });
});

/** Whether a call ended in an error of the protocol, or in a result that is one. */
function failed(seen: Steps, name: string): boolean {
  try {
    return seen.value(name).isError === true;
  } catch {
    return true;
  }
}

describe("the inspector's command line", unless(missingNode), () => {
  it("lists tools, resource templates and prompts", async () => {
    const { tools } = await inspect(server(), "--method", "tools/list", "--strict");
    expect(tools.map(({ name }: { name: string }) => name).toSorted()).toEqual(ALL);
    const { resourceTemplates } = await inspect(server(), "--method", "resources/templates/list");
    expect(resourceTemplates.length).toBeGreaterThan(0);
    expect((await inspect(server(), "--method", "prompts/list")).prompts.length).toBeGreaterThan(0);
  });

  it("calls a tool, and reads the resource that it found", async () => {
    const { research } = tenants.spaces;
    const text = "# Cranes\n\nThe crane dances on the moor at dawn.\n";
    const { id } = await upload(stack.url, tenants.keys.owner, research, text, "cranes.md");
    await ended(stack.url, tenants.keys.owner, id);
    const args = ["query=Where does the crane dance?", `document_ids=${JSON.stringify([id])}`];
    const search = ["--method", "tools/call", "--tool-name", "search", "--tool-arg", ...args];
    const found = await inspect(server(), ...search);
    const [first] = found.structuredContent.results;
    expect(first).toMatchObject({ document_id: id });
    const { contents } = await inspect(server(), "--method", "resources/read", "--uri", first.uri);
    expect(contents[0].text).toContain("on the moor at dawn");
  });

  it("is refused with a wrong key", async () => {
    await expect(inspect(server(`sk-${"x".repeat(49)}`), "--method", "tools/list")).rejects.toThrow(
      "auth_required",
    );
  });
});
