/** `holdfast receipt verify`: checks receipts without the service, its database or its settings. */
import { readFile, stat } from "node:fs/promises";
import type { Command } from "commander";
import {
  type CheckedReceipt,
  checkOffline,
  type GivenReceipt,
  type PublicKeys,
} from "../../receipts/check-offline.ts";
import { keyIdOf } from "../../receipts/signature.ts";
import { ed25519Keys, GivenReceiptForm, KeySetForm } from "../../schema/files/receipts.ts";
import { CommandError, printJson, printTable } from "../output.ts";

interface Options {
  readonly jwks: string;
  readonly json?: boolean;
}

const MAX_FILE_BYTES = 16 * 1024 * 1024;
const MAX_KEY_SET_CHARACTERS = 1024 * 1024;
const MAX_RECEIPTS = 1_000;
const MAX_DEPTH = 16;
const FETCH_TIMEOUT_MS = 10_000;
/** Is replaced in a URL by the id of the key that a receipt names. */
const KID = "{kid}";

export function addReceiptCommand(program: Command): void {
  program
    .command("receipt")
    .description("receipts of citations")
    .command("verify")
    .description(
      "verify the signatures of receipts and, if quotes are given, their hashes, offline; exits with " +
        "1 if one is invalid",
    )
    .argument("<file>", "a receipt, a citation as JSON, or any JSON with citations, such as a whole answer")
    .requiredOption(
      "--jwks <where>",
      "the public keys: a file with a JWK set, or its URL; {kid} in a URL is replaced by the key id, as in " +
        "https://holdfast.example/v1/receipts/jwks/{kid}",
    )
    .option("--json", "print JSON")
    .action(verify);
}

async function verify(file: string, { jwks, json }: Options): Promise<void> {
  const given = receiptsIn(await readReceiptFile(file));
  if (given.length === 0) throw new CommandError(`${file} contains no receipt.`);
  if (given.length > MAX_RECEIPTS) throw new CommandError(`${file} has more than ${MAX_RECEIPTS} receipts.`);
  const keys = await keysOf(jwks, given);
  const checked = await Promise.all(given.map((one) => checkOffline(one, keys)));
  const ok = checked.every(({ signature, quote }) => signature === "valid" && quote !== "other");
  if (json) printJson({ ok, receipts: checked });
  else printChecked(checked);
  if (!ok) process.exitCode = 1;
}

function printChecked(checked: readonly CheckedReceipt[]): void {
  printTable(
    ["SIGNATURE", "QUOTE", "DOCUMENT", "VERSION", "PAGE", "SIGNED AT"],
    checked.map(({ signature, quote, claims }) => [
      signature,
      quote,
      claims?.document ?? "",
      String(claims?.document_version ?? ""),
      String(claims?.locations?.[0]?.page ?? ""),
      claims === null ? "" : new Date(claims.iat * 1_000).toISOString(),
    ]),
  );
}

async function readReceiptFile(file: string): Promise<string> {
  const found = await stat(file).catch(() => undefined);
  if (found === undefined) throw new CommandError(`${file} does not exist.`);
  if (!found.isFile()) throw new CommandError(`${file} is not a file.`);
  if (found.size > MAX_FILE_BYTES) throw new CommandError(`${file} is larger than 16 MB.`);
  return readFile(file, "utf8");
}

/** A text that is no JSON is taken for a receipt itself. */
function receiptsIn(text: string): GivenReceipt[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return text.trim() === "" ? [] : [{ receipt: text.trim() }];
  }
  return typeof value === "string" ? [{ receipt: value }] : [...within(value, MAX_DEPTH)];
}

/** Every object with a receipt, however deep it is in an answer. */
function* within(value: unknown, depth: number): Generator<GivenReceipt> {
  if (typeof value !== "object" || value === null || depth === 0) return;
  const given = GivenReceiptForm.safeParse(value);
  if (given.success) yield given.data;
  for (const part of Object.values(value)) yield* within(part, depth - 1);
}

async function keysOf(where: string, given: readonly GivenReceipt[]): Promise<PublicKeys> {
  if (!/^https?:\/\//.test(where)) return parseKeys(await readReceiptFile(where), where);
  const kids = new Set(given.map(({ receipt }) => keyIdOf(receipt)).filter((kid) => kid !== undefined));
  const urls = where.includes(KID) ? [...kids].map((kid) => where.replaceAll(KID, kid)) : [where];
  const sets: PublicKeys[] = [];
  for (const url of urls) sets.push(parseKeys(await download(url), url));
  return new Map(sets.flatMap((set) => [...set]));
}

function parseKeys(text: string, where: string): PublicKeys {
  try {
    return ed25519Keys(KeySetForm.parse(JSON.parse(text)));
  } catch {
    throw new CommandError(`${where} is not a JWK set.`);
  }
}

async function download(url: string): Promise<string> {
  let response: Response;
  let text: string;
  try {
    response = await fetch(url, { signal: AbortSignal.timeout(FETCH_TIMEOUT_MS) });
    text = await response.text();
  } catch {
    throw new CommandError(`Could not read ${url}.`);
  }
  if (response.status === 401)
    throw new CommandError(
      `${url} requires credentials. Fetching a single receipt's key does not: end the URL with /${KID}.`,
    );
  if (!response.ok) throw new CommandError(`${url} answered ${response.status}.`);
  if (text.length > MAX_KEY_SET_CHARACTERS)
    throw new CommandError(`The response from ${url} is too large for a JWK set.`);
  return text;
}
