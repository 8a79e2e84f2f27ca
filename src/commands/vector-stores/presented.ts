/** Vector stores, their files and batches as they are answered; ids are still UUIDs. */
import type { BatchRow, StoreFileRow } from "../../db/stores/files.ts";
import type { FileCounts, StoreContents, StoreRow } from "../../db/stores/stores.ts";
import { unixSeconds } from "../user-files/user-file.ts";

const countsOf = ({ in_progress, completed, failed, cancelled, total }: FileCounts) => ({
  in_progress,
  completed,
  failed,
  cancelled,
  total,
});

export function presentStore(store: StoreRow, contents: StoreContents) {
  const busy = contents.in_progress > 0 ? ("in_progress" as const) : ("completed" as const);
  return {
    id: store.id,
    object: "vector_store" as const,
    created_at: unixSeconds(store.created_at),
    name: store.name,
    description: store.description,
    usage_bytes: contents.usage_bytes,
    file_counts: countsOf(contents),
    status: store.is_expired ? ("expired" as const) : busy,
    expires_after:
      store.expires_after_days === null
        ? null
        : { anchor: "last_active_at" as const, days: store.expires_after_days },
    expires_at: store.expires_at === null ? null : unixSeconds(store.expires_at),
    last_active_at: unixSeconds(store.last_active_at),
    metadata: store.metadata,
    space_id: store.space_id,
    folder_id: store.id,
  };
}

/** As a document's metadata has them; what is no single value is not shown. */
export function attributesOf(metadata: Readonly<Record<string, unknown>>) {
  return Object.fromEntries(
    Object.entries(metadata).filter((entry): entry is [string, string | number | boolean] =>
      ["string", "number", "boolean"].includes(typeof entry[1]),
    ),
  );
}

const UNSUPPORTED: ReadonlySet<string> = new Set(["unsupported_file_type"]);
const OF_THE_SERVICE: ReadonlySet<string> = new Set(["internal", "worker_crashed", "rejected_by_provider"]);

/** A code that OpenAI's clients know. */
function publishedCode(code: string) {
  if (UNSUPPORTED.has(code)) return "unsupported_file" as const;
  if (code === "provider_rate_limited") return "rate_limit_exceeded" as const;
  return OF_THE_SERVICE.has(code) ? ("server_error" as const) : ("invalid_file" as const);
}

/** The default chunker's bound, see src/chunkers. */
const AUTO = { max_chunk_size_tokens: 240, chunk_overlap_tokens: 0 };

export function presentStoreFile(storeId: string, file: StoreFileRow) {
  const { error, waiting_for: waiting } = file;
  return {
    id: file.id,
    object: "vector_store.file" as const,
    created_at: unixSeconds(file.created_at),
    vector_store_id: storeId,
    usage_bytes: file.status === "completed" ? file.file_size : 0,
    status: file.status,
    last_error:
      file.status === "failed" && error !== null
        ? { code: publishedCode(error.code), message: error.message }
        : null,
    attributes: attributesOf(file.metadata),
    chunking_strategy: file.came_through
      ? { type: "static" as const, static: file.chunking ?? AUTO }
      : { type: "other" as const },
    filename: file.name,
    document_id: file.document_id,
    waiting_for: waiting?.code ?? null,
    waiting_since: waiting === null ? null : unixSeconds(new Date(waiting.since)),
  };
}

export function presentBatch(batch: BatchRow) {
  return {
    id: batch.id,
    object: "vector_store.files_batch" as const,
    created_at: unixSeconds(batch.created_at),
    vector_store_id: batch.folder_id,
    status: statusOf(batch),
    file_counts: countsOf(batch),
  };
}

function statusOf(batch: BatchRow) {
  if (batch.in_progress > 0) return "in_progress" as const;
  if (batch.cancelled_at !== null) return "cancelled" as const;
  return batch.total > 0 && batch.failed === batch.total ? ("failed" as const) : ("completed" as const);
}
