/** Makes the folders of dropped files on the way; those that are there are used. */
import type { Holdfast } from "@holdfast/client";
import { answerOf } from "../../../api/client.ts";

/** The service takes so many paths in one request. */
const AT_ONCE = 1_000;

/** @returns the id of each of `paths`, such as `Reports/2026`, below `parentId` */
export async function ensureFolders(
  { api }: Holdfast,
  { spaceId, parentId, paths }: { spaceId: string; parentId: string | null; paths: readonly string[] },
): Promise<ReadonlyMap<string, string>> {
  const ids = new Map<string, string>();
  for (let at = 0; at < paths.length; at += AT_ONCE) {
    const body = { space_id: spaceId, parent_id: parentId, paths: paths.slice(at, at + AT_ONCE) };
    const { folders } = await answerOf(api.POST("/v1/folders/ensure", { body }));
    for (const { path, id } of folders) ids.set(path, id);
  }
  return ids;
}
