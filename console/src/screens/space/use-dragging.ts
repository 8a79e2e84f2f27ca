/** Moves by dragging: documents and folders into a folder, and files of the computer too. */
import type { DragEvent } from "react";
import type { Bulk } from "./actions/use-bulk.tsx";
import type { Document } from "./documents.ts";
import type { FolderActions } from "./folders/folder-actions.tsx";
import { droppedOf, isFileDrag, startDrag } from "./list/drag.ts";
import type { ListState } from "./list/use-list.ts";
import { type Gathered, gatherDropped } from "./uploads/dropped.ts";

interface Options {
  readonly list: ListState;
  readonly bulk: Bulk;
  readonly folders: FolderActions;
  readonly upload: (gathering: Promise<Gathered>, folderId: string | null) => Promise<void>;
}

export function useDragging({ list, bulk, folders, upload }: Options) {
  return {
    /** A row that is selected takes all that are along. */
    drag({ id }: Document, event: DragEvent): void {
      const { selection } = list;
      const selected = selection.kind === "all" ? ("all" as const) : [...selection.ids];
      startDrag(event, { kind: "documents", ids: list.isSelected(id) ? selected : [id] });
    },
    drop(event: DragEvent, folderId: string | null): void {
      if (isFileDrag(event)) return void upload(gatherDropped(event.dataTransfer.items), folderId);
      const dragged = droppedOf(event);
      if (dragged?.kind === "folder" && dragged.id !== folderId)
        bulk.tell(folders.move(dragged.id, folderId));
      if (dragged?.kind !== "documents") return undefined;
      const { ids } = dragged;
      const target = ids === "all" ? { filters: list.question.filters } : { document_ids: ids };
      return bulk.tell(bulk.move(target, folderId));
    },
  };
}
