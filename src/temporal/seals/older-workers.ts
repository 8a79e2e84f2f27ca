/** Asks Temporal which workers of an older version still take work. */
import type { Client } from "@temporalio/client";
import { listPollers } from "../facts/pollers.ts";
import { QUEUES } from "../../domain/work/queues.ts";
import { understandsBoundPayloads } from "./identity.ts";

/**
 * Finds processes older than version 0.4.0 that have polled lately; API processes poll the queue of chat.
 * @returns their identities, `PROCESS@MACHINE`.
 * @throws what the client throws, after at most five seconds
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
