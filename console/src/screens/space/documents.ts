/** What every screen that shows a document says of it. */
import type { Schemas } from "@holdfast/client";

export type Document = Schemas["Document"];

const ENDS: readonly unknown[] = ["completed", "failed", "cancelled"];

/** Whether its latest run goes on. */
export const isUnderWay = ({ processing_state: { pipeline_status: status } }: Document): boolean =>
  status !== undefined && !ENDS.includes(status);

/** The name that the file was uploaded with. */
export function nameOf({ doc_metadata: metadata, file_path: path }: Document): string {
  const name = metadata["original_filename"];
  return typeof name === "string" && name !== "" ? name : path.slice(path.lastIndexOf("/") + 1);
}
