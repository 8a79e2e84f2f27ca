/** API keys of an organization's members on the real stack, as its administrators manage them. */
import { expect, test } from "vitest";
import { call, ended, upload } from "../../../support/clients/client.ts";
import { signedIn } from "../../../support/clients/signed-in.ts";
import { until } from "../../../support/until.ts";

const UNKNOWN = "01900000-0000-7000-8000-00000000ffff";
const people = signedIn();
const { stack, tenants } = people;
const path = `/organizations/${tenants.acme}/api-keys`;

const make = (name: string) => people.as("eve", "POST", "/me/api-keys", { name });
const spacesOf = async (key: string) =>
  (await call(stack.url, key, "POST", "/spaces/search", {})).body.items.map(
    (space: { id: string }) => space.id,
  );

test("an admin lists, makes and revokes keys of members", async () => {
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
  expect(await people.audited("api_keys:revoke", made.body.id)).toMatchObject([{ actor_id: people.ids.ada }]);
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

test("a key that an admin makes reaches only shared spaces, and the member sees who made it", async () => {
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
