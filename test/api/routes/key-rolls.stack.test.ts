/** The number of a user's live keys on the real stack, where expired ones are rolled. */
import { expect, test } from "vitest";
import { signedIn } from "../../support/clients/signed-in.ts";

const people = signedIn();
const { stack, tenants } = people;

test("expired keys that are rolled with a new expiry count as more keys, also at once", async () => {
  const { owner } = stack.database.db;
  const { body: probe } = await people.as("rob", "POST", "/me/api-keys", { name: "expired 0" });
  const ids = [
    probe.id,
    ...(
      await Promise.all(
        [1, 2].map((index) => people.as("rob", "POST", "/me/api-keys", { name: `expired ${index}` })),
      )
    ).map(({ body }) => body.id),
  ];
  await owner.query("update api_keys set expires_at = now() - interval '1 minute' where id = any($1)", [ids]);
  const { rows } = await owner.query(
    `select count(*)::int as live
     from api_keys
     where user_id = $1
       and revoked_at is null
       and (expires_at is null or expires_at > now())`,
    [people.ids.rob],
  );
  await owner.query(
    `insert into api_keys (id, organization_id, user_id, name, prefix, hash, all_spaces)
     select gen_random_uuid(), $1, $2, 'many', 'sk-', sha256(convert_to('revive' || $3 || n, 'UTF8')), true
      from generate_series(1, $4) n`,
    [tenants.rival, people.ids.rob, tenants.domain, 49 - rows[0].live],
  );
  const roll = (id: string) =>
    people.as("rob", "POST", `/me/api-keys/${id}/roll`, { expires_at: "2100-01-01" });
  const answers = await Promise.all(ids.map(roll));
  expect(answers.filter(({ status }) => status === 400)).toHaveLength(2);
  expect(answers.find(({ status }) => status === 400)!.body.detail).toBe(
    "A user may have at most 50 API keys that are neither revoked nor expired",
  );
  const { id } = answers.find(({ status }) => status === 201)!.body;
  // It lives, so that rolling it adds none.
  expect((await roll(id)).status).toBe(201);
  await owner.query("delete from api_keys where user_id = $1 and (name = 'many' or id = any($2))", [
    people.ids.rob,
    ids,
  ]);
});
