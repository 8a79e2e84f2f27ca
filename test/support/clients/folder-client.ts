/** What tests of folders ask of the space Research, as its owner. */
import { expect } from "vitest";
import type { Stack } from "../stack/stack.ts";
import type { Tenants } from "../tenants/tenants.ts";
import { type Answer, call, ended, fileForm } from "./client.ts";

interface Hit {
  readonly document_id: string;
  readonly folder_path: string;
  readonly sparse_score: number | null;
}

interface Tested {
  readonly stack: Pick<Stack, "url">;
  readonly tenants: Tenants;
}

/** The stack is asked for its URL at each call: it starts after the tests were collected. */
export function folderClient({ stack, tenants: { keys, spaces } }: Tested) {
  const request = (
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Answer> => call(stack.url, keys.owner, method, path, body, headers);

  /** @returns the new folder, in another or at the root of a space. */
  const make = async (
    name: string,
    parentId: string | null = null,
    spaceId: string = spaces.research,
  ): Promise<Answer["body"]> => {
    const folder = { name, space_id: spaceId, parent_folder_id: parentId };
    const { status, body } = await request("POST", "/folders", folder);
    expect(status).toBe(201);
    return body;
  };

  /** @returns the new document as its upload is answered. */
  const put = async (folderId: string, text: string): Promise<Answer["body"]> => {
    const form = fileForm(text, "note.md", { space_id: spaces.research, folder_id: folderId });
    const { status, body } = await request("POST", "/data/upload", form);
    expect(status).toBe(201);
    return body;
  };

  return {
    request,
    make,
    put,
    move: (id: string, parentId: string | null): Promise<Answer> =>
      request("PATCH", `/folders/${id}`, { parent_folder_id: parentId }),
    /** @returns the new document once it can be found. */
    stored: async (folderId: string, text: string): Promise<Answer["body"]> =>
      ended(stack.url, keys.owner, (await put(folderId, text)).id),
    /** The hits that have a word of the query. */
    found: async (query: string): Promise<Hit[]> => {
      const search = { query, space_id: spaces.research };
      const { body } = await request("POST", "/data/hybrid-search", search);
      return (body.results as Hit[]).filter((hit) => hit.sparse_score !== null);
    },
  };
}
