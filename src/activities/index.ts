/** Every activity of the worker process, each bound to what it needs. */
import type { AttemptInput, GroupOutcome } from "../domain/processing.ts";
import { embedAndPublish } from "./embed-and-publish.ts";
import type { PipelineDeps } from "./pipeline-deps.ts";
import { prepareDocuments } from "./prepare-documents.ts";

export interface Activities {
  prepareDocuments(input: AttemptInput): Promise<GroupOutcome>;
  embedAndPublish(input: AttemptInput): Promise<GroupOutcome>;
}

export function createActivities(deps: PipelineDeps): Activities {
  return {
    prepareDocuments: (input) => prepareDocuments(deps, input),
    embedAndPublish: (input) => embedAndPublish(deps, input),
  };
}
