/** The text of an API key: how it is made and recognized, and what of it is stored. */
import { type KeyObject, createHmac, randomBytes } from "node:crypto";
import { crc32 } from "node:zlib";

const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/** The prefix by which secret scanners recognize a key of Holdfast. */
const START = "sk-hf-";
/** The prefix of keys that versions before 0.4.0 made. */
const OLD_START = "sk-";
const RANDOM_BYTES = 32;
const RANDOM_CHARS = 43;
const CHECKSUM_CHARS = 6;
const MIN_LENGTH = 32;
const MAX_LENGTH = 512;
/** How many random characters of a created key are shown in lists. */
const SHOWN_CHARS = 6;
/** How many characters of any other key are shown, its prefix among them. */
const SHOWN_OF_OTHERS = 8;

/** Matches created keys anywhere in a text. The checksum is verified afterwards. */
const CREATED = /sk-(?:hf-)?[0-9A-Za-z]{49}/g;
/** What separates keys from other words in configurations, headers and lists. */
const AROUND_KEYS = /[\s"'`,;\0]+/;

/** The name of the instance secret that key hashes are made with. */
export const PEPPER = "pepper";

/**
 * Makes a key text: `sk-hf-`, 256 random bits as 43 base62 characters, and the CRC-32 of all that as 6 more.
 */
export function createKeyText(): string {
  const body = START + base62(BigInt(`0x${randomBytes(RANDOM_BYTES).toString("hex")}`), RANDOM_CHARS);
  return body + checksum(body);
}

/**
 * False for what cannot be a key, so that it is refused before any query. Texts as long as created keys (55
 * characters that begin with `sk-hf-`, or 52) must carry the right checksum; any other `sk-` text of 32 to
 * 512 visible ASCII characters may have been provisioned.
 */
export function isWellFormedKey(text: string): boolean {
  if (text.length < MIN_LENGTH || text.length > MAX_LENGTH || !/^sk-[!-~]+$/.test(text)) return false;
  return !isLongAsCreated(text) || checksum(text.slice(0, -CHECKSUM_CHARS)) === text.slice(-CHECKSUM_CHARS);
}

/**
 * Finds the keys in a text that somebody reports: the text itself, its words without quotes and commas
 * (`Authorization: Bearer "sk-…",`), and each part that looks like a created key, as in a URL. Lists each key
 * once. Takes time linear in the text's length.
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

/** Hashes a key: HMAC-SHA-256 under the pepper. Every request does; a `KeyObject` is six times as fast. */
export function hashKey(pepper: Uint8Array | KeyObject, text: string): Buffer {
  return createHmac("sha256", pepper).update(text).digest();
}

/** The first characters of a key, which lists show so that its owner recognizes it. */
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
