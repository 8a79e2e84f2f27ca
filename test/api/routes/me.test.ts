/** GET /me on the real stack. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { getMe } from "../../../src/api/routes/me.ts";
import { call } from "../../support/client.ts";
import { routesOpenToKeys, type SignedIn, startSignedIn } from "../../support/signed-in.ts";
import { ACME } from "../../support/tenants.ts";

let people: SignedIn;

beforeAll(async () => {
  people = await startSignedIn();
});

afterAll(() => people.close());

test("shows the caller's profile with organization, role and private space", async () => {
  const { status, body } = await people.as("ada", "GET", "/me");
  expect({ status, body }).toEqual({
    status: 200,
    body: {
      id: people.ids.ada,
      email: "ada@acme.example",
      name: "Ada Owner",
      avatar_url: null,
      organization: { id: ACME, name: "Acme", role: "admin" },
      private_space_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      auth_method: "jwt",
    },
  });
  const { body: spaces } = await people.as("ada", "POST", "/spaces/search", { filters: { is_private: true } });
  expect(spaces.items).toMatchObject([{ id: body.private_space_id, owner_id: people.ids.ada }]);
});

test("refuses a key in the specification's words", async () => {
  expect(await routesOpenToKeys(people.stack.url, [getMe])).toEqual([]);
});

test("refuses a token of a subject that nobody knows", async () => {
  expect(await call(people.stack.url, await people.issuer.token("stranger"), "GET", "/me")).toMatchObject({ status: 401 });
});

test("binds a subject at first sight by its verified e-mail address, and makes the private space", async () => {
  const id = "01900000-0000-7000-8000-0000000000f1";
  expect((await people.as("ada", "PUT", `/organizations/${ACME}/members/${id}`, { email: "New@acme.example", name: "New", role: "member" })).status).toBe(201);
  const unverified = await people.issuer.token("new-subject", { email: "new@acme.example" });
  expect((await call(people.stack.url, unverified, "GET", "/me")).status).toBe(401);
  const verified = await people.issuer.token("new-subject", { email: "new@acme.example", email_verified: true });
  const { body } = await call(people.stack.url, verified, "GET", "/me");
  expect(body).toMatchObject({ id, email: "new@acme.example", private_space_id: expect.any(String), organization: { role: "member" } });
  expect((await call(people.stack.url, unverified, "GET", "/me")).body.id).toBe(id);
});
