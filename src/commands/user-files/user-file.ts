/** What the commands and the routes of users' files share: who may, and how a file is answered. */
import { type Action, authorize } from "../../auth/policy.ts";
import type { FileDocument } from "../../db/stores/files.ts";
import type { UserFileRow } from "../../db/stores/user-files.ts";
import type { Principal } from "../../domain/tenancy/principal.ts";

type UserFileAction = Extract<Action, `user_files:${string}`>;

/** @throws DomainError `permission_denied` if the key lacks the capability. */
export function authorizeUserFiles(principal: Principal, action: UserFileAction): void {
  authorize(principal, action, { organization_id: principal.organization.id });
}

export const unixSeconds = (moment: Date): number => Math.floor(moment.getTime() / 1_000);

/** Nothing is done to the file itself, so it is processed as soon as it is stored. */
export function presentUserFile(file: UserFileRow) {
  return {
    id: file.id,
    object: "file" as const,
    bytes: file.size,
    created_at: unixSeconds(file.created_at),
    expires_at: file.expires_at === null ? null : unixSeconds(file.expires_at),
    filename: file.name,
    purpose: file.purpose,
    status: "processed" as const,
  };
}

const STATUS = {
  completed: "processed",
  in_progress: "uploaded",
  failed: "error",
  cancelled: "error",
} as const;

/** A document as a file: under its own id, or that of somebody else's file that it was made of. */
export function presentDocumentAsFile(id: string, document: FileDocument) {
  return {
    id,
    object: "file" as const,
    bytes: document.size,
    created_at: unixSeconds(document.created_at),
    expires_at: null,
    filename: document.name,
    purpose: "assistants",
    status: STATUS[document.status],
  };
}
