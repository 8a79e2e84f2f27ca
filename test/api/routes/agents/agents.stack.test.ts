/** Agents on the real stack: who finds and sees them. */
import { describe, expect, test } from "vitest";
import { call } from "../../../support/clients/client.ts";
import { signedIn } from "../../../support/clients/signed-in.ts";
import { until } from "../../../support/until.ts";

const UNKNOWN = "01900000-0000-7000-8000-00000000ffff";
const people = signedIn();
const { stack, tenants } = people;

const search = async (key: string, body?: unknown, query = "") =>
  (await call(stack.url, key, "POST", `/agents/search${query}`, body)).body;
const idsOf = (page: { items: { id: string }[] }) => page.items.map((item) => item.id).toSorted();
const make = async (name: string, rest: Record<string, unknown> = {}) =>
  people.as("eve", "POST", "/agents", { name, space_id: tenants.spaces.research, ...rest });

describe("search", () => {
  test("shows what the caller may use: agents of the spaces reached and public ones", async () => {
    expect(idsOf(await search(tenants.keys.owner))).toEqual(
      [tenants.agents.analyst, tenants.agents.librarian, tenants.agents.public].toSorted(),
    );
    expect(idsOf(await search(tenants.keys.viewer, {}))).toEqual(
      [tenants.agents.analyst, tenants.agents.librarian, tenants.agents.public].toSorted(),
    );
    expect(idsOf(await search(tenants.keys.scoped, {}))).toEqual([tenants.agents.public]);
    expect(idsOf(await search(tenants.keys.rival, {}))).toEqual([tenants.agents.rival]);
  });

  test("filters, orders and pages, and never widens", async () => {
    const page = await search(
      tenants.keys.owner,
      { filters: { agent_type: "simple" }, order_by: ["-name"] },
      "?page=1&limit=1",
    );
    expect(page).toMatchObject({
      total_items: 2,
      total_pages: 2,
      page: 1,
      page_size: 1,
      items: [{ id: tenants.agents.public }],
    });
    expect(
      idsOf(
        await search(tenants.keys.viewer, {
          filters: {
            created_by: people.ids.ada,
            space_id__in: [tenants.spaces.research, tenants.spaces.rival],
          },
        }),
      ),
    ).toEqual([tenants.agents.analyst, tenants.agents.librarian].toSorted());
    const refused = await call(stack.url, tenants.keys.owner, "POST", "/agents/search", {
      filters: { system_prompt__contains: "x" },
      order_by: ["unknown"],
    });
    expect(refused.status).toBe(422);
    expect(refused.body.detail.map((problem: { loc: unknown[] }) => problem.loc)).toEqual([
      ["body", "filters", "system_prompt__contains"],
      ["body", "order_by", 0],
    ]);
  });

  test("shows system agents, which the list of models hides", async () => {
    const { body: agent } = await make("Of the system");
    await stack.database.db.owner.query("update agents set from_system = true where id = $1", [agent.id]);
    expect(idsOf(await search(tenants.keys.editor, { filters: { name: "Of the system" } }))).toEqual([
      agent.id,
    ]);
    const { body: models } = await call(stack.url, tenants.keys.editor, "GET", "/models");
    expect(models.data.map((model: { id: string }) => model.id)).not.toContain(agent.id);
    expect(models.data.map((model: { id: string }) => model.id)).toContain(tenants.agents.analyst);
  });
});

describe("one agent", () => {
  test("has every field of the specification", async () => {
    const { status, body, headers } = await call(
      stack.url,
      tenants.keys.viewer,
      "GET",
      `/agents/${tenants.agents.analyst}`,
    );
    const ada = { id: people.ids.ada, name: "Ada Owner", avatar_url: null };
    expect(status).toBe(200);
    expect(headers.get("etag")).toMatch(/^".+"$/);
    expect(body).toEqual({
      id: tenants.agents.analyst,
      name: "Analyst",
      description: "Answers from the documents of this space.",
      version: "1.0.0",
      agent_type: "rag",
      model: "default",
      system_prompt: "Answer from the documents.",
      temperature: null,
      max_tokens: null,
      reasoning_config: null,
      tool_attachments: [],
      is_public: false,
      show_citations: true,
      require_support: false,
      save_to_inbox: false,
      data_access_mode: "origin",
      allowed_folder_ids: null,
      organization_id: tenants.acme,
      space_id: tenants.spaces.research,
      from_system: false,
      conversation_count: 0,
      created_at: expect.stringMatching(/Z$/),
      updated_at: expect.stringMatching(/Z$/),
      created_by: ada,
      last_edited_by: ada,
    });
  });

  test.each([
    ["another organization's", tenants.keys.owner, tenants.agents.rival, 404],
    ["one out of a key's scope", tenants.keys.scoped, tenants.agents.analyst, 404],
    ["an unknown one", tenants.keys.owner, UNKNOWN, 404],
    ["a public one of a space that is not reached", tenants.keys.viewer, tenants.agents.public, 200],
  ])("%s", async (_which, key, id, status) => {
    const answer = await call(stack.url, key, "GET", `/agents/${id}`);
    expect(answer.status).toBe(status);
    expect(answer.body).toMatchObject(status === 404 ? { detail: "Agent not found" } : { id });
  });

  test("counts its conversations", async () => {
    const { body: agent } = await make("Counted");
    const turn = await until("chat is ready", async () => {
      const answer = await call(stack.url, tenants.keys.editor, "POST", "/chat/completions", {
        model: agent.id,
        messages: [{ role: "user", content: "Hello" }],
      });
      return answer.status === 200 && answer;
    });
    expect(turn.body.model).toBe(agent.id);
    await until(
      "the conversation is counted",
      async () =>
        (await call(stack.url, tenants.keys.editor, "GET", `/agents/${agent.id}`)).body.conversation_count ===
        1,
    );
  });
});
