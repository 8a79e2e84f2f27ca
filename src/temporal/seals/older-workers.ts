/** The only place that asks Temporal which workers of an older version still take work. */
import type { Client } from "@temporalio/client";
import { listPollers } from "../facts/pollers.ts";
import { QUEUES } from "../../domain/work/queues.ts";
import { understandsBoundPayloads } from "./identity.ts";

/**
 * Processes of before version 0.4.0 that have asked for work lately; an API process is one too, by the queue of chat.
 * @returns how they name themselves, as `PROCESS@MACHINE`. @throws what the client throws, after five seconds at most.
 */
export async function findOlderWorkers(
  client: Client,
  namespace: string,
  now: number = Date.now(),
): Promise<string[]> {
  const pollers = await Promise.all(
    Object.values(QUEUES).map((queue) => listPollers(client, namespace, queue, now)),
  );
  return [...new Set(pollers.flat().filter((identity) => !understandsBoundPayloads(identity)))].toSorted();
}
