/** Spaces and their members on the real stack. */
import { describe, expect, test } from "vitest";
import { spaceMemberRoutes } from "../../../../src/api/routes/spaces/members.ts";
import { spaceRoutes } from "../../../../src/api/routes/spaces/spaces.ts";
import { call, upload } from "../../../support/clients/client.ts";
import { routesOpenToKeys, signedIn } from "../../../support/clients/signed-in.ts";
import { until } from "../../../support/until.ts";

const UNKNOWN = "01900000-0000-7000-8000-00000000ffff";
const people = signedIn();
const { stack, tenants } = people;

/** A new space of Eve, who is not an admin. */
async function make(name: string): Promise<string> {
  const { status, body } = await people.as("eve", "POST", "/spaces", { name });
  expect(status).toBe(201);
  return body.id;
}
async function shown(id: string) {
  const { status, body, headers } = await people.as("eve", "GET", `/spaces/${id}`);
  expect(status).toBe(200);
  return { body, etag: headers.get("etag") };
}
const reached = async (key: string): Promise<string[]> =>
  (await call(stack.url, key, "POST", "/spaces/search", {})).body.items.map(
    (space: { id: string }) => space.id,
  );
const privateSpace = async (who: "eve" | "vic"): Promise<string> =>
  (await people.as(who, "GET", "/me")).body.private_space_id;

describe("spaces", () => {
  test("search lists what is reached", async () => {
    expect((await reached(tenants.keys.scoped)).toSorted()).toEqual([tenants.spaces.archive]);
    expect((await reached(tenants.keys.viewer)).toSorted()).toEqual(
      [tenants.spaces.research, await privateSpace("vic")].toSorted(),
    );
    expect(await reached(tenants.keys.rival)).not.toContain(tenants.spaces.research);
  });

  test("any member makes one and owns it; the key sees it within 5 seconds", async () => {
    const { status, body } = await people.as("eve", "POST", "/spaces", { name: "Eve's" });
    expect(status).toBe(201);
    expect(body).toEqual({
      id: expect.any(String),
      name: "Eve's",
      is_private: false,
      owner_id: people.ids.eve,
      organization_id: tenants.acme,
      created_at: expect.any(String),
      updated_at: expect.any(String),
    });
    const embedding = { model: expect.any(String), language_fit: null, is_language_known: null };
    expect((await people.as("eve", "GET", `/spaces/${body.id}`)).body).toEqual({ ...body, embedding });
    await until(
      "the key reaches it",
      async () => (await reached(tenants.keys.editor)).includes(body.id),
      5_000,
    );
    expect((await upload(stack.url, tenants.keys.editor, body.id, "Text.")).space_id).toBe(body.id);
    expect(await people.audited("spaces:create", body.id)).toMatchObject([
      { actor_id: people.ids.eve, space_id: body.id, outcome: "success" },
    ]);
  });

  test("shows what the model that new documents are embedded with knows of its language", async () => {
    const id = await make("Measured");
    const { owner } = stack.database.db;
    const { etag, body } = await shown(id);
    // With other dimensions than the worker's, no document of the shared stack could be embedded any more.
    const dimensions = Number(stack.env["EMBEDDING_DIMENSIONS"]);
    const measured = async (model: string, auc: number | null) => {
      await owner.query(
        "insert into embedding_models (name, dimensions) values ($1, $2) on conflict (name) do nothing",
        [model, dimensions],
      );
      await owner.query(
        `insert into language_fits (organization_num, space_num, model_num, auc, pairs, chunks_measured)
         select organization.num, space.num, model.num, $3, 40, 80
         from spaces space
         join organizations organization on organization.id = space.organization_id
         join embedding_models model on model.name = $2
         where space.id = $1
         on conflict (space_num, model_num) do update set auc = excluded.auc`,
        [id, model, auc],
      );
      return (await shown(id)).body.embedding;
    };
    const { model } = body.embedding;
    const nothing = { model, language_fit: null, is_language_known: null };
    expect(await measured("a model of before", 0.99)).toEqual(nothing);
    expect(await measured(model, 0.95)).toEqual({ model, language_fit: 1, is_language_known: true });
    const low = await measured(model, 0.54);
    expect(low).toMatchObject({ model, is_language_known: false });
    expect(low.language_fit).toBeCloseTo(0.1, 5);
    expect((await shown(id)).etag).toBe(etag);
    expect(await measured(model, null)).toEqual(nothing);
  });

  test("names of shared spaces are unique, and one is kept", async () => {
    expect(await people.as("vic", "POST", "/spaces", { name: "RESEARCH" })).toMatchObject({
      status: 400,
      body: { detail: "The organization already has a space with this name." },
    });
    expect((await people.as("vic", "POST", "/spaces", { name: "Private" })).status).toBe(400);
    expect((await people.as("vic", "POST", "/spaces", { name: " " })).status).toBe(422);
  });

  test("its owner renames it, with If-Match", async () => {
    const id = await make("Before");
    const etag = (await people.as("eve", "GET", `/spaces/${id}`)).headers.get("etag")!;
    expect(
      await people.as("eve", "PATCH", `/spaces/${id}`, { name: "After" }, { "if-match": etag }),
    ).toMatchObject({ status: 200, body: { id, name: "After" } });
    expect(
      (await people.as("eve", "PATCH", `/spaces/${id}`, { name: "Later" }, { "if-match": etag })).status,
    ).toBe(412);
    expect(await people.as("eve", "PATCH", `/spaces/${id}`, {})).toMatchObject({
      status: 200,
      body: { name: "After" },
    });
    expect(await people.audited("spaces:update", id)).toHaveLength(1);
  });

  test("deleting it takes it from everybody, and its documents with it", async () => {
    const id = await make("Doomed");
    const document = await until("the key reaches it", () =>
      upload(stack.url, tenants.keys.editor, id, "Doomed text.").catch(() => undefined),
    );
    expect((await people.as("eve", "DELETE", `/spaces/${id}`)).status).toBe(204);
    expect((await people.as("eve", "GET", `/spaces/${id}`)).status).toBe(404);
    expect((await people.as("eve", "DELETE", `/spaces/${id}`)).status).toBe(404);
    await until(
      "the key does not reach it",
      async () => !(await reached(tenants.keys.editor)).includes(id),
      5_000,
    );
    expect((await call(stack.url, tenants.keys.editor, "GET", `/data/${document.id}`)).status).toBe(404);
    expect(await people.audited("spaces:delete", id)).toMatchObject([{ actor_id: people.ids.eve }]);
    const { rows } = await stack.database.db.owner.query(
      "select kind, target_id, created_by from deletions where target_id = $1",
      [id],
    );
    expect(rows).toEqual([{ kind: "space", target_id: id, created_by: people.ids.eve }]);
    expect((await people.as("vic", "POST", "/spaces", { name: "Doomed" })).status).toBe(201);
  });

  test("a private space stays, and has no other members", async () => {
    const id = await privateSpace("eve");
    expect(await people.as("eve", "DELETE", `/spaces/${id}`)).toMatchObject({
      status: 400,
      body: { detail: "A private space cannot be deleted." },
    });
    expect(
      (await people.as("eve", "PUT", `/spaces/${id}/members/${people.ids.vic}`, { role: "viewer" })).status,
    ).toBe(400);
    expect((await people.as("eve", "DELETE", `/spaces/${id}/members/${people.ids.eve}`)).status).toBe(400);
    expect((await people.as("eve", "GET", `/spaces/${id}/members`)).body.items).toMatchObject([
      { user_id: people.ids.eve, role: "owner" },
    ]);
    for (const method of ["GET", "DELETE"])
      expect((await people.as("ada", method, `/spaces/${id}`)).status).toBe(404);
    expect((await people.as("ada", "GET", `/spaces/${id}/members`)).status).toBe(404);
  });

  test.each([
    ["a viewer", "vic", tenants.spaces.research, 403],
    ["an editor", "eve", tenants.spaces.research, 403],
    ["a member without a role", "vic", tenants.spaces.archive, 404],
    ["another organization", "rob", tenants.spaces.research, 404],
    ["the owner of another", "ada", UNKNOWN, 404],
  ] as const)("%s may not manage one", async (_who, who, id, status) => {
    const body = { detail: status === 403 ? "Permission denied: spaces:manage" : "Space not found" };
    for (const [method, path, sent] of [
      ["PATCH", "", { name: "No" }],
      ["DELETE", "", undefined],
      ["GET", "/members", undefined],
      ["PUT", `/members/${people.ids.vic}`, { role: "owner" }],
      ["DELETE", `/members/${people.ids.vic}`, undefined],
    ] as const) {
      expect(await people.as(who, method, `/spaces/${id}${path}`, sent)).toMatchObject({ status, body });
    }
    expect((await people.as(who, "GET", `/spaces/${id}`)).status).toBe(status === 403 ? 200 : 404);
  });

  test("an admin manages a shared space without reaching what is in it", async () => {
    const id = await make("Managed");
    expect((await people.as("ada", "GET", `/spaces/${id}`)).status).toBe(200);
    expect((await people.as("ada", "GET", `/spaces/${id}/members`)).body.items).toHaveLength(1);
    expect(await people.as("ada", "PATCH", `/spaces/${id}`, { name: "Managed by Ada" })).toMatchObject({
      status: 200,
    });
    expect(await reached(tenants.keys.owner)).not.toContain(id);
    expect((await people.as("ada", "POST", "/agents", { name: "No", space_id: id })).status).toBe(404);
  });
});

describe("members of a space", () => {
  test("an owner gives, changes and takes roles; keys follow within 5 seconds", async () => {
    const id = await make("Shared");
    const at = `/spaces/${id}/members/${people.ids.vic}`;
    expect(await people.as("eve", "PUT", at, { role: "viewer" })).toMatchObject({
      status: 201,
      body: { user_id: people.ids.vic, email: `vic@${tenants.domain}`, name: "Vic Viewer", role: "viewer" },
    });
    await until("Vic's key reaches it", async () => (await reached(tenants.keys.viewer)).includes(id), 5_000);
    expect(await people.as("eve", "PUT", at, { role: "editor" })).toMatchObject({
      status: 200,
      body: { role: "editor" },
    });
    await until(
      "Vic's key writes",
      () => upload(stack.url, tenants.keys.viewer, id, "By Vic.").catch(() => undefined),
      5_000,
    );
    const { body: list } = await people.as("eve", "GET", `/spaces/${id}/members`);
    expect(list).toMatchObject({ total_items: 2, page: 1, page_size: 100 });
    expect(
      Object.fromEntries(
        list.items.map((member: { user_id: string; role: string }) => [member.user_id, member.role]),
      ),
    ).toEqual({
      [people.ids.eve]: "owner",
      [people.ids.vic]: "editor",
    });
    expect((await people.as("eve", "DELETE", at)).status).toBe(204);
    await until(
      "Vic's key does not reach it",
      async () => !(await reached(tenants.keys.viewer)).includes(id),
      5_000,
    );
    expect(await people.as("eve", "DELETE", at)).toMatchObject({
      status: 404,
      body: { detail: "User not found" },
    });
    const actions = await stack.database.db.owner.query(
      `select action
       from audit_log
       where space_id = $1
         and resource_id = $2
         and outcome = 'success'
       order by at, id`,
      [id, people.ids.vic],
    );
    expect(actions.rows.map((row) => row.action)).toEqual([
      "space_members:create",
      "space_members:update",
      "space_members:delete",
    ]);
  });

  test("a space has at least one owner, and the owner of record is one of them", async () => {
    const id = await make("Owned");
    const [eve, vic] = [`/spaces/${id}/members/${people.ids.eve}`, `/spaces/${id}/members/${people.ids.vic}`];
    const kept = { status: 400, body: { detail: "A space has at least one owner." } };
    expect(await people.as("eve", "PUT", eve, { role: "editor" })).toMatchObject(kept);
    expect(await people.as("eve", "DELETE", eve)).toMatchObject(kept);
    expect((await people.as("eve", "GET", `/spaces/${id}/members`)).body.items).toMatchObject([
      { user_id: people.ids.eve, role: "owner" },
    ]);
    await people.as("eve", "PUT", vic, { role: "owner" });
    expect((await people.as("eve", "DELETE", eve)).status).toBe(204);
    expect((await people.as("vic", "GET", `/spaces/${id}`)).body.owner_id).toBe(people.ids.vic);
    expect((await people.as("eve", "GET", `/spaces/${id}`)).status).toBe(404);
  });

  test("only members of the organization can be given a role", async () => {
    const id = await make("Closed");
    for (const user of [people.ids.rob, UNKNOWN])
      expect(
        await people.as("eve", "PUT", `/spaces/${id}/members/${user}`, { role: "viewer" }),
      ).toMatchObject({ status: 404, body: { detail: "User not found" } });
    expect(
      await people.as("eve", "PUT", `/spaces/${id}/members/${people.ids.vic}`, { role: "king" }),
    ).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ["body", "role"], type: "literal_error" }] },
    });
  });

  test("a role opens the space's agents", async () => {
    await people.as("ada", "PUT", `/spaces/${tenants.spaces.archive}/members/${people.ids.vic}`, {
      role: "editor",
    });
    expect(
      (await people.as("vic", "PATCH", `/agents/${tenants.agents.public}`, { description: "By Vic." }))
        .status,
    ).toBe(200);
    await people.as("ada", "DELETE", `/spaces/${tenants.spaces.archive}/members/${people.ids.vic}`);
    expect(
      (await people.as("vic", "PATCH", `/agents/${tenants.agents.public}`, { description: "No." })).status,
    ).toBe(403);
  });
});

test("none of it is open to keys", async () => {
  expect(await routesOpenToKeys(people, [...spaceRoutes, ...spaceMemberRoutes])).toEqual([]);
});
