/** Contract of webhooks: endpoints that events are delivered to, and what became of each delivery. */
import { z } from "zod";
import { EVENT_TYPES } from "../domain/events/event-types.ts";
import { EventTypes } from "./event.ts";
import { envelope, pageQuery, RESOURCES_PER_PAGE, Timestamp, TimestampInput, Uuid } from "./fields.ts";

export const MAX_URL_CHARACTERS = 2_048;
const MAX_DESCRIPTION_CHARACTERS = 256;
/** The overlap has the bounds and the default of that of a rolled API key. */
const MAX_OVERLAP_SECONDS = 604_800;
export const DEFAULT_SECRET_OVERLAP_SECONDS = 86_400;

const EXAMPLE_URL = "https://receiver.example/holdfast";
const STATUSES = ["active", "paused", "disabled"] as const;
const REASONS = ["by_user", "reach_lost", "failing", "gone"] as const;
const DELIVERY_STATUSES = ["pending", "delivered", "failed", "skipped"] as const;

const Url = z.string().min(1).max(MAX_URL_CHARACTERS).meta({
  description: "https, at a public address, without credentials and fragment. Deliveries follow no redirect",
  example: EXAMPLE_URL,
});
const Types = EventTypes.meta({ description: "Empty: all types", example: ["document.completed"] });
const Description = z
  .string()
  .max(MAX_DESCRIPTION_CHARACTERS)
  .meta({ description: "For those who manage it", example: "Search index of the web site" });

export const Webhook = z
  .object({
    id: Uuid,
    space_id: Uuid.nullable().meta({
      description: "Null: it gets the events of the organization that its maker sees, without private spaces",
    }),
    url: z.string().meta({ example: EXAMPLE_URL }),
    types: z.array(z.string()).meta({ description: "Empty: all types", example: ["document.completed"] }),
    description: z.string().nullable().meta({ example: "Search index of the web site" }),
    status: z.enum(STATUSES).meta({
      description: "`paused`: events wait for it; `disabled`: it answered 410 Gone. PATCH makes both active",
      example: "active",
    }),
    status_reason: z
      .enum(REASONS)
      .nullable()
      .meta({
        description:
          "Why it is not active: `by_user`; `reach_lost`: its maker left, or lost the role that it needs; " +
          "`failing`: no attempt succeeded for three days; `gone`: it answered 410",
        example: null,
      }),
    status_changed_at: Timestamp,
    failing_since: Timestamp.nullable().meta({
      description: "Since when no attempt has succeeded; null if the last one did",
    }),
    overlap_ends_at: Timestamp.nullable().meta({
      description: "Until when the secret before the last roll signs too; null: it does not",
    }),
    created_by: Uuid.meta({ description: "Its maker, whose rights bound what it gets" }),
    created_at: Timestamp,
    updated_at: Timestamp,
  })
  .meta({ id: "Webhook" });

const WithSecret = {
  secret: z.string().meta({
    description: "Signs each delivery as Standard Webhooks says. Shown only here",
    example: "whsec_…",
  }),
};

export const WebhookPage = envelope(Webhook, "WebhookPage");
export const WebhookCreated = Webhook.extend(WithSecret).meta({ id: "WebhookCreated" });

export const WebhookCreate = z
  .object({
    url: Url,
    types: Types.optional(),
    space_id: Uuid.nullish().meta({ description: "Absent or null: the organization" }),
    description: Description.nullish(),
  })
  .meta({ id: "WebhookCreate" });

export const WebhookPatch = z
  .object({
    url: Url.optional(),
    types: Types.optional(),
    description: Description.nullish(),
    status: z
      .enum(["active", "paused"])
      .optional()
      .meta({ description: "`active` goes on after the last event that it got", example: "paused" }),
  })
  .meta({ id: "WebhookPatch" });

export const WebhookParams = z.object({ webhook_id: Uuid });
export const WebhookDeliveryParams = z.object({ webhook_id: Uuid, delivery_id: Uuid });

export const WebhookQuery = pageQuery().extend({
  space_id: Uuid.optional().meta({ description: "Only those of this space" }),
  status: z.enum(STATUSES).optional().meta({ example: "paused" }),
});

export const WebhookTest = z
  .object({ webhook_id: Uuid, event_type: z.literal("webhook.test"), status: z.literal("queued") })
  .meta({ id: "WebhookTest" });

export const WebhookSecretRoll = z
  .object({
    overlap_seconds: z.int().min(0).max(MAX_OVERLAP_SECONDS).default(DEFAULT_SECRET_OVERLAP_SECONDS).meta({
      description: "For how long the secret of before signs too. Rolling again ends it",
      example: 3_600,
    }),
  })
  .optional()
  .meta({ id: "WebhookSecretRoll" });

export const WebhookDelivery = z
  .object({
    id: Uuid,
    event_id: Uuid.nullable().meta({
      description:
        "The `webhook-id` of each attempt; null for events that were not kept until they could be delivered",
    }),
    event_type: z.string().nullable().meta({ example: "document.completed" }),
    status: z.enum(DELIVERY_STATUSES).meta({ example: "delivered" }),
    attempts: z.int().meta({ example: 1 }),
    http_status: z.int().nullable().meta({ description: "Of the last attempt", example: 200 }),
    error_code: z.string().nullable().meta({ description: "Why it is not delivered", example: null }),
    duration_ms: z.int().nullable().meta({ description: "Of the last attempt", example: 42 }),
    created_at: Timestamp,
    last_attempt_at: Timestamp.nullable(),
    next_attempt_at: Timestamp.nullable().meta({ description: "Null unless it is pending" }),
    completed_at: Timestamp.nullable(),
  })
  .meta({ id: "WebhookDelivery" });

export const WebhookDeliveryPage = z
  .object({
    items: z
      .array(WebhookDelivery)
      .meta({ description: "Newest first; may be empty although there are more" }),
    next_cursor: Uuid.nullable().meta({ description: "`after` of the next page; null: there is none" }),
  })
  .meta({ id: "WebhookDeliveryPage" });

export const WebhookDeliveryQuery = z.object({
  status: z.enum(DELIVERY_STATUSES).optional().meta({ example: "failed" }),
  event_type: z.enum(EVENT_TYPES).optional().meta({ example: "document.completed" }),
  after: Uuid.optional().meta({ description: "The `next_cursor` of the page before" }),
  limit: z
    .int()
    .min(1)
    .max(RESOURCES_PER_PAGE.max)
    .default(RESOURCES_PER_PAGE.default)
    .meta({ description: "Entries per page", example: RESOURCES_PER_PAGE.default }),
});

export const WebhookReplayCreate = z
  .object({
    from: TimestampInput.meta({ description: "Events that happened then or later" }),
    to: TimestampInput.optional().meta({
      description: "Events that happened before; absent: until now",
      example: "2026-02-01T00:00:00Z",
    }),
    types: Types.optional(),
  })
  .meta({ id: "WebhookReplayCreate" });

export const WebhookReplay = z
  .object({
    id: Uuid,
    webhook_id: Uuid,
    from: Timestamp,
    to: Timestamp,
    types: z.array(z.string()).meta({ example: ["document.completed"] }),
    created_at: Timestamp,
  })
  .meta({ id: "WebhookReplay" });
