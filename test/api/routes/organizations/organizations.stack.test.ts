/** An organization's settings and members on the real stack. */
import { describe, expect, test } from "vitest";
import { auditLogRoutes } from "../../../../src/api/routes/organizations/audit-log.ts";
import { memberRoutes } from "../../../../src/api/routes/organizations/members.ts";
import { usageRoutes } from "../../../../src/api/routes/organizations/usage.ts";
import { newId } from "../../../../src/domain/ids.ts";
import { call } from "../../../support/clients/client.ts";
import { routesOpenToKeys, signedIn } from "../../../support/clients/signed-in.ts";
import { until } from "../../../support/until.ts";

const UNKNOWN = "01900000-0000-7000-8000-00000000ffff";
const people = signedIn();
const { stack, tenants } = people;
const AT = `/organizations/${tenants.acme}`;

/** A new member of Acme, with a new key. */
async function join(name: string, role = "member"): Promise<{ id: string; key: string }> {
  const id = newId();
  const added = await people.as("ada", "PUT", `${AT}/members/${id}`, {
    email: `${name}@${tenants.domain}`,
    name,
    role,
  });
  expect(added.status).toBe(201);
  const { body } = await people.as("ada", "POST", `${AT}/api-keys`, { name, user_id: id });
  return { id, key: body.key };
}

describe("members", () => {
  test("an admin lists them", async () => {
    const { status, body } = await people.as("ada", "GET", `${AT}/members`);
    expect(status).toBe(200);
    const ada = body.items.find((member: { user_id: string }) => member.user_id === people.ids.ada);
    expect(ada).toEqual({
      user_id: people.ids.ada,
      email: `ada@${tenants.domain}`,
      name: "Ada Owner",
      role: "admin",
      avatar_url: null,
      created_at: expect.stringMatching(/Z$/),
    });
    expect(body.items.map((member: { email: string }) => member.email)).not.toContain("rob@rival.example");
    expect((await people.as("ada", "GET", `${AT}/members?limit=2&page=2`)).body).toMatchObject({
      page: 2,
      page_size: 2,
      total_items: body.total_items,
    });
  });

  test("PUT adds one, then changes it", async () => {
    const { id } = await join("mia");
    const changed = await people.as("ada", "PUT", `${AT}/members/${id}`, {
      email: `mia.new@${tenants.domain}`,
      name: "Mia",
      role: "admin",
    });
    expect(changed).toMatchObject({
      status: 200,
      body: { user_id: id, email: `mia.new@${tenants.domain}`, name: "Mia", role: "admin" },
    });
    expect(await people.audited("members:create", id)).toHaveLength(1);
    expect(await people.audited("members:update", id)).toMatchObject([
      { actor_id: people.ids.ada, auth_method: "jwt", outcome: "success" },
    ]);
    expect((await people.as("ada", "DELETE", `${AT}/members/${id}`)).status).toBe(204);
  });

  test("an e-mail address is one member's, and an id of another organization is nobody", async () => {
    const taken = { email: `VIC@${tenants.domain}`, name: "X", role: "member" };
    expect(await people.as("ada", "PUT", `${AT}/members/${newId()}`, taken)).toMatchObject({
      status: 400,
      body: { detail: "This e-mail address is in use already." },
    });
    expect(
      await people.as("ada", "PUT", `${AT}/members/${people.ids.rob}`, {
        ...taken,
        email: `x@${tenants.domain}`,
      }),
    ).toMatchObject({
      status: 404,
      body: { detail: "User not found" },
    });
    expect(
      (await people.as("ada", "PUT", `${AT}/members/${newId()}`, { email: "none", role: "king" })).body.detail
        .map((problem: { loc: string[] }) => problem.loc[1])
        .toSorted(),
    ).toEqual(["email", "name", "role"]);
  });

  test("another organization's e-mail addresses are answered like ones that nobody has", async () => {
    const [theirs, nobodys] = await Promise.all(
      [`rob@rival.${tenants.domain}`, `nobody@rival.${tenants.domain}`].map((email) =>
        people.as("ada", "PUT", `${AT}/members/${newId()}`, { email, name: "X", role: "member" }),
      ),
    );
    expect([theirs!.status, nobodys!.status]).toEqual([201, 201]);
    expect(Object.keys(theirs!.body)).toEqual(Object.keys(nobodys!.body));
    for (const { body } of [theirs!, nobodys!])
      expect((await people.as("ada", "DELETE", `${AT}/members/${body.user_id}`)).status).toBe(204);
  });

  test("an organization keeps at least one admin", async () => {
    const kept = { status: 400, body: { detail: "An organization keeps at least one admin." } };
    expect(
      await people.as("ada", "PUT", `${AT}/members/${people.ids.ada}`, {
        email: `ada@${tenants.domain}`,
        name: "Ada Owner",
        role: "member",
      }),
    ).toMatchObject(kept);
    expect(await people.as("ada", "DELETE", `${AT}/members/${people.ids.ada}`)).toMatchObject(kept);
    expect((await people.as("ada", "GET", "/me")).body.organization.role).toBe("admin");
  });

  test("a removed member loses keys and roles at once; orphaned spaces pass to an admin", async () => {
    const zoe = await join("zoe");
    const token = await stack.issuer.token("zoe", { email: `zoe@${tenants.domain}`, email_verified: true });
    const asZoe = (method: string, path: string, body?: unknown) =>
      call(stack.url, token, method, path, body);
    const [alone, shared] = [
      (await asZoe("POST", "/spaces", { name: "Zoe's alone" })).body,
      (await asZoe("POST", "/spaces", { name: "Zoe's shared" })).body,
    ];
    await asZoe("PUT", `/spaces/${shared.id}/members/${people.ids.eve}`, { role: "owner" });
    expect((await call(stack.url, zoe.key, "GET", "/models")).status).toBe(200);

    expect((await people.as("ada", "DELETE", `${AT}/members/${zoe.id}`)).status).toBe(204);
    await until(
      "the key is refused",
      async () => (await call(stack.url, zoe.key, "GET", "/models")).status === 403,
      5_000,
    );
    expect((await asZoe("GET", "/me")).status).toBe(401);
    expect((await people.as("ada", "GET", `/spaces/${alone.id}/members`)).body.items).toMatchObject([
      { user_id: people.ids.ada, role: "owner" },
    ]);
    expect((await people.as("ada", "GET", `/spaces/${alone.id}`)).body.owner_id).toBe(people.ids.ada);
    expect((await people.as("eve", "GET", `/spaces/${shared.id}/members`)).body.items).toMatchObject([
      { user_id: people.ids.eve, role: "owner" },
    ]);
    expect((await people.as("eve", "GET", `/spaces/${shared.id}`)).body.owner_id).toBe(people.ids.eve);
    const { rows } = await stack.database.db.owner.query(
      `select removed_at, (select revoked_at from api_keys where user_id = users.id) as revoked_at
       from users
       where id = $1`,
      [zoe.id],
    );
    expect(rows[0]).toEqual({ removed_at: expect.any(Date), revoked_at: expect.any(Date) });
    expect(await people.audited("members:delete", zoe.id)).toHaveLength(1);
    expect(await people.as("ada", "DELETE", `${AT}/members/${zoe.id}`)).toMatchObject({
      status: 404,
      body: { detail: "User not found" },
    });

    const back = await people.as("ada", "PUT", `${AT}/members/${zoe.id}`, {
      email: `zoe@${tenants.domain}`,
      name: "Zoe",
      role: "member",
    });
    expect(back.status).toBe(201);
    expect((await call(stack.url, zoe.key, "GET", "/models")).status).toBe(401);
    const { body: spaces } = await asZoe("POST", "/spaces/search", {});
    expect(spaces.items).toMatchObject([{ is_private: true }]);
  });

  test("a running turn of a removed member is cancelled, also if it is not in the database yet", async () => {
    const { provider, database } = stack;
    const { owner } = database.db;
    const removals: readonly ((id: string) => Promise<unknown>)[] = [
      (id) => people.as("ada", "DELETE", `${AT}/members/${id}`),
      // The state if another process removes the user before the turn is written.
      (id) => owner.query("update users set removed_at = now() where id = $1", [id]),
    ];
    for (const [index, remove] of removals.entries()) {
      const tom = await join(`tom${index}`);
      const chat = {
        model: tenants.agents.public,
        messages: [{ role: "user", content: "Tell me everything" }],
      };
      await until(
        "chat is ready",
        async () => (await call(stack.url, tom.key, "POST", "/chat/completions", chat)).status === 200,
      );
      const { chat: asked, aborted } = provider.counts;
      provider.reply({ pieces: ["Once"], firstTokenMs: 60_000 });
      const running = call(stack.url, tom.key, "POST", "/chat/completions", chat);
      await until("the provider is asked", () => provider.counts.chat === asked + 1);
      await remove(tom.id);
      expect(await running).toMatchObject({ status: 409, body: { detail: "The request was cancelled." } });
      await until("the provider's answer is dropped", () => provider.counts.aborted === aborted + 1);
    }
  });

  test("a member may not, another organization finds nothing", async () => {
    const body = { email: `y@${tenants.domain}`, name: "Y", role: "member" };
    for (const [method, path, sent] of [
      ["GET", "members", undefined],
      ["PUT", `members/${people.ids.vic}`, body],
      ["DELETE", `members/${people.ids.vic}`, undefined],
      ["GET", "audit-log", undefined],
      ["GET", "usage", undefined],
    ] as const) {
      expect(await people.as("eve", method, `${AT}/${path}`, sent)).toMatchObject({
        status: 403,
        body: { detail: "Permission denied: organization:manage" },
      });
      expect(await people.as("rob", method, `${AT}/${path}`, sent)).toMatchObject({
        status: 404,
        body: { detail: "Organization not found" },
      });
      expect((await people.as("ada", method, `/organizations/${UNKNOWN}/${path}`, sent)).status).toBe(404);
    }
  });
});

test("keys live as long as the organization says", async () => {
  const organization = `/organizations/${people.tenants.acme}`;
  const makeKey = (rest: Record<string, unknown> = {}) =>
    people.as("eve", "POST", "/me/api-keys", { name: "lifetime", ...rest });
  const expiry = async (rest: Record<string, unknown> = {}) => (await makeKey(rest)).body;
  const inSeconds = (seconds: number) => new Date(Date.now() + seconds * 1_000).toISOString();
  const before = (await makeKey()).body;
  // A refused request is written down a moment later, and is no change.
  const changes = async () =>
    (await people.audited("organization:update", people.tenants.acme)).filter(
      ({ outcome }) => outcome === "success",
    ).length;
  const changedBefore = await changes();
  expect(await people.as("ada", "PATCH", organization, { max_key_lifetime_seconds: 3_600 })).toMatchObject({
    status: 200,
    body: { max_key_lifetime_seconds: 3_600 },
  });
  try {
    expect(Date.parse((await expiry()).expires_at) - Date.now()).toBeGreaterThan(3_500_000);
    expect((await expiry({ expires_at: inSeconds(7_200) })).detail).toMatchObject([
      { loc: ["body", "expires_at"], type: "value_error" },
    ]);
    const rolled = (
      await people.as("eve", "POST", `/me/api-keys/${before.id}/roll`, { expires_at: inSeconds(7_200) })
    ).body;
    expect(rolled.detail).toMatchObject([{ loc: ["body", "expires_at"] }]);
    expect((await people.as("eve", "POST", `/me/api-keys/${before.id}/roll`)).body.expires_at).toBeNull();
    await people.as("ada", "PATCH", organization, { default_key_lifetime_seconds: 60 });
    expect(Date.parse((await expiry()).expires_at) - Date.now()).toBeLessThan(61_000);
    expect((await people.as("eve", "GET", organization)).body).toMatchObject({
      id: people.tenants.acme,
      max_key_lifetime_seconds: 3_600,
      default_key_lifetime_seconds: 60,
    });
    expect(await people.as("eve", "PATCH", organization, {})).toMatchObject({ status: 403 });
    expect(await people.as("rob", "PATCH", organization, {})).toMatchObject({ status: 404 });
    expect((await people.as("ada", "PATCH", organization, { max_key_lifetime_seconds: 0 })).status).toBe(422);
    expect(await changes()).toBe(changedBefore + 2);
  } finally {
    await people.as("ada", "PATCH", organization, {
      max_key_lifetime_seconds: null,
      default_key_lifetime_seconds: null,
    });
  }
  expect((await expiry()).expires_at).toBeNull();
});

test("none of it is open to keys", async () => {
  expect(await routesOpenToKeys(people, [...memberRoutes, ...auditLogRoutes, ...usageRoutes])).toEqual([]);
});
