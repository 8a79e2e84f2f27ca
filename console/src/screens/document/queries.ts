import { type Holdfast, type Schemas } from "@holdfast/client";
import { queryOptions } from "@tanstack/react-query";
import { answerOf, taggedAnswerOf } from "../../api/client.ts";
import { keyOf } from "../../api/keys.ts";

/** So many chunks are shown beside the pages. */
export const SHOWN_CHUNKS = 2_000;
export const CHUNKS_PER_PAGE = 1_000;
const MANY = 1_000;
/** Of the pages only their number is needed. */
const ONE = 1;

const pathOf = (id: string) => ({ document_id: id });

export const documentQuery = ({ api }: Holdfast, id: string) =>
  queryOptions({
    queryKey: keyOf("documents", id),
    queryFn: () => taggedAnswerOf(api.GET("/v1/data/{document_id}", { params: { path: pathOf(id) } })),
  });

export const chunksQuery = (holdfast: Holdfast, id: string, version: number | null) =>
  queryOptions({
    queryKey: keyOf("documents", id, "chunks", version),
    queryFn: async () => {
      const chunks: Schemas["Chunk"][] = [];
      for await (const chunk of holdfast.chunks(id, { pageSize: CHUNKS_PER_PAGE })) {
        chunks.push(chunk);
        if (chunks.length === SHOWN_CHUNKS) break;
      }
      return chunks;
    },
  });

/** Those of a version that is kept: it never changes. */
export const chunksOfVersionQuery = ({ api }: Holdfast, id: string, version: number) =>
  queryOptions({
    queryKey: keyOf("documents", id, "chunks of", version),
    queryFn: async () => {
      const { items } = await answerOf(
        api.GET("/v1/data/{document_id}/chunks", {
          params: { path: pathOf(id), query: { version, limit: CHUNKS_PER_PAGE } },
        }),
      );
      return items;
    },
  });

export const pagesQuery = ({ api }: Holdfast, id: string, version: number | undefined) =>
  queryOptions({
    queryKey: keyOf("documents", id, "pages", version),
    queryFn: () =>
      answerOf(
        api.GET("/v1/data/{document_id}/pages", {
          params: { path: pathOf(id), query: { limit: ONE, ...(version === undefined ? {} : { version }) } },
        }),
      ),
  });

export interface PictureOf {
  readonly page: number;
  readonly version?: number | undefined;
  /** The id of a chunk, or a receipt. */
  readonly highlight?: string | undefined;
}

/** A picture of a page as a blob, since requests of pictures have no credential of their own. */
export const pictureQuery = ({ api }: Holdfast, id: string, { page, version, highlight }: PictureOf) =>
  queryOptions({
    queryKey: keyOf("documents", id, "picture", page, version, highlight),
    queryFn: () =>
      answerOf<Blob>(
        api.GET("/v1/data/{document_id}/pages/{page_number}", {
          params: {
            path: { ...pathOf(id), page_number: page },
            query: {
              width: PICTURE_WIDTH,
              format: "webp",
              ...(version === undefined ? {} : { version }),
              ...(highlight === undefined ? {} : { highlight }),
            },
          },
          parseAs: "blob",
        }) as Promise<{ data?: Blob; response: Response }>,
      ),
    staleTime: Infinity,
  });

const PICTURE_WIDTH = 1_200;

export const versionsQuery = ({ api }: Holdfast, id: string) =>
  queryOptions({
    queryKey: keyOf("runs", id, "versions"),
    queryFn: () =>
      answerOf(
        api.GET("/v1/data/{document_id}/versions", { params: { path: pathOf(id), query: { limit: MANY } } }),
      ),
  });

export const runQuery = ({ api }: Holdfast, runId: string) =>
  queryOptions({
    queryKey: keyOf("runs", runId),
    queryFn: () =>
      answerOf(api.GET("/v1/data/runs/{pipeline_run_id}", { params: { path: { pipeline_run_id: runId } } })),
  });

/** The newest attempts say what happened last; a run has at most fifty. */
const SHOWN_ATTEMPTS = 50;

export const attemptsQuery = ({ api }: Holdfast, runId: string) =>
  queryOptions({
    queryKey: keyOf("runs", runId, "attempts"),
    queryFn: () =>
      answerOf(
        api.GET("/v1/data/runs/{pipeline_run_id}/attempts", {
          params: { path: { pipeline_run_id: runId }, query: { limit: SHOWN_ATTEMPTS } },
        }),
      ),
  });

export const integrityQuery = ({ api }: Holdfast, id: string) =>
  queryOptions({
    queryKey: keyOf("runs", id, "integrity"),
    queryFn: () => answerOf(api.GET("/v1/data/{document_id}/integrity", { params: { path: pathOf(id) } })),
    staleTime: 0,
  });
