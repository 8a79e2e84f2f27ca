/** GET /data/runs/{pipeline_run_id}, …/attempts and POST …/cancel. */
import { hasEnded } from "../../../domain/work/processing.ts";
import type { Principal } from "../../../domain/tenancy/principal.ts";
import { pageOf, WaitQuery } from "../../../schema/fields.ts";
import { whenChanged } from "../../waits/when-changed.ts";
import { authorize } from "../../../auth/policy.ts";
import { cancelRun } from "../../../commands/documents/cancel-run.ts";
import { readTenant } from "../../../db/pool.ts";
import { listAttempts } from "../../../db/runs/attempts.ts";
import { findRun } from "../../../db/runs/read.ts";
import { AttemptPage } from "../../../schema/documents/attempt.ts";
import { PartsQuery } from "../../../schema/documents/text.ts";
import { Run } from "../../../schema/documents/run.ts";
import { defineRoute } from "../../route.ts";

const getRun = defineRoute("GET /data/runs/:pipeline_run_id", {
  operation: "runs.get",
  access: "keys",
  capability: "read",
  audit: { action: "documents:read", resource: "pipeline_run" },
  summary: "One pipeline run: its status, and what it is waiting for.",
  description:
    "For everybody with a role in the document's space. With `wait` it answers when the run gets " +
    "from one status to the next, and at once if it has ended.",
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

const listRunAttempts = defineRoute("GET /data/runs/:pipeline_run_id/attempts", {
  operation: "runs.attempts",
  access: "keys",
  capability: "read",
  audit: { action: "documents:read", resource: "pipeline_run" },
  summary: "The attempts of a run, oldest first: when each began and ended, and how.",
  description:
    "For everybody with a role in the document's space. A run that is tried very often keeps its " +
    "first 10 and its last 40 attempts. Attempts from before version 0.10.0 are not known.",
  query: PartsQuery,
  response: AttemptPage,
  async handle({ principal, read, params, query }) {
    const { items, total } = await read(async (sql) => {
      const run = await findRun(sql, principal, params.pipeline_run_id);
      authorize(principal, "documents:read", run, "run");
      return listAttempts(sql, principal, run.pipeline_run_id, query);
    });
    return pageOf({ items, total }, query);
  },
});

const cancelPipelineRun = defineRoute("POST /data/runs/:pipeline_run_id/cancel", {
  operation: "runs.cancel",
  access: "keys",
  capability: "write",
  audit: { action: "documents:reprocess", resource: "pipeline_run" },
  status: 202,
  summary: "Cancel a run that has not ended; what was published before stays.",
  description:
    "For editors and owners of the document's space. A run that has ended is 400. The version " +
    "that was published before goes on to answer searches.",
  response: Run,
  errors: [400],
  handle: ({ deps, caller, params }) => cancelRun(deps, caller, params.pipeline_run_id),
});

export const runRoutes = [getRun, listRunAttempts, cancelPipelineRun];
