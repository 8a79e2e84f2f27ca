/** What the pages of operators read besides the database: dependencies, and the queues of Temporal. */
import { lookAtIssuer } from "../../auth/jwt.ts";
import { readProviderState } from "../../db/instance/provider-gate.ts";
import { readServerFacts } from "../../db/instance/server-facts.ts";
import type { SharedDeps } from "../../deps.ts";
import { QUEUES, type QueueName } from "../../domain/work/queues.ts";
import { storeKind } from "../../storage/open-store.ts";
import { type Backlog, readBacklog } from "../../temporal/facts/backlog.ts";
import { listPollers } from "../../temporal/facts/pollers.ts";
import { serverVersion } from "../../temporal/facts/server.ts";
import { processOf } from "../../temporal/seals/identity.ts";
import { shareFor } from "../../process/concurrency/share-running.ts";
import { watchDependencies } from "./dependencies.ts";

interface QueueFacts {
  readonly backlog: readonly Backlog[];
  /** Who polls each queue, as `PROCESS@MACHINE`. */
  readonly pollers: ReadonlyMap<string, readonly string[]>;
}

export interface OperationsHost {
  readonly dependencies: ReturnType<typeof watchDependencies>;
  /** @returns undefined if Temporal does not answer within five seconds. */
  queues(): Promise<QueueFacts | undefined>;
}

type Parts = Pick<SharedDeps, "config" | "log" | "db" | "temporal" | "storage" | "disk">;

const QUEUES_FRESH_MS = 2_000;
/** The issuer belongs to others, who need not answer for each look at a page. */
const ISSUER_FRESH_MS = 15_000;

export function createOperationsHost(parts: Parts): OperationsHost {
  const { config, log, temporal } = parts;
  const { namespace } = config.temporal;
  return {
    dependencies: watchDependencies(looksAt(parts), modelsOf(parts)),
    queues: shareFor(QUEUES_FRESH_MS, async () => {
      try {
        const names = Object.keys(QUEUES) as QueueName[];
        const [backlog, pollers] = await Promise.all([
          readBacklog(temporal, namespace),
          Promise.all(
            names.map(
              async (name) =>
                [name, (await listPollers(temporal, namespace, QUEUES[name])).map(processOf)] as const,
            ),
          ),
        ]);
        return { backlog, pollers: new Map(pollers) };
      } catch (error) {
        log.warn({ err: error }, "the task queues could not be read for an operator");
        return undefined;
      }
    }),
  };
}

function looksAt({ config, db, temporal, storage, disk }: Parts): Parameters<typeof watchDependencies>[0] {
  const { oidc } = config;
  const silent = (look: () => Promise<unknown>) => async (): Promise<undefined> => void (await look());
  return [
    { name: "database", ask: async () => (await readServerFacts(db)).version },
    { name: "workflows", ask: () => serverVersion(temporal) },
    {
      name: "object_store",
      kind: storeKind(config.storage),
      ask: silent(() => storage.list("", { limit: 1 })),
    },
    { name: "disk", ask: silent(async () => disk.assertRoom()) },
    ...(oidc === undefined
      ? []
      : [
          {
            name: "issuer" as const,
            ask: silent(shareFor(ISSUER_FRESH_MS, () => lookAtIssuer(oidc.issuer))),
          },
        ]),
  ];
}

function modelsOf({ config, db }: Parts): Parameters<typeof watchDependencies>[1] {
  const { models, rerank } = config;
  return [
    { name: "chat", isBuiltIn: models.chatModel === undefined },
    {
      name: "embeddings",
      isBuiltIn: models.embeddingModel === undefined,
      state: () => readProviderState(db, `${models.baseUrl ?? ""} ${models.embeddingModel ?? ""}`),
    },
    ...(rerank === undefined ? [] : [{ name: "reranker" as const, isBuiltIn: false }]),
  ];
}
