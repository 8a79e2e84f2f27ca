/** Writes what is kept of a response: what was asked before its turn begins, and how it ended. */
import type { NewContents } from "../../../../db/responses/items.ts";
import {
  type NewResponse,
  type ResponseFence,
  endResponse,
  putResponse,
} from "../../../../db/responses/responses.ts";
import type { ResponsesDeps } from "../deps.ts";
import type { KeptItem } from "../input.ts";
import { type ResponseObject, uuidOfItem } from "../items.ts";
import { type WholeRequest, sealHead, sealItems, sealRequest, sealResponse } from "../sealed.ts";

/** The response that another one goes on from. */
export interface Previous {
  readonly id: string;
  /** All items up to its end, if they are not rows of their own yet: they are to be copied. */
  readonly uncopied: readonly KeptItem[] | null;
}

export interface KeptRequest extends WholeRequest {
  readonly previous: Previous | null;
  /** Whether its items are to be rows of their own. If not, `before` has all items that came before. */
  readonly isItemized: boolean;
}

/**
 * Writes that a response is under way.
 * @throws DomainError `response_quota_exceeded`, `previous_response_not_found` if that was deleted meanwhile.
 */
export async function keepBegin(
  deps: ResponsesDeps,
  response: NewResponse,
  request: KeptRequest,
): Promise<void> {
  const { id, organization } = response;
  const { body, echo, caller, before, items, isItemized } = request;
  const head = { body, echo, caller };
  const written = isItemized
    ? {
        request: await sealHead(deps, organization.id, id, head),
        contents: await contentsOf(deps, response, request),
      }
    : {
        request: await sealRequest(deps, organization.id, id, { ...head, before, items }),
        contents: null,
      };
  await putResponse(deps.db, response, written, deps.quotas);
}

async function contentsOf(
  deps: ResponsesDeps,
  { id, organization, userId }: NewResponse,
  { previous, items }: KeptRequest,
): Promise<NewContents[]> {
  const contents = async (ofId: string, beforeId: string | null, own: readonly KeptItem[]) => ({
    id: ofId,
    userId,
    beforeId,
    items: await sealItems(deps, organization.id, { id: ofId, isOutput: false }, own),
  });
  const copied = previous?.uncopied ?? null;
  return [
    ...(previous === null || copied === null ? [] : [await contents(previous.id, null, copied)]),
    await contents(id, previous?.id ?? null, items),
  ];
}

type Ending = Omit<ResponseFence, "attempt"> & {
  readonly attempt: number | null;
  readonly isItemized: boolean;
};

/**
 * Writes how a response ended, unless it has ended before. Only the attempt that has it may, unless that is
 * null.
 * @param documentIds null: as they were before.
 */
export async function keepEnd(
  deps: ResponsesDeps,
  { organization, id, attempt, isItemized }: Ending,
  ended: ResponseObject,
  documentIds: readonly string[] | null,
): Promise<void> {
  const { output } = ended;
  // Its members stay in their order: a repeat gets the same text.
  const head = isItemized ? { ...ended, output: [] } : ended;
  const { keyId, sealed } = await sealResponse(deps, organization.id, { id, isItemized }, head);
  const items = isItemized ? await sealItems(deps, organization.id, { id, isOutput: true }, output) : null;
  const itemIds = output.flatMap((item) => uuidOfItem(item.id) ?? []);
  const end = { keyId, sealed, status: ended.status, itemIds, output: items };
  await endResponse(deps.db, { organization, id, attempt }, end, documentIds);
}
