/** The folders of a space as the lines of a tree: those below a folder are asked for when it is opened. */
import type { Schemas } from "@holdfast/client";
import { queryOptions, useQueries, useQuery } from "@tanstack/react-query";
import { answerOf } from "../../../api/client.ts";
import { keyOf } from "../../../api/keys.ts";
import { useHoldfast } from "../../../app/context.ts";

export type Folder = Schemas["Folder"];

export interface TreeLine {
  readonly folder: Folder;
  readonly level: number;
  readonly isOpen: boolean;
  /** False once it is known that there is nothing below it. */
  readonly mayOpen: boolean;
  readonly position: number;
  readonly siblings: number;
}

/** As many of one folder are shown. */
export const MOST_FOLDERS = 500;

type Holdfast = ReturnType<typeof useHoldfast>;

const childrenQuery = (holdfast: Holdfast, spaceId: string, parentId: string | null) =>
  queryOptions({
    queryKey: keyOf("folders", spaceId, parentId),
    async queryFn({ signal }) {
      const folders: Folder[] = [];
      const options = parentId === null ? { signal } : { signal, parentFolderId: parentId };
      for await (const folder of holdfast.folders(spaceId, options)) {
        folders.push(folder);
        if (folders.length === MOST_FOLDERS) break;
      }
      return folders.toSorted((a, b) => a.name.localeCompare(b.name, undefined, { numeric: true }));
    },
  });

export function useTreeLines(spaceId: string, opened: ReadonlySet<string>) {
  const holdfast = useHoldfast();
  const root = useQuery(childrenQuery(holdfast, spaceId, null));
  const ids = [...opened];
  const below = useQueries({ queries: ids.map((id) => childrenQuery(holdfast, spaceId, id)) });
  const children = new Map(ids.map((id, index) => [id, below[index]?.data]));
  return { root, lines: linesOf(root.data ?? [], children) };
}

/** @param children those of each opened folder; undefined: they are on their way */
export function linesOf(
  roots: readonly Folder[],
  children: ReadonlyMap<string, readonly Folder[] | undefined>,
): TreeLine[] {
  const lines: TreeLine[] = [];
  const add = (folders: readonly Folder[], level: number): void => {
    for (const [index, folder] of folders.entries()) {
      const below = children.get(folder.id);
      const isOpen = children.has(folder.id);
      lines.push({
        folder,
        level,
        isOpen,
        mayOpen: below === undefined || below.length > 0,
        position: index + 1,
        siblings: folders.length,
      });
      if (isOpen) add(below ?? [], level + 1);
    }
  };
  add(roots, 1);
  return lines;
}

/** No tree is so deep; a circle, which the service refuses, would have no end. */
const DEEPEST = 100;

/** A folder and those above it, from the top. */
export function useFolderPath(folderId: string | undefined) {
  const { api } = useHoldfast();
  return useQuery({
    queryKey: keyOf("folders", "path", folderId),
    enabled: folderId !== undefined,
    async queryFn({ signal }) {
      const path: Folder[] = [];
      let id: string | null = folderId ?? null;
      while (id !== null && path.length < DEEPEST) {
        const params: { path: { folder_id: string } } = { path: { folder_id: id } };
        const folder: Folder = await answerOf(api.GET("/v1/folders/{folder_id}", { params, signal }));
        path.unshift(folder);
        id = folder.parent_folder_id;
      }
      return path;
    },
  });
}
