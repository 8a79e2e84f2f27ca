/** Reports of leaked API keys. Whoever found one may report it, so the endpoint needs no credentials. */
import { setTimeout as delay } from "node:timers/promises";
import { keysIn } from "../../../auth/api-keys.ts";
import { LeakedKeysAccepted, LeakedKeysReport, MAX_LEAKED_CHARACTERS } from "../../../schema/key.ts";
import type { JsonLimits } from "../../body/json-limits.ts";
import { defineRoute } from "../../route.ts";

const BODY_LIMITS: JsonLimits = { maxBytes: MAX_LEAKED_CHARACTERS, maxDepth: 4, maxValues: 64 };
/** Every answer takes at least this long, so that its time does not tell whether a text could be a key. */
const ANSWER_MS = 100;

const reportLeakedKeys = defineRoute("POST /api-keys/revoke-leaked", {
  operation: "api_keys.report_leaked",
  access: "public",
  budget: "address",
  requestsOf: (body) => Math.max(body.keys.length, body.keys.flatMap(keysIn).length),
  status: 202,
  summary: "Report API keys that were found where they should not be; those that exist are revoked.",
  description:
    "Needs no credentials: who holds a key's text may end it. The answer is the same whatever the texts " +
    "are; keys are found in what stands around them too, like `Bearer`, quotes or a URL. A key is " +
    "revoked with all its texts, also by one that a roll has replaced and that was still accepted; its " +
    "organization finds it in the audit log. Each text, and each key in it, counts as one request in the " +
    "budget of its address.",
  body: LeakedKeysReport,
  bodyLimits: BODY_LIMITS,
  hasSecretBody: true,
  response: LeakedKeysAccepted,
  errors: [429, 503],
  async handle({ deps, body }) {
    await Promise.all([deps.leakedKeys.report(body.keys), delay(ANSWER_MS)]);
    return { status: "accepted" as const };
  },
});

export const leakedKeyRoutes = [reportLeakedKeys];
