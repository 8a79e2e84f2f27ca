import type { Holdfast } from "@holdfast/client";
import { queryOptions } from "@tanstack/react-query";
import { answerOf } from "../../api/client.ts";
import { keyOf } from "../../api/keys.ts";

export const organizationQuery = ({ api }: Holdfast, organizationId: string) =>
  queryOptions({
    queryKey: keyOf("organization", organizationId),
    queryFn: () =>
      answerOf(
        api.GET("/v1/organizations/{organization_id}", {
          params: { path: { organization_id: organizationId } },
        }),
      ),
  });
