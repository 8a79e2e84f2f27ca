/** What tests of documents and their runs ask of a stack, as the editor of the space Research. */
import { type Answer, call, ended, upload } from "./client.ts";
import type { Stack } from "./stack.ts";
import type { Tenants } from "./tenants.ts";
import { until } from "./until.ts";

/** A text whose chunks differ with their size. */
export const longText = (name: string): string =>
  Array.from({ length: 30 }, (_, index) => `The ${name} says in part ${index} that ${`word${index} counts here `.repeat(12)}.`).join("\n\n");

export interface DocumentRuns {
  as(key: string, method: string, path: string, body?: unknown): Promise<Answer>;
  editor(method: string, path: string, body?: unknown): Promise<Answer>;
  /** Waits until the document's run has ended. */
  end(id: string): Promise<Answer["body"]>;
  versions(id: string): Promise<Answer["body"][]>;
  reprocess(id: string, body?: unknown): Promise<Answer>;
  /** What a viewer finds in the document. */
  hits(id: string, query: string): Promise<Answer["body"]>;
  /** Uploads, and waits until the run has ended. */
  put(content: string, filename: string): Promise<Answer["body"]>;
  /** A document whose second run waits for the provider. */
  putWaiting(name: string): Promise<{ id: string; runId: string }>;
}

/** The stack is asked at each call: it starts after the tests were collected. */
export function documentRuns(on: { readonly stack: Pick<Stack, "url" | "provider">; readonly tenants: Tenants }): DocumentRuns {
  const { keys, spaces } = on.tenants;
  const as: DocumentRuns["as"] = (key, method, path, body) => call(on.stack.url, key, method, path, body);
  const editor: DocumentRuns["editor"] = (method, path, body) => as(keys.editor, method, path, body);
  const end: DocumentRuns["end"] = (id) => ended(on.stack.url, keys.editor, id);
  const reprocess: DocumentRuns["reprocess"] = (id, body) => editor("POST", `/data/${id}/reprocess`, body);
  const put: DocumentRuns["put"] = async (content, filename) => end((await upload(on.stack.url, keys.editor, spaces.research, content, filename)).id);
  return {
    as,
    editor,
    end,
    reprocess,
    put,
    versions: async (id) => (await editor("GET", `/data/${id}/versions`)).body.items,
    hits: async (id, query) => (await as(keys.viewer, "POST", "/data/hybrid-search", { query, space_id: spaces.research, document_ids: [id], limit: 100 })).body,
    async putWaiting(name) {
      const { id } = await put(longText(name), `${name}.md`);
      on.stack.provider.failEmbeddings({ status: 503 });
      const { pipeline_run_id: runId } = (await reprocess(id, { chunker_name: "fixed_tokens", chunker_config: { max_tokens: 61 } })).body;
      await until("it waits for the provider", async () => (await editor("GET", `/data/runs/${runId}`)).body.waiting_for === "provider_unavailable");
      return { id, runId };
    },
  };
}
