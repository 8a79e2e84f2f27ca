/** The only place that says how the embedded Postgres is tuned: by the memory of the machine. */
import { totalmem } from "node:os";

const MIB = 1024 * 1024;

const clamp = (value: number, least: number, most: number): number =>
  Math.round(Math.min(most, Math.max(least, value)));

/** Memory that this process may use, in MiB: the container's limit where there is one. */
export function availableMiB(): number {
  const limit = process.constrainedMemory();
  return (limit > 0 ? Math.min(limit, totalmem()) : totalmem()) / MIB;
}

interface Tuning {
  readonly port: number;
  readonly memoryMiB: number;
  readonly sharedBuffersMiB?: number | undefined;
  /** False gives up every guarantee after a crash of the machine; for tests. */
  readonly isDurable: boolean;
}

/** The server's settings. Sources: shared_buffers a quarter and effective_cache_size half of memory, as Postgres' manual advises. */
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
    // Merging and purging postings leaves dead rows; look often.
    autovacuum_naptime: "10s",
    autovacuum_vacuum_cost_limit: "1000",
    log_timezone: "UTC",
    timezone: "UTC",
    // Statements, and the details of errors, hold text of documents.
    log_min_error_statement: "panic",
    log_error_verbosity: "terse",
    ...(isDurable ? {} : { fsync: "off", synchronous_commit: "off", full_page_writes: "off" }),
  };
}
