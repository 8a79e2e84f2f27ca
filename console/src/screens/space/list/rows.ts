/** The rows of a list of any length: pages are asked for as they come into view, and kept for a while. */
import type { Document, Schemas } from "@holdfast/client";
import { type QueryClient, queryOptions, useQueries } from "@tanstack/react-query";
import { useState } from "react";
import { answerOf } from "../../../api/client.ts";
import { keyOf } from "../../../api/keys.ts";
import { useHoldfast } from "../../../app/context.ts";
import type { Question } from "./question.ts";

type Api = ReturnType<typeof useHoldfast>["api"];
type Page = Schemas["DocumentPage"];

const PAGE_ROWS = 100;

const pageQuery = (api: Api, question: Question, page: number) =>
  queryOptions({
    queryKey: keyOf("documents", "page", { ...question }, page),
    // The signal ends a request whose page has been scrolled past.
    queryFn: ({ signal }) =>
      answerOf(
        api.POST("/v1/data/search", {
          params: { query: { page, limit: PAGE_ROWS } },
          body: { filters: question.filters, order_by: [...question.order_by] },
          signal,
        }),
      ),
  });

export interface Range {
  readonly first: number;
  readonly last: number;
}

export interface Rows {
  readonly total: number | undefined;
  readonly error: Error | null;
  readonly rowAt: (index: number) => Document | undefined;
  readonly retry: () => void;
}

/**
 * The pages that hold `range`, and those beside them, so that a slow scroll never waits; the first always.
 */
function pagesAround({ first, last }: Range, total: number): readonly number[] {
  const end = Math.max(1, Math.ceil(total / PAGE_ROWS));
  const from = Math.max(1, Math.floor((first - PAGE_ROWS) / PAGE_ROWS) + 1);
  const to = Math.min(end, Math.floor((last + PAGE_ROWS) / PAGE_ROWS) + 1);
  const pages = [1];
  for (let page = Math.max(from, 2); page <= to; page += 1) pages.push(page);
  return pages;
}

export function useRows(question: Question, range: Range): Rows {
  const { api } = useHoldfast();
  // What the pages said last, so that those beyond the end are not asked for.
  const [total, setTotal] = useState(0);
  const pages = pagesAround(range, total);
  const results = useQueries({ queries: pages.map((page) => pageQuery(api, question, page)) });
  const newest = results.reduce<(typeof results)[number] | undefined>(
    (best, result) =>
      result.data !== undefined && result.dataUpdatedAt >= (best?.dataUpdatedAt ?? 0) ? result : best,
    undefined,
  );
  const newestTotal = newest?.data?.total_items ?? 0;
  if (newestTotal !== total) setTotal(newestTotal);
  const byPage = new Map<number, Page>();
  for (const [index, { data }] of results.entries()) if (data !== undefined) byPage.set(pages[index]!, data);
  const failed = results.find(({ error }) => error !== null);
  return {
    total: newest?.data?.total_items,
    error: newest === undefined ? (failed?.error ?? null) : null,
    rowAt: (index) => byPage.get(Math.floor(index / PAGE_ROWS) + 1)?.items[index % PAGE_ROWS],
    retry: () => results.forEach((result) => void result.refetch()),
  };
}

/** The ids of rows, also of those that were never in view. */
export async function idsBetween(
  queries: QueryClient,
  api: Api,
  question: Question,
  { first, last }: Range,
): Promise<string[]> {
  const pages: number[] = [];
  for (let page = Math.floor(first / PAGE_ROWS); page <= Math.floor(last / PAGE_ROWS); page += 1)
    pages.push(page + 1);
  const read = await Promise.all(pages.map((page) => queries.fetchQuery(pageQuery(api, question, page))));
  const start = Math.floor(first / PAGE_ROWS) * PAGE_ROWS;
  return read
    .flatMap(({ items }) => items)
    .slice(first - start, last - start + 1)
    .map(({ id }) => id);
}
