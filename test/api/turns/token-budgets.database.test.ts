import { expect, test, vi } from "vitest";
import { createTokenBudgets, quotasOf } from "../../../src/api/turns/token-budgets.ts";
import type { OrganizationRef } from "../../../src/db/pool.ts";
import { newId } from "../../../src/domain/ids.ts";
import type { Principal } from "../../../src/domain/tenancy/principal.ts";
import { makeOrganization } from "../../support/tenants/callers.ts";
import { eventsOf } from "../../support/tenants/events.ts";
import { createTestDatabase } from "../../support/servers/database.ts";

const caller = (organization: OrganizationRef, userId: string, apiKeyId: string | null): Principal =>
  ({ organization, user: { id: userId }, apiKeyId }) as Principal;

test("a user's monthly tokens are those of all keys and sessions; a refusal names its budget", async () => {
  const database = await createTestDatabase();
  try {
    const organization = await makeOrganization(database.db);
    const [ada, bob, key, otherKey] = [newId(), newId(), newId(), newId()];
    const spend = async (userId: string, apiKeyId: string | null, tokens: number): Promise<void> => {
      const turnId = newId();
      await database.db.owner.query(
        `insert into turns
           (id, organization_id, space_id, agent_id, user_id, api_key_id, api_process_id,
            status, starts_conversation, started_at)
         values
           ($1, $2, $1, $1, $3, $4, $1, 'completed', true, now())`,
        [turnId, organization.id, userId, apiKeyId],
      );
      await database.db.owner.query(
        `insert into turn_calls (turn_id, call_no, organization_id, model, prompt_tokens, completion_tokens)
         values ($1, 1, $2, 'm', $3, 0)`,
        [turnId, organization.id, tokens],
      );
    };
    // Sums are cached for seconds, so each check makes its own cache.
    const check = (principal: Principal): Promise<void> =>
      createTokenBudgets(
        database.db,
        { monthlyTokensPerOrganization: 500, monthlyTokensPerUser: 300, monthlyTokensPerKey: 200 },
        { warn: () => undefined },
      )(principal);
    const window = expect.any(Number) as number;

    await spend(ada, key, 150);
    await spend(ada, null, 100);
    for (const apiKeyId of [key, otherKey, null]) await check(caller(organization, ada, apiKeyId));
    await spend(ada, key, 50);
    for (const apiKeyId of [key, otherKey, null]) {
      await expect(check(caller(organization, ada, apiKeyId))).rejects.toMatchObject({
        code: "rate_limited",
        message: "The monthly budget of 300 tokens of this user is used up.",
        budget: { name: "user-tokens", quota: 300, windowSeconds: window, unit: "tokens" },
      });
    }
    await check(caller(organization, bob, otherKey));
    await spend(bob, otherKey, 200);
    await expect(check(caller(organization, bob, null))).rejects.toMatchObject({
      budget: { name: "organization-tokens", quota: 500 },
    });
    await expect(check(caller(organization, newId(), null))).rejects.toMatchObject({
      budget: { name: "organization-tokens" },
    });

    const month = new Date().toISOString().slice(0, 7);
    const events = await eventsOf(database.db, organization);
    const told = events.filter((event) => event.type === "budget.reached");
    expect(told.map(({ type, resource, data }) => [type, resource, data])).toEqual([
      ["budget.reached", { type: "user", id: ada }, { budget: "user", quota: 300, month }],
      [
        "budget.reached",
        { type: "organization", id: organization.id },
        { budget: "organization", quota: 500, month },
      ],
    ]);
  } finally {
    await database.drop();
  }
});

test("if the event of a used-up budget cannot be written, the refusal is the same", async () => {
  const database = await createTestDatabase();
  try {
    const organization = await makeOrganization(database.db);
    await database.db.owner.query("drop table budgets_reached");
    const warn = vi.fn<() => void>();
    const check = createTokenBudgets(database.db, { monthlyTokensPerUser: 0 }, { warn });

    await expect(check(caller(organization, newId(), null))).rejects.toMatchObject({
      code: "rate_limited",
      budget: { name: "user-tokens" },
    });

    expect(warn).toHaveBeenCalledOnce();
  } finally {
    await database.drop();
  }
});

test("each budget has the quota of its own setting, and none without one", () => {
  expect(quotasOf({ monthlyTokensPerUser: 5, monthlyTokensPerKey: 7 })).toEqual({
    organization: null,
    user: 5,
    api_key: 7,
  });
  expect(quotasOf({ monthlyTokensPerOrganization: 9 })).toEqual({
    organization: 9,
    user: null,
    api_key: null,
  });
});
