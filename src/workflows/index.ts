/** The workflow bundle: what is not exported here is no workflow. */
export { documentPipeline } from "./document-pipeline.ts";
