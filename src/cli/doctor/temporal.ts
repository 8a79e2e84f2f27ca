/** Checks of Temporal: its version, the namespace, its search attributes, and its workers. */
import type { Client } from "@temporalio/client";
import {
  missingSearchAttributes,
  polledQueues,
  retentionDays,
  serverVersion,
} from "../../temporal/facts/server.ts";
import { type Check, type Finding, fail, ok, warn } from "./check.ts";

export interface TemporalParts {
  readonly namespace: string;
  /** @throws CommandError if no address is known */
  readonly client: () => Promise<Client>;
}

const REACH =
  "start Temporal, or correct TEMPORAL_ADDRESS and the TLS or API key settings; " +
  "`npm start` runs its own";

export function temporalChecks(parts: TemporalParts): Check[] {
  return [
    {
      name: "Temporal",
      remedy: REACH,
      run: async () =>
        ok((await serverVersion(await parts.client())) || "responds, but does not report its version"),
    },
    { name: "Temporal namespace", needs: "Temporal", remedy: REACH, run: () => namespaceOf(parts) },
    {
      name: "search attributes",
      needs: "Temporal namespace",
      remedy: REACH,
      run: () => searchAttributes(parts),
    },
    { name: "task queues", needs: "Temporal namespace", remedy: REACH, run: () => queues(parts) },
  ];
}

async function namespaceOf({ namespace, client }: TemporalParts): Promise<Finding> {
  const days = await retentionDays(await client(), namespace);
  if (days === null)
    return fail(
      `namespace ${namespace} does not exist`,
      `temporal operator namespace create --namespace ${namespace} --retention 7d, ` +
        "or set TEMPORAL_NAMESPACE to one that exists",
    );
  return ok(`${namespace}, which keeps histories for ${Number(days.toFixed(1))} days`);
}

async function searchAttributes({ namespace, client }: TemporalParts): Promise<Finding> {
  const missing = await missingSearchAttributes(await client(), namespace);
  if (missing.length === 0) return ok("all are registered");
  return warn(
    `the namespace lacks ${missing.join(", ")}`,
    "a worker registers them when it starts; on Temporal Cloud create them in its console or with tcld",
  );
}

async function queues({ namespace, client }: TemporalParts): Promise<Finding> {
  const { polled, idle } = await polledQueues(await client(), namespace);
  if (idle.length === 0) return ok(`${polled.join(", ")} are polled`);
  if (polled.length === 0)
    return warn(
      "nothing polls the queues: neither the API nor a worker is running",
      "start both; uploads wait until then",
    );
  return fail(
    `nothing polls ${idle.join(", ")}`,
    "start a worker that has them in WORKER_QUEUES; waiting work then continues automatically",
  );
}
