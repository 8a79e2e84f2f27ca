/** The folders of a space as the lines of a tree. */
import type { Holdfast, Schemas } from "@holdfast/client";
import { queryOptions } from "@tanstack/react-query";
import { keyOf } from "../../../api/keys.ts";

export type Folder = Schemas["Folder"];

export interface TreeLine {
  readonly folder: Folder;
  readonly level: number;
  readonly isOpen: boolean;
  readonly mayOpen: boolean;
  readonly position: number;
  readonly siblings: number;
}

/** More than anybody walks through. */
const MOST_FOLDERS = 5_000;

/** All folders of a space, of all levels. */
export const foldersQuery = (holdfast: Holdfast, spaceId: string) =>
  queryOptions({
    queryKey: keyOf("folders", spaceId),
    async queryFn({ signal }) {
      const folders: Folder[] = [];
      for await (const folder of holdfast.folders(spaceId, { signal })) {
        folders.push(folder);
        if (folders.length === MOST_FOLDERS) break;
      }
      return folders;
    },
  });

/** @param opened the folders whose own folders are shown */
export function linesOf(folders: readonly Folder[], opened: ReadonlySet<string>): TreeLine[] {
  const children = Map.groupBy(folders, (folder) => folder.parent_folder_id);
  const lines: TreeLine[] = [];
  const add = (parentId: string | null, level: number): void => {
    const siblings = (children.get(parentId) ?? []).toSorted((a, b) =>
      a.name.localeCompare(b.name, undefined, { numeric: true }),
    );
    for (const [index, folder] of siblings.entries()) {
      const mayOpen = children.has(folder.id);
      const isOpen = mayOpen && opened.has(folder.id);
      lines.push({ folder, level, isOpen, mayOpen, position: index + 1, siblings: siblings.length });
      if (isOpen) add(folder.id, level + 1);
    }
  };
  add(null, 1);
  return lines;
}

/** The folders above one, which have to be open for it to be seen. */
export function aboveOf(folders: readonly Folder[], folderId: string | undefined): ReadonlySet<string> {
  const byId = new Map(folders.map((folder) => [folder.id, folder]));
  const above = new Set<string>();
  let id = byId.get(folderId ?? "")?.parent_folder_id ?? null;
  while (id !== null && !above.has(id)) {
    above.add(id);
    id = byId.get(id)?.parent_folder_id ?? null;
  }
  return above;
}
