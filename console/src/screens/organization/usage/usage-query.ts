import type { Holdfast, Schemas } from "@holdfast/client";
import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { answerOf } from "../../../api/client.ts";
import { keyOf } from "../../../api/keys.ts";
import { type Budget, budgetOf } from "./budget.ts";
import { rangeOf } from "./series.ts";

const PAGE_SIZE = 1_000;
/** Beyond it the browser would add up more than a person reads. */
const MOST_PAGES = 20;

export const usageQuery = ({ api }: Holdfast, organizationId: string, days: number) =>
  queryOptions({
    queryKey: keyOf("usage", organizationId, days),
    queryFn: async () => {
      const range = rangeOf(days);
      const rows: Schemas["UsageRow"][] = [];
      let budget: Budget | undefined;
      let pages = 1;
      for (let page = 1; page <= Math.min(pages, MOST_PAGES); page++) {
        const request = api.GET("/v1/organizations/{organization_id}/usage", {
          params: {
            path: { organization_id: organizationId },
            query: {
              page,
              limit: PAGE_SIZE,
              from: `${range.from}T00:00:00Z`,
              to: `${range.to}T00:00:00Z`,
            },
          },
        });
        const answer = await answerOf(request);
        budget = budgetOf((await request).response.headers);
        pages = answer.total_pages;
        rows.push(...answer.items);
      }
      return { range, rows, budget, isCut: pages > MOST_PAGES };
    },
    placeholderData: keepPreviousData,
  });

const MOST_LOOKS = 50;
const MOST_REACHED = 100;

/** When somebody's tokens of a month were used up, as far back as events are kept. */
export const reachedQuery = ({ api }: Holdfast) =>
  queryOptions({
    queryKey: keyOf("usage", "reached"),
    queryFn: async () => {
      const items: Schemas["Event"][] = [];
      // An answer looks at a bounded part of the log, oldest first, and may have nothing of this type.
      for (let after: string | undefined, asked = 0; asked < MOST_LOOKS; asked++) {
        const query = {
          types: ["budget.reached" as const],
          limit: 100,
          ...(after === undefined ? {} : { after }),
        };
        const answer = await answerOf(api.GET("/v1/events", { params: { query } }));
        items.push(...answer.items);
        if (!answer.has_more) break;
        after = answer.next_cursor;
      }
      return { items: items.slice(-MOST_REACHED) };
    },
  });

/** The tokens of this month beside their budgets: of the organization, and of those who used most. */
export const tokenBudgetsQuery = ({ api }: Holdfast, organizationId: string) =>
  queryOptions({
    queryKey: keyOf("usage", organizationId, "token-budgets"),
    queryFn: () =>
      answerOf(
        api.GET("/v1/organizations/{organization_id}/token-budgets", {
          params: { path: { organization_id: organizationId }, query: { limit: 25 } },
        }),
      ),
  });
