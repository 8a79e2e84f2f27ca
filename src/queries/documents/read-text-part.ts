/** Reads a bounded part of a document's text, from a unit on. */
import { authorize } from "../../auth/policy.ts";
import { type DocumentRow, findDocument } from "../../db/documents/read.ts";
import { type IndexedUnit, readUnits, shownRunNum } from "../../db/documents/text.ts";
import { type Database, readTenant } from "../../db/pool.ts";
import { type NoteOpened, openedDocument } from "../../domain/tenancy/opened-content.ts";
import type { Principal } from "../../domain/tenancy/principal.ts";
import { unitsAsMarkdown } from "../../domain/text-unit.ts";

/** Units are up to 64 KB each. */
const UNITS_A_READ = 50;

interface PartRequest {
  readonly documentId: string;
  /** The unit to begin with. */
  readonly from: number;
  readonly maxCharacters: number;
  readonly opened: NoteOpened;
}

interface TextPart {
  readonly document: DocumentRow;
  /** Markdown; empty if there is none yet. */
  readonly text: string;
  /** The unit after the part; null at the end. */
  readonly next: number | null;
}

/**
 * Reads units until `maxCharacters` are reached, at least one: the published version or, before the first,
 * the run under way.
 * @throws DomainError `document_not_found`
 */
export async function readTextPart(
  db: Database,
  principal: Principal,
  { documentId, from, maxCharacters, opened }: PartRequest,
): Promise<TextPart> {
  const part = await readTenant(
    db,
    principal.organization,
    async (sql): Promise<TextPart> => {
      const document = await findDocument(sql, principal, documentId);
      authorize(principal, "documents:read", document);
      const runNum = await shownRunNum(sql, documentId);
      const taken: IndexedUnit[] = [];
      let characters = 0;
      for (;;) {
        const units = runNum === null ? [] : await readUnits(sql, runNum, from + taken.length, UNITS_A_READ);
        for (const unit of units) {
          if (taken.length > 0 && characters + unit.text.length > maxCharacters)
            return { document, text: unitsAsMarkdown(taken), next: from + taken.length };
          taken.push(unit);
          characters += unit.text.length;
        }
        if (units.length < UNITS_A_READ) return { document, text: unitsAsMarkdown(taken), next: null };
      }
    },
    "isolation level repeatable read",
  );
  opened(openedDocument(part.document));
  return part;
}
