/** What Temporal says of itself and of the namespace, for `holdfast doctor`. */
import type { Client } from "@temporalio/client";
import { SEARCH_ATTRIBUTES } from "../../domain/work/search-attributes.ts";
import { withDeadline } from "../connection.ts";
import { listPollers } from "./pollers.ts";
import { QUEUES, type QueueName } from "../../domain/work/queues.ts";

const SECONDS_A_DAY = 86_400;
/** gRPC's code of what is not there. */
const NOT_FOUND = 5;
/** Polled by workers that run; the queue of suspected documents is only while there are some. */
const ALWAYS_POLLED = (Object.keys(QUEUES) as QueueName[]).filter((queue) => queue !== "isolated");

/** As `1.31.2`; empty where the server keeps it to itself. @throws what the client throws, after five seconds at most. */
export async function serverVersion(client: Client): Promise<string> {
  return (await withDeadline(client, () => client.workflowService.getSystemInfo({}))).serverVersion ?? "";
}

/** Days for which histories are kept; null where there is no such namespace. @throws what the client throws, after five seconds at most. */
export async function retentionDays(client: Client, namespace: string): Promise<number | null> {
  try {
    const { config } = await withDeadline(client, () =>
      client.workflowService.describeNamespace({ namespace }),
    );
    return Number(config?.workflowExecutionRetentionTtl?.seconds ?? 0) / SECONDS_A_DAY;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === NOT_FOUND) return null;
    throw error;
  }
}

/** Search attributes that the namespace lacks. @throws what the client throws, after five seconds at most. */
export async function missingSearchAttributes(client: Client, namespace: string): Promise<string[]> {
  const { customAttributes } = await withDeadline(client, () =>
    client.connection.operatorService.listSearchAttributes({ namespace }),
  );
  return Object.keys(SEARCH_ATTRIBUTES).filter((name) => !(name in (customAttributes ?? {})));
}

/** Which queues somebody asks for work, and which nobody does. @throws what the client throws, after five seconds at most. */
export async function polledQueues(
  client: Client,
  namespace: string,
): Promise<{ polled: QueueName[]; idle: QueueName[] }> {
  const asked = await Promise.all(
    ALWAYS_POLLED.map(async (queue) => ({
      queue,
      pollers: await listPollers(client, namespace, QUEUES[queue]),
    })),
  );
  const of = (isPolled: boolean): QueueName[] =>
    asked.filter(({ pollers }) => pollers.length > 0 === isPolled).map(({ queue }) => queue);
  return { polled: of(true), idle: of(false) };
}
