/** Encryption of what Temporal stores, as the codec needs it. */

export interface Sealed {
  /** The organization whose key it is; null: the instance's key. */
  readonly organizationId: string | null;
  readonly keyId: string;
  readonly sealed: Uint8Array;
}

/** Seals payloads with AES-256-GCM. A null organization stands for workflows that serve several. */
export interface PayloadSealer {
  /** @param boundTo authenticated with the organization and its key; without it, encoded as by 0.3.0. */
  seal(organizationId: string | null, bytes: Uint8Array, boundTo?: string): Promise<Sealed>;
  /**
   * @throws DomainError `not_found` if the key was deleted with its organization, `corrupt` if a bit was
   * changed or it was bound to something else.
   */
  open(sealed: Sealed, boundTo?: string): Promise<Uint8Array>;
}
