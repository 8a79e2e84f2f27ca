/** How far a document's latest run is: parse, chunk, embed. */
import type { Schemas } from "@holdfast/client";

type State = Schemas["ProcessingState"];

export const STAGES = ["parse", "chunk", "embed"] as const;
export type Stage = (typeof STAGES)[number];
export type Progress = "done" | "now" | "todo" | "failed";

/** The stage that is under way in each status; a completed run has passed all of them. */
const UNDER_WAY: Readonly<Record<string, number>> = {
  queued: -1,
  parsing: 0,
  chunking: 1,
  embedding: 2,
  completed: 3,
};
const FAILED_IN: Readonly<Record<string, number>> = { parsing: 0, chunking: 1, embedding: 2, publishing: 2 };

export function stagesOf({ pipeline_status: status, error }: State): Readonly<Record<Stage, Progress>> {
  const failed = status === "failed" && error ? FAILED_IN[error.stage] : undefined;
  const current = failed ?? UNDER_WAY[status ?? "queued"] ?? -1;
  const progressOf = (index: number): Progress => {
    if (index < current) return "done";
    if (index > current) return "todo";
    return failed === undefined ? "now" : "failed";
  };
  return { parse: progressOf(0), chunk: progressOf(1), embed: progressOf(2) };
}
