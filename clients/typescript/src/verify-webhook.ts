/**
 * Verifies that a webhook was sent by Holdfast, by Web Crypto alone: it works in Node, Deno, Bun, workers and
 * browsers.
 * @see https://www.standardwebhooks.com
 */
import type { HoldfastEvent } from "./events/follow-events.ts";

/** The message was not signed with this secret, or not lately: answer 400 and forget it. */
export class WebhookRefused extends Error {
  constructor(message: string) {
    super(message);
    this.name = "WebhookRefused";
  }
}

export interface VerifyOptions {
  /** How far the sender's clock and a repeated message may be from now, in seconds; 300 by default. */
  readonly toleranceSeconds?: number;
  /** The time, in milliseconds; the clock's by default. */
  readonly now?: number;
}

type HeaderRecord = Readonly<Record<string, string | readonly string[] | undefined>>;

const TOLERANCE_SECONDS = 300;
/** During the roll of a secret there are two. */
const MAX_SIGNATURES = 10;

/**
 * @param secret `whsec_…`, as the webhook was given. While it is rolled both secrets verify.
 * @param headers those of the request: a `Headers`, or the object that Node has.
 * @param body the bytes or the text as they came; a parsed and rewritten body does not verify.
 * @returns the event. A delivery may come more than once, always with the same `id`.
 * @throws WebhookRefused that says why
 * @example
 * const event = await verifyWebhook(process.env.WEBHOOK_SECRET, request.headers, await request.text());
 */
export async function verifyWebhook(
  secret: string,
  headers: Headers | HeaderRecord,
  body: string | Uint8Array<ArrayBuffer>,
  { toleranceSeconds = TOLERANCE_SECONDS, now = Date.now() }: VerifyOptions = {},
): Promise<HoldfastEvent> {
  const id = headerOf(headers, "webhook-id");
  const timestamp = headerOf(headers, "webhook-timestamp");
  const signatures = headerOf(headers, "webhook-signature");
  if (!/^\d{1,12}$/.test(timestamp)) throw new WebhookRefused("webhook-timestamp is not a time.");
  if (Math.abs(now / 1_000 - Number(timestamp)) > toleranceSeconds)
    throw new WebhookRefused("webhook-timestamp is too far from now.");
  const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body;
  const signed = joined(new TextEncoder().encode(`${id}.${timestamp}.`), bytes);
  if (!(await isSignedBy(secret, signed, signatures)))
    throw new WebhookRefused("No signature is that of this secret.");
  return JSON.parse(new TextDecoder().decode(bytes)) as HoldfastEvent;
}

async function isSignedBy(
  secret: string,
  signed: Uint8Array<ArrayBuffer>,
  signatures: string,
): Promise<boolean> {
  const secretBytes = fromBase64(secret.replace(/^whsec_/, ""));
  if (secretBytes === undefined || secretBytes.length === 0)
    throw new TypeError("The secret is not whsec_ and base64.");
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("raw", secretBytes, algorithm, false, ["verify"]);
  for (const versioned of signatures.split(" ").slice(0, MAX_SIGNATURES)) {
    const signature = versioned.startsWith("v1,") ? fromBase64(versioned.slice(3)) : undefined;
    // Web Crypto compares in constant time.
    if (signature !== undefined && (await crypto.subtle.verify("HMAC", key, signature, signed))) return true;
  }
  return false;
}

function headerOf(headers: Headers | HeaderRecord, name: string): string {
  const value = headers instanceof Headers ? headers.get(name) : headers[name];
  if (typeof value !== "string" || value === "") throw new WebhookRefused(`${name} is missing.`);
  return value;
}

function joined(first: Uint8Array<ArrayBuffer>, second: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  const both = new Uint8Array(first.length + second.length);
  both.set(first);
  both.set(second, first.length);
  return both;
}

/** @returns undefined for what is no base64. */
function fromBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}
