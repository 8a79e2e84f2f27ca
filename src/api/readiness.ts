/** Decides whether this process should get requests: by its dependencies, and if it starts or stops. */
import { type Probe, answersInTime } from "../process/answers-in-time.ts";
import { shareFor } from "../process/concurrency/share-running.ts";
import type { Readiness as Report } from "../schema/health.ts";
import type { StoreKind } from "../storage/open-store.ts";

export interface Readiness {
  /** Probes all dependencies at once; calls within a second share a result. Never throws. */
  report(): Promise<Report>;
  /** Reports `draining` from now on, so that the process gets no new requests. */
  drain(): void;
}

interface ReadinessDeps {
  readonly probes: Readonly<Record<Report["dependencies"][number]["name"], Probe>>;
  readonly storeKind: StoreKind;
  /** Resolves when chat takes turns for the first time. */
  readonly started: Promise<void>;
}

const FRESH_MS = 1_000;
/** After this time a process whose chat cannot connect reports ready: it serves everything else. */
const START_MS = 15_000;

/**
 * Without the database the process is unavailable; without another dependency it is degraded, and serves most
 * requests.
 */
export function createReadiness({ probes, storeKind, started }: ReadinessDeps): Readiness {
  let isStarting = true;
  let isDraining = false;
  const begun = (): void => {
    isStarting = false;
  };
  void started.then(begun, begun);
  setTimeout(begun, START_MS).unref();
  const probe = shareFor(FRESH_MS, () => probeAll(probes, storeKind));

  const statusOf = (dependencies: Report["dependencies"]): Report["status"] => {
    if (isDraining) return "draining";
    if (dependencies.some(({ name, ok }) => name === "database" && !ok)) return "unavailable";
    if (isStarting) return "starting";
    return dependencies.every(({ ok }) => ok) ? "ready" : "degraded";
  };
  return {
    async report() {
      const dependencies = await probe();
      return { status: statusOf(dependencies), dependencies };
    },
    drain() {
      isDraining = true;
    },
  };
}

function probeAll(probes: ReadinessDeps["probes"], storeKind: StoreKind): Promise<Report["dependencies"]> {
  const names = Object.keys(probes) as (keyof typeof probes)[];
  return Promise.all(
    names.map(async (name) => {
      const startedAt = performance.now();
      const ok = await answersInTime(probes[name]);
      return {
        name,
        ok,
        ...(name === "object_store" ? { kind: storeKind } : {}),
        latency_ms: Math.round((performance.now() - startedAt) * 10) / 10,
      };
    }),
  );
}
