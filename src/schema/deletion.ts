/** The contract of what a deletion will take along. */
import { z } from "zod";

const count = (what: string, example = 0) => z.int().min(0).meta({ description: what, example });

export const Deletion = z
  .object({
    documents: count("Documents, which no search finds afterwards", 12),
    files: count("Raw files. The files of deleted documents stay, but for a space's"),
    bytes: count("Bytes of the documents' originals", 4_812_331),
    folders: count("Folders, the one that is deleted among them", 3),
    versions: count("Versions of the documents, the published ones among them", 14),
    chunks: count("Chunks of the published versions, which agents cite", 640),
    runs_under_way: count("Runs that are not over; they are cancelled"),
    agents: count("Agents, which nobody can ask afterwards"),
    members: count("Roles in shared spaces that end"),
    api_keys: count("API keys that reach nothing afterwards: narrowed to what is deleted, or a member's"),
    webhooks: count("Webhooks, which deliver nothing more; those of a member are paused"),
    spaces: count("Shared spaces that the member alone owns; they pass to the first admin"),
    turns_under_way: count("Turns of chat that run; they are cancelled"),
  })
  .meta({ id: "Deletion" });
