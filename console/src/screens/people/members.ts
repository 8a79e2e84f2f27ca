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
