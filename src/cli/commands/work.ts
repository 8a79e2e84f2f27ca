/** `holdfast operations list | show`: prints what is under way, since when, and what it waits for. */
import type { Command } from "commander";
import {
  findWork,
  listWaitingDocuments,
  listWork,
  waitsFor,
  type WorkRow,
} from "../../db/instance/work-list.ts";
import { isUuid } from "../../domain/ids.ts";
import { withDatabase } from "../connect.ts";
import { CommandError, counted, printJson, printLine, printTable, wholeNumber } from "../output.ts";

interface ListOptions {
  readonly all?: boolean;
  readonly page: string;
  readonly limit: string;
  readonly json?: boolean;
}

const MOST_A_PAGE = 1_000;
const MOST_PAGES = 1_000_000;
const GROUPS_SHOWN = 100;

export function addOperationsCommand(program: Command): void {
  const operations = program
    .command("operations")
    .description("work in progress: rotations, transfers, deletions, batches, documents");
  operations
    .command("list")
    .description("list unfinished work, newest first, and documents by what they wait for")
    .option("--all", "include finished work")
    .option("--page <number>", "from 1", "1")
    .option("--limit <count>", "rows a page", "50")
    .option("--json", "print JSON")
    .action(list);
  operations
    .command("show")
    .description("show one operation with its report")
    .argument("<id>", "as shown by list")
    .option("--json", "print JSON")
    .action(show);
}

async function list({ all = false, page, limit, json }: ListOptions): Promise<void> {
  const request = {
    includesEnded: all,
    page: wholeNumber("--page", page, MOST_PAGES),
    limit: wholeNumber("--limit", limit, MOST_A_PAGE),
  };
  const { work, documents } = await withDatabase(async ({ db }) => ({
    work: await listWork(db, request),
    documents: await listWaitingDocuments(db, GROUPS_SHOWN),
  }));
  if (json) return printJson({ total: work.total, items: work.items.map(shown), documents });
  if (work.total === 0 && documents.length === 0) return printLine("nothing is in progress");
  printTable(
    ["ID", "KIND", "ORGANIZATION", "STATE", "SINCE", "WAITS FOR"],
    [
      ...work.items.map((row) => [
        row.id,
        row.kind,
        row.organization ?? row.organization_id ?? "all",
        row.state,
        row.since.toISOString(),
        waitsFor(row) ?? "",
      ]),
      ...documents.map(({ organization, state, runs, since }) => [
        "",
        counted(runs, "document"),
        organization,
        state,
        since.toISOString(),
        isWait(state) ? state : "",
      ]),
    ],
  );
  if (request.page * request.limit < work.total)
    printLine(`${work.total} in total; see --page ${request.page + 1} for more`);
}

async function show(id: string, { json }: { json?: boolean }): Promise<void> {
  if (!isUuid(id))
    throw new CommandError("An operation id is a UUID; `holdfast operations list --all` shows it.");
  const row = await withDatabase(({ db }) => findWork(db, id));
  if (row === undefined)
    throw new CommandError(
      `There is no operation, deletion or batch with the id ${id}; finished deletions and batches ` +
        "are kept only for a short time.",
    );
  if (json) return printJson(shown(row));
  const { report, ...fields } = shown(row);
  for (const [name, value] of Object.entries(fields))
    if (value !== null)
      printLine(
        `${name.padEnd("organization_id".length)}  ${value instanceof Date ? value.toISOString() : value}`,
      );
  if (Object.keys(report).length > 0) printJson({ report });
}

function shown(row: WorkRow): WorkRow & { readonly waiting_for: string | null } {
  return { ...row, waiting_for: waitsFor(row) };
}

function isWait(state: string): boolean {
  return state !== "held" && state !== "at work";
}
