/** All SQL of the gates before model providers: one row a provider says until when nobody may ask it. */
import { type Database, queryOnce } from "./pool.ts";

export interface ProviderGate {
  /** Milliseconds until the provider may be asked again; 0 where it may be now. What was read is kept for a second. */
  closedForMs(): Promise<number>;
  /**
   * Keeps every process from asking for so long, at most {@link MAX_CLOSED_SECONDS}; where the database is away, this one. A gate is
   * never opened early.
   * @returns for how many seconds it is closed now at least.
   */
  close(seconds: number): Promise<number>;
}

/** A provider that asks for more is asked again after a quarter of an hour. */
export const MAX_CLOSED_SECONDS = 900;
const CACHE_MS = 1_000;

/** The gate of `provider`, shared by all processes of the database. A database that is away leaves the gate as it was last seen. */
export function createProviderGate(db: Database, provider: string): ProviderGate {
  let openAt = 0;
  let readAt = -Infinity;
  let reading: Promise<void> | undefined;
  const read = async (): Promise<void> => {
    readAt = performance.now();
    const { rows } = await queryOnce<{ ms: number }>(db.system, {
      name: "provider-gate.read",
      text: "select greatest(0, extract(epoch from not_before - now()) * 1000)::float8 as ms from provider_gates where provider = $1 and not_before > now()",
      values: [provider],
    });
    openAt = Math.max(openAt, performance.now() + (rows[0]?.ms ?? 0));
  };
  return {
    async closedForMs() {
      if (performance.now() - readAt >= CACHE_MS) reading ??= read().catch(() => undefined).finally(() => (reading = undefined));
      await reading;
      return Math.max(0, openAt - performance.now());
    },
    async close(seconds) {
      const bounded = Math.min(Math.max(seconds, 0), MAX_CLOSED_SECONDS);
      openAt = Math.max(openAt, performance.now() + bounded * 1_000);
      await queryOnce(
        db.system,
        `insert into provider_gates (provider, not_before) values ($1, now() + make_interval(secs => $2))
         on conflict (provider) do update set not_before = greatest(provider_gates.not_before, excluded.not_before), updated_at = now()`,
        [provider, bounded],
      ).catch(() => undefined);
      return bounded;
    },
  };
}
