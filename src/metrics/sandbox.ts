/** A gauge of the sandbox layers around the parser processes of a worker. */
import type { Metrics } from "../telemetry/metrics.ts";

export interface ParserLayers {
  readonly on: readonly string[];
  readonly off: readonly { readonly layer: string }[];
}

export function measureSandbox(metrics: Metrics, found: Promise<ParserLayers>): void {
  metrics.gauge({
    name: "holdfast_parser_sandbox",
    help:
      "Whether a layer stands around the parser processes of this worker: " +
      "1, or 0 where this machine refuses it.",
    labels: ["layer"],
    async read() {
      const { on, off } = await found;
      return [
        ...on.map((layer) => ({ labels: { layer }, value: 1 })),
        ...off.map(({ layer }) => ({ labels: { layer }, value: 0 })),
      ];
    },
  });
}
