/** Signs receipts of what a stack has stored, as its chat does, for tests that need no answer of a model. */
import type { IssuedReceipt } from "../../../src/domain/receipts/statement.ts";
import { newId } from "../../../src/domain/ids.ts";
import { createReceiptSigner } from "../../../src/receipts/signer.ts";
import { call } from "../clients/client.ts";
import type { SharedStack } from "../stack/shared-stack.ts";
import { keyringOf } from "../tenants/webhooks.ts";

type Stored = Pick<SharedStack, "url" | "database" | "env">;

interface Cited {
  readonly organizationId: string;
  /** Of somebody who reads the document. */
  readonly key: string;
  readonly documentId: string;
  readonly quote: string;
}

/** A citation of the first chunk that has the words. */
export async function citationOf(
  { url, database, env }: Stored,
  { organizationId, key, documentId, quote }: Cited,
): Promise<IssuedReceipt & { readonly quote: string }> {
  const { body: document } = await call(url, key, "GET", `/data/${documentId}`);
  const { body: chunks } = await call(url, key, "GET", `/data/${documentId}/chunks?limit=1000`);
  const chunk = chunks.items.find(({ text }: { text: string }) => text.includes(quote));
  if (chunk === undefined) throw new Error(`no chunk of document ${documentId} has ${quote}`);
  const quoteStart = chunk.text.indexOf(quote);
  const masterKey = Buffer.from(env["MASTER_KEY"]!, "base64");
  const signer = createReceiptSigner({
    db: database.db,
    keyring: keyringOf(database.db, masterKey),
  });
  const [issued] = await signer.issue(organizationId, [
    {
      spaceId: document.space_id,
      documentId,
      documentVersion: document.version,
      chunkId: chunk.id,
      chunkIndex: chunk.chunk_index,
      chunkText: chunk.text,
      quote,
      quoteStart,
      quoteEnd: quoteStart + quote.length,
      locations: [],
      sentence: "An answer.",
      turnId: newId(),
    },
  ]);
  return { ...issued!, quote };
}
