/** Where the workflow bundle comes from: built ahead in an image, made at start elsewhere. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { DefaultLogger, type WorkflowBundleOption, bundleWorkflowCode } from "@temporalio/worker";
import { FAILURE_CONVERTER_PATH } from "../temporal/codec.ts";

const BUILT = join(import.meta.dirname, "../../build/workflow-bundle.js");
const WORKFLOWS = join(import.meta.dirname, "../workflows/index.ts");

/** The bundle of all workflows; takes about a second where none was built ahead. */
export async function workflowBundle(): Promise<WorkflowBundleOption> {
  if (existsSync(BUILT)) return { codePath: BUILT };
  return bundleWorkflowCode({ workflowsPath: WORKFLOWS, failureConverterPath: FAILURE_CONVERTER_PATH, logger: new DefaultLogger("ERROR") });
}
