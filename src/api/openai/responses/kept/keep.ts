/** Writes what is kept of a response: what was asked before its turn begins, and how it ended. */
import {
  type NewResponse,
  type ResponseFence,
  endResponse,
  putResponse,
} from "../../../../db/responses/responses.ts";
import type { ResponsesDeps } from "../deps.ts";
import type { KeptItem } from "../input.ts";
import { type ResponseObject, uuidOfItem } from "../items.ts";
import { type RequestHead, sealHead, sealItems, sealResponse } from "../sealed.ts";

export interface KeptRequest extends RequestHead {
  /** The response that it goes on from. */
  readonly previousId: string | null;
  readonly items: readonly KeptItem[];
}

/**
 * Writes that a response is under way.
 * @throws DomainError `response_quota_exceeded`, `previous_response_not_found` if that was deleted meanwhile.
 */
export async function keepBegin(
  deps: ResponsesDeps,
  response: NewResponse,
  { previousId, items, ...head }: KeptRequest,
): Promise<void> {
  const { id, organization, userId } = response;
  const request = await sealHead(deps, organization.id, id, head);
  const sealed = await sealItems(deps, organization.id, { id, isOutput: false }, items);
  const contents = { id, userId, beforeId: previousId, items: sealed };
  await putResponse(deps.db, response, { request, contents }, deps.quotas);
}

/**
 * Writes how a response ended, unless it has ended before. Only the attempt that has it may, unless that is
 * null.
 * @param documentIds null: as they were before.
 */
export async function keepEnd(
  deps: ResponsesDeps,
  { organization, id, attempt }: Omit<ResponseFence, "attempt"> & { readonly attempt: number | null },
  ended: ResponseObject,
  documentIds: readonly string[] | null,
): Promise<void> {
  const { output } = ended;
  // Its members stay in their order: a repeat gets the same text.
  const { keyId, sealed } = await sealResponse(deps, organization.id, id, { ...ended, output: [] });
  const items = await sealItems(deps, organization.id, { id, isOutput: true }, output);
  const itemIds = output.flatMap((item) => uuidOfItem(item.id) ?? []);
  const end = { keyId, sealed, status: ended.status, itemIds, output: items };
  await endResponse(deps.db, { organization, id, attempt }, end, documentIds);
}
