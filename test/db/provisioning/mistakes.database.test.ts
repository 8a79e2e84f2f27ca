/**
 * Whatever is wrong with a provisioning file is reported in its list of mistakes; it never ends in an error
 * of Postgres.
 */
import fc from "fast-check";
import { expect, it } from "vitest";
import { createKeyText } from "../../../src/auth/api-keys.ts";
import { newId } from "../../../src/domain/ids.ts";
import { ProvisionError } from "../../../src/domain/tenancy/provision-error.ts";
import { type Part, provisioning } from "../../support/tenants/provisioning.ts";

const { tag, email, apply, acme, ada, research, mistakes, rows } = provisioning();

it("a space without an owner that a key names, and a taken subject, are one mistake each", async () => {
  const key = { name: "k", spaces: ["Lonely"] };
  expect(
    await mistakes(acme([ada({ api_keys: [key] })], [{ name: "Lonely", members: { [email()]: "viewer" } }])),
  ).toEqual(["organizations[0].spaces[0].members: needs at least one owner"]);
  await apply(acme([{ email: email("rob"), subject: `rob-${tag()}` }]));
  expect(
    await mistakes(
      acme([ada({ subject: `rob-${tag()}`, api_keys: [{ name: "k", spaces: ["Research"] }] })], [research()]),
    ),
  ).toEqual(["organizations[0].users[0].subject: is bound to another user"]);
  expect(await rows("select from spaces where name = 'Lonely'")).toEqual([]);
});

it("a key's time may have any offset of ISO 8601, and an agent's version any length", async () => {
  const [key, id] = [createKeyText(), newId()];
  const file = (temperature: number) =>
    acme(
      [ada({ api_keys: [{ name: "k", key, expires_at: "2031-01-01T00:00:00+23:59" }] })],
      [
        research({
          agents: [
            { name: "A", id, temperature, ...(temperature === 0 ? { version: "1.0.99999999999" } : {}) },
          ],
        }),
      ],
    );
  await apply(file(0));
  expect((await apply(file(1))).updated).toBe(1);
  expect((await apply(file(1))).updated).toBe(0);
});

/**
 * Removes what is refused before the database is asked: names, ids and keys that occur twice, and members and
 * spaces that the file does not name.
 */
function consistent(organizations: readonly Part[]): Part[] {
  const seen = new Set<string>();
  const isFirst = (value: unknown): boolean =>
    value === undefined || (!seen.has(JSON.stringify(value)) && Boolean(seen.add(JSON.stringify(value))));
  const parts = (owner: Part, field: string): Part[] => (owner[field] as Part[] | undefined) ?? [];
  const named = (list: Part[], field = "name"): Part[] =>
    list.filter(
      (one, index) =>
        list.findIndex((other) => String(other[field]).toLowerCase() === String(one[field]).toLowerCase()) ===
        index,
    );
  const single = (one: Part, field: string): Part => ({
    ...one,
    [field]: isFirst(one[field]) ? one[field] : undefined,
  });
  return named([...organizations]).map((organization) => {
    const spaces = named(parts(organization, "spaces"));
    const names = new Set(["private", ...spaces.map((space) => String(space["name"]).toLowerCase())]);
    const known = (chosen: unknown) =>
      Array.isArray(chosen) ? chosen.filter((name) => names.has(String(name).toLowerCase())) : chosen;
    const users = named(parts(organization, "users"), "email");
    const emails = new Set(users.map((user) => user["email"]));
    return {
      ...single(organization, "id"),
      users: users.map((user) => ({
        ...single(single(user, "id"), "subject"),
        api_keys: named(parts(user, "api_keys")).map((key) => ({
          ...single(key, "key"),
          spaces: known(key["spaces"]),
        })),
      })),
      spaces: spaces.map((space) => ({
        ...single(space, "id"),
        members: Object.fromEntries(
          Object.entries((space["members"] as Part | undefined) ?? {}).filter(([address]) =>
            emails.has(address),
          ),
        ),
        agents: named(parts(space, "agents")).map((agent) => single(agent, "id")),
      })),
    };
  });
}

/** There are few names, ids and keys, so that files often name what earlier files named. */
it("of any file", async () => {
  const ids = Array.from({ length: 5 }, newId);
  const keys = Array.from({ length: 3 }, createKeyText);
  const some = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });
  const id = some(fc.constantFrom(...ids));
  const name = fc.constantFrom("One", "one", "Two", "ΑΣ", "ασ", "İ");
  const address = fc.constantFrom("ada", "bob", "eve").map((local) => email(local));
  const list = <T>(item: fc.Arbitrary<T>) => fc.array(item, { maxLength: 3 });
  const time = fc.constantFrom(
    "2030-01-01T00:00:00Z",
    "0000-01-01T00:00:00Z",
    "9999-12-31T23:59:59-23:59",
    "0001-01-01T00:00:00+23:59",
  );
  const apiKey = fc.record({
    name,
    key: some(fc.constantFrom(...keys)),
    spaces: some(fc.oneof(fc.constant("all"), list(fc.oneof(name, fc.constant("private"))))),
    expires_at: some(time),
    allowed_cidrs: some(fc.constant(["192.0.2.0/24"])),
  });
  const user = fc.record({
    email: address,
    id,
    role: some(fc.constantFrom("admin", "member")),
    subject: some(fc.constantFrom("s", "t").map((one) => `${one}-${tag()}`)),
    api_keys: some(list(apiKey)),
  });
  const agent = fc.record({
    name,
    id,
    version: some(fc.constantFrom("1.0.0", "0.0.99999999999")),
    temperature: some(fc.constantFrom(0, 2)),
  });
  const members = some(fc.dictionary(address, fc.constantFrom("owner", "editor", "viewer"), { maxKeys: 3 }));
  const space = fc.record({ name, id, members, agents: some(list(agent)) });
  const organization = fc.record({
    name: fc.constantFrom("X", "Y").map((one) => `${one} ${tag()}`),
    id,
    users: some(list(user)),
    spaces: some(list(space)),
  });
  let applied = 0;
  let refused = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(organization, { minLength: 1, maxLength: 2 }), async (organizations) => {
      const error: unknown = await apply(consistent(organizations)).then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
      if (error === undefined) applied += 1;
      else if (error instanceof ProvisionError) refused += 1;
      else throw error;
    }),
    { numRuns: 150 },
  );
  expect(Math.min(applied, refused)).toBeGreaterThan(0);
});
