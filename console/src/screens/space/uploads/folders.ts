/** Makes the folders of dropped files on the way; those that are there are used. */
import type { Holdfast } from "@holdfast/client";
import { answerOf } from "../../../api/client.ts";

/** @returns the id of each of `paths`, such as `Reports/2026`, below `parentId` */
export async function ensureFolders(
  holdfast: Holdfast,
  { spaceId, parentId, paths }: { spaceId: string; parentId: string | null; paths: readonly string[] },
): Promise<ReadonlyMap<string, string>> {
  const ids = new Map<string, string>();
  const children = new Map<string | null, Map<string, string>>();
  const childrenOf = async (folderId: string | null): Promise<Map<string, string>> => {
    const known = children.get(folderId);
    if (known !== undefined) return known;
    const found = new Map<string, string>();
    const options = folderId === null ? {} : { parentFolderId: folderId };
    for await (const { name, id } of holdfast.folders(spaceId, options)) found.set(name, id);
    children.set(folderId, found);
    return found;
  };
  for (const path of paths.toSorted()) {
    let folderId = parentId;
    let walked = "";
    for (const name of path.split("/")) {
      walked = walked === "" ? name : `${walked}/${name}`;
      const siblings: Map<string, string> = await childrenOf(folderId);
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
