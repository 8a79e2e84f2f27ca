/** The `data` of each type of event. Later versions may add fields, so that each of them may be missing. */
import { z } from "zod";
import { EVENT_TYPES, type EventType } from "../domain/events/event-types.ts";
import { Uuid } from "./fields.ts";

type Fields = Readonly<Record<string, z.ZodType>>;

const count = (example = 1) => z.int().optional().meta({ example });
const id = Uuid.optional();
const placeId = Uuid.nullish();
const code = (example: string) => z.string().optional().meta({ example });

const RUN: Fields = { version: count(), run_id: id, batch_id: id, trigger: code("upload") };
const FAILURE: Fields = { code: code("corrupt") };
const TURN: Fields = {
  agent_id: id,
  status: code("completed"),
  ...FAILURE,
  model_calls: count(),
  prompt_tokens: count(850),
  completion_tokens: count(120),
};
const ROLE: Fields = { role: code("viewer") };

/** A type that is not here has no data. */
const FIELDS: Readonly<Partial<Record<EventType, Fields>>> = {
  "document.uploaded": {
    file_id: id,
    folder_id: placeId,
    version: count(),
    file_size: count(52_428),
    file_type: code("PDF"),
  },
  "document.completed": { ...RUN, page_count: count(), chunk_count: count(12) },
  "document.failed": { ...RUN, ...FAILURE },
  "document.cancelled": RUN,
  "document.waiting": { ...RUN, code: code("provider_unavailable") },
  "document.moved": { folder_id: placeId, previous_folder_id: placeId },
  "document.deleted": { folder_id: placeId, deleted_folder_id: id },
  "batch.completed": {
    status: code("completed"),
    accepted: count(20),
    completed: count(19),
    failed: count(1),
    cancelled: count(0),
  },
  "folder.updated": { parent_folder_id: placeId, previous_parent_folder_id: placeId },
  "file.created": { document_id: placeId },
  "file.renamed": { document_id: placeId, count: count() },
  "file.deleted": { document_id: placeId, count: count() },
  "space.member_added": ROLE,
  "space.member_updated": ROLE,
  "member.added": ROLE,
  "member.updated": ROLE,
  "turn.completed": TURN,
  "turn.failed": TURN,
  "budget.reached": { budget: code("user"), quota: count(1_000_000), month: code("2026-01") },
  "webhook.updated": { status: code("active"), changed: code("secret") },
  "webhook.paused": { reason: code("failing") },
  "webhook.disabled": { reason: code("gone") },
};

/** The `data` of the events of each type. */
export const EVENT_DATA = Object.fromEntries(
  EVENT_TYPES.map((type) => [type, z.looseObject(FIELDS[type] ?? {})]),
) as Readonly<Record<EventType, z.ZodObject>>;

/** What signs a delivery, as Standard Webhooks says. */
export const DELIVERY_HEADERS = Object.entries({
  "webhook-id": "The event's id, the same at each attempt",
  "webhook-timestamp": "When this attempt was signed, in seconds since 1970",
  "webhook-signature": "`v1,` and the base64 of an HMAC-SHA-256; two with a space between while it is rolled",
}).map(([name, description]) => ({
  name,
  in: "header" as const,
  required: true,
  description,
  schema: { type: "string" as const },
}));
