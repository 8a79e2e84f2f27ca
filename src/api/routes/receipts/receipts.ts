/** The keys that sign receipts, and what became of the words that a receipt vouches for. */
import { authorizeListing } from "../../../auth/policy.ts";
import { findReceiptKey, listReceiptKeys } from "../../../db/receipts/keys.ts";
import { publicJwk } from "../../../receipts/signature.ts";
import { verifyReceipt } from "../../../receipts/verify-receipt.ts";
import { ReceiptKeySet, ReceiptQuestion, ReceiptVerdict } from "../../../schema/receipts.ts";
import { defineRoute } from "../../route.ts";

/** An organization that has had more keys than this gets the newest; any of them is found by its id. */
const KEYS_SHOWN = 100;
/** A key is retired within a minute, and stays in the set after that. */
const CACHE_SECONDS = 300;

const listKeys = defineRoute("GET /receipts/jwks", {
  operation: "receipts.keys",
  access: "keys",
  capability: "read",
  audit: { action: "organization:read", resource: "organization" },
  summary: "The public keys that sign the receipts of the caller's organization.",
  description:
    "A JWK set, with the keys that do not sign any more: receipts of before stay valid. Empty before the " +
    "first receipt. Keys of before the newest hundred are found by their id alone.",
  response: ReceiptKeySet,
  replyHeaders: { "Cache-Control": `\`private, max-age=${CACHE_SECONDS}\`` },
  async handle({ principal, read, reply }) {
    const rows = await read((sql) => listReceiptKeys(sql, principal.organization.id, KEYS_SHOWN));
    reply.header("Cache-Control", `private, max-age=${CACHE_SECONDS}`);
    return { keys: rows.map(jwkOf) };
  },
});

const getKey = defineRoute("GET /receipts/jwks/:kid", {
  operation: "receipts.key",
  access: "public",
  budget: "address",
  summary: "The public key that has signed a receipt, for anyone.",
  description:
    "Needs no credentials, so that who was given a receipt can check its signature. A JWK set of the one key " +
    "that the receipt's header names; ids are random, so that nobody can list keys. Empty if there is no " +
    "such key, or its organization was deleted. Each request counts in the budget of its address.",
  response: ReceiptKeySet,
  replyHeaders: { "Cache-Control": `\`public, max-age=${CACHE_SECONDS}\`` },
  errors: [429, 503],
  async handle({ deps, params, reply }) {
    const found = await findReceiptKey(deps.db, params.kid);
    reply.header("Cache-Control", `public, max-age=${CACHE_SECONDS}`);
    return { keys: found === undefined ? [] : [jwkOf({ ...found, kid: params.kid })] };
  },
});

function jwkOf(key: { readonly kid: string; readonly public_key: Buffer }) {
  return publicJwk(key.kid, key.public_key);
}

const verify = defineRoute("POST /receipts/verify", {
  operation: "receipts.verify",
  access: "keys",
  capability: "read",
  audit: { action: "documents:read", resource: "document", isChange: false },
  summary: "Whether the words that a receipt vouches for still stand where it says.",
  description:
    "For everybody with a role in the space that the receipt names; everybody else gets `not_reachable`. A " +
    "text that is no receipt is `invalid`, and no error: that is the answer. With the quote and its salt " +
    "the words are compared too. Nothing is changed.",
  body: ReceiptQuestion,
  response: ReceiptVerdict,
  replyHeaders: { "Cache-Control": "`no-store`" },
  async handle({ deps, principal, body, reply }) {
    authorizeListing(principal, "documents:read");
    const { receipt, quote, salt } = body;
    const words = typeof quote === "string" && typeof salt === "string" ? { quote, salt } : undefined;
    reply.header("Cache-Control", "no-store");
    return verifyReceipt(deps, principal, { receipt, words });
  },
});

export const receiptRoutes = [listKeys, getKey, verify];
