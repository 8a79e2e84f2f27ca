/**
 * Which documents are selected: some by their ids, or all that the filters find, also those never in view.
 */
export type Selection =
  | { readonly kind: "some"; readonly ids: ReadonlySet<string> }
  | { readonly kind: "all" };

export const NONE: Selection = { kind: "some", ids: new Set() };
export const ALL: Selection = { kind: "all" };

/** What one request of the service may name. */
export const MOST_SELECTED = 1_000;

export const isSelected = (selection: Selection, id: string): boolean =>
  selection.kind === "all" || selection.ids.has(id);

export const countOf = (selection: Selection, total: number): number =>
  selection.kind === "all" ? total : selection.ids.size;

/** Of all that match, one that is clicked becomes the only one. */
export function toggle(selection: Selection, id: string): Selection {
  if (selection.kind === "all") return { kind: "some", ids: new Set([id]) };
  const ids = new Set(selection.ids);
  if (!ids.delete(id) && ids.size < MOST_SELECTED) ids.add(id);
  return { kind: "some", ids };
}

/** What was selected stays so. */
export function extend(selection: Selection, ids: readonly string[]): Selection {
  if (selection.kind === "all") return selection;
  return { kind: "some", ids: new Set([...selection.ids, ...ids].slice(0, MOST_SELECTED)) };
}
