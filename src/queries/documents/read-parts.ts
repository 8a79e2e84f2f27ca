/** Reads text units or chunks part by part, so that neither a long page nor a slow client costs much. */
import { authorize } from "../../auth/policy.ts";
import { findDocument } from "../../db/documents/read.ts";
import { shownRunNum } from "../../db/documents/text.ts";
import type { PageRequest } from "../../db/page.ts";
import { type Database, readTenant, type Sql } from "../../db/pool.ts";
import { type NoteOpened, openedDocument } from "../../domain/tenancy/opened-content.ts";
import type { Principal } from "../../domain/tenancy/principal.ts";
import { chosenVersions } from "./chosen-versions.ts";

/** Items, which are units or chunks of up to 64 KB each. */
const FIRST_PART = 100;
const LEAST_PART = 10;
const LARGEST_PART = 2_000;
/** Parts grow while they have less than half of these characters, and shrink when they have more. */
const PART_CHARACTERS = 1_048_576;

interface PartsRequest {
  readonly db: Database;
  readonly principal: Principal;
  readonly documentId: string;
  /** Undefined: the published version, or before the first one is published that of the run under way. */
  readonly version?: number | undefined;
  /** Null asks for the whole. */
  readonly page: PageRequest | null;
  readonly opened: NoteOpened;
}

interface Source<Item> {
  readonly count: (sql: Sql, runNum: number) => Promise<number>;
  readonly read: (sql: Sql, runNum: number, from: number, limit: number) => Promise<Item[]>;
}

/** The items that were asked for, by their place in the run, and the first part of them. */
interface Begun<Item> {
  readonly runNum: number;
  readonly from: number;
  readonly until: number;
  readonly first: readonly Item[];
}

/**
 * Reads the first part with the count, and each other part when it is asked for, in a transaction of its own:
 * no connection is held between them.
 * @returns the parts, and the number of items over all pages: of the published version, or before the first
 * one is published of the run under way.
 * @throws DomainError `not_found` if the caller does not reach the document, or for a version that it never
 * had; `version_not_kept`
 * @see test/api/routes/documents/parts.stack.test.ts
 */
export async function readParts<Item extends { readonly text: string }>(
  request: PartsRequest,
  source: Source<Item>,
): Promise<{ parts: AsyncIterable<readonly Item[]>; total: number }> {
  const { db, principal, documentId, version, page, opened } = request;
  const { document, total, begun } = await readTenant(db, principal.organization, async (sql) => {
    const document = await findDocument(sql, principal, documentId);
    authorize(principal, "documents:read", document);
    const runNum =
      version === undefined
        ? await shownRunNum(sql, documentId)
        : (await chosenVersions(sql, documentId, version))[0]!.run_num;
    if (runNum === null) return { document, total: 0, begun: undefined };
    return { document, ...(await begin(sql, runNum, page, source)) };
  });
  opened(openedDocument(document));
  return { parts: partsOf(request, source, begun), total };
}

async function begin<Item>(
  sql: Sql,
  runNum: number,
  page: PageRequest | null,
  source: Source<Item>,
): Promise<{ total: number; begun: Begun<Item> }> {
  const total = await source.count(sql, runNum);
  const from = page === null ? 0 : (page.page - 1) * page.limit;
  const until = Math.min(total, page === null ? total : from + page.limit);
  const limit = Math.min(FIRST_PART, until - from);
  const first = limit > 0 ? await source.read(sql, runNum, from, limit) : [];
  return { total, begun: { runNum, from, until, first } };
}

async function* partsOf<Item extends { readonly text: string }>(
  { db, principal }: PartsRequest,
  source: Source<Item>,
  begun: Begun<Item> | undefined,
): AsyncGenerator<readonly Item[]> {
  if (begun === undefined) return;
  const { runNum, until } = begun;
  let part = begun.first;
  let next = begun.from;
  let size = FIRST_PART;
  while (next < until) {
    // The run was purged meanwhile. It fails, so that a part is never taken for the whole.
    if (part.length === 0)
      throw new Error(`what run number ${runNum} is made of ended at ${next} of ${until}`);
    yield part;
    next += part.length;
    size = nextSize(part, size);
    const from = next;
    const limit = Math.min(size, until - from);
    if (limit > 0)
      part = await readTenant(db, principal.organization, (sql) => source.read(sql, runNum, from, limit));
  }
}

function nextSize(part: readonly { readonly text: string }[], size: number): number {
  const characters = part.reduce((sum, { text }) => sum + text.length, 0);
  return characters < PART_CHARACTERS / 2
    ? Math.min(LARGEST_PART, size * 2)
    : Math.max(LEAST_PART, Math.floor(size / 2));
}
