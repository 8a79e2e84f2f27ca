/** Members' e-mail addresses on the real stack: who logs in with one gets its owner's private space. */
import { describe, expect, test } from "vitest";
import { newId } from "../../../../src/domain/ids.ts";
import { call } from "../../../support/clients/client.ts";
import { signedIn } from "../../../support/clients/signed-in.ts";

const people = signedIn();
const { stack, tenants } = people;
const AT = `/organizations/${tenants.acme}`;

/** A new member of Acme, with a key that the administrator made. */
async function join(name: string): Promise<{ id: string; key: string }> {
  const id = newId();
  const added = await people.as("ada", "PUT", `${AT}/members/${id}`, {
    email: `${name}@${tenants.domain}`,
    name,
    role: "member",
  });
  expect(added.status).toBe(201);
  const { body } = await people.as("ada", "POST", `${AT}/api-keys`, { name, user_id: id });
  return { id, key: body.key };
}

describe("an e-mail address that an administrator gives an owner lets nobody into the private space", () => {
  const address = (name: string) => `${name}@${tenants.domain}`;
  const put = (id: string, name: string) =>
    people.as("ada", "PUT", `${AT}/members/${id}`, {
      email: address(name),
      name: "Somebody",
      role: "member",
    });
  const logIn = async (subject: string, name: string) =>
    call(
      stack.url,
      await stack.issuer.token(`${subject} of ${tenants.domain}`, {
        email: address(name),
        email_verified: true,
      }),
      "GET",
      "/me",
    );
  const stays = {
    status: 400,
    body: {
      detail: expect.stringContaining(
        "cannot be changed: the private space would pass to somebody else. Add them under a new id.",
      ),
    },
  };

  test("not if the owner is removed and added again", async () => {
    const { id } = await join("pia");
    const { body: pia } = await logIn("pia", "pia");
    expect((await people.as("ada", "DELETE", `${AT}/members/${id}`)).status).toBe(204);
    expect(await put(id, "pia.second")).toMatchObject(stays);
    expect((await logIn("second", "pia.second")).status).toBe(401);
    expect((await put(id, "PIA")).status).toBe(201);
    expect((await logIn("pia", "pia")).body.private_space_id).toBe(pia.private_space_id);
  });

  test("not if it is changed before the owner is removed, unless the owner's login confirms it", async () => {
    const { id } = await join("ben");
    const { body: ben } = await logIn("ben", "ben");
    expect((await put(id, "ben.second")).status).toBe(200);
    expect((await logIn("second", "ben.second")).status).toBe(401);
    expect((await people.as("ada", "DELETE", `${AT}/members/${id}`)).status).toBe(204);
    expect(await put(id, "ben.second")).toMatchObject(stays);
    expect((await put(id, "ben")).status).toBe(201);
    expect((await logIn("second", "ben.second")).status).toBe(401);
    expect((await logIn("ben", "ben")).body.private_space_id).toBe(ben.private_space_id);

    expect((await put(id, "ben.new")).status).toBe(200);
    expect((await logIn("ben", "ben.new")).status).toBe(200);
    expect((await people.as("ada", "DELETE", `${AT}/members/${id}`)).status).toBe(204);
    expect((await put(id, "ben.new")).status).toBe(201);
    expect((await logIn("ben", "ben.new")).body.private_space_id).toBe(ben.private_space_id);
  });

  test("not if the owner never logged in", async () => {
    const { id, key } = await join("kim");
    expect((await put(id, "kim.mended")).status).toBe(200);
    expect((await call(stack.url, key, "GET", "/models")).status).toBe(200);
    expect(await put(id, "kim.second")).toMatchObject(stays);
    expect((await put(id, "kim.mended")).status).toBe(200);
    expect((await logIn("second", "kim.second")).status).toBe(401);
  });
});
