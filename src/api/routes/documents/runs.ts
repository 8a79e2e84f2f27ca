/** GET /data/runs/{pipeline_run_id} and POST …/cancel. */
import { authorize } from "../../../auth/policy.ts";
import { appendAudit } from "../../../db/audit/append.ts";
import { inTenantContended } from "../../../db/retry-deadlocks.ts";
import { inTenant } from "../../../db/pool.ts";
import { findRun } from "../../../db/runs/read.ts";
import { cancelRun } from "../../../db/runs/requests.ts";
import { DomainError } from "../../../domain/errors.ts";
import { Run, RunParams } from "../../../schema/documents/run.ts";
import { defineRoute } from "../../route.ts";

const MISSING = "Run not found";

const getRun = defineRoute({
  method: "GET",
  path: "/data/runs/:pipeline_run_id",
  access: "keys",
  capability: "read",
  audit: { action: "documents:read", resource: "pipeline_run" },
  status: 200,
  summary: "One run of the pipeline: where it stands, and what it waits for.",
  tags: ["Documents"],
  params: RunParams,
  response: Run,
  async handle({ deps, principal, params }) {
    const run = await inTenant(deps.db, principal.organization, (sql) =>
      findRun(sql, principal, params.pipeline_run_id),
    );
    authorize(principal, "documents:read", run, MISSING);
    return run;
  },
});

const cancelPipelineRun = defineRoute({
  method: "POST",
  path: "/data/runs/:pipeline_run_id/cancel",
  access: "keys",
  capability: "write",
  audit: { action: "documents:reprocess", resource: "pipeline_run" },
  status: 202,
  summary: "Cancel a run that has not ended; what was published before stays.",
  tags: ["Documents"],
  params: RunParams,
  response: Run,
  errors: [400],
  async handle({ deps, principal, params, request }) {
    const id = params.pipeline_run_id;
    const cancelled = await inTenantContended(deps.db, principal.organization, async (sql) => {
      const run = await findRun(sql, principal, id);
      authorize(principal, "documents:reprocess", run, MISSING);
      if (!(await cancelRun(sql, id)))
        throw new DomainError("bad_request", "The run has ended already, so it cannot be cancelled.");
      await appendAudit(sql, principal, {
        action: "documents:reprocess",
        resource_type: "pipeline_run",
        resource_id: id,
        space_id: run.space_id,
        request_id: request.id,
        outcome: "success",
      });
      return findRun(sql, principal, id);
    });
    authorize(principal, "documents:reprocess", cancelled, MISSING);
    return cancelled;
  },
});

export const runRoutes = [getRun, cancelPipelineRun];
