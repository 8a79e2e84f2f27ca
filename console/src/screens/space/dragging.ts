/** How documents are dragged to folders: by their ids, under a type that nothing else has. */
import type { DragEvent } from "react";

const TYPE = "application/x-holdfast-documents";

export function startDragging({ dataTransfer }: DragEvent, ids: readonly string[]): void {
  dataTransfer.setData(TYPE, JSON.stringify(ids));
  dataTransfer.effectAllowed = "move";
}

export const isDragged = ({ dataTransfer }: DragEvent): boolean => dataTransfer.types.includes(TYPE);

export const draggedIds = ({ dataTransfer }: DragEvent): string[] =>
  JSON.parse(dataTransfer.getData(TYPE)) as string[];
