/** Checks that a document is stored completely: its chunks, their vectors and their postings, each once. */
import { expect } from "vitest";
import type { Stack } from "../stack/stack.ts";

type Stored = { readonly database: Pick<Stack["database"], "db"> };

/** Counts the document's stored chunks and its live search entries. */
async function entriesOf({ database }: Stored, documentId: string): Promise<Record<string, number>> {
  const { rows } = await database.db.owner.query(
    `select
       (select count(*)::int
        from chunks chunk
        where chunk.run_num = document.published_run_num) as chunks,
       (select count(*)::int
        from embeddings embedding
        where embedding.run_num = document.published_run_num) as embeddings,
       (select sum(indexed.chunk_count)::int
        from posting_runs indexed
        where indexed.run_num = document.published_run_num) as indexed,
       (select count(*)::int
        from embeddings embedding
        join pipeline_runs run on run.num = embedding.run_num
        where run.document_id = document.id) as all_embeddings
     from documents document
     where document.id = $1`,
    [documentId],
  );
  return rows[0];
}

type Document = { readonly id: string; readonly processing_state: { readonly chunk_count: number } };

export async function expectWhole(stack: Stored, document: Document): Promise<void> {
  const count = document.processing_state.chunk_count;
  expect(await entriesOf(stack, document.id)).toEqual({
    chunks: count,
    embeddings: count,
    indexed: count,
    all_embeddings: count,
  });
}

/** Makes a Markdown text of many parts that no other document contains. */
export function longText(name: string, parts: number): string {
  const part = (index: number): string =>
    `## Part ${index} of ${name}\n\nThe ${name} says in part ${index} that ` +
    `${"every word counts here ".repeat(20)}`;
  return Array.from({ length: parts }, (_, index) => part(index)).join("\n\n");
}
