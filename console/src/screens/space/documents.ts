/** The list of a space's documents, of which only the pages are asked for that are looked at. */
import type { Holdfast, Schemas } from "@holdfast/client";
import { keepPreviousData, queryOptions, useQueries, useQuery } from "@tanstack/react-query";
import { answerOf } from "../../api/client.ts";
import { keyOf } from "../../api/keys.ts";

export type Document = Schemas["Document"];

export interface ListAddress {
  readonly folder?: string;
  readonly status?: string;
  readonly type?: string;
  readonly q?: string;
  readonly order?: string;
}

export const PAGE_SIZE = 100;
/** While a run is under way its steps are asked for so often; its ends come by events. */
const STEPS_MS = 1_000;
/** The documents of no folder. */
export const ROOT_FOLDER = "root";
export const DEFAULT_ORDER = "-created_at";
const NAME = "doc_metadata.original_filename";

const ENDS: readonly unknown[] = ["completed", "failed", "cancelled"];

export const isUnderWay = ({ processing_state: { pipeline_status: status } }: Document): boolean =>
  !ENDS.includes(status);

export function nameOf({ doc_metadata: metadata }: Document): string {
  const name = metadata["original_filename"];
  return typeof name === "string" ? name : "";
}

export function bodyOf(spaceId: string, { folder, status, type, q, order }: ListAddress) {
  const filters: Record<string, unknown> = { space_id: spaceId };
  if (folder === ROOT_FOLDER) filters["folder_id__isnull"] = true;
  else if (folder !== undefined) filters["folder_id"] = folder;
  if (status === "under_way")
    filters["processing_state.pipeline_status__in"] = ["queued", "parsing", "chunking", "embedding"];
  else if (status === "waiting") filters["processing_state.waiting_for__isnull"] = false;
  else if (status !== undefined) filters["processing_state.pipeline_status"] = status;
  if (type !== undefined) filters["file_type"] = type;
  if (q !== undefined && q !== "") filters[`${NAME}__icontains`] = q;
  return { filters, order_by: [order ?? DEFAULT_ORDER] };
}

function pageQuery(holdfast: Holdfast, body: ReturnType<typeof bodyOf>, page: number) {
  return queryOptions({
    queryKey: keyOf("documents", "list", body, page),
    queryFn: () =>
      answerOf(holdfast.api.POST("/v1/data/search", { params: { query: { page, limit: PAGE_SIZE } }, body })),
    refetchInterval: ({ state }) =>
      state.data?.items.some((document) => isUnderWay(document)) === true ? STEPS_MS : false,
  });
}

export interface DocumentList {
  /** Over all pages; undefined until it is known. */
  readonly total: number | undefined;
  readonly error: unknown;
  readonly refetch: () => void;
  /** Undefined while its page is loading. */
  readonly at: (index: number) => Document | undefined;
  /** Those that are loaded. */
  readonly loaded: readonly Document[];
}

/** @param range the rows that are shown, from 0 */
export function useDocuments(
  holdfast: Holdfast,
  spaceId: string,
  address: ListAddress,
  range: { readonly first: number; readonly last: number },
): DocumentList {
  const body = bodyOf(spaceId, address);
  const head = useQuery({ ...pageQuery(holdfast, body, 1), placeholderData: keepPreviousData });
  const total = head.data?.total_items;
  const lastPage = Math.max(1, Math.ceil((total ?? 0) / PAGE_SIZE));
  // One page ahead and one behind, so that nobody scrolls into emptiness.
  const from = Math.max(1, Math.floor(range.first / PAGE_SIZE));
  const to = Math.min(lastPage, Math.floor(range.last / PAGE_SIZE) + 2);
  const numbers = Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => from + index);
  const pages = useQueries({ queries: numbers.map((page) => pageQuery(holdfast, body, page)) });
  const byNumber = new Map(numbers.map((page, index) => [page, pages[index]?.data]));
  const itemsOf = (page: number) => byNumber.get(page)?.items ?? (page === 1 ? head.data?.items : undefined);
  return {
    total,
    error: head.data === undefined ? head.error : null,
    refetch: () => void head.refetch(),
    at: (index) => itemsOf(Math.floor(index / PAGE_SIZE) + 1)?.[index % PAGE_SIZE],
    loaded: [...new Set([1, ...numbers])].flatMap((page) => itemsOf(page) ?? []),
  };
}
