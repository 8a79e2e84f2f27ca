import { useQuery } from "@tanstack/react-query";
import { answerOf } from "../api/client.ts";
import { keyOf } from "../api/keys.ts";
import { useHoldfast } from "./context.ts";

/** What the service allows the person to do in a space, as its policy names it; nothing until it is known. */
export function useAccess(spaceId: string | undefined): (action: string) => boolean {
  const { api } = useHoldfast();
  const { data } = useQuery({
    queryKey: keyOf("access", spaceId),
    queryFn: () =>
      answerOf(api.GET("/v1/me/access", { params: { query: { space_id: spaceId!, limit: 1 } } })),
    enabled: spaceId !== undefined,
  });
  const can = data?.items[0]?.can ?? [];
  return (action) => can.includes(action);
}
