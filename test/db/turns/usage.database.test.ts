import { expect, test } from "vitest";
import { type Sql, inTenant } from "../../../src/db/pool.ts";
import { tokensOfMonth } from "../../../src/db/turns/usage.ts";
import { newId } from "../../../src/domain/ids.ts";
import { makeOrganization } from "../../support/tenants/callers.ts";
import { createTestDatabase } from "../../support/servers/database.ts";

const TURNS = 20_000;
const USERS = 200;

test("the month of a user or key is added up from the user's turns, not from all turns", async () => {
  const database = await createTestDatabase();
  try {
    const organization = await makeOrganization(database.db);
    const [user, key] = [newId(), newId()];
    const { owner } = database.db;
    await owner.query(
      `insert into turns (
         id, organization_id, space_id, agent_id,
         user_id,
         api_key_id,
         api_process_id, status, starts_conversation, started_at
       )
       select gen_random_uuid(), $1, $1, $1,
              case n % $4 when 0 then $2::uuid else gen_random_uuid() end,
              case n % (2 * $4) when 0 then $3::uuid end,
              $1, 'completed', true, now()
       from generate_series(1, $5::int) n`,
      [organization.id, user, key, USERS, TURNS],
    );
    await owner.query(
      `insert into turn_calls (turn_id, call_no, organization_id, model, prompt_tokens, completion_tokens)
       select id, 1, $1, 'm', 9, 1
       from turns`,
      [organization.id],
    );
    await owner.query("analyze turns, turn_calls");
    const month = `${new Date().toISOString().slice(0, 7)}-01`;
    const read = (userId: string | null, apiKeyId: string | null) =>
      inTenant(database.db, organization, (sql) =>
        tokensOfMonth(sql, month, { organizationId: organization.id, userId, apiKeyId }),
      );
    expect([await read(null, null), await read(user, null), await read(user, key)]).toEqual([
      TURNS * 10,
      (TURNS / USERS) * 10,
      (TURNS / USERS) * 5,
    ]);

    for (const apiKeyId of [null, key]) {
      const plan: string[] = [];
      await inTenant(database.db, organization, async (sql) => {
        const explaining = {
          async query(text: string, values: unknown[]) {
            const { rows } = await sql.query<{ "QUERY PLAN": string }>(`explain ${text}`, values);
            plan.push(...rows.map((row) => row["QUERY PLAN"]));
            return { rows: [] };
          },
        };
        await tokensOfMonth(explaining as unknown as Sql, month, {
          organizationId: organization.id,
          userId: user,
          apiKeyId,
        });
      });
      expect(plan.join("\n")).toContain("turns_of_user");
      expect(plan.join("\n")).not.toMatch(/Seq Scan/);
    }
  } finally {
    await database.drop();
  }
});
