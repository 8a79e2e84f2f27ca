/** What people and keys can see and why, compared with what the service then allows. */
import { expect, test } from "vitest";
import { call } from "../../../support/clients/client.ts";
import { signedIn } from "../../../support/clients/signed-in.ts";

const people = signedIn();
const { stack, tenants } = people;
const AT = `/organizations/${tenants.acme}`;
const { research } = tenants.spaces;

interface Access {
  space_id: string;
  space_name: string | null;
  is_private: boolean;
  role: string | null;
  can: string[];
  because: string[];
}

const inSpace = (body: { items: Access[] }, id: string): Access | undefined =>
  body.items.find(({ space_id }) => space_id === id);

/** Sends one request for each action that tells whether it is allowed. */
async function allowedTo(credential: string, space: string): Promise<string[]> {
  const uploads = new FormData();
  uploads.set("file", new Blob(["x"]), "x.md");
  uploads.set("space_id", space);
  const read = await call(stack.url, credential, "POST", "/data/search", { filters: { space_id: space } });
  const made = await fetch(`${stack.url}/v1/data/upload`, {
    method: "POST",
    headers: { authorization: `Bearer ${credential}` },
    body: uploads,
  });
  const searched = await call(stack.url, credential, "POST", "/data/hybrid-search", {
    query: "x",
    space_id: space,
  });
  return [
    ...(read.status === 200 ? ["documents:read"] : []),
    ...(searched.status === 200 ? ["documents:search"] : []),
    ...(made.status === 201 ? ["documents:create"] : []),
  ];
}

const ASKED = new Set(["documents:read", "documents:search", "documents:create"]);

test("a member sees each space with the role and what it allows", async () => {
  const { body } = await people.as("ada", "GET", "/me/access");
  expect(inSpace(body, research)).toMatchObject({ role: "owner", space_name: expect.any(String) });
  expect(inSpace(body, research)?.can).toContain("spaces:manage");
  expect(body.items.filter(({ is_private }: Access) => is_private)).toMatchObject([
    { role: "owner", because: ["private_space"] },
  ]);
  const one = await people.as("ada", "GET", `/me/access?space_id=${research}`);
  expect(one.body).toMatchObject({ total_items: 1, items: [{ space_id: research }] });
});

test("of a key it says exactly what the key may then do, and what narrows it", async () => {
  for (const [wanted, because] of [
    [{ capabilities: ["read"] }, "key_capabilities"],
    [{ spaces: [tenants.spaces.archive] }, "key_spaces"],
    [{}, "space_member"],
  ] as const) {
    const made = await people.as("ada", "POST", "/me/api-keys", { name: "narrow", ...wanted });
    const { body } = await people.as("ada", "GET", `/me/api-keys/${made.body.id}/access`);
    const access = inSpace(body, research)!;
    expect(access.because).toContain(because);
    const said = access.can.filter((action) => ASKED.has(action));
    const does = await allowedTo(made.body.key, research);
    // A list narrows, so a space out of reach answers with none instead of refusing.
    expect(said.toSorted()).toEqual(because === "key_spaces" ? [] : does.toSorted());
  }
});

test("an admin sees what a member can do, and no name of the member's private space", async () => {
  const viewer = people.ids.vic;
  const { body } = await people.as("ada", "GET", `${AT}/members/${viewer}/access`);
  const [own] = body.items.filter(({ is_private }: Access) => is_private);
  expect(own).toMatchObject({ space_name: null, because: ["private_space"] });
  expect(inSpace(body, research)).toMatchObject({ role: "viewer" });
  expect(inSpace(body, research)?.can).not.toContain("documents:create");
  expect((await people.as("vic", "GET", `${AT}/members/${viewer}/access`)).status).toBe(403);
});

test("a key that an admin made for a member does not reach the private space", async () => {
  const made = await people.as("ada", "POST", `${AT}/api-keys`, { name: "for vic", user_id: people.ids.vic });
  const { body } = await people.as("ada", "GET", `${AT}/api-keys/${made.body.id}/access`);
  const [own] = body.items.filter(({ is_private }: Access) => is_private);
  expect(own).toMatchObject({ can: [], because: ["private_space", "key_spaces"] });
  expect((await people.as("ada", "GET", `/me/api-keys/${made.body.id}/access`)).status).toBe(404);
});
