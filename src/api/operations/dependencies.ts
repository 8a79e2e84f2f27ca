/** Looks at everything that the service depends on, and remembers since when it fails. */
import { answersInTime } from "../../process/answers-in-time.ts";
import type { ProviderState } from "../../db/instance/provider-gate.ts";
import type { Dependency } from "../../schema/operations/conditions.ts";
import { shareFor } from "../../process/concurrency/share-running.ts";

interface Look {
  readonly name: Dependency["name"];
  readonly kind?: string;
  /** Rejects if it does not answer. @returns its version; undefined if it has none. */
  readonly ask: () => Promise<string | undefined>;
}

interface Model {
  readonly name: "chat" | "embeddings" | "reranker";
  readonly isBuiltIn: boolean;
  /** What its last calls were like; undefined if nobody writes that down. */
  readonly state?: () => Promise<ProviderState>;
}

interface DependencyReport {
  readonly checked_at: Date;
  readonly dependencies: Dependency[];
}

const FRESH_MS = 2_000;
const NOT_FAILING = { failing_since: null, code: null, next_attempt_at: null } as const;

/** @returns a function that looks at all of them at once; it never throws. */
export function watchDependencies(
  looks: readonly Look[],
  models: readonly Model[],
): () => Promise<DependencyReport> {
  const failingSince = new Map<string, Date>();
  const lookAt = async ({ name, kind, ask }: Look): Promise<Dependency> => {
    const startedAt = performance.now();
    let version: string | undefined;
    const ok = await answersInTime(async () => {
      version = await ask();
    });
    if (ok) failingSince.delete(name);
    else if (!failingSince.has(name)) failingSince.set(name, new Date());
    return {
      ...NOT_FAILING,
      name,
      kind: kind ?? null,
      ok,
      version: version ?? null,
      latency_ms: Math.round((performance.now() - startedAt) * 10) / 10,
      failing_since: failingSince.get(name) ?? null,
    };
  };
  return shareFor(FRESH_MS, async () => ({
    checked_at: new Date(),
    dependencies: await Promise.all([...looks.map(lookAt), ...models.map(describeModel)]),
  }));
}

async function describeModel({ name, isBuiltIn, state }: Model): Promise<Dependency> {
  const unasked = { ...NOT_FAILING, name, version: null, latency_ms: null };
  if (isBuiltIn) return { ...unasked, kind: "built_in", ok: true };
  // The database is listed itself: if it is down, nothing is known of the provider.
  const known = await state?.().catch(() => undefined);
  if (known === undefined || known.isKnown === false) return { ...unasked, kind: "provider", ok: null };
  return {
    ...unasked,
    kind: "provider",
    ok: known.code === null,
    failing_since: known.since,
    code: known.code,
    next_attempt_at: known.nextAttemptAt,
  };
}
