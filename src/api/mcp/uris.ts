/** The addresses of documents as resources. */
import { isUuid } from "../../domain/ids.ts";

export const DOCUMENT_TEMPLATE = "holdfast://spaces/{space_id}/documents/{document_id}";
/** The same, from a place on that a read before named. */
export const PART_TEMPLATE = `${DOCUMENT_TEMPLATE}{?cursor}`;

const FORM = /^holdfast:\/\/spaces\/([^/?#]{36})\/documents\/([^/?#]{36})(?:\?cursor=([\w-]{1,128}))?$/;

export interface DocumentAddress {
  readonly spaceId: string;
  readonly documentId: string;
  readonly cursor?: string | undefined;
}

export function documentUri({ spaceId, documentId, cursor }: DocumentAddress): string {
  const more = cursor === undefined ? "" : `?cursor=${cursor}`;
  return `holdfast://spaces/${spaceId}/documents/${documentId}${more}`;
}

/** Undefined for what is no such address. */
export function addressOf(uri: string): DocumentAddress | undefined {
  const [, space, document, cursor] = FORM.exec(uri) ?? [];
  if (space === undefined || document === undefined || !isUuid(space) || !isUuid(document)) return undefined;
  return { spaceId: space.toLowerCase(), documentId: document.toLowerCase(), cursor };
}
