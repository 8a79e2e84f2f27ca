/** What a workflow sends to its worker when it refuses a payload. */
import type { Sinks } from "@temporalio/workflow";
import type { Refusal } from "./places.ts";

export interface SealSinks extends Sinks {
  seals: {
    /** The worker counts and logs the refusal. */
    refused(what: string, refusal: Refusal): void;
  };
}
