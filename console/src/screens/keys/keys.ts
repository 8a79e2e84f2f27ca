/** The API keys: a person's own, and for admins those of everyone. */
import type { Holdfast, Schemas } from "@holdfast/client";
import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { answerOf } from "../../api/client.ts";
import { keyOf } from "../../api/keys.ts";

export type ApiKey = Schemas["ApiKey"];
export type Created = Schemas["ApiKeyCreated"];

export const CAPABILITIES = ["read", "search", "chat", "write"] as const;
export type Capability = (typeof CAPABILITIES)[number];

const PAGE_SIZE = 50;

export interface Wanted {
  /** The organization whose keys are listed; absent: the caller's own. */
  readonly organizationId?: string | undefined;
  readonly userId?: string | undefined;
  readonly withRevoked: boolean;
  readonly page: number;
}

export const keysQuery = ({ api }: Holdfast, wanted: Wanted) =>
  queryOptions({
    queryKey: keyOf("keys", { ...wanted }),
    queryFn: () => {
      const { organizationId, userId, withRevoked, page } = wanted;
      const query = {
        page,
        limit: PAGE_SIZE,
        order_by: ["-created_at"],
        ...(withRevoked ? {} : { filters: JSON.stringify({ revoked_at__isnull: true }) }),
      };
      if (organizationId === undefined) return answerOf(api.GET("/v1/me/api-keys", { params: { query } }));
      return answerOf(
        api.GET("/v1/organizations/{organization_id}/api-keys", {
          params: {
            path: { organization_id: organizationId },
            query: { ...query, ...(userId === undefined ? {} : { user_id: userId }) },
          },
        }),
      );
    },
    placeholderData: keepPreviousData,
  });

/** What is done with one key: an owner does it by their own path, an admin by the organization's. */
export function keyActions({ api }: Holdfast, key: ApiKey, organizationId: string, isMine: boolean) {
  const mine = { path: { api_key_id: key.id } };
  const theirs = { path: { organization_id: organizationId, api_key_id: key.id } };
  return {
    revoke: () =>
      answerOf<unknown>(
        isMine
          ? api.DELETE("/v1/me/api-keys/{api_key_id}", { params: mine })
          : api.DELETE("/v1/organizations/{organization_id}/api-keys/{api_key_id}", { params: theirs }),
      ),
    roll: (body: NonNullable<Schemas["ApiKeyRoll"]>): Promise<Created> =>
      answerOf(
        isMine
          ? api.POST("/v1/me/api-keys/{api_key_id}/roll", { params: mine, body })
          : api.POST("/v1/organizations/{organization_id}/api-keys/{api_key_id}/roll", {
              params: theirs,
              body,
            }),
      ),
    access: (query: { readonly page: number; readonly limit: number }): Promise<Schemas["SpaceAccessPage"]> =>
      answerOf(
        isMine
          ? api.GET("/v1/me/api-keys/{api_key_id}/access", { params: { ...mine, query } })
          : api.GET("/v1/organizations/{organization_id}/api-keys/{api_key_id}/access", {
              params: { ...theirs, query },
            }),
      ),
  };
}
