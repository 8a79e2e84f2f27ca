/** Finds what a response goes on from, and weighs it before any of it is opened. */
import { findConversation, readConversation } from "../../../db/responses/conversations.ts";
import {
  type ResponseRow,
  previousNotFound,
  readSealedRequest,
  readSealedResponse,
} from "../../../db/responses/responses.ts";
import type { OrganizationRef } from "../../../db/pool.ts";
import { DomainError, type ErrorReason } from "../../../domain/errors.ts";
import { notFound } from "../../../domain/not-found.ts";
import type { Principal } from "../../../domain/tenancy/principal.ts";
import type { ResponsesDeps } from "./deps.ts";
import { isComing } from "./follow.ts";
import type { KeptItem } from "./input.ts";
import type { Previous } from "./kept/keep.ts";
import { isTooLong, mostOfConversation, newestWithin } from "./kept/lengths.ts";
import { openItems, openRequest, openResponse } from "./sealed.ts";
import type { ResponseStore } from "./store.ts";

export interface Before {
  /** Oldest first. */
  readonly items: readonly KeptItem[];
  readonly previous: Previous | null;
  /** The documents that they may rest on. */
  readonly documentIds: readonly string[];
  /** Of their text, which counts among what the request brings in. */
  readonly characters: number;
}

interface Wanted {
  readonly previousId: string | null | undefined;
  /** Whether the oldest items may be left out. */
  readonly mayTruncate: boolean;
  /** Whether the response is to be kept in the form of before, which copies all items. */
  readonly isWhole: boolean;
}

const NOTHING: Before = { items: [], previous: null, documentIds: [], characters: 0 };

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

type Read = Omit<Before, "documentIds">;

async function readBefore(
  deps: ResponsesDeps,
  organization: OrganizationRef,
  row: ResponseRow,
  wanted: Omit<Wanted, "previousId">,
): Promise<Read> {
  const lengths = await findConversation(deps.db, organization, row.id);
  if (lengths === undefined) {
    if (row.is_itemized) throw notFound("response");
    return readWhole(deps, organization, row, wanted);
  }
  if (lengths.isFull || (!wanted.mayTruncate && isTooLong(lengths, deps.contextTokens))) throw tooLong();
  const items = await readChain(deps, organization, row.id, {
    ...wanted,
    characters: lengths.textCharacters + lengths.imageCharacters,
  });
  const characters = wanted.mayTruncate ? 0 : lengths.textCharacters;
  return { items, previous: { id: row.id, uncopied: null }, characters };
}

/** The items of a response and of those before it. */
export async function readChain(
  deps: ResponsesDeps,
  organization: OrganizationRef,
  id: string,
  { mayTruncate, isWhole, characters }: Omit<Wanted, "previousId"> & { readonly characters: number },
): Promise<KeptItem[]> {
  const most = mayTruncate && !isWhole ? mostOfConversation(deps.contextTokens) : null;
  return deps.sealing.seated(organization.id, characters, async () =>
    openItems(deps, organization.id, await readConversation(deps.db, organization, id, { isWhole, most })),
  );
}

/** In the form of before all is in one piece, which has to be opened to be weighed. */
async function readWhole(
  deps: ResponsesDeps,
  organization: OrganizationRef,
  { id, has_ended: hasEnded, sealed_bytes: bytes }: ResponseRow,
  { mayTruncate, isWhole }: Omit<Wanted, "previousId">,
): Promise<Read> {
  return deps.sealing.seated(organization.id, bytes, async () => {
    const sealedRequest = await readSealedRequest(deps.db, organization, id);
    if (sealedRequest === undefined) throw notFound("response");
    const request = await openRequest(deps, organization.id, id, sealedRequest);
    const sealedResponse = hasEnded ? await readSealedResponse(deps.db, organization, id) : undefined;
    const place = { id, isItemized: false };
    const output =
      sealedResponse === undefined
        ? []
        : (await openResponse(deps, organization.id, place, sealedResponse)).output;
    const all = [...request.before, ...request.items, ...output];
    const newest = newestWithin(all, deps.contextTokens);
    if (!mayTruncate && newest.items.length < newest.shown) throw tooLong();
    return {
      items: isWhole ? all : newest.items,
      previous: { id, uncopied: all },
      characters: mayTruncate ? 0 : newest.characters,
    };
  });
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
