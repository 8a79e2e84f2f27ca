/** Runs schemathesis, which makes requests from the OpenAPI document and judges the answers by it. */
import { spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startStreamEndingProxy } from "../servers/stream-ending-proxy.ts";
import { pythonEnvironment } from "./python-client.ts";

const LIBRARY = "schemathesis==4.32.5";
const DOCUMENT = join(import.meta.dirname, "../../../docs/openapi.json");
const HOOKS = join(import.meta.dirname, "schemathesis_hooks.py");

/** Checks of schemathesis that the contract does not promise to pass; all others are on. */
const EXCLUDED: Readonly<Record<string, string>> = {
  missing_required_header: "no header is required but Authorization, which ignored_auth takes away",
  positive_data_acceptance:
    "a right request may not fit what is there: a path is taken, an agent is no tool's",
  use_after_free: "for the stateful phase, which guesses how operations belong together",
  ensure_resource_availability: "for the stateful phase",
  object_level_authorization: "needs a second user; matrix.own-stack.test.ts asks every caller",
};
/**
 * A request that its schema does not allow may also be refused for something else: a URL that is too long, a
 * condition that does not hold, a cursor or range that is over.
 */
const REFUSALS = ["400", "401", "403", "404", "405", "410", "412", "414", "416", "422", "429", "431"];

const CONFIG = `hooks = ${JSON.stringify(HOOKS)}
${Object.entries(EXCLUDED)
  .map(([check, reason]) => `\n# ${reason}\n[checks.${check}]\nenabled = false\n`)
  .join("")}
[checks.negative_data_rejection]
expected-statuses = ${JSON.stringify(REFUSALS)}

# contract.stack.test.ts tries other methods.
[phases.coverage]
unexpected-methods = ["TRACE"]

# The values of a form are texts: one of a wrong type reads as one of the right type.
[[operations]]
include-path-regex = "(/upload|/v1/files)$"
checks.negative_data_rejection.enabled = false

# It takes the schema of a stream for that of a frame, with its id; the document means what the data hold.
[[operations]]
include-path = ["/v1/chat/completions", "/v1/events/stream"]
checks.response_schema_conformance.enabled = false
`;

export interface SchemathesisRun {
  readonly cacheDir: string;
  /** The API's address without `/v1`. */
  readonly url: string;
  /** An API key or an access token. */
  readonly token: string;
  /** Ids of what exists, by the name of the parameter or field. */
  readonly ids: Readonly<Record<string, string>>;
  readonly seed: number;
  /** The most requests for each operation and phase. */
  readonly maxExamples: number;
  readonly phases: readonly string[];
  /** When to give up. */
  readonly timeoutMs: number;
}

export interface SchemathesisResult {
  /** True if it found nothing that the document does not say. */
  readonly isClean: boolean;
  /** All that it printed, with its counts and each finding. */
  readonly output: string;
  /** The lines of the output that count. */
  readonly summary: string;
  /** Answers by status. */
  readonly statuses: Readonly<Record<string, number>>;
}

/** @throws Error if it cannot be installed, or did not end in time. */
export async function runSchemathesis(run: SchemathesisRun): Promise<SchemathesisResult> {
  const folder = await mkdtemp(join(tmpdir(), "holdfast-schemathesis-"));
  const proxy = await startStreamEndingProxy(run.url);
  try {
    await writeFile(join(folder, "schemathesis.toml"), CONFIG);
    const { code, output } = await execute(run, proxy.url, folder);
    return {
      isClean: code === 0,
      output,
      summary: summaryOf(output),
      statuses: Object.fromEntries([...proxy.statuses].toSorted(([one], [other]) => one - other)),
    };
  } finally {
    proxy.close();
    await rm(folder, { recursive: true, force: true });
  }
}

async function execute(
  { cacheDir, token, ids, seed, maxExamples, phases, timeoutMs }: SchemathesisRun,
  url: string,
  folder: string,
): Promise<{ code: number | null; output: string }> {
  const options = [
    ["--url", url],
    ["--header", `Authorization: Bearer ${token}`],
    ["--phases", phases.join(",")],
    ["--seed", String(seed)],
    ["--max-examples", String(maxExamples)],
    ["--generation-database", "none"],
    ["--request-timeout", "60"],
    ["--suppress-health-check", "all"],
    ["--warnings", "off"],
    ["--workers", "3"],
    ["--continue-on-failure"],
    ["--no-color"],
  ].flat();
  const child = spawn("python3", ["-m", "schemathesis.cli", "run", DOCUMENT, ...options], {
    cwd: folder,
    env: {
      ...(await pythonEnvironment({ cacheDir, library: LIBRARY })),
      SCHEMATHESIS_IDS: JSON.stringify(ids),
      SCHEMATHESIS_HOOKS: HOOKS,
    },
    timeout: timeoutMs,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => (output += text));
  const [code] = (await new Promise<unknown[]>((resolve, reject) => {
    child.once("error", reject).once("close", (...ended) => resolve(ended));
  })) as [number | null];
  if (code === null) throw new Error(`schemathesis did not end within ${timeoutMs} ms:\n${output}`);
  return { code, output };
}

/** What it prints from the heading SUMMARY on. */
function summaryOf(output: string): string {
  return output.slice(Math.max(0, output.search(/^=+ SUMMARY =+$/m)));
}
