/** Asks Temporal about itself and the namespace, for `holdfast doctor`. */
import type { Client } from "@temporalio/client";
import { SEARCH_ATTRIBUTES } from "../../domain/work/search-attributes.ts";
import { withDeadline } from "../connection.ts";
import { listPollers } from "./pollers.ts";
import { QUEUES, type QueueName } from "../../domain/work/queues.ts";

const SECONDS_A_DAY = 86_400;
/** The gRPC code NOT_FOUND. */
const NOT_FOUND = 5;
/** The queue for suspected documents is polled only while there are some. */
const ALWAYS_POLLED = (Object.keys(QUEUES) as QueueName[]).filter((queue) => queue !== "isolated");

/** For example `1.31.2`; empty if the server does not say. @throws as the client, within five seconds */
export async function serverVersion(client: Client): Promise<string> {
  return (await withDeadline(client, () => client.workflowService.getSystemInfo({}))).serverVersion ?? "";
}

/** The days for which histories are kept; null without the namespace. @throws as the client, within 5 s */
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

/** The search attributes that the namespace lacks. @throws what the client throws, within five seconds */
export async function missingSearchAttributes(client: Client, namespace: string): Promise<string[]> {
  const { customAttributes } = await withDeadline(client, () =>
    client.connection.operatorService.listSearchAttributes({ namespace }),
  );
  return Object.keys(SEARCH_ATTRIBUTES).filter((name) => !(name in (customAttributes ?? {})));
}

/** Which task queues are polled and which are not. @throws what the client throws, within five seconds */
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
  const queuesThat = (isPolled: boolean): QueueName[] =>
    asked.filter(({ pollers }) => pollers.length > 0 === isPolled).map(({ queue }) => queue);
  return { polled: queuesThat(true), idle: queuesThat(false) };
}
