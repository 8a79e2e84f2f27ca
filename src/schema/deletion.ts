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
    members: count("Members, who lose their role in the space"),
    api_keys: count("API keys that are narrowed to it, and reach nothing afterwards"),
    webhooks: count("Webhooks, which deliver nothing more"),
  })
  .meta({ id: "Deletion" });
