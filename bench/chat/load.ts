/**
 * The load of chat's bench: streamed chats at a fixed concurrency, timed to their first token and their end.
 */
import { Agent, request } from "node:http";

export interface Target {
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly body: string;
  /**
   * Asked so often, one after the other, as one chat: what the provider alone takes for a turn of several
   * model calls. Default 1.
   */
  readonly calls?: number;
}

export interface Sample {
  readonly firstMs: number;
  readonly totalMs: number;
}

export interface Measured {
  readonly samples: Sample[];
  readonly seconds: number;
  failures: number;
}

const connections = new Agent({ keepAlive: true, maxSockets: 256 });

export function closeConnections(): void {
  connections.destroy();
}

/** One streamed chat; the first token is the first event that has content. */
export function ask({ url, headers, body }: Target): Promise<Sample> {
  return new Promise((resolve, reject) => {
    const startedAt = performance.now();
    let firstMs: number | undefined;
    let tail = "";
    const made = request(
      url,
      { method: "POST", agent: connections, headers: { "content-type": "application/json", ...headers } },
      (response) => {
        response.setEncoding("utf8");
        response.on("data", (text: string) => {
          if (firstMs === undefined && /"content":"[^"]/.test(text)) firstMs = performance.now() - startedAt;
          tail = (tail + text).slice(-40);
        });
        response.on("end", () => {
          if (response.statusCode === 200 && firstMs !== undefined && tail.includes("[DONE]"))
            resolve({ firstMs, totalMs: performance.now() - startedAt });
          else reject(new Error(`answered ${response.statusCode}: ${tail}`));
        });
        response.on("error", reject);
      },
    );
    made.on("error", reject);
    made.end(body);
  });
}

/** The first token is that of the last call. */
async function askAll(target: Target): Promise<Sample> {
  const startedAt = performance.now();
  for (let call = 1; call < (target.calls ?? 1); call += 1) await ask(target);
  const beforeMs = performance.now() - startedAt;
  const { firstMs, totalMs } = await ask(target);
  return { firstMs: beforeMs + firstMs, totalMs: beforeMs + totalMs };
}

/** Keeps `concurrency` chats under way for `seconds`. */
export async function load(target: Target, concurrency: number, seconds: number): Promise<Measured> {
  const measured: Measured = { samples: [], seconds, failures: 0 };
  const until = performance.now() + seconds * 1_000;
  const one = async (): Promise<void> => {
    while (performance.now() < until) {
      await askAll(target).then(
        (sample) => measured.samples.push(sample),
        () => (measured.failures += 1),
      );
    }
  };
  await Promise.all(Array.from({ length: concurrency }, one));
  return measured;
}

export function both(one: Measured | undefined, other: Measured): Measured {
  if (one === undefined) return other;
  return {
    samples: one.samples.concat(other.samples),
    seconds: one.seconds + other.seconds,
    failures: one.failures + other.failures,
  };
}

/** NaN where there is no value. */
export function percentile(values: readonly number[], share: number): number {
  return (
    values.toSorted((one, other) => one - other)[
      Math.min(values.length - 1, Math.floor(values.length * share))
    ] ?? Number.NaN
  );
}
