/** Writes that a monthly budget of tokens is used up. */
import type { Sql } from "../pool.ts";
import { noteEvents } from "../events/noted.ts";

export interface ReachedBudget {
  readonly organizationId: string;
  readonly budget: "organization" | "user" | "api_key";
  /** The organization, user or key that it bounds. */
  readonly ownerId: string;
  /** Null for the organization's. */
  readonly userId: string | null;
  /** In UTC, `YYYY-MM`. */
  readonly month: string;
  readonly quota: number;
}

/** Writes the event that the budget is reached, once for each budget, owner and month. Idempotent. */
export async function tellBudgetReached(sql: Sql, reached: ReachedBudget): Promise<void> {
  noteEvents(sql, reached.organizationId);
  await sql.query(
    `with first as (
       insert into budgets_reached (organization_id, budget, owner_id, month)
       values ($1, $2, $3, ($5::text || '-01')::date)
       on conflict do nothing
       returning owner_id
     )
     insert into events (organization_id, type, resource_type, resource_id, data, audience, user_id)
     select $1,
            'budget.reached',
            $2,
            owner_id,
            jsonb_build_object('budget', $2::text, 'quota', $6::bigint, 'month', $5::text),
            case when $4::uuid is null then 'organization' else 'user' end,
            $4
     from first`,
    [reached.organizationId, reached.budget, reached.ownerId, reached.userId, reached.month, reached.quota],
  );
}
