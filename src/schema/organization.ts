/** The contract of an organization: its settings, members, audit log and usage. */
import { z } from "zod";
import { envelope, Name, pageQuery, PARTS_PER_PAGE, Timestamp, TimestampInput, Uuid } from "./fields.ts";
import type { FilterFields } from "./requests/filters.ts";
import { queryFilters } from "./requests/query-filters.ts";

const role = z.enum(["admin", "member"]);
const email = z
  .string()
  .min(3)
  .max(320)
  .regex(/^[^\s@]+@[^\s@]+$/)
  .meta({ example: "ada@acme.example" });

/** Ten years. */
export const MAX_KEY_LIFETIME_SECONDS = 315_360_000;
const lifetime = (description: string) =>
  z.int().min(1).max(MAX_KEY_LIFETIME_SECONDS).nullable().meta({ description, example: 7_776_000 });
const lifetimes = {
  max_key_lifetime_seconds: lifetime("The longest that a new API key may live; null is no bound"),
  default_key_lifetime_seconds: lifetime(
    "How long a new API key lives for which nothing is asked, never longer than the maximum; " +
      "null is the maximum, or no end",
  ),
};

export const Organization = z
  .object({ id: Uuid, name: z.string().meta({ example: "Acme" }), created_at: Timestamp, ...lifetimes })
  .meta({ id: "Organization" });
export const OrganizationPatch = z
  .object({
    max_key_lifetime_seconds: lifetimes.max_key_lifetime_seconds.optional(),
    default_key_lifetime_seconds: lifetimes.default_key_lifetime_seconds.optional(),
  })
  .meta({ id: "OrganizationPatch" });

export const Member = z
  .object({
    user_id: Uuid,
    email: z.string().meta({ example: "ada@acme.example" }),
    name: z.string().meta({ example: "Ada Example" }),
    role,
    avatar_url: z.string().nullable().meta({ example: null }),
    created_at: Timestamp,
  })
  .meta({ id: "Member" });
export const MemberPage = envelope(Member, "MemberPage");
export const MemberQuery = pageQuery(PARTS_PER_PAGE);
export const MemberParams = z.object({ organization_id: Uuid, user_id: Uuid });
export const MemberPut = z.object({ email, name: Name, role }).meta({ id: "MemberPut" });

export const AuditRow = z
  .object({
    id: Uuid,
    at: Timestamp,
    actor: z.object({ id: Uuid, name: z.string().nullable().meta({ example: "Ada Example" }) }).nullable(),
    auth_method: z.enum(["api_key", "jwt", "system"]),
    api_key_id: Uuid.nullable(),
    action: z.string().meta({ example: "documents:create" }),
    resource_type: z.string().meta({ example: "document" }),
    resource_id: z.string().nullable().meta({ example: "01900000-0000-7000-8000-000000000030" }),
    space_id: Uuid.nullable(),
    request_id: z.string().nullable().meta({ example: "01900000-0000-7000-8000-0000000000aa" }),
    outcome: z.string().meta({ example: "success" }),
  })
  .meta({ id: "AuditRow" });
export const AuditPage = envelope(AuditRow, "AuditPage");

const AUDIT_FIELDS: FilterFields = {
  at: "timestamp",
  actor_id: "uuid",
  auth_method: "text",
  api_key_id: "uuid",
  action: "text",
  resource_type: "text",
  resource_id: "text",
  space_id: "uuid",
  request_id: "text",
  outcome: "text",
};

export const AuditQuery = z.object({
  ...pageQuery(PARTS_PER_PAGE).shape,
  format: z
    .enum(["json", "ndjson"])
    .default("json")
    .meta({ description: "`ndjson` answers every row, one JSON object a line, as `application/x-ndjson`" }),
  ...queryFilters(AUDIT_FIELDS, { filters: '{"action__startswith":"documents:"}', orderBy: "-at" }),
});

const UsageRow = z
  .object({
    day: z.string().meta({ format: "date", example: "2026-01-31" }),
    user_id: Uuid.nullable(),
    api_key_id: Uuid.nullable(),
    agent_id: Uuid.nullable(),
    prompt_tokens: z.int().meta({ example: 412 }),
    completion_tokens: z.int().meta({ example: 38 }),
    turns: z.int().meta({ example: 1 }),
    documents: z.int().meta({ example: 0 }),
    bytes: z.int().meta({ example: 0 }),
  })
  .meta({ id: "UsageRow" });
export const UsagePage = envelope(UsageRow, "UsagePage");
export const UsageQuery = pageQuery(PARTS_PER_PAGE).extend({
  from: TimestampInput.optional(),
  to: TimestampInput.optional(),
});
