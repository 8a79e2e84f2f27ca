/** The form of an audit anchor's statement, as it is read back from where it was published. */
import { z } from "zod";
import type { AnchorStatement } from "../../domain/anchor.ts";

const ChainHead = z.object({
  organization_id: z.guid().toLowerCase(),
  seq: z.int().min(1),
  hash: z.string().regex(/^[0-9a-f]{64}$/),
  at: z.iso.datetime().nullable(),
  base_seq: z.int().min(0),
  oldest_at: z.iso.datetime().nullable(),
});

export const AnchorStatementForm: z.ZodType<AnchorStatement> = z.object({
  type: z.literal("holdfast-audit-anchor"),
  version: z.literal(1),
  made_at: z.iso.datetime(),
  heads: z.array(ChainHead),
});
