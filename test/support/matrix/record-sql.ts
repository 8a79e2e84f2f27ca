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
const QUERY_FUNCTION =
  /at (?:async )?(?:\w+\.)?(\w+)(?: \[as \w+\])? \(.*\/src\/db\/((?:[\w-]+\/)*[\w-]+)\.ts/;
const NEW_TENANT = /set_config\('app\.organization_id', '([^']+)'/;
const STACK_FRAMES = 40;

const requests = new AsyncLocalStorage<string>();
const tenants = new WeakMap<object, string>();

function functionsOnStack(): string[] {
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = STACK_FRAMES;
  const lines = (new Error("where").stack ?? "").split("\n");
  Error.stackTraceLimit = limit;
  return lines.flatMap((line) => {
    const [, name, file] = QUERY_FUNCTION.exec(line) ?? [];
    return name === undefined || file === "pool" ? [] : [`${file}.${name}`];
  });
}

function note(record: SqlRecord): void {
  appendFileSync(join(folder ?? "", `${process.pid}.ndjson`), `${JSON.stringify(record)}\n`);
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
