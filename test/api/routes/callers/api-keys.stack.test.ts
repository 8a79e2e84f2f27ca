/** API keys on the real stack: made once, narrowed, expired, revoked, and what they leave behind. */
import { describe, expect, test } from "vitest";
import { ownKeyRoutes } from "../../../../src/api/routes/callers/api-keys.ts";
import { organizationKeyRoutes } from "../../../../src/api/routes/organizations/keys.ts";
import { freePort } from "../../../../src/embedded/ports.ts";
import { call, ended, upload } from "../../../support/clients/client.ts";
import { startProcess } from "../../../support/stack/processes.ts";
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

  test("one that expires is refused afterwards", async () => {
    const { body } = await make("brief", { expires_at: new Date(Date.now() + 1_500).toISOString() });
    expect((await call(stack.url, body.key, "GET", "/models")).status).toBe(200);
    await until(
      "the key has expired",
      async () => (await call(stack.url, body.key, "GET", "/models")).status === 401,
      5_000,
    );
    expect(await make("past", { expires_at: "2020-01-01" })).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ["body", "expires_at"], type: "value_error" }] },
    });
  });

  test("one that is revoked is refused within 5 seconds, and others go on", async () => {
    const [gone, stays] = [(await make("gone")).body, (await make("stays")).body];
    expect((await call(stack.url, gone.key, "GET", "/models")).status).toBe(200);
    expect((await people.as("eve", "DELETE", `/me/api-keys/${gone.id}`)).status).toBe(204);
    const refused = await until(
      "the key is refused",
      async () => {
        const answer = await call(stack.url, gone.key, "GET", "/models");
        return answer.status !== 200 && answer;
      },
      5_000,
    );
    expect(refused).toMatchObject({ status: 401, body: { detail: "Invalid API key" } });
    expect((await call(stack.url, stays.key, "GET", "/models")).status).toBe(200);
    expect((await people.as("eve", "DELETE", `/me/api-keys/${gone.id}`)).status).toBe(204);
    const { body: list } = await people.as("eve", "GET", "/me/api-keys");
    expect(list.items.find((key: { id: string }) => key.id === gone.id).revoked_at).toMatch(/Z$/);
  });

  test("one that is revoked in one process is refused by the other within 5 seconds", async () => {
    const port = await freePort();
    const other = startProcess("src/api/main.ts", { ...stack.env, PORT: String(port) });
    try {
      const otherUrl = `http://127.0.0.1:${port}`;
      await until("the other process answers", async () => (await fetch(`${otherUrl}/health`)).ok, 60_000);
      const { body: key } = await make("elsewhere");
      expect((await call(otherUrl, key.key, "GET", "/models")).status).toBe(200);
      const revokedAt = Date.now();
      expect((await people.as("eve", "DELETE", `/me/api-keys/${key.id}`)).status).toBe(204);
      await until(
        "the other process refuses the key",
        async () => (await call(otherUrl, key.key, "GET", "/models")).status === 401,
        5_000,
      );
      expect(Date.now() - revokedAt).toBeLessThan(5_000);
    } finally {
      await other.kill("SIGTERM");
    }
  });

  test("one that is rolled works with both texts until it is rolled without an overlap, and stays the same key", async () => {
    const { body: first } = await make("rolling", {
      spaces: [tenants.spaces.research],
      allowed_cidrs: ["127.0.0.1", "2001:db8::/32"],
    });
    expect(first.allowed_cidrs).toEqual(["127.0.0.1/32", "2001:db8::/32"]);
    const rolled = await people.as("eve", "POST", `/me/api-keys/${first.id}/roll`, { overlap_seconds: 600 });
    expect(rolled).toMatchObject({
      status: 201,
      body: {
        id: first.id,
        name: "rolling",
        spaces: first.spaces,
        allowed_cidrs: first.allowed_cidrs,
        expires_at: null,
      },
    });
    expect(rolled.headers.get("cache-control")).toBe("no-store");
    expect(Date.parse(rolled.body.overlap_ends_at)).toBeGreaterThan(Date.now() + 500_000);
    for (const key of [first.key, rolled.body.key])
      expect(await spacesOf(key)).toEqual([tenants.spaces.research]);
    const again = await people.as("eve", "POST", `/me/api-keys/${first.id}/roll`, {
      overlap_seconds: 0,
      expires_at: "2100-01-01",
    });
    expect(again.body).toMatchObject({ overlap_ends_at: null, expires_at: "2100-01-01T00:00:00.000Z" });
    for (const key of [first.key, rolled.body.key])
      expect((await call(stack.url, key, "GET", "/models")).status).toBe(401);
    expect((await call(stack.url, again.body.key, "GET", "/models")).status).toBe(200);
    expect(await people.audited("api_keys:roll", first.id)).toMatchObject([
      { actor_id: people.ids.eve },
      { actor_id: people.ids.eve },
    ]);
    expect(
      (await people.as("eve", "POST", `/me/api-keys/${first.id}/roll`)).body.overlap_ends_at,
    ).not.toBeNull();
    for (const overlap_seconds of [-1, 604_801])
      expect(
        (await people.as("eve", "POST", `/me/api-keys/${first.id}/roll`, { overlap_seconds })).status,
      ).toBe(422);
    for (const who of ["vic", "ada", "rob"] as const)
      expect((await people.as(who, "POST", `/me/api-keys/${first.id}/roll`)).status).toBe(404);
  });

  test("one that is bound to other addresses is refused in the words and with the headers of one that nobody has", async () => {
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

  test("are listed by age and last use, and those that nobody uses are found", async () => {
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
      "update api_keys set last_used_at = case name when 'old' then '2020-02-01' else now() end::timestamptz where user_id = $1",
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

  test("a user has at most 50 that live, however many are asked for at once; those who have more keep them", async () => {
    const { owner } = stack.database.db;
    const many = (count: number) =>
      owner.query(
        `insert into api_keys (id, organization_id, user_id, name, prefix, hash, all_spaces)
         select id, $1, $2, 'many', 'sk-', sha256(uuid_send(id)), true from (select gen_random_uuid() as id from generate_series(1, $3)) made`,
        [tenants.rival, people.ids.rob, count],
      );
    await many(48);
    const answers = await Promise.all(
      [1, 2, 3, 4].map(() => people.as("rob", "POST", "/me/api-keys", { name: "one more" })),
    );
    const refusals = answers.filter(({ status }) => status === 400);
    expect(refusals.map(({ body }) => body.detail)).toEqual(
      Array.from(
        { length: 3 },
        () => "A user may have at most 50 API keys that are neither revoked nor expired",
      ),
    );
    const { id } = answers.find(({ status }) => status === 201)!.body;
    expect((await people.as("rob", "POST", `/me/api-keys/${id}/roll`)).status).toBe(201);
    await people.as("rob", "DELETE", `/me/api-keys/${id}`);
    const { key } = (await people.as("rob", "POST", "/me/api-keys", { name: "in its place" })).body;
    await many(10);
    for (const one of [key, tenants.keys.rival])
      expect((await call(stack.url, one, "GET", "/models")).status).toBe(200);
    const { rows } = await owner.query(
      "select count(*)::int as live from api_keys where user_id = $1 and revoked_at is null",
      [people.ids.rob],
    );
    expect(rows).toEqual([{ live: 60 }]);
    await owner.query("delete from api_keys where name = 'many' and user_id = $1", [people.ids.rob]);
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

describe("keys of an organization", () => {
  const path = `/organizations/${tenants.acme}/api-keys`;

  test("an admin lists, makes and revokes those of members", async () => {
    const made = await people.as("ada", "POST", path, {
      name: "for vic",
      user_id: people.ids.vic,
      spaces: [tenants.spaces.research],
      capabilities: ["read", "search"],
    });
    expect(made).toMatchObject({
      status: 201,
      body: { user_id: people.ids.vic, spaces: [tenants.spaces.research], capabilities: ["read", "search"] },
    });
    expect(await spacesOf(made.body.key)).toEqual([tenants.spaces.research]);
    const { body: ofVic } = await people.as("ada", "GET", `${path}?user_id=${people.ids.vic}`);
    expect(ofVic.items.map((key: { name: string }) => key.name)).toEqual(["for vic", "viewer"]);
    expect(ofVic.items[0]).not.toHaveProperty("key");
    const { body: all } = await people.as("ada", "GET", path);
    expect(new Set(all.items.map((key: { user_id: string }) => key.user_id))).toEqual(
      new Set([people.ids.ada, people.ids.eve, people.ids.vic]),
    );
    expect((await people.as("ada", "DELETE", `${path}/${made.body.id}`)).status).toBe(204);
    await until(
      "the key is refused",
      async () => (await call(stack.url, made.body.key, "GET", "/models")).status === 401,
      5_000,
    );
    expect(await people.audited("api_keys:revoke", made.body.id)).toMatchObject([
      { actor_id: people.ids.ada },
    ]);
  });

  test("a key has the spaces of its owner, not of the admin who makes it", async () => {
    expect(
      await people.as("ada", "POST", path, {
        name: "too wide",
        user_id: people.ids.vic,
        spaces: [tenants.spaces.archive],
      }),
    ).toMatchObject({
      status: 404,
      body: { detail: "Space not found" },
    });
    for (const id of [UNKNOWN, people.ids.rob])
      expect(await people.as("ada", "POST", path, { name: "no", user_id: id })).toMatchObject({
        status: 404,
        body: { detail: "User not found" },
      });
  });

  test("one that an admin makes for a member reaches shared spaces alone, and the member sees who made it", async () => {
    const mine = (await people.as("vic", "GET", "/me")).body.private_space_id as string;
    const search = async (key: string) =>
      (await call(stack.url, key, "POST", "/data/hybrid-search", { query: "x", space_id: mine })).body
        .total_results;
    const { id } = await upload(stack.url, tenants.keys.viewer, mine, "# Diary\n\nx marks the spot.");
    await ended(stack.url, tenants.keys.viewer, id);
    const { body } = await people.as("ada", "POST", path, { name: "from ada", user_id: people.ids.vic });
    expect(body).toMatchObject({ user_id: people.ids.vic, created_by: people.ids.ada, spaces: null });
    expect(await people.audited("api_keys:create", body.id)).toMatchObject([
      { actor_id: people.ids.ada, auth_method: "jwt", outcome: "success" },
    ]);
    expect(await spacesOf(body.key)).toEqual([tenants.spaces.research]);
    expect(await search(tenants.keys.viewer)).toBe(1);
    expect(await search(body.key)).toBe(0);
    expect((await call(stack.url, body.key, "GET", `/data/${id}`)).status).toBe(404);
    expect(
      await people.as("ada", "POST", path, { name: "no", user_id: people.ids.vic, spaces: [mine] }),
    ).toMatchObject({ status: 404, body: { detail: "Space not found" } });
    const { body: list } = await people.as("vic", "GET", "/me/api-keys");
    expect(list.items.find((key: { id: string }) => key.id === body.id).created_by).toBe(people.ids.ada);
    const rolled = await people.as("ada", "POST", `${path}/${body.id}/roll`, { overlap_seconds: 60 });
    expect(await spacesOf(rolled.body.key)).toEqual([tenants.spaces.research]);
    const own = await people.as("vic", "POST", "/me/api-keys", { name: "own" });
    expect(await people.as("ada", "POST", `${path}/${own.body.id}/roll`)).toMatchObject({ status: 403 });
    const forSelf = await people.as("ada", "POST", path, { name: "for myself", user_id: people.ids.ada });
    expect(await spacesOf(forSelf.body.key)).toContain(
      (await people.as("ada", "GET", "/me")).body.private_space_id,
    );
  });

  test("a member may not, and another organization finds nothing", async () => {
    const { body } = await make("kept");
    for (const [method, at, sent] of [
      ["GET", path, undefined],
      ["POST", path, { name: "x", user_id: people.ids.eve }],
      ["DELETE", `${path}/${body.id}`, undefined],
    ] as const) {
      expect(await people.as("eve", method, at, sent)).toMatchObject({
        status: 403,
        body: { detail: "Permission denied: organization:manage" },
      });
      expect(await people.as("rob", method, at, sent)).toMatchObject({
        status: 404,
        body: { detail: "Organization not found" },
      });
    }
    expect(
      await people.as("rob", "DELETE", `/organizations/${tenants.rival}/api-keys/${body.id}`),
    ).toMatchObject({ status: 404, body: { detail: "API key not found" } });
    expect((await call(stack.url, body.key, "GET", "/models")).status).toBe(200);
  });
});

test("keys cannot manage keys", async () => {
  expect(await routesOpenToKeys(people, [...ownKeyRoutes, ...organizationKeyRoutes])).toEqual([]);
});

test("a key that was made by nobody is refused", async () => {
  expect(await call(stack.url, `${tenants.keys.owner}x`, "GET", "/models")).toMatchObject({
    status: 401,
    body: { detail: "Invalid API key" },
  });
});
