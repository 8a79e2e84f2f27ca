/** The requests of tests of folders, sent as the owner of the space Research. */
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

/** Reads the stack's URL at each call, because the stack starts after the tests were collected. */
export function folderClient({ stack, tenants: { keys, spaces } }: Tested) {
  const request = (
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Answer> => call(stack.url, keys.owner, method, path, body, headers);

  /** Makes a folder, in another one or at the root of a space. @returns the new folder. */
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

  /** Uploads a document. @returns the document as the upload was answered. */
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
    /** Uploads a document and waits until search finds it. @returns the document. */
    stored: async (folderId: string, text: string): Promise<Answer["body"]> =>
      ended(stack.url, keys.owner, (await put(folderId, text)).id),
    /** Returns the hits that contain a word of the query. */
    found: async (query: string): Promise<Hit[]> => {
      const search = { query, space_id: spaces.research };
      const { body } = await request("POST", "/data/hybrid-search", search);
      return (body.results as Hit[]).filter((hit) => hit.sparse_score !== null);
    },
  };
}
