/** The settings of the embedded Postgres, tuned by the memory of the machine. */
import { totalmem } from "node:os";

const MIB = 1024 * 1024;

const clamp = (value: number, least: number, most: number): number =>
  Math.round(Math.min(most, Math.max(least, value)));

/** The memory that this process may use, in MiB: the container's limit if there is one. */
export function availableMiB(): number {
  const limit = process.constrainedMemory();
  return (limit > 0 ? Math.min(limit, totalmem()) : totalmem()) / MIB;
}

interface Tuning {
  readonly port: number;
  readonly memoryMiB: number;
  readonly sharedBuffersMiB?: number | undefined;
  /** False, for tests, gives up every guarantee after a crash of the machine. */
  readonly isDurable: boolean;
}

/**
 * The server's settings: shared_buffers a quarter and effective_cache_size half of the memory.
 * @see https://www.postgresql.org/docs/current/runtime-config-resource.html
 */
export function postgresSettings({
  port,
  memoryMiB,
  sharedBuffersMiB,
  isDurable,
}: Tuning): Record<string, string> {
  return {
    port: String(port),
    listen_addresses: "127.0.0.1",
    unix_socket_directories: "",
    max_connections: "200",
    shared_buffers: `${sharedBuffersMiB ?? clamp(memoryMiB / 4, 128, 2_048)}MB`,
    effective_cache_size: `${clamp(memoryMiB / 2, 256, 65_536)}MB`,
    work_mem: `${clamp(memoryMiB / 128, 16, 64)}MB`,
    maintenance_work_mem: `${clamp(memoryMiB / 8, 64, 2_048)}MB`,
    random_page_cost: "1.1",
    jit: "off",
    max_wal_size: "2GB",
    wal_compression: "on",
    // Merging and purging postings leaves dead rows, so autovacuum must look often.
    autovacuum_naptime: "10s",
    autovacuum_vacuum_cost_limit: "1000",
    log_timezone: "UTC",
    timezone: "UTC",
    // Statements and the details of errors contain text of documents.
    log_min_error_statement: "panic",
    log_error_verbosity: "terse",
    ...(isDurable ? {} : { fsync: "off", synchronous_commit: "off", full_page_writes: "off" }),
  };
}
