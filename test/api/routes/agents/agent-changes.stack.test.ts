/** Changes of agents on the real stack: who may make them, and what they leave behind. */
import { expect, test } from "vitest";
import { agentRoutes } from "../../../../src/api/routes/agents/agents.ts";
import { call } from "../../../support/clients/client.ts";
import { routesOpenToKeys, signedIn } from "../../../support/clients/signed-in.ts";
import { until } from "../../../support/until.ts";

const UNKNOWN = "01900000-0000-7000-8000-00000000ffff";
const people = signedIn();
const { stack, tenants } = people;

const search = async (key: string, body: unknown) =>
  (await call(stack.url, key, "POST", "/agents/search", body)).body;
const make = async (name: string, rest: Record<string, unknown> = {}) =>
  people.as("eve", "POST", "/agents", { name, space_id: tenants.spaces.research, ...rest });

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

test("a change raises the version and notes its editor; one that changes nothing does neither", async () => {
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

test("a viewer may not, who does not reach the space finds nothing, and denials are audited", async () => {
  const denied = { detail: "Permission denied: agents:write" };
  expect(
    await people.as("vic", "POST", "/agents", { name: "No", space_id: tenants.spaces.research }),
  ).toMatchObject({ status: 403, body: denied });
  expect(await people.as("vic", "PATCH", `/agents/${tenants.agents.analyst}`, { name: "No" })).toMatchObject({
    status: 403,
    body: denied,
  });
  expect(await people.as("vic", "DELETE", `/agents/${tenants.agents.public}`)).toMatchObject({
    status: 403,
    body: denied,
  });
  expect(
    await people.as("vic", "POST", "/agents", { name: "No", space_id: tenants.spaces.archive }),
  ).toMatchObject({ status: 404, body: { detail: "Space not found" } });
  expect(await people.as("rob", "PATCH", `/agents/${tenants.agents.analyst}`, { name: "No" })).toMatchObject({
    status: 404,
    body: { detail: "Agent not found" },
  });
  await until("the denial is audited", async () =>
    (await people.audited("agents:update", tenants.agents.analyst)).some(
      (row) => row["outcome"] === "denied" && row["actor_id"] === people.ids.vic,
    ),
  );
});

test("names are unique in a space, tools and models have known names, folders are reached", async () => {
  await make("Twice");
  expect(await make("twice")).toMatchObject({
    status: 400,
    body: { detail: "The space already has an agent with this name." },
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
      `insert into folders (id, organization_id, space_id, name, created_by)
       values ($1, $2, $3, 'Folder', $4)`,
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
