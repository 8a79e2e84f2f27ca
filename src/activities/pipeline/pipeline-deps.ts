/** What the pipeline's activities need of the process that runs them. */
import type { Database } from "../../db/pool.ts";
import type { Log } from "../../process/log.ts";
import type { MergingEmbeddingModel } from "../../models/embedding/merge.ts";
import type { ParserPool } from "../../parsers/process/child-process.ts";
import type { DiskSpace } from "../../storage/disk-space.ts";
import type { Storage } from "../../storage/storage.ts";
import type { Chunking } from "./chunking.ts";
import type { FairGate } from "./concurrency.ts";

export interface PipelineDeps {
  readonly db: Database;
  readonly log: Log;
  readonly storage: Storage;
  readonly disk: Pick<DiskSpace, "assertRoom">;
  readonly embedding: MergingEmbeddingModel;
  readonly parserPool: ParserPool;
  readonly chunking: Chunking;
  /** Where transactions that write chunks take turns, so that others, of everybody, find a connection. */
  readonly writes: FairGate;
  /** A folder of this process for files that a parser child reads; what is in it dies with the member. */
  readonly temporaryFolder: string;
  /** 32 bytes that key the organization's embedding cache: nobody can tell from an entry what text it stands for. */
  contentSecret(organizationId: string): Promise<Buffer>;
  /** Called when a claim may have closed, so that what gathered meanwhile is claimed. */
  wakeDispatcher(organization: { id: string; num: number }): void;
  /** Called when a deletion is complete, so that the organization's next one has its turn. */
  wakeDeletions(organizationId: string): void;
  /** Called when a batch is complete, for the same reason. */
  wakeBatches(organizationId: string): void;
  /** Called when a batch has released runs. */
  wakeBatchRuns(organization: { id: string; num: number }): void;
}
