/** The only logger and its redaction list: one JSON object a line on standard output, no secret in any of them. */
import { pino } from "pino";
import { describeOutage } from "../domain/expected-failure.ts";
import { lineSink } from "./log-sink.ts";

export type Log = pino.Logger;

interface LogSettings {
  readonly level: pino.LevelWithSilent;
  /** The process: `api`, `worker`, … */
  readonly name: string;
  /** Where lines go; standard output where absent. */
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

/** Secrets that stand inside a longer text: a message, a stack, a URL. Applied to the finished line. */
const SECRETS_IN_TEXT: readonly (readonly [RegExp, string])[] = [
  [/(?<![A-Za-z0-9])sk-(?:\\.|[^\s"\\]){8,}/g, `sk-${REDACTED}`],
  [/\b(Bearer|Basic)\s+(?:\\.|[^\s"\\]){8,}/gi, `$1 ${REDACTED}`],
  [/\beyJ[\w-]{5,}\.[\w-]+\.[\w-]*/g, REDACTED],
  [/(\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s:@/"]*:)[^\s@/"]+@/gi, `$1${REDACTED}@`],
];

/** A logger that takes secrets out by the names of their fields, and by their looks wherever else they stand. */
export function createLog({ level, name, destination }: LogSettings): Log {
  const paths = SECRET_FIELDS.flatMap((field) => {
    const part = /^\w+$/.test(field) ? `.${field}` : `["${field}"]`;
    return [part.replace(/^\./, ""), `*${part}`, `*.headers${part}`, `*.*${part}`];
  });
  const options: pino.LoggerOptions = {
    level,
    base: { name, pid: process.pid },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    redact: { paths, censor: REDACTED },
    serializers: { err: errorFields },
    hooks: { streamWrite: redactText },
  };
  return pino(options, destination ?? lineSink(STDOUT));
}

/** An outage is a sentence; anything else keeps its stack. */
function errorFields(error: unknown): unknown {
  const message = describeOutage(error);
  if (message === undefined || !(error instanceof Error)) return pino.stdSerializers.err(error as Error);
  return { type: error.name, message, ...("code" in error ? { code: error.code } : {}) };
}

/** The text without what looks like a secret. */
export function redactText(line: string): string {
  return SECRETS_IN_TEXT.reduce((text, [pattern, replacement]) => text.replace(pattern, replacement), line);
}
