/** How long an API key works on the real stack: until it expires, is revoked or is rolled. */
import { expect, test } from "vitest";
import { freePort } from "../../../../src/embedded/ports.ts";
import { call } from "../../../support/clients/client.ts";
import { signedIn } from "../../../support/clients/signed-in.ts";
import { startProcess } from "../../../support/stack/processes.ts";
import { until } from "../../../support/until.ts";

const people = signedIn();
const { stack, tenants } = people;

const make = (name: string, rest: Record<string, unknown> = {}) =>
  people.as("eve", "POST", "/me/api-keys", { name, ...rest });
const spacesOf = async (key: string) =>
  (await call(stack.url, key, "POST", "/spaces/search", {})).body.items.map(
    (space: { id: string }) => space.id,
  );

test("a key that expires is refused afterwards", async () => {
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

test("a key that is revoked is refused within 5 seconds, and others go on", async () => {
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

test("a key that is revoked in one process is refused by the other within 5 seconds", async () => {
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

test("a key that is rolled stays the same, and works with both texts during the overlap", async () => {
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

test("a user gets at most 50 live keys, also at once, and whoever has more keeps them", async () => {
  const { owner } = stack.database.db;
  const many = (count: number) =>
    owner.query(
      `insert into api_keys (id, organization_id, user_id, name, prefix, hash, all_spaces)
       select id, $1, $2, 'many', 'sk-', sha256(uuid_send(id)), true
       from (select gen_random_uuid() as id from generate_series(1, $3)) as made`,
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

test("a key that was never made is refused", async () => {
  expect(await call(stack.url, `${tenants.keys.owner}x`, "GET", "/models")).toMatchObject({
    status: 401,
    body: { detail: "Invalid API key" },
  });
});
