/** The requests of tests of batches, sent as the editor of the space Research unless another key is given. */
import { type Answer, call, ended, upload } from "./client.ts";
import type { Stack } from "../stack/stack.ts";
import type { Tenants } from "../tenants/tenants.ts";
import { until } from "../until.ts";

const END_MS = 60_000;

export interface BatchClient {
  /** Sends `POST /data/batch-reprocess`. */
  start(body: unknown, key?: string): Promise<Answer>;
  read(id: string, key?: string): Promise<Answer["body"]>;
  /** Waits until the batch has ended. */
  end(id: string, timeoutMs?: number): Promise<Answer["body"]>;
  /** Uploads `count` documents, waits until they are completed, and returns their ids. */
  putMany(name: string, count: number, space?: string, key?: string): Promise<string[]>;
}

/** Reads the stack's fields at each call, because the stack starts after the tests were collected. */
export function batchClient(on: {
  readonly stack: Pick<Stack, "url">;
  readonly tenants: Tenants;
}): BatchClient {
  const { keys, spaces } = on.tenants;
  const read: BatchClient["read"] = async (id, key = keys.editor) =>
    (await call(on.stack.url, key, "GET", `/data/batches/${id}`)).body;
  const put = async (text: string, name: string, space: string, key: string): Promise<string> =>
    (await upload(on.stack.url, key, space, text, name)).id;
  return {
    start: (body, key = keys.editor) => call(on.stack.url, key, "POST", "/data/batch-reprocess", body),
    read,
    end: (id, timeoutMs = END_MS) =>
      until(`batch ${id} ends`, async () => (await read(id)).completed_at !== null && read(id), timeoutMs),
    async putMany(name, count, space = spaces.research, key = keys.editor) {
      const all = Array.from({ length: count }, (_, index) =>
        put(`The ${name} number ${index} is here.`, `${name}-${index}.md`, space, key),
      );
      const ids = await Promise.all(all);
      for (const id of ids) await ended(on.stack.url, key, id, END_MS);
      return ids;
    },
  };
}
