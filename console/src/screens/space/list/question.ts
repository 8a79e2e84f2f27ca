/** What the list asks for, from what its address says. */
/** What is after `?` in the address of a space. */
export interface ListAddress {
  readonly folder?: string | undefined;
  readonly status?: string | undefined;
  readonly type?: string | undefined;
  readonly q?: string | undefined;
  readonly order?: string | undefined;
}

export interface Question {
  readonly filters: Readonly<Record<string, unknown>>;
  readonly order_by: readonly string[];
}

/** In place of a folder's id: what is in no folder. */
export const TOP = "top";
/** In place of a status. */
export const WAITING = "waiting";
export const UNSEARCHABLE = "unsearchable";

export const NAME = "doc_metadata.original_filename";
export const STATE = "processing_state.pipeline_status";
export const NEWEST = "-created_at";
const ORDERS: ReadonlySet<string> = new Set([NAME, "created_at", "file_size", "file_type", STATE]);

export function questionOf(spaceId: string, { folder, status, type, q, order }: ListAddress): Question {
  const filters: Record<string, unknown> = { space_id: spaceId };
  if (folder === TOP) filters["folder_id__isnull"] = true;
  else if (folder !== undefined) filters["folder_id"] = folder;
  if (status === WAITING) filters["processing_state.waiting_for__isnull"] = false;
  else if (status === UNSEARCHABLE) filters["processing_state.searchable"] = false;
  else if (status !== undefined) filters["processing_state.pipeline_status"] = status;
  if (type !== undefined) filters["file_type"] = type;
  if (q !== undefined && q !== "") filters[`${NAME}__icontains`] = q;
  return { filters, order_by: [knownOrder(order)] };
}

/** An address may have been typed: an order that the service would refuse becomes the usual one. */
export function knownOrder(order: string | undefined): string {
  return order !== undefined && ORDERS.has(order.replace(/^-/u, "")) ? order : NEWEST;
}

/** The order after a click on a column: ascending first, then the other way. */
export const nextOrder = (field: string, order: string): string => (order === field ? `-${field}` : field);

export const isFiltered = ({ status, type, q }: ListAddress): boolean =>
  status !== undefined || type !== undefined || (q !== undefined && q !== "");
