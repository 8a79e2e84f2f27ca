/** The only place that knows what the text of an API key looks like and what of it is stored. */
import { type KeyObject, createHmac, randomBytes } from "node:crypto";
import { crc32 } from "node:zlib";

const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/** By which secret scanners claim a key as Holdfast's. */
const START = "sk-hf-";
/** Of keys that versions before 0.4.0 made. */
const OLD_START = "sk-";
const RANDOM_BYTES = 32;
const RANDOM_CHARS = 43;
const CHECKSUM_CHARS = 6;
const MIN_LENGTH = 32;
const MAX_LENGTH = 512;
/** Random characters that lists show of a created key. */
const SHOWN_CHARS = 6;
const SHOWN_OF_OTHERS = 8;

/** Created keys wherever they stand; their checksum is looked at behind this. */
const CREATED = /sk-(?:hf-)?[0-9A-Za-z]{49}/g;
/** What stands around keys in configurations, headers and lists. */
const AROUND_KEYS = /[\s"'`,;\0]+/;

/** The instance secret that key hashes are made with. */
export const PEPPER = "pepper";

/** A new key text: `sk-hf-`, 256 random bits as 43 base62 characters, and 6 of the CRC-32 of all before. */
export function createKeyText(): string {
  const body = START + base62(BigInt(`0x${randomBytes(RANDOM_BYTES).toString("hex")}`), RANDOM_CHARS);
  return body + checksum(body);
}

/**
 * False for what cannot be a key, so that it is refused before any query. Texts of the length of created keys (55 characters that begin
 * with `sk-hf-`, or 52) must carry a right checksum; any other `sk-` text of 32 to 512 visible ASCII characters may have been provisioned.
 */
export function isWellFormedKey(text: string): boolean {
  if (text.length < MIN_LENGTH || text.length > MAX_LENGTH || !/^sk-[!-~]+$/.test(text)) return false;
  return !isLongAsCreated(text) || checksum(text.slice(0, -CHECKSUM_CHARS)) === text.slice(-CHECKSUM_CHARS);
}

/**
 * The keys in a text as somebody found it: all of it, its words without quotes and commas (`Authorization: Bearer "sk-…",`), and each part
 * that looks like a created key, in a URL for example. Each once. Linear in the text's length.
 */
export function keysIn(text: string): string[] {
  const found = [text.trim(), ...text.split(AROUND_KEYS), ...(text.match(CREATED) ?? [])];
  return [...new Set(found)].filter(isWellFormedKey);
}

function isLongAsCreated(text: string): boolean {
  const length = RANDOM_CHARS + CHECKSUM_CHARS;
  return (
    text.length === OLD_START.length + length ||
    (text.startsWith(START) && text.length === START.length + length)
  );
}

/** What is stored of a key: HMAC-SHA-256 under the instance's pepper. Who hashes often gives it as a key, which takes a sixth of the time. */
export function hashKey(pepper: Uint8Array | KeyObject, text: string): Buffer {
  return createHmac("sha256", pepper).update(text).digest();
}

/** The first characters of a key, shown in lists so that its owner recognises it. */
export function keyPrefix(text: string): string {
  return text.slice(0, text.startsWith(START) ? START.length + SHOWN_CHARS : SHOWN_OF_OTHERS);
}

function checksum(body: string): string {
  return base62(BigInt(crc32(body)), CHECKSUM_CHARS);
}

function base62(value: bigint, length: number): string {
  let rest = value;
  let text = "";
  while (text.length < length) {
    text = ALPHABET.charAt(Number(rest % 62n)) + text;
    rest /= 62n;
  }
  return text;
}
