/**
 * Is loaded into a process of a stack before its own code: it records each statement, its organization, and
 * the query function that sent it.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { appendFileSync } from "node:fs";
import { type IncomingMessage, Server } from "node:http";
import { join } from "node:path";
import pg from "pg";
import { type SqlRecord, pack } from "./sql-records.ts";

const folder = process.env["SQL_RECORD_FOLDER"];
const QUERY_FILE = /\/src\/db\/((?:[\w-]+\/)*[\w-]+)\.ts$/;
const NEW_TENANT = /set_config\('app\.organization_id', '([^']+)'/;
const STACK_FRAMES = 40;

const requests = new AsyncLocalStorage<string>();
const tenants = new WeakMap<object, string>();

/** By call sites: the lines of an `Error.stack` would cost more than the statement. */
function functionsOnStack(): string[] {
  const { stackTraceLimit, prepareStackTrace } = Error;
  Error.stackTraceLimit = STACK_FRAMES;
  Error.prepareStackTrace = (_error, sites) => sites;
  const sites = new Error("where").stack as unknown as NodeJS.CallSite[];
  Object.assign(Error, { stackTraceLimit, prepareStackTrace });
  return sites.flatMap((site) => {
    const [, file] = QUERY_FILE.exec(site.getFileName() ?? "") ?? [];
    const name = site.getFunctionName();
    return file === undefined || name === null || file === "pool" ? [] : [`${file}.${name}`];
  });
}

let unwritten: string[] = [];

/** Written together with what else is noted in this turn of the event loop. */
function note(record: SqlRecord): void {
  if (unwritten.length === 0)
    setImmediate(() => {
      appendFileSync(join(folder ?? "", `${process.pid}.ndjson`), unwritten.join(""));
      unwritten = [];
    });
  unwritten.push(`${JSON.stringify(record)}\n`);
}

type Query = (this: object, query: unknown, values?: unknown, callback?: unknown) => unknown;

function recording(original: Query): Query {
  return function query(given, values, callback) {
    const { text, values: own } =
      typeof given === "string"
        ? { text: given, values: undefined }
        : (given as { text?: string; values?: unknown });
    const result = original.call(this, given, values, callback);
    if (typeof text !== "string") return result;
    const tenant = NEW_TENANT.exec(text)?.[1];
    if (tenant !== undefined) tenants.set(this, tenant);
    const record = {
      request: requests.getStore() ?? null,
      functions: functionsOnStack(),
      organization: tenant === undefined ? (tenants.get(this) ?? null) : null,
      text,
      values: pack(own ?? (Array.isArray(values) ? values : [])) as unknown[],
    };
    if (/^(commit|rollback)$/i.test(text)) tenants.delete(this);
    if (result instanceof Promise) {
      void result.then(
        (answer: pg.QueryResult) => note({ ...record, rows: answer.rowCount ?? 0 }),
        () => note({ ...record, rows: 0 }),
      );
    } else note({ ...record, rows: 0 });
    return result;
  };
}

if (folder !== undefined) {
  pg.Client.prototype.query = recording(pg.Client.prototype.query as unknown as Query) as never;
  const emit = Server.prototype.emit as (this: Server, event: string, ...given: unknown[]) => boolean;
  Server.prototype.emit = function emitWithRequest(
    this: Server,
    event: string,
    ...given: unknown[]
  ): boolean {
    const id = event === "request" ? (given[0] as IncomingMessage).headers["x-request-id"] : undefined;
    return typeof id === "string"
      ? requests.run(id, () => emit.call(this, event, ...given))
      : emit.call(this, event, ...given);
  } as typeof Server.prototype.emit;
}
