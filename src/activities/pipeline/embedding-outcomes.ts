/** Stores the outcomes of embedding: vectors in the cache by content, refusals with the chunks. */
import { type ChunkToEmbed, keepEmbeddings } from "../../db/runs/chunks.ts";
import { markRefused } from "../../db/runs/refused-chunks.ts";
import type { Sql } from "../../db/pool.ts";
import { DomainError } from "../../domain/errors.ts";

/** A text with its header, and the chunks of a run that have both. */
export interface TextToEmbed {
  readonly hash: Buffer;
  readonly header: string | null;
  readonly text: string;
  readonly chunks: ReadonlyArray<{ readonly runNum: number; readonly chunkIndex: number }>;
}

export interface EmbeddedText extends TextToEmbed {
  /** Null if the provider refuses the text. */
  readonly vector: Float32Array | null;
}

export function distinctTexts(chunks: readonly ChunkToEmbed[]): TextToEmbed[] {
  return [...Map.groupBy(chunks, (chunk) => chunk.content_hash.toString("hex")).values()].map((alike) => ({
    hash: alike[0]!.content_hash,
    header: alike[0]!.header,
    text: alike[0]!.text,
    chunks: alike.map((chunk) => ({ runNum: chunk.run_num, chunkIndex: chunk.chunk_index })),
  }));
}

export async function keepOutcomes(
  sql: Sql,
  organizationId: string,
  modelNum: number,
  texts: readonly EmbeddedText[],
): Promise<void> {
  const embedded = texts.flatMap(({ hash, vector }) => (vector === null ? [] : [{ hash, vector }]));
  const refused = texts.flatMap(({ chunks, vector }) => (vector === null ? chunks : []));
  if (embedded.length > 0) await keepEmbeddings(sql, organizationId, modelNum, embedded);
  if (refused.length > 0) await markRefused(sql, modelNum, refused);
}

/** A hopeless error: a document without any vector is not published. */
export function everyTextRefused(): DomainError {
  return new DomainError("rejected_by_provider", "The model provider rejects every text of the document.");
}
