/** Gates in front of model providers: until when none may be asked, and whether the last answer failed. */
import { PAUSES } from "#timings";
import type { ErrorCode } from "../../domain/errors.ts";
import { shareRunning } from "../../process/concurrency/share-running.ts";
import { type Database, queryOnce } from "../pool.ts";

interface Entrance {
  /** Milliseconds until the provider may be asked again; 0 means now. */
  readonly closedForMs: number;
  /** The error that closed the gate. */
  readonly code: ErrorCode;
  /** Whether the provider failed last and this request is the one of this second that tries it. */
  readonly isTrial: boolean;
}

export interface ProviderState {
  /** False if the pipeline has never met an error of it. */
  readonly isKnown: boolean;
  /** The error that it fails with; null while it answers. */
  readonly code: string | null;
  /** Since when documents wait for it; null if none does. */
  readonly since: Date | null;
  readonly nextAttemptAt: Date | null;
}

export interface ProviderGate {
  /** Asks whether the provider may be asked. Most requests cost no query: at most one a second. */
  enter(): Promise<Entrance>;
  /**
   * Keeps every process from asking for this long, at most {@link MAX_CLOSED_SECONDS}; only this process if
   * the database cannot be reached. Never shortens an earlier call.
   * @returns the seconds, within the bound.
   */
  close(seconds: number, code: ErrorCode): Promise<number>;
  /** Opens the gate after a trial succeeded. */
  open(): Promise<void>;
}

/** If a provider asks for a longer pause, it is asked again after a quarter of an hour all the same. */
export const MAX_CLOSED_SECONDS = 900;
const TRIAL_INTERVAL = `interval '${PAUSES.providerTrial} milliseconds'`;

interface GateState {
  /** In the time of `performance.now()`, like `readAt`. */
  openAt: number;
  isFailing: boolean;
  code: ErrorCode;
  readAt: number;
  /** Counts the changes that this process made, so that the result of a read from before one is dropped. */
  changes: number;
}

/** Processes of versions that store no code most likely met this error. */
const UNSAID: ErrorCode = "provider_rate_limited";
const OPEN: Entrance = { closedForMs: 0, isTrial: false, code: UNSAID };

/** Makes the gate of `provider` that all processes share. Without the database it stays as last read. */
export function createProviderGate(db: Database, provider: string): ProviderGate {
  const state: GateState = { openAt: 0, isFailing: false, code: UNSAID, readAt: -Infinity, changes: 0 };
  const share = shareRunning<void>();
  const refresh = (): Promise<void> =>
    share(provider, () => readGate(db, provider, state).catch(() => undefined));
  return {
    async enter() {
      if (performance.now() - state.readAt >= PAUSES.providerTrial) await refresh();
      if (state.openAt <= performance.now() && state.isFailing) {
        if (await takeTrial(db, provider, state)) return { ...OPEN, isTrial: true };
        await refresh();
      }
      const closedForMs = state.openAt - performance.now();
      return closedForMs > 0 ? { closedForMs, isTrial: false, code: state.code } : OPEN;
    },
    async close(seconds, code) {
      const bounded = Math.min(Math.max(seconds, 0), MAX_CLOSED_SECONDS);
      state.openAt = Math.max(state.openAt, performance.now() + bounded * 1_000);
      state.isFailing = true;
      state.code = code;
      state.changes += 1;
      await writeClosed(db, provider, bounded, code).catch(() => undefined);
      return bounded;
    },
    async open() {
      state.openAt = 0;
      state.isFailing = false;
      state.changes += 1;
      await writeOpen(db, provider).catch(() => undefined);
    },
  };
}

/** @throws DomainError `database_unavailable`. */
export async function readProviderState(db: Database, provider: string): Promise<ProviderState> {
  const { rows } = await queryOnce<{ code: string | null; since: Date | null; next: Date | null }>(
    db.system,
    `select case when gate.is_failing then coalesce(gate.code, $2) end as code,
            case when gate.is_failing then (
              select min(coalesce(run.waiting_since, run.started_at, run.created_at))
              from pipeline_runs run
              where run.status in ('queued', 'parsing', 'chunking', 'embedding')
                and run.waiting_for = coalesce(gate.code, $2)
            ) end as since,
            case when gate.is_failing and gate.not_before > '-infinity' then gate.not_before end as next
     from provider_gates gate
     where gate.provider = $1`,
    [provider, UNSAID],
  );
  const [row] = rows;
  return {
    isKnown: row !== undefined,
    code: row?.code ?? null,
    since: row?.since ?? null,
    nextAttemptAt: row?.next ?? null,
  };
}

async function writeClosed(db: Database, provider: string, seconds: number, code: ErrorCode): Promise<void> {
  await queryOnce(
    db.system,
    `insert into provider_gates (provider, not_before, is_failing, code)
     values ($1, now() + make_interval(secs => $2), true, $3)
     on conflict (provider) do update
     set not_before = greatest(provider_gates.not_before, excluded.not_before),
         is_failing = true,
         code = $3,
         updated_at = now()`,
    [provider, seconds, code],
  );
}

/** Leaves the gate closed if another process has closed it for longer than a trial takes. */
async function writeOpen(db: Database, provider: string): Promise<void> {
  await queryOnce(
    db.system,
    `update provider_gates
     set is_failing = false,
         not_before = now(),
         updated_at = now()
     where provider = $1
       and not_before <= now() + ${TRIAL_INTERVAL}`,
    [provider],
  );
}

async function readGate(db: Database, provider: string, state: GateState): Promise<void> {
  const { changes } = state;
  state.readAt = performance.now();
  const { rows } = await queryOnce<{ ms: number; is_failing: boolean; code: ErrorCode | null }>(db.system, {
    name: "provider-gate.read",
    text: `
      select greatest(0, extract(epoch from not_before - now()) * 1000)::float8 as ms,
             is_failing,
             code
      from provider_gates
      where provider = $1
        and not_before > '-infinity'`,
    values: [provider],
  });
  if (state.changes !== changes) return;
  state.openAt = performance.now() + (rows[0]?.ms ?? 0);
  state.isFailing = rows[0]?.is_failing ?? false;
  state.code = rows[0]?.code ?? UNSAID;
}

/** Takes this second's one trial; while the database is away, all may. @returns false if it is taken. */
async function takeTrial(db: Database, provider: string, state: GateState): Promise<boolean> {
  const { changes } = state;
  const taken = await queryOnce(
    db.system,
    `update provider_gates
     set not_before = now() + ${TRIAL_INTERVAL}
     where provider = $1
       and is_failing
       and not_before <= now()`,
    [provider],
  ).catch(() => undefined);
  if (taken === undefined) return true;
  if (taken.rowCount === 0) return false;
  if (state.changes === changes) {
    state.openAt = performance.now() + PAUSES.providerTrial;
    state.changes = changes + 1;
  }
  return true;
}
