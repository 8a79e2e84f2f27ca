/**
 * The only place that takes what Temporal's SDK and its core say into the log of this process: a line each,
 * and no task's payloads.
 */
import { DefaultLogger, type LogEntry } from "@temporalio/worker";
import type { Log } from "../process/log.ts";

const UNKNOWN_ACTIVITY = /Activity function (\S+) is not registered on this Worker/;
const UNKNOWN_WORKFLOW = /Failed to initialize workflow of type '([^']+)': no such function/;
/** Of the core: a queue that this process serves for one of the two on purpose. */
const ON_PURPOSE = /^No (?:activities|workflows) registered, not polling/;
/** Temporal offers an unknown type again and again, and each that waits. */
const REPEAT_MS = 60_000;
/** Types are named by whoever starts workflows. */
const MOST_TYPES = 1_000;

type Level = "trace" | "debug" | "info" | "warn" | "error";

/** @param level of what is taken; the log has a level of its own besides. */
export function sdkLogger(log: Log, level: "WARN" | "ERROR"): DefaultLogger {
  const lastSaid = new Map<string, number>();
  return new DefaultLogger(level, ({ level: severity, message, meta }: LogEntry) => {
    const { error, task: _task, taskEncoded: _encoded, ...fields } = meta ?? {};
    const text = `${message} ${errorText(error)} ${JSON.stringify(fields["failure"] ?? "")}`;
    const unknown = UNKNOWN_ACTIVITY.exec(text)?.[1] ?? UNKNOWN_WORKFLOW.exec(text)?.[1];
    if (unknown !== undefined) return sayUnknown(log, lastSaid, unknown);
    if (ON_PURPOSE.test(message)) return log.debug(fields, message);
    log[severity.toLowerCase() as Level](error === undefined ? fields : { ...fields, err: error }, message);
  });
}

/** An error of the workflow sandbox is of another realm: no `Error` of this one. */
function errorText(error: unknown): string {
  return typeof error === "object" && error !== null && "message" in error ? String(error.message) : "";
}

function sayUnknown(log: Log, lastSaid: Map<string, number>, type: string): void {
  const now = Date.now();
  if (now - (lastSaid.get(type) ?? 0) < REPEAT_MS) return;
  if (lastSaid.size >= MOST_TYPES) lastSaid.clear();
  lastSaid.set(type, now);
  log.warn(
    { type },
    "a workflow asks for what this version does not know: processes of another version run beside this one; Temporal offers it again until one of them takes it",
  );
}
