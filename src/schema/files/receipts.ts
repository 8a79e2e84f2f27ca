/** The forms of files that a command checks receipts by: a JWK set, and what holds receipts. */
import { z } from "zod";

const ED25519_KEY = /^[\w-]{43}$/;

/** Keys of other kinds are passed over: a set may hold them too. */
export const KeySetForm = z.object({
  keys: z.array(
    z.looseObject({ kid: z.string().optional(), crv: z.string().optional(), x: z.string().optional() }),
  ),
});

/** @returns the Ed25519 keys of the set by their ids, each of 32 bytes. */
export function ed25519Keys({ keys }: z.output<typeof KeySetForm>): Map<string, Buffer> {
  return new Map(
    keys.flatMap(({ kid, crv, x }): [string, Buffer][] =>
      kid !== undefined && crv === "Ed25519" && x !== undefined && ED25519_KEY.test(x)
        ? [[kid, Buffer.from(x, "base64url")]]
        : [],
    ),
  );
}

/** A citation, or what was kept of one. */
export const GivenReceiptForm = z.object({
  receipt: z.string(),
  quote: z.string().optional().catch(undefined),
  salt: z.string().optional().catch(undefined),
});
