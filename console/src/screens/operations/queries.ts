/** The conditions of the service. No event tells of them, so that they are asked for again and again. */
import type { Holdfast } from "@holdfast/client";
import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { answerOf } from "../../api/client.ts";
import { keyOf } from "../../api/keys.ts";

/** A look costs the service a few statements; the screen that nobody looks at asks for nothing. */
const EVERY = { refetchInterval: 10_000, staleTime: 0 } as const;
const PAGE_SIZE = 100;

export const dependenciesQuery = ({ api }: Holdfast) =>
  queryOptions({
    queryKey: keyOf("operations", "dependencies"),
    queryFn: () => answerOf(api.GET("/v1/operations/dependencies")),
    ...EVERY,
  });

export const queuesQuery = ({ api }: Holdfast) =>
  queryOptions({
    queryKey: keyOf("operations", "queues"),
    queryFn: () => answerOf(api.GET("/v1/operations/queues")),
    ...EVERY,
  });

export const waitingQuery = ({ api }: Holdfast, page: number) =>
  queryOptions({
    queryKey: keyOf("operations", "waiting", page),
    queryFn: () =>
      answerOf(api.GET("/v1/operations/waiting", { params: { query: { page, limit: PAGE_SIZE } } })),
    placeholderData: keepPreviousData,
    ...EVERY,
  });

export const orphansQuery = ({ api }: Holdfast) =>
  queryOptions({
    queryKey: keyOf("operations", "orphans"),
    queryFn: () => answerOf(api.GET("/v1/operations/orphans")),
    ...EVERY,
  });

export const workQuery = ({ api }: Holdfast, page: number, withEnded: boolean) =>
  queryOptions({
    queryKey: keyOf("operations", "work", page, withEnded),
    queryFn: () =>
      answerOf(
        api.GET("/v1/operations/long-running", {
          params: { query: { page, limit: PAGE_SIZE, include_ended: withEnded ? "true" : "false" } },
        }),
      ),
    placeholderData: keepPreviousData,
    ...EVERY,
  });

export const processesQuery = ({ api }: Holdfast) =>
  queryOptions({
    queryKey: keyOf("operations", "processes"),
    queryFn: () => answerOf(api.GET("/v1/operations/processes")),
    ...EVERY,
  });
