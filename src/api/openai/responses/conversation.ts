/** Finds what a response goes on from, and weighs it before any of it is opened. */
import { findConversation, readConversation } from "../../../db/responses/conversations.ts";
import { type ResponseRow, previousNotFound } from "../../../db/responses/responses.ts";
import type { OrganizationRef } from "../../../db/pool.ts";
import { DomainError, type ErrorReason } from "../../../domain/errors.ts";
import { notFound } from "../../../domain/not-found.ts";
import type { Principal } from "../../../domain/tenancy/principal.ts";
import type { ResponsesDeps } from "./deps.ts";
import { isComing } from "./follow.ts";
import type { KeptItem } from "./input.ts";
import { isTooLong, mostOfConversation } from "./kept/lengths.ts";
import { openItems } from "./sealed.ts";
import type { ResponseStore } from "./store.ts";

export interface Before {
  /** Oldest first. */
  readonly items: readonly KeptItem[];
  /** The response that has the last of them; null if there are none. */
  readonly previousId: string | null;
  /** The documents that they may rest on. */
  readonly documentIds: readonly string[];
  /** Of their text, which counts among what the request brings in. */
  readonly characters: number;
}

interface Wanted {
  readonly previousId: string | null | undefined;
  /** Whether the oldest items may be left out. */
  readonly mayTruncate: boolean;
}

const NOTHING: Before = { items: [], previousId: null, documentIds: [], characters: 0 };

/** @throws DomainError `previous_response_not_found`, `context_length_exceeded`. */
export async function conversationBefore(
  deps: ResponsesDeps,
  store: ResponseStore,
  principal: Principal,
  { previousId, ...wanted }: Wanted,
): Promise<Before> {
  if (previousId === null || previousId === undefined) return NOTHING;
  const { organization } = principal;
  try {
    const row = await store.findRow(principal, previousId);
    if (isComing(row))
      throw new DomainError("bad_request", "The previous response has not ended yet.", {
        param: "previous_response_id",
      });
    const read = await readBefore(deps, organization, row, wanted);
    return { ...read, documentIds: row.document_ids };
  } catch (error) {
    throw asPrevious(error);
  }
}

async function readBefore(
  deps: ResponsesDeps,
  organization: OrganizationRef,
  row: ResponseRow,
  wanted: Omit<Wanted, "previousId">,
): Promise<Omit<Before, "documentIds">> {
  const lengths = await findConversation(deps.db, organization, row.id);
  if (lengths === undefined) throw notFound("response");
  if (lengths.isFull || (!wanted.mayTruncate && isTooLong(lengths, deps.contextTokens))) throw tooLong();
  const items = await readChain(deps, organization, row.id, {
    ...wanted,
    characters: lengths.textCharacters + lengths.imageCharacters,
  });
  const characters = wanted.mayTruncate ? 0 : lengths.textCharacters;
  return { items, previousId: row.id, characters };
}

/** The items of a response and of those before it. */
export async function readChain(
  deps: ResponsesDeps,
  organization: OrganizationRef,
  id: string,
  { mayTruncate, characters }: Omit<Wanted, "previousId"> & { readonly characters: number },
): Promise<KeptItem[]> {
  const most = mayTruncate ? mostOfConversation(deps.contextTokens) : null;
  return deps.sealing.seated(organization.id, characters, async () =>
    openItems(deps, organization.id, await readConversation(deps.db, organization, id, most)),
  );
}

function tooLong(): DomainError {
  return new DomainError("context_length_exceeded", "The conversation has become too long to go on from.", {
    param: "previous_response_id",
  });
}

function asPrevious(error: unknown): unknown {
  const missing: ErrorReason = "response_not_found";
  return error instanceof DomainError && error.reason === missing ? previousNotFound() : error;
}
