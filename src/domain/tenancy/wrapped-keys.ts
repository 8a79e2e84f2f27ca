/** The master key as its users see it, and an organization's key as the database keeps it. */

/** What wraps organization keys: a key of this machine, or one that never leaves a key management system. */
export interface MasterKey {
  /** Names the key, so that rotation knows what is still wrapped by an older one. Not secret. */
  readonly id: string;
  /** Whether it opens what the key with that id wrapped. */
  opens(id: string): boolean;
  wrap(bytes: Uint8Array, aad: Uint8Array): Promise<Buffer>;
  /** @throws DomainError `corrupt` if this key did not wrap these bytes with this `aad`. */
  unwrap(wrapped: Uint8Array, aad: Uint8Array): Promise<Buffer>;
}

export interface WrappedKey {
  readonly id: string;
  readonly wrapped: Uint8Array;
  /** Whether new objects are encrypted with it. An organization has at most one such key. */
  readonly isCurrent: boolean;
}
