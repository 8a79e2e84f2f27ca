/** The contract of events: what happened to a resource, as lists, streams and deliveries show it. */
import { z } from "zod";
import { field } from "./field.ts";
import { ErrorObject } from "./error.ts";
import { EVENT_TYPES } from "../domain/events/event-types.ts";
import { RESOURCES_PER_PAGE, Timestamp } from "./fields.ts";
import { ApiKeyId, EventId, EXAMPLE_REQUEST_ID, OrganizationId, SpaceId, UserId, Uuid } from "./ids.ts";

const EventTypeName = z.enum(EVENT_TYPES);

/** `type` is a text in answers, so that clients go on when a later version adds types. */
export const Event = z
  .object({
    id: EventId,
    type: field.text(
      "The event type. Later versions add types, so clients should ignore unknown ones",
      "document.completed",
    ),
    occurred_at: Timestamp,
    organization_id: OrganizationId,
    space_id: SpaceId.nullable().describe("Null if it is not in a space"),
    resource: z
      .object({
        type: field.text("The kind of resource", "document"),
        id: Uuid.nullable().meta({
          description: "The resource's id; null if it has none",
          example: "01900000-0000-7000-8000-000000000030",
        }),
      })
      .describe("What it happened to"),
    actor: z
      .object({
        type: z.enum(["user", "api_key", "system"]).meta({
          description: "`api_key`: a user, by an API key; `system`: the service itself",
          example: "api_key",
        }),
        user_id: UserId.nullable().describe("Null for `system`"),
        api_key_id: ApiKeyId.nullable().describe("Null unless it was an API key"),
      })
      .describe("Who made the change; the service itself is `system`"),
    request_id: field.nullableText(
      "The `X-Request-Id` of the change; null: no request made it",
      EXAMPLE_REQUEST_ID,
    ),
    data: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])).meta({
      description: "Ids, states, codes and counts; never text and never names",
      example: { version: 1, chunk_count: 12 },
    }),
  })
  .meta({ id: "Event" });

/** The text of an event that is delivered: what the interface shows of it. */
export function encodeEvent(event: z.input<typeof Event>): string {
  return JSON.stringify(Event.parse(event));
}

export const EventTypes = z.array(EventTypeName).max(EVENT_TYPES.length);

/** In place of a cursor: the end of the log. */
export const NOW = "now";
const MAX_WAIT_SECONDS = 30;
const MAX_CURSOR_CHARACTERS = 255;
const EXAMPLE_CURSOR = "MToxOjQy";

const Cursor = field.text("A place in the organization's log, to be kept and sent as it is", EXAMPLE_CURSOR);

export const EventFilterQuery = z.object({
  after: z
    .string()
    .max(MAX_CURSOR_CHARACTERS)
    .optional()
    .meta({ description: "A cursor, or `now` for the end of the log", example: NOW }),
  types: EventTypes.optional().meta({
    description: "Only events of these types; may be repeated",
    example: ["document.completed"],
  }),
  space_id: SpaceId.optional().describe("Only events of this space"),
  resource_id: Uuid.optional().describe("Only events of this resource"),
});

export const EventQuery = EventFilterQuery.extend({
  limit: z
    .int()
    .min(1)
    .max(RESOURCES_PER_PAGE.max)
    .default(RESOURCES_PER_PAGE.default)
    .meta({ description: "At most so many events", example: RESOURCES_PER_PAGE.default }),
  wait: z
    .int()
    .min(0)
    .max(MAX_WAIT_SECONDS)
    .default(0)
    .meta({ description: "Seconds to wait for an event if there is none yet", example: 0 }),
});

export const EventPage = z
  .object({
    items: z.array(Event).describe("The events after the cursor, in the order of the log"),
    next_cursor: Cursor,
    has_more: z.boolean().describe("Whether there are more events after `next_cursor`"),
  })
  .meta({ id: "EventPage" });

const errorFields = {
  detail: field.text("The same as `error.message`", "The events after this cursor are no longer kept."),
  error: ErrorObject.describe("The same failure, as OpenAI's clients read it"),
  code: field.text("The same as `error.code`", "cursor_expired"),
  oldest: Cursor.describe("The oldest cursor that can be gone on from"),
};

/** The body of a 410. */
export const CursorExpired = z.object(errorFields).meta({ id: "CursorExpired" });

/** The last frame of a stream that ends by an error. */
export const EventStreamEnd = z
  .object({
    ...errorFields,
    status: field.integer("The status that a request would get", 410),
    code: errorFields.code.optional(),
    oldest: errorFields.oldest.optional(),
  })
  .meta({ id: "EventStreamEnd" });
