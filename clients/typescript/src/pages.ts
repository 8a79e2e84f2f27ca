/** Lists as iterators: they ask for the next page when the loop gets there. */
import type { Client } from "openapi-fetch";
import { type Persistence, persist } from "./requests.ts";
import type { components, paths } from "./schema.ts";

type Schemas = components["schemas"];

export interface ListOptions {
  /** The entries of one page, 1 to 100; 100 by default. */
  readonly pageSize?: number;
  readonly signal?: AbortSignal;
}

export interface FilteredListOptions extends ListOptions {
  /** Keys are `field__operator`, such as `{ file_type: "PDF", created_at__gte: "2026-01-01T00:00:00Z" }`. */
  readonly filters?: Readonly<Record<string, unknown>>;
  /** Fields, each with `-` before it for descending order; newest first by default. */
  readonly orderBy?: readonly string[];
}

/** Iterators over whole lists. */
export interface Lists {
  documents(options?: FilteredListOptions): AsyncGenerator<Schemas["Document"], void, undefined>;
  spaces(options?: FilteredListOptions): AsyncGenerator<Schemas["Space"], void, undefined>;
  agents(options?: FilteredListOptions): AsyncGenerator<Schemas["Agent"], void, undefined>;
  /** The chunks of a document, in its order. */
  chunks(documentId: string, options?: ListOptions): AsyncGenerator<Schemas["Chunk"], void, undefined>;
  versions(documentId: string, options?: ListOptions): AsyncGenerator<Schemas["Version"], void, undefined>;
  /** The folders of a space at the root, or of `parentFolderId`. */
  folders(
    spaceId: string,
    options?: ListOptions & { readonly parentFolderId?: string },
  ): AsyncGenerator<Schemas["Folder"], void, undefined>;
}

interface Page<T> {
  readonly items: readonly T[];
  readonly total_pages: number;
}

interface Query {
  readonly page: number;
  readonly limit: number;
}

const PAGE_SIZE = 100;

export function createLists(api: Client<paths>, persistence: Persistence): Lists {
  const pages = <T>(
    options: ListOptions,
    read: (query: Query, signal: AbortSignal) => Promise<{ data?: Page<T>; response: Response }>,
  ): AsyncGenerator<T, void, undefined> =>
    iterate(options, (query, signal) => persist((ended) => read(query, ended), { ...persistence, signal }));
  return {
    documents: (options = {}) =>
      pages(options, (query, signal) =>
        api.POST("/v1/data/search", { params: { query }, body: bodyOf(options), signal }),
      ),
    spaces: (options = {}) =>
      pages(options, (query, signal) =>
        api.POST("/v1/spaces/search", { params: { query }, body: bodyOf(options), signal }),
      ),
    agents: (options = {}) =>
      pages(options, (query, signal) =>
        api.POST("/v1/agents/search", { params: { query }, body: bodyOf(options), signal }),
      ),
    chunks: (documentId, options = {}) =>
      pages(options, (query, signal) => {
        const params = { path: { document_id: documentId }, query };
        return api.GET("/v1/data/{document_id}/chunks", { params, signal });
      }),
    versions: (documentId, options = {}) =>
      pages(options, (query, signal) => {
        const params = { path: { document_id: documentId }, query };
        return api.GET("/v1/data/{document_id}/versions", { params, signal });
      }),
    folders: (spaceId, options = {}) =>
      pages(options, (query, signal) => {
        const { parentFolderId } = options;
        const parent = parentFolderId === undefined ? {} : { parent_folder_id: parentFolderId };
        const params = { path: { space_id: spaceId }, query: { ...query, ...parent } };
        return api.GET("/v1/folders/space/{space_id}", { params, signal });
      }),
  };
}

function bodyOf({ filters, orderBy }: FilteredListOptions): {
  filters?: Record<string, unknown>;
  order_by?: string[];
} {
  return {
    ...(filters === undefined ? {} : { filters }),
    ...(orderBy === undefined ? {} : { order_by: [...orderBy] }),
  };
}

/** Entries that are added meanwhile move others to the next page; those are given once. */
async function* iterate<T>(
  { pageSize = PAGE_SIZE, signal }: ListOptions,
  read: (query: Query, signal: AbortSignal | undefined) => Promise<Page<T>>,
): AsyncGenerator<T, void, undefined> {
  let before = new Set<unknown>();
  for (let page = 1; ; page += 1) {
    const { items, total_pages } = await read({ page, limit: pageSize }, signal);
    const ids = new Set(items.map(idOf));
    for (const item of items) {
      const id = idOf(item);
      if (id === undefined || !before.has(id)) yield item;
    }
    if (page >= total_pages) return;
    before = ids;
  }
}

function idOf(item: unknown): unknown {
  return typeof item === "object" && item !== null && "id" in item ? item.id : undefined;
}
