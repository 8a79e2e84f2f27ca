/** Finds what a response goes on from. */
import { DomainError, type ErrorReason } from "../../domain/errors.ts";
import type { Principal } from "../../domain/tenancy/principal.ts";
import type { KeptItem } from "./input.ts";
import type { ResponseStore } from "./store.ts";

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
  return {
    before: [...request.before, ...request.items, ...response.output],
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
