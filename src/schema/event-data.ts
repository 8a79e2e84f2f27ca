/** The `data` of each type of event. Later versions may add fields, so that each of them may be missing. */
import { z } from "zod";
import { field } from "./field.ts";
import { EVENT_TYPES, type EventType } from "../domain/events/event-types.ts";
import { BatchId, AgentId, DocumentId, FolderId, RunId, Uuid } from "./ids.ts";

type Fields = Readonly<Record<string, z.ZodType>>;

const count = (description: string, example = 1) => field.optionalInteger(description, example);
const code = (description: string, example: string) => field.optionalText(description, example);
const folder = (description: string) => FolderId.nullish().describe(description);

const VERSION = count("The version of the document, from 1");
const RUN: Fields = {
  version: VERSION,
  run_id: RunId.optional(),
  batch_id: BatchId.optional(),
  trigger: code("Why it ran: upload, replace, reprocess, batch or restore", "upload"),
};
const FAILURE: Fields = { code: code("Why it failed", "corrupt") };
const TURN: Fields = {
  agent_id: AgentId.optional(),
  status: code("How it ended", "completed"),
  ...FAILURE,
  model_calls: count("Calls of the model"),
  prompt_tokens: count("Tokens that the model has read", 850),
  completion_tokens: count("Tokens that it has written", 120),
};
const ROLE: Fields = { role: code("The role from now on", "viewer") };
const OF_DOCUMENT: Fields = {
  document_id: DocumentId.nullish().describe("The document of the file; null: it has none"),
};
const FILES = count("Files that were concerned, if it was more than one");

/** A type that is not here has no data. */
const FIELDS: Readonly<Partial<Record<EventType, Fields>>> = {
  "document.uploaded": {
    file_id: Uuid.optional().describe("The raw file, as events of files name it"),
    folder_id: folder("The folder that it is in; null: the space's root"),
    version: VERSION,
    file_size: count("Bytes of the original", 52_428),
    file_type: code("What the file is", "PDF"),
  },
  "document.progressed": {
    ...RUN,
    status: code("What is done from now on: parsing or embedding", "embedding"),
  },
  "document.completed": {
    ...RUN,
    page_count: count("Pages, slides or sheets"),
    chunk_count: count("Chunks of the version", 12),
  },
  "document.failed": { ...RUN, ...FAILURE },
  "document.cancelled": RUN,
  "document.waiting": { ...RUN, code: code("What it waits for", "provider_unavailable") },
  "document.moved": {
    folder_id: folder("The folder that it is in now; null: the space's root"),
    previous_folder_id: folder("The folder that it was in; null: the space's root"),
  },
  "document.deleted": {
    folder_id: folder("The folder that it was in; null: the space's root"),
    deleted_folder_id: FolderId.optional().describe("The folder it was deleted with"),
  },
  "batch.completed": {
    status: code("How it ended", "completed"),
    accepted: count("Documents that were processed again", 20),
    completed: count("Runs that completed", 19),
    failed: count("Runs that failed", 1),
    cancelled: count("Runs that were cancelled", 0),
  },
  "folder.updated": {
    parent_folder_id: folder("The folder that it is in now; null: the space's root"),
    previous_parent_folder_id: folder("The folder that it was in; null: the space's root"),
  },
  "file.created": OF_DOCUMENT,
  "file.renamed": { ...OF_DOCUMENT, count: FILES },
  "file.deleted": { ...OF_DOCUMENT, count: FILES },
  "space.member_added": ROLE,
  "space.member_updated": ROLE,
  "member.added": ROLE,
  "member.updated": ROLE,
  "turn.completed": TURN,
  "turn.failed": TURN,
  "budget.reached": {
    budget: code("Whose budget of tokens is used up: organization, user or api_key", "user"),
    quota: count("Tokens a month that it has", 1_000_000),
    month: code("The month in UTC", "2026-01"),
  },
  "webhook.updated": {
    status: code("The status from now on", "active"),
    changed: code("What was changed, if it was not a field", "secret"),
  },
  "webhook.paused": { reason: code("Why it is not active", "failing") },
  "webhook.disabled": { reason: code("Why it is not active", "gone") },
};

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
