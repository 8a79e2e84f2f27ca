import type { Holdfast, Schemas } from "@holdfast/client";
import { queryOptions } from "@tanstack/react-query";
import { keyOf } from "../../../api/keys.ts";

export type Folder = Schemas["Folder"];

/** More than anybody opens in a tree. */
const SHOWN = 5_000;

/** All folders of a space, of all levels. */
export const foldersQuery = (holdfast: Holdfast, spaceId: string) =>
  queryOptions({
    queryKey: keyOf("folders", spaceId),
    queryFn: async () => {
      const folders: Folder[] = [];
      for await (const folder of holdfast.folders(spaceId)) {
        folders.push(folder);
        if (folders.length === SHOWN) break;
      }
      return folders;
    },
  });

/** The folders below each one, by name; those of the root are below null. */
export function childrenByParent(folders: readonly Folder[]): ReadonlyMap<string | null, readonly Folder[]> {
  const children = new Map<string | null, Folder[]>();
  for (const folder of folders.toSorted((a, b) => a.name.localeCompare(b.name)))
    children.set(folder.parent_folder_id, [...(children.get(folder.parent_folder_id) ?? []), folder]);
  return children;
}

/** `Reports/2026`, for lists that have no tree. */
export function pathsOf(
  folders: readonly Folder[],
): ReadonlyArray<{ readonly id: string; readonly path: string }> {
  const byId = new Map(folders.map((folder) => [folder.id, folder]));
  const pathOf = (folder: Folder): string => {
    const parent = folder.parent_folder_id === null ? undefined : byId.get(folder.parent_folder_id);
    return parent === undefined ? folder.name : `${pathOf(parent)}/${folder.name}`;
  };
  return folders
    .map((folder) => ({ id: folder.id, path: pathOf(folder) }))
    .toSorted((a, b) => a.path.localeCompare(b.path));
}
