/**
 * Keys that a provisioning file names: which ones it finds, changes and makes, and which stay as they are.
 */
import { describe, expect, it } from "vitest";
import { createKeyText, isWellFormedKey, keyPrefix } from "../../../src/auth/api-keys.ts";
import { replaceKeyText } from "../../../src/db/keys/rolls.ts";
import { inTransaction } from "../../../src/db/pool.ts";
import { newId } from "../../../src/domain/ids.ts";
import { maker, type Part, provisioning } from "../../support/tenants/provisioning.ts";
import { until } from "../../support/until.ts";

const { database, tag, email, apply, acme, ada, research, rows, keysOf } = provisioning();

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
    const named = (key: string, spaces: unknown) =>
      acme([ada({ api_keys: [{ name: "k", key, spaces }] })], [research()]);
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
    await rows(
      "update api_keys set revoked_at = now() where user_id = (select id from users where email = $1)",
      [email()],
    );
    const kept = (index: number) => `organizations[0].users[0].api_keys[${index}]: was revoked, and stays so`;
    expect(await apply(full)).toEqual({ created: 0, updated: 0, keys: [], warnings: [kept(0), kept(1)] });
    expect((await keysOf()).every((key) => key.revoked_at !== null)).toBe(true);
  });

  it("that were reported as leaked stay revoked, by their present text and by an older one", async () => {
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
    expect(result.warnings).toEqual(
      [0, 1].map(
        (index) =>
          `organizations[0].users[0].api_keys[${index}]: ` +
          "was revoked because its text was reported as leaked, and stays so",
      ),
    );
    const after = await keysOf();
    expect(after).toHaveLength(2);
    expect(after.every((key) => key.revoked_at !== null)).toBe(true);
  });

  it("that were rolled keep their new text while the file has an older one", async () => {
    const text = createKeyText();
    const full = (rest: Part = {}) => acme([ada({ api_keys: [{ name: "given", key: text, ...rest }] })]);
    await apply(full());
    await roll(text);
    const [rolled] = await keysOf();
    const { warnings } = await apply(full());
    expect(warnings).toEqual([
      "organizations[0].users[0].api_keys[0].key: was rolled since; the key keeps its new text",
    ]);
    await rows("update superseded_keys set valid_until = now() - interval '1 second' where api_key_id = $1", [
      rolled!.id,
    ]);
    await apply([
      { ...full({ allowed_cidrs: ["192.0.2.7", "::ffff:10.0.0.0/104"] })[0], max_key_lifetime_seconds: 60 },
    ]);
    expect(
      await rows(
        `select max_key_lifetime_seconds as max, default_key_lifetime_seconds as usual
         from organizations
         where name = $1`,
        [`Acme ${tag()}`],
      ),
    ).toEqual([{ max: 60, usual: null }]);
    const [kept] = await rows("select hash, allowed_cidrs::text[] as cidrs from api_keys where id = $1", [
      rolled!.id,
    ]);
    expect(kept).toEqual({ hash: rolled!.hash, cidrs: ["192.0.2.7/32", "10.0.0.0/8"] });
  });

  it("that users made are not found by name: the operator gets one more of that name, once", async () => {
    await apply(acme([ada(), { email: email("root"), role: "admin" }], [research()]));
    const byName = { "by admin": await made("by admin", "root"), "by owner": await made("by owner", "ada") };
    const named = (text: string | undefined) =>
      acme(
        [
          ada({
            api_keys: Object.keys(byName).map((name, index) => ({
              name,
              ...(index === 0 ? { key: text } : {}),
              spaces: "all",
            })),
          }),
        ],
        [research()],
      );
    const before = await keysOf();
    const text = createKeyText();
    const result = await apply(named(text));
    expect(result.warnings).toEqual(
      [0, 1].map(
        (index) =>
          `organizations[0].users[0].api_keys[${index}].name: ` +
          "is also that of a key that a user made, which stays as it is",
      ),
    );
    expect(result.keys).toMatchObject([{ name: "by owner" }]);
    const after = await keysOf();
    expect(after.filter((key) => before.some(({ id }) => id === key.id))).toEqual(before);
    expect(
      after.filter((key) => key.created_by === null).map(({ name, all_spaces }) => [name, all_spaces]),
    ).toEqual([
      ["by admin", true],
      ["by owner", true],
    ]);
    expect(await apply(named(text))).toEqual({ created: 0, updated: 0, keys: [], warnings: [] });
    await apply(named(createKeyText()));
    expect(await keysOf()).toHaveLength(4);
  });

  it("that a user made are found by their text, and stay as they are after a roll", async () => {
    await apply(acme([ada(), { email: email("root"), role: "admin" }], [research()]));
    const text = await made("by admin", "root");
    const named = (rest: Part) =>
      acme([ada({ api_keys: [{ name: "by admin", key: text, ...rest }] })], [research()]);
    expect(await apply(named({ spaces: ["Research"] }))).toMatchObject({
      created: 0,
      updated: 1,
      warnings: [],
    });
    await roll(text);
    const before = await keysOf();
    expect(await apply(named({ spaces: "all" }))).toMatchObject({
      created: 0,
      updated: 0,
      warnings: ["organizations[0].users[0].api_keys[0].key: was rolled since; the key keeps its new text"],
    });
    expect(await keysOf()).toEqual(before);
  });

  it("lose all older texts when the file gives another, and no older file brings one back", async () => {
    const [first, second] = [createKeyText(), createKeyText()];
    const named = (key: string) => acme([ada({ api_keys: [{ name: "k", key }] })]);
    await apply(named(first));
    const rolled = await roll(first);
    await apply(named(second));
    const [after] = await keysOf();
    expect(after!.hash.equals(maker.hash(second))).toBe(true);
    for (const text of [first, rolled])
      expect(
        await rows("select from superseded_keys where hash = $1 and valid_until <= now()", [
          maker.hash(text),
        ]),
      ).toHaveLength(1);
    for (const text of [first, rolled]) {
      expect(await apply(named(text))).toEqual({
        created: 0,
        updated: 0,
        keys: [],
        warnings: ["organizations[0].users[0].api_keys[0].key: was rolled since; the key keeps its new text"],
      });
    }
    expect(await keysOf()).toEqual([after]);
    expect(await apply(named(second))).toMatchObject({ updated: 0, warnings: [] });
  });

  it("keep their text under another name, while their old name goes to a new key", async () => {
    const [first, second] = [createKeyText(), createKeyText()];
    await apply(acme([ada({ api_keys: [{ name: "k", key: first }] })]));
    const [before] = await keysOf();
    const both = acme([
      ada({
        api_keys: [
          { name: "k", key: second },
          { name: "old", key: first },
        ],
      }),
    ]);
    expect((await apply(both)).warnings).toEqual([]);
    const after = await keysOf();
    expect(
      after.map(({ id, name, hash }) => [id === before!.id, name, hash.equals(maker.hash(first))]),
    ).toEqual([
      [true, "old", true],
      [false, "k", false],
    ]);
    expect(await apply(both)).toMatchObject({ created: 0, updated: 0 });
  });

  it("that are rolled at the same moment keep their new text", async () => {
    const text = createKeyText();
    const full = acme([ada({ api_keys: [{ name: "k", key: text }] })]);
    await apply(full);
    const applied: ReturnType<typeof apply>[] = [];
    const next = await roll(text, async () => {
      applied.push(apply(full));
      const waiting = `select
         from pg_stat_activity
         where datname = current_database()
           and wait_event_type = 'Lock'
           and query like '%from api_keys key%'`;
      await until("the file waits for the roll", async () => (await rows(waiting)).length > 0, 10_000);
    });
    expect((await applied[0]!).warnings).toHaveLength(1);
    expect((await keysOf())[0]!.hash.equals(maker.hash(next))).toBe(true);
  });

  it("that are new and expired already give a warning; existing ones stay expired", async () => {
    const named = (name: string) => acme([ada({ api_keys: [{ name, expires_at: "2001-01-01T00:00:00Z" }] })]);
    expect((await apply(named("old"))).warnings).toEqual([
      "organizations[0].users[0].api_keys[0].expires_at: is past, so that the new key can never be used",
    ]);
    await apply(acme([ada({ api_keys: [{ name: "new" }] })]));
    await rows(
      `update api_keys
       set expires_at = '2001-01-01T00:00:00Z'
       where user_id = (select id from users where email = $1)`,
      [email()],
    );
    expect(await apply(named("new"))).toEqual({ created: 0, updated: 0, keys: [], warnings: [] });
  });
});

/** Makes a key of Ada as the user `by`, without any space. @returns its text. */
async function made(name: string, by: string): Promise<string> {
  const text = createKeyText();
  await rows(
    `insert into api_keys (
       id, organization_id, user_id, created_by, name, prefix, hash, all_spaces, capabilities
     )
     select $1, owner.organization_id, owner.id, maker.id, $2, $3, $4, false, '{read}'
     from users owner
     join users maker on maker.email = $6
     where owner.email = $5`,
    [newId(), name, keyPrefix(text), maker.hash(text), email(), email(by)],
  );
  return text;
}

/** Rolls a key like the API. @returns the new text. */
async function roll(text: string, meanwhile: () => Promise<void> = async () => undefined): Promise<string> {
  const [key] = await rows<{ id: string; organization_id: string }>(
    "select id, organization_id from api_keys where hash = $1",
    [maker.hash(text)],
  );
  const next = createKeyText();
  await inTransaction(database().db.owner, async (sql) => {
    await replaceKeyText(sql, { id: key!.organization_id, num: 0 }, key!.id, {
      hash: maker.hash(next),
      prefix: keyPrefix(next),
      expiresAt: null,
      overlapSeconds: 60,
    });
    await meanwhile();
  });
  return next;
}
