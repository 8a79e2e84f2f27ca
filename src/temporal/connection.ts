/** The only place that connects to Temporal. */
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
/** Without it a channel that was down for long tries again only every two minutes. */
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
 * Connects the core of workers; retries every second until it is connected or `signal` aborts (then it throws
 * the signal's reason).
 * @param log is told once that Temporal is waited for, and why, and once when it is there.
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
        log.warn(
          { address, reason: firstLine(error) },
          "waits for Temporal, which cannot be reached; it is tried again each second",
        );
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, 1_000);
        signal.addEventListener("abort", () => (clearTimeout(timer), resolve()), { once: true });
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
