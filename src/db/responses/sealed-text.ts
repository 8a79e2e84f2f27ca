/** What is encrypted with a key of its organization. */
export interface SealedText {
  readonly keyId: string;
  readonly sealed: Buffer;
}
