/** The table of the chat bench. What is added is the difference to the provider asked directly. */
import { percentile } from "../report.ts";
import type { Cell, Name } from "./cell.ts";
import type { Sample } from "./load.ts";

export const HEAD = [
  "| provider's delay (ms) | agent | at once | first token directly (ms) | Holdfast adds (ms) | whole " +
    "answer adds (ms) | requests/s | LiteLLM adds (ms) | its requests/s | open turns | slices again | " +
    "drained in (ms) | event loop p99 / max (ms) | failed |",
  "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|",
].join("\n");

export function row(
  delay: string,
  agent: string,
  atOnce: number,
  { measured, openTurns, slicesAgain, drainMs, eventLoop }: Cell,
): string {
  const at = (name: Name, what: keyof Sample, share: number): number =>
    percentile(
      (measured.get(name)?.samples ?? []).map((sample) => sample[what]),
      share,
    );
  const pair = (of: (share: number) => number): string =>
    [0.5, 0.95].map((share) => of(share).toFixed(1)).join(" / ");
  const adds = (name: Name, what: keyof Sample): string =>
    measured.has(name) ? pair((share) => at(name, what, share) - at("direct", what, share)) : "–";
  const rate = (name: Name): string => {
    const one = measured.get(name);
    return one === undefined ? "–" : (one.samples.length / one.seconds).toFixed(0);
  };
  const failed = [...measured.values()].reduce((sum, { failures }) => sum + failures, 0);
  return `| ${[
    delay,
    agent,
    atOnce,
    pair((share) => at("direct", "firstMs", share)),
    adds("holdfast", "firstMs"),
    adds("holdfast", "totalMs"),
    rate("holdfast"),
    adds("litellm", "firstMs"),
    rate("litellm"),
    `${Math.min(...openTurns)}–${Math.max(...openTurns)}`,
    slicesAgain,
    drainMs.toFixed(0),
    `${eventLoop.p99.toFixed(1)} / ${eventLoop.max.toFixed(1)}`,
    failed,
  ].join(" | ")} |`;
}
