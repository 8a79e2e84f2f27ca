/** Finds what a response goes on from. */
import { DomainError, type ErrorReason } from "../../domain/errors.ts";
import type { Principal } from "../../domain/tenancy/principal.ts";
import type { KeptItem } from "./input.ts";
import type { ResponseStore } from "./store.ts";

/** Each response keeps all of it again. */
const MAX_CHARACTERS = 16 * 1_024 * 1_024;

/** The items that a response goes on from, and the documents that they may rest on. */
export async function conversationBefore(
  store: ResponseStore,
  principal: Principal,
  previousId: string | null | undefined,
): Promise<{ readonly before: readonly KeptItem[]; readonly documentIds: readonly string[] }> {
  if (previousId === null || previousId === undefined) return { before: [], documentIds: [] };
  const { row, request, response } = await store.find(principal, previousId).catch((error: unknown) => {
    throw asPrevious(error);
  });
  if (response.status === "queued" || response.status === "in_progress")
    throw new DomainError("bad_request", "The previous response has not ended yet.", {
      param: "previous_response_id",
    });
  const before = [...request.before, ...request.items, ...response.output];
  if (JSON.stringify(before).length > MAX_CHARACTERS)
    throw new DomainError("context_length_exceeded", "The conversation has become too long to go on from.", {
      param: "previous_response_id",
    });
  return {
    before,
    documentIds: row.document_ids,
  };
}

function asPrevious(error: unknown): unknown {
  const missing: ErrorReason = "response_not_found";
  return error instanceof DomainError && error.reason === missing
    ? new DomainError("previous_response_not_found", "Previous response not found", {
        param: "previous_response_id",
      })
    : error;
}
