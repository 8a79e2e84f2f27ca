/** Brings the messages of Temporal's SDK and core into this process's log, a line each, no payloads. */
import { DefaultLogger, type LogEntry } from "@temporalio/worker";
import type { Log } from "../process/log.ts";

const UNKNOWN_ACTIVITY = /Activity function (\S+) is not registered on this Worker/;
const UNKNOWN_WORKFLOW = /Failed to initialize workflow of type '([^']+)': no such function/;
/** The core's message about a queue that is served only for workflows, or only activities, on purpose. */
const ON_PURPOSE = /^No (?:activities|workflows) registered, not polling/;
/** What failures.ts has logged with its cause. */
const SAID_ELSEWHERE = "Activity failed";
/** How the core writes gRPC's code into the text of an error. */
const GRPC_CODE = /\bcode: ['"]?([\w ]{1,40})/;
/** Temporal offers a task of an unknown type again and again; it is logged at most this often. */
const REPEAT_MS = 60_000;
/** A bound on the memory: whoever starts a workflow chooses the name of its type. */
const MOST_TYPES = 1_000;

type Level = "trace" | "debug" | "info" | "warn" | "error";

/** @param level the least level that is taken over; the log has a level of its own as well. */
export function sdkLogger(log: Log, level: "WARN" | "ERROR"): DefaultLogger {
  const lastSaid = new Map<string, number>();
  return new DefaultLogger(level, ({ level: severity, message, meta }: LogEntry) => {
    const { error, task: _task, taskEncoded: _encoded, ...fields } = meta ?? {};
    const text = `${message} ${errorText(error)} ${JSON.stringify(fields["failure"] ?? "")}`;
    const unknown = UNKNOWN_ACTIVITY.exec(text)?.[1] ?? UNKNOWN_WORKFLOW.exec(text)?.[1];
    if (unknown !== undefined) return sayUnknown(log, lastSaid, unknown);
    const said = withoutText(message, error);
    const isNoise = message === SAID_ELSEWHERE || ON_PURPOSE.test(message);
    log[isNoise ? "debug" : (severity.toLowerCase() as Level)](
      { ...scalars(fields), ...errorIn(error) },
      said,
    );
  });
}

/** The message without the error's own, which may quote what a task carries. */
function withoutText(message: string, error: unknown): string {
  const text = errorText(error);
  return text === "" ? message : message.replaceAll(text, "…");
}

/** Ids, names and counts; failures in other forms may quote what a task carries. */
function scalars(fields: object): object {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => typeof value !== "object"));
}

/** The core sends its errors as text. */
function errorIn(error: unknown): object {
  if (error === undefined) return {};
  if (typeof error !== "string") return { err: error };
  const code = GRPC_CODE.exec(error)?.[1];
  return code === undefined ? {} : { grpc_code: code };
}

/** Errors of the workflow sandbox come from another realm, so `instanceof Error` is false for them. */
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
    "a workflow asks for what this version does not know: " +
      "processes of another version run beside this one; Temporal offers it again until one of them takes it",
  );
}
