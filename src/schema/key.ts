/** Contract of API keys. The text of a key is shown once, in the answer to the request that makes it. */
import { z } from "zod";
import { field } from "./field.ts";
import { canonicalCidr } from "../domain/tenancy/cidr.ts";
import { CAPABILITIES } from "../domain/tenancy/principal.ts";
import { envelope, Name, pageQuery, Timestamp, TimestampInput } from "./fields.ts";
import { ApiKeyId, SpaceId, UserId } from "./ids.ts";
import type { FilterFields } from "./requests/filters.ts";
import { ANY_TEXT } from "./requests/patterns.ts";
import { queryFilters } from "./requests/query-filters.ts";

const MAX_SPACES = 1_000;
const MAX_CAPABILITIES = 16;
export const MAX_CIDRS = 50;
/** Longer than any way to write a network. */
const MAX_CIDR_CHARACTERS = 64;
const MAX_OVERLAP_SECONDS = 604_800;
/** How long the earlier text of a rolled key is accepted if the request does not say. */
export const DEFAULT_OVERLAP_SECONDS = 86_400;
const MAX_LEAKED_KEYS = 20;
/** The most characters of a whole report, which also bounds each text in it. */
export const MAX_LEAKED_CHARACTERS = 4_096;

/** A network or an address, canonical after parsing. @param message the 422's detail for other texts. */
export const cidr = (message: string) =>
  z
    .string()
    .max(MAX_CIDR_CHARACTERS, message)
    .transform((text, context) => {
      const canonical = canonicalCidr(text);
      if (canonical === null) context.issues.push({ code: "custom", input: text, message });
      return canonical ?? z.NEVER;
    });
const Cidr = cidr("must be an IPv4 or IPv6 network like 192.0.2.0/24, without bits behind its prefix").meta({
  example: "192.0.2.0/24",
});
const Cidrs = z.array(Cidr).min(1).max(MAX_CIDRS);

const ApiKey = z
  .object({
    id: ApiKeyId,
    name: field.text("For its owner; two keys may have the same", "automation"),
    prefix: field.text("The beginning of its text, by which a key is recognized", "sk-hf-a1B2c3"),
    user_id: UserId.describe("Its owner, whose rights bound what it may do"),
    created_by: UserId.nullable().describe(
      "The user who made it; null: the operator. A key that somebody else made for its owner reaches " +
        "shared spaces alone, and of what is its owner's and in no space only what it made itself",
    ),
    spaces: z
      .array(SpaceId)
      .nullable()
      .meta({ description: "The spaces it is narrowed to; null: all that its owner reaches", example: null }),
    capabilities: z.array(z.enum(CAPABILITIES)).meta({
      description: "What it may be used for; each operation that takes keys names the one that it needs",
      example: ["read", "search"],
    }),
    allowed_cidrs: z
      .array(z.string())
      .nullable()
      .meta({
        description: "Networks that it may be used from; null: everywhere",
        example: ["192.0.2.0/24"],
      }),
    created_at: Timestamp,
    expires_at: Timestamp.nullable().meta({
      description: "From when on it is refused; null: it does not expire",
      example: null,
    }),
    last_used_at: Timestamp.nullable().describe("When it was used last; null: never"),
    last_used_ip: field.nullableText("The address of the last use, behind the trusted proxies", "192.0.2.7"),
    last_used_user_agent: field.nullableText(
      "The first 256 characters of the `User-Agent` of the last use",
      "curl/8.5.0",
    ),
    overlap_ends_at: Timestamp.nullable().meta({
      description: "Until when the text before the last roll is accepted too; null: it is not",
      example: null,
    }),
    revoked_at: Timestamp.nullable().meta({
      description: "Since when it is revoked; null: it is not",
      example: null,
    }),
    revoked_reason: z.enum(["leaked"]).nullable().meta({
      description: "`leaked`: somebody reported its text; null: its owner or an admin revoked it, or nobody",
      example: null,
    }),
  })
  .meta({ id: "ApiKey" });

export const ApiKeyPage = envelope(ApiKey, "ApiKeyPage");
export const ApiKeyCreated = ApiKey.extend({
  key: field.text("The key's text, to be sent as `Authorization: Bearer …`. Shown only here", "sk-hf-…"),
}).meta({ id: "ApiKeyCreated" });

const wanted = {
  name: Name,
  spaces: z
    .array(SpaceId)
    .max(MAX_SPACES)
    .nullish()
    .describe("The spaces it is narrowed to; absent or null: all that its owner reaches"),
  expires_at: TimestampInput.nullish().meta({
    description:
      "From when on it is refused, ISO 8601. Absent or null: as the organization's default and " +
      "maximum say, else it does not expire",
    example: "2027-01-31T00:00:00Z",
  }),
  allowed_cidrs: Cidrs.nullish().meta({
    description: "Networks or addresses that it may be used from; absent or null: everywhere",
    example: ["192.0.2.0/24"],
  }),
  capabilities: z
    .array(z.enum(CAPABILITIES))
    .min(1)
    .max(MAX_CAPABILITIES)
    .nullish()
    .meta({ description: "What it may be used for; absent or null: all", example: ["read", "search"] }),
};

export const ApiKeyCreate = z.strictObject(wanted).meta({
  id: "ApiKeyCreate",
  example: { name: "automation", capabilities: ["read", "search"], expires_at: "2027-01-31T00:00:00Z" },
});
export const OrganizationKeyCreate = z
  .strictObject({ ...wanted, user_id: UserId.describe("The member who will own it") })
  .meta({ id: "OrganizationKeyCreate" });

const KEY_FIELDS: FilterFields = {
  name: "text",
  created_by: "uuid",
  created_at: "timestamp",
  expires_at: "timestamp",
  last_used_at: "timestamp",
  unused_since: "timestamp",
  revoked_at: "timestamp",
};
const EXAMPLE = {
  filters: '{"unused_since__lt":"2026-01-31","revoked_at__isnull":true}',
  orderBy: "-last_used_at",
};

/** The field `unused_since` is a key's last use, or its creation if it was never used. */
export const ApiKeyQuery = pageQuery().extend(queryFilters(KEY_FIELDS, EXAMPLE));
export const OrganizationKeyQuery = pageQuery().extend({
  user_id: UserId.optional().describe("Only the keys of this member"),
  ...queryFilters({ ...KEY_FIELDS, user_id: "uuid" }, EXAMPLE),
});

export const ApiKeyRoll = z
  .strictObject({
    overlap_seconds: z
      .int()
      .min(0)
      .max(MAX_OVERLAP_SECONDS)
      .default(DEFAULT_OVERLAP_SECONDS)
      .meta({
        description:
          "For how many seconds the previous key is also accepted, at most until the key would have " +
          "expired. Rolling again ends it",
        example: 3_600,
      }),
    expires_at: TimestampInput.nullish().meta({
      description: "A new expiry, ISO 8601; absent or null: the key's expiry stays as it is",
      example: "2027-01-31T00:00:00Z",
    }),
  })
  .optional()
  .meta({ id: "ApiKeyRoll" });

/** Texts in which somebody found keys, or what looks like keys. */
export const LeakedKeysReport = z
  .object({
    keys: z
      .array(z.string().max(MAX_LEAKED_CHARACTERS).meta({ pattern: ANY_TEXT }))
      .max(MAX_LEAKED_KEYS)
      .meta({
        description:
          "Texts in which keys are looked for; a key may stand within quotes, a header or a URL. " +
          `At most ${MAX_LEAKED_CHARACTERS} bytes together`,
        example: ["sk-hf-…"],
      }),
  })
  .meta({ id: "LeakedKeysReport" });
export const LeakedKeysAccepted = z
  .object({
    status: z.literal("accepted").describe("Whatever the texts are: it does not tell which keys exist"),
  })
  .meta({ id: "LeakedKeysAccepted" });
