/** The requests of tests of raw files, sent as the editor of the space Research. */
import { type Answer, call, ended, fileForm } from "./client.ts";
import type { Stack } from "../stack/stack.ts";
import type { Tenants } from "../tenants/tenants.ts";

/** Encodes a path as a query string. */
export const at = (path: string): string => `path=${encodeURIComponent(path)}`;

/** Reads the stack's URL at each call, because the stack starts after the tests were collected. */
export function rawFileClient({
  stack,
  tenants,
}: {
  readonly stack: Pick<Stack, "url">;
  readonly tenants: Tenants;
}) {
  const { keys, spaces } = tenants;
  /** The path of the space's files, under `/v1`. */
  const root = `/spaces/${spaces.research}/data`;
  const request = (
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Answer> => call(stack.url, keys.editor, method, path, body, headers);
  const put = (
    folder: string,
    name: string,
    content: string | Uint8Array<ArrayBuffer>,
    key = keys.editor,
  ): Promise<Answer> =>
    call(stack.url, key, "POST", `${root}/upload`, fileForm(content, name, { path: folder }));
  const get = (path: string, headers: Record<string, string> = {}, method = "GET"): Promise<Response> =>
    fetch(`${stack.url}/v1${root}/download?${at(path)}`, {
      method,
      headers: { authorization: `Bearer ${keys.editor}`, ...headers },
    });
  const list = async (prefix: string): Promise<Answer["body"][]> =>
    (await request("GET", `${root}/files?prefix=${encodeURIComponent(prefix)}`)).body.items;
  const one = async (path: string): Promise<Answer["body"]> =>
    (await list(path)).find((file) => file.path === path);
  return {
    root,
    request,
    put,
    get,
    list,
    one,
    content: async (path: string): Promise<string> => (await get(path)).text(),
    rename: (old_path: string, new_path: string): Promise<Answer> =>
      request("PATCH", `${root}/rename`, { old_path, new_path }),
    remove: (path: string): Promise<Answer> => request("DELETE", `${root}/files?${at(path)}`),
    paths: async (prefix: string): Promise<string[]> =>
      sorted((await list(prefix)).map((file): string => file.path)),
    /** Returns the texts of the chunks that contain a word of the query. */
    async found(query: string): Promise<string[]> {
      const { body } = await request("POST", "/data/hybrid-search", { query, space_id: spaces.research });
      return body.results
        .filter((hit: Answer["body"]) => hit.sparse_score !== null)
        .map((hit: Answer["body"]) => hit.text);
    },
    /** Uploads and waits until the file's document is searchable. */
    async stored(folder: string, name: string, text: string): Promise<Answer["body"]> {
      const { status } = await put(folder, name, text);
      if (status !== 201) throw new Error(`upload answered ${status}`);
      const file = await one(folder === "" ? name : `${folder}/${name}`);
      await ended(stack.url, keys.editor, file.document_id);
      return file;
    },
  };
}

export function sorted<T extends string | number>(values: readonly T[]): T[] {
  return values.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0));
}
