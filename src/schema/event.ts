/** The contract of events: what happened to a resource, as lists, streams and deliveries show it. */
import { z } from "zod";
import { EVENT_TYPES } from "../domain/events/event-types.ts";
import { Timestamp, Uuid } from "./fields.ts";

const EventTypeName = z.enum(EVENT_TYPES);

/** `type` is a text in answers, so that clients go on when a later version adds types. */
export const Event = z
  .object({
    id: Uuid,
    type: z.string().meta({ example: "document.completed" }),
    occurred_at: Timestamp,
    organization_id: Uuid,
    space_id: Uuid.nullable().meta({ description: "Null for what is in no space" }),
    resource: z.object({ type: z.string().meta({ example: "document" }), id: Uuid.nullable() }),
    actor: z
      .object({
        type: z.enum(["user", "api_key", "system"]),
        user_id: Uuid.nullable(),
        api_key_id: Uuid.nullable(),
      })
      .meta({ description: "Who made the change; the service itself is `system`" }),
    request_id: z.string().nullable().meta({ description: "The `X-Request-Id` of the change" }),
    data: z
      .record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()]))
      .meta({ description: "Ids, states, codes and counts; never text and never names" }),
  })
  .meta({ id: "Event" });

/** The text of an event that is delivered: what the interface shows of it. */
export function encodeEvent(event: z.input<typeof Event>): string {
  return JSON.stringify(Event.parse(event));
}

/** The types that a request may name. */
export const EventTypes = z.array(EventTypeName).max(EVENT_TYPES.length);
