/**
 * Sends streamed chats at a fixed concurrency, and times each to its first token and its end.
 */
import { Agent, request } from "node:http";

export interface Target {
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly body: string;
  /**
   * Requests that make up one chat, one after the other: a turn of several model calls, asked of the provider
   * directly. 1 by default.
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

/** Asks for one streamed chat; the first event with content counts as its first token. */
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

/** Makes all calls of a chat; the first token of the last call counts. */
async function askAll(target: Target): Promise<Sample> {
  const startedAt = performance.now();
  for (let call = 1; call < (target.calls ?? 1); call += 1) await ask(target);
  const beforeMs = performance.now() - startedAt;
  const { firstMs, totalMs } = await ask(target);
  return { firstMs: beforeMs + firstMs, totalMs: beforeMs + totalMs };
}

/** Keeps `concurrency` chats going for `seconds`. */
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

/** Adds up two measurements of the same target. */
export function both(one: Measured | undefined, other: Measured): Measured {
  if (one === undefined) return other;
  return {
    samples: one.samples.concat(other.samples),
    seconds: one.seconds + other.seconds,
    failures: one.failures + other.failures,
  };
}
