/** Reads anchors of the audit log from a file, folder or store, one at a time; compares the chains. */
import { readFile, readdir, stat } from "node:fs/promises";
import { basename, join, relative } from "node:path";
import { openAnchor } from "../auth/audit-anchor.ts";
import { type ComparedHead, HEADS_A_READ, type HeadState, compareHeads } from "../db/audit/anchors.ts";
import type { Database } from "../db/pool.ts";
import { ANCHOR_NAME, ANCHOR_PREFIX, type AnchorStatement, type ChainHead } from "../domain/anchor.ts";
import { KEPT_AUDIT_DAYS } from "../domain/work/maintenance-rounds.ts";
import { AnchorStatementForm } from "../schema/files/anchor.ts";
import type { ObjectStore } from "../storage/object-store.ts";
import { CommandError } from "./output.ts";

/** Read the anchors from the object store instead of a path. */
export const IN_STORE = "store";
const ANCHORS_A_PAGE = 1_000;
/** The most bytes of an anchor; one of 100,000 organizations has about 18 MB. */
const MAX_ANCHOR_BYTES = 128 * 1024 * 1024;
/** How many differing heads of an anchor are named; all are counted. */
const MAX_NAMED = 1_000;
const DAY_MS = 24 * 60 * 60_000;
/**
 * A row may be chained this many days after it was written, and is deleted by its age while its anchor is
 * still younger.
 */
const LATE_DAYS = 7;

type FaultKind = Extract<HeadState, "cut" | "missing" | "changed"> | "removed";

export interface AnchorReport {
  readonly anchor: string;
  /** Null if the anchor itself cannot be trusted. */
  readonly made_at: string | null;
  /** What is wrong with the anchor itself. `forged`: it was changed, or signed with another key. */
  readonly problem: "forged" | "unreadable" | "too_large" | null;
  /** How many heads the chains still have. */
  readonly intact: number;
  /** How many heads have no row left to compare, because it was deleted by its age. */
  readonly expired: number;
  /** How many organizations were deleted since; their missing chains are no fault. */
  readonly deleted_count: number;
  readonly deleted: readonly string[];
  readonly fault_count: number;
  readonly faults: readonly {
    readonly organization_id: string;
    readonly seq: number;
    readonly kind: FaultKind;
  }[];
}

export interface AnchorCheck {
  readonly db: Database;
  /** The instance's anchor key, 32 bytes. */
  readonly secret: Uint8Array;
  readonly store: ObjectStore;
  readonly organizationId: string | undefined;
}

/** Opens and compares one anchor after the other. @throws CommandError if there is none */
export async function* checkAnchors(check: AnchorCheck, where: string): AsyncGenerator<AnchorReport> {
  let count = 0;
  for await (const { name, text } of where === IN_STORE ? storedAnchors(check.store) : anchorFiles(where)) {
    count += 1;
    yield await checkAnchor(check, name, text);
  }
  if (count === 0) throw new CommandError(`No anchor found in ${where}.`);
}

interface FoundAnchor {
  readonly name: string;
  /** Null if it is too large. */
  readonly text: string | null;
}

async function* storedAnchors(store: ObjectStore): AsyncGenerator<FoundAnchor> {
  for (let after = ""; ;) {
    const page = await store.list(ANCHOR_PREFIX, {
      limit: ANCHORS_A_PAGE,
      ...(after === "" ? {} : { after }),
    });
    for (const { name } of page.filter((object) => ANCHOR_NAME.test(object.name))) {
      const isTooLarge = (await store.size(name)) > MAX_ANCHOR_BYTES;
      yield { name, text: isTooLarge ? null : await readAll(await store.get(name)) };
    }
    after = page.at(-1)?.name ?? "";
    if (page.length < ANCHORS_A_PAGE) return;
  }
}

async function readAll(stream: AsyncIterable<Uint8Array>): Promise<string> {
  const pieces: Uint8Array[] = [];
  for await (const piece of stream) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}

/** The file itself, or all files below a folder that end in `.jws`. */
async function* anchorFiles(path: string): AsyncGenerator<FoundAnchor> {
  const found = await stat(path).catch(() => undefined);
  if (found === undefined) throw new CommandError(`${path} does not exist.`);
  if (!found.isDirectory() && !found.isFile())
    throw new CommandError(`${path} is neither a file nor a folder.`);
  const entries = found.isDirectory() ? await readdir(path, { recursive: true, withFileTypes: true }) : [];
  const inside = entries
    .filter((entry) => entry.isFile() && entry.name.endsWith(".jws"))
    .map((entry) => relative(path, join(entry.parentPath, entry.name)));
  const names = found.isDirectory() ? inside.toSorted() : [""];
  for (const name of names) {
    const file = join(path, name);
    const { size } = await stat(file);
    yield {
      name: name === "" ? basename(path) : name,
      text: size > MAX_ANCHOR_BYTES ? null : await readFile(file, "utf8"),
    };
  }
}

async function checkAnchor(check: AnchorCheck, anchor: string, text: string | null): Promise<AnchorReport> {
  const unusable = (problem: AnchorReport["problem"]): AnchorReport => ({
    anchor,
    made_at: null,
    problem,
    intact: 0,
    expired: 0,
    deleted_count: 0,
    deleted: [],
    fault_count: 0,
    faults: [],
  });
  if (text === null) return unusable("too_large");
  const signed = await openAnchor(check.secret, text.trim());
  if (signed === null) return unusable("forged");
  const statement = parseStatement(signed);
  if (statement === null) return unusable("unreadable");
  return { anchor, made_at: statement.made_at, problem: null, ...(await compareStatement(check, statement)) };
}

/** Null if this version does not know the statement. */
function parseStatement(signed: Uint8Array): AnchorStatement | null {
  try {
    return AnchorStatementForm.parse(JSON.parse(Buffer.from(signed).toString()));
  } catch {
    return null;
  }
}

async function compareStatement(
  { db, organizationId }: AnchorCheck,
  { made_at: madeAt, heads }: AnchorStatement,
): Promise<Omit<AnchorReport, "anchor" | "made_at" | "problem">> {
  const wanted =
    organizationId === undefined
      ? heads
      : heads.filter((head) => head.organization_id === organizationId.toLowerCase());
  const deleted: string[] = [];
  const faults: { organization_id: string; seq: number; kind: FaultKind }[] = [];
  let intact = 0;
  let expired = 0;
  let deletedCount = 0;
  let faultCount = 0;
  const take = (head: ChainHead, compared: ComparedHead): void => {
    const { organization_id, seq } = head;
    const state = wereRemovedEarly(head, compared, madeAt) ? "removed" : compared.state;
    if (state === "intact") intact += 1;
    else if (state === "expired") expired += 1;
    else if (state === "deleted") {
      deletedCount += 1;
      pushBounded(deleted, organization_id);
    } else {
      faultCount += 1;
      pushBounded(faults, { organization_id, seq, kind: state });
    }
  };
  for (let from = 0; from < wanted.length; from += HEADS_A_READ) {
    const part = wanted.slice(from, from + HEADS_A_READ);
    const compared = await compareHeads(db, part);
    part.forEach((head, at) => take(head, compared[at]!));
  }
  return { intact, expired, deleted_count: deletedCount, deleted, fault_count: faultCount, faults };
}

/** True if unexpired rows are missing from the chain's front: the anchor's oldest or last, or a later one. */
function wereRemovedEarly(
  { seq, at, base_seq: baseThen, oldest_at: oldestAt }: ChainHead,
  { state, base_seq: base }: ComparedHead,
  madeAt: string,
): boolean {
  if (state === "deleted") return false;
  return (
    (base > baseThen && isKept(oldestAt)) || (base >= seq && isKept(at)) || (base > seq && isKept(madeAt))
  );
}

/** True if a row of that time or later must not have been deleted yet. */
function isKept(time: string | null): boolean {
  return time !== null && Date.now() - Date.parse(time) < (KEPT_AUDIT_DAYS - LATE_DAYS) * DAY_MS;
}

function pushBounded<T>(list: T[], item: T): void {
  if (list.length < MAX_NAMED) list.push(item);
}
