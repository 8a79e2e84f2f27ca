/** The ids of what the service keeps: what each means, with an example that is the same everywhere. */
import { z } from "zod";

const exampleOf = (last: string): string => `01900000-0000-7000-8000-0000000000${last}`;

/** Any 8-4-4-4-12 hexadecimal id, whatever its version, in lower case after parsing. */
export const Uuid = z
  .guid()
  .toLowerCase()
  .meta({ example: exampleOf("10") });

const idOf = (last: string, description: string) => Uuid.meta({ description, example: exampleOf(last) });

export const OrganizationId = idOf("01", "The organization, which is the tenant that everything belongs to");
export const UserId = idOf("02", "The user, as the organization's members and a space's members are listed");
export const SpaceId = idOf("10", "The space: what documents, folders, files and agents are in");
export const AgentId = idOf("20", "The agent, which chat completions take as `model`");
export const DocumentId = idOf("30", "The document; it stays the same over all its versions");
export const ChunkId = idOf("31", "The chunk; each version of a document has chunks with ids of their own");
export const FolderId = idOf("40", "The folder");
export const RunId = idOf("50", "The run of the pipeline that processes one version of a document");
export const BatchId = idOf("60", "The batch that started the runs");
export const ApiKeyId = idOf("70", "The API key's id, which stays when it is rolled; not its text");
export const WebhookId = idOf("80", "The webhook");
export const DeliveryId = idOf("81", "The delivery of one event to one webhook");
export const ReplayId = idOf("82", "The replay, for the log: deliveries do not name it");
export const EventId = idOf("90", "The event; a delivery has it as `webhook-id`");
export const EXAMPLE_REQUEST_ID = exampleOf("aa");
