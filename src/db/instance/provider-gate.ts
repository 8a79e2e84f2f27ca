/** All SQL of the gates before model providers: one row a provider says until when nobody may ask it, and whether it failed last. */
import type { ErrorCode } from "../../domain/errors.ts";
import { type Database, queryOnce } from "../pool.ts";

interface Entrance {
  /** Milliseconds until the provider may be asked again; 0: ask now. */
  readonly closedForMs: number;
  /** What it answered when the gate was closed. */
  readonly code: ErrorCode;
  /** The provider failed last, and this is the one request of this second that tries it. */
  readonly isTrial: boolean;
}

export interface ProviderGate {
  /** What was read of the gate is kept for a second, so that requests of an open gate cost no query each. */
  enter(): Promise<Entrance>;
  /**
   * Keeps every process from asking for so long, at most {@link MAX_CLOSED_SECONDS}; where the database is away, this one. Never
   * shortens what somebody else was told.
   * @returns the seconds, within the bound.
   */
  close(seconds: number, code: ErrorCode): Promise<number>;
  /** Says that a trial succeeded. */
  open(): Promise<void>;
}

/** A provider that asks for more is asked again after a quarter of an hour. */
export const MAX_CLOSED_SECONDS = 900;
const CACHE_MS = 1_000;
/** Between two trials of a provider that failed, whatever the number of processes. */
const TRIAL_INTERVAL = "interval '1 second'";
const TRIAL_INTERVAL_MS = 1_000;

interface GateState {
  /** Of `performance.now()`. */
  openAt: number;
  isFailing: boolean;
  code: ErrorCode;
  readAt: number;
  /** Goes up with each change that this process made, so that a read from before it is dropped. */
  changes: number;
}

/** What a process of the version before, which says no code, most likely met. */
const UNSAID: ErrorCode = "provider_rate_limited";
const OPEN: Entrance = { closedForMs: 0, isTrial: false, code: UNSAID };

/** The gate of `provider`, shared by all processes of the database. A database that is away leaves the gate as it was last seen. */
export function createProviderGate(db: Database, provider: string): ProviderGate {
  const state: GateState = { openAt: 0, isFailing: false, code: UNSAID, readAt: -Infinity, changes: 0 };
  let reading: Promise<void> | undefined;
  const refresh = (): Promise<void> =>
    (reading ??= readGate(db, provider, state)
      .catch(() => undefined)
      .finally(() => (reading = undefined)));
  return {
    async enter() {
      if (performance.now() - state.readAt >= CACHE_MS) await refresh();
      if (state.openAt <= performance.now() && state.isFailing) {
        if (await takeTrial(db, provider, state)) return { ...OPEN, isTrial: true };
        await refresh();
      }
      const closedForMs = state.openAt - performance.now();
      return closedForMs > 0 ? { closedForMs, isTrial: false, code: state.code } : OPEN;
    },
    async close(seconds, code) {
      const bounded = Math.min(Math.max(seconds, 0), MAX_CLOSED_SECONDS);
      Object.assign(state, {
        openAt: Math.max(state.openAt, performance.now() + bounded * 1_000),
        isFailing: true,
        code,
        changes: state.changes + 1,
      });
      await queryOnce(
        db.system,
        `insert into provider_gates (provider, not_before, is_failing, code) values ($1, now() + make_interval(secs => $2), true, $3)
         on conflict (provider) do update set not_before = greatest(provider_gates.not_before, excluded.not_before), is_failing = true, code = $3, updated_at = now()`,
        [provider, bounded, code],
      ).catch(() => undefined);
      return bounded;
    },
    async open() {
      Object.assign(state, { openAt: 0, isFailing: false, changes: state.changes + 1 });
      // Not where somebody was told to wait meanwhile.
      await queryOnce(
        db.system,
        `update provider_gates set is_failing = false, not_before = now(), updated_at = now() where provider = $1 and not_before <= now() + ${TRIAL_INTERVAL}`,
        [provider],
      ).catch(() => undefined);
    },
  };
}

async function readGate(db: Database, provider: string, state: GateState): Promise<void> {
  const { changes } = state;
  state.readAt = performance.now();
  const { rows } = await queryOnce<{ ms: number; is_failing: boolean; code: ErrorCode | null }>(db.system, {
    name: "provider-gate.read",
    text: "select greatest(0, extract(epoch from not_before - now()) * 1000)::float8 as ms, is_failing, code from provider_gates where provider = $1 and not_before > '-infinity'",
    values: [provider],
  });
  if (state.changes !== changes) return;
  state.openAt = performance.now() + (rows[0]?.ms ?? 0);
  state.isFailing = rows[0]?.is_failing ?? false;
  state.code = rows[0]?.code ?? UNSAID;
}

/** Takes the one trial of this second, where nobody else has. A database that is away lets everyone try. */
async function takeTrial(db: Database, provider: string, state: GateState): Promise<boolean> {
  const { changes } = state;
  const taken = await queryOnce(
    db.system,
    `update provider_gates set not_before = now() + ${TRIAL_INTERVAL} where provider = $1 and is_failing and not_before <= now()`,
    [provider],
  ).catch(() => undefined);
  if (taken === undefined) return true;
  if (taken.rowCount === 0) return false;
  if (state.changes === changes)
    Object.assign(state, { openAt: performance.now() + TRIAL_INTERVAL_MS, changes: changes + 1 });
  return true;
}
