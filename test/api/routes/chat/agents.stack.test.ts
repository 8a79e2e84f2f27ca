/** Agents on the real stack: who sees them, who changes them, and what a change leaves behind. */
import { describe, expect, test } from "vitest";
import { agentRoutes } from "../../../../src/api/routes/chat/agents.ts";
import { call } from "../../../support/clients/client.ts";
import { routesOpenToKeys, signedIn } from "../../../support/clients/signed-in.ts";
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

describe("changes", () => {
  test("an editor makes an agent, which can be used at once", async () => {
    const { status, body } = await make("Made", {
      tool_attachments: [{ tool_id: "calculator" }],
      temperature: 0.5,
      reasoning_config: { effort: "low" },
    });
    expect(status).toBe(201);
    const eve = { id: people.ids.eve, name: "Eve Editor", avatar_url: null };
    expect(body).toMatchObject({
      version: "1.0.0",
      temperature: 0.5,
      reasoning_config: { effort: "low" },
      tool_attachments: [{ tool_id: "calculator", config: null }],
      created_by: eve,
      last_edited_by: eve,
    });
    expect((await call(stack.url, tenants.keys.viewer, "GET", `/agents/${body.id}`)).body).toEqual(body);
    expect(await people.audited("agents:create", body.id)).toMatchObject([
      {
        actor_id: people.ids.eve,
        auth_method: "jwt",
        api_key_id: null,
        space_id: tenants.spaces.research,
        outcome: "success",
        organization_id: tenants.acme,
      },
    ]);
  });

  test("each change raises the version, and who edited last is noted; what changes nothing does not", async () => {
    const { body: made } = await make("Versioned");
    const { body: changed } = await people.as("ada", "PATCH", `/agents/${made.id}`, {
      description: "Better.",
      show_citations: false,
      tool_attachments: [{ tool_id: "current_time", config: {} }],
    });
    expect(changed).toMatchObject({
      version: "1.0.1",
      description: "Better.",
      show_citations: false,
      created_by: { id: people.ids.eve },
      last_edited_by: { id: people.ids.ada },
    });
    const { body: same } = await people.as("eve", "PATCH", `/agents/${made.id}`, {
      description: "Better.",
      tool_attachments: [{ tool_id: "current_time", config: {} }],
    });
    expect(same).toEqual(changed);
    expect(await people.audited("agents:update", made.id)).toHaveLength(1);
    await people.as("eve", "PATCH", `/agents/${made.id}`, { name: "Versioned too" });
    expect((await people.as("eve", "GET", `/agents/${made.id}`)).body).toMatchObject({
      version: "1.0.2",
      name: "Versioned too",
      last_edited_by: { id: people.ids.eve },
    });
  });

  test("If-Match refuses a change of what has changed since", async () => {
    const { body: made } = await make("Matched");
    const etag = (await people.as("eve", "GET", `/agents/${made.id}`)).headers.get("etag")!;
    expect(
      (await people.as("eve", "PATCH", `/agents/${made.id}`, { name: "Matched once" }, { "if-match": etag }))
        .status,
    ).toBe(200);
    expect(
      (await people.as("eve", "PATCH", `/agents/${made.id}`, { name: "Matched twice" }, { "if-match": etag }))
        .status,
    ).toBe(412);
    expect(
      (await people.as("eve", "DELETE", `/agents/${made.id}`, undefined, { "if-match": etag })).status,
    ).toBe(412);
  });

  test("a deleted agent is gone everywhere, and its name is free again", async () => {
    const { body: made } = await make("Short-lived");
    expect((await people.as("eve", "DELETE", `/agents/${made.id}`)).status).toBe(204);
    for (const answer of [
      await call(stack.url, tenants.keys.editor, "GET", `/agents/${made.id}`),
      await people.as("eve", "PATCH", `/agents/${made.id}`, {}),
      await people.as("eve", "DELETE", `/agents/${made.id}`),
    ]) {
      expect(answer.status).toBe(404);
    }
    expect((await search(tenants.keys.editor, { filters: { name: "Short-lived" } })).total_items).toBe(0);
    expect(await people.audited("agents:delete", made.id)).toHaveLength(1);
    expect((await make("Short-lived")).status).toBe(201);
  });

  test("a viewer may not, whoever does not reach the space finds nothing, and a denial is audited", async () => {
    const denied = { detail: "Permission denied: agents:write" };
    expect(
      await people.as("vic", "POST", "/agents", { name: "No", space_id: tenants.spaces.research }),
    ).toMatchObject({ status: 403, body: denied });
    expect(
      await people.as("vic", "PATCH", `/agents/${tenants.agents.analyst}`, { name: "No" }),
    ).toMatchObject({ status: 403, body: denied });
    expect(await people.as("vic", "DELETE", `/agents/${tenants.agents.public}`)).toMatchObject({
      status: 403,
      body: denied,
    });
    expect(
      await people.as("vic", "POST", "/agents", { name: "No", space_id: tenants.spaces.archive }),
    ).toMatchObject({ status: 404, body: { detail: "Space not found" } });
    expect(
      await people.as("rob", "PATCH", `/agents/${tenants.agents.analyst}`, { name: "No" }),
    ).toMatchObject({ status: 404, body: { detail: "Agent not found" } });
    await until("the denial is audited", async () =>
      (await people.audited("agents:update", tenants.agents.analyst)).some(
        (row) => row["outcome"] === "denied" && row["actor_id"] === people.ids.vic,
      ),
    );
  });

  test("names are unique in a space, tools and models must be names of some, folders must be reached", async () => {
    await make("Twice");
    expect(await make("twice")).toMatchObject({
      status: 400,
      body: { detail: "The space has an agent of this name already." },
    });
    const invalid = await make(" ", {
      tool_attachments: [{ tool_id: "calculator" }, { tool_id: "shell" }],
      model: "two words",
      temperature: 3,
      space_id: "x",
    });
    expect(invalid.status).toBe(422);
    const locations = invalid.body.detail.map((problem: { loc: unknown[] }) => problem.loc.join("."));
    expect(locations.toSorted()).toEqual([
      "body.model",
      "body.name",
      "body.space_id",
      "body.temperature",
      "body.tool_attachments.1.tool_id",
    ]);
    expect(await make("Foldered", { allowed_folder_ids: [UNKNOWN] })).toMatchObject({
      status: 404,
      body: { detail: "Folder not found" },
    });
  });

  test("allowed folders are those of spaces that are reached", async () => {
    const { db } = stack.database;
    const folder = async (spaceId: string, id: string) => {
      await db.owner.query(
        "insert into folders (id, organization_id, space_id, name, created_by) values ($1, $2, $3, 'Folder', $4)",
        [id, tenants.acme, spaceId, people.ids.ada],
      );
      return id;
    };
    const reached = await folder(tenants.spaces.research, "01900000-0000-7000-8000-0000000000d1");
    const hidden = await folder(tenants.spaces.archive, "01900000-0000-7000-8000-0000000000d2");
    const made = await make("With folders", { allowed_folder_ids: [reached] });
    expect(made).toMatchObject({ status: 201, body: { allowed_folder_ids: [reached] } });
    expect(
      (await people.as("eve", "PATCH", `/agents/${made.body.id}`, { allowed_folder_ids: [reached, hidden] }))
        .status,
    ).toBe(404);
    expect(
      (await people.as("ada", "PATCH", `/agents/${made.body.id}`, { allowed_folder_ids: [reached, hidden] }))
        .status,
    ).toBe(200);
    expect(
      (await people.as("ada", "PATCH", `/agents/${made.body.id}`, { allowed_folder_ids: [] })).body,
    ).toMatchObject({ allowed_folder_ids: [], version: "1.0.2" });
  });

  test("are not open to keys", async () => {
    expect(await routesOpenToKeys(people, agentRoutes)).toEqual([]);
  });
});
