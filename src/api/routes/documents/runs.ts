/** GET /data/runs/{pipeline_run_id} and POST …/cancel. */
import { authorize } from "../../../auth/policy.ts";
import { cancelRun } from "../../../commands/documents/cancel-run.ts";
import { readTenant } from "../../../db/pool.ts";
import { findRun } from "../../../db/runs/read.ts";
import { Run, RunParams } from "../../../schema/documents/run.ts";
import { defineRoute } from "../../route.ts";

const getRun = defineRoute({
  method: "GET",
  path: "/data/runs/:pipeline_run_id",
  operation: "runs.get",
  access: "keys",
  capability: "read",
  audit: { action: "documents:read", resource: "pipeline_run" },
  status: 200,
  summary: "One run of the pipeline: where it stands, and what it waits for.",
  tags: ["Documents"],
  params: RunParams,
  response: Run,
  async handle({ deps, principal, params }) {
    const run = await readTenant(deps.db, principal.organization, (sql) =>
      findRun(sql, principal, params.pipeline_run_id),
    );
    authorize(principal, "documents:read", run, "run");
    return run;
  },
});

const cancelPipelineRun = defineRoute({
  method: "POST",
  path: "/data/runs/:pipeline_run_id/cancel",
  operation: "runs.cancel",
  access: "keys",
  capability: "write",
  audit: { action: "documents:reprocess", resource: "pipeline_run" },
  status: 202,
  summary: "Cancel a run that has not ended; what was published before stays.",
  tags: ["Documents"],
  params: RunParams,
  response: Run,
  errors: [400],
  handle: ({ deps, caller, params }) => cancelRun(deps, caller, params.pipeline_run_id),
});

export const runRoutes = [getRun, cancelPipelineRun];
