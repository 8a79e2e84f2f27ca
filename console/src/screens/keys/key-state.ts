/** What an API key is at a time, and who may do what with it. */

/** What of the service's key the decisions need. */
interface Key {
  readonly user_id: string;
  readonly created_by: string | null;
  readonly expires_at: string | null;
  readonly revoked_at: string | null;
  readonly revoked_reason: string | null;
}

export type State = "active" | "expired" | "revoked" | "leaked";

export function stateOf(key: Key, now = Date.now()): State {
  if (key.revoked_at !== null) return key.revoked_reason === "leaked" ? "leaked" : "revoked";
  return key.expires_at !== null && new Date(key.expires_at).getTime() <= now ? "expired" : "active";
}

/**
 * Admins roll the keys that admins made; the others may reach a private space, and their owners roll them.
 */
export const mayRoll = (key: Key, isMine: boolean): boolean =>
  stateOf(key) === "active" && (isMine || (key.created_by !== null && key.created_by !== key.user_id));
