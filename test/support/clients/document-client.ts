/** The requests of tests of documents and their runs, sent as the editor of the space Research. */
import { type Answer, call, ended, upload } from "./client.ts";
import type { Stack } from "../stack/stack.ts";
import type { Tenants } from "../tenants/tenants.ts";
import { until } from "../until.ts";

/** Makes a text that is chunked differently for each chunk size. */
export const longText = (name: string): string =>
  Array.from(
    { length: 30 },
    (_, index) => `The ${name} says in part ${index} that ${`word${index} counts here `.repeat(12)}.`,
  ).join("\n\n");

interface On {
  readonly stack: Pick<Stack, "url" | "provider"> & { readonly database: Pick<Stack["database"], "db"> };
  readonly tenants: Tenants;
}

export interface DocumentClient {
  as(
    key: string | null,
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Answer>;
  editor(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  /** Uploads into the space, as its editor unless another key is given. */
  accept(
    content: string | Uint8Array<ArrayBuffer>,
    filename?: string,
    space?: string,
    key?: string,
  ): Promise<Answer["body"]>;
  /** Waits until the document's run has ended. */
  end(id: string, timeoutMs?: number): Promise<Answer["body"]>;
  /** Uploads and waits until the run has ended. */
  put(
    content: string | Uint8Array<ArrayBuffer>,
    filename?: string,
    space?: string,
    key?: string,
  ): Promise<Answer["body"]>;
  versions(id: string): Promise<Answer["body"][]>;
  reprocess(id: string, body?: unknown): Promise<Answer>;
  /** Searches in the document as a viewer, and returns the hits. */
  hits(id: string, query: string): Promise<Answer["body"]>;
  /** Makes a document whose second run waits for the provider. */
  putWaiting(name: string): Promise<{ id: string; runId: string }>;
  /** Runs a query in the stack's database as its owner, and returns the rows. */
  rows(query: string, values?: unknown[]): Promise<any[]>;
}

/** Reads the stack's fields at each call, because the stack starts after the tests were collected. */
export function documentClient({ stack, tenants: { keys, spaces } }: On): DocumentClient {
  const as: DocumentClient["as"] = (key, ...request) => call(stack.url, key, ...request);
  const editor: DocumentClient["editor"] = (...request) => as(keys.editor, ...request);
  const accept: DocumentClient["accept"] = (content, filename, space = spaces.research, key = keys.editor) =>
    upload(stack.url, key, space, content, filename);
  const reprocess: DocumentClient["reprocess"] = (id, body) => editor("POST", `/data/${id}/reprocess`, body);
  const put: DocumentClient["put"] = async (content, filename, space, key = keys.editor) => {
    const { id } = await accept(content, filename, space, key);
    return ended(stack.url, key, id);
  };
  return {
    as,
    editor,
    accept,
    reprocess,
    put,
    end: (id, timeoutMs) => ended(stack.url, keys.editor, id, timeoutMs),
    versions: async (id) => (await editor("GET", `/data/${id}/versions`)).body.items,
    hits: async (id, query) =>
      (
        await as(keys.viewer, "POST", "/data/hybrid-search", {
          query,
          space_id: spaces.research,
          document_ids: [id],
          limit: 100,
        })
      ).body,
    async putWaiting(name) {
      const { id } = await put(longText(name), `${name}.md`);
      stack.provider.failEmbeddings({ status: 503 });
      const { pipeline_run_id: runId } = (
        await reprocess(id, { chunker_name: "fixed_tokens", chunker_config: { max_tokens: 61 } })
      ).body;
      await until(
        "it waits for the provider",
        async () => (await editor("GET", `/data/runs/${runId}`)).body.waiting_for === "provider_unavailable",
      );
      return { id, runId };
    },
    rows: async (query, values = []) => (await stack.database.db.owner.query(query, values)).rows,
  };
}
