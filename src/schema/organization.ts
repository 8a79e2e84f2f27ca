/** The contract of an organization: its settings, members, audit log and usage. */
import { z } from "zod";
import { field } from "./field.ts";
import {
  AvatarUrl,
  envelope,
  Name,
  OwnOrganizationId,
  pageQuery,
  PARTS_PER_PAGE,
  Timestamp,
  TimestampInput,
} from "./fields.ts";
import { AgentId, ApiKeyId, EXAMPLE_REQUEST_ID, OrganizationId, SpaceId, UserId, Uuid } from "./ids.ts";
import type { FilterFields } from "./requests/filters.ts";
import { queryFilters } from "./requests/query-filters.ts";
import { writtenBack } from "./requests/written-back.ts";

const role = z.enum(["admin", "member"]).meta({
  description: "`admin` manages the organization; `member` does what the roles in spaces allow",
  example: "member",
});
const email = z
  .string()
  .min(3)
  .max(320)
  .regex(/^[^\s@]+@[^\s@]+$/)
  .meta({
    description: "The address that the identity provider has verified, at the first login",
    example: "ada@acme.example",
  });

/** Ten years. */
export const MAX_KEY_LIFETIME_SECONDS = 315_360_000;
const lifetime = (description: string) =>
  z.int().min(1).max(MAX_KEY_LIFETIME_SECONDS).nullable().meta({ description, example: 7_776_000 });
const lifetimes = {
  max_key_lifetime_seconds: lifetime("The longest that a new API key may live, in seconds; null is no bound"),
  default_key_lifetime_seconds: lifetime(
    "How many seconds a new API key lives for which nothing is asked, never longer than the " +
      "maximum; null is the maximum, or no end",
  ),
};

export const Organization = z
  .object({
    id: OrganizationId,
    name: field.text("The display name", "Acme"),
    created_at: Timestamp,
    ...lifetimes,
  })
  .meta({ id: "Organization" });
export const OrganizationPatch = writtenBack(
  Organization,
  z
    .strictObject({
      max_key_lifetime_seconds: lifetimes.max_key_lifetime_seconds.optional(),
      default_key_lifetime_seconds: lifetimes.default_key_lifetime_seconds.optional(),
    })
    .meta({ id: "OrganizationPatch" }),
);

export const Member = z
  .object({
    user_id: UserId,
    email: field.text("The e-mail address", "ada@acme.example"),
    name: field.text("The display name", "Ada Example"),
    role,
    avatar_url: AvatarUrl,
    created_at: Timestamp,
  })
  .meta({ id: "Member" });
export const MemberPage = envelope(Member, "MemberPage");
export const MemberQuery = pageQuery(PARTS_PER_PAGE);
export const MemberParams = z.object({
  organization_id: OwnOrganizationId,
  user_id: UserId.describe("The member; of a new one, an id that the caller chooses"),
});
export const MemberPut = writtenBack(
  Member,
  z.strictObject({ email, name: Name, role }).meta({ id: "MemberPut" }),
);

export const AuditRow = z
  .object({
    id: Uuid.describe("The row's own id"),
    at: Timestamp,
    actor: z
      .object({
        id: UserId,
        name: field.nullableText("The name that the user has now; null if there is none", "Ada Example"),
      })
      .nullable()
      .describe("The user who requested it; null: the service or its operator did it"),
    auth_method: z.enum(["api_key", "jwt", "system"]).meta({
      description: "How the actor was authenticated; `system`: the service or its operator",
      example: "jwt",
    }),
    api_key_id: ApiKeyId.nullable().describe("The API key that was used; null: none was"),
    action: field.text("What was done: a kind of resource, a colon and a verb", "documents:create"),
    resource_type: field.text("The type of the affected resource", "document"),
    resource_id: field.nullableText(
      "The id of the affected resource; null if it has none",
      "01900000-0000-7000-8000-000000000030",
    ),
    space_id: SpaceId.nullable().describe("The space it is in; null: it is in none"),
    request_id: field.nullableText(
      "The `X-Request-Id` of the request; null: there was none",
      EXAMPLE_REQUEST_ID,
    ),
    outcome: field.text("`success`, `denied`, or how it failed", "success"),
    code: field.nullableText(
      "Why requests with a key were refused: the code of the error; null: they were not",
      "document_not_found",
    ),
    route: field.nullableText(
      "Which requests with a key were refused; null: none",
      "GET /v1/data/{document_id}/text",
    ),
    count: z
      .int()
      .min(1)
      .meta({
        description:
          "How many requests the row stands for. Refused ones of the same key, route and code are " +
          "one row a minute; it names the first of them",
        example: 1,
      }),
    target: z
      .object({
        type: field.text("The type of the created resource", "document"),
        id: Uuid.meta({
          description: "The id of the created resource",
          example: "01900000-0000-7000-8000-000000000030",
        }),
        space_id: SpaceId,
      })
      .nullable()
      .describe("What was made of what was read, if it was copied into a space; else null"),
  })
  .meta({ id: "AuditRow" });
export const AuditPage = envelope(AuditRow, "AuditPage");

const chainSeq = (what: string, example: number) => z.int().min(0).meta({ description: what, example });

export const AuditChainQuery = z.object({
  after: z
    .int()
    .min(0)
    .default(0)
    .meta({ description: "Begin after this row of the chain; `next` of the answer before", example: 0 }),
});
export const AuditChainPart = z
  .object({
    after: chainSeq("The row before the first that was checked; rows before it were deleted by their age", 0),
    checked: chainSeq("How many rows were checked", 412),
    next: chainSeq("Where the next part begins", 10_000)
      .nullable()
      .describe("`after` of the next part; null: this was the last, or a row is wrong"),
    unchained: chainSeq("Rows that are not chained yet; they are within minutes", 3),
    head: z
      .object({
        seq: chainSeq("The number of the last row; 0: none is chained", 412),
        hash: field.text("In hexadecimal", "9f2c"),
      })
      .describe("The end of the chain. Kept elsewhere, it shows later that nothing before it was changed"),
    fault: z
      .object({
        seq: chainSeq("The row's number in the chain", 17),
        kind: z
          .enum(["changed", "missing"])
          .meta({ description: "What is wrong with it", example: "changed" }),
      })
      .nullable()
      .describe("The first row that is wrong; null: these rows are as they were written"),
  })
  .meta({ id: "AuditChainPart" });

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
  code: "text",
  route: "text",
};

export const AuditQuery = z.object({
  ...pageQuery(PARTS_PER_PAGE).shape,
  format: z
    .enum(["json", "ndjson"])
    .default("json")
    .describe("`ndjson` answers every row, one JSON object a line, as `application/x-ndjson`"),
  ...queryFilters(AUDIT_FIELDS, { filters: '{"action__startswith":"documents:"}', orderBy: "-at" }),
});

const UsageRow = z
  .object({
    day: z.string().meta({ format: "date", description: "The day in UTC", example: "2026-01-31" }),
    user_id: UserId.nullable().describe("Who used it; null: no longer known"),
    api_key_id: ApiKeyId.nullable().describe("With which API key; null: with an access token"),
    agent_id: AgentId.nullable().describe(
      "The agent of the turns; null for documents and for searches that the model reranked",
    ),
    prompt_tokens: field.integer(
      "Tokens that the models of turns and of reranked searches have read, as they count them",
      412,
    ),
    completion_tokens: field.integer("Tokens that they have written", 38),
    turns: field.integer("Answers of agents", 1),
    documents: field.integer("Documents that were uploaded", 0),
    bytes: field.integer("Bytes of the day's documents, as far as they still exist", 0),
  })
  .meta({ id: "UsageRow" });
export const UsagePage = envelope(UsageRow, "UsagePage");
export const UsageQuery = pageQuery(PARTS_PER_PAGE).extend({
  from: TimestampInput.optional().meta({
    description: "The first moment that counts, ISO 8601; absent: from the beginning",
    example: "2026-01-01",
  }),
  to: TimestampInput.optional().meta({
    description: "The moment up to which it counts, exclusive, ISO 8601; absent: until now",
    example: "2026-02-01",
  }),
});

const TokenBudget = z
  .object({
    budget: z.enum(["organization", "user", "api_key"]).meta({
      description: "Whose it is; a user's counts all keys and sessions of the user",
      example: "user",
    }),
    owner_id: Uuid.describe("The organization, the user or the API key"),
    month: field.text("The month in UTC", "2026-01"),
    used: field.integer("Prompt and completion tokens of the month", 41_200),
    quota: field.nullableInteger("The most tokens of a month; null: there is no such budget", 1_000_000),
  })
  .meta({ id: "TokenBudget" });
export const TokenBudgetPage = envelope(TokenBudget, "TokenBudgetPage");
export const TokenBudgetQuery = pageQuery(PARTS_PER_PAGE);
