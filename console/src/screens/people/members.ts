/** The members of the organization, as its admins see them. */
import type { Holdfast, Schemas } from "@holdfast/client";
import { queryOptions } from "@tanstack/react-query";
import { answerOf } from "../../api/client.ts";
import { keyOf } from "../../api/keys.ts";

export type Member = Schemas["Member"];

/** The service's largest page; a list that people choose from shows no more. */
const PAGE_SIZE = 1_000;

/** The key of the first page is the one that the settings of a space use too. */
export const membersQuery = ({ api }: Holdfast, organizationId: string, page = 1) =>
  queryOptions({
    queryKey: keyOf("members", "organization", organizationId, ...(page === 1 ? [] : [page])),
    queryFn: () =>
      answerOf(
        api.GET("/v1/organizations/{organization_id}/members", {
          params: { path: { organization_id: organizationId }, query: { limit: PAGE_SIZE, page } },
        }),
      ),
  });

/** What the end of a membership takes along, as far as the service counts it: keys and roles in spaces. */
export async function countRemoval(
  { api }: Holdfast,
  organizationId: string,
  userId: string,
): Promise<Readonly<Record<string, number>>> {
  const path = { organization_id: organizationId };
  const keys = await answerOf(
    api.GET("/v1/organizations/{organization_id}/api-keys", {
      params: {
        path,
        query: { user_id: userId, limit: 1, filters: JSON.stringify({ revoked_at__isnull: true }) },
      },
    }),
  );
  let members = 0;
  for (let page = 1, last = 1; page <= last; page++) {
    const { items, total_pages: total } = await answerOf(
      api.GET("/v1/organizations/{organization_id}/members/{user_id}/access", {
        params: { path: { ...path, user_id: userId }, query: { page, limit: 100 } },
      }),
    );
    last = total;
    members += items.filter(({ role, is_private: isPrivate }) => role !== null && !isPrivate).length;
  }
  return { api_keys: keys.total_items, members };
}
