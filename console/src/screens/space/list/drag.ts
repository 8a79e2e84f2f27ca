/** What is dragged within the console, from the list or the tree to a folder. */
import type { DragEvent } from "react";

/** Documents go by their ids or as all that are selected; a folder goes as a whole. */
export type Dragged =
  | { readonly kind: "documents"; readonly ids: readonly string[] | "all" }
  | { readonly kind: "folder"; readonly id: string; readonly name: string };

const TYPE = "application/x-holdfast";

export function startDrag({ dataTransfer }: DragEvent, dragged: Dragged): void {
  dataTransfer.setData(TYPE, JSON.stringify(dragged));
  dataTransfer.effectAllowed = "move";
}

/** Whether something of the console is dragged; what it is can be read only where it is dropped. */
export const isDrag = ({ dataTransfer }: DragEvent): boolean => dataTransfer.types.includes(TYPE);
/** Whether files of the computer are. */
export const isFileDrag = ({ dataTransfer }: DragEvent): boolean => dataTransfer.types.includes("Files");

export function droppedOf({ dataTransfer }: DragEvent): Dragged | null {
  const text = dataTransfer.getData(TYPE);
  return text === "" ? null : (JSON.parse(text) as Dragged);
}
