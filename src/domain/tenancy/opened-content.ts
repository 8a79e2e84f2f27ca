/** What was opened as a whole by its id: the audit log has a row of each. */
export interface OpenedContent {
  /** A `user_file` was sent to /v1/files and is in no space. */
  readonly type: "document" | "user_file";
  readonly id: string;
  readonly spaceId: string | null;
}

/** The action of the policy that allows it. */
export const OPENING = { document: "documents:read", user_file: "user_files:read" } as const;

export type NoteOpened = (content: OpenedContent) => void;

export const openedDocument = (document: {
  readonly id: string;
  readonly space_id: string;
}): OpenedContent => ({
  type: "document",
  id: document.id,
  spaceId: document.space_id,
});

/** A document of which only what is known about it was read: its row names no space, as its own route's. */
export const knownDocument = ({ id }: { readonly id: string }): OpenedContent => ({
  type: "document",
  id,
  spaceId: null,
});
