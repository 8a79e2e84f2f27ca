/** Makes the folders of dropped files on the way; those that are there are used. */
import type { Holdfast } from "@holdfast/client";
import { answerOf } from "../../../api/client.ts";

/** @returns the id of each of `paths`, such as `Reports/2026`, below `parentId` */
export async function ensureFolders(
  holdfast: Holdfast,
  { spaceId, parentId, paths }: { spaceId: string; parentId: string | null; paths: readonly string[] },
): Promise<ReadonlyMap<string, string>> {
  const ids = new Map<string, string>();
  if (paths.length === 0) return ids;
  const children = new Map<string | null, Map<string, string>>();
  const childrenOf = (folderId: string | null): Map<string, string> => {
    const known = children.get(folderId) ?? new Map<string, string>();
    children.set(folderId, known);
    return known;
  };
  for await (const { id, name, parent_folder_id: above } of holdfast.folders(spaceId))
    childrenOf(above).set(name, id);
  for (const path of paths.toSorted()) {
    let folderId = parentId;
    let walked = "";
    for (const name of path.split("/")) {
      walked = walked === "" ? name : `${walked}/${name}`;
      const siblings = childrenOf(folderId);
      const id: string = siblings.get(name) ?? (await create(holdfast, { spaceId, name, folderId }));
      siblings.set(name, id);
      ids.set(walked, id);
      folderId = id;
    }
  }
  return ids;
}

async function create(
  { api }: Holdfast,
  { spaceId, name, folderId }: { spaceId: string; name: string; folderId: string | null },
): Promise<string> {
  const body = { name, space_id: spaceId, parent_folder_id: folderId };
  return (await answerOf(api.POST("/v1/folders", { body }))).id;
}
