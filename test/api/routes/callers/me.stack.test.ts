/** GET /me on the real stack. */
import { expect, test } from "vitest";
import { getMe } from "../../../../src/api/routes/callers/me.ts";
import { call } from "../../../support/clients/client.ts";
import { routesOpenToKeys, signedIn } from "../../../support/clients/signed-in.ts";

const people = signedIn();
const { stack, tenants } = people;

test("shows the caller's profile with organization, role and private space", async () => {
  const { status, body } = await people.as("ada", "GET", "/me");
  expect({ status, body }).toEqual({
    status: 200,
    body: {
      id: people.ids.ada,
      email: `ada@${tenants.domain}`,
      name: "Ada Owner",
      avatar_url: null,
      organization: { id: tenants.acme, name: `Acme ${tenants.domain}`, role: "admin" },
      private_space_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      auth_method: "jwt",
      roles: [],
    },
  });
  const { body: spaces } = await people.as("ada", "POST", "/spaces/search", {
    filters: { is_private: true },
  });
  expect(spaces.items).toMatchObject([{ id: body.private_space_id, owner_id: people.ids.ada }]);
});

test("names the roles that the token gives, of those that the service knows", async () => {
  const token = await stack.issuer.token(tenants.subject("ada"), { roles: ["operators", "kings"] });
  expect((await call(stack.url, token, "GET", "/me")).body.roles).toEqual(["operators"]);
});

test("refuses a key in the specification's words", async () => {
  expect(await routesOpenToKeys(people, [getMe])).toEqual([]);
});

test("refuses a token of an unknown subject", async () => {
  expect(await call(stack.url, await stack.issuer.token("stranger"), "GET", "/me")).toMatchObject({
    status: 401,
  });
});

test("the first login binds a user by the verified e-mail and makes the private space", async () => {
  const id = "01900000-0000-7000-8000-0000000000f1";
  expect(
    (
      await people.as("ada", "PUT", `/organizations/${tenants.acme}/members/${id}`, {
        email: `New@${tenants.domain}`,
        name: "New",
        role: "member",
      })
    ).status,
  ).toBe(201);
  const unverified = await stack.issuer.token("new-subject", { email: `new@${tenants.domain}` });
  expect((await call(stack.url, unverified, "GET", "/me")).status).toBe(401);
  const verified = await stack.issuer.token("new-subject", {
    email: `new@${tenants.domain}`,
    email_verified: true,
  });
  const { body } = await call(stack.url, verified, "GET", "/me");
  expect(body).toMatchObject({
    id,
    email: `new@${tenants.domain}`,
    private_space_id: expect.any(String),
    organization: { role: "member" },
  });
  expect((await call(stack.url, unverified, "GET", "/me")).body.id).toBe(id);
});
