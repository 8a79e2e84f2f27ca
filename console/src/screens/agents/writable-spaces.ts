import { type UseQueryResult, useQuery } from "@tanstack/react-query";
import { answerOf } from "../../api/client.ts";
import { keyOf } from "../../api/keys.ts";
import { useHoldfast } from "../../app/context.ts";

export interface WritableSpace {
  readonly id: string;
  /** null: the private one. */
  readonly name: string | null;
}

const MOST = 100;

/** The spaces in which the person may make agents, as the service's policy has it. */
export function useWritableSpaces(): UseQueryResult<readonly WritableSpace[]> {
  const { api } = useHoldfast();
  return useQuery({
    queryKey: keyOf("access", "agents"),
    queryFn: async (): Promise<readonly WritableSpace[]> => {
      const { items } = await answerOf(api.GET("/v1/me/access", { params: { query: { limit: MOST } } }));
      return items
        .filter(({ can }) => can.includes("agents:create"))
        .map(({ space_id: id, space_name: name, is_private: isPrivate }) => ({
          id,
          name: isPrivate ? null : name,
        }));
    },
  });
}
