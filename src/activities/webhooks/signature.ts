/** Signs deliveries as Standard Webhooks says. */
import { createHmac } from "node:crypto";
import { WEBHOOK_SECRET_PREFIX } from "../../storage/keys/webhook-secret.ts";

interface Signed {
  /** The event's id. */
  readonly id: string;
  /** Seconds since 1970. */
  readonly timestamp: number;
  readonly body: string;
}

/**
 * The headers of a delivery. While a secret is rolled, both sign.
 * @param secrets each `whsec_` and base64.
 * @see https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 */
export function signedHeaders(secrets: readonly string[], signed: Signed): Record<string, string> {
  return {
    "webhook-id": signed.id,
    "webhook-timestamp": String(signed.timestamp),
    "webhook-signature": secrets.map((secret) => signatureOf(secret, signed)).join(" "),
  };
}

function signatureOf(secret: string, { id, timestamp, body }: Signed): string {
  const key = Buffer.from(secret.slice(WEBHOOK_SECRET_PREFIX.length), "base64");
  return `v1,${createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64")}`;
}
