/** Connections to Temporal: for clients, which connect when first used, and for workers. */
import { Client, Connection, type TLSConfig } from "@temporalio/client";
import { clientHooks } from "./hooks.ts";
import { type DataConverter, NativeConnection } from "@temporalio/worker";
import type { Log } from "../process/log.ts";

export interface TemporalSettings {
  readonly address: string;
  readonly namespace: string;
  readonly apiKey?: string | undefined;
  /** Undefined: the connection is not encrypted. */
  readonly tls?: TLSConfig | undefined;
}

const CALL_TIMEOUT_MS = 5_000;
/** By default a channel that was down for long tries again only every two minutes. */
const RECONNECT = { "grpc.initial_reconnect_backoff_ms": 100, "grpc.max_reconnect_backoff_ms": 1_000 };

function connectionOptions(settings: TemporalSettings): {
  address: string;
  tls?: TLSConfig;
  apiKey?: string;
} {
  return {
    address: settings.address,
    ...(settings.apiKey === undefined ? {} : { apiKey: settings.apiKey }),
    ...(settings.tls === undefined ? {} : { tls: settings.tls }),
  };
}

/** A client that connects when first used, so that a process starts and serves while Temporal is down. */
export function lazyClient(settings: TemporalSettings, dataConverter: DataConverter): Client {
  const connection = Connection.lazy({
    ...connectionOptions(settings),
    interceptors: [],
    channelArgs: RECONNECT,
  });
  return new Client({ connection, namespace: settings.namespace, dataConverter, interceptors: clientHooks });
}

/**
 * Connects the core of workers, and tries again every second until it is connected.
 * @param log gets one line when it begins to wait, with the reason, and one when it is connected.
 * @throws the signal's reason when `signal` aborts.
 */
export async function connectWorkers(
  settings: TemporalSettings,
  signal: AbortSignal,
  log: Pick<Log, "info" | "warn">,
): Promise<NativeConnection> {
  const { address } = settings;
  for (let isWaiting = false; ; isWaiting = true) {
    signal.throwIfAborted();
    try {
      const connection = await NativeConnection.connect(connectionOptions(settings));
      if (isWaiting) log.info({ address }, "Temporal is there");
      return connection;
    } catch (error) {
      if (!isWaiting)
        log.warn({ address, reason: firstLine(error) }, "cannot reach Temporal; retrying every second");
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, 1_000);
        const stopWaiting = (): void => {
          clearTimeout(timer);
          resolve();
        };
        signal.addEventListener("abort", stopWaiting, { once: true });
      });
    }
  }
}

function firstLine(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split("\n", 1)[0]!;
}

/** Runs one call to Temporal with a deadline, so that a caller never waits on a server that is gone. */
export async function withDeadline<T>(client: Client, call: () => Promise<T>): Promise<T> {
  return client.connection.withDeadline(Date.now() + CALL_TIMEOUT_MS, call);
}
