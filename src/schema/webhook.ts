/** Contract of webhooks: endpoints that events are delivered to, and what became of each delivery. */
import { z } from "zod";
import { field } from "./field.ts";
import { EVENT_TYPES } from "../domain/events/event-types.ts";
import { EventTypes } from "./event.ts";
import { envelope, pageQuery, RESOURCES_PER_PAGE, Timestamp, TimestampInput } from "./fields.ts";
import { DeliveryId, EventId, ReplayId, SpaceId, UserId, WebhookId } from "./ids.ts";
import { writtenBack } from "./requests/written-back.ts";

export const MAX_URL_CHARACTERS = 2_048;
const MAX_DESCRIPTION_CHARACTERS = 256;
/** The overlap has the bounds and the default of that of a rolled API key. */
const MAX_OVERLAP_SECONDS = 604_800;
export const DEFAULT_SECRET_OVERLAP_SECONDS = 86_400;

const EXAMPLE_URL = "https://receiver.example/holdfast";
const STATUSES = ["active", "paused", "disabled"] as const;
const REASONS = ["by_user", "reach_lost", "failing", "gone"] as const;
const DELIVERY_STATUSES = ["pending", "delivered", "failed", "skipped"] as const;

const Url = z
  .string()
  .min(1)
  .max(MAX_URL_CHARACTERS)
  .meta({
    description:
      "Where events are sent by POST: https, at a public address, without credentials and " +
      "fragment. Deliveries follow no redirect",
    example: EXAMPLE_URL,
  });
const Types = EventTypes.meta({
  description: "The types of events that it gets; empty: all but `document.progressed`",
  example: ["document.completed"],
});
const Description = z
  .string()
  .max(MAX_DESCRIPTION_CHARACTERS)
  .meta({ description: "For those who manage it", example: "Search index of the web site" });

export const Webhook = z
  .object({
    id: WebhookId,
    space_id: SpaceId.nullable().describe(
      "The space whose events it gets; null: those of the organization that its maker sees, " +
        "without private spaces",
    ),
    url: field.text("Where events are sent by POST", EXAMPLE_URL),
    types: z.array(z.string()).meta({
      description: "The types of events that it gets; empty: all but `document.progressed`",
      example: ["document.completed"],
    }),
    description: field.nullableText(
      "For those who manage it; null: there is none",
      "Search index of the web site",
    ),
    status: z.enum(STATUSES).meta({
      description:
        "`active`; `paused`: events wait for it; `disabled`: it answered 410 Gone. PATCH makes both active",
      example: "active",
    }),
    status_reason: z
      .enum(REASONS)
      .nullable()
      .meta({
        description:
          "Why it is not active: `by_user`; `reach_lost`: its maker left, or lost the role that it " +
          "needs; `failing`: no attempt succeeded for three days; `gone`: it answered 410",
        example: null,
      }),
    status_changed_at: Timestamp,
    failing_since: Timestamp.nullable().meta({
      description: "Since when no attempt has succeeded; null if the last one did",
      example: null,
    }),
    overlap_ends_at: Timestamp.nullable().meta({
      description: "Until when the secret before the last roll signs too; null: it does not",
      example: null,
    }),
    created_by: UserId.describe("Its creator, whose permissions limit what it receives"),
    created_at: Timestamp,
    updated_at: Timestamp,
  })
  .meta({ id: "Webhook" });

const WithSecret = {
  secret: field.text("Signs each delivery as Standard Webhooks says. Shown only here", "whsec_…"),
};

export const WebhookPage = envelope(Webhook, "WebhookPage");
export const WebhookCreated = Webhook.extend(WithSecret).meta({ id: "WebhookCreated" });

export const WebhookCreate = z
  .strictObject({
    url: Url,
    types: Types.optional(),
    space_id: SpaceId.nullish().describe(
      "The space whose events it gets; absent or null: those of the organization",
    ),
    description: Description.nullish(),
  })
  .meta({ id: "WebhookCreate", example: { url: EXAMPLE_URL, types: ["document.completed"] } });

/** Its space cannot be changed, and is compared: naming another one must not pass for a narrowing. */
export const WebhookPatch = writtenBack(
  Webhook,
  z
    .strictObject({
      space_id: SpaceId.nullable().optional().describe("As it is, or absent: the space cannot be changed"),
      url: Url.optional(),
      types: Types.optional(),
      description: Description.nullish(),
      status: z
        .enum(["active", "paused"])
        .optional()
        .meta({ description: "`active` goes on after the last event that it got", example: "paused" }),
    })
    .meta({ id: "WebhookPatch", example: { status: "paused" } }),
);

export const WebhookQuery = pageQuery().extend({
  space_id: SpaceId.optional().describe("Only those of this space"),
  status: z.enum(STATUSES).optional().meta({ description: "Only those with this status", example: "paused" }),
});

export const WebhookTest = z
  .object({
    webhook_id: WebhookId,
    event_type: z.literal("webhook.test").describe("The type of the event that is sent"),
    status: z.literal("queued").describe("It will be delivered; see the deliveries"),
  })
  .meta({ id: "WebhookTest" });

export const WebhookSecretRoll = z
  .strictObject({
    overlap_seconds: z.int().min(0).max(MAX_OVERLAP_SECONDS).default(DEFAULT_SECRET_OVERLAP_SECONDS).meta({
      description: "For how many seconds the previous secret also signs. Rolling again ends it",
      example: 3_600,
    }),
  })
  .optional()
  .meta({ id: "WebhookSecretRoll" });

export const WebhookDelivery = z
  .object({
    id: DeliveryId,
    event_id: EventId.nullable().describe(
      "The `webhook-id` of each attempt; null for events that were not kept until they could be delivered",
    ),
    event_type: field.nullableText("The event's type; null like `event_id`", "document.completed"),
    status: z.enum(DELIVERY_STATUSES).meta({
      description:
        "`pending`: it is tried, or tried again; `delivered`: answered by 2xx; `failed`: given " +
        "up; `skipped`: not sent, because its creator can no longer see the event or the event " +
        "is no longer kept",
      example: "delivered",
    }),
    attempts: field.integer("Requests that were made so far", 1),
    http_status: field.nullableInteger(
      "The status that the last attempt was answered with; null: it had no answer",
      200,
    ),
    error_code: field.nullableText("Why it is not delivered; null if it is, or was not tried yet", null),
    duration_ms: field.nullableInteger("Milliseconds of the last attempt; null before the first", 42),
    created_at: Timestamp,
    last_attempt_at: Timestamp.nullable().describe("Null before the first attempt"),
    next_attempt_at: Timestamp.nullable().meta({ description: "Null unless it is pending", example: null }),
    completed_at: Timestamp.nullable().describe("When it ended; null while it is pending"),
  })
  .meta({ id: "WebhookDelivery" });

export const WebhookDeliveryPage = z
  .object({
    items: z.array(WebhookDelivery).describe("Newest first; may be empty although there are more"),
    next_cursor: DeliveryId.nullable().meta({
      description: "`after` of the next page; null: there is none",
      example: null,
    }),
  })
  .meta({ id: "WebhookDeliveryPage" });

export const WebhookDeliveryQuery = z.object({
  status: z
    .enum(DELIVERY_STATUSES)
    .optional()
    .meta({ description: "Only those with this status", example: "failed" }),
  event_type: z
    .enum(EVENT_TYPES)
    .optional()
    .meta({ description: "Only those of events of this type", example: "document.completed" }),
  after: DeliveryId.optional().describe("The `next_cursor` of the page before"),
  limit: z
    .int()
    .min(1)
    .max(RESOURCES_PER_PAGE.max)
    .default(RESOURCES_PER_PAGE.default)
    .meta({ description: "Entries per page", example: RESOURCES_PER_PAGE.default }),
});

export const WebhookReplayCreate = z
  .strictObject({
    from: TimestampInput.describe("Events that happened then or later, ISO 8601"),
    to: TimestampInput.optional().meta({
      description: "Events that happened before, ISO 8601; absent: until now",
      example: "2026-02-01T00:00:00Z",
    }),
    types: Types.optional(),
  })
  .meta({ id: "WebhookReplayCreate" });

export const WebhookReplay = z
  .object({
    id: ReplayId,
    webhook_id: WebhookId,
    from: Timestamp.describe("Events that happened then or later are delivered again"),
    to: Timestamp.describe("Events that happened before are"),
    types: z.array(z.string()).meta({
      description: "The types that are delivered again; empty: all that the webhook gets",
      example: ["document.completed"],
    }),
    created_at: Timestamp,
  })
  .meta({ id: "WebhookReplay" });
