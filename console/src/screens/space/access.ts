/** A space, and what the person may do in it: as the service says it, not as the console thinks. */
import { useQuery } from "@tanstack/react-query";
import { taggedAnswerOf } from "../../api/client.ts";
import { keyOf } from "../../api/keys.ts";
import { accessQuery } from "../../app/access.ts";
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
    queryKey: keyOf("spaces", spaceId, "tagged"),
    queryFn: ({ signal }) =>
      taggedAnswerOf(api.GET("/v1/spaces/{space_id}", { params: { path: { space_id: spaceId } }, signal })),
  });
}

/** Undefined until the service has said it. */
export function useRights(spaceId: string) {
  const { data, ...query } = useQuery(accessQuery(useHoldfast(), spaceId));
  const can = data?.items[0]?.can ?? [];
  const rights: Rights = {
    canRead: can.includes("documents:read"),
    canWrite: can.includes("documents:create"),
    canManage: can.includes("spaces:manage"),
  };
  return { ...query, data: data === undefined ? undefined : rights };
}
