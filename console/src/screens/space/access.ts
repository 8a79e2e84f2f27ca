/** A space, and what the person may do in it: as the service says it, not as the console thinks. */
import { useQuery } from "@tanstack/react-query";
import { answerOf, taggedAnswerOf } from "../../api/client.ts";
import { keyOf } from "../../api/keys.ts";
import { useHoldfast } from "../../app/context.ts";

export interface Rights {
  readonly canRead: boolean;
  /** Upload, move, delete and process documents, and make folders. */
  readonly canWrite: boolean;
  /** Rename and delete the space, and choose its members. */
  readonly canManage: boolean;
}

export function useSpace(spaceId: string) {
  const { api } = useHoldfast();
  return useQuery({
    queryKey: keyOf("spaces", spaceId),
    queryFn: ({ signal }) =>
      taggedAnswerOf(api.GET("/v1/spaces/{space_id}", { params: { path: { space_id: spaceId } }, signal })),
  });
}

export function useRights(spaceId: string) {
  const { api } = useHoldfast();
  return useQuery({
    queryKey: keyOf("access", spaceId),
    async queryFn({ signal }): Promise<Rights> {
      const params = { query: { space_id: spaceId, limit: 1 } };
      const { items } = await answerOf(api.GET("/v1/me/access", { params, signal }));
      const can = items[0]?.can ?? [];
      return {
        canRead: can.includes("documents:read"),
        canWrite: can.includes("documents:create"),
        canManage: can.includes("spaces:manage"),
      };
    },
  });
}
