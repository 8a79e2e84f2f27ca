/** Reports of leaked keys on the real stack, which anybody may make. */
import { describe, expect, test } from "vitest";
import { call } from "../../../support/clients/client.ts";
import { signedIn } from "../../../support/clients/signed-in.ts";
import { until } from "../../../support/until.ts";

const people = signedIn();
const { stack, tenants } = people;
const REVOKED_AS_LEAKED = encodeURIComponent('{"action":"api_keys:revoke_leaked"}');
const make = (name: string) => people.as("eve", "POST", "/me/api-keys", { name });

describe("a report of leaked keys", () => {
  const report = (keys: unknown) => call(stack.url, null, "POST", "/api-keys/revoke-leaked", { keys });

  test("revokes known keys, also by an earlier text, and audits it; all are answered alike", async () => {
    const [leaked, rolling, kept] = [
      (await make("leaked")).body,
      (await make("rolling too")).body,
      (await make("kept")).body,
    ];
    const rolled = (await people.as("eve", "POST", `/me/api-keys/${rolling.id}/roll`)).body;
    for (const { key } of [leaked, rolling, rolled])
      expect((await call(stack.url, key, "GET", "/models")).status).toBe(200);
    const answers = [
      await report([leaked.key, rolling.key]),
      await report([`sk-${"y".repeat(60)}`]),
      await report(["sk-no key at all"]),
      await report([]),
    ];
    for (const { status, body } of answers)
      expect({ status, body }).toEqual({ status: 202, body: { status: "accepted" } });
    for (const { key } of [leaked, rolling, rolled])
      await until(
        "the key is refused",
        async () => (await call(stack.url, key, "GET", "/models")).status === 401,
        5_000,
      );
    expect((await call(stack.url, kept.key, "GET", "/models")).status).toBe(200);
    const { body: log } = await people.as(
      "ada",
      "GET",
      `/organizations/${tenants.acme}/audit-log?filters=${REVOKED_AS_LEAKED}`,
    );
    const rows = [leaked, rolling].map(
      ({ id }) => expect.objectContaining({ resource_id: id, actor: null, auth_method: "system" }) as unknown,
    );
    expect(log.items).toHaveLength(2);
    expect(log.items).toEqual(expect.arrayContaining(rows));
    const { body: list } = await people.as(
      "eve",
      "GET",
      `/me/api-keys?filters=${encodeURIComponent('{"name":"leaked"}')}`,
    );
    expect(list.items).toMatchObject([{ id: leaked.id, revoked_reason: "leaked" }]);
  });

  test("finds keys in the text around them, and ignores what is no key", async () => {
    const keys: string[] = [];
    for (const name of ["bearer", "quoted", "url", "beside"]) keys.push((await make(name)).body.key);
    const [bearer, quoted, url, beside] = keys;
    const answer = await report([
      `Authorization: Bearer ${bearer}`,
      `"${quoted}",\r\n`,
      `https://holdfast.example/?key=${url}&x=1`,
      "sk-\0",
      "\ud800",
      beside,
    ]);
    expect(answer).toMatchObject({ status: 202, body: { status: "accepted" } });
    for (const key of keys)
      await until(
        "the key is refused",
        async () => (await call(stack.url, key, "GET", "/models")).status === 401,
        5_000,
      );
  });

  test("takes as long for a known key as for an unknown one and for what is no key", async () => {
    const took = async (keys: string[]): Promise<number> => {
      const before = performance.now();
      await report(keys);
      return performance.now() - before;
    };
    const times: number[] = [];
    for (let round = 0; round < 3; round += 1) {
      times.push(await took([(await make("timed")).body.key]));
      times.push(await took([`sk-${"z".repeat(60 + round)}`]));
      times.push(await took(["no key"]));
    }
    expect(Math.min(...times)).toBeGreaterThan(95);
  });

  test("is answered before anything is looked up or revoked", async () => {
    const { key } = (await make("held")).body;
    const hold = await stack.database.db.owner.connect();
    try {
      await hold.query("begin; lock table api_keys in access exclusive mode");
      expect((await report([key])).status).toBe(202);
    } finally {
      await hold.query("rollback");
      hold.release();
    }
    await until(
      "the key is refused",
      async () => (await call(stack.url, key, "GET", "/models")).status === 401,
      10_000,
    );
  });

  test("is bounded in number and size, and never repeats what was sent", async () => {
    const keys = Array.from({ length: 21 }, (_, index) => `sk-${"q".repeat(30)}${index}`);
    const tooMany = await report(keys);
    expect(tooMany).toMatchObject({ status: 422, body: { detail: [{ loc: ["body", "keys"] }] } });
    expect((await report(["x".repeat(4_096)])).status).toBe(400);
    const misnamed = await call(stack.url, null, "POST", "/api-keys/revoke-leaked", { key: keys[0] });
    expect(misnamed).toMatchObject({
      status: 422,
      body: { detail: [{ type: "missing", loc: ["body", "keys"] }] },
    });
    const wrongType = await report(keys[0]);
    const shapes: Array<[unknown, Record<string, string>?]> = [
      [keys[0], { "content-type": "text/plain" }],
      [[keys[0]]],
      [{ keys: [{ text: keys[0] }] }],
      [{ keys: [[keys[0]]] }],
      [{ keys: { [keys[0]!]: 1 } }],
      [`{"keys": ["${keys[0]}"`],
      [`"${keys[0]}"`],
    ];
    const refused = [];
    for (const [body, headers] of shapes)
      refused.push(await call(stack.url, null, "POST", "/api-keys/revoke-leaked", body, headers));
    expect(refused.map(({ status }) => status)).toEqual(shapes.map(() => 422));
    for (const { body } of [tooMany, misnamed, wrongType, ...refused])
      expect(JSON.stringify(body)).not.toContain("qqq");
    expect(stack.api.output()).not.toContain("qqq");
  });
});
