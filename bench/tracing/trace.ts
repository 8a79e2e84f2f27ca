/**
 * Draws the trace of one upload as a picture, from the spans that a collector received. Run as `node
 * bench/tracing/trace.ts docs/trace-of-an-upload.svg`.
 */
import { writeFile } from "node:fs/promises";
import setup from "../../test/support/run/global-setup.ts";
import { ended, upload } from "../../test/support/clients/client.ts";
import { type CollectedSpan, startCollector } from "../../test/support/servers/collector.ts";
import { startStack } from "../../test/support/stack/stack.ts";
import { KEYS, SPACES } from "../../test/support/tenants/tenants.ts";
import { until } from "../../test/support/until.ts";

const NOTE = "# Kingfishers\n\nKingfishers breed in steep banks.\n";
const ROW = 18;
const NAMES_WIDTH = 380;
const BARS_WIDTH = 720;
const HEAD = 34;

interface Drawn extends CollectedSpan {
  readonly depth: number;
}

/** Lists parents before their children, and siblings by when they began. */
function inOrder(spans: readonly CollectedSpan[], parent: string, depth = 0): Drawn[] {
  return spans
    .filter((span) => span.parentSpanId === parent)
    .toSorted((one, other) => one.startMs - other.startMs)
    .flatMap((span) => [{ ...span, depth }, ...inOrder(spans, span.spanId, depth + 1)]);
}

function colorOf({ name, service }: Drawn): string {
  if (name.startsWith("sql")) return "#8d99ae";
  if (name.startsWith("store")) return "#2a9d8f";
  if (name.startsWith("model")) return "#e76f51";
  if (/^(workflow|activity|start)/.test(name)) return "#6a4c93";
  return service === "holdfast-api" ? "#1d6fb8" : "#f4a261";
}

const text = (x: number, y: number, what: string): string =>
  `<text x="${x.toFixed(1)}" y="${y}">${what.replaceAll("&", "&amp;").replaceAll("<", "&lt;")}</text>`;

function draw(spans: readonly Drawn[]): string {
  const first = Math.min(...spans.map((span) => span.startMs));
  const last = Math.max(...spans.map((span) => span.endMs));
  const scale = BARS_WIDTH / (last - first);
  const rows = spans.map((span, index) => {
    const y = HEAD + index * ROW;
    const x = NAMES_WIDTH + (span.startMs - first) * scale;
    const width = Math.max(1.5, (span.endMs - span.startMs) * scale);
    const took = `${(span.endMs - span.startMs).toFixed(1)} ms`;
    return (
      text(8 + span.depth * 12, y + 13, span.name) +
      `<rect x="${x.toFixed(1)}" y="${y + 3}" width="${width.toFixed(1)}" height="${ROW - 6}" rx="2" ` +
      `fill="${colorOf(span)}"><title>${span.service}: ${took}</title></rect>`
    );
  });
  const height = HEAD + spans.length * ROW + 8;
  const width = NAMES_WIDTH + BARS_WIDTH + 16;
  const title = text(
    8,
    20,
    `One upload: ${spans.length} spans, ${(last - first).toFixed(0)} ms from the request to the end of ` +
      "its workflow",
  );
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" ` +
    `viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="12">` +
    `<rect width="100%" height="100%" fill="white"/>${title}\n${rows.join("\n")}\n</svg>\n`
  );
}

const path = process.argv[2];
if (path === undefined) throw new Error("Say where the picture goes.");
const stop = await setup();
const collector = await startCollector();
const stack = await startStack({ env: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, LOG_LEVEL: "warn" } });
try {
  // The first upload warms up connections, the bundle and the parser.
  for (const name of ["warm.md", "note.md"])
    await ended(
      stack.url,
      KEYS.editor,
      (await upload(stack.url, KEYS.editor, SPACES.research, `${NOTE}${name}\n`, name)).id,
    );
  const whole = await until("the trace of the second upload is whole", () => {
    const roots = collector.spans
      .filter((span) => span.name === "POST /v1/data/upload")
      .toSorted((one, other) => one.startMs - other.startMs);
    const root = roots[1];
    if (root === undefined) return false;
    const spans = collector.spans.filter((span) => span.traceId === root.traceId);
    const drawn = inOrder(spans, root.parentSpanId);
    return (
      spans.some((span) => span.name === "workflow documentPipeline") &&
      drawn.length === spans.length &&
      drawn
    );
  });
  await writeFile(path, draw(whole));
} finally {
  await stack.close();
  await collector.close();
  await stop();
}
