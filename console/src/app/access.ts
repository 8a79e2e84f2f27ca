import { queryOptions, useQuery } from "@tanstack/react-query";
import type { Holdfast } from "@holdfast/client";
import { answerOf } from "../api/client.ts";
import { keyOf } from "../api/keys.ts";
import { useHoldfast } from "./context.ts";

export const accessQuery = ({ api }: Holdfast, spaceId: string | undefined) =>
  queryOptions({
    queryKey: keyOf("access", spaceId),
    queryFn: () =>
      answerOf(api.GET("/v1/me/access", { params: { query: { space_id: spaceId!, limit: 1 } } })),
    enabled: spaceId !== undefined,
  });

/** What the service allows the person to do in a space, as its policy names it; nothing until it is known. */
export function useAccess(spaceId: string | undefined): (action: string) => boolean {
  const { data } = useQuery(accessQuery(useHoldfast(), spaceId));
  const can = data?.items[0]?.can ?? [];
  return (action) => can.includes(action);
}
