import type { Holdfast } from "@holdfast/client";
import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { answerOf, taggedAnswerOf } from "../../api/client.ts";
import { keyOf } from "../../api/keys.ts";

const PER_PAGE = 50;

export const agentsQuery = ({ api }: Holdfast, text: string) =>
  infiniteQueryOptions({
    queryKey: keyOf("agents", "list", text),
    queryFn: ({ pageParam }) =>
      answerOf(
        api.POST("/v1/agents/search", {
          params: { query: { page: pageParam, limit: PER_PAGE } },
          body: {
            filters: text === "" ? {} : { name__icontains: text },
            order_by: ["name"],
          },
        }),
      ),
    initialPageParam: 1,
    getNextPageParam: ({ page, total_pages: pages }) => (page < pages ? page + 1 : undefined),
  });

export const agentQuery = ({ api }: Holdfast, agentId: string) =>
  queryOptions({
    queryKey: keyOf("agents", agentId),
    queryFn: () =>
      taggedAnswerOf(api.GET("/v1/agents/{agent_id}", { params: { path: { agent_id: agentId } } })),
  });

export const historyQuery = ({ api }: Holdfast, agentId: string) =>
  infiniteQueryOptions({
    queryKey: keyOf("agents", agentId, "history"),
    queryFn: ({ pageParam }) =>
      answerOf(
        api.GET("/v1/agents/{agent_id}/history", {
          params: { path: { agent_id: agentId }, query: { page: pageParam, limit: PER_PAGE } },
        }),
      ),
    initialPageParam: 1,
    getNextPageParam: ({ page, total_pages: pages }) => (page < pages ? page + 1 : undefined),
  });
