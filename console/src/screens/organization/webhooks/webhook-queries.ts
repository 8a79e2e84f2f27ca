import type { Holdfast, Schemas } from "@holdfast/client";
import { infiniteQueryOptions, keepPreviousData, queryOptions } from "@tanstack/react-query";
import { answerOf, taggedAnswerOf } from "../../../api/client.ts";
import { keyOf } from "../../../api/keys.ts";

export type Webhook = Schemas["Webhook"];
export type Delivery = Schemas["WebhookDelivery"];

const PAGE_SIZE = 50;
/** Deliveries make no events of their own: while one waits, or is about to be made, it is looked for. */
const WAITING_MS = 2_000;
/** A timer takes no more than 24 days. */
const MOST_WAITING_MS = 3_600_000;
/** So long after a test or a replay its deliveries are looked for. */
const EXPECTING_MS = 30_000;

const askedFor = new Map<string, number>();

/** Notes that deliveries of this webhook are about to be made. */
export function expectDeliveries(id: string): void {
  askedFor.set(id, Date.now());
}

const areExpected = (id: string): boolean => Date.now() - (askedFor.get(id) ?? 0) < EXPECTING_MS;

export const webhooksQuery = ({ api }: Holdfast, page: number) =>
  queryOptions({
    queryKey: keyOf("webhooks", "list", page),
    queryFn: () => answerOf(api.GET("/v1/webhooks", { params: { query: { page, limit: PAGE_SIZE } } })),
    placeholderData: keepPreviousData,
  });

export const webhookQuery = ({ api }: Holdfast, id: string) =>
  queryOptions({
    queryKey: keyOf("webhooks", "one", id),
    queryFn: () =>
      taggedAnswerOf(api.GET("/v1/webhooks/{webhook_id}", { params: { path: { webhook_id: id } } })),
  });

export const deliveriesQuery = ({ api }: Holdfast, id: string, status: Delivery["status"] | undefined) =>
  infiniteQueryOptions({
    queryKey: keyOf("webhooks", "deliveries", id, status),
    initialPageParam: null as string | null,
    queryFn: ({ pageParam: after }) =>
      answerOf(
        api.GET("/v1/webhooks/{webhook_id}/deliveries", {
          params: {
            path: { webhook_id: id },
            query: {
              limit: PAGE_SIZE,
              ...(after === null ? {} : { after }),
              ...(status === undefined ? {} : { status }),
            },
          },
        }),
      ),
    getNextPageParam: ({ next_cursor: next }) => next,
    refetchInterval: ({ state }) => {
      const items = state.data?.pages.flatMap((page) => page.items) ?? [];
      const next = items.flatMap(({ next_attempt_at: at }) => (at === null ? [] : [Date.parse(at)]));
      if (areExpected(id)) return WAITING_MS;
      if (next.length === 0) return false;
      return Math.min(MOST_WAITING_MS, Math.max(WAITING_MS, Math.min(...next) - Date.now()));
    },
  });
