import { createHash } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createKeyText, isWellFormedKey, keyPrefix } from "../../src/auth/api-keys.ts";
import { replaceKeyText } from "../../src/db/key-rolls.ts";
import { inTransaction } from "../../src/db/pool.ts";
import { applyProvisionFile, type ProvisionResult } from "../../src/db/provision.ts";
import { newId } from "../../src/domain/ids.ts";
import { ProvisionError } from "../../src/domain/provision.ts";
import { parseProvisionFile } from "../../src/schema/provision.ts";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";

const maker = { create: createKeyText, hash: (text: string) => createHash("sha256").update(text).digest(), prefix: keyPrefix };

let test: TestDatabase;
let tag: string;
beforeAll(async () => {
  test = await createTestDatabase();
});
afterAll(() => test.drop());
beforeEach(() => {
  tag = newId();
});

type Part = Record<string, unknown>;
const email = (name = "ada"): string => `${name}@${tag}.example`;

const apply = (organizations: Part[]): Promise<ProvisionResult> =>
  applyProvisionFile(test.db, parseProvisionFile(JSON.stringify({ organizations }), { environment: {}, isKey: isWellFormedKey }), maker);

const acme = (users: Part[], spaces: Part[] = [], rest: Part = {}): Part[] => [{ name: `Acme ${tag}`, users, spaces, ...rest }];
const ada = (rest: Part = {}): Part => ({ email: email(), ...rest });
const research = (rest: Part = {}): Part => ({ name: "Research", members: { [email()]: "owner" }, ...rest });

async function mistakes(organizations: Part[]): Promise<readonly string[]> {
  const error: unknown = await apply(organizations).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(ProvisionError);
  return (error as ProvisionError).mistakes;
}

async function rows<T extends Part = Part>(query: string, values: unknown[] = []): Promise<T[]> {
  return (await test.db.owner.query<T>(query, values)).rows;
}

const keysOf = () =>
  rows<{ id: string; name: string; hash: Buffer; all_spaces: boolean; revoked_at: Date | null }>(
    "select k.* from api_keys k join users u on u.id = k.user_id where u.email = $1 order by k.id",
    [email()],
  );
const agentsOf = () => rows("select a.* from agents a join spaces s on s.id = a.space_id join users u on u.id = s.owner_id where u.email = $1", [email()]);

describe("a file that is applied", () => {
  it("makes all it names, and a private space for every user", async () => {
    const result = await apply(acme([ada({ role: "admin", name: "Ada" }), { email: email("vic") }], [research({ members: { [email()]: "owner", [email("vic")]: "viewer" } })]));
    expect(result.created).toBeGreaterThan(0);
    expect(
      await rows(
        "select u.name, u.role, s.name as space, s.is_private, m.role as space_role from users u join space_members m on m.user_id = u.id join spaces s on s.id = m.space_id where u.email like $1 order by u.email, s.is_private",
        [`%@${tag}.example`],
      ),
    ).toEqual([
      { name: "Ada", role: "admin", space: "Research", is_private: false, space_role: "owner" },
      { name: "Ada", role: "admin", space: "Private", is_private: true, space_role: "owner" },
      { name: "vic", role: "member", space: "Research", is_private: false, space_role: "viewer" },
      { name: "vic", role: "member", space: "Private", is_private: true, space_role: "owner" },
    ]);
  });

  it("changes nothing the second time", async () => {
    const full = acme(
      [ada({ subject: `s-${tag}`, api_keys: [{ name: "a", key: createKeyText(), spaces: ["Research", "private"], expires_at: "2030-01-01T00:00:00Z" }, { name: "b" }] })],
      [
        research({
          id: newId(),
          agents: [{ name: "A", id: newId(), tool_attachments: [{ tool_id: "calculator" }], reasoning_config: { effort: "low" }, temperature: 0.2, allowed_folder_ids: [newId()] }],
        }),
      ],
    );
    expect((await apply(full)).keys).toHaveLength(1);
    expect(await apply(full)).toEqual({ created: 0, updated: 0, keys: [], warnings: [] });
  });

  it("gives one result to several processes at once", async () => {
    const full = acme([ada({ api_keys: [{ name: "made" }] })], [research({ agents: [{ name: "A" }] })]);
    const results = await Promise.all([apply(full), apply(full), apply(full)]);
    expect(results.filter((result) => result.created > 0)).toHaveLength(1);
    expect(results.flatMap((result) => result.keys)).toHaveLength(1);
    expect(await keysOf()).toHaveLength(1);
  });

  it("wins for the fields it names, leaves the others, and deletes nothing", async () => {
    await apply(
      acme(
        [ada({ name: "Ada", role: "admin" }), { email: email("vic") }],
        [research({ members: { [email()]: "owner", [email("vic")]: "viewer" }, agents: [{ name: "A", description: "old", max_tokens: 5, version: "1.2.3" }, { name: "B" }] })],
      ),
    );
    await apply(acme([ada({ name: "Ada Lovelace" }), { email: email("vic") }], [research({ members: { [email("vic")]: "editor" }, agents: [{ name: "A", description: "new" }] })]));
    expect(await rows("select name, role from users where email = $1", [email()])).toEqual([{ name: "Ada Lovelace", role: "admin" }]);
    expect(
      await rows(
        "select m.role from space_members m join users u on u.id = m.user_id join spaces s on s.id = m.space_id where not s.is_private and u.email like $1 order by u.email",
        [`%@${tag}.example`],
      ),
    ).toEqual([{ role: "owner" }, { role: "editor" }]);
    const agents = await agentsOf();
    expect(agents).toHaveLength(2);
    expect(agents.find((agent) => agent["name"] === "A")).toMatchObject({ description: "new", max_tokens: 5, version: "1.2.4" });
  });

  it("renames what it names by id", async () => {
    const [organization, space, agent] = [newId(), newId(), newId()];
    await apply(acme([ada()], [research({ id: space, agents: [{ name: "A", id: agent }] })], { id: organization }));
    await apply([{ name: `Renamed ${tag}`, id: organization, users: [ada()], spaces: [{ name: "Lab", id: space, agents: [{ name: "B", id: agent }] }] }]);
    expect(
      await rows("select o.name as o, s.name as s, a.name as a from agents a join spaces s on s.id = a.space_id join organizations o on o.id = a.organization_id where a.id = $1", [
        agent,
      ]),
    ).toEqual([{ o: `Renamed ${tag}`, s: "Lab", a: "B" }]);
  });

  it("is in the audit log once, for the organization that it changed", async () => {
    const id = newId();
    await apply(acme([ada()], [], { id }));
    await apply(acme([ada()], [], { id }));
    expect(await rows("select action, auth_method from audit_log where organization_id = $1", [id])).toEqual([{ action: "organization:provision", auth_method: "system" }]);
  });
});

describe("keys", () => {
  it("without a text are made once and shown once; only their hash is stored", async () => {
    const full = acme([ada({ api_keys: [{ name: "made" }] })]);
    const [made] = (await apply(full)).keys;
    expect(made).toMatchObject({ email: email(), name: "made" });
    expect(isWellFormedKey(made!.key)).toBe(true);
    const [row] = await keysOf();
    expect(row!.hash.equals(maker.hash(made!.key))).toBe(true);
    expect(JSON.stringify(row)).not.toContain(made!.key);
    expect((await apply(full)).keys).toEqual([]);
  });

  it("take a new text and other spaces under their old id", async () => {
    const named = (key: string, spaces: unknown) => acme([ada({ api_keys: [{ name: "k", key, spaces }] })], [research()]);
    await apply(named(createKeyText(), "all"));
    const [before] = await keysOf();
    const text = createKeyText();
    await apply(named(text, ["Research"]));
    const after = await keysOf();
    expect(after).toMatchObject([{ id: before!.id, all_spaces: false }]);
    expect(after[0]!.hash.equals(maker.hash(text))).toBe(true);
    expect(await rows("select from api_key_spaces where api_key_id = $1", [before!.id])).toHaveLength(1);
    await apply(named(text, "all"));
    expect(await rows("select from api_key_spaces where api_key_id = $1", [before!.id])).toHaveLength(0);
  });

  it("that were revoked stay revoked, with a text in the file and without", async () => {
    const full = acme([ada({ api_keys: [{ name: "given", key: createKeyText() }, { name: "made" }] })]);
    await apply(full);
    await rows("update api_keys set revoked_at = now() where user_id = (select id from users where email = $1)", [email()]);
    const kept = (index: number) => `organizations[0].users[0].api_keys[${index}]: was revoked, and stays so`;
    expect(await apply(full)).toEqual({ created: 0, updated: 0, keys: [], warnings: [kept(0), kept(1)] });
    expect((await keysOf()).every((key) => key.revoked_at !== null)).toBe(true);
  });

  it("that were reported as leaked stay revoked, by their text of now and by one of before a roll", async () => {
    const [text, other] = [createKeyText(), createKeyText()];
    const full = acme([
      ada({
        api_keys: [
          { name: "given", key: text },
          { name: "other", key: other },
        ],
      }),
    ]);
    await apply(full);
    await roll(text);
    const [first, second] = [maker.hash(text), maker.hash(other)];
    await rows("select report_leaked_keys($1, 100)", [[first, second]]);
    expect(await rows("select id from revoke_leaked_keys(100)")).toHaveLength(2);
    const result = await apply(full);
    expect(result).toMatchObject({ created: 0, updated: 0 });
    expect(result.warnings).toEqual([0, 1].map((index) => `organizations[0].users[0].api_keys[${index}]: was revoked because its text was reported as leaked, and stays so`));
    const after = await keysOf();
    expect(after).toHaveLength(2);
    expect(after.every((key) => key.revoked_at !== null)).toBe(true);
  });

  it("that were rolled keep their new text while the file names the one of before, however often they were", async () => {
    const text = createKeyText();
    const full = (rest: Part = {}) => acme([ada({ api_keys: [{ name: "given", key: text, ...rest }] })]);
    await apply(full());
    await roll(text);
    const [rolled] = await keysOf();
    const { warnings } = await apply(full());
    expect(warnings).toEqual(["organizations[0].users[0].api_keys[0].key: was rolled since; the key keeps its new text"]);
    await rows("update superseded_keys set valid_until = now() where api_key_id = $1", [rolled!.id]);
    await apply([{ ...full({ allowed_cidrs: ["192.0.2.7", "::ffff:10.0.0.0/104"] })[0], max_key_lifetime_seconds: 60 }]);
    expect(await rows("select max_key_lifetime_seconds as max, default_key_lifetime_seconds as usual from organizations where name = $1", [`Acme ${tag}`])).toEqual([
      { max: 60, usual: null },
    ]);
    const [kept] = await rows("select hash, allowed_cidrs::text[] as cidrs from api_keys where id = $1", [rolled!.id]);
    expect(kept).toEqual({ hash: rolled!.hash, cidrs: ["192.0.2.7/32", "10.0.0.0/8"] });
  });
});

/** What the API's roll writes. */
async function roll(text: string): Promise<void> {
  const { rows: found } = await test.db.owner.query<{ id: string; organization_id: string }>("select id, organization_id from api_keys where hash = $1", [maker.hash(text)]);
  const [key] = found;
  const next = createKeyText();
  await inTransaction(test.db.owner, (sql) =>
    replaceKeyText(sql, { id: key!.organization_id, num: 0 }, key!.id, { hash: maker.hash(next), prefix: keyPrefix(next), expiresAt: null, overlapSeconds: 60 }),
  );
}

describe("mistakes that the database shows", () => {
  it("are reported all at once, and nothing is changed", async () => {
    const taken = newId();
    await apply(acme([{ email: email("rob"), subject: `rob-${tag}` }], [], { id: taken }));
    const found = await mistakes([
      { name: `Other ${tag}`, users: [{ email: email("rob") }, ada({ subject: `rob-${tag}` }), { email: email("eve"), id: taken }], spaces: [{ name: "Lonely" }] },
    ]);
    expect(found).toEqual([
      "organizations[0].users[1].subject: is bound to another user",
      "organizations[0].users[2].id: is used for something else",
      "organizations[0].spaces[0].members: needs at least one owner",
    ]);
    expect(await rows("select from organizations where name = $1", [`Other ${tag}`])).toHaveLength(0);
  });

  it("an id that something else has, and one that cannot be changed", async () => {
    const space = newId();
    await apply(acme([ada()], [research({ id: space })]));
    expect(await mistakes(acme([ada()], [research({ id: newId() })]))).toEqual([
      `organizations[0].spaces[0].id: the one with this name has the id ${space}, which cannot be changed`,
    ]);
    expect(await mistakes([{ name: `Other ${tag}`, users: [{ email: email("eve") }], spaces: [{ name: "Mine", id: space, members: { [email("eve")]: "owner" } }] }])).toEqual([
      "organizations[0].spaces[0].id: is used for something else",
    ]);
  });

  it("a space whose last owner would become a viewer", async () => {
    await apply(acme([ada()], [research()]));
    expect(await mistakes(acme([ada()], [research({ members: { [email()]: "viewer" } })]))).toEqual(["organizations[0].spaces[0].members: needs at least one owner"]);
  });

  it("the key of somebody else", async () => {
    const key = createKeyText();
    await apply(acme([ada({ api_keys: [{ name: "k", key }] })]));
    expect(await mistakes(acme([{ email: email("eve"), api_keys: [{ name: "k", key }] }]))).toEqual(["organizations[0].users[0].api_keys[0].key: is the key of somebody else"]);
  });
});
