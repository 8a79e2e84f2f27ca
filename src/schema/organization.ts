/** Contract of an organization's members, audit log and usage. */
import { z } from "zod";
import { envelope, Name, pageQuery, PARTS_PER_PAGE, Timestamp, TimestampInput, Uuid } from "./common.ts";
import { type FilterFields, parseFilters, parseOrderBy } from "./filters.ts";

const role = z.enum(["admin", "member"]);
const email = z
  .string()
  .min(3)
  .max(320)
  .regex(/^[^\s@]+@[^\s@]+$/)
  .meta({ example: "ada@acme.example" });

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

/** No address is longer. */
const MAX_FILTER_CHARACTERS = 8_192;

/** A GET has no body: its filters are one JSON object in the query, its order is `order_by`, repeated. */
export const AuditQuery = z.object({
  ...pageQuery(PARTS_PER_PAGE).shape,
  format: z.enum(["json", "ndjson"]).default("json").meta({ description: "`ndjson` answers every row, one JSON object a line, as `application/x-ndjson`" }),
  filters: z
    .string()
    .max(MAX_FILTER_CHARACTERS)
    .optional()
    .transform((text, context) => {
      const refuse = (key: string, reason: string): void => void context.issues.push({ code: "custom", path: key === "" ? [] : [key], input: text, message: reason });
      const filters = text === undefined ? {} : readObject(text);
      if (filters === null) refuse("", "must be a JSON object");
      return parseFilters(filters ?? {}, AUDIT_FIELDS, refuse);
    })
    .meta({ description: `A JSON object with keys \`field__operator\`. Fields: ${Object.keys(AUDIT_FIELDS).join(", ")}.`, example: '{"action__startswith":"documents:"}' }),
  order_by: z
    .array(z.string().max(MAX_FILTER_CHARACTERS))
    .max(10)
    .optional()
    .transform((terms, context) =>
      parseOrderBy(terms ?? [], AUDIT_FIELDS, (index, reason) => context.issues.push({ code: "custom", path: [index], input: terms?.[index], message: reason })),
    )
    .meta({ description: "May be repeated; `-` before a field for descending order", example: ["-at"] }),
});

function readObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}

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
export const UsageQuery = pageQuery(PARTS_PER_PAGE).extend({ from: TimestampInput.optional(), to: TimestampInput.optional() });
