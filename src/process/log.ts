/** Makes the logger: one JSON object a line on standard output, with secrets redacted. */
import { pino } from "pino";
import { errorFields } from "./error-fields.ts";
import { lineSink } from "./log-sink.ts";

export type Log = pino.Logger;

interface LogSettings {
  readonly level: pino.LevelWithSilent;
  /** The process that logs: `api`, `worker`, … */
  readonly name: string;
  /** Default: standard output. */
  readonly destination?: { write(line: string): void };
}

const SECRET_FIELDS = [
  "authorization",
  "cookie",
  "set-cookie",
  "password",
  "secret",
  "token",
  "api_key",
  "apiKey",
  "key",
  "access_token",
  "id_token",
  "master_key",
  "masterKey",
  "pepper",
];
const STDOUT = 1;
const REDACTED = "[redacted]";

/** Secrets inside a longer text, such as a message, a stack or a URL. Applied to the finished line. */
const SECRETS_IN_TEXT: readonly (readonly [RegExp, string])[] = [
  [/(?<![A-Za-z0-9])sk-(?:\\.|[^\s"\\]){8,}/g, `sk-${REDACTED}`],
  [/\b(Bearer|Basic)\s+(?:\\.|[^\s"\\]){8,}/gi, `$1 ${REDACTED}`],
  [/\beyJ[\w-]{5,}\.[\w-]+\.[\w-]*/g, REDACTED],
  [/(\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s:@/"]*:)[^\s@/"]+@/gi, `$1${REDACTED}@`],
];

/**
 * Makes a logger that redacts secrets by the names of their fields, and in all other text by their form.
 * @example createLog({ level: "info", name: "api" }).info({ port: 8080 }, "api is up")
 */
export function createLog({ level, name, destination }: LogSettings): Log {
  const paths = SECRET_FIELDS.flatMap((field) => {
    const part = /^\w+$/.test(field) ? `.${field}` : `["${field}"]`;
    return [part.replace(/^\./, ""), `*${part}`, `*.headers${part}`, `*.*${part}`];
  });
  const options: pino.LoggerOptions = {
    level,
    base: { name, pid: process.pid },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }), log: withoutErrors },
    redact: { paths, censor: REDACTED },
    serializers: { err: errorFields },
    hooks: { streamWrite: redactText, logMethod },
  };
  return pino(options, destination ?? lineSink(STDOUT));
}

/** Pino takes the message of an error for the line's own if it gets none. */
function logMethod(this: pino.Logger, args: Parameters<pino.LogFn>, method: pino.LogFn): void {
  const [first, text, ...values] = args as [unknown, string | undefined, ...unknown[]];
  if (typeof first === "string") method.apply(this, args);
  else method.call(this, first instanceof Error ? { err: first } : first, text ?? "", ...values);
}

/** Errors under another name than `err`, of which pino would copy every field of their own. */
function withoutErrors(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name,
      name !== "err" && value instanceof Error ? errorFields(value) : value,
    ]),
  );
}

/** Replaces everything in the text that has the form of a secret. */
export function redactText(line: string): string {
  return SECRETS_IN_TEXT.reduce((text, [pattern, replacement]) => text.replace(pattern, replacement), line);
}
