/** A caller's own API keys on the real stack: making, narrowing and listing them, and what a use leaves. */
import { describe, expect, test } from "vitest";
import { ownKeyRoutes } from "../../../../src/api/routes/callers/api-keys.ts";
import { organizationKeyRoutes } from "../../../../src/api/routes/organizations/keys.ts";
import { call } from "../../../support/clients/client.ts";
import { routesOpenToKeys, signedIn } from "../../../support/clients/signed-in.ts";
import { until } from "../../../support/until.ts";

const UNKNOWN = "01900000-0000-7000-8000-00000000ffff";
const people = signedIn();
const { stack, tenants } = people;

const make = (name: string, rest: Record<string, unknown> = {}) =>
  people.as("eve", "POST", "/me/api-keys", { name, ...rest });
const spacesOf = async (key: string) =>
  (await call(stack.url, key, "POST", "/spaces/search", {})).body.items.map(
    (space: { id: string }) => space.id,
  );

describe("own keys", () => {
  test("the text is shown once, and works", async () => {
    const made = await make("first");
    expect(made).toMatchObject({
      status: 201,
      body: {
        id: expect.any(String),
        name: "first",
        user_id: people.ids.eve,
        created_by: people.ids.eve,
        spaces: null,
        allowed_cidrs: null,
        capabilities: ["read", "search", "chat", "write"],
        expires_at: null,
        last_used_at: null,
        revoked_at: null,
      },
    });
    expect(made.body.key).toMatch(/^sk-hf-[0-9A-Za-z]{49}$/);
    expect(made.body.key.startsWith(made.body.prefix)).toBe(true);
    expect(made.headers.get("cache-control")).toBe("no-store");
    expect((await call(stack.url, made.body.key, "GET", "/models")).status).toBe(200);
    const { body: list } = await people.as("eve", "GET", "/me/api-keys");
    expect(list.items.map((key: { name: string }) => key.name)).toEqual(["first", "editor"]);
    expect(JSON.stringify(list)).not.toContain(made.body.key);
    expect(await people.audited("api_keys:create", made.body.id)).toMatchObject([
      { actor_id: people.ids.eve, auth_method: "jwt", outcome: "success" },
    ]);
  });

  test("are listed in pages, only the caller's own", async () => {
    const { body } = await people.as("vic", "GET", "/me/api-keys?limit=1");
    expect(body).toMatchObject({
      total_items: 1,
      total_pages: 1,
      page: 1,
      page_size: 1,
      items: [{ name: "viewer", user_id: people.ids.vic }],
    });
  });

  test("one narrowed to spaces stays in them", async () => {
    const { body } = await make("narrow", { spaces: [tenants.spaces.research] });
    expect(body.spaces).toEqual([tenants.spaces.research]);
    expect(await spacesOf(body.key)).toEqual([tenants.spaces.research]);
    expect((await call(stack.url, body.key, "GET", `/agents/${tenants.agents.public}`)).status).toBe(404);
    const nothing = await make("nothing", { spaces: [] });
    expect(await spacesOf(nothing.body.key)).toEqual([]);
  });

  test("a space without a role of the owner cannot be chosen", async () => {
    for (const space of [tenants.spaces.archive, tenants.spaces.rival, UNKNOWN])
      expect(await make("no", { spaces: [space] })).toMatchObject({
        status: 404,
        body: { detail: "Space not found" },
      });
  });

  test("one narrowed to capabilities can do nothing else", async () => {
    const { body } = await make("reader", { capabilities: ["read", "read"] });
    expect(body.capabilities).toEqual(["read"]);
    expect((await call(stack.url, body.key, "POST", "/spaces/search", {})).status).toBe(200);
    expect(
      (
        await call(stack.url, body.key, "POST", "/data/hybrid-search", {
          query: "x",
          space_id: tenants.spaces.research,
        })
      ).status,
    ).toBe(403);
    expect(
      (
        await call(stack.url, body.key, "POST", "/chat/completions", {
          model: tenants.agents.analyst,
          messages: [{ role: "user", content: "x" }],
        })
      ).status,
    ).toBe(403);
  });

  test("one that is bound to other addresses is refused exactly as an unknown one", async () => {
    const { body } = await make("elsewhere only", { allowed_cidrs: ["203.0.113.0/24"] });
    const answers = await Promise.all(
      [body.key, `sk-${"x".repeat(60)}`].map((key) =>
        call(stack.url, key, "GET", "/models", undefined, { "x-forwarded-for": "203.0.113.5" }),
      ),
    );
    const shown = answers.map(({ status, body: told, headers }) => ({
      status,
      told,
      names: [...headers.keys()],
      authenticate: headers.get("www-authenticate"),
    }));
    expect(shown[0]).toEqual(shown[1]);
    expect(shown[0]).toMatchObject({ status: 401, told: { detail: "Invalid API key" } });
    const wrong = await make("wrong", { allowed_cidrs: ["203.0.113.0/24", "203.0.113.1/24", "office"] });
    expect(wrong.body.detail).toMatchObject(
      [1, 2].map((index) => ({ loc: ["body", "allowed_cidrs", index] })),
    );
    for (const allowed_cidrs of [[], Array.from({ length: 51 }, () => "192.0.2.1")])
      expect((await make("wrong", { allowed_cidrs })).status).toBe(422);
  });

  test("are listed by age and last use, and unused ones are found", async () => {
    const list = async (query: Record<string, string>) => {
      const { body } = await people.as("vic", "GET", `/me/api-keys?${new URLSearchParams(query).toString()}`);
      return body.items?.map((key: { name: string }) => key.name) ?? body.detail[0].loc;
    };
    const old = await people.as("vic", "POST", "/me/api-keys", { name: "old" });
    await stack.database.db.owner.query("update api_keys set created_at = '2020-01-01' where id = $1", [
      old.body.id,
    ]);
    expect(await list({ order_by: "created_at" })).toEqual(["old", "viewer"]);
    expect(await list({ order_by: "-created_at", limit: "1" })).toEqual(["viewer"]);
    expect(await list({ filters: JSON.stringify({ unused_since__lt: "2021-01-01" }) })).toEqual(["old"]);
    expect(await list({ filters: JSON.stringify({ created_at__gte: "2021-01-01" }) })).toEqual(["viewer"]);
    await stack.database.db.owner.query(
      `update api_keys
       set last_used_at = case name when 'old' then '2020-02-01' else now() end::timestamptz
       where user_id = $1`,
      [people.ids.vic],
    );
    expect(await list({ order_by: "last_used_at" })).toEqual(["old", "viewer"]);
    expect(await list({ order_by: "-last_used_at" })).toEqual(["viewer", "old"]);
    expect(await list({ filters: JSON.stringify({ hash: "x" }) })).toEqual(["query", "filters", "hash"]);
    expect(await list({ filters: '{"__proto__":1}' })).toEqual(["query", "filters", "__proto__"]);
    await people.as("vic", "DELETE", `/me/api-keys/${old.body.id}`);
    expect(await list({ filters: JSON.stringify({ revoked_at__isnull: true }) })).toEqual(["viewer"]);
    await stack.database.db.owner.query("delete from api_keys where id = $1", [old.body.id]);
  });

  test("those of others are not found", async () => {
    const { body } = await make("mine");
    for (const who of ["vic", "ada", "rob"] as const)
      expect(await people.as(who, "DELETE", `/me/api-keys/${body.id}`)).toMatchObject({
        status: 404,
        body: { detail: "API key not found" },
      });
    expect((await call(stack.url, body.key, "GET", "/models")).status).toBe(200);
  });

  test("a use is noted in last_used_at and in the audit log with the key's id", async () => {
    const { body } = await make("used");
    await call(stack.url, body.key, "GET", `/agents/${tenants.agents.analyst}`);
    const used = await until(
      "the use is noted",
      async () => {
        const { body: list } = await people.as("eve", "GET", "/me/api-keys");
        const key = list.items.find((one: { id: string }) => one.id === body.id);
        return key.last_used_at !== null && key;
      },
      3_000,
    );
    expect(Date.parse(used.last_used_at)).toBeGreaterThan(Date.now() - 10_000);
    expect(used).toMatchObject({ last_used_ip: "127.0.0.1", last_used_user_agent: expect.any(String) });
    const row = await until(
      "the read is audited",
      async () =>
        (await people.audited("agents:read", tenants.agents.analyst)).find(
          (one) => one["api_key_id"] === body.id,
        ),
      3_000,
    );
    expect(row).toMatchObject({
      auth_method: "api_key",
      actor_id: people.ids.eve,
      outcome: "success",
      resource_type: "agent",
    });

    await call(stack.url, body.key, "POST", "/data/hybrid-search", {
      query: "anything",
      space_id: tenants.spaces.research,
    });
    const search = await until(
      "the search is audited",
      async () =>
        (await people.audited("documents:search", tenants.spaces.research)).find(
          (one) => one["api_key_id"] === body.id,
        ),
      3_000,
    );
    expect(search).toMatchObject({
      outcome: "success",
      resource_type: "space",
      space_id: tenants.spaces.research,
    });
  });
});

test("keys cannot manage keys", async () => {
  expect(await routesOpenToKeys(people, [...ownKeyRoutes, ...organizationKeyRoutes])).toEqual([]);
});
