/** Cursors of lists: short texts that name a page of one list, and are good for nothing else. */
import { RPC_CODES, RpcError } from "./rpc-error.ts";

const MAX_CHARACTERS = 128;
/** Nobody reads so far by pages; search narrows. */
const MAX_PLACE = 1_000_000;

/** @param list what the cursor belongs to: one of another list is refused. */
function cursorAt(list: string, place: number): string {
  return Buffer.from(`${list}:${place}`).toString("base64url");
}

/** @throws RpcError `invalidParams` for what is no cursor of this list. */
export function placeOf(list: string, cursor: string | undefined, first = 1): number {
  if (cursor === undefined) return first;
  const text = cursor.length > MAX_CHARACTERS ? "" : Buffer.from(cursor, "base64url").toString("latin1");
  const place = text.startsWith(`${list}:`) ? text.slice(list.length + 1) : "";
  if (!/^\d{1,7}$/.test(place) || Number(place) > MAX_PLACE || cursorAt(list, Number(place)) !== cursor)
    throw new RpcError(RPC_CODES.invalidParams, "Invalid cursor");
  return Number(place);
}

/** The cursor of the page after this one, if there is one. */
export function nextCursor(
  list: string,
  { page, limit, total }: { readonly page: number; readonly limit: number; readonly total: number },
): string | undefined {
  return page * limit < total ? cursorAt(list, page + 1) : undefined;
}
