/** What the activities of the pipeline need from their process. */
import type { Database } from "../../db/pool.ts";
import type { Log } from "../../process/log.ts";
import type { MergingEmbeddingModel } from "../../models/embedding/merge.ts";
import type { TemporaryFolder } from "../../process/temporary-folder.ts";
import type { ParserPool } from "../../parsers/process/child-process.ts";
import type { DiskSpace } from "../../storage/disk-space.ts";
import type { Storage } from "../../storage/storage.ts";
import type { Chunking } from "./chunking.ts";
import type { FairGate } from "../../process/concurrency/fair-gate.ts";

export interface PipelineDeps {
  readonly db: Database;
  readonly log: Log;
  readonly storage: Storage;
  readonly disk: Pick<DiskSpace, "assertRoom">;
  readonly embedding: MergingEmbeddingModel;
  readonly parserPool: ParserPool;
  readonly chunking: Chunking;
  /** Limits concurrent transactions that write chunks, so that everybody else still finds a connection. */
  readonly writes: FairGate;
  /** For files that parser processes read. A file is removed when its member ends. */
  readonly temporary: TemporaryFolder;
  /** The 32-byte key of `contentHash` (content-hash.ts) for the organization. */
  contentSecret(organizationId: string): Promise<Buffer>;
  /** Called when a claim may have closed, so that runs that were queued meanwhile are claimed. */
  wakeDispatcher(organization: { id: string; num: number }): void;
  /** Called when a deletion is complete, so that the organization's next one starts. */
  wakeDeletions(organizationId: string): void;
  /** Called when a batch is complete, so that the organization's next one starts. */
  wakeBatches(organizationId: string): void;
  /** Called when a batch has released runs. */
  wakeBatchRuns(organization: { id: string; num: number }): void;
}
