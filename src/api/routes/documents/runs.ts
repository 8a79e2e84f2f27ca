/** GET /data/runs/{pipeline_run_id} and POST …/cancel. */
import { hasEnded } from "../../../domain/work/processing.ts";
import type { Principal } from "../../../domain/tenancy/principal.ts";
import { WaitQuery } from "../../../schema/fields.ts";
import { whenChanged } from "../../waits/when-changed.ts";
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
  description:
    "For everybody with a role in the document's space. With `wait` it answers when the run gets from " +
    "one status to the next, and at once if it has ended.",
  params: RunParams,
  query: WaitQuery,
  response: Run,
  handle({ deps, principal, params, query, request }) {
    const read = async (caller: Principal) => {
      const found = await readTenant(deps.db, caller.organization, (sql) =>
        findRun(sql, caller, params.pipeline_run_id),
      );
      authorize(caller, "documents:read", found, "run");
      return found;
    };
    return whenChanged({ deps, principal, request, waitSeconds: query.wait }, read, ({ status: state }) =>
      hasEnded(state) ? null : { kind: "run", id: params.pipeline_run_id, state },
    );
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
  description:
    "For editors and owners of the document's space. A run that has ended is 400. The version that was " +
    "published before goes on to answer searches.",
  tags: ["Documents"],
  params: RunParams,
  response: Run,
  errors: [400],
  handle: ({ deps, caller, params }) => cancelRun(deps, caller, params.pipeline_run_id),
});

export const runRoutes = [getRun, cancelPipelineRun];
